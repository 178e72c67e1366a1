"""The traffic that a plan is asked for: what it must carry at its worst, and what it carries in the mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from sweep.errors import UsageFault
from sweep.operate.curve import MAX_RPS, Curve
from sweep.operate.curve_file import read_curve, trace_curve
from sweep.operate.prices import exact_number
from sweep.traffic.count import trace_facts
from sweep.traffic.facts import TraceFacts
from sweep.traffic.tables import level_words
from sweep.units import grouped, printable


@dataclass(frozen=True)
class Demand:
    """A traffic in the mix of the grid.

    Attributes:
        words: what it is, for a page: `the busiest minute, 65 in 60 s, of trace.csv`.
        peak: requests per second that must be carried within the SLO, exactly.
        mean: requests per second over the whole time.
        curve: over time; None where only rates are known.
        facts: of the trace that it comes from; None where it comes from none.
    """

    words: str
    peak: Fraction
    mean: Fraction
    curve: Curve | None = None
    facts: TraceFacts | None = None

    @property
    def peak_millirps(self) -> int:
        """The peak, rounded up to whole 1/1000 requests per second: a plan never assumes less."""
        return -(-self.peak.numerator * 1000 // self.peak.denominator)

    def as_json(self) -> dict[str, Any]:
        """With keys that stay; rates are exact ratios."""
        return {
            "words": self.words,
            "peak_rps": str(self.peak),
            "mean_rps": str(self.mean),
            "peak_millirps": self.peak_millirps,
            "curve": None if self.curve is None else self.curve.as_json(),
        }


def demand_of_rate(text: object) -> Demand:
    """A constant rate, requests per second of all classes and replicas together.

    Raises:
        UsageFault: no decimal from 0.001 to 10^9.
    """
    rate = exact_number(text)
    if rate is None or not Fraction(1, 1000) <= rate <= MAX_RPS:
        got = printable(str(text))
        raise UsageFault(f"--rps {got}: wanted requests per second from 0.001 to {grouped(MAX_RPS)}; correct it.")
    return Demand("a constant rate", rate, rate)


def demand_of_curve(path: str | Path, unit: str | None = None) -> Demand:
    """A curve from a file; see `read_curve`."""
    curve = read_curve(path, unit)
    return Demand(f"the peak of {Path(curve.name).name}", curve.peak, curve.mean, curve)


def demand_of_trace(
    path: str | Path,
    level: str,
    bin_ns: int | None = None,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    unit: str | None = None,
) -> Demand:
    """A trace's traffic; its lengths are not looked at, the grid's mix is what capacity is known for.

    Args:
        path, format, columns, unit: as in `sweep.read_trace`.
        level: whose rate must be carried: `mean`, `minute`, `ten-seconds` or `second`. With bins it is their highest.
        bin_ns: make a curve of bins of this length; None for rates only.

    Raises:
        InputFault, UsageFault, RefusedSize: as `trace_curve`.
    """
    name = Path(path).name
    if bin_ns is None:
        facts = trace_facts(path, format, columns, unit)
        mean = facts.rate("mean") if facts.span_ns else facts.rate("second")
        return Demand(f"{level_words(facts, level)}, of {name}", facts.rate(level), mean, None, facts)
    facts, curve = trace_curve(path, bin_ns, format, columns, unit)
    return Demand(f"the busiest bin of {name}", curve.peak, curve.mean, curve, facts)
