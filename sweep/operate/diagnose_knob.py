"""The bound that is nearest, and the smallest change of one knob that keeps every bound: from the grid, exactly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np

from sweep.engine.evaluate import Evaluation
from sweep.errors import SelfCheckFault, UsageFault
from sweep.grid.model import Grid
from sweep.query.cell import FIGURE_OF_BOUND, Cell, cell_at
from sweep.query.nearest import mask_of
from sweep.query.select import configurations_at, select
from sweep.reference.judge import judge

REPLICAS: Final = "replicas"
MOST_REPLICAS: Final = 10**6


@dataclass(frozen=True)
class NearestBound:
    """The bound with the least left, relative to itself; of several the first.

    Attributes:
        bound: its name.
        figure: the name of what must not exceed it.
        value: the figure.
        limit: the bound.
    """

    bound: str
    figure: str
    value: int
    limit: int

    @property
    def slack(self) -> int:
        """Units left; negative where it is broken."""
        return self.limit - self.value

    def as_json(self) -> dict[str, Any]:
        """With stable keys."""
        named = {"bound": self.bound, "figure": self.figure, "value": self.value, "limit": self.limit}
        return {**named, "slack": self.slack}


@dataclass(frozen=True)
class KnobChange:
    """One knob turned to the nearest value with which the point is within all bounds.

    Attributes:
        knob: the axis; `replicas` also where the grid has no such axis.
        now: its value at the point.
        to: its new value.
        steps: how many values of the axis that is; of replicas without an axis, how many replicas.
        cell: the point there.
    """

    knob: str
    now: int | str
    to: int | str
    steps: int
    cell: Cell

    def as_json(self) -> dict[str, Any]:
        """With stable keys."""
        point = dict(self.cell.point)
        return {"knob": self.knob, "from": self.now, "to": self.to, "steps": self.steps, "point": point}


def nearest_bound(cell: Cell) -> NearestBound | None:
    """The bound that is nearest to a valid cell, or the most broken one; None in an invalid cell."""
    slack = cell.slack
    if not slack:
        return None
    bound = min(slack, key=lambda name: Fraction(slack[name], max(1, cell.bound(name))))
    figure = FIGURE_OF_BOUND[bound]
    return NearestBound(bound, figure, cell.verdict.figures[figure], cell.bound(bound))


def knob_changes(
    grid: Grid, ev: Evaluation, cell: Cell, directions: Mapping[str, int] | None = None
) -> tuple[KnobChange, ...]:
    """Per knob the nearest value with which the cell, at its traffic, is within all bounds; the fewest steps first.

    Every other field stays. Each answer is judged again by the reference.

    Args:
        grid: the grid.
        ev: its evaluation.
        cell: the point.
        directions: knob -> -1 or 1, the way to look, for these knobs alone; default: every knob, both ways.

    Raises:
        SelfCheckFault: kernels and reference disagree.
    """
    found = []
    for axis in grid.axes[:-1]:
        if directions is None or axis.name in directions:
            found += list(_along(grid, ev, cell, axis.name, 0 if directions is None else directions[axis.name]))
    if directions is None or REPLICAS in directions:
        found += list(_more_replicas(grid, cell))
    return tuple(sorted(found, key=lambda change: change.steps))  # of equal ones the grid's first axis


def _along(grid: Grid, ev: Evaluation, cell: Cell, name: str, direction: int) -> Iterator[KnobChange]:
    position, scale = grid.position(name), int(cell.fields["traffic.scale_permille"])
    axis = grid.axes[position]
    now = axis.index(cell.point[name])
    places = {other.name: cell.point[other.name] for other in grid.axes if other.name != name}
    nearest: int | None = None
    for point, offset in configurations_at(ev, select(grid, places), scale):
        within = np.nonzero(mask_of(grid, point) == 0)[position] + offset[position]
        for index in within[within != now].tolist():
            if direction * (index - now) >= 0 and (nearest is None or abs(index - now) < abs(nearest - now)):
                nearest = int(index)
    if nearest is None:
        return
    index_of = {other.name: other.index(cell.point[other.name]) for other in grid.axes[:-1] if other.name != name}
    whole = (*(index_of.get(other.name, nearest) for other in grid.axes[:-1]), 0)
    there = cell_at(grid, whole, scale)
    if there.status != "within":
        raise SelfCheckFault(
            f"{name} = {axis.label(nearest)} should keep every bound, but the scalar reference finds it "
            f"{there.status}; this is a bug of sweep, please report it"
        )
    yield KnobChange(name, axis.label(now), axis.label(nearest), abs(nearest - now), there)


def _more_replicas(grid: Grid, cell: Cell) -> Iterator[KnobChange]:
    """The fewest replicas, where they are no axis: more of them never break a bound, so they are found by bisection."""
    try:
        grid.position(REPLICAS)
        return  # an axis; choices may set them too
    except UsageFault:
        pass
    now = int(cell.fields["traffic.replicas"])
    if any("traffic.replicas" in axis.fields for axis in grid.axes) or now >= MOST_REPLICAS:
        return

    def on(replicas: int) -> Cell:
        fields = {**cell.fields, "traffic.replicas": replicas}
        return Cell(cell.point, fields, judge(fields, cell.class_ids), cell.class_ids)

    low, high = now, now + 1
    while on(high).status != "within":
        if high >= MOST_REPLICAS:
            return
        low, high = high, min(2 * high, MOST_REPLICAS)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if on(middle).status == "within" else (middle, high)
    yield KnobChange(REPLICAS, now, high, high - now, on(high))
