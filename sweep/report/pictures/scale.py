"""Exact integers on a line from 0 to 1, and the short texts that stand at its ticks.

A difference is taken in integers before anything becomes a float, so that 2^60 and 2^60 + 1 stand apart.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log1p

import numpy as np

from sweep.engine.opening import Array
from sweep.units import grouped

_PLAIN_BELOW = 10**7
"""From here on labels count thousands, millions, … and the title says which."""

_EXACT_BELOW = 10**4
_MOST_DECIMALS = 3
_FEWEST_LABELS, _MOST_LABELS = 5, 200
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Labels:
    """Tick texts, and what the title says so that they can be read."""

    texts: tuple[str, ...]
    power: int = 0
    """The texts count in 10^power."""
    offset: int = 0
    """The texts are what a value has more than this."""

    def title(self, name: str, unit: str) -> str:
        """The title of an axis with such labels: `name (10⁹ bytes)`."""
        factor = f"10{_superscript(self.power)}" if self.power else ""
        inside = " ".join(part for part in (factor, unit) if part)
        more = f" beyond {grouped(self.offset)}" if self.offset else ""
        return f"{name}{more} ({inside})" if inside else f"{name}{more}"


def labels(values: Sequence[int]) -> Labels:
    """Short texts for tick values: exact where that is short, else in a power of ten or as what is beyond the least.

    Different values never get one text: where nothing short tells them apart, all of their digits do.
    """
    least, most = min(values, default=0), max(values, default=0)
    plain = Labels(tuple(grouped(value) for value in values))
    if least == most or max(-least, most) < _PLAIN_BELOW:
        return plain
    power = 3 * ((len(str(max(-least, most))) - 1) // 3)
    in_power = [tuple(_in_power(value, power, decimals) for value in values) for decimals in range(_MOST_DECIMALS + 1)]
    for decimals, texts in enumerate(in_power):
        if all(value * 10**decimals % 10**power == 0 for value in values):
            return Labels(texts, power)
    if _tells_apart(in_power[-1], values) and all(value == 0 or abs(value) >= 10 ** (power - 1) for value in values):
        return Labels(in_power[-1], power)
    if most - least < _PLAIN_BELOW:
        return Labels(tuple(grouped(value - least) for value in values), offset=least)
    own_powers = tuple(_own_power(value) for value in values)
    return Labels(own_powers) if _tells_apart(own_powers, values) else plain


def _tells_apart(texts: Sequence[str], values: Sequence[int]) -> bool:
    return len(set(texts)) == len(set(values))


def _own_power(value: int) -> str:
    """A value as `2.5·10⁶`, three digits of it; exact where it is short."""
    if abs(value) < _EXACT_BELOW:
        return grouped(value)
    power = len(str(abs(value))) - 1
    if 2 * abs(value) >= (2 * 10**3 - 1) * 10 ** (power - 2):  # rounds to ten
        power += 1
    text = _in_power(value, power, 2)
    return f"{text.rstrip('0').rstrip('.')}·10{_superscript(power)}"


def _superscript(number: int) -> str:
    return str(number).translate(_SUPERSCRIPTS)


def _in_power(value: int, power: int, decimals: int) -> str:
    """A value in 10^power, rounded half away from 0, in integers."""
    parts = (2 * abs(value) * 10**decimals + 10**power) // (2 * 10**power)
    whole, rest = divmod(parts, 10**decimals)
    sign = "-" if value < 0 and parts else ""
    return f"{sign}{grouped(whole)}.{rest:0{decimals}}" if decimals else f"{sign}{grouped(whole)}"


@dataclass(frozen=True)
class Span:
    """The integers from `low` to `high`, inclusive, on a line from 0 to 1."""

    low: int
    high: int
    log: bool = False
    """By the logarithm of a value plus one; then `low` is not negative."""

    def place(self, value: int) -> float:
        """Where a value is: 0 at `low`, 1 at `high`, also beyond them; the middle where they are one."""
        if self.high == self.low:
            return 0.5
        if self.log:
            return (log1p(value) - log1p(self.low)) / (log1p(self.high) - log1p(self.low))
        return (value - self.low) / (self.high - self.low)

    def places(self, values: Array) -> Array:
        """The places of an array of values within the span."""
        if self.high == self.low:
            return np.full(values.shape, 0.5)
        if values.dtype == object:
            return np.array([self.place(int(value)) for value in values.reshape(-1)], dtype=float).reshape(values.shape)
        if self.log:
            return np.asarray((np.log1p(values) - log1p(self.low)) / (log1p(self.high) - log1p(self.low)))
        # Modulo 2^64 the difference of two int64 is exact, though it may not be an int64 itself.
        beyond = values.astype(np.int64).astype(np.uint64) - np.uint64(self.low % 2**64)
        return np.asarray(beyond.astype(float) / float(self.high - self.low))

    def ticks(self, most: int) -> list[int]:
        """At most `most` round values within the span; its ends where there is none or one."""
        found = _powers(self.low, self.high, most) if self.log else _multiples(self.low, self.high, most)
        return found if len(found) > 1 else sorted({self.low, self.high})


def _multiples(low: int, high: int, most: int) -> list[int]:
    """Multiples of 1, 2 or 5 times a power of ten, as many as allowed."""
    power = 1
    while True:
        for digit in (1, 2, 5):
            step = digit * power
            first = -(-low // step) * step
            if (high - first) // step + 1 <= most:
                return list(range(first, high + 1, step))
        power *= 10


def _powers(low: int, high: int, most: int) -> list[int]:
    """0 and the powers of ten, as many as allowed."""
    found = [value for value in (0, *(10**power for power in range(len(str(high))))) if low <= value <= high]
    every = -(-len(found) // max(1, most))
    return found[::every]


def chosen_ticks(values: Sequence[int], fits: Callable[[Sequence[int]], bool]) -> list[int]:
    """Which places of an axis' values get a label: all where they fit, else round ones, else every n-th.

    Args:
        values: the axis, ascending.
        fits: whether labels at some places leave room between each other.
    """
    count = len(values)
    if count <= _MOST_LABELS and fits(range(count)):
        return list(range(count))
    gap = values[1] - values[0]
    if all(after - before == gap for before, after in pairwise(values)):
        for step in _round_steps(gap, values[-1] - values[0]):
            first = -(-values[0] // step) * step
            if (first - values[0]) % gap:
                continue
            found = [(value - values[0]) // gap for value in range(first, values[-1] + 1, step)]
            if _FEWEST_LABELS <= len(found) <= _MOST_LABELS and fits(found):
                return found
    return thinned(count, fits)


def _round_steps(gap: int, span: int) -> list[int]:
    """What labels may be apart on an axis of equal gaps: 1, 2, 5 times a power of ten, else doubled gaps."""
    power = max(0, len(str(span)) - 3)
    decimal = [digit * 10**more for more in range(power, power + 4) for digit in (1, 2, 5)]
    doubled = [gap * 2**more for more in range(1, 20)]
    return [step for step in (*decimal, *doubled) if step % gap == 0]


def thinned(count: int, fits: Callable[[Sequence[int]], bool]) -> list[int]:
    """Every n-th of some places, from the first one on, with the least n that fits."""
    step = 1
    while step < count and (count // step > _MOST_LABELS or not fits(range(0, count, step))):
        step += max(1, step // 8)
    return list(range(0, count, step))
