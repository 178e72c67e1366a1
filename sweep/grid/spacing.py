"""The integers of an axis that is given by its ends: by step, or by number with linear or geometric spacing.

Arithmetic progressions stay `range` objects, whatever form the file used, so an axis of 10^7 values costs
nothing and two forms of one axis are one axis.
"""

from collections.abc import Iterable, Sequence
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal

Values = tuple[int, ...] | range

SHORTEST_RANGE = 4
"""From this many values on, an arithmetic progression is kept as a range."""


def normal(values: Sequence[int]) -> Values:
    """The one form of an increasing sequence: a range from four equally spaced values on, else a tuple."""
    if len(values) < SHORTEST_RANGE:
        return tuple(values)
    progression = range(values[0], values[-1] + 1, values[1] - values[0])
    same = len(progression) == len(values) and (isinstance(values, range) or tuple(progression) == tuple(values))
    return progression if same else tuple(values)


def by_step(start: int, stop: int, step: int) -> range:
    """start, start + step, … up to stop, which is included when hit; step ≥ 1 and stop ≥ start."""
    return range(start, stop + 1, step)


def linear(start: int, stop: int, num: int) -> Sequence[int]:
    """The integers nearest to start + k·(stop − start)/(num − 1), halves up, duplicates dropped; num ≥ 2."""
    last, width = num - 1, stop - start
    if width <= last:  # steps of at most 1 skip no integer: rounding is monotone and moves by 0 or 1
        return range(start, stop + 1)
    if width % last == 0:
        return range(start, stop + 1, width // last)
    return [start + (2 * k * width + last) // (2 * last) for k in range(num)]


def geometric(start: int, stop: int, num: int) -> list[int]:
    """The integers nearest to start·(stop/start)^(k/(num−1)), halves up, duplicates dropped, exactly.

    Args:
        start: the first value, ≥ 1.
        stop: the last value, ≥ start.
        num: how many points before duplicates are dropped, ≥ 2.

    With m = num − 1, r(k) = start·(stop/start)^(k/m). No r(k) is an odd half: were 2·r(k) an odd integer h,
    then h^m = 2^m · start^(m−k) · stop^k would be even, and h^m is odd. So an enclosure of r(k) that is
    narrow enough has one nearest integer, and repeating with twice the digits ends. An integer r(k) lies
    inside its enclosure far from both halves, so it needs no case of its own.

    >>> geometric(1, 1_000, 4), geometric(1, 8, 7)
    ([1, 10, 100, 1000], [1, 2, 3, 4, 6, 8])
    """
    bits = 200
    while True:
        rounded = _geometric(start, stop, num, bits)
        if rounded is not None:
            return _distinct(rounded)
        bits *= 2


def _geometric(start: int, stop: int, num: int, bits: int) -> list[int] | None:
    """All points from enclosures in units of 2^-bits, None where one of them leaves two integers open.

    Invariant: low ≤ r(k)·2^bits ≤ high. It holds for k = 0, and from k to k + 1 because the ratio
    q = (stop/start)^(1/m) lies between (ratio − 1)/2^bits and (ratio + 1)/2^bits, low is rounded down and
    high up. The relative width grows by about 2^(1 − bits) per step: 10^7 steps cost 25 of the bits.
    """
    half = 1 << (bits - 1)
    ratio = _ratio(start, stop, num - 1, bits)
    low = high = start << bits
    points = [start]
    for _ in range(num - 2):
        low = low * (ratio - 1) >> bits
        high = -(-high * (ratio + 1) >> bits)
        point = (low + half) >> bits
        if point != (high + half) >> bits:
            return None
        points.append(point)
    return [*points, stop]


def _ratio(start: int, stop: int, root: int, bits: int) -> int:
    """An integer within 1 of 2^bits · (stop/start)^(1/root), for stop ≤ 10^30 · start.

    `decimal` rounds division, ln, exp and products correctly to `prec` digits. 2^bits < 10^(bits/3); with 80
    guard digits the error of the exponent ln(stop/start)/root (< 70) is below 10^-(bits/3 + 75), so that of
    the scaled power, at most 2^bits · 10^30, is below 10^-40: the rounding to an integer is all that counts.
    """
    context = Context(prec=bits // 3 + 80, Emax=MAX_EMAX, Emin=MIN_EMIN)
    exponent = context.divide(context.ln(context.divide(Decimal(stop), Decimal(start))), Decimal(root))
    scaled = context.multiply(context.exp(exponent), Decimal(1 << bits))
    return int(scaled.to_integral_value(context=context))


def _distinct(increasing: Iterable[int]) -> list[int]:
    """A list that never decreases, without its duplicates."""
    return list(dict.fromkeys(increasing))
