"""`--slo` on every question: what a fresh run with that bound would answer, and said in the output."""

import csv
import io
import json

import pytest
from hand_grids import MODELS

QUESTIONS = {
    "best": ["best"],
    "explain": ["explain", "--at", "traffic=300"],
    "region": ["region", "--x", "slots", "--y", "share", "--at", "traffic=200", "--show", "limit"],
    "capacity": ["region", "--x", "slots", "--y", "share", "--show", "capacity"],
    "frontier": ["frontier"],
    "relax": ["relax"],
}
BOUNDS = {
    "max_total_utilization_permille": 700,
    "max_prefill_utilization_permille": 500,
    "max_decode_utilization_permille": 600,
    "max_queue_delay_ms": 40,
    "max_ttft_ms": 500,
    "max_tpot_ms": 35,
    "max_starvation_ms": 150,
    "max_kv_bytes": 20 * 10**9,
}


@pytest.fixture
def stored(invoke, tmp_path):
    """A grid with concurrency from the SLO and the KV bound from memory, run once."""
    (tmp_path / "models.toml").write_text(MODELS, encoding="utf-8")
    assert invoke("run", "models.toml", "-q")[0] == 0
    return "models.nc"


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("bound", BOUNDS)
def test_each_bound_and_question_answers_as_a_fresh_run(invoke, stored, question, bound):
    command, *args = QUESTIONS[question]
    change = f"{bound}={BOUNDS[bound]}"
    assert invoke("run", "models.toml", "-q", "-o", "fresh.nc", "--set", f"contract.{change}")[0] == 0
    fresh = json.loads(invoke(command, "fresh.nc", *args, "--json")[1])
    code, out, err = invoke(command, stored, *args, "--slo", change, "--json")
    assert (code, err) == (0, "")
    answer = json.loads(out)
    assert answer.pop("slo") == {bound: BOUNDS[bound]}
    assert answer == fresh


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_page_says_under_which_slo_it_holds(invoke, stored, question):
    command, *args = QUESTIONS[question]
    out = invoke(command, stored, *args, "--slo", "max_ttft_ms=0.5 s", "--slo", "max_tpot_ms=35")[1]
    assert out.startswith("Under another SLO: max_ttft_ms = 500 (the file has 900)")
    assert "max_tpot_ms = 35 (the file has 50)" in " ".join(out.split())
    assert "Under another SLO" not in invoke(command, stored, *args)[1]


@pytest.mark.parametrize("command", [["best"], ["frontier"], ["region", "--x", "slots", "--y", "share"]])
def test_csv_has_a_column_per_bound(invoke, stored, command):
    name, *args = command
    table = list(csv.DictReader(io.StringIO(invoke(name, stored, *args, "--csv", "--slo", "max_ttft_ms=500")[1])))
    assert table
    assert {row["slo_max_ttft_ms"] for row in table} == {"500"}


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_bound_that_is_an_axis_is_refused_with_the_way_out(invoke, stored, question):
    command, *args = QUESTIONS[question]
    assert invoke("run", "models.toml", "-q", "-o", "axis.nc", "--axis", "contract.max_ttft_ms=[500, 900]")[0] == 0
    code, out, err = invoke(command, "axis.nc", *args, "--slo", "max_ttft_ms=300")
    assert (code, out) == (2, "")
    assert "--at contract.max_ttft_ms=" in err


@pytest.mark.parametrize(
    ("text", "status"), [("max_tftt_ms=3", 2), ("max_ttft_ms", 2), ("max_ttft_ms=0", 3), ("max_ttft_ms=1.5", 3)]
)
def test_wrong_bounds(invoke, stored, text, status):
    code, out, err = invoke("best", stored, "--slo", text)
    assert (code, out) == (status, "")
    assert "--slo max_t" in err


def test_a_grid_file_under_another_slo_is_one_with_set(invoke, stored):
    by_slo = json.loads(invoke("best", "models.toml", "--slo", "max_ttft_ms=500", "--json")[1])
    by_set = json.loads(invoke("best", "models.toml", "--set", "contract.max_ttft_ms=500", "--json")[1])
    assert by_slo.pop("slo") == {"max_ttft_ms": 500}
    assert by_slo == by_set
