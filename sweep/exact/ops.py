"""The handful of functions that a kernel may use beside `+ − *` and comparisons, on all three kinds of number.

`Number` is an int64 array, an object array of Python ints, an `Interval` or `Ranges`; `Flag` is a bool array, a `Truth`
or `Truths`. Either may be `Traced`, which takes NumPy's functions by NumPy's protocols.
Divisors are at least 1: kernels clamp them, and the interval run raises where one could be less.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sweep.exact.interval import Interval, Truth
from sweep.exact.ranges import Ranges, Truths
from sweep.exact.traced import Traced

Number = Any
Flag = Any
IntArray = NDArray[Any]

MAX_TABLE = 2**20
"""Values that `largest_within` tabulates at most."""

MAX_STEPS = 6
"""Up to this width of a bracket it steps down instead of searching."""


def floor_div(a: Number, b: Number) -> Number:
    """⌊a / b⌋ for b ≥ 1."""
    if isinstance(a, Interval) or isinstance(b, Interval):
        return _interval(a, b).floor_div(b)
    if isinstance(a, Ranges) or isinstance(b, Ranges):
        return _ranges(a, b).floor_div(b)
    return a // b


def ceil_div(a: Number, b: Number) -> Number:
    """⌈a / b⌉ = −⌊−a / b⌋ for b ≥ 1; both negations are intermediates of the proof."""
    return -floor_div(-a, b)


def maximum(a: Number, b: Number) -> Number:
    """The larger of both, elementwise."""
    if isinstance(a, Interval) or isinstance(b, Interval):
        x = _interval(a, b)
        y = x.lift(b)
        return Interval(max(x.lo, y.lo), max(x.hi, y.hi), x.proof)
    if isinstance(a, Ranges) or isinstance(b, Ranges):
        return _ranges(a, b).maximum(b)
    return np.maximum(a, b)


def minimum(a: Number, b: Number) -> Number:
    """The smaller of both, elementwise."""
    if isinstance(a, Interval) or isinstance(b, Interval):
        x = _interval(a, b)
        y = x.lift(b)
        return Interval(min(x.lo, y.lo), min(x.hi, y.hi), x.proof)
    if isinstance(a, Ranges) or isinstance(b, Ranges):
        return _ranges(a, b).minimum(b)
    return np.minimum(a, b)


def least(values: Sequence[Number]) -> Number:
    """The elementwise smallest; open arrays are first folded into those that span them, so few passes are large."""
    if not all(isinstance(value, np.ndarray) for value in values):
        return reduce(minimum, values)
    waiting = sorted(values, key=np.size)
    maximal: list[IntArray] = []
    while waiting:
        value = waiting.pop(0)
        for i, other in enumerate(waiting):
            if np.broadcast_shapes(value.shape, other.shape) == other.shape:
                waiting[i] = np.minimum(other, value)
                break
        else:
            maximal.append(value)
    smallest: IntArray = reduce(np.minimum, maximal)
    return smallest


def clamp(a: Number, lower: int, upper: int) -> Number:
    """The value of [lower, upper] that is nearest to `a`."""
    return minimum(maximum(a, lower), upper)


def within(a: Number, lower: int, upper: int) -> Flag:
    """Whether lower ≤ a ≤ upper."""
    return (a >= lower) & (a <= upper)


def select(condition: Flag, a: Number, b: Number) -> Number:
    """`a` where the condition holds, else `b`, elementwise; both sides are evaluated."""
    if isinstance(condition, Truth):
        if not condition.can_be_false:
            return _interval(a, b)
        if not condition.can_be_true:
            return _interval(b, a)
        return _interval(a, b).hull(b)
    if isinstance(condition, Truths):
        x = _ranges(a, b, len(condition.can_be_true.shape))
        return condition.choose(x, x.lift(b))
    return np.where(condition, a, b)


def largest_within(value_at: Callable[[Number], Number], limit: Number, lo: Number, hi: Number) -> Number:
    """The largest x of [lo, hi] with value_at(x) ≤ limit, for a nondecreasing `value_at` that holds at lo.

    Elementwise bisection; invariant: value_at(lo) ≤ limit, and value_at(x) > limit for every x of (hi, hi₀]. The
    number of rounds is the bit length of the widest bracket, so a tight bracket is what makes this fast. Where
    hi < lo the result is lo. On intervals one round over the hull of the bracket covers every concrete round, since
    each midpoint lies inside it.

    Args:
        value_at: the function, written with kernel operations only.
        limit: what it may reach.
        lo: a lower bracket where the condition is known to hold (or is irrelevant).
        hi: an upper bracket; no x above it satisfies the condition.
    """
    if isinstance(limit, Interval):
        low, high = limit.lift(lo), limit.lift(hi)
        middle = Interval(low.lo, max(low.hi, high.hi), limit.proof)
        limit.proof.note(min(2 * middle.lo, middle.lo - 1), 2 * middle.hi + 1)
        value_at(middle)
        return middle
    if isinstance(limit, Ranges):
        return _largest_in_ranges(value_at, limit, limit.lift(lo), limit.lift(hi))
    if isinstance(limit, Traced):
        return limit.largest(value_at, lo, hi)
    shape = np.broadcast_shapes(np.shape(limit), np.shape(lo), np.shape(hi))
    dtype = np.result_type(np.asarray(limit), np.asarray(lo), np.asarray(hi))
    below = np.broadcast_to(np.asarray(lo, dtype=dtype), shape)
    above = np.maximum(below, np.broadcast_to(np.asarray(hi, dtype=dtype), shape))
    width = int((above - below).max()) if below.size else 0
    table = _tabulated(value_at, int(below.min()), int(above.max()), below.size, below.ndim) if width else None
    if table is not None:
        return _looked_up(table, limit, below, above, width)
    for _ in range(width.bit_length()):
        half = (below + above + 1) // 2
        holds = value_at(half) <= limit
        below = np.where(holds, half, below)
        above = np.where(holds, above, np.maximum(half - 1, below))
    return below


def _largest_in_ranges(value_at: Callable[[Number], Number], limit: Ranges, lo: Ranges, hi: Ranges) -> Ranges:
    """The ends of the result: the function's least values against the largest limit, and the other way round.

    With f ≤ value_at ≤ g and all of them nondecreasing in x, the largest x with value_at(x) ≤ limit lies between that
    of g against the least limit and that of f against the largest. The upper bracket may be a cap instead of a bound,
    so the lower end stays within its least value.
    """

    def least_at(x: Number) -> IntArray:
        return np.asarray(value_at(Ranges(x, x)).lo)

    def most_at(x: Number) -> IntArray:
        return np.asarray(value_at(Ranges(x, x)).hi)

    top = largest_within(least_at, limit.hi, lo.lo, hi.hi)
    if limit.is_exact and lo.is_exact and hi.is_exact:
        return Ranges(top, top)
    return Ranges(largest_within(most_at, limit.lo, lo.lo, hi.lo), top)


def _tabulated(value_at: Callable[[Number], Number], first: int, last: int, uses: int, rank: int) -> IntArray | None:
    """`value_at` at every integer from `first` to `last`; None where it differs by element or a table costs too much.

    `value_at` closes over arrays; where all of those have one value, so has its value at one integer.
    """
    if last - first >= min(uses // 2, MAX_TABLE):
        return None
    tail = (1,) * rank  # an operand that varies along any of these dimensions would show in the result's size
    one = value_at(np.full((1, *tail), first, dtype=np.int64))
    if one.size != 1:
        return None
    kind = object if one.dtype == object else np.int64
    every = np.arange(first, last + 1, dtype=np.int64).astype(kind).reshape(-1, *tail)
    return np.asarray(value_at(every)).reshape(-1)


def _looked_up(table: IntArray, limit: Number, below: IntArray, above: IntArray, width: int) -> IntArray:
    """The bisection's answer from a table of `value_at`, whose first entry is that of the least `below`.

    Few steps down from the upper bracket cost less than a search (measured: 2 ns a step, 15 to 45 a search), and where
    the limits themselves lie in a short range, so does a look into the answers for all of them.
    """
    first = int(below.min())
    if width <= MAX_STEPS:
        at = _stepped_down(table, limit, above - (first - width), width)
        return np.asarray(np.maximum(at + (first - width), below))
    limits = np.asarray(limit)
    least, most = int(limits.min()), int(limits.max())
    if most - least < min(limits.size // 2, MAX_TABLE):
        every = np.arange(least, most + 1, dtype=np.int64).astype(table.dtype, copy=False)
        found = np.searchsorted(table, every, side="right")[(limits - least).astype(np.intp, copy=False)]
    else:
        found = np.searchsorted(table, limits, side="right")
    return np.asarray(np.clip(found + (first - 1), below, above))


def _stepped_down(table: IntArray, limit: Number, at: IntArray, width: int) -> IntArray:
    """From each position down to the first whose entry is within the limit, `width` steps at most.

    The table is continued downwards by `width` entries that are within every limit; positions count from there.
    """
    lowest = min(table[0], np.asarray(limit).min())
    longer = np.concatenate((np.full(width, lowest, dtype=table.dtype), table))
    at = at.astype(np.intp)
    for _ in range(width):
        over = longer[at] > limit
        if not over.any():
            break
        at -= over
    return np.asarray(at.astype(table.dtype, copy=False))


def _ranges(a: Number, b: Number, rank: int = 1) -> Ranges:
    """`a` as ranges of whatever kind and rank the other operand has."""
    if isinstance(a, Ranges):
        return a
    if isinstance(b, Ranges):
        return b.lift(a)
    constant = np.full((1,) * rank, a, dtype=np.int64)
    return Ranges(constant, constant)


def _interval(a: Number, b: Number) -> Interval:
    """`a` as an interval that shares the proof of whichever operand has one."""
    if isinstance(a, Interval):
        return a
    if isinstance(b, Interval):
        return b.lift(a)
    return Interval(a, a)
