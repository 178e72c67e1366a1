"""What lies around an operating point: the next step up on every axis, and holes below it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sweep.engine.evaluate import Evaluation
from sweep.engine.largest import CAPACITY
from sweep.grid.model import Grid
from sweep.query.cell import Cell, cell_at, codes_of

Index = tuple[int, ...]


@dataclass(frozen=True)
class Neighbour:
    """The operating point one step up on one axis, the rest fixed."""

    axis: str
    value: int | str | None
    """The next value on the axis (traffic: one permille more); None at the axis' end."""
    cell: Cell | None

    def as_json(self) -> dict[str, Any]:
        """With stable keys; all but `axis` are null at the axis' end."""
        if self.cell is None:
            keys = ("value", "status", "invalid_reason", "violations", "over")
            return {"axis": self.axis, **dict.fromkeys(keys)}
        return {
            "axis": self.axis,
            "value": self.value,
            "status": self.cell.status,
            "invalid_reason": self.cell.invalid_reason,
            "violations": codes_of(self.cell.verdict.violations),
            "over": self.cell.over,
        }


def neighbours(grid: Grid, index: Index, scale_permille: int) -> tuple[Neighbour, ...]:
    """The next step up on each axis, in the order of the axes."""
    found = []
    for position, axis in enumerate(grid.axes[:-1]):
        step = index[position] + 1
        if step >= len(axis):
            found.append(Neighbour(axis.name, None, None))
            continue
        beyond = (*index[:position], step, *index[position + 1 :])
        found.append(Neighbour(axis.name, axis.label(step), cell_at(grid, beyond, scale_permille)))
    more = scale_permille + 1
    found.append(Neighbour(grid.axes[-1].name, more, cell_at(grid, index, more)))
    return tuple(found)


def holes(grid: Grid, ev: Evaluation, index: Index, scale_permille: int) -> dict[str, list[int | str]]:
    """Per axis the smaller values that are not feasible, the rest fixed and the traffic at the point's scale.

    Along traffic there are none: feasibility is a prefix (`sweep.kernels.thresholds`).
    """
    found: dict[str, list[int | str]] = {}
    for position, axis in enumerate(grid.axes[:-1]):
        line = [slice(i, i + 1) for i in index[:-1]] + [slice(0, len(grid.axes[-1]))]
        line[position] = slice(0, index[position])
        capacity = ev.tile(tuple(line)).get(CAPACITY).reshape(-1) if index[position] else np.zeros(0, dtype=np.int64)
        capacity = np.broadcast_to(capacity, (index[position],))
        found[axis.name] = [axis.label(int(i)) for i in np.flatnonzero(capacity < scale_permille)]
    found[grid.axes[-1].name] = []
    return found
