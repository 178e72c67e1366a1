"""The operating point that `explain` shows: what `--at` fixes, and where the open axes take their values from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sweep.engine.evaluate import Evaluation
from sweep.grid.model import Grid
from sweep.query.cell import Cell, cell_at
from sweep.query.rank import ranked
from sweep.query.select import At, Selection, free_traffic, select

Filled = Literal["nothing", "largest-point", "largest-capacity", "first-values"]


@dataclass(frozen=True)
class Located:
    """A cell, and how the axes that were left open got their values."""

    cell: Cell
    filled: Filled
    """`nothing` was open; else from the largest feasible point, from the configuration that carries the most though
    not the traffic that was asked for, or the first values, since no configuration carries anything."""
    open_axes: tuple[str, ...]
    """The names of the open axes."""
    carried_permille: int
    """With `largest-capacity` the largest traffic scale of that configuration, else 0."""
    selection: Selection


def locate(grid: Grid, ev: Evaluation, at: At | None = None) -> Located:
    """The operating point that `at` names.

    Axes that `at` leaves open take the values of the largest feasible point among what it leaves. Where nothing is
    feasible at the traffic that it fixes, they take those of the configuration with the largest capacity among what it
    leaves otherwise; and where no configuration carries anything, their first values.

    Raises:
        UsageFault: an unknown axis or value.
    """
    selection = select(grid, at)
    index = selection.offset
    spans = zip(grid.axes, selection.region, strict=True)
    names = tuple(axis.name for axis, span in spans if span.stop - span.start > 1)
    if selection.scale_permille is not None:
        names = tuple(name for name in names if name != grid.axes[-1].name)
    if not names:
        return Located(cell_at(grid, index, selection.scale_permille), "nothing", (), 0, selection)
    found = ranked(grid, ev, selection)
    if found:
        cell = cell_at(grid, found[0].index, found[0].scale_permille)
        return Located(cell, "largest-point", names, 0, selection)
    if selection.scale_permille is not None:
        most = ranked(grid, ev, free_traffic(grid, selection))
        if most:
            cell = cell_at(grid, most[0].index, selection.scale_permille)
            return Located(cell, "largest-capacity", names, most[0].scale_permille, selection)
    return Located(cell_at(grid, index, selection.scale_permille), "first-values", names, 0, selection)
