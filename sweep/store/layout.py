"""What a result file holds: variables, their chunks, and the attributes that keep integers integers.

Sizes are counted in values, not bytes. Sources: `grid.md` ("The result file"), CF-1.11 (flags, units).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sweep.grid import Axis

LIMB_DIM = "limb"
LIMB_BASE_ATTR = "limb_base"
LIMB_COMMENT = (
    "beyond int64: value = hi * limb_base + lo, where hi and lo are the two entries along dimension limb"
    " and 0 <= lo < limb_base"
)
DTYPES = ("i8", "u2", "u1")

# Measured on 10^8 uint16 cells in long runs (zlib 1, shuffle, fletcher32), million cells/s by values per
# chunk: 2^20 160, 2^17 200, 2^16 190, 2^15 270, 2^13 220, 2^12 175. The file is 13 % larger at
# 2^15 than at 2^17.
CHUNK_VALUES = 2**15
SLAB_VALUES = 2**20

# A reader that decodes one of these turns integers into floats or dates, and loses them above 2^53.
_DECODED_ATTRS = ("_FillValue", "missing_value", "scale_factor", "add_offset")
_DECODED_UNITS = ("day", "hour", "minute", "second", "since", "month", "year", "week")


@dataclass(frozen=True)
class Variable:
    """One result variable of the file.

    Attributes:
        name: the netCDF name.
        dtype: "i8", "u2" or "u1"; "i8" where `limbs`.
        dims: the grid's dimension names in canonical order, without `limb`.
        attrs: `long_name`, `units`, `flag_*` (arrays of the variable's dtype) …; nothing decoded.
        limbs: whether values are beyond int64 and stored as (hi, lo) along a last dimension `limb`.
        chunks: chunk lengths over `dims`; None: the store chooses (`chunk_shape`).
    """

    name: str
    dtype: str
    dims: tuple[str, ...]
    attrs: Mapping[str, Any] = field(default_factory=dict)
    limbs: bool = False
    chunks: tuple[int, ...] | None = None


def check_variable(variable: Variable) -> None:
    """Raise ValueError where a variable would not come back as the integers that were written (our bug)."""
    if variable.dtype not in DTYPES or (variable.limbs and variable.dtype != "i8"):
        raise ValueError(f"{variable.name}: dtype {variable.dtype!r} is not one of {DTYPES} (limbs: i8)")
    decoded = [key for key in _DECODED_ATTRS if key in variable.attrs]
    if decoded:
        raise ValueError(f"{variable.name}: attributes {decoded} make readers decode integers to floats")
    units = str(variable.attrs.get("units", "1"))
    if any(word in units for word in _DECODED_UNITS):
        raise ValueError(f"{variable.name}: units {units!r} may be decoded as a time; write ms, s-1, …")
    if LIMB_DIM in variable.dims:
        raise ValueError(f"{variable.name}: the store adds dimension limb itself")


def _balanced(length: int, most: int, step: int = 1) -> int:
    """The block length, a multiple of `step` and ≤ `most`, that cuts `length` in as equal blocks as possible.

    n = ⌈length / most⌉ blocks are needed; ⌈length / n⌉ ≤ most rounded up to `step` is ≤ most, since `step`
    divides most. So the last block, padded to full size in the file, wastes less than n·step values.
    """
    blocks = -(-length // most)
    even = -(-length // blocks)
    return -(-even // step) * step


def chunk_shape(shape: Sequence[int], target: int = CHUNK_VALUES) -> tuple[int, ...]:
    """Chunk lengths for `shape`: one block in C order of at most `target` values.

    Trailing dimensions are full, at most one is cut, leading ones are 1; a scalar has ().
    """
    lengths = [1] * len(shape)
    rest = 1
    for k in reversed(range(len(shape))):
        most = max(1, target // rest)
        if most < shape[k]:
            lengths[k] = _balanced(shape[k], most)
            break
        lengths[k] = shape[k]
        rest *= shape[k]
    return tuple(lengths)


def slab_shape(
    shape: Sequence[int], target_values: int = SLAB_VALUES, chunks: Sequence[int] | None = None
) -> tuple[int, ...]:
    """Tile lengths for `shape`: whole chunks, one block in C order, about `target_values` values.

    This is what the engine computes at a time and hands to `ResultWriter.write`, in C order. It exceeds
    `target_values` only where one chunk does, or where given `chunks` are no blocks in C order.
    """
    lengths = list(chunk_shape(shape) if chunks is None else chunks)
    # First dimension along which a chunk is longer than 1: whole chunks in C order need all later ones full.
    first = next((k for k, length in enumerate(lengths) if length > 1), len(lengths) - 1)
    lengths[first + 1 :] = shape[first + 1 :]
    rest = math.prod(shape[first + 1 :])
    for k in range(first, -1, -1):
        most = max(lengths[k], target_values // rest // lengths[k] * lengths[k])
        if most < shape[k]:
            lengths[k] = _balanced(shape[k], most, lengths[k])
            break
        lengths[k] = shape[k]
        rest *= shape[k]
    return tuple(lengths)


def slabs(shape: Sequence[int], lengths: Sequence[int]) -> Iterator[tuple[slice, ...]]:
    """The blocks of `lengths` that `shape` is cut in, in C order; slices with both ends; () for a scalar."""
    if not shape:
        yield ()
        return
    for start in range(0, shape[0], lengths[0]):
        head = slice(start, min(start + lengths[0], shape[0]))
        for tail in slabs(shape[1:], lengths[1:]):
            yield (head, *tail)


def flat_span(region: Sequence[slice], shape: Sequence[int], chunks: Sequence[int]) -> tuple[int, int]:
    """First and one past last position in C order of a region that is one block in C order, of whole chunks.

    Raises:
        ValueError: any other region (a bug of the caller: the digest and the file's bytes need this order).
    """
    if len(region) != len(shape):
        raise ValueError(f"region {region} has {len(region)} slices for shape {tuple(shape)}")
    start, count, split = 0, 1, False
    for part, length, chunk in zip(region, shape, chunks, strict=True):
        low, high, step = part.indices(length)
        if step != 1 or high <= low or low % chunk or (high % chunk and high != length):
            raise ValueError(f"region {region} is not of whole chunks {tuple(chunks)} of {tuple(shape)}")
        if split and (low, high) != (0, length):
            raise ValueError(f"region {region} is not one block in C order of {tuple(shape)}")
        split = split or high - low > 1
        start = start * length + low
        count *= high - low
    return start, start + count


_LONG_NAMES = {
    "scheduler.prefill_share_permille": "prefill's share of the token capacity",
    "scheduler.max_prefill_chunk_tokens": "largest prefill chunk, tokens",
    "scheduler.max_active_sequences": "batch slots: largest number of active sequences",
    "traffic.scale_permille": "traffic, relative to the declared traffic (1000 = as declared)",
    "traffic.replicas": "replicas that share the traffic evenly",
}

# The unit of a field sits at the end of its name.
_UNITS = (
    ("_per_second", "s-1"),
    ("_millirps", "1e-3 s-1"),
    ("_permille", "1e-3"),
    ("_ms", "ms"),
    ("_ns", "ns"),
    ("_bytes", "byte"),
    ("_bytes_per_token", "byte"),
    ("_bytes_per_chunk_token", "byte"),
)


def unit_of(field: str) -> str:
    """The CF unit of a field, which its name ends in; "1" for a count."""
    return next((unit for ending, unit in _UNITS if field.endswith(ending)), "1")


def axis_attributes(axis: Axis) -> dict[str, str]:
    """`long_name`, `units` (integer axes) and `path` of an axis' coordinate."""
    head, _, name = axis.path.rpartition(".")
    owner = f" ({head.replace('.', ' ', 1)})" if head else ""
    if axis.is_choice:
        return {
            "long_name": f"named choices of {axis.name}; what each sets is in grid_effective",
            "path": axis.path,
        }
    units = unit_of(name)
    long_name = _LONG_NAMES.get(axis.path, name.replace("_", " ") + owner)
    return {"long_name": long_name, "units": units, "path": axis.path}
