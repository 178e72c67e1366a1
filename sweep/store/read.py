"""Reading a result file back: refused with a sentence where it is foreign, cut short or altered.

xarray is not imported here, to keep `sweep best` fast; `sweep.store.labelled` opens a result with it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import stat
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any

import netCDF4
import numpy as np
from numpy.typing import NDArray

from sweep.errors import ResultFault, SweepError
from sweep.grid import Grid, grid_from_effective
from sweep.store.digest import from_stored, results_digest
from sweep.store.layout import LIMB_BASE_ATTR, LIMB_DIM, SLAB_VALUES, Variable, slab_shape, slabs
from sweep.store.seal import has_seal, seal_holds
from sweep.store.target import HDF5_MAGIC

# Hashing this much takes 25 ms.
_SEAL_CHECKED_BYTES = 32 * 2**20
_AGAIN = "make it anew with `sweep run`."
_TEXT_ATTRS = ("grid_sha256", "grid_effective", "grid_text", "grid_overrides", "results_sha256")


class ResultFile:
    """An open result file; a context manager. `open_file` makes one.

    Attributes:
        path: the file.
        attrs: global attributes; integers are Python ints.
        variables: the result variables in file order, coordinates left out.

    Every method raises ResultFault where the file cannot be read or is damaged.
    """

    def __init__(self, path: Path, dataset: netCDF4.Dataset) -> None:
        self.path = path
        self._dataset = dataset
        with self._read_faults():
            dataset.set_auto_maskandscale(False)
            self.attrs: dict[str, Any] = _attributes(dataset)
            self.variables: dict[str, Variable] = {
                name: _variable(name, array)
                for name, array in dataset.variables.items()
                if name not in dataset.dimensions
            }
        self._check_grid_digest()

    def __enter__(self) -> ResultFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; nothing can be read any more. Does nothing the second time."""
        if self._dataset.isopen():
            with self._read_faults():
                self._dataset.close()

    @cached_property
    def grid(self) -> Grid:
        """The grid that the result was computed from: `grid_effective`, and nothing else."""
        try:
            overrides = [str(item) for item in json.loads(self.attrs["grid_overrides"])]
            return grid_from_effective(self.attrs["grid_effective"], self.attrs["grid_text"], overrides)
        except (SweepError, ValueError, TypeError, LookupError, RecursionError) as error:
            reason = str(error).rstrip(".").replace("\n", "; ")
            raise ResultFault(
                f"{self.path}: its grid cannot be read by this version (version"
                f" {self.attrs.get('sweep_version')} wrote it): {reason}; {_AGAIN}"
            ) from error

    def has(self, name: str) -> bool:
        """Whether the file holds this result variable."""
        return name in self.variables

    def shape(self, name: str) -> tuple[int, ...]:
        """The variable's shape over its dimensions, without `limb`."""
        variable = self._named(name)
        return tuple(len(self._dataset.dimensions[dim]) for dim in variable.dims)

    def read(self, name: str, region: Sequence[slice | int] | None = None) -> NDArray[Any]:
        """Values of a variable over a region of its dimensions (no `limb`); None reads all.

        A plain int picks one index and drops the dimension. int64, uint16 or uint8; where the variable is
        stored as limbs, Python ints in an object array.
        """
        variable = self._named(name)
        with self._read_faults():
            return from_stored(self._read_stored(name, () if region is None else tuple(region)), variable)

    def coordinate(self, dim: str) -> list[int] | list[str]:
        """The labels along a dimension as the file holds them."""
        with self._read_faults():
            labels: list[Any] = self._dataset.variables[dim][:].tolist()
            return labels

    def digest(self) -> str:
        """`results_sha256` computed from the file's values, in bounded memory; reads every value."""
        digests = {name: self._digest_of(name) for name in self.variables}
        shapes = {name: self._dataset.variables[name].shape for name in self.variables}
        return results_digest(self.variables, shapes, digests)

    def check_digest(self) -> None:
        """Raise ResultFault where the values are not those that `results_sha256` was computed from."""
        found = self.digest()
        if found != self.attrs["results_sha256"]:
            raise ResultFault(
                f"{self.path}: its values have the digest {found[:12]}…, its attribute results_sha256 says"
                f" {self.attrs['results_sha256'][:12]}…: it was altered; {_AGAIN}"
            )

    def check_seal(self) -> None:
        """Raise ResultFault where the bytes are not those that were sealed; reads the whole file."""
        with self._read_faults():
            holds = seal_holds(self.path)
        if not holds:
            raise ResultFault(f"{self.path}: its seal does not fit its bytes: it was altered or damaged; {_AGAIN}")

    def check_coordinates(self) -> None:
        """Raise ResultFault where a coordinate is not the axis that the stored grid has."""
        for axis in self.grid.axes:
            labels = self.coordinate(axis.dim) if axis.dim in self._dataset.variables else []
            if len(labels) != len(axis) or any(label != axis.label(i) for i, label in enumerate(labels)):
                raise ResultFault(
                    f"{self.path}: coordinate {axis.dim} is not axis {axis.name} of its grid_effective: it"
                    f" was altered; {_AGAIN}"
                )

    def _named(self, name: str) -> Variable:
        if name not in self.variables:
            known = ", ".join(self.variables) or "none"
            raise ResultFault(f"{self.path}: has no variable {name} (it holds {known}); {_AGAIN}")
        return self.variables[name]

    def _read_stored(self, name: str, region: tuple[slice | int, ...]) -> NDArray[Any]:
        return np.asarray(self._dataset.variables[name][(*region, ...)])

    def _digest_of(self, name: str) -> str:
        """SHA-256 of a variable's bytes, slab by slab."""
        with self._read_faults():
            array = self._dataset.variables[name]
            total = hashlib.sha256()
            for region in slabs(array.shape, slab_shape(array.shape, SLAB_VALUES, _chunks(array))):
                stored = self._read_stored(name, region)
                total.update(np.ascontiguousarray(stored, dtype=stored.dtype.newbyteorder("<")).data)
        return total.hexdigest()

    def _check_grid_digest(self) -> None:
        for key in _TEXT_ATTRS:
            if not isinstance(self.attrs.get(key), str):
                raise ResultFault(
                    f"{self.path}: is a netCDF file without the text attribute {key}, so no result of sweep;"
                    " give a file that `sweep run` wrote."
                )
        found = hashlib.sha256(self.attrs["grid_effective"].encode()).hexdigest()
        if found != self.attrs["grid_sha256"]:
            raise ResultFault(
                f"{self.path}: its attribute grid_effective has the digest {found[:12]}…, grid_sha256 says"
                f" {self.attrs['grid_sha256'][:12]}…: it was altered; {_AGAIN}"
            )

    @contextlib.contextmanager
    def _read_faults(self) -> Iterator[None]:
        """Turn what netCDF and the system raise (a chunk's checksum, above all) into one sentence."""
        try:
            yield
        except (OSError, RuntimeError, AttributeError, UnicodeError) as error:
            if not isinstance(error, OSError | UnicodeError) and "NetCDF: " not in str(error):
                raise
            raise ResultFault(f"{self.path}: cannot be read, it is damaged ({error}); {_AGAIN}") from error


def open_file(path: str | Path) -> ResultFile:
    """Open a result file for reading.

    Its seal is checked where the file has at most 32 MiB, the digest of its grid always.

    Raises:
        ResultFault: missing, no file, not readable, foreign, cut short, altered.
    """
    path = Path(path)
    size = _check_file(path)
    try:
        sealed = has_seal(path)
        holds = sealed and (size > _SEAL_CHECKED_BYTES or seal_holds(path))
        if sealed and not holds:
            raise ResultFault(f"{path}: its seal does not fit its bytes: it was altered or damaged; {_AGAIN}")
        # No address to fetch for netCDF: a Path has no "scheme://".
        dataset = netCDF4.Dataset(path, "r")
    except (OSError, RuntimeError, AttributeError, UnicodeError) as error:
        raise ResultFault(
            f"{path}: begins like a netCDF-4 file but cannot be opened ({error}): it was cut short, damaged,"
            f" or is still being written; {_AGAIN}"
        ) from error
    try:
        result = ResultFile(path, dataset)
        if not sealed:
            raise ResultFault(
                f"{path}: does not end in the seal of a result: it was cut short, or another program changed"
                f" it; {_AGAIN}"
            )
    except BaseException:
        with contextlib.suppress(OSError, RuntimeError):
            dataset.close()
        raise
    return result


def _check_file(path: Path) -> int:
    """The size in bytes of a regular file that begins like HDF5; ResultFault for anything else."""
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise ResultFault(f"{path}: is a folder, a result file is wanted; give a file that `sweep run` wrote.")
        if not stat.S_ISREG(status.st_mode):
            raise ResultFault(f"{path}: is a device or a pipe; give a regular file that `sweep run` wrote.")
        with path.open("rb") as stream:
            head = stream.read(len(HDF5_MAGIC))
    except FileNotFoundError as error:
        raise ResultFault(f"{path}: there is no such file; write it with `sweep run GRID.toml -o {path}`.") from error
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise ResultFault(f"{path}: cannot be read ({reason}); mend that or give another result file.") from error
    if head == HDF5_MAGIC:
        return status.st_size
    if path.suffix == ".toml":
        raise ResultFault(f"{path}: is a grid, a result is wanted; `sweep run {path}` makes one.")
    what = "is empty" if not head else "is classic netCDF" if head.startswith(b"CDF") else "is no netCDF-4 file"
    raise ResultFault(f"{path}: {what}, so no result of sweep; give a file that `sweep run` wrote.")


def _attributes(owner: netCDF4.Dataset | netCDF4.Variable[Any]) -> dict[str, Any]:
    """Attributes of a dataset or variable; NumPy integer scalars become Python ints."""
    found = {key: owner.getncattr(key) for key in owner.ncattrs()}
    return {key: int(value) if isinstance(value, np.integer) else value for key, value in found.items()}


def _variable(name: str, array: netCDF4.Variable[Any]) -> Variable:
    """The `Variable` that a netCDF variable was created from."""
    attrs = _attributes(array)
    limbs = LIMB_DIM in array.dimensions and LIMB_BASE_ATTR in attrs
    dims = tuple(dim for dim in array.dimensions if not (limbs and dim == LIMB_DIM))
    chunks = _chunks(array)
    dtype = array.dtype
    code = f"{dtype.kind}{dtype.itemsize}" if isinstance(dtype, np.dtype) else "str"
    return Variable(name=name, dtype=code, dims=dims, attrs=attrs, limbs=limbs, chunks=chunks and chunks[: len(dims)])


def _chunks(array: netCDF4.Variable[Any]) -> tuple[int, ...] | None:
    """Chunk lengths in the file; None where the values lie in one piece."""
    chunking = array.chunking()
    return tuple(chunking) if isinstance(chunking, list) else None
