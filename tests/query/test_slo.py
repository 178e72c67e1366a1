"""A new SLO on an old result: every question is answered as a fresh run with that bound would answer it."""

import json

import pytest
from hand_grids import MODELS, axes_grid, base_grid, models_grid

from sweep.engine.run import evaluation_of
from sweep.errors import InputFault, UsageFault
from sweep.grid import parse_grid
from sweep.query.best import find_best
from sweep.query.explain import locate
from sweep.query.frontier import find_frontier
from sweep.query.region import find_region
from sweep.query.slo import under_slo

BOUNDS = {
    "max_total_utilization_permille": "700",
    "max_prefill_utilization_permille": "50 %",
    "max_decode_utilization_permille": 600,
    "max_queue_delay_ms": "40",
    "max_ttft_ms": "0.5 s",
    "max_tpot_ms": 35,
    "max_starvation_ms": "150 ms",
    "max_kv_bytes": "20 GB",
}
FIELD_VALUES = {
    "max_total_utilization_permille": 700,
    "max_prefill_utilization_permille": 500,
    "max_decode_utilization_permille": 600,
    "max_queue_delay_ms": 40,
    "max_ttft_ms": 500,
    "max_tpot_ms": 35,
    "max_starvation_ms": 150,
    "max_kv_bytes": 20 * 10**9,
}


def answers(grid):
    """Every answer of a grid as JSON."""
    ev = evaluation_of(grid)
    slots, share = "slots", "share"
    return [
        json.dumps(answer)
        for answer in (
            find_best(grid, ev).as_json(),
            find_best(grid, ev, {"traffic": 200}, [("minimize", "peak_kv_bytes")], 3).as_json(),
            locate(grid, ev, {"traffic": 300}).cell.as_json(),
            find_frontier(grid, ev).as_json(),
            find_region(grid, ev, slots, share, None, "capacity").as_json(),
            find_region(grid, ev, slots, share, {"traffic": 200}, "limit").as_json(),
            find_region(grid, ev, "traffic", "chunk", None, "slack:max_ttft_ms").as_json(),
        )
    ]


@pytest.mark.parametrize("bound", BOUNDS)
def test_each_bound_of_a_grid_from_the_slo_and_from_memory(bound):
    grid = models_grid()
    assert under_slo(grid, {bound: BOUNDS[bound]}).base[f"contract.{bound}"] == FIELD_VALUES[bound]
    changed = answers(under_slo(grid, {bound: BOUNDS[bound]}))
    assert changed == answers(models_grid(("set", f"contract.{bound}={FIELD_VALUES[bound]}")))
    assert changed != answers(grid)


def test_several_bounds_at_once_and_by_their_full_path():
    slo = {"max_ttft_ms": 400, "contract.max_tpot_ms": 30}
    fresh = models_grid(("set", "contract.max_ttft_ms=400"), ("set", "contract.max_tpot_ms=30"))
    assert answers(under_slo(models_grid(), slo)) == answers(fresh)


def test_the_kv_bound_may_go_back_to_the_memory():
    fixed = parse_grid(MODELS, [("set", "contract.max_kv_bytes=1_000_000")])
    assert answers(under_slo(fixed, {"max_kv_bytes": "from-memory"})) == answers(models_grid())


def test_without_bounds_the_grid_is_the_same():
    grid = models_grid()
    assert under_slo(grid, None) is grid
    assert under_slo(grid, {}) is grid


def test_a_bound_that_an_axis_or_a_choice_sets_is_refused_with_the_way_out():
    grid = base_grid(("axis", "contract.max_ttft_ms=[200, 300]"))
    with pytest.raises(UsageFault, match=r"fix it with --at contract\.max_ttft_ms="):
        under_slo(grid, {"max_ttft_ms": 100})
    with pytest.raises(UsageFault, match="fix it with --at precision="):
        under_slo(axes_grid(), {"max_ttft_ms": 100})


def test_all_faults_at_once():
    grid = base_grid(("axis", "contract.max_ttft_ms=[200, 300]"))
    with pytest.raises(UsageFault) as refused:
        under_slo(grid, {"max_tftt_ms": 1, "max_ttft_ms": 100, "max_active_sequences": 3})
    assert len(refused.value.faults) == 3
    assert "max_ttft_ms" in refused.value.faults[0]


@pytest.mark.parametrize("value", ["0", "-1", "86_400_001", "1.5", "soon", "true", "10 GB"])
def test_a_value_that_the_bound_does_not_take(value):
    with pytest.raises(InputFault, match="--slo max_ttft_ms"):
        under_slo(models_grid(), {"max_ttft_ms": value})
