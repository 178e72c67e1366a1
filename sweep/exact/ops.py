"""The handful of functions that a kernel may use beside `+ − *` and comparisons, on all three kinds of number.

`Number` is an int64 array, an object array of Python ints, or an `Interval`; `Flag` is a bool array or a `Truth`.
Divisors are at least 1: kernels clamp them, and the interval run raises where one could be less.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sweep.exact.interval import Interval, Truth

Number = Any
Flag = Any
IntArray = NDArray[Any]


def floor_div(a: Number, b: Number) -> Number:
    """⌊a / b⌋ for b ≥ 1."""
    if isinstance(a, Interval) or isinstance(b, Interval):
        return _interval(a, b).floor_div(b)
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
    return np.maximum(a, b)


def minimum(a: Number, b: Number) -> Number:
    """The smaller of both, elementwise."""
    if isinstance(a, Interval) or isinstance(b, Interval):
        x = _interval(a, b)
        y = x.lift(b)
        return Interval(min(x.lo, y.lo), min(x.hi, y.hi), x.proof)
    return np.minimum(a, b)


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
    shape = np.broadcast_shapes(np.shape(limit), np.shape(lo), np.shape(hi))
    dtype = np.result_type(np.asarray(limit), np.asarray(lo), np.asarray(hi))
    below = np.broadcast_to(np.asarray(lo, dtype=dtype), shape)
    above = np.maximum(below, np.broadcast_to(np.asarray(hi, dtype=dtype), shape))
    width = int((above - below).max()) if below.size else 0
    for _ in range(width.bit_length()):
        half = (below + above + 1) // 2
        holds = value_at(half) <= limit
        below = np.where(holds, half, below)
        above = np.where(holds, above, np.maximum(half - 1, below))
    return below


def _interval(a: Number, b: Number) -> Interval:
    """`a` as an interval that shares the proof of whichever operand has one."""
    if isinstance(a, Interval):
        return a
    if isinstance(b, Interval):
        return b.lift(a)
    return Interval(a, a)
