"""A written result file as a table of all its variables, read by netCDF4 and by xarray as any user would."""

from pathlib import Path
from typing import Any

import netCDF4
import numpy as np
import xarray as xr
from brute import CAPACITY, LIMITING, Table

from sweep.grid import Grid

LIMB_BASE = 10**18


def table_of_netcdf4(grid: Grid, path: Path) -> Table:
    with netCDF4.Dataset(path) as file:
        file.set_auto_maskandscale(False)
        for axis in grid.axes:
            kept = [label.item() if hasattr(label, "item") else label for label in file.variables[axis.dim][:]]
            assert kept == list(axis.labels), axis.name
        raw = {name: (v.dimensions, np.asarray(v[...])) for name, v in file.variables.items() if name not in grid.dims}
        limb_bases = {name: file.variables[name].limb_base for name, (dims, _) in raw.items() if "limb" in dims}
    assert set(limb_bases.values()) <= {LIMB_BASE}
    return _table(grid, raw)


def table_of_xarray(grid: Grid, path: Path) -> Table:
    """Opened as a user would, with all decoding on: integers stay integers."""
    with xr.open_dataset(path, engine="netcdf4") as dataset:
        for axis in grid.axes:
            assert list(dataset[axis.dim].values) == list(axis.labels), axis.name
            assert dataset[axis.dim].attrs["path"] == axis.path
        return _table(grid, {name: (v.dims, v.values) for name, v in dataset.data_vars.items()})


def _table(grid: Grid, raw: dict[str, Any]) -> Table:
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
