"""Latencies of one request, and of many: exact ratios and nearest-rank percentiles."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Generic, TypeVar

from sweep.errors import InputFault
from sweep.records.checks import integer_faults, shown
from sweep.units import exact_decimal

Time = int | Fraction | Decimal | str
"""A time of any unit: an integer, a ratio, a decimal or the text of one; never a float."""

T = TypeVar("T", int, Fraction)
V = TypeVar("V")


@dataclass(frozen=True)
class LatencyMetrics:
    """Figures of one finished request, in the unit of the times that were given; aggregate throughput is no figure of
    a request and stands in `summary`.

    Attributes:
        ttft: time to the first token.
        itl: mean time between two tokens.
        tokens_per_time: output tokens per unit of time, of this request alone.
    """

    ttft: Fraction
    itl: Fraction
    tokens_per_time: Fraction

    @property
    def tokens_per_second(self) -> Fraction:
        """Output tokens per second of a request whose times are in ms."""
        return self.tokens_per_time * 1_000


def latency_metrics(ttft: Time, total: Time, output_tokens: int) -> LatencyMetrics:
    """TTFT, ITL and tokens per second of one finished request, as exact ratios.

    Args:
        ttft: from arrival to first token, ≥ 0.
        total: from arrival to the last token, in the same unit, > 0 and ≥ ttft.
        output_tokens: n, 1 to 10^7. ITL = (total − TTFT) / max(n − 1, 1).

    Raises:
        InputFault: an argument out of bounds; all faults at once.

    >>> found = latency_metrics("729.2", "21936.4", 1_000)
    >>> found.itl, found.tokens_per_second
    (Fraction(106036, 4995), Fraction(2500000, 54841))
    """
    first, last = exact_decimal(ttft), exact_decimal(total)
    faults = [
        f"{name}: got {shown(value)}, want an integer, a ratio or an exact decimal; no float is exact."
        for name, value, exact in (("ttft", ttft, first), ("total", total, last))
        if exact is None
    ]
    faults += integer_faults("output_tokens", output_tokens, (1, 10**7))
    if first is not None and last is not None and not (0 <= first <= last and last > 0):
        faults.append(f"ttft and total: got {first} and {last}, want 0 ≤ ttft ≤ total and total > 0; correct them.")
    if faults or first is None or last is None:
        raise InputFault(faults)
    return LatencyMetrics(first, (last - first) / max(output_tokens - 1, 1), output_tokens / last)


def nearest_rank(ordered: Sequence[V], percent: int) -> V:
    """The nearest-rank percentile: the smallest value whose rank is at least ⌈p·n/100⌉.

    Args:
        ordered: at least one value, increasing.
        percent: 1 to 100.

    >>> nearest_rank([10, 20, 30], 50), nearest_rank([10, 20, 30], 99)
    (20, 30)
    """
    return ordered[-(-percent * len(ordered) // 100) - 1]


@dataclass(frozen=True)
class Spread(Generic[T]):
    """Percentiles by nearest rank, of at least one value.

    Attributes:
        count: values.
        p50, p90, p99, max: in their unit.
    """

    count: int
    p50: T
    p90: T
    p99: T
    max: T

    def at(self, name: str) -> T:
        """One of `p50`, `p90`, `p99`, `max`."""
        found: T = getattr(self, name)
        return found


def spread_of(values: Sequence[T]) -> Spread[T] | None:
    """Percentiles of values in any order; None of none."""
    if not values:
        return None
    ordered = sorted(values)
    ranks = [nearest_rank(ordered, percent) for percent in (50, 90, 99, 100)]
    return Spread(len(ordered), *ranks)


def spread_of_ratios(pairs: Iterable[tuple[int, int]]) -> Spread[Fraction] | None:
    """Percentiles of ratios a/b in any order, 1 ≤ b < 2^24; None of none.

    They are sorted by ⌊2^48·a/b⌋, whole numbers. Two different ratios are at least 1/(b·b') > 2^−48 apart, so their
    keys differ too, and the right way round.
    """
    ordered = sorted([((over << 48) // under, over, under) for over, under in pairs])
    if not ordered:
        return None
    ranks = [Fraction(*nearest_rank(ordered, percent)[1:]) for percent in (50, 90, 99, 100)]
    return Spread(len(ordered), *ranks)


def spread_of_counts(counts: Mapping[int, int]) -> Spread[int] | None:
    """Percentiles of a histogram, value -> how often ≥ 1; None of none."""
    total = sum(counts.values())
    if not total:
        return None
    wanted = [-(-percent * total // 100) for percent in (50, 90, 99, 100)]
    found: list[int] = []
    rank = 0
    for value in sorted(counts):
        rank += counts[value]
        while len(found) < len(wanted) and rank >= wanted[len(found)]:
            found.append(value)
    return Spread(total, *found)
