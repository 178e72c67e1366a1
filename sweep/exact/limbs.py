"""Values beyond int64 as two int64 limbs: value = hi·10^18 + lo with 0 ≤ lo < 10^18."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sweep.exact.interval import fits_int64

LIMB_BASE = 10**18


def encode(values: NDArray[Any]) -> NDArray[np.int64]:
    """An integer array as int64 limbs along a new last dimension of length 2 (hi, lo).

    Exact for every value from −2^63·10^18 on up to (2^63 − 1)·10^18 + 10^18 − 1, which holds every defined figure of
    the audit. Raises OverflowError beyond.
    """
    wide = values.astype(object).reshape(-1)  # at least 1-d: arithmetic on a 0-d object array yields a bare int
    hi = wide // LIMB_BASE
    pairs = np.stack([hi.astype(np.int64), (wide - hi * LIMB_BASE).astype(np.int64)], axis=-1)
    return pairs.reshape(*values.shape, 2)


def decode(limbs: NDArray[np.int64]) -> NDArray[Any]:
    """The object array of Python ints that `encode` took apart."""
    wide = limbs.astype(object).reshape(-1, 2)
    return np.asarray(wide[:, 0] * LIMB_BASE + wide[:, 1], dtype=object).reshape(limbs.shape[:-1])


def needs_limbs(values: NDArray[Any]) -> bool:
    """Whether any value of an integer array is outside int64."""
    if values.dtype != object or values.size == 0:
        return False
    return not fits_int64(min(values.flat), max(values.flat))
