"""The exact Pareto set of chosen objectives over the feasible cells of a grid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sweep.engine.evaluate import Evaluation, narrowed
from sweep.engine.opening import Array
from sweep.errors import UsageFault
from sweep.grid.model import Grid
from sweep.query.cell import Cell, cell_at
from sweep.query.rank import MAXIMIZE, MINIMIZE, Block, Objective, feasible_blocks, objective_column, objectives_of
from sweep.query.select import At, Selection, select
from sweep.query.skyline import pareto_rows

DEFAULT_OBJECTIVES = (
    (MAXIMIZE, "traffic_scale_permille"),
    (MINIMIZE, "estimated_worst_ttft_ms"),
    (MINIMIZE, "estimated_tpot_ms"),
)
DEFAULT_LIMIT = 1000


@dataclass(frozen=True)
class FrontierPoint:
    """One vector of objective values that no feasible cell beats."""

    values: tuple[int, ...]
    """The objectives' values, in their order."""
    cell: Cell
    """The first cell that has them, in the default order."""
    count: int
    """How many feasible cells have them."""


@dataclass(frozen=True)
class FrontierAnswer:
    """The answer of `frontier`."""

    objectives: tuple[tuple[str, str], ...]
    points: tuple[FrontierPoint, ...]
    """In the default order of their cells, at most as many as asked for."""
    total: int
    """How many points the frontier has."""
    feasible_cells: int

    def as_json(self) -> dict[str, Any]:
        """With stable keys."""
        points = [
            {"point": dict(p.cell.point), "report": p.cell.report_json(), "count": p.count, "values": list(p.values)}
            for p in self.points
        ]
        objectives = [{"sense": sense, "name": name} for sense, name in self.objectives]
        return {"objectives": objectives, "points": points, "total": self.total, "feasible_cells": self.feasible_cells}


@dataclass
class _Front:
    """The Pareto vectors of the cells seen so far; rows of Python-int-exact columns, all minimised."""

    rows: Array
    counts: Array
    keys: Array
    """Per vector the place of its first cell in the default order."""


def find_frontier(
    grid: Grid,
    ev: Evaluation,
    at: At | None = None,
    objectives: Sequence[tuple[str, str]] = (),
    limit: int = DEFAULT_LIMIT,
) -> FrontierAnswer:
    """The exact Pareto set over the feasible cells of the grid: filtered by every bound first, then compared.

    A cell is out when another feasible one is at least as good in every objective and better in one. Cells with equal
    objective values are one point, with their count and the first of them in the default order.

    Args:
        grid: the grid.
        ev: its evaluation.
        at: axes to fix, name -> value; the traffic scale may be off its axis.
        objectives: ("maximize" | "minimize", axis or quantity) pairs; default: traffic up, worst TTFT down, TPOT down.
        limit: how many points to describe, at least 1; `total` counts all.

    Raises:
        UsageFault: an unknown axis, value or objective, an objective given twice, or `limit` below 1.
    """
    if limit < 1:
        raise UsageFault(f"--limit {limit}: the number of points is at least 1; leave --limit out for {DEFAULT_LIMIT}.")
    wanted = objectives_of(grid, ev, objectives or DEFAULT_OBJECTIVES)
    names = [objective.name for objective in wanted]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UsageFault(f"objective {', '.join(twice)}: given twice; give each axis or quantity once.")
    selection = select(grid, at)
    front, feasible = None, 0
    for block in feasible_blocks(grid, ev, selection):
        fresh, found = _front_of(grid, selection, block, wanted)
        feasible += found
        if fresh is not None:
            front = fresh if front is None else _merge(front, fresh)
    points = () if front is None else _described(grid, selection, front, wanted, limit)
    total = 0 if front is None else front.rows.shape[0]
    return FrontierAnswer(tuple((o.sense, o.name) for o in wanted), points, total, feasible)


def _front_of(
    grid: Grid, selection: Selection, block: Block, objectives: Sequence[Objective]
) -> tuple[_Front | None, int]:
    """The Pareto vectors of one block, and how many feasible cells it has."""
    pool = block.pool()
    if pool.size == 0:
        return None, 0
    columns = [objective_column(grid, selection, block, objective)(pool) for objective in objectives]
    kept = pareto_rows(np.stack([_as_int64(column) for column in columns], axis=1))
    rows = np.stack([column[kept] for column in columns], axis=1)
    return _grouped(
        rows, np.ones(rows.shape[0], dtype=np.int64), _places(grid, selection, block, pool[kept])
    ), pool.size


def _as_int64(column: Array) -> Array:
    """A column, or the ranks of its values where they exceed int64: they order alike."""
    column = narrowed(column)
    if column.dtype != object:
        return column
    return np.searchsorted(np.unique(column), column).astype(np.int64)


def _grouped(rows: Array, counts: Array, keys: Array) -> _Front:
    """Equal vectors as one, with their counts summed and the least key."""
    order = np.lexsort([keys, *[_as_int64(rows[:, i]) for i in range(rows.shape[1] - 1, -1, -1)]])
    rows, counts, keys = rows[order], counts[order], keys[order]
    first = np.ones(order.size, dtype=bool)
    first[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    starts = np.flatnonzero(first)
    return _Front(rows[starts], np.add.reduceat(counts, starts), keys[starts])


def _merge(one: _Front, other: _Front) -> _Front:
    """The Pareto vectors of both."""
    rows = np.concatenate((one.rows, other.rows))
    kept = pareto_rows(np.stack([_as_int64(rows[:, i]) for i in range(rows.shape[1])], axis=1))
    counts, keys = np.concatenate((one.counts, other.counts)), np.concatenate((one.keys, other.keys))
    return _grouped(rows[kept], counts[kept], keys[kept])


def _places(grid: Grid, selection: Selection, block: Block, pool: Array) -> Array:
    """Each cell's place in the default order as one integer: mixed radix over the axes, the first cell lowest.

    The radices are the axis lengths; their product is the number of cells, and a question walks at most 2^63 of them.
    """
    index = block.indices(grid, selection, pool)
    share, chunk, slots, *others, traffic = index
    lengths = grid.shape
    digits = [(lengths[-1] - 1 - traffic, lengths[-1]), (lengths[2] - 1 - slots, lengths[2])]
    digits += [(lengths[1] - 1 - chunk, lengths[1]), (share, lengths[0])]
    digits += [(other, lengths[3 + i]) for i, other in enumerate(others)]
    place = np.zeros(pool.size, dtype=np.int64)
    for digit, radix in digits:
        place = place * radix + digit
    return place


def _index_of(grid: Grid, place: int) -> tuple[int, ...]:
    """The cell of a place; the inverse of `_places`."""
    lengths = grid.shape
    digits = []
    for radix in [*reversed(lengths[3:-1]), lengths[0], lengths[1], lengths[2], lengths[-1]]:
        place, digit = divmod(place, radix)
        digits.append(digit)
    traffic, slots, chunk, share, *others = reversed(digits)
    return (
        share,
        lengths[1] - 1 - chunk,
        lengths[2] - 1 - slots,
        *others,
        lengths[-1] - 1 - traffic,
    )


def _described(
    grid: Grid, selection: Selection, front: _Front, objectives: Sequence[Objective], limit: int
) -> tuple[FrontierPoint, ...]:
    points = []
    for row in np.argsort(front.keys)[:limit]:
        cell = cell_at(grid, _index_of(grid, int(front.keys[row])), selection.scale_permille)
        values = tuple(
            int(value) * objective.sign for value, objective in zip(front.rows[row], objectives, strict=True)
        )
        points.append(FrontierPoint(values, cell, int(front.counts[row])))
    return tuple(points)
