"""Every cell of every variable of drawn grids equals the scalar reference: in memory, and through the file."""

from collections import Counter

import netCDF4
import numpy as np
import pytest
import xarray as xr
from brute import CAPACITY, INVALID, LIMITING, MASK, Table, demand_equal, engine_table, evaluation_of, reference_table
from hypothesis import event, given, settings
from hypothesis import strategies as st
from strategies import grids, seeded_text

from sweep.engine.plan import make_plan
from sweep.engine.run import execute
from sweep.grid import Grid, parse_grid

LIMB_BASE = 10**18


@settings(max_examples=200)
@given(grids())
def test_every_cell_of_every_variable_equals_the_reference(grid):
    wanted = reference_table(grid)
    event(f"feasible cells: {bool((wanted.values[MASK] == 0).any())}")
    event(f"invalid cells: {bool((wanted.values[MASK] == INVALID).any())}")
    event(f"limbs: {'limbs' in wanted.dtypes.values()}")
    demand_equal(grid, engine_table(grid), wanted)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(40))
def test_every_cell_of_many_more_grids_equals_the_reference(block):
    for seed in range(100 * block, 100 * (block + 1)):
        grid = parse_grid(seeded_text(seed, cells=500))
        demand_equal(grid, engine_table(grid), reference_table(grid))


def test_drawn_grids_have_feasible_cells_every_bit_every_reason_and_limbs():
    """What the drawing is worth: the first 300 seeds reach every outcome that the definition has."""
    counts = Counter()
    for seed in range(300):
        table = engine_table(parse_grid(seeded_text(seed, cells=100)))
        masks = {int(mask) for mask in table.values[MASK].flat}
        counts["feasible"] += 0 in masks
        counts["frontier inside"] += 0 in masks and len(masks) > 1
        counts["limbs"] += "limbs" in table.dtypes.values()
        counts.update(f"bit {bit}" for bit in range(10) if any(mask >> bit & 1 for mask in masks))
        counts.update(f"reason {int(reason)}" for reason in set(table.values["invalid_reason"].flat))
        counts.update(f"limit {int(mask):#x}" for mask in set(table.values[LIMITING].flat))
        counts["capacity above 2^32"] += bool((table.values[CAPACITY] > 2**32).any())
    floors = {"feasible": 60, "frontier inside": 25, "limbs": 5, "limit 0x8000": 10, "capacity above 2^32": 2}
    floors |= dict.fromkeys([f"bit {bit}" for bit in range(10)] + [f"reason {i}" for i in range(10)], 2)
    assert {name: (counts[name], least) for name, least in floors.items() if counts[name] < least} == {}


@settings(max_examples=25)
@given(grids(cells=120), st.sampled_from(["all", "small"]))
def test_every_value_of_the_written_file_equals_the_reference(tmp_path_factory, grid, store):
    path = tmp_path_factory.mktemp("run") / "drawn.nc"
    ev = evaluation_of(grid)
    execute(grid, ev, make_plan(grid, ev, store, "always"), path, False, lambda done, cells: None)
    wanted = reference_table(grid)
    demand_equal(grid, table_of_netcdf4(grid, path), wanted)
    demand_equal(grid, table_of_xarray(grid, path), wanted)


def table_of_netcdf4(grid: Grid, path) -> Table:
    with netCDF4.Dataset(path) as file:
        file.set_auto_maskandscale(False)
        for axis in grid.axes:
            kept = [label.item() if hasattr(label, "item") else label for label in file.variables[axis.dim][:]]
            assert kept == list(axis.labels), axis.name
        raw = {name: (v.dimensions, np.asarray(v[...])) for name, v in file.variables.items() if name not in grid.dims}
        limb_bases = {name: file.variables[name].limb_base for name, (dims, _) in raw.items() if "limb" in dims}
    assert set(limb_bases.values()) <= {LIMB_BASE}
    return _table(grid, raw)


def table_of_xarray(grid: Grid, path) -> Table:
    """Opened as a user would, with all decoding on: integers stay integers."""
    with xr.open_dataset(path, engine="netcdf4") as dataset:
        for axis in grid.axes:
            assert list(dataset[axis.dim].values) == list(axis.labels), axis.name
            assert dataset[axis.dim].attrs["path"] == axis.path
        return _table(grid, {name: (v.dims, v.values) for name, v in dataset.data_vars.items()})


def _table(grid: Grid, raw) -> Table:
    """Variables by name, their axes by name; limbs put together."""
    values, dims, dtypes = {}, {}, {}
    names = dict(zip(grid.dims, [axis.name for axis in grid.axes], strict=True))
    for name, (stored_dims, array) in raw.items():
        dtypes[name] = str(array.dtype)
        if stored_dims and stored_dims[-1] == "limb":
            assert str(array.dtype) == "int64", name
            assert ((array[..., 1] >= 0) & (array[..., 1] < LIMB_BASE)).all(), name
            array, dtypes[name] = array[..., 0].astype(object) * LIMB_BASE + array[..., 1], "limbs"
        dims[name] = tuple(names[dim] for dim in stored_dims if dim != "limb")
        over = grid.axes[:-1] if name in (CAPACITY, LIMITING) else grid.axes
        shape = [len(axis) if axis.name in dims[name] else 1 for axis in over]
        full = [len(axis) for axis in over]
        values[name] = np.broadcast_to(np.asarray(array, dtype=None).reshape(shape), full)
    return Table(values, dims, dtypes)
