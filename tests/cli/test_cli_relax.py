"""`sweep relax`, `sweep verify --best`, and the certificate that `sweep best` prints."""

import csv
import io
import json

import pytest

from sweep.query import result as results
from sweep.query.replay import Replay
from sweep.records.wording import CLAIM, CLAIM_SENTENCE

WIDTH = 80


def test_relax_in_words(invoke, tiny_nc):
    code, out, err = invoke("relax", tiny_nc)
    assert (code, err) == (0, "")
    assert out.startswith("Largest SLO-feasible operating point: 2 times the declared traffic\n")
    assert "smallest step" in out
    assert "slots" in out
    assert out.endswith(f"{CLAIM_SENTENCE}\n")
    assert max(len(line) for line in out.splitlines()) <= WIDTH


def test_relax_where_nothing_is_feasible_counts_from_zero(invoke, none_nc):
    code, out, _ = invoke("relax", none_nc)
    assert code == 0
    assert out.startswith("Nothing is feasible")
    assert "62 (+12)" in out
    assert "the traffic reaches 500" in out


def test_relax_json_and_csv_say_the_same(invoke, tiny_nc):
    code, out, _ = invoke("relax", tiny_nc, "--json")
    answer = json.loads(out)
    assert code == 0
    assert answer["claim"] == CLAIM
    code, out, _ = invoke("relax", tiny_nc, "--csv")
    assert code == 0
    rows = list(csv.DictReader(io.StringIO(out)))
    assert {row["claim"] for row in rows} == {CLAIM}
    wanted = [
        (entry[kind], step, str(entry[step]["to"]), str(entry[step]["gain_permille"]))
        for kind, key in (("bound", "bounds"), ("axis", "axes"))
        for entry in answer[key]
        for step in list(entry)[3:]
        if entry[step] is not None
    ]
    assert [(row["changed"], row["step"], row["to"], row["gain_permille"]) for row in rows] == wanted


def test_relax_under_another_slo_is_that_of_a_fresh_run(invoke, process, tiny, tiny_nc):
    done = process("run", tiny, "-q", "-o", "fresh.nc", "--set", "contract.max_ttft_ms=50", cwd=tiny.parent)
    assert done.returncode == 0
    fresh = json.loads(invoke("relax", tiny.parent / "fresh.nc", "--json")[1])
    answer = json.loads(invoke("relax", tiny_nc, "--slo", "max_ttft_ms=50", "--json")[1])
    assert answer == {**fresh, "slo": {"max_ttft_ms": 50}}
    assert json.loads(invoke("relax", tiny, "--set", "contract.max_ttft_ms=50", "--json")[1]) == fresh


def test_relax_takes_at(invoke, tiny_nc):
    _, out, _ = invoke("relax", tiny_nc, "--at", "slots=16", "--json")
    assert json.loads(out)["point"]["max_active_sequences"] == 16
    _, out, _ = invoke("relax", tiny_nc, "--at", "traffic=1000")
    assert "fixed and carried already" in out


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--csv", "--json"], "stdout takes one of them"),
        (["--slo", "max_ttft_ms"], "wanted bound=value"),
        (["--slo", "max_tft_ms=3"], "max_ttft_ms"),
        (["--at", "slots=17"], "no value 17"),
    ],
)
def test_relax_refuses_wrong_usage(invoke, tiny_nc, args, said):
    code, out, err = invoke("relax", tiny_nc, *args)
    assert (code, out) == (2, "")
    assert said in err


def test_relax_explains_its_keys(invoke):
    _, out, _ = invoke("relax", "--help")
    for key in ("next_scale_permille", "one_unit", "ten_percent", "without", "smallest", "down, same, up"):
        assert key in out


def test_best_says_what_decided(invoke, tiny_nc):
    _, out, _ = invoke("best", tiny_nc)
    assert "with their capacity set by" in out
    _, out, _ = invoke("best", tiny_nc, "--json")
    decided = json.loads(out)["decided"]
    assert sum(sum(codes.values()) for codes in decided["by"].values()) == decided["configurations"]


def test_verify_best(invoke, tiny_nc):
    code, out, _ = invoke("verify", tiny_nc, "--best")
    assert code == 0
    assert "all 6 of 6 configurations judged, none beats the point" in " ".join(out.split())
    code, out, _ = invoke("verify", tiny_nc, "--best", "--sample", "4", "--json")
    answer = json.loads(out)
    assert code == 0
    assert list(answer) == ["checked", "differences", "configurations", "claim"]
    assert answer["configurations"] == {"judged": 4, "all": 6}
    assert invoke("verify", tiny_nc, "--best", "--all")[0] == 0
    assert invoke("verify", tiny_nc, "--best", "--all", "--sample", "4")[0] == 2


def test_verify_best_fails_on_a_difference(invoke, tiny_nc, monkeypatch):
    wrong = {"point": {"share": 1}, "variable": "best", "stored": "no configuration beats it", "reference": "within"}
    monkeypatch.setattr(results, "replay", lambda *args: Replay(9, 6, 6, (wrong, wrong)))
    code, out, err = invoke("verify", tiny_nc, "--best", "--json")
    assert code == 1
    assert json.loads(out)["differences"] == [wrong, wrong]
    assert "1 more difference" in err
    code, out, err = invoke("verify", tiny_nc, "--best")
    assert code == 1
    assert "differs" in out
    assert "no configuration beats it" in err
