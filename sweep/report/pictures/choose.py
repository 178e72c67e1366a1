"""What a picture shows where nobody said: the two axes of a map, and the bound whose slack it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sweep.engine.evaluate import Evaluation
from sweep.engine.largest import CAPACITY, LIMITING
from sweep.errors import UsageFault
from sweep.grid.model import Grid
from sweep.grid.paths import TRAFFIC
from sweep.kernels.nodes import BOUND_OF_BIT
from sweep.query.cell import cell_at
from sweep.query.rank import ranked
from sweep.query.select import RATE, At, select
from sweep.records.codes import INVALID_MASK
from sweep.report.pictures.classes import first_bit

WITHOUT_TRAFFIC = ("capacity", CAPACITY, LIMITING)
"""What each configuration has once, whatever its traffic."""


def sides_of(
    grid: Grid, given: Sequence[str | None], at: Mapping[str, object], preferred: Sequence[str], show: str
) -> list[str]:
    """The axes across and up, by name: what was given, else the preferred ones, else the first with several values.

    Args:
        grid: the grid.
        given: what was asked for across and up, None where nothing was.
        at: the axes that are fixed, which are not taken.
        preferred: the axes to take first.
        show: what is shown; what each configuration carries has no traffic.
    """
    taken = {place for name in (*at, *(one for one in given if one is not None)) for place in _places(grid, name)}
    if show in WITHOUT_TRAFFIC:
        taken.add(len(grid.axes) - 1)
    names = dict.fromkeys((*preferred, *(axis.name for axis in grid.axes)))
    free = [name for name in names if grid.position(name) not in taken]
    free.sort(key=lambda name: len(grid.axis(name)) == 1)  # stable: one value shows nothing, so these come last
    found = []
    for option, name in zip(("--x", "--y"), given, strict=True):
        if name is None and not free:
            raise UsageFault(
                f"{option}: every axis is fixed or taken, and a map needs two; take an --at out, or name one with "
                f"{option}."
            )
        found.append(free.pop(0) if name is None else name)
    return found


def _places(grid: Grid, name: str) -> list[int]:
    """Where an axis is; nowhere for an unknown one: whoever asks the grid has the sentence for it."""
    try:
        return [grid.position(TRAFFIC if name == RATE else name)]
    except UsageFault:
        return []


def names_traffic(grid: Grid, names: Sequence[str | None]) -> bool:
    """Whether one of some axes is the traffic."""
    return any(len(grid.axes) - 1 in _places(grid, name) for name in names if name is not None)


def stopping_bound(grid: Grid, ev: Evaluation, at: At | None) -> str:
    """The bound that stops the largest point one permille higher; where nothing does, that of the first token."""
    found = ranked(grid, ev, select(grid, at))
    if found:
        beyond = cell_at(grid, found[0].index, found[0].scale_permille + 1).verdict.violations
        bound = None if beyond in (0, INVALID_MASK) else BOUND_OF_BIT[first_bit(beyond)]
        if bound is not None:
            return bound.rpartition(".")[2]
    return "max_ttft_ms"
