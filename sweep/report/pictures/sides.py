"""The two sides of a map: which values get a tick, and their labels where they have room."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from sweep.report.pictures.lettering import drawable, line_height, names_apart, width, wrapped
from sweep.report.pictures.maps import Side
from sweep.report.pictures.scale import Labels, chosen_ticks, labels, thinned
from sweep.report.pictures.sheet import PAD, TICK, Sheet

_BETWEEN = 0.07
"""Inches between two labels."""

_AWAY = 0.05
"""Inches between an axis and its labels."""

AFTER = 0.1
"""Inches on the right of a map into which its last label may reach."""

_WIDEST_NAME = 0.36
"""Of the picture's width: what the names of choices may take beside a map."""

_TALLEST_NAME = 1.1
"""Inches: what turned names may take below a map."""

_MOST_NAMES, _NARROWEST = 40, 0.45
"""How many names stand side by side at most, and the inches from which on they may be broken into lines."""

_MOST_CELL = 0.8
"""Inches: the widest column, so that a map of one column is no block."""


def _texts(side: Side, places: Sequence[int]) -> Labels:
    """Labels at some places of a side."""
    values = side.values
    if side.is_choice:
        return Labels(tuple(drawable(str(values[place])) for place in places))
    return labels([int(values[place]) for place in places])


class Down:
    """The axis up the left side of a map."""

    def __init__(self, side: Side, inches: float, height: float) -> None:
        """Choose the ticks of a map of some height, on a sheet of some width, in inches."""
        self._count, self._height = len(side.values), height
        count = self._count

        def fits(places: Sequence[int]) -> bool:
            least = min((after - before for before, after in pairwise(places)), default=count)
            lines = 0.98 if len(places) == count else 1.4  # every value close together, or some with air between
            return least * height / count >= lines * line_height(TICK)

        numbers = [] if side.is_choice else [int(value) for value in side.values]
        self.ticks = thinned(count, fits) if side.is_choice else chosen_ticks(numbers, fits)
        self.labels = _texts(side, self.ticks)
        if side.is_choice:
            self.labels = Labels(tuple(names_apart(self.labels.texts, TICK, inches * _WIDEST_NAME)))
        self.margin = max(width(text, TICK) for text in self.labels.texts) + _AWAY
        """Inches that the labels take."""

    def write(self, sheet: Sheet, left: float, top: float) -> None:
        """Put the labels beside a map."""
        for place, text in zip(self.ticks, self.labels.texts, strict=True):
            y = top + self._height * (1 - (place + 0.5) / self._count)
            sheet.text((left - _AWAY, y), text, TICK, ha="right")


class Across:
    """The axis below a map; `length` is the width of the map."""

    def __init__(self, side: Side, inches: float) -> None:
        self._side = side
        count = len(side.values)
        self.length = min(inches, _MOST_CELL * count)
        self._cell = self.length / count
        self._room = inches + AFTER
        self._turned = False
        if side.is_choice:
            self._choose_names()
        else:
            self.ticks = chosen_ticks([int(value) for value in side.values], self._fits)
            self.labels = _texts(side, self.ticks)
            self._lines = [[text] for text in self.labels.texts]
        rows = max(len(lines) for lines in self._lines)
        tall = max(width(lines[0], TICK) for lines in self._lines) if self._turned else rows * line_height(TICK)
        self.margin = tall + _AWAY + 0.02
        """Inches that the labels take."""

    def _fits(self, places: Sequence[int]) -> bool:
        end = -1.0
        for place, text in zip(places, _texts(self._side, places).texts, strict=True):
            half = width(text, TICK) / 2
            middle = min((place + 0.5) * self._cell, self._room - half)
            if middle - half < end:
                return False
            end = middle + half + _BETWEEN
        return True

    def _choose_names(self) -> None:
        """Names side by side, in lines where columns are wide, else turned."""
        everywhere = list(range(len(self._side.values)))
        room = self._cell - _BETWEEN
        if len(everywhere) <= _MOST_NAMES:
            fit = self._fits(everywhere)
            texts = _texts(self._side, everywhere)
            lines = [[text] if fit else wrapped(text, TICK, room, 3) for text in texts.texts]
            if fit or (room >= _NARROWEST and len({tuple(one) for one in lines}) == len(lines)):
                self.ticks, self.labels, self._lines = everywhere, texts, lines
                return
        self._turned = True
        self.ticks = thinned(
            len(everywhere),
            lambda places: (places[1] - places[0] if len(places) > 1 else 9) * self._cell >= line_height(TICK),
        )
        self.labels = _texts(self._side, self.ticks)
        self._lines = [[text] for text in names_apart(self.labels.texts, TICK, _TALLEST_NAME)]

    def write(self, sheet: Sheet, left: float, bottom: float) -> None:
        """Put the labels below a map; one that would leave the sheet is moved in."""
        for place, lines in zip(self.ticks, self._lines, strict=True):
            x = left + (place + 0.5) * self._cell
            if self._turned:
                y = bottom + _AWAY
                sheet.text((x, y), lines[0], TICK, rotation=90, ha="center", va="top")
                continue
            for number, line in enumerate(lines):
                half = width(line, TICK) / 2
                inside = min(max(x, PAD + half), sheet.width - PAD - half)
                y = bottom + _AWAY + (number + 0.5) * line_height(TICK)
                sheet.text((inside, y), line, TICK, ha="center")
