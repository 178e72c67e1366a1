"""What arrives, and when: seeded Poisson and Gamma processes with the classes' lengths, or a trace."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import accumulate, pairwise, repeat
from itertools import count as counter
from typing import Final

from sweep.errors import UsageFault
from sweep.records.checks import integer_faults
from sweep.simulate.draws import UNIT, below, exponential, gamma, words
from sweep.simulate.point import OperatingPoint
from sweep.simulate.request import Request
from sweep.traffic.rows import BLOCK_TOKENS, Requests
from sweep.units import exact_decimal, grouped, shown

MAX_SHAPE: Final = 1_000
"""The largest shape of a Gamma process, and the largest parts of its ratio."""

HASHED_TOKENS: Final = BLOCK_TOKENS
"""Tokens that a hash of a trace stands for: `hash_tokens` of its simulation."""


def poisson_requests(
    point: OperatingPoint, seed: int, count: int | None = None, duration_ns: int | None = None
) -> Iterator[Request]:
    """Requests at independent exponential intervals, at the rate of all classes together.

    Each is of a class with the probability of its share of the arrivals, which is the same as a Poisson process for
    each class. `request_id` counts from 0. See `draws` for the exactness; an arrival is rounded down to a whole ns
    once, nothing accumulates.

    Args:
        point: its classes.
        seed: any integer from 0; the same seed gives the same requests, and fewer or more of them.
        count: how many, at most.
        duration_ns: arrivals from 0 up to this, inclusive.

    Raises:
        UsageFault: neither count nor duration, one out of bounds, or a point without classes.
    """
    return gamma_requests(point, seed, 1, count, duration_ns)


def gamma_requests(
    point: OperatingPoint,
    seed: int,
    shape: int | str | Fraction,
    count: int | None = None,
    duration_ns: int | None = None,
) -> Iterator[Request]:
    """Requests at independent Gamma intervals; a shape below 1 comes in bursts, 1 is Poisson, above it is calmer.

    The variance of an interval is its mean squared by the shape. One process is drawn, and each request then gets its
    class, so that bursts are not thinned out by the number of classes.

    Args:
        point, seed, count, duration_ns: as of `poisson_requests`.
        shape: an integer, an exact decimal or a ratio such as `1/4`; parts of the ratio at most 1000.

    Raises:
        UsageFault: as of `poisson_requests`, or no such shape.
    """
    ratio = _shape(shape)
    faults = integer_faults("seed", seed, (0, 2**256))
    for name, value in (("count", count), ("duration_ns", duration_ns)):
        faults += integer_faults(name, value, (0, 2**63 - 1)) if value is not None else []
    if count is None and duration_ns is None:
        faults.append("arrivals: got neither a count nor a duration, wanted an end; give one.")
    if not point.classes:
        faults.append("arrivals: the operating point has no request classes; take arrivals from a trace.")
    if faults:
        raise UsageFault(faults)
    return _drawn(point, seed, ratio, count, duration_ns)


def _shape(given: int | str | Fraction) -> Fraction:
    found = Fraction(given) if isinstance(given, str) and _is_ratio(given) else exact_decimal(given)
    if found is None or found <= 0 or max(found.numerator, found.denominator) > MAX_SHAPE:
        wanted = f"a number above 0, as a ratio with parts of at most {grouped(MAX_SHAPE)}"
        raise UsageFault(f"shape: got {shown(given)}, wanted {wanted}; correct it.")
    return found


def _is_ratio(text: str) -> bool:
    over, slash, under = text.partition("/")
    plain = all(part.isascii() and part.isdigit() and len(part) < 9 for part in (over, under))
    return bool(slash) and plain and int(under) > 0


def _drawn(
    point: OperatingPoint, seed: int, shape: Fraction, count: int | None, duration_ns: int | None
) -> Iterator[Request]:
    classes = point.classes
    ends = list(accumulate(one.arrival_millirps for one in classes))
    intervals, choices = words(seed, f"intervals {shape}"), words(seed, "classes")
    # a draw has the mean `shape`, an interval the mean 10^12/millirps ns
    scale, divisor = 10**12 * shape.denominator, ends[-1] * shape.numerator * UNIT
    total = 0
    for number in counter() if count is None else range(count):
        total += exponential(intervals) if shape == 1 else gamma(intervals, shape)
        arrival = total * scale // divisor
        if duration_ns is not None and arrival > duration_ns:
            return
        one = classes[bisect_right(ends, below(choices, ends[-1]))]
        yield Request(number, arrival, one.class_id, one.priority, one.prompt_tokens, one.output_tokens)


def requests_of_trace(
    blocks: Iterable[Requests], class_id: str = "trace", priority: int = 1, scale_permille: int = 1_000
) -> list[Request]:
    """The requests of a trace in the order of their arrivals, the first at 0; `request_id` is the row, from 0.

    Failed rows (0 output tokens) are left out, and a prompt of 0 tokens is taken as 1. Hashes stand for
    `HASHED_TOKENS` each; of a last, partial block none is kept.

    Args:
        blocks: what `sweep.traffic.read.read_trace` yields.
        class_id, priority: of all of them.
        scale_permille: of the traffic; at 2000 they come twice as fast.

    Raises:
        UsageFault: a scale below 1.
    """
    if type(scale_permille) is not int or scale_permille < 1:
        raise UsageFault(f"scale_permille: got {shown(scale_permille)}, wanted a whole number from 1; raise it.")
    rows: list[tuple[int, int, int, int, tuple[int, ...]]] = []
    number = 0
    for block in blocks:
        columns = (block.time_ns.tolist(), block.prompt_tokens.tolist(), block.output_tokens.tolist(), _hashes(block))
        for time, prompt, output, hashes in zip(*columns, strict=True):
            if output:
                rows.append((time, number, max(prompt, 1), output, hashes[: prompt // HASHED_TOKENS]))
            number += 1
    rows.sort()
    first = rows[0][0] if rows else 0
    return [
        Request(number, (time - first) * 1_000 // scale_permille, class_id, priority, prompt, output, hashes)
        for time, number, prompt, output, hashes in rows
    ]


def _hashes(block: Requests) -> Iterable[tuple[int, ...]]:
    """The hashes of each request of a block."""
    if block.hash_ids is None or block.hash_counts is None:
        return repeat((), len(block))
    ids, ends = block.hash_ids.tolist(), list(accumulate(block.hash_counts.tolist(), initial=0))
    return [tuple(ids[start:end]) for start, end in pairwise(ends)]
