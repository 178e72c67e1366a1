"""`results_sha256`: one digest of all result values, whatever the chunks, tiles, threads and compression.

It is the SHA-256 of the canonical JSON {variable: {"dims": […], "dtype": "i8", "shape": […], "sha256": hex}},
where `sha256` is that of the variable's values as little-endian bytes in C order (limbs included, dimension
`limb` last). So any tool can recompute it: `hashlib.sha256(dataset["violations"].values.tobytes())`.
Coordinates are not in it, they follow from the grid.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sweep.exact.limbs import decode, encode
from sweep.records.digest import digest
from sweep.store.layout import LIMB_DIM, Variable

# Below this a hand-over to the other thread costs more than the hashing (0.7 ms/MiB).
_THREADED_BYTES = 2**18


def stored_dims(variable: Variable) -> tuple[str, ...]:
    """The variable's dimensions in the file, `limb` included."""
    return (*variable.dims, LIMB_DIM) if variable.limbs else variable.dims


def to_stored(values: NDArray[Any], variable: Variable) -> NDArray[Any]:
    """The values as the file holds them: C order, little-endian, limbs taken apart.

    Raises:
        OverflowError: a value is outside the variable's dtype (or beyond two limbs).
        ValueError: values are no integers, or of an array type that does not fit whatever the values are.
    """
    if variable.limbs:
        # As one dimension: NumPy turns arithmetic on a 0-d object array into a bare Python int.
        return np.ascontiguousarray(encode(values.reshape(-1)).reshape(*values.shape, 2), dtype="<i8")
    dtype = np.dtype("<" + variable.dtype)
    if values.dtype != object and not np.can_cast(values.dtype, dtype, "safe"):
        raise ValueError(f"{variable.name}: {values.dtype} values do not fit {variable.dtype} safely")
    return np.asarray(values.astype(dtype, copy=False), order="C")


def from_stored(stored: NDArray[Any], variable: Variable) -> NDArray[Any]:
    """What `to_stored` took apart: the variable's dtype, or Python ints in an object array."""
    if variable.limbs:
        return np.asarray(decode(stored.reshape(-1, 2)), dtype=object).reshape(stored.shape[:-1])
    return stored


class StreamDigest:
    """SHA-256 of a variable's bytes as they are written, in C order; large pieces on another thread."""

    def __init__(self, pool: ThreadPoolExecutor) -> None:
        self._pool = pool
        self._sha256 = hashlib.sha256()

    def update(self, stored: NDArray[Any]) -> Future[None] | None:
        """Take in the next piece; wait for the result, where there is one, before `stored` may change.

        hashlib and netCDF4 both release the GIL, so hashing (0.7 ms/MiB) hides behind
        compression (1.9 ms/MiB) where a second core is idle.
        """
        piece = stored.reshape(-1).view(np.uint8).data
        if stored.nbytes >= _THREADED_BYTES:
            return self._pool.submit(self._sha256.update, piece)
        self._sha256.update(piece)
        return None

    def hexdigest(self) -> str:
        """The digest of all pieces so far, 64 lowercase hex digits."""
        return self._sha256.hexdigest()


def results_digest(
    variables: Mapping[str, Variable], shapes: Mapping[str, Sequence[int]], digests: Mapping[str, str]
) -> str:
    """`results_sha256` from each variable's shape in the file and the digest of its bytes."""
    return digest(
        {
            name: {
                "dims": list(stored_dims(variable)),
                "dtype": variable.dtype,
                "shape": list(shapes[name]),
                "sha256": digests[name],
            }
            for name, variable in variables.items()
        }
    )
