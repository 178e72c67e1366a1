"""Many intervals at once: a kernel run on `Ranges` bounds what it gives anywhere in each of many boxes of inputs.

The operations are those of `Interval`, elementwise, so every concrete result lies in its range. They make no note of
intermediates: a bound of a box lies in the hull that the proof over all boxes found (an interval operation on smaller
intervals gives a smaller interval), so one proof, made before, holds for every box.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[Any]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Truths:
    """The possible outcomes of a comparison, per box."""

    can_be_true: BoolArray
    can_be_false: BoolArray

    def __and__(self, other: Truths) -> Truths:
        return Truths(self.can_be_true & other.can_be_true, self.can_be_false | other.can_be_false)

    def __or__(self, other: Truths) -> Truths:
        return Truths(self.can_be_true | other.can_be_true, self.can_be_false & other.can_be_false)

    def __invert__(self) -> Truths:
        return Truths(self.can_be_false, self.can_be_true)

    def choose(self, a: Ranges, b: Ranges) -> Ranges:
        """`a` where it must be true, `b` where it must be false, the hull of both elsewhere."""
        lo = np.where(self.can_be_true, np.where(self.can_be_false, np.minimum(a.lo, b.lo), a.lo), b.lo)
        hi = np.where(self.can_be_true, np.where(self.can_be_false, np.maximum(a.hi, b.hi), a.hi), b.hi)
        return Ranges(lo, hi)


@dataclass(frozen=True, slots=True, eq=False)
class Ranges:
    """All integers from `lo` to `hi`, per box; both are int64 or object arrays that broadcast together."""

    lo: IntArray
    hi: IntArray

    __array_ufunc__ = None  # an array to the left leaves the operation to this class

    @property
    def is_exact(self) -> bool:
        """Whether no range has more than one value, known without looking: both ends are one array."""
        return self.lo is self.hi

    def lift(self, other: Ranges | int) -> Ranges:
        """The other operand as ranges."""
        if isinstance(other, Ranges):
            return other
        constant = np.full((1,) * self.lo.ndim, other, dtype=self.lo.dtype)
        return Ranges(constant, constant)

    def __add__(self, other: Ranges | int) -> Ranges:
        o = self.lift(other)
        return _pair(self, o, self.lo + o.lo, lambda: self.hi + o.hi)

    __radd__ = __add__

    def __neg__(self) -> Ranges:
        lo = -self.hi
        return Ranges(lo, lo if self.is_exact else -self.lo)

    def __sub__(self, other: Ranges | int) -> Ranges:
        o = self.lift(other)
        return _pair(self, o, self.lo - o.hi, lambda: self.hi - o.lo)

    def __rsub__(self, other: int) -> Ranges:
        return self.lift(other) - self

    def __mul__(self, other: Ranges | int) -> Ranges:
        o = self.lift(other)
        if self.is_exact and o.is_exact:
            product = self.lo * o.lo
            return Ranges(product, product)
        if _nonnegative(self.lo) and _nonnegative(o.lo):
            return Ranges(self.lo * o.lo, self.hi * o.hi)
        ends = (self.lo * o.lo, self.lo * o.hi, self.hi * o.lo, self.hi * o.hi)
        return Ranges(_extreme(np.minimum, ends), _extreme(np.maximum, ends))

    __rmul__ = __mul__

    def floor_div(self, divisor: Ranges | int) -> Ranges:
        """⌊self / divisor⌋ for divisors that are at least 1: monotone in both operands."""
        d = self.lift(divisor)
        if d.is_exact:
            lo = self.lo // d.lo
            return Ranges(lo, lo if self.is_exact else self.hi // d.lo)
        lo = self.lo // np.where(self.lo >= 0, d.hi, d.lo)
        return Ranges(lo, self.hi // np.where(self.hi >= 0, d.lo, d.hi))

    def maximum(self, other: Ranges | int) -> Ranges:
        """The larger of both."""
        o = self.lift(other)
        return _pair(self, o, np.maximum(self.lo, o.lo), lambda: np.maximum(self.hi, o.hi))

    def minimum(self, other: Ranges | int) -> Ranges:
        """The smaller of both."""
        o = self.lift(other)
        return _pair(self, o, np.minimum(self.lo, o.lo), lambda: np.minimum(self.hi, o.hi))

    def __le__(self, other: Ranges | int) -> Truths:
        o = self.lift(other)
        return Truths(self.lo <= o.hi, self.hi > o.lo)

    def __lt__(self, other: Ranges | int) -> Truths:
        o = self.lift(other)
        return Truths(self.lo < o.hi, self.hi >= o.lo)

    def __gt__(self, other: Ranges | int) -> Truths:
        return ~(self <= other)

    def __ge__(self, other: Ranges | int) -> Truths:
        return ~(self < other)


def _pair(a: Ranges, b: Ranges, lo: IntArray, hi: Any) -> Ranges:
    """Both ends of a result; one array where both operands are exact."""
    return Ranges(lo, lo if a.is_exact and b.is_exact else hi())


def _nonnegative(values: IntArray) -> bool:
    return values.size == 0 or bool(values.min() >= 0)


def _extreme(of: np.ufunc, ends: tuple[IntArray, ...]) -> IntArray:
    first, second, third, fourth = ends
    return np.asarray(of(of(first, second), of(third, fourth)))
