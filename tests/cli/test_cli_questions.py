"""`sweep best`, `explain`, `verify`, `info`, `completion`."""

import csv
import json
import shutil

import pytest

from sweep.query.result import Result
from sweep.query.verify import VerifyAnswer
from sweep.records.wording import CLAIM, CLAIM_SENTENCE

FLAT = 80
BEST_KEYS = [
    "feasible",
    "point",
    "report",
    "slack",
    "limiting_violations",
    "on_grid",
    "decided",
    "neighbours",
    "holes",
    "traffic_millirps",
    "claim",
]
EXPLAIN_KEYS = [
    "point",
    "status",
    "invalid_reason",
    "contract",
    "scheduler",
    "classes",
    "report",
    "slack",
    "content_ids",
    "blocks",
    "traffic_millirps",
    "claim",
]


def test_best_in_words(invoke, tiny_nc):
    code, out, err = invoke("best", tiny_nc)
    assert (code, err) == (0, "")
    assert out.startswith("Largest SLO-feasible operating point: 2 times the declared traffic\n")
    assert "One permille more traffic (2 001) breaks active-sequence-capacity" in out
    assert "Among the traffic axis' own values: traffic_scale_permille = 1 500" in out
    assert "max_active_sequences broken by 1" in out
    assert "Not feasible below the point on slots: 16, 32" in out
    assert "Decided: 6 configurations, 18 cells." in out
    assert out.endswith(f"{CLAIM_SENTENCE}\n")


def test_best_json(invoke, tiny_nc):
    code, out, _ = invoke("best", tiny_nc, "--json")
    answer = json.loads(out)
    assert code == 0
    assert list(answer) == BEST_KEYS
    assert answer["point"]["traffic_scale_permille"] == 2_000
    assert answer["traffic_millirps"] == {"chat": 8_000}
    assert answer["claim"] == CLAIM


def test_on_grid_takes_a_value_of_the_axis(invoke, tiny_nc):
    code, out, _ = invoke("best", tiny_nc, "--on-grid", "--json")
    assert code == 0
    assert json.loads(out)["point"]["traffic_scale_permille"] == 1_500
    assert "own values" not in invoke("best", tiny_nc, "--on-grid")[1]


def test_traffic_off_its_axis_may_be_fixed(invoke, tiny_nc):
    code, out, _ = invoke("best", tiny_nc, "--at", "traffic=1_234", "--minimize", "slots")
    assert code == 0
    assert out.startswith("Best by minimize slots, at 1.234 times the declared traffic\n")
    assert "traffic axis' own values" not in out


@pytest.mark.parametrize(
    ("args", "slots", "precision"),
    [
        (["--maximize", "slots", "--minimize", "peak_kv_bytes"], 48, "fp8"),
        (["--minimize", "peak_kv_bytes", "--maximize=slots"], 48, "fp8"),
        (["--minimize", "slots", "--maximize", "peak_kv_bytes"], 16, "bf16 [bold]"),
        (["--maximize", "peak_kv_bytes", "--minimize", "slots"], 48, "bf16 [bold]"),
        (["--minimize", "slots,peak_kv_bytes"], 16, "fp8"),
    ],
)
def test_objectives_keep_the_order_typed(invoke, tiny_nc, args, slots, precision):
    code, out, _ = invoke("best", tiny_nc, *args, "--json")
    point = json.loads(out)["point"]
    assert code == 0
    assert (point["max_active_sequences"], point["precision"]) == (slots, precision)


def test_top_shows_the_points_side_by_side(invoke, tiny_nc):
    code, out, _ = invoke("best", tiny_nc, "--top", "3", "--minimize", "peak_kv_bytes")
    assert code == 0
    assert "The first 3 points in this order" in out
    assert "#  slots  peak_kv_bytes" in out


def test_csv_has_axes_then_figures_as_plain_integers(invoke, tiny_nc):
    code, out, err = invoke("best", tiny_nc, "--csv", "--top", "2")
    head, *rows = csv.reader(out.splitlines())
    assert (code, err) == (0, "")
    assert head[:5] == [
        "prefill_share_permille",
        "max_prefill_chunk_tokens",
        "max_active_sequences",
        "precision",
        "traffic_scale_permille",
    ]
    assert head[-2:] == ["peak_kv_bytes", "claim"]
    assert [row[4] for row in rows] == ["2000", "2000"]
    assert [row[-2:] for row in rows] == [["7549747200", CLAIM], ["3774873600", CLAIM]]


def test_nothing_feasible_is_an_answer(invoke, none_nc):
    code, out, err = invoke("best", none_nc)
    assert (code, err) == (0, "")
    assert out.startswith("Nothing is feasible: none of 6 configurations (18 cells) is within all bounds.")
    assert "max_ttft_ms: 50 to 62, which admits" in out
    assert out.endswith(f"{CLAIM_SENTENCE}\n")


def test_require_prints_the_answer_and_fails(invoke, none_nc):
    code, out, err = invoke("best", none_nc, "--require", "--json")
    assert code == 1
    assert json.loads(out)["smallest_change"]["bound"] == "max_ttft_ms"
    assert err.startswith("sweep: ")
    assert "nothing is feasible" in err
    assert err.count("\n") == 1


def test_require_passes_where_something_is_feasible(invoke, tiny_nc):
    assert invoke("best", tiny_nc, "--require")[0] == 0


def test_csv_of_nothing_keeps_its_head(invoke, none_nc, tiny_nc):
    code, out, err = invoke("best", none_nc, "--csv")
    assert code == 0
    assert out == invoke("best", tiny_nc, "--csv")[1].splitlines(keepends=True)[0]
    assert "nothing is feasible" in err


def test_explain_a_result_in_words(invoke, tiny_nc):
    code, out, err = invoke("explain", tiny_nc, "--at", "slots=16", "--at", "precision=fp8", "--at", "traffic=1000")
    assert (code, err) == (0, "")
    for wanted in (
        "tiny [red]名[/red]: the declared traffic",
        "Rejected:",
        "active-sequence-capacity: peak concurrency exceeds the batch slots (max_active_sequences) (by 8)",
        "active_sequences                         24              16             -8",
        "KV blocks of 16 tokens: 1 800 needed at the peak",
        "evidence",
        "Class chat sets TTFT",
    ):
        assert " ".join(wanted.split()) in " ".join(out.split())
    assert out.endswith(f"{CLAIM_SENTENCE}\n")


def test_explain_json_is_the_same_for_a_grid_and_its_result(invoke, tiny, tiny_nc):
    at = ("--at", "slots=32", "--at", "precision=fp8", "--at", "traffic=1000", "--json")
    code, of_result, _ = invoke("explain", tiny_nc, *at)
    assert code == 0
    assert list(json.loads(of_result)) == EXPLAIN_KEYS
    assert invoke("explain", tiny, *at)[1] == of_result


def test_explain_takes_overrides_of_a_grid_only(invoke, tiny, tiny_nc):
    code, out, _ = invoke("explain", tiny, "--set", "contract.max_ttft_ms=300", "--json")
    assert code == 0
    assert json.loads(out)["contract"]["max_ttft_ms"] == 300
    code, out, err = invoke("explain", tiny_nc, "--set", "contract.max_ttft_ms=300")
    assert (code, out) == (2, "")
    assert "is a result, whose grid is fixed" in err


def test_explain_reads_grid_or_result_by_content(invoke, tiny, tiny_nc, tmp_path):
    shutil.copy(tiny, tmp_path / "grid.txt")
    shutil.copy(tiny_nc, tmp_path / "result.dat")
    assert invoke("explain", "grid.txt")[1] == invoke("explain", "result.dat")[1]


def test_explain_an_invalid_cell_shows_no_figures(invoke, tiny):
    args = ("--set", "scheduler.prefill_share_permille=1")
    code, out, _ = invoke("explain", tiny, *args)
    assert code == 0
    assert "no-prefill-token-per-iteration: the prefill share\nserves less than" in out
    assert "total_utilization_permille" not in out
    answer = json.loads(invoke("explain", tiny, *args, "--json")[1])
    assert (answer["status"], answer["report"], answer["content_ids"]) == ("invalid", None, None)


def test_verify(invoke, tiny_nc):
    code, out, err = invoke("verify", tiny_nc, "--all")
    assert (code, err) == (0, "")
    assert "the scalar reference judged 18 cells again and agrees" in " ".join(out.split())
    code, out, _ = invoke("verify", tiny_nc, "--sample", "3", "--json")
    assert (code, list(json.loads(out))) == (0, ["checked", "differences", "claim"])


def test_verify_fails_with_the_cell_and_both_values(invoke, tiny_nc, monkeypatch):
    found = {"point": {"max_active_sequences": 16}, "variable": "peak_kv_bytes", "stored": 1, "reference": 2}
    monkeypatch.setattr(Result, "verify", lambda *_, **__: VerifyAnswer(5, (found, found)))
    code, out, err = invoke("verify", tiny_nc)
    assert code == 1
    assert "max_active_sequences = 16" in out
    assert "the file says 1, the reference 2" in out
    assert "peak_kv_bytes is 1, the reference says 2, at max_active_sequences = 16" in err
    assert "1 more difference" in err
    code, out, _ = invoke("verify", tiny_nc, "--json")
    assert (code, json.loads(out)["differences"][0]["stored"]) == (1, 1)


def test_info(invoke, tiny_nc):
    code, out, err = invoke("info", tiny_nc)
    assert (code, err) == (0, "")
    assert "bf16 [bold], fp8" in out
    assert "peak_kv_bytes" in out
    answer = json.loads(invoke("info", tiny_nc, "--json")[1])
    assert answer["cells"] == 18
    assert answer["grid_sha256"] in out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script(invoke, shell):
    code, out, err = invoke("completion", shell)
    assert (code, err) == (0, "")
    assert f"_SWEEP_COMPLETE={shell}_complete" in out


def test_completion_completes_commands(process):
    done = process(env={"_SWEEP_COMPLETE": "bash_complete", "COMP_WORDS": "sweep be", "COMP_CWORD": "1"})
    assert done.stdout == "plain,best\n"


@pytest.mark.parametrize(
    "args",
    [
        ["best", "h100.nc"],
        ["best", "h100.nc", "--top", "5", "--minimize", "estimated_tpot_ms,declared_starvation_bound_ms"],
        ["best", "h100.nc", "--at", "traffic=5000"],
        ["explain", "h100.nc"],
        ["explain", "h100.toml", "--at", "traffic=5000"],
        ["verify", "h100.nc"],
        ["info", "h100.nc"],
        ["run", "h100.toml", "--dry-run"],
        ["run", "h100.toml", "-q", "-o", "again.nc"],
        *[[command, "--help"] for command in ("run", "best", "explain", "verify", "info", "completion")],
        ["--help"],
    ],
)
def test_no_line_is_wider_than_80_columns(h100, process, args):
    done = process(*args, cwd=h100[0])
    assert done.returncode == 0, done.stderr
    assert max(map(len, done.stdout.splitlines())) <= FLAT
