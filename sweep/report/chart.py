"""A map of cells in characters: one column per value across, one line per value down, thinned out until it fits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sweep.report.blocks import Picture, Tone
from sweep.report.plain import columns_of

LABEL_COLUMNS = 24
"""A longer label is cut."""

_MANY = 4096
"""Labels that are measured one by one; of more (numbers, which grow) the first and the last."""


@dataclass(frozen=True)
class Side:
    """The values of an axis."""

    count: int
    text: Callable[[int], str]
    keep: int | None = None
    """An index that is always shown, like the first and the last."""

    def label(self, index: int) -> str:
        """A value, cut where it is long."""
        text = self.text(index)
        return text if columns_of(text) <= LABEL_COLUMNS else f"{text[: LABEL_COLUMNS // 2 - 2]}.."

    def longest(self) -> int:
        """Columns of the widest label."""
        indices = range(self.count) if self.count <= _MANY else (0, self.count - 1)
        return max(columns_of(self.label(index)) for index in indices)

    def thinned(self, most: int) -> tuple[int, list[int]]:
        """Every how many values are shown, and which: at most `most`, the first, the last and the kept among them."""
        if self.count <= most:
            return 1, list(range(self.count))
        ends = dict.fromkeys([0 if self.keep is None else self.keep, 0, self.count - 1])
        if most <= len(ends):
            return self.count, sorted(list(ends)[: max(1, most)])
        step = -(-self.count // most)
        while len(found := {*range(0, self.count, step), *ends}) > most:
            step += 1
        return step, sorted(found)


@dataclass(frozen=True)
class Chart:
    """A drawn map."""

    picture: Picture
    column_step: int
    """One in so many values across is shown, beside the kept ones."""
    row_step: int


def chart(
    columns: Side,
    rows: Side,
    cell: Callable[[int, int], tuple[str, Tone]],
    longest: int,
    width: int,
    lines: int,
) -> Chart:
    """Draw a map.

    Args:
        columns: the values across.
        rows: the values down.
        cell: the text of a cell and its tone, by row and column.
        longest: columns that the widest cell takes; with 1, cells stand side by side where their labels do not fit.
        width: columns of the page.
        lines: lines of the page.
    """
    row_step, down = rows.thinned(max(1, lines - 2))
    margin = max(columns_of(rows.label(row)) for row in down)
    room = max(1, width - margin)
    each = max(longest, columns.longest()) + 2
    if longest == 1 and columns.count * each > room:
        step, across = columns.thinned(max(1, room - 2))
        head, each, gap = _sparse(columns, across), 1, "  "
    else:
        step, across = columns.thinned(max(1, room // each))
        head, gap = ["".join(_right(columns.label(column), each) for column in across)], ""
    drawn: list[tuple[tuple[str, Tone], ...]] = [((f"{'':{margin}}{gap}{line}", "plain"),) for line in head]
    for row in down:
        pieces: list[tuple[str, Tone]] = [(_right(rows.label(row), margin) + gap, "plain")]
        for column in across:
            text, tone = cell(row, column)
            pieces += [(" " * (each - columns_of(text)), "plain"), (text, tone)]
        drawn.append(tuple(_joined(pieces)))
    return Chart(Picture(tuple(drawn)), step, row_step)


def _right(text: str, width: int) -> str:
    return " " * (width - columns_of(text)) + text


def _sparse(columns: Side, across: list[int]) -> list[str]:
    """Two lines over columns one character wide: labels where there is room, and a stroke on the column of each.

    The last label ends on its column, every other one begins on it.
    """
    last = len(across) - 1
    final = columns.label(across[last])
    end = max(columns_of(final), last + 1)
    start_of_last = end - columns_of(final)
    labels, strokes = "", ""
    for place, column in enumerate(across[:-1]):
        text = columns.label(column)
        free = columns_of(labels) + 2 if labels else 0
        if place >= free and place + columns_of(text) + 2 <= start_of_last:
            labels = labels.ljust(place - columns_of(labels) + len(labels)) + text
            strokes = strokes.ljust(place) + "|"
    labels += " " * (start_of_last - columns_of(labels)) + final
    return [labels, strokes.ljust(last) + "|"]


def _joined(pieces: list[tuple[str, Tone]]) -> list[tuple[str, Tone]]:
    """Neighbours of one tone as one piece."""
    found: list[tuple[str, Tone]] = []
    for text, tone in pieces:
        if found and found[-1][1] == tone:
            found[-1] = (found[-1][0] + text, tone)
        elif text:
            found.append((text, tone))
    return found
