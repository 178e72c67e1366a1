"""Labelled integers that are no result of a grid's audit, as a netCDF file: figures over axes, or rows."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import netCDF4
import numpy as np
from numpy.typing import NDArray

from sweep._version import __version__
from sweep.errors import ResultFault
from sweep.store.target import create_partial, disk_sentence, remove_dead_partials


@dataclass(frozen=True)
class Column:
    """One variable.

    Attributes:
        dims: the dimensions that it spans.
        values: integers (stored as int64) or texts, of the dimensions' lengths.
        attrs: `long_name`, `units`, …; nothing that a reader decodes.
    """

    dims: tuple[str, ...]
    values: NDArray[Any] | Sequence[str]
    attrs: Mapping[str, Any] = field(default_factory=dict)


def write_table(
    path: Path, dims: Mapping[str, int], columns: Mapping[str, Column], attrs: Mapping[str, str], force: bool
) -> None:
    """Write a table, complete or not at all; the same values give the same bytes.

    Args:
        path: the file.
        dims: name -> length.
        columns: name -> variable; one named as a dimension is its coordinate.
        attrs: global attributes.
        force: replace a file that is there.

    Raises:
        ResultFault: the file is there and may not be replaced, or cannot be written.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not (force and target.is_file()):
        raise ResultFault(f"{path}: exists already; give --force to replace it, or choose another file.")
    partial: Path | None = None
    try:
        remove_dead_partials(target)
        partial = create_partial(target)
        with netCDF4.Dataset(partial, "r+") as dataset:
            _fill(dataset, dims, columns, {"sweep_version": __version__, **attrs})
        with partial.open("rb") as stream:
            os.fsync(stream.fileno())
        partial.replace(target)
        partial = None
    except (OSError, RuntimeError) as error:
        raise ResultFault(disk_sentence(path, partial, error)) from error
    finally:
        if partial is not None:
            with contextlib.suppress(OSError):
                partial.unlink()


def _fill(dataset: Any, dims: Mapping[str, int], columns: Mapping[str, Column], attrs: Mapping[str, str]) -> None:
    for name, length in dims.items():
        dataset.createDimension(name, length)
    for name, column in columns.items():
        texts = not isinstance(column.values, np.ndarray)
        storage: dict[str, Any] = {} if texts else {"fill_value": False}
        if column.dims and not texts and np.size(column.values):
            storage |= {"compression": "zlib", "complevel": 1, "shuffle": True, "fletcher32": True}
        variable = dataset.createVariable(name, str if texts else "<i8", column.dims, **storage)
        variable.set_auto_maskandscale(False)
        variable.setncatts(dict(column.attrs))
        if texts:
            variable[:] = np.array(list(column.values), dtype=object)
        elif np.size(column.values):
            variable[...] = np.asarray(column.values, dtype="<i8")
    dataset.setncatts(dict(attrs))
