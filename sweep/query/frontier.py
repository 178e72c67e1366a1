"""The exact Pareto set of chosen objectives over the feasible cells of a grid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sweep.engine.evaluate import Evaluation
from sweep.errors import UsageFault
from sweep.grid.model import Grid
from sweep.query.cell import Cell, cell_at
from sweep.query.fronts import Front, Walk
from sweep.query.rank import MAXIMIZE, MINIMIZE, Objective, objectives_of, refuse_large
from sweep.query.select import At, Selection, select
from sweep.records.wording import CLAIM

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
        return {
            "objectives": objectives,
            "points": points,
            "total": self.total,
            "feasible_cells": self.feasible_cells,
            "claim": CLAIM,
        }


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
    refuse_large(selection, walks_traffic=selection.scale_permille is None)
    walk = Walk(grid, ev, selection, wanted)
    front = walk.front()
    points = () if front is None else _described(grid, selection, walk, front, wanted, limit)
    total = 0 if front is None else front.size
    return FrontierAnswer(tuple((o.sense, o.name) for o in wanted), points, total, walk.feasible_cells)


def _described(
    grid: Grid, selection: Selection, walk: Walk, front: Front, objectives: Sequence[Objective], limit: int
) -> tuple[FrontierPoint, ...]:
    """The first points of a front in the default order, each with its first cell by the reference."""
    points = []
    for row in np.argsort(front.places)[:limit]:
        index = walk.places.index(int(front.places[row]))
        spot = tuple(i + start for i, start in zip(index, selection.offset, strict=True))
        cell = cell_at(grid, spot, selection.scale_permille)
        pairs = zip(front.columns, objectives, strict=True)
        values = tuple(int(column[row]) * objective.sign for column, objective in pairs)
        points.append(FrontierPoint(values, cell, int(front.counts[row])))
    return tuple(points)
