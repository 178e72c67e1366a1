"""A map of numbers: each cell's exact integer, its place on a scale of colours, and what has no number."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sweep.engine.opening import Array
from sweep.query.region import SLACK, VERDICTS, RegionAnswer
from sweep.report.pictures.classes import NO_TRAFFIC, Entry, Look
from sweep.report.pictures.scale import Labels, Span, labels

_INVALID = Look("", "#E4E4E4", "//", "#B4B4B4")
_SKEWED = 200
"""How many times the value that a tenth of them is below the largest is before the scale is logarithmic."""


@dataclass(frozen=True)
class Shades:
    """A map of numbers: a row per value of y and a column per value of x."""

    values: Array
    """The exact integers; Python ints where one is beyond int64."""
    shown: Array
    """Which cells have a number."""
    places: Array
    """Floats from 0 to 1: each number's place on the scale, 0 where there is none."""
    ticks: tuple[tuple[float, str], ...]
    """Places and texts under the scale."""
    labels: Labels
    """Of the texts; the title of the scale says their power of ten."""
    diverging: bool
    """Whether 0 is in the middle: a slack."""
    bar: tuple[float, float]
    """The part of the scale that occurs; a half where a slack has one sign."""
    empty: tuple[tuple[Array, Entry], ...]
    """The cells without a number, by why."""

    @property
    def edge(self) -> Array:
        """The cells around which a line is drawn: those that have a number, or a slack of 0 or more."""
        if self.diverging:
            return np.asarray(self.shown & (self.values >= 0).astype(bool))
        return self.shown


def shades(answer: RegionAnswer, reach: int | None = None) -> Shades:
    """The numbers of a slice.

    Args:
        answer: a slice of capacities, slacks or a quantity.
        reach: of a slack, how far below 0 the scale goes at least, where the values do: the bound.
    """
    values, invalid = answer.values, answer.verdict == VERDICTS.index("invalid")
    none = invalid.copy()
    entries = [(invalid, Entry(_INVALID, "invalid", int(np.count_nonzero(invalid))))]
    if answer.undefined is None:  # a capacity: 0 is the largest traffic of nothing
        nothing = (values == 0) & ~invalid
        none |= nothing
        entries.insert(0, (nothing, Entry(NO_TRAFFIC, "no traffic is feasible", int(np.count_nonzero(nothing)))))
    shown, diverging = ~none, answer.show.startswith(SLACK)
    numbers = values[shown]
    places = np.zeros(values.shape)
    ticks: tuple[tuple[float, str], ...] = ()
    texts, bar = Labels(()), (0.0, 1.0)
    if numbers.size:
        low, high = int(numbers.min()), int(numbers.max())
        if diverging:
            bar = (0.5 if low >= 0 else 0.0, 0.5 if high <= 0 else 1.0) if low < high else bar
            places[shown], ticks, texts = _around_zero(numbers, low, high, reach)
            ticks = tuple((place, text) for place, text in ticks if bar[0] <= place <= bar[1])
        else:
            span = Span(low, high, log=low >= 0 and _is_skewed(numbers, high))
            places[shown] = span.places(numbers)
            at = sorted({low, *span.ticks(7), high})
            texts = labels(at)
            ticks = tuple((span.place(value), text) for value, text in zip(at, texts.texts, strict=True))
    kept = tuple((cells, entry) for cells, entry in entries if entry.count)
    return Shades(values, shown, places, ticks, texts, diverging, bar, kept)


def _is_skewed(numbers: Array, high: int) -> bool:
    small = int(np.sort(numbers, axis=None)[numbers.size // 10])
    return high > _SKEWED * (small + 1)


def _around_zero(
    numbers: Array, low: int, high: int, reach: int | None
) -> tuple[Array, tuple[tuple[float, str], ...], Labels]:
    """Slacks with 0 in the middle; what is further below it than the scale goes is at its end."""
    least = max(high, reach or 0, 1) if high > 0 or reach else -low
    ends = max(high, min(-low, least), 1)
    span = Span(-ends, ends)
    places = span.places(np.maximum(numbers, -ends))
    at = [-ends, *([-ends // 2, 0, ends // 2] if ends % 2 == 0 else [0]), ends]
    texts = labels(at)
    shown = [
        f"≤ {text}" if value == -ends and low < -ends else text for value, text in zip(at, texts.texts, strict=True)
    ]
    return places, tuple((span.place(value), text) for value, text in zip(at, shown, strict=True)), texts
