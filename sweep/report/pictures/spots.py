"""Where on a map the letter of a class has most room."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sweep.engine.opening import Array

_PIXEL = 0.025
"""Inches: how finely a map is looked at."""

_TAKEN = 0.09
"""Inches around a mark where no letter may stand."""


def letter_spots(
    codes: Array, classes: int, inches: tuple[float, float], marks: Sequence[tuple[float, float]], room: float
) -> list[tuple[float, float] | None]:
    """Per class the middle of its largest square as (column, row), or None where none has room.

    Args:
        codes: the map, an index per cell.
        classes: how many there are.
        inches: width and height of the map.
        marks: (column, row) of what letters must not cover.
        room: inches that a letter needs.
    """
    rows, columns = codes.shape
    across, down = (max(2, round(length / _PIXEL)) for length in inches)
    at_row = np.minimum((np.arange(down) + 0.5) * rows / down, rows - 1).astype(np.intp)
    at_column = np.minimum((np.arange(across) + 0.5) * columns / across, columns - 1).astype(np.intp)
    seen = codes[at_row[:, None], at_column[None, :]].astype(np.int64)
    y, x = np.ogrid[:down, :across]
    taken = round(_TAKEN / _PIXEL)
    for column, row in marks:
        middle_x, middle_y = (column + 0.5) / columns * across, (row + 0.5) / rows * down
        seen[(abs(x - middle_x) <= taken) & (abs(y - middle_y) <= taken)] = -1
    sizes = _square_sizes(seen)
    found: list[tuple[float, float] | None] = []
    for code in range(classes):
        inside = np.where(seen == code, sizes, 0)
        corner = int(inside.argmax())
        side = int(inside.reshape(-1)[corner])
        if side * _PIXEL < room:
            found.append(None)
            continue
        row, column = divmod(corner, across)
        found.append(((column + 1 - side / 2) / across * columns - 0.5, (row + 1 - side / 2) / down * rows - 0.5))
    return found


def _square_sizes(seen: Array) -> Array:
    """Per pixel the side of the largest square of one class whose last corner it is."""
    down, across = seen.shape
    sizes = np.ones((down, across), dtype=np.int64)
    for row in range(1, down):
        alike = (seen[row, 1:] == seen[row - 1, 1:]) & (seen[row, 1:] == seen[row, :-1])
        alike &= seen[row, 1:] == seen[row - 1, :-1]
        above = np.minimum(sizes[row - 1, 1:], sizes[row - 1, :-1])
        line = sizes[row]
        for column in np.flatnonzero(alike):
            line[column + 1] = 1 + min(int(above[column]), int(line[column]))
    return sizes
