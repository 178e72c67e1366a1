"""The largest operating points of a declared grid of any size: boxes of configurations, bounded, cut and dropped.

Best first and depth first. Every box has a range of capacities (`sweep.engine.boxes`); one whose largest possible
point comes after the points found so far cannot change the answer and is dropped, one whose range is a single number
is decided, any other is cut in two. So each configuration is decided by a box that holds it, exactly as if each had
been computed, and nothing of the grid's size is ever made.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from math import prod

import numpy as np

from sweep.engine.boxes import Boxes, CapacityBounds, joined
from sweep.engine.budget import THREADS
from sweep.engine.evaluate import Evaluation
from sweep.engine.largest import CHUNK, SHARE, SLOTS, Point
from sweep.engine.opening import Array
from sweep.errors import RefusedSize
from sweep.units import grouped

FIRST_BATCH, BATCH = 2**10, 2**14
"""Boxes cut at once before the first point is found, and after it."""

SAMPLE = 24
"""Boxes of a batch on which the gain of a cut along each axis is measured."""

MAX_BOXES = 2 * 10**8
"""A search that has bounded so many boxes (minutes) is given up."""

ScaleOf = Callable[[Array], Array]


def search_largest(ev: Evaluation) -> Point | None:
    """The first feasible operating point in the default order, with its exact scale; None where nothing is feasible."""
    found = search(ev, 1)
    return found[0] if found else None


def search(ev: Evaluation, top: int, scale_of: ScaleOf | None = None) -> list[Point]:
    """The first feasible operating points in the default order; fewer where fewer are feasible.

    Args:
        ev: the evaluation of a grid or of a part of it; indices are those of the part.
        top: how many points.
        scale_of: the traffic scale at which a capacity counts (0: not at all), nondecreasing and never above it;
            default: the capacity itself.

    Raises:
        RefusedSize: more than MAX_BOXES boxes were bounded.
    """
    return _Search(ev, top, scale_of or _itself).run()


def _itself(capacity: Array) -> Array:
    return capacity


class _Search:
    """The state of one search."""

    def __init__(self, ev: Evaluation, top: int, scale_of: ScaleOf) -> None:
        self.ev, self.top, self.scale_of = ev, top, scale_of
        self.bounds = CapacityBounds(ev)
        self.found: list[Point] = []
        self.floor = 1
        """No point below this scale can be in the answer."""
        self.bounded = 0
        self.pool = ThreadPoolExecutor(THREADS)

    def run(self) -> list[Point]:
        """Cut and drop until no box is left."""
        lengths = np.array(self.ev.lengths[:-1], dtype=np.int64).reshape(-1, 1)
        with self.pool:
            stack = self._admit(Boxes(np.zeros_like(lengths), lengths - 1))
            while stack:
                batch = self._next(stack)
                if len(batch[0]):
                    boxes, most = batch
                    stack += self._admit(boxes.halves(self._axes(boxes, most)))
        return self.found

    def _next(self, stack: list[tuple[Boxes, Array]]) -> tuple[Boxes, Array]:
        """The most promising boxes that still may hold a point of the answer."""
        size = BATCH if self.found else FIRST_BATCH
        taken = [self._open(*stack.pop())]
        while stack and sum(len(boxes) for boxes, _ in taken) + len(stack[-1][0]) <= size:
            taken.append(self._open(*stack.pop()))
        return joined(*[boxes for boxes, _ in taken]), np.concatenate([most for _, most in taken])

    def _open(self, boxes: Boxes, most: Array) -> tuple[Boxes, Array]:
        keep = np.flatnonzero(self._may_lead(boxes, most))
        return boxes.take(keep), most[keep]

    def _ranges(self, boxes: Boxes) -> tuple[Array, Array]:
        self.bounded += len(boxes)
        if self.bounded > MAX_BOXES:
            cells = prod(self.ev.lengths)
            raise RefusedSize(
                f"the {grouped(cells)} cells are not decided after bounding {grouped(MAX_BOXES)} boxes of them; fix an "
                f"axis with --at, or thin one out."
            )
        half = len(boxes) // THREADS
        if half < FIRST_BATCH:
            least, most = self.bounds.of(boxes)
        else:
            parts = [boxes.take(np.arange(half)), boxes.take(np.arange(half, len(boxes)))]
            ends = list(self.pool.map(self.bounds.of, parts))
            least, most = (np.concatenate(side) for side in zip(*ends, strict=True))
        return self.scale_of(least), self.scale_of(most)

    def _admit(self, boxes: Boxes) -> list[tuple[Boxes, Array]]:
        """Bound boxes, take the decided ones into the answer, and give the others, the most promising last."""
        least, most = self._ranges(boxes)
        if self.top == 1 and len(boxes):
            self.floor = max(self.floor, int(least.max()))
        decided = boxes.single if self.top > 1 else least == most
        self._take(boxes.take(decided), most[decided])
        rest, most = self._open(boxes.take(~decided), most[~decided])
        order = _in_order(rest, most)
        rest, most = rest.take(order), most[order]
        size = BATCH // 2 if self.found else FIRST_BATCH // 2
        starts = range(0, len(rest), size)
        return [(rest.take(slice(i, i + size)), most[i : i + size]) for i in reversed(starts)]

    def _take(self, boxes: Boxes, scales: Array) -> None:
        """Put the first point of each decided box into the answer, where it belongs there."""
        keep = np.flatnonzero(self._may_lead(boxes, scales))
        boxes, scales = boxes.take(keep), scales[keep]
        order = _in_order(boxes, scales)[: self.top]
        corner = boxes.first.copy()
        corner[[CHUNK, SLOTS]] = boxes.last[[CHUNK, SLOTS]]
        new = [Point(tuple(int(i) for i in corner[:, n]), int(scales[n])) for n in order]
        self.found = sorted([*self.found, *new], key=lambda point: point.key)[: self.top]

    def _may_lead(self, boxes: Boxes, most: Array) -> Array:
        """Whether a box may hold a point that comes before the last of the answer."""
        feasible = most >= self.floor
        if len(self.found) < self.top:
            return np.asarray(feasible)
        before, equal = np.zeros(len(boxes), dtype=bool), np.ones(len(boxes), dtype=bool)
        for column, last in zip(_columns(boxes, most), self.found[-1].key, strict=True):
            before |= equal & (column < last)
            equal &= column == last
        return np.asarray(feasible & before)

    def _axes(self, boxes: Boxes, most: Array) -> Array:
        """The axis along which to cut each box: of those that it spans the one whose cuts lower the bounds most."""
        widths = boxes.widths
        sample = np.unique(np.arange(SAMPLE) * (len(boxes) - 1) // (SAMPLE - 1))
        some, before = boxes.take(sample), most[sample]
        tried = [(axis, np.flatnonzero(some.widths[axis])) for axis in range(widths.shape[0])]
        tried = [(axis, spans) for axis, spans in tried if spans.size]
        gain = np.zeros(widths.shape[0], dtype=np.int64)
        if len(tried) > 1:
            _, after = self._ranges(joined(*[some.take(spans).halves(np.full(spans.size, at)) for at, spans in tried]))
            start = 0
            for axis, spans in tried:
                stop = start + 2 * spans.size
                gain[axis] = 2 * int(before[spans].sum()) - int(after[start:stop].sum())
                start = stop
        if not gain.any():
            return np.asarray(widths.argmax(axis=0))
        order = np.argsort(-gain, kind="stable")
        return np.asarray(order[(widths[order] > 0).argmax(axis=0)])


def _columns(boxes: Boxes, scales: Array) -> list[Array]:
    """The default order of the boxes' first points, as columns (`Point.key`)."""
    share, chunk, slots = boxes.first[SHARE], boxes.last[CHUNK], boxes.last[SLOTS]
    return [-scales, -slots, -chunk, share, *boxes.first[SLOTS + 1 :]]


def _in_order(boxes: Boxes, scales: Array) -> Array:
    return np.lexsort(_columns(boxes, scales)[::-1])
