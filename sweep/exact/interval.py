"""Interval arithmetic over Python ints: the overflow proof is the kernel itself, run on ranges.

A kernel run on `Interval`s records in a `Proof` the hull of *every* intermediate value, constants included. If that
hull lies inside int64, no int64 run of the same kernel on inputs from those ranges can wrap (each concrete
intermediate lies in its interval, by the containment property of each operation below). Intervals are loose where
inputs are correlated; the price is a slower path, never a wrong number.
"""

from __future__ import annotations

from dataclasses import dataclass, field

INT64_MIN = -(2**63)
INT64_MAX = 2**63 - 1


def fits_int64(lo: int, hi: int) -> bool:
    """Whether every integer of [lo, hi] is an int64."""
    return lo >= INT64_MIN and hi <= INT64_MAX


@dataclass
class Proof:
    """The hull of all intermediates seen in one run of a kernel on intervals."""

    lo: int = 0
    hi: int = 0

    def note(self, lo: int, hi: int) -> None:
        """Widen the hull to hold [lo, hi]."""
        if lo < self.lo:
            self.lo = lo
        if hi > self.hi:
            self.hi = hi

    @property
    def holds_int64(self) -> bool:
        """True when no intermediate leaves int64."""
        return fits_int64(self.lo, self.hi)


@dataclass(frozen=True, slots=True)
class Truth:
    """The possible outcomes of a comparison of intervals."""

    can_be_true: bool
    can_be_false: bool

    def __and__(self, other: Truth) -> Truth:
        return Truth(
            self.can_be_true and other.can_be_true,
            self.can_be_false or other.can_be_false,
        )

    def __or__(self, other: Truth) -> Truth:
        return Truth(
            self.can_be_true or other.can_be_true,
            self.can_be_false and other.can_be_false,
        )

    def __invert__(self) -> Truth:
        return Truth(self.can_be_false, self.can_be_true)


@dataclass(frozen=True, slots=True, eq=False)
class Interval:
    """All integers from `lo` to `hi`, both included; operations note their results in `proof`."""

    lo: int
    hi: int
    proof: Proof = field(default_factory=Proof)

    def _result(self, lo: int, hi: int) -> Interval:
        self.proof.note(lo, hi)
        return Interval(lo, hi, self.proof)

    def lift(self, other: Interval | int) -> Interval:
        """The other operand as an interval; a constant is an intermediate too."""
        return other if isinstance(other, Interval) else self._result(other, other)

    def __add__(self, other: Interval | int) -> Interval:
        o = self.lift(other)
        return self._result(self.lo + o.lo, self.hi + o.hi)

    __radd__ = __add__

    def __neg__(self) -> Interval:
        return self._result(-self.hi, -self.lo)

    def __sub__(self, other: Interval | int) -> Interval:
        o = self.lift(other)
        return self._result(self.lo - o.hi, self.hi - o.lo)

    def __rsub__(self, other: int) -> Interval:
        return self.lift(other) - self

    def __mul__(self, other: Interval | int) -> Interval:
        o = self.lift(other)
        products = (self.lo * o.lo, self.lo * o.hi, self.hi * o.lo, self.hi * o.hi)
        return self._result(min(products), max(products))

    __rmul__ = __mul__

    def floor_div(self, divisor: Interval | int) -> Interval:
        """⌊self / divisor⌋ for a divisor that is at least 1 (kernels clamp it): monotone in both operands."""
        d = self.lift(divisor)
        if d.lo < 1:
            raise AssertionError(f"a kernel divides by [{d.lo}, {d.hi}]: every divisor must be clamped to 1 or more")
        lo = self.lo // (d.hi if self.lo >= 0 else d.lo)
        hi = self.hi // (d.lo if self.hi >= 0 else d.hi)
        return self._result(lo, hi)

    def __le__(self, other: Interval | int) -> Truth:
        o = self.lift(other)
        return Truth(self.lo <= o.hi, self.hi > o.lo)

    def __lt__(self, other: Interval | int) -> Truth:
        o = self.lift(other)
        return Truth(self.lo < o.hi, self.hi >= o.lo)

    def __gt__(self, other: Interval | int) -> Truth:
        return ~(self <= other)

    def __ge__(self, other: Interval | int) -> Truth:
        return ~(self < other)

    def hull(self, other: Interval | int) -> Interval:
        """The smallest interval that holds both."""
        o = self.lift(other)
        return self._result(min(self.lo, o.lo), max(self.hi, o.hi))
