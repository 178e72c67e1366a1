"""The picture of a frontier: the points of `sweep frontier`, the largest operating point and the SLO."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sweep.engine.opening import Array
from sweep.grid.model import Grid
from sweep.query.cell import FIGURE_OF_BOUND, Cell
from sweep.query.frontier import FrontierAnswer
from sweep.query.rank import MAXIMIZE
from sweep.report.pictures.maps import point_text
from sweep.report.pictures.titles import Title, axis_title, quantity_title
from sweep.report.point import quantity
from sweep.report.words import counted, safe

_BOUND_OF_FIGURE = {figure: bound for bound, figure in FIGURE_OF_BOUND.items()}

_NEAR = 4
"""The largest point is drawn where it is at most a quarter of the points' extent beyond them."""


@dataclass(frozen=True)
class Objective:
    """One coordinate of the points."""

    title: Title
    maximized: bool
    bound: str = ""
    """The bound of the contract over it, where it is one figure of the audit and its bound is one number."""
    limit: int = 0
    """That bound."""


@dataclass(frozen=True)
class FrontierScene:
    """All that a picture of a frontier shows; the first objective is across, each other one has a panel."""

    title: str
    notes: tuple[str, ...]
    objectives: tuple[Objective, ...]
    values: tuple[tuple[int, ...], ...]
    """Per point its objective values, exact."""
    unbeaten: tuple[Array, ...]
    """Per panel which points no other one beats in its two objectives alone."""
    chosen: tuple[int, ...] | None
    """The objective values of the largest operating point, or of the first point where that is far beyond them."""
    chosen_text: str
    remarks: tuple[str, ...]


def frontier_scene(
    grid: Grid, answer: FrontierAnswer, largest: Cell | None, notes: Sequence[str] = ()
) -> FrontierScene:
    """The picture of a frontier.

    Args:
        grid: the grid.
        answer: its frontier, with two objectives or more.
        largest: the largest operating point under the same `at`, at its exact traffic.
        notes: texts from a grid file, under the title.
    """
    objectives = tuple(_objective(grid, answer, at) for at in range(len(answer.objectives)))
    values = tuple(point.values for point in answer.points)
    chosen, chosen_text, remarks = _chosen(grid, answer, largest)
    sought = ", ".join(f"{sense} {safe(name)}" for sense, name in answer.objectives)
    if answer.total > len(answer.points):
        remarks.append(
            f"Drawn are {counted(len(answer.points), 'point')} of {counted(answer.total, 'point')}, the first in the "
            f"default order."
        )
    return FrontierScene(
        title=f"The frontier: {counted(answer.total, 'point')} that none of "
        f"{counted(answer.feasible_cells, 'feasible cell')} beats"
        if answer.points
        else "The frontier is empty: nothing is feasible",
        notes=(*notes, f"Objectives: {sought}."),
        objectives=objectives,
        values=values,
        unbeaten=tuple(_unbeaten(values, objectives, at) for at in range(1, len(objectives))),
        chosen=chosen,
        chosen_text=chosen_text,
        remarks=tuple(remarks),
    )


def _chosen(grid: Grid, answer: FrontierAnswer, largest: Cell | None) -> tuple[tuple[int, ...] | None, str, list[str]]:
    """The values and the words of the marked point, and a remark where the largest one is no neighbour of the points.

    The points are cells of the grid and the largest one has its exact traffic, which may be far above the axis.
    """
    if largest is None or not answer.points:
        return None, "", []
    values = tuple(_value(grid, largest, name) for _, name in answer.objectives)
    for at, value in enumerate(values):
        column = [point.values[at] for point in answer.points]
        low, high = min(column), max(column)
        beyond = max(low - value, value - high) * _NEAR
        if beyond > max(high - low, high // 10, 1):
            first = answer.points[0]
            text = f"first in the default order: {point_text(first.cell)}"
            return first.values, text, [f"The largest point is beyond the axes: {point_text(largest)}."]
    return values, f"largest point: {point_text(largest)}", []


def _objective(grid: Grid, answer: FrontierAnswer, at: int) -> Objective:
    sense, name = answer.objectives[at]
    axis = next((axis for axis in grid.axes if axis.name == name), None)
    title = quantity_title(name) if axis is None else axis_title(axis)
    bound = "" if axis is not None else _BOUND_OF_FIGURE.get(name, "")
    limits = {point.cell.bound(bound) for point in answer.points} if bound else set()
    if len(limits) != 1:
        return Objective(title, sense == MAXIMIZE)
    return Objective(title, sense == MAXIMIZE, bound, limits.pop())


def _value(grid: Grid, cell: Cell, name: str) -> int:
    """An objective of a cell: an axis, a bound or a figure."""
    if name in cell.point:
        return int(cell.point[name])
    if name.startswith("bound_"):
        return cell.bound(name.removeprefix("bound_"))
    return quantity(cell, name)


def _unbeaten(values: Sequence[tuple[int, ...]], objectives: Sequence[Objective], at: int) -> Array:
    """Which points nothing beats in the first and one other objective; points with equal pairs are alike."""
    signs = [-1 if objectives[place].maximized else 1 for place in (0, at)]
    pairs = [(signs[0] * one[0], signs[1] * one[at]) for one in values]
    kept = np.zeros(len(pairs), dtype=bool)
    least: int | None = None
    last: tuple[int, int] | None = None
    for place in sorted(range(len(pairs)), key=pairs.__getitem__):
        pair = pairs[place]
        if least is None or pair[1] < least or pair == last:
            kept[place] = True
            least, last = pair[1], pair
    return kept
