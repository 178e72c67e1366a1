"""Fixing axes: `--at axis=value`, traffic also off its axis."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sweep.engine.evaluate import Evaluation
from sweep.errors import UsageFault
from sweep.grid.model import Grid
from sweep.kernels.domain import SCALE_MAX_PERMILLE

At = Mapping[str, int | str]


@dataclass(frozen=True)
class Selection:
    """A rectangular part of a grid, and possibly one traffic scale instead of the traffic axis."""

    region: tuple[slice, ...]
    """Explicit slices, one per axis; a fixed axis has length 1."""
    scale_permille: int | None
    """The traffic scale that was asked for, on the axis or not."""

    @property
    def offset(self) -> tuple[int, ...]:
        """The index of the region's first cell."""
        return tuple(s.start for s in self.region)


def select(grid: Grid, at: At | None = None) -> Selection:
    """The part of a grid that `at` leaves.

    Args:
        grid: the grid.
        at: axis name (short name, full path, dimension or alias) -> value; texts with units are taken.

    Raises:
        UsageFault: an unknown axis, an axis given twice, or a value that the axis has not; all faults at once.
    """
    chosen: dict[int, int] = {}
    scale: int | None = None
    faults: list[str] = []
    seen: set[int] = set()
    for name, label in (at or {}).items():
        try:
            position = grid.position(name)
            if position in seen:
                raise UsageFault(
                    f"--at {name}={label}: the axis {grid.axes[position].name} is fixed twice; give it once."
                )
            seen.add(position)
            if position == len(grid.axes) - 1:
                scale = _scale(grid, label)
            else:
                chosen[position] = grid.axes[position].index(label)
        except UsageFault as fault:
            faults.extend(fault.faults)
    if faults:
        raise UsageFault(faults)
    last = len(grid.axes) - 1
    if scale is not None and scale in grid.axes[last].values:
        chosen[last] = grid.axes[last].index(scale)
    region = tuple(
        slice(chosen[i], chosen[i] + 1) if i in chosen else slice(0, length) for i, length in enumerate(grid.shape)
    )
    return Selection(region, scale)


def _scale(grid: Grid, label: int | str) -> int:
    """A traffic scale, on the axis or not, from 1 to 10^15."""
    scale = grid.axes[-1].number(label)
    if not 1 <= scale <= SCALE_MAX_PERMILLE:
        raise UsageFault(
            f"--at {grid.axes[-1].name}={label}: a traffic scale is a whole number of ‰ from 1 to 10^15 "
            f"(1000 is the traffic as declared)."
        )
    return scale


def restricted(ev: Evaluation, selection: Selection) -> Evaluation:
    """The evaluation of the selected part."""
    return ev.tile(selection.region)
