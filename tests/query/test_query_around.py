"""What stands around an answer: one step up, holes below, what was decided, and the JSON's keys."""

import json
from dataclasses import replace

import pytest
from brute import MASK, REASON, reference_table
from hand_grids import axes_grid, base_grid, models_grid
from naive import OVER, TRAFFIC, Naive
from strategies import seeded_text

from sweep.api import best_of_grid, run
from sweep.grid import parse_grid
from sweep.query.summary import run_as_json
from sweep.records import INVALID_REASONS, VIOLATION_CODES

REPORT = [
    "decision",
    "violations",
    "total_utilization_permille",
    "prefill_utilization_permille",
    "decode_utilization_permille",
    "estimated_queue_delay_ms",
    "estimated_worst_ttft_ms",
    "estimated_tpot_ms",
    "declared_starvation_bound_ms",
    "peak_kv_bytes",
    "evidence_id",
    "claim",
]
BEST = {
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
}


def codes(mask: int) -> list[str]:
    return [code for bit, code in enumerate(VIOLATION_CODES) if mask >> bit & 1]


def status(verdict) -> str:
    return "invalid" if verdict.invalid_reason else "rejected" if verdict.violations else "within"


def assert_surroundings(naive: Naive, at=None) -> None:
    """Neighbours, holes, slack and limit of the best point, as JSON, are the reference's."""
    answer = best_of_grid(naive.grid, at).as_json()
    assert json.loads(json.dumps(answer)) == answer, "the answer is plain JSON"
    found = naive.points(at)
    if not found:
        assert answer["feasible"] is False
        return
    spot = found[0]
    verdict = naive.verdict(spot)
    assert answer["point"] == naive.point(spot)
    assert answer["slack"] == {
        bound: naive.bound(spot, bound) - verdict.figures[figure] for bound, figure in OVER.values()
    }
    assert min(answer["slack"].values()) >= 0
    above = naive.verdict(type(spot)(spot.configuration, spot.scale + 1))
    assert answer["limiting_violations"] == ([] if above.invalid_reason else codes(above.violations))
    reason = INVALID_REASONS[above.invalid_reason] if above.invalid_reason else None
    assert answer.get("limiting_invalid_reason") == reason
    assert answer["holes"] == naive.holes(spot)
    wanted = naive.neighbours(spot)
    assert [entry["axis"] for entry in answer["neighbours"]] == [name for name, _, _ in wanted]
    for entry, (_, label, beside) in zip(answer["neighbours"], wanted, strict=True):
        if beside is None:
            assert {value for key, value in entry.items() if key != "axis"} == {None}
            continue
        judged = naive.verdict(beside)
        assert entry["value"] == label
        assert entry["status"] == status(judged)
        assert entry["violations"] == ([] if judged.invalid_reason else codes(judged.violations))
        assert entry["over"] == naive.over(beside)


@pytest.mark.parametrize("block", range(4))
def test_surroundings_of_drawn_grids(block):
    for seed in range(200 + block, 280, 4):
        naive = Naive(parse_grid(seeded_text(seed, cells=40)))
        assert_surroundings(naive)
        assert_surroundings(naive, {TRAFFIC: naive.grid.axes[-1].values[0]})


@pytest.mark.parametrize("make", [axes_grid, models_grid, base_grid])
def test_surroundings_of_hand_made_grids(make):
    naive = Naive(make())
    assert_surroundings(naive)
    for axis in naive.grid.axes[:-1]:
        for label in axis.labels:
            assert_surroundings(naive, {axis.name: label})


def test_holes_are_smaller_values_that_are_not_feasible():
    naive = Naive(models_grid())
    answer = best_of_grid(naive.grid)
    assert answer.holes == naive.holes(naive.points()[0])
    assert any(answer.holes.values()), "this grid has holes below its best point"
    assert answer.holes[TRAFFIC] == []


def test_at_the_largest_scale_of_all_one_permille_more_is_an_invalid_cell():
    tiny = [("set", f"class.{one}.{name}=1") for one in ("chat", "code.v2") for name in ("arrival_millirps",)]
    tiny += [("set", f"class.{one}.{name}=1") for one in ("chat", "code.v2") for name in ("peak_concurrency",)]
    tokens = [("set", f"class.{one}.{name}=1") for one in ("chat", "code.v2") for name in ("prompt_tokens",)]
    tokens += [("set", f"class.{one}.{name}=1") for one in ("chat", "code.v2") for name in ("output_tokens",)]
    grid = base_grid(
        *tiny,
        *tokens,
        ("set", "traffic.scale_concurrency=false"),
        ("set", "traffic.replicas=1_000_000"),
        ("set", "scheduler.token_capacity_per_second=1_000_000_000_000"),
    )
    answer = best_of_grid(grid)
    assert answer.cell.point[TRAFFIC] == 10**15
    assert answer.limiting.invalid_reason == "arrival-out-of-range"
    told = answer.as_json()
    assert told["limiting_violations"] == []
    assert told["limiting_invalid_reason"] == "arrival-out-of-range"
    assert told["neighbours"][-1]["value"] == 10**15 + 1
    assert told["neighbours"][-1]["status"] == "invalid"


def test_a_traffic_that_is_not_the_most_has_no_limit_above_it():
    answer = best_of_grid(base_grid(), {"traffic": 100})
    assert answer.limiting.status == "within"
    assert answer.as_json()["limiting_violations"] == []
    assert "limiting_invalid_reason" not in answer.as_json()


def test_decided_counts_what_the_answer_covers():
    grid = axes_grid()
    for at, cells, configurations in (
        ({}, 720, 144),
        ({"share": 500, "precision": "fp8"}, 90, 18),
        ({"share": 500, "traffic": 333}, 36, 36),
    ):
        decided = best_of_grid(grid, at).as_json()["decided"]
        assert (decided["cells"], decided["configurations"]) == (cells, configurations)


def test_the_keys_of_best_are_those_of_the_definition():
    answer = best_of_grid(axes_grid()).as_json()
    assert set(answer) - {"limiting_invalid_reason"} == BEST
    assert list(answer["report"]) == REPORT
    assert list(answer["slack"]) == [bound for bound, _ in OVER.values()]
    assert list(answer["on_grid"]) == ["point", "report"]
    assert list(answer["on_grid"]["report"]) == REPORT
    assert answer["on_grid"]["point"][TRAFFIC] in axes_grid().axes[-1].values
    shapes = {tuple(entry) for entry in answer["neighbours"]}
    assert len(shapes) == 1, "an entry at an axis' end has the keys of all others"
    assert {"axis", "value", "status", "violations", "over"} <= set(shapes.pop())
    assert list(answer["holes"]) == [axis.name for axis in axes_grid().axes]
    three = best_of_grid(axes_grid(), top=3).as_json()
    assert [list(entry) for entry in three["top"]] == [["point", "report"]] * 3
    assert three["top"][0] == {"point": three["point"], "report": three["report"]}


def test_the_keys_of_best_where_nothing_is_feasible():
    answer = best_of_grid(base_grid(("set", "contract.max_ttft_ms=184")), {TRAFFIC: 1_000}).as_json()
    assert answer["feasible"] is False
    assert answer["limiting_violations"] == []
    empty = {"point", "report", "slack", "on_grid", "traffic_millirps"}
    assert {key for key, value in answer.items() if value is None} == empty
    assert answer["neighbours"] == []
    assert answer["holes"] == {}
    assert (answer["decided"]["cells"], answer["decided"]["configurations"]) == (1, 1)
    assert answer["smallest_change"] == {
        "bound": "max_ttft_ms",
        "from": 184,
        "to": 185,
        "change": 1,
        "point": {axis.name: axis.labels[0] for axis in base_grid().axes},
    }


@pytest.mark.parametrize("seed", range(300, 312))
def test_the_summary_of_a_run_counts_every_cell(tmp_path, seed):
    grid = parse_grid(seeded_text(seed, cells=60))
    told = run_as_json(run(grid, tmp_path / "drawn.nc"))
    table = reference_table(grid)
    masks = [int(mask) for mask in table.values[MASK].flat]
    reasons = [int(reason) for reason in table.values[REASON].flat]
    valid = [mask for mask in masks if mask != 0x8000]
    assert list(told) == ["cells", "invalid_reasons", "violations", "blocked_alone", "best", "result", "claim"]
    assert told["cells"] == {
        "total": len(masks),
        "invalid": masks.count(0x8000),
        "rejected": sum(mask != 0 for mask in valid),
        "within": masks.count(0),
    }
    assert told["invalid_reasons"] == {code: reasons.count(i) for i, code in enumerate(INVALID_REASONS) if i}
    assert told["violations"] == {
        code: sum(mask >> bit & 1 for mask in valid) for bit, code in enumerate(VIOLATION_CODES)
    }
    assert told["blocked_alone"] == {code: masks.count(1 << bit) for bit, code in enumerate(VIOLATION_CODES)}
    assert told["best"] == replace(best_of_grid(grid), causes=None).as_json()
    assert told["result"] == str(tmp_path / "drawn.nc")
