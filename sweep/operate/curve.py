"""A traffic curve: requests per second over time, constant between its steps, exactly.

A step holds from its time until the next one; the last one until the end. Times are integer ns from the curve's own
zero, rates exact ratios. What a fleet must carry at its worst and what it earns on are two figures of one curve.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, Final

from sweep.errors import InputFault, RefusedSize
from sweep.units import grouped, printable

SECOND_NS: Final = 10**9
HOUR_NS: Final = 3_600 * SECOND_NS

MAX_STEPS: Final = 10**5
"""Steps of one curve: a day in seconds has 86 400."""

MAX_RPS: Final = 10**9
"""The highest rate; a request class has at most 10^12 millirps too."""

MAX_TIME_NS: Final = 10**18
"""The latest time, 31 years."""


@dataclass(frozen=True)
class Curve:
    """Requests per second over time.

    Attributes:
        name: where it comes from, as messages and pages call it.
        starts_ns: when each step begins, strictly increasing.
        rates: requests per second of each step, at least 0.
        end_ns: when the last step ends.
    """

    name: str
    starts_ns: tuple[int, ...]
    rates: tuple[Fraction, ...]
    end_ns: int

    @property
    def span_ns(self) -> int:
        """How long it lasts."""
        return self.end_ns - self.starts_ns[0]

    @property
    def peak(self) -> Fraction:
        """The highest rate, requests per second."""
        return max(self.rates)

    @property
    def requests(self) -> Fraction:
        """All arrivals: the sum of rate · length of each step."""
        return sum((rate * (stop - start) for start, stop, rate in self.steps()), Fraction(0)) / SECOND_NS

    @property
    def mean(self) -> Fraction:
        """The mean rate over the whole span, requests per second."""
        return self.requests * SECOND_NS / self.span_ns

    def steps(self) -> Iterator[tuple[int, int, Fraction]]:
        """Each step: from ns, to ns, requests per second."""
        for (start, stop), rate in zip(pairwise((*self.starts_ns, self.end_ns)), self.rates, strict=True):
            yield start, stop, rate

    def as_json(self) -> dict[str, Any]:
        """What the curve amounts to, with keys that stay; rates as exact ratios."""
        return {
            "name": self.name,
            "steps": len(self.rates),
            "from_ns": self.starts_ns[0],
            "to_ns": self.end_ns,
            "peak_rps": str(self.peak),
            "mean_rps": str(self.mean),
        }


def curve_of(starts_ns: Sequence[int], rates: Sequence[Fraction], end_ns: int, name: str = "curve") -> Curve:
    """A checked curve.

    Args:
        starts_ns: when each step begins, in ns from 0 on.
        rates: requests per second of each step.
        end_ns: when the last step ends.
        name: how messages call it.

    Raises:
        InputFault: no step, times that do not increase, a rate or time out of bounds; every kind of fault at once.
        RefusedSize: more than 10^5 steps.
    """
    place = printable(name, 160)
    if len(starts_ns) > MAX_STEPS:
        raise RefusedSize(f"{place}: has {grouped(len(starts_ns))} steps, at most {grouped(MAX_STEPS)}; widen them.")
    if not starts_ns or len(starts_ns) != len(rates):
        got = f"{grouped(len(starts_ns))} times and {grouped(len(rates))} rates"
        raise InputFault(f"{place}: got {got}, wanted as many of each and at least one; add steps.")
    faults = []
    if any(after <= before for before, after in pairwise((*starts_ns, end_ns))):
        faults.append(f"{place}: times do not increase up to the end; sort them, each time once.")
    if starts_ns[0] < 0 or end_ns > MAX_TIME_NS:
        faults.append(f"{place}: times go beyond 0 to 10^18 ns; check their unit.")
    if any(not 0 <= rate <= MAX_RPS for rate in rates):
        faults.append(f"{place}: a rate is not from 0 to {grouped(MAX_RPS)} requests per second; check the unit.")
    elif not any(rates):
        faults.append(f"{place}: no step has a request, so there is nothing to plan; check the rates.")
    if faults:
        raise InputFault(faults)
    return Curve(name, tuple(starts_ns), tuple(rates), end_ns)


def constant(rate: Fraction, span_ns: int = HOUR_NS, name: str = "constant rate") -> Curve:
    """One rate for a time, an hour if none is said.

    >>> constant(Fraction(5, 2)).requests
    Fraction(9000, 1)
    """
    return curve_of((0,), (rate,), span_ns, name)
