"""Writing a result file: variables tile by tile in C order, then attributes, seal and rename.

One thread, the one that calls; netCDF-C is not thread-safe. The bytes depend on the order in which variables
are created and written (one after the other gives the same bytes for any tile size), never on time, place or
threads.
"""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Any

import netCDF4
import numpy as np
from numpy.typing import NDArray

from sweep._version import __version__
from sweep.errors import ResultFault
from sweep.grid import Axis, Grid
from sweep.store.digest import StreamDigest, results_digest, stored_dims, to_stored
from sweep.store.layout import (
    LIMB_BASE_ATTR,
    LIMB_COMMENT,
    LIMB_DIM,
    SLAB_VALUES,
    Variable,
    axis_attributes,
    check_variable,
    chunk_shape,
    flat_span,
)
from sweep.store.seal import SEAL_FORMAT
from sweep.store.target import (
    check_target,
    commit_partial,
    create_partial,
    disk_sentence,
    remove_dead_partials,
)

LIMB_BASE = 10**18
_OWNED_ATTRS = {"title", "Conventions", "sweep_version", "results_sha256", "seal"} | {
    "grid_sha256",
    "grid_overrides",
    "grid_text",
    "grid_effective",
}
# A chunk is written once and never looked at again: a cache would only delay it (measured 3-8 % slower, 64
# MiB more).
_CHUNK_CACHE_BYTES = 2**16


class ResultWriter:
    """A result file in the making; a context manager.

    Until `finish` returns, nothing appears under the target's name; leaving the context without it, or by an
    exception (Ctrl-C included), removes the partial file.

    Args:
        target: the file's name to be.
        grid: the grid; its axes become dimensions and coordinates.
        force: whether any existing file may be replaced. A complete result of the same grid always is.

    Raises:
        ResultFault: the target may not be replaced, or the disk refuses (here and in every method).
    """

    results_sha256: str = ""
    """Digest of all values (`sweep.store.digest`), once `finish` has returned."""

    def __init__(self, target: Path, grid: Grid, force: bool = False) -> None:
        self._named = Path(target)
        self._grid = grid
        self._force = force
        self._target = check_target(self._named, grid.sha256, force)
        self._variables: dict[str, Variable] = {}
        self._shapes: dict[str, tuple[int, ...]] = {}
        self._chunks: dict[str, tuple[int, ...]] = {}
        self._written: dict[str, int] = {}
        self._digests: dict[str, StreamDigest] = {}
        self._dataset: Any = None
        self._partial: Path | None = None
        self._pool = ThreadPoolExecutor(max_workers=1)
        try:
            with self._disk_faults():
                remove_dead_partials(self._target)
                self._partial = create_partial(self._target)
                self._dataset = netCDF4.Dataset(self._partial, "r+")
                for axis in grid.axes:
                    self._dataset.createDimension(axis.dim, len(axis))
                for axis in grid.axes:
                    self._write_coordinate(axis)
        except BaseException:
            self.abort()
            raise

    def __enter__(self) -> ResultWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.abort()

    def create(self, variable: Variable) -> None:
        """Define a variable. Raises ValueError for one that would not come back as it was written."""
        check_variable(variable)
        if variable.name in self._variables:
            raise ValueError(f"{variable.name}: created twice")
        sizes = {axis.dim: len(axis) for axis in self._grid.axes}
        shape = tuple(sizes[dim] for dim in variable.dims)
        chunks = variable.chunks or chunk_shape(shape)
        attrs = dict(variable.attrs)
        with self._disk_faults():
            if variable.limbs:
                attrs |= {LIMB_BASE_ATTR: LIMB_BASE, "comment": LIMB_COMMENT}
                shape, chunks = (*shape, 2), (*chunks, 2)
                if LIMB_DIM not in self._dataset.dimensions:
                    self._dataset.createDimension(LIMB_DIM, 2)
            self._create_array(variable.name, "<" + variable.dtype, stored_dims(variable), chunks, attrs)
        self._variables[variable.name] = variable
        self._shapes[variable.name] = shape
        self._chunks[variable.name] = chunks
        self._written[variable.name] = 0
        self._digests[variable.name] = StreamDigest(self._pool)

    def write(self, name: str, region: Sequence[slice] | None, values: NDArray[Any]) -> None:
        """Write the next piece of a variable: a region over its dimensions, without `limb`; None is all of
        it.

        Pieces come in C order without gaps, each of whole chunks (`slab_shape` gives such tiles). Values are
        of the variable's dtype, of a smaller one, or Python ints in an object array; the array may be reused
        afterwards.

        Raises:
            ValueError: another order, shape or type (a bug of the caller).
            OverflowError: a value outside the variable's dtype.
        """
        variable, shape = self._variables[name], self._shapes[name]
        whole = tuple(slice(0, length) for length in shape)
        place = whole if region is None else (*region, *whole[len(variable.dims) :])
        start, stop = flat_span(place, shape, self._chunks[name])
        if start != self._written[name]:
            raise ValueError(f"{name}: region starts at value {start}, the next one is {self._written[name]}")
        stored = to_stored(np.asarray(values), variable)
        wanted = tuple(len(range(*part.indices(length))) for part, length in zip(place, shape, strict=True))
        if stored.shape != wanted:
            raise ValueError(f"{name}: values of shape {stored.shape} for a region of {wanted}")
        hashing = self._digests[name].update(stored)
        try:
            with self._disk_faults():
                self._dataset.variables[name][place or ...] = stored
        finally:
            if hashing is not None:
                hashing.result()
        self._written[name] = stop

    def finish(self, attrs: Mapping[str, str | int]) -> None:
        """Write the global attributes, close, seal, flush and rename: the result appears under its name.

        Raises:
            ResultFault: meanwhile a file is there that only `force` may replace.
            ValueError: a variable is not wholly written, or an attribute is the store's own (a bug of the
            caller).
        """
        missing = [name for name, shape in self._shapes.items() if self._written[name] != math.prod(shape)]
        if missing or _OWNED_ATTRS & attrs.keys():
            raise ValueError(f"not wholly written: {missing}; the store's own: {_OWNED_ATTRS & attrs.keys()}")
        digests = {name: stream.hexdigest() for name, stream in self._digests.items()}
        results_sha256 = results_digest(self._variables, self._shapes, digests)
        with self._disk_faults():
            if self._partial is None:
                raise ValueError(f"{self._named}: already finished or given up")
            for key, value in self._global_attributes(attrs, results_sha256).items():
                self._dataset.setncattr(key, value)
            self._dataset.close()
            self._dataset = None
            commit_partial(self._partial, self._target, self._grid.sha256, self._force)
            self._partial = None
        self.results_sha256 = results_sha256

    def abort(self) -> None:
        """Give up: remove the partial file. Does nothing after `finish` or a second time."""
        self._pool.shutdown()
        dataset, self._dataset = self._dataset, None
        partial, self._partial = self._partial, None
        if dataset is not None and partial is not None and not _closes(dataset):
            # HDF5 keeps a file open that it cannot flush. Freeing its room lets a full disk take the rest,
            # and gives the room back at once even where the handle stays open until the process ends.
            with contextlib.suppress(OSError), partial.open("r+b") as stream:
                stream.truncate(0)
            _closes(dataset)
        if partial is not None:
            with contextlib.suppress(OSError):
                partial.unlink()

    def _create_array(
        self,
        name: str,
        dtype: str | type[str],
        dims: tuple[str, ...],
        chunks: tuple[int, ...],
        attrs: Mapping[str, Any],
    ) -> netCDF4.Variable[Any]:
        """A netCDF variable without fill value, masks, scales; arrays compressed and checksummed."""
        packed = bool(dims) and dtype is not str
        storage: dict[str, Any] = {}
        if packed:
            storage = {
                "compression": "zlib",
                "complevel": 1,
                "shuffle": True,
                "fletcher32": True,
                "chunksizes": chunks,
                "chunk_cache": _CHUNK_CACHE_BYTES,
            }
        if dtype is not str:
            storage["fill_value"] = False
        array: netCDF4.Variable[Any] = self._dataset.createVariable(name, dtype, dims, **storage)
        array.set_auto_maskandscale(False)
        array.setncatts(attrs)
        return array

    def _write_coordinate(self, axis: Axis) -> None:
        """The coordinate of an axis: its labels, int64, or strings for named choices."""
        length = len(axis)
        dtype = str if axis.is_choice else "<i8"
        array = self._create_array(axis.dim, dtype, (axis.dim,), chunk_shape((length,)), axis_attributes(axis))
        if axis.is_choice:
            array[:] = np.array([axis.label(i) for i in range(length)], dtype=object)
            return
        for start in range(0, length, SLAB_VALUES):
            array[start : start + SLAB_VALUES] = np.array(axis.values[start : start + SLAB_VALUES], dtype="<i8")

    def _global_attributes(self, attrs: Mapping[str, str | int], results_sha256: str) -> dict[str, str | int]:
        """All global attributes, the long ones last, so that the head of `ncdump -h` can be read."""
        return {
            "title": f"sweep: {self._grid.name}",
            "Conventions": "CF-1.11",
            "sweep_version": __version__,
            **attrs,
            "results_sha256": results_sha256,
            "seal": SEAL_FORMAT,
            "grid_sha256": self._grid.sha256,
            "grid_overrides": json.dumps(list(self._grid.overrides)),
            "grid_text": self._grid.text,
            "grid_effective": self._grid.effective,
        }

    @contextlib.contextmanager
    def _disk_faults(self) -> Iterator[None]:
        """Turn what the system and netCDF raise into one sentence; a bug of ours keeps its traceback."""
        try:
            yield
        except (OSError, RuntimeError, AttributeError, UnicodeError) as error:
            ours = not isinstance(error, OSError | UnicodeError) and "NetCDF: " not in str(error)
            if ours or isinstance(error, ResultFault):
                raise
            raise ResultFault(disk_sentence(self._named, self._partial, error)) from error


def _closes(dataset: netCDF4.Dataset) -> bool:
    """Close a dataset; False where netCDF cannot."""
    try:
        dataset.close()
    except (OSError, RuntimeError, AttributeError):
        return False
    return True
