"""Large selections: what is searched instead of walked, and what is not counted any more."""

from __future__ import annotations

from math import prod

import numpy as np

from sweep.engine.evaluate import Evaluation
from sweep.engine.largest import Point
from sweep.engine.opening import Array
from sweep.engine.search import ScaleOf, search
from sweep.query.select import Selection

WALKED_CONFIGURATIONS = 2**20
"""Up to so many configurations a question computes the capacity of each; beyond, it searches (`engine.search`)."""

COUNTED_CONFIGURATIONS = 2 * 10**7
"""Up to so many configurations what decides or blocks each is counted; it takes about a microsecond each."""


def configurations_of(selection: Selection) -> int:
    """How many configurations a selection has."""
    return prod(s.stop - s.start for s in selection.region[:-1])


def is_searched(selection: Selection) -> bool:
    """Whether a selection is searched instead of walked."""
    return configurations_of(selection) > WALKED_CONFIGURATIONS


def is_counted(selection: Selection) -> bool:
    """Whether the configurations of a selection are few enough to say of each what decides it."""
    return configurations_of(selection) <= COUNTED_CONFIGURATIONS


def searched(part: Evaluation, selection: Selection, axis: Array, top: int, on_grid: bool) -> list[Point]:
    """The first points of a selection in the default order, in the indices of the grid.

    Args:
        part: the evaluation of the selected part.
        selection: the selection; a fixed traffic scale counts as that scale where it is carried.
        axis: the selected values of the traffic axis, int64.
        top: how many points.
        on_grid: take the traffic scale from the axis' own values.
    """
    points = search(part, top, _scale_of(selection.scale_permille, axis if on_grid else None))
    starts = selection.offset[:-1]
    return [
        Point(tuple(i + start for i, start in zip(point.index, starts, strict=True)), point.scale_permille)
        for point in points
    ]


def _scale_of(fixed: int | None, axis: Array | None) -> ScaleOf | None:
    """The scale at which a capacity counts: the fixed one, the largest of the axis that it carries, or itself."""
    if fixed is not None:
        return lambda capacity: np.where(capacity >= fixed, np.int64(fixed), np.int64(0))
    if axis is None:
        return None
    steps = np.concatenate((np.zeros(1, dtype=np.int64), axis))
    return lambda capacity: steps[np.searchsorted(axis, capacity, side="right")]
