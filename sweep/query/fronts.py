"""The Pareto vectors of the feasible cells of a selection, block by block on threads.

Only the axes that an objective or a bound depends on are walked; along the others all cells are equal and counted at
once. Along traffic a block ends where its largest capacity does. And what the vectors found so far dominate
(`sweep.query.shadow`), or a neighbour in the block does, is dropped before it is taken out of the block: nearly all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from sweep.engine.ahead import ordered
from sweep.engine.evaluate import Evaluation, narrowed
from sweep.engine.largest import CAPACITY, at_scales
from sweep.engine.opening import Array, cut, int64_values
from sweep.errors import RefusedSize
from sweep.grid.model import Grid
from sweep.kernels.nodes import SCALE
from sweep.query.places import Places
from sweep.query.rank import Objective
from sweep.query.select import Selection, restricted
from sweep.query.shadow import MOST_COLUMNS, Shadow
from sweep.query.skyline import pareto_rows, starts_of_equal
from sweep.store.layout import slab_shape, slabs
from sweep.units import grouped

BLOCK_CELLS = 2**17
"""Cells in a block: a megabyte per array, so that temporaries come from the heap (2^19 takes a third more)."""

SMALL = 1024
"""Vectors that are kept for later rather than compared at once."""

MAX_POINTS = 4 * 10**6
"""The largest front that is kept: with five objectives about half a gigabyte while it is merged."""

Region = tuple[slice, ...]


@dataclass(frozen=True)
class Front:
    """Vectors of objective values, all minimised, with the cells that have them."""

    columns: tuple[Array, ...]
    """One int64 array per objective."""
    counts: Array
    """Feasible cells per vector."""
    places: Array
    """Per vector the place of its first cell in the default order, counted within the selection."""

    @property
    def size(self) -> int:
        """How many vectors there are."""
        return int(self.counts.size)


class Walk:
    """The feasible cells of a selection with their objective values."""

    def __init__(self, grid: Grid, ev: Evaluation, selection: Selection, objectives: Sequence[Objective]) -> None:
        part = restricted(ev, selection)
        if selection.scale_permille is not None:
            scale = np.full((1,) * len(part.lengths), selection.scale_permille, dtype=np.int64)
            part = at_scales(part, scale, frozenset())
        self._cells = part
        self._objectives = objectives
        self._labels = {
            objective.axis: _open_labels(grid, selection, objective.axis)
            for objective in objectives
            if objective.axis is not None
        }
        self.places = Places(part.lengths)
        self._shadow: Shadow | None = None
        self.feasible_cells = 0

    def front(self) -> Front | None:
        """The Pareto vectors of all feasible cells; None where nothing is feasible.

        Raises:
            RefusedSize: it has more than `MAX_POINTS` vectors.
        """
        self._cells.warm([CAPACITY, *[o.node for o in self._objectives if o.node is not None]])
        lengths = self._cells.lengths
        front: Front | None = None
        waiting: list[Front] = []
        for found, feasible in ordered(self._block, slabs(lengths, slab_shape(lengths, BLOCK_CELLS))):
            self.feasible_cells += feasible
            if found is None:
                continue
            waiting.append(found)
            if sum(one.size for one in waiting) >= (0 if front is None else max(SMALL, 2 * front.size)):
                front = _merged(waiting if front is None else [front, *waiting])
                waiting = []
                self._shadow = _shadow(front)
        if waiting:
            front = _merged(waiting if front is None else [front, *waiting])
        return front

    def _block(self, region: Region) -> tuple[Front | None, int]:
        """The vectors of a block that may be on the front, and how many feasible cells it has."""
        tile = self._cells.tile(region)
        capacity, scales = narrowed(tile.get(CAPACITY)), tile.get(SCALE)
        carried = int(np.searchsorted(scales.reshape(-1), capacity.max(), side="right"))
        if carried == 0:
            return None, 0
        if carried < scales.size:
            first = region[-1].start
            region = (*region[:-1], slice(first, first + carried))
            tile, scales = self._cells.tile(region), scales[..., :carried]
        feasible = capacity >= scales
        cells = int(np.count_nonzero(feasible)) * (prod(tile.lengths) // feasible.size)
        values = [self._values(tile, region, objective) for objective in self._objectives]
        shadow = self._shadow
        if shadow is None:
            candidates = np.ones(np.broadcast_shapes(*[one.shape for one in values]), dtype=bool)
        else:
            candidates = ~shadow.covers(values)
            if not candidates.any():
                return None, cells
        if np.count_nonzero(candidates) > SMALL and feasible.shape == candidates.shape:
            candidates &= feasible & ~_behind_a_neighbour(feasible, values)
        found = self._taken(tile.lengths, region, feasible, values, candidates)
        if found.size > SMALL:
            found = _merged([found])
        return found if found.size else None, cells

    def _values(self, tile: Evaluation, region: Region, objective: Objective) -> Array:
        """An objective as an open array, negated where it is maximised."""
        if objective.axis is None:
            values = _saturated(tile.get(str(objective.node)))
        else:
            values = cut(self._labels[objective.axis], region)
        return values if objective.sign == 1 else -values

    def _taken(
        self, lengths: tuple[int, ...], region: Region, feasible: Array, values: Sequence[Array], candidates: Array
    ) -> Front:
        """The candidates with a feasible cell: their vectors, how many cells have each, and the first of these."""
        shape = np.broadcast_shapes(feasible.shape, candidates.shape)
        alike = prod(lengths) // prod(shape)
        mask = feasible & candidates
        places = [self._along(axis, part, shape) for axis, part in enumerate(region)]
        if candidates.shape == shape:
            at = np.nonzero(mask)
            counts = np.full(at[0].size, alike, dtype=np.int64)
            firsts = np.zeros(at[0].size, dtype=np.int64)
            for along, index in zip(places, at, strict=True):
                firsts += along.reshape(-1)[index if along.size > 1 else 0]
        else:
            # Along these axes the cells of a vector differ in nothing that is asked for: count them, take the first.
            axes = tuple(i for i, (n, whole) in enumerate(zip(candidates.shape, shape, strict=True)) if n < whole)
            cells = mask.sum(axis=axes, keepdims=True, dtype=np.int64)
            at = np.nonzero(cells)
            counts = cells[at] * alike
            place = sum(places[1:], places[0])
            firsts = np.where(mask, place, np.iinfo(np.int64).max).min(axis=axes, keepdims=True)[at]
        return Front(tuple(np.broadcast_to(one, candidates.shape)[at] for one in values), counts, firsts)

    def _along(self, axis: int, part: slice, shape: tuple[int, ...]) -> Array:
        """What an axis adds to the places of a block, open; along an axis of no concern its first cell counts."""
        along = self.places.along(axis, part)
        if shape[axis] == 1:
            along = along.min(keepdims=True)
        return along.reshape([-1 if i == axis else 1 for i in range(len(shape))])


def _open_labels(grid: Grid, selection: Selection, axis: int) -> Array:
    """The values of an axis over the selection; the one traffic scale where one was asked for."""
    rank = len(grid.axes)
    values = grid.axes[axis].values[selection.region[axis]]
    if axis == rank - 1 and selection.scale_permille is not None:
        values = (selection.scale_permille,)
    return int64_values(values).reshape([-1 if i == axis else 1 for i in range(rank)])


def _shadow(front: Front) -> Shadow | None:
    return None if len(front.columns) > MOST_COLUMNS else Shadow(np.stack(front.columns, axis=1))


def _behind_a_neighbour(feasible: Array, values: Sequence[Array]) -> Array:
    """Which cells of a block the next or the last feasible cell along an axis dominates: plateaus of whole numbers.

    A dominator may go by its own one: of the cells that a chain of them ends in, one is kept.
    """
    behind = np.zeros(feasible.shape, dtype=bool)
    for axis, length in enumerate(feasible.shape):
        if length == 1:
            continue
        before, after = ((slice(None),) * axis + (part,) for part in (slice(None, -1), slice(1, None)))
        varying = [one for one in values if one.shape[axis] > 1]
        for one, other in ((before, after), (after, before)):
            nowhere_worse, somewhere_better = feasible[one], np.zeros((1,) * feasible.ndim, dtype=bool)
            for column in varying:
                nowhere_worse = nowhere_worse & (column[one] <= column[other])
                somewhere_better = somewhere_better | (column[one] < column[other])
            behind[other] |= nowhere_worse & somewhere_better
    return behind


def _saturated(values: Array) -> Array:
    """A quantity as int64: exact in feasible cells, where it is within a bound of 10^18 or less; others do not matter.

    The least integer is left out, so that the negative of each is one too.
    """
    known = np.iinfo(np.int64)
    return np.clip(values, known.min + 1, known.max).astype(np.int64) if values.dtype == object else values


def _merged(fronts: Sequence[Front]) -> Front:
    """The Pareto vectors of several fronts, equal ones as one: their counts summed, the first of their places."""
    columns = [np.concatenate(parts) for parts in zip(*[front.columns for front in fronts], strict=True)]
    counts = np.concatenate([front.counts for front in fronts])
    places = np.concatenate([front.places for front in fronts])
    rows = np.stack(columns, axis=1)
    kept = np.flatnonzero(pareto_rows(rows))
    order = kept[np.lexsort((places[kept], *rows[kept].T))]
    starts = np.flatnonzero(starts_of_equal(rows[order]))
    if starts.size > MAX_POINTS:
        raise RefusedSize(
            f"the frontier has more than {grouped(MAX_POINTS)} points; ask for fewer objectives, or fix an axis with "
            f"--at."
        )
    first = order[starts]
    return Front(tuple(column[first] for column in columns), np.add.reduceat(counts[order], starts), places[first])
