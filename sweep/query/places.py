"""A cell's place in the default order of a rectangle of cells, as one integer: the first cell has place 0.

Mixed radix over the axes, the traffic leading: highest traffic, most slots, largest chunk, lowest share, then the
lowest index on each other axis in order. A place is a sum over the axes, so open arrays give it.
"""

from __future__ import annotations

from math import prod

import numpy as np

from sweep.engine.largest import CHUNK, SHARE, SLOTS
from sweep.engine.opening import Array

_DOWNWARDS = (SLOTS, CHUNK)


class Places:
    """The places of a rectangle of fewer than 2^63 cells."""

    def __init__(self, lengths: tuple[int, ...]) -> None:
        last = len(lengths) - 1
        self._lengths = lengths
        self._order = (last, SLOTS, CHUNK, SHARE, *range(SLOTS + 1, last))
        """Axes, the one that is looked at first leading."""
        self._downwards = frozenset((last, *_DOWNWARDS))

    def along(self, axis: int, part: slice) -> Array:
        """What each index of a part of an axis adds to the place of its cells, int64."""
        index = np.arange(part.start, part.stop)
        digit = self._lengths[axis] - 1 - index if axis in self._downwards else index
        return digit * self._weight(axis)

    def _weight(self, axis: int) -> int:
        return prod(self._lengths[later] for later in self._order[self._order.index(axis) + 1 :])

    def index(self, place: int) -> tuple[int, ...]:
        """The cell at a place, one index per axis."""
        found = [0] * len(self._lengths)
        for axis in reversed(self._order):
            place, digit = divmod(place, self._lengths[axis])
            found[axis] = self._lengths[axis] - 1 - digit if axis in self._downwards else digit
        return tuple(found)
