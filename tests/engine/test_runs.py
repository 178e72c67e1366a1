"""Masks made as runs along traffic are the masks made cell by cell, in every cut, and so are their counts."""

import numpy as np
import pytest
from brute import MASK, assert_equal, labels, reference_table
from brute_file import table_of_netcdf4
from hypothesis import event, given, settings
from hypothesis import strategies as st
from strategies import cuts, grids, seeded_text, whole

from sweep.engine.plan import make_plan
from sweep.engine.run import evaluation_of, execute
from sweep.engine.runs import MIN_TRAFFIC_VALUES, RunMaker
from sweep.engine.verdict import MaskMaker, reported_rules
from sweep.grid import parse_grid
from sweep.reference import judge


def makers(grid):
    ev = evaluation_of(grid)
    reported = reported_rules(ev)
    admission = grid.admission_control_enabled
    return RunMaker(ev, reported, admission), MaskMaker(ev, reported, admission)


def assert_same_mask(grid, found, wanted):
    assert found.dtype == np.uint16
    assert found.shape == wanted.shape
    cells = [tuple(int(i) for i in at) for at in np.argwhere(found != wanted)[:3]]
    faults = [f"{labels(grid, at)}: {int(found[at]):#06x}, wanted {int(wanted[at]):#06x}" for at in cells]
    assert not faults, "\n".join([*faults, "", grid.text])


def assert_runs(grid, regions):
    """The runs of the whole grid and of each region are the folded masks; lengths fill each row, counts are right."""
    runner, maker = makers(grid)
    mask = maker.make(whole(grid.shape))
    assert_same_mask(grid, runner.make(whole(grid.shape)).mask(grid.shape), mask)
    for region in regions:
        runs, tile = runner.make(region), mask[region]
        assert (runs.lengths >= 0).all(), region
        assert (runs.lengths.sum(axis=1) == tile.shape[-1]).all(), region
        assert runs.mask(tile.shape).tobytes() == np.ascontiguousarray(tile).tobytes(), (region, grid.text)
        assert runs.histogram().tolist() == np.bincount(tile.reshape(-1), minlength=2**16).tolist(), region


@settings(max_examples=60)
@given(grids(cells=200), st.data())
def test_runs_are_the_folded_masks_in_every_cut_of_a_grid_with_a_short_traffic_axis(grid, data):
    assert_runs(grid, data.draw(cuts(grid.shape)))


@settings(max_examples=60)
@given(grids(cells=12, long=True), st.data())
def test_runs_are_the_folded_masks_in_every_cut_of_a_grid_with_a_long_traffic_axis(grid, data):
    event(f"more than four runs in a row: {max_runs(grid) > 4}")
    assert_runs(grid, data.draw(cuts(grid.shape)))


def max_runs(grid):
    mask = makers(grid)[1].make(whole(grid.shape))
    return 1 + int((mask[..., 1:] != mask[..., :-1]).sum(axis=-1).max())


@settings(max_examples=30)
@given(grids(cells=4, long=True))
def test_runs_are_the_masks_of_the_reference(grid):
    found = makers(grid)[0].make(whole(grid.shape)).mask(grid.shape)
    wanted = np.empty(grid.shape, dtype=np.uint16)
    for cell in np.ndindex(grid.shape):
        wanted[cell] = judge(grid.fields(cell), grid.class_ids).violations
    assert_same_mask(grid, found, wanted)


@settings(max_examples=12)
@given(grids(cells=3, long=True))
def test_a_run_with_a_long_traffic_axis_writes_and_counts_what_the_reference_says(tmp_path_factory, grid):
    """Stored or only counted: the same tally, and every value of the file."""
    wanted = reference_table(grid)
    counts = np.bincount(wanted.values[MASK].astype(np.int64).reshape(-1))
    tallies = []
    for materialize, folds in (("always", True), ("always", False), ("never", False)):
        path = tmp_path_factory.mktemp("run") / "drawn.nc"
        ev = evaluation_of(grid)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(MaskMaker, "suits", lambda ev, folds=folds: folds)
            plan = make_plan(grid, ev, "all", materialize)
        assert plan.by_runs == (grid.shape[-1] >= MIN_TRAFFIC_VALUES and not folds)
        tallies.append(execute(grid, ev, plan, path, False, lambda done, cells: None).tally.cells_of_mask)
        found = table_of_netcdf4(grid, path)
        if materialize == "never":
            found.values[MASK], found.dims[MASK] = wanted.values[MASK], wanted.dims[MASK]
            found.dtypes[MASK] = "uint16"
        assert_equal(grid, found, wanted)
    assert tallies == 3 * [{mask: int(n) for mask, n in enumerate(counts) if n}]


@pytest.mark.slow
@pytest.mark.parametrize("block", range(10))
def test_runs_of_many_more_grids_are_the_folded_masks(block):
    for seed in range(100 * block, 100 * (block + 1)):
        for long in (False, True):
            grid = parse_grid(seeded_text(seed, cells=30 if long else 300, long=long))
            halves = [slice(0, n // 2) if i % 2 else slice(n // 2, n) for i, n in enumerate(grid.shape)]
            assert_runs(grid, [tuple(halves)] if all(half.stop > half.start for half in halves) else [])
