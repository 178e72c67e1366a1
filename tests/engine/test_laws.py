"""Laws of the feasible region: a prefix along traffic, three arithmetics, and what looser bounds and memory do."""

from fractions import Fraction

import numpy as np
import pytest
from brute import CONTRACT
from hand_grids import little_case
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from strategies import grids, whole

from sweep.engine.evaluate import Evaluation, Proven
from sweep.engine.run import evaluation_of
from sweep.engine.verdict import MaskMaker, reported_rules
from sweep.exact.interval import Interval, Truth
from sweep.grid import Grid, grid_with, load_grid, parse_grid
from sweep.records.bounds import CONTRACT_BOUNDS

MORE_FOR_EVERY_CELL = {**{f"contract.{bound}": CONTRACT_BOUNDS[bound][1] for bound in CONTRACT}}


def mask_of(grid: Grid, ev: Evaluation | None = None) -> np.ndarray:
    ev = ev or evaluation_of(grid)
    return MaskMaker(ev, reported_rules(ev), grid.admission_control_enabled).make(whole(grid.shape))


def feasible(grid: Grid) -> np.ndarray:
    return mask_of(grid) == 0


@given(grids(cells=200))
def test_along_traffic_the_feasible_cells_come_first(grid):
    inside = feasible(grid)
    assert (inside[..., 1:] <= inside[..., :-1]).all()


def forced(ev: Evaluation) -> Evaluation:
    """The same evaluation with every node in Python ints."""

    class Wide(Proven):
        @property
        def arithmetic(self):
            return "object"

    real = ev.proof
    ev.proof = lambda name: Wide(real(name).range, real(name).peak)
    return ev


@settings(max_examples=30)
@given(grids(cells=120))
def test_python_ints_give_what_int64_gives_and_intervals_hold_both(grid):
    ev, wide = evaluation_of(grid), forced(evaluation_of(grid))
    for name in ev.graph:
        narrow, exact, known = ev.get(name), wide.get(name), ev.proof(name).range
        assert narrow.shape == exact.shape
        assert (narrow.astype(object) == exact.astype(object)).all(), name
        if isinstance(known, Truth):
            assert known.can_be_true or not exact.any(), name
            assert known.can_be_false or exact.all(), name
        else:
            assert isinstance(known, Interval)
            assert known.lo <= min(exact.flat), name
            assert max(exact.flat) <= known.hi, name


def looser(grid: Grid, bound: str, factor: Fraction) -> Grid | None:
    """The grid with a bound of its base raised; None where an axis, or the memory, sets it."""
    path = f"contract.{bound}"
    now = grid.base.get(path)
    if not isinstance(now, int) or any(path in axis.fields for axis in grid.axes):
        return None
    return grid_with(grid, [("set", f"{path}={min(int(now * factor) + 1, CONTRACT_BOUNDS[bound][1])}")])


FACTORS = st.sampled_from([Fraction(1), Fraction(11, 10), Fraction(3), Fraction(10**6)])


@settings(max_examples=50)
@given(grids(cells=120), st.sampled_from(CONTRACT), FACTORS)
def test_a_looser_bound_never_loses_a_cell_but_a_latency_bound_of_littles_law(grid, bound, factor):
    little = any(grid.from_slo(class_id) for class_id in grid.class_ids)
    assume(not (little and bound in ("max_ttft_ms", "max_tpot_ms")))
    wider = looser(grid, bound, factor)
    assume(wider is not None)
    assert (feasible(grid) <= feasible(wider)).all(), (bound, grid.text)


@settings(max_examples=40)
@given(grids(cells=120), FACTORS)
def test_more_memory_never_loses_a_cell(grid, factor):
    path = "gpu.memory_bytes"
    assume(grid.from_memory and not any(path in axis.fields for axis in grid.axes))
    more = min(int(grid.base[path] * factor) + 1, 10**18)
    wider = grid_with(grid, [("set", f"{path}={more}")])
    before, after = mask_of(grid), mask_of(wider)
    # A bound that leaves its record's range (10^18) makes a cell invalid: no memory that exists does.
    assert ((before != 0) | (after == 0) | (after == 0x8000)).all(), grid.text
    assert not ((before == 0) & (after == 0x8000)).any() or factor > 1


def test_with_littles_law_a_looser_tpot_bound_loses_a_cell():
    grid = parse_grid(little_case())
    wider = grid_with(grid, [("set", "contract.max_tpot_ms=60")])
    assert feasible(grid).all()
    assert not feasible(wider).any(), "each sequence may stay longer, so more are present than there are slots"


@pytest.mark.parametrize("name", ["h100", "illustrative", "capstone", "precision"])
def test_the_shipped_grids_obey_the_prefix(name):
    grid = load_grid(f"grids/{name}.toml")
    inside = feasible(grid)
    assert (inside[..., 1:] <= inside[..., :-1]).all()
