"""The largest SLO-feasible operating point, and what stands around it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sweep.engine.catalogue import quantities
from sweep.engine.evaluate import Evaluation
from sweep.engine.largest import CAPACITY
from sweep.errors import UsageFault
from sweep.grid.model import Grid
from sweep.query.around import Neighbour, holes, neighbours
from sweep.query.cell import Cell, cell_at, codes_of
from sweep.query.declared import configurations_of, is_counted
from sweep.query.nearest import Change, smallest_changes
from sweep.query.obstacles import Obstacles, obstacles
from sweep.query.rank import Objective, objectives_of, ranked
from sweep.query.select import At, Selection, select
from sweep.records.wording import CLAIM
from sweep.units import grouped


@dataclass(frozen=True)
class BestAnswer:
    """The answer of `best`; where nothing is feasible `smallest_changes` and `obstacles` say why."""

    cell: Cell | None
    """The operating point, at its exact traffic scale."""
    limiting: Cell | None
    """The same with one permille more traffic."""
    on_grid: Cell | None
    """The best cell among the traffic axis' own values."""
    neighbours: tuple[Neighbour, ...]
    holes: dict[str, list[int | str]]
    cells: int
    """How many cells the answer decides."""
    configurations: int
    """How many configurations (cells at one traffic scale) the answer decides."""
    top: tuple[Cell, ...]
    """The first points in the order; the first is `cell`."""
    selection: Selection
    """What `at` left."""
    smallest_changes: tuple[Change, ...] = ()
    """Per bound the smallest rise that would admit a point; the relatively smallest first."""
    obstacles: Obstacles | None = None
    """What stands in the way; None where something is feasible, or the configurations are too many to be counted."""
    causes: Mapping[str, Mapping[str, int]] | None = None
    """How many configurations each cause decides (`sweep.query.certificate`); None where nobody asked, or the
    configurations are too many to be counted."""

    @property
    def feasible(self) -> bool:
        """Whether any operating point is within all bounds."""
        return self.cell is not None

    def as_json(self) -> dict[str, Any]:
        """With the stable keys of the definition."""
        answer: dict[str, Any] = {"feasible": self.feasible}
        answer["point"] = None if self.cell is None else dict(self.cell.point)
        answer["report"] = None if self.cell is None else self.cell.report_json()
        answer["slack"] = None if self.cell is None else self.cell.slack
        answer["limiting_violations"] = [] if self.limiting is None else codes_of(self.limiting.verdict.violations)
        if self.limiting is not None and self.limiting.invalid_reason:
            answer["limiting_invalid_reason"] = self.limiting.invalid_reason
        answer["on_grid"] = _brief(self.on_grid)
        answer["decided"] = {"cells": self.cells, "configurations": self.configurations}
        if self.causes is not None:
            answer["decided"]["by"] = {kind: dict(counts) for kind, counts in self.causes.items()}
        answer["neighbours"] = [neighbour.as_json() for neighbour in self.neighbours]
        answer["holes"] = self.holes
        if len(self.top) > 1:
            answer["top"] = [_brief(cell) for cell in self.top]
        if not self.feasible:
            answer["smallest_change"] = self.smallest_changes[0].as_json() if self.smallest_changes else None
            answer["smallest_changes"] = [change.as_json() for change in self.smallest_changes]
            answer["obstacles"] = None if self.obstacles is None else self.obstacles.as_json()
            answer["counted"] = self.obstacles is not None
        answer["traffic_millirps"] = None if self.cell is None else self.cell.traffic_millirps
        answer["claim"] = CLAIM
        return answer


def _brief(cell: Cell | None) -> dict[str, Any] | None:
    return None if cell is None else {"point": dict(cell.point), "report": cell.report_json()}


def find_best(
    grid: Grid,
    ev: Evaluation,
    at: At | None = None,
    objectives: Sequence[tuple[str, str]] = (),
    top: int = 1,
    on_grid: bool = False,
) -> BestAnswer:
    """The first feasible operating points of a grid, in order.

    Args:
        grid: the grid.
        ev: its evaluation.
        at: axes to fix, name -> value; the traffic scale may be off its axis.
        objectives: ("maximize" | "minimize", axis or quantity) pairs, first most important; then the default order.
        top: how many points, at least 1.
        on_grid: take the traffic scale from the axis' own values.

    Raises:
        UsageFault: an unknown axis, value or objective, `top` below 1, or `on_grid` with a traffic off its axis.
    """
    if top < 1:
        raise UsageFault(f"--top {top}: the number of points is at least 1; leave --top out for one.")
    selection = select(grid, at)
    wanted = _wanted(grid, ev, objectives)
    if on_grid:
        _refuse_off_axis(grid, selection)
    own = ranked(grid, ev, selection, wanted, 1, on_grid=True)
    found = ranked(grid, ev, selection, wanted, top, on_grid)
    configurations, traffic = configurations_of(selection), selection.region[-1]
    cells = configurations * (traffic.stop - traffic.start) if selection.scale_permille is None else configurations
    if not found and not is_counted(selection):
        return BestAnswer(None, None, None, (), {}, cells, configurations, (), selection)
    if not found:
        changes, why = smallest_changes(grid, ev, selection), obstacles(grid, ev, selection)
        if selection.scale_permille is None:  # none of the axis' own values; between or below them there may be one
            exact = ranked(grid, ev, selection)
            carried = cell_at(grid, exact[0].index, exact[0].scale_permille) if exact else None
            why = replace(why, carried=carried)
        return BestAnswer(None, None, None, (), {}, cells, configurations, (), selection, changes, why)
    first = found[0]
    points = tuple(cell_at(grid, point.index, point.scale_permille) for point in found)
    return BestAnswer(
        cell=points[0],
        limiting=cell_at(grid, first.index, first.scale_permille + 1),
        on_grid=cell_at(grid, own[0].index, own[0].scale_permille) if own else None,
        neighbours=neighbours(grid, first.index, first.scale_permille),
        holes=holes(grid, ev, first.index, first.scale_permille),
        cells=cells,
        configurations=configurations,
        top=points,
        selection=selection,
    )


def _refuse_off_axis(grid: Grid, selection: Selection) -> None:
    """Raise UsageFault where the traffic is fixed at what is no value of its axis."""
    axis, scale = grid.axes[-1], selection.scale_permille
    if scale is not None and scale not in axis.values:
        raise UsageFault(f"--on-grid: {grouped(scale)} is no value of the traffic axis; {axis.nearest(scale)}.")


def _wanted(grid: Grid, ev: Evaluation, objectives: Sequence[tuple[str, str]]) -> tuple[Objective, ...]:
    """The objectives, each an axis or a quantity.

    Raises:
        UsageFault: some are not, all at once; a field that could be an axis says how to make it one.
    """
    known = [*(quantity.name for quantity in quantities(ev)), CAPACITY]
    found: list[Objective] = []
    faults: list[str] = []
    for sense, name in objectives:
        try:
            if name not in known:
                grid.position(name)
        except UsageFault:
            faults.append(f"--{sense} {name}: {grid.no_axis(name, known, 'axis or quantity')}")
            continue
        try:
            found += objectives_of(grid, ev, [(sense, name)])
        except UsageFault as fault:
            faults += fault.faults
    if faults:
        raise UsageFault(faults)
    return tuple(found)
