"""Fixing axes: `--at axis=value`, traffic also off its axis."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from sweep.engine.evaluate import Evaluation
from sweep.engine.largest import at_scales, configuration_dims
from sweep.engine.verdict import dims_regions
from sweep.errors import UsageFault
from sweep.grid.model import Grid
from sweep.kernels.domain import SCALE_MAX_PERMILLE

At = Mapping[str, int | str]

RATE = "rps"
"""What `at` also takes for the traffic: the requests per second of all classes and replicas together, a decimal."""

_RATE = re.compile(r"([0-9][0-9_]{0,14})(?:\.([0-9]{1,3}))?")


@dataclass(frozen=True)
class Selection:
    """A rectangular part of a grid, and possibly one traffic scale instead of the traffic axis."""

    region: tuple[slice, ...]
    """Explicit slices, one per axis; a fixed axis has length 1."""
    scale_permille: int | None
    """The traffic scale that was asked for, on the axis or not."""
    wanted_millirps: int | None = None
    """The total arrivals that were asked for instead; the scale is the least that reaches them."""

    @property
    def offset(self) -> tuple[int, ...]:
        """The index of the region's first cell."""
        return tuple(s.start for s in self.region)

    def lowest_scale(self, grid: Grid) -> int:
        """The lowest traffic scale of the part."""
        return int(grid.axes[-1].values[self.region[-1].start]) if self.scale_permille is None else self.scale_permille


def select(grid: Grid, at: At | None = None) -> Selection:
    """The part of a grid that `at` leaves.

    Args:
        grid: the grid.
        at: axis name (short name, full path, dimension or alias) -> value; texts with units are taken. `rps` fixes
            the traffic by its total requests per second: the least scale whose arrivals reach them.

    Raises:
        UsageFault: an unknown axis, an axis given twice, or a value that the axis has not; all faults at once.
    """
    chosen: dict[int, int] = {}
    scale: int | None = None
    faults: list[str] = []
    seen: set[int] = set()
    rate: int | str | None = None
    for name, label in (at or {}).items():
        try:
            by_rate = name == RATE and RATE not in [axis.name for axis in grid.axes]
            position = len(grid.axes) - 1 if by_rate else _position(grid, name, label)
            if position in seen:
                raise UsageFault(
                    f"--at {name}={label}: the axis {grid.axes[position].name} is fixed twice; give it once."
                )
            seen.add(position)
            if by_rate:
                rate = label
            elif position == len(grid.axes) - 1:
                scale = _scale(grid, label)
            else:
                chosen[position] = grid.axes[position].index(label)
        except UsageFault as fault:
            faults.extend(fault.faults)
    if faults:
        raise UsageFault(faults)
    last = len(grid.axes) - 1
    wanted = None if rate is None else _millirps(rate)
    if wanted is not None:
        scale = _scale(grid, _scale_of_rate(grid, chosen, wanted))
    if scale is not None and scale in grid.axes[last].values:
        chosen[last] = grid.axes[last].index(scale)
    region = tuple(
        slice(chosen[i], chosen[i] + 1) if i in chosen else slice(0, length) for i, length in enumerate(grid.shape)
    )
    return Selection(region, scale, wanted)


def _position(grid: Grid, name: str, label: int | str) -> int:
    try:
        return grid.position(name)
    except UsageFault as fault:
        raise UsageFault(f"--at {name}={label}: {sentence}" for sentence in fault.faults) from None


def _scale(grid: Grid, label: int | str) -> int:
    """A traffic scale, on the axis or not, from 1 to 10^15."""
    scale = grid.axes[-1].number(label)
    if not 1 <= scale <= SCALE_MAX_PERMILLE:
        raise UsageFault(
            f"--at {grid.axes[-1].name}={label}: a traffic scale is a whole number of ‰ from 1 to 10^15 "
            f"(1000 is the traffic as declared)."
        )
    return scale


def _millirps(rate: int | str) -> int:
    match = _RATE.fullmatch(str(rate))
    found = 0 if match is None else int(match[1]) * 1000 + int((match[2] or "").ljust(3, "0"))
    if found < 1:
        raise UsageFault(
            f"--at {RATE}={rate}: wanted requests per second from 0.001 on, with at most three decimals, all classes "
            f"and replicas together; write --at {RATE}=12.5, say."
        )
    return found


def _scale_of_rate(grid: Grid, chosen: Mapping[int, int], wanted: int) -> int:
    """The least scale at which all classes together have at least the wanted arrivals; they never fall with it."""
    arrivals = []
    for class_id in grid.class_ids:
        path = f"class.{class_id}.arrival_millirps"
        arrival = grid.base[path]
        for position, axis in enumerate(grid.axes):
            if path not in axis.fields:
                continue
            if len(axis) > 1 and position not in chosen:
                raise UsageFault(
                    f"--at {RATE}: the arrivals vary along the axis {axis.name}; fix it too, or fix traffic instead."
                )
            arrival = axis.setting(chosen.get(position, 0)).get(path, arrival)
        arrivals.append(int(arrival))
    enough = -(-wanted * 1000 // sum(arrivals))
    reached = range(1, enough + 1)
    return reached[bisect_left(reached, wanted, key=lambda scale: sum(-(-each * scale // 1000) for each in arrivals))]


def free_traffic(grid: Grid, selection: Selection) -> Selection:
    """The same part with every value of the traffic axis."""
    return Selection((*selection.region[:-1], slice(0, len(grid.axes[-1]))), None)


def restricted(ev: Evaluation, selection: Selection) -> Evaluation:
    """The evaluation of the selected part."""
    return ev.tile(selection.region)


def configurations_at(ev: Evaluation, selection: Selection, scale: int) -> Iterator[tuple[Evaluation, tuple[int, ...]]]:
    """The selected configurations at one traffic scale, in blocks, each with the index of its first cell."""
    part = restricted(ev, selection)
    for region in dims_regions(part.lengths, configuration_dims(part), part.block_values):
        scales = np.full((1,) * len(part.lengths), scale, dtype=np.int64)
        offset = tuple((s.start or 0) + base for s, base in zip(region, selection.offset, strict=True))
        yield at_scales(part.tile(region), scales, frozenset()), offset
