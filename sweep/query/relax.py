"""What would help: the largest operating point with one bound loosened, or with one axis a step further.

The smallest loosening that lets the traffic grow by one permille, to t, is exact, since it is found per configuration
at t and the least is taken. Loosening a bound never mends another one, so a configuration is a candidate only where
its mask at t is that one bit. Without Little's law the bound must then rise to its figure. With concurrency from the
SLO a longer TTFT or TPOT bound also admits more sequences, so every other load only grows with it: the least bound
that its own figure keeps (for TPOT a least fixed point) is the only chance of that configuration, and whether the
others still hold is judged there (`sweep.query.nearest`). So the answer is exact although the largest point itself is
not monotone in these two bounds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sweep.engine.catalogue import bound_node
from sweep.engine.evaluate import Evaluation, narrowed
from sweep.engine.largest import CAPACITY, Point, configuration_dims, first_in_order
from sweep.engine.verdict import dims_regions, open_shape
from sweep.errors import SelfCheckFault
from sweep.grid.model import Axis, Grid
from sweep.kernels.nodes import SCALE
from sweep.query.cell import Cell, cell_at
from sweep.query.declared import is_counted, is_searched, searched
from sweep.query.nearest import mask_of, smallest_changes
from sweep.query.rank import ranked
from sweep.query.select import At, Selection, configurations_at, restricted, select
from sweep.records.bounds import CONTRACT_BOUNDS
from sweep.records.wording import CLAIM
from sweep.reference.judge import judge

KV = "max_kv_bytes"
BOUND_STEPS = ("one_unit", "ten_percent", "without", "smallest")
AXIS_STEPS = ("down", "same", "up")

Loosened = tuple[str, int]
"""A bound of the contract and what it is instead."""


@dataclass(frozen=True)
class Reached:
    """The largest operating point after one change."""

    to: int
    """What the bound is loosened to, or the value that the axis is fixed at."""
    change: int | None
    """By how much that is more than now; None where there is no now."""
    cell: Cell | None
    """The point, under the changed bound; None where nothing is feasible."""
    scale_permille: int
    """Its traffic scale, 0 without one."""
    gain_permille: int
    """How much more traffic than now, in ‰ of the declared traffic; negative where it is less."""

    def as_json(self) -> dict[str, Any]:
        """With stable keys."""
        return {
            "to": self.to,
            "change": self.change,
            "traffic_scale_permille": self.scale_permille,
            "gain_permille": self.gain_permille,
            "point": None if self.cell is None else dict(self.cell.point),
        }


@dataclass(frozen=True)
class Relief:
    """One bound, or one axis, and what changes of it alone would bring."""

    name: str
    now: int | None
    """The bound, or the axis' value at the largest point; None where there is none."""
    steps: dict[str, Reached | None]
    """`BOUND_STEPS` or `AXIS_STEPS` -> where it leads; None where there is no such step."""
    note: str = ""
    """Why there are no steps, or what stands for a bound from the memory model."""

    def as_json(self, kind: str) -> dict[str, Any]:
        """With stable keys; `kind` names what it is."""
        steps = {step: None if reached is None else reached.as_json() for step, reached in self.steps.items()}
        return {kind: self.name, "now": self.now, "note": self.note or None, **steps}


@dataclass(frozen=True)
class RelaxAnswer:
    """The answer of `relax`."""

    cell: Cell | None
    """The largest operating point as things are."""
    scale_permille: int
    """Its traffic scale, 0 where nothing is feasible."""
    next_scale_permille: int | None
    """What `smallest` reaches: one permille more; the lowest traffic of the selection where nothing is feasible; None
    where the traffic is fixed and carried already, or the configurations are too many to look at each."""
    bounds: tuple[Relief, ...]
    """The eight bounds of the contract."""
    counted: bool
    """Whether the configurations are few enough to look at each for the smallest step."""
    axes: tuple[Relief, ...]
    """Every axis of integers but traffic; none where nothing is feasible."""

    def as_json(self) -> dict[str, Any]:
        """With stable keys."""
        return {
            "feasible": self.cell is not None,
            "point": None if self.cell is None else dict(self.cell.point),
            "traffic_scale_permille": self.scale_permille,
            "next_scale_permille": self.next_scale_permille,
            "bounds": [relief.as_json("bound") for relief in self.bounds],
            "axes": [relief.as_json("axis") for relief in self.axes],
            "claim": CLAIM,
        }


def relax(grid: Grid, ev: Evaluation, at: At | None = None) -> RelaxAnswer:
    """What loosening each bound alone, and a step on each axis, does to the largest operating point.

    Each answer is that of a fresh run with `--set contract.<bound>=<value>`, and is judged by the reference. A bound
    from the memory model is loosened to an integer in its place, from what it is at the largest point. An axis takes
    its next value up or down while the others stay free (but for what `at` fixes).

    Args:
        grid: the grid.
        ev: its evaluation.
        at: axes to fix, name -> value; with the traffic fixed the question is only whether it can be carried.

    Raises:
        UsageFault: an unknown axis or value. RefusedSize: too many configurations.
    """
    selection = select(grid, at)
    found = ranked(grid, ev, selection)
    cell = cell_at(grid, found[0].index, found[0].scale_permille) if found else None
    now = Point(found[0].index[:-1], found[0].scale_permille) if found else None
    target = selection.lowest_scale(grid) if now is None else now.scale_permille + 1
    carried = now is not None and selection.scale_permille is not None
    wanted = None if carried or not is_counted(selection) else target
    return RelaxAnswer(
        cell=cell,
        scale_permille=0 if now is None else now.scale_permille,
        next_scale_permille=wanted,
        counted=is_counted(selection),
        bounds=tuple(_Bounds(grid, ev, selection, cell, now).reliefs(wanted)),
        axes=() if now is None else tuple(_axes(grid, ev, selection, now)),
    )


def largest_under(ev: Evaluation, selection: Selection, changes: Sequence[Loosened | None]) -> list[Point | None]:
    """The largest operating point of a selection under each of several changes (None: none), in one walk.

    Within a block only what reads the changed bound is computed again.
    """
    part = restricted(ev, selection)
    if is_searched(selection):
        axis = part.get(SCALE).reshape(-1)
        tops = [searched(_changed(part, change), selection, axis, 1, on_grid=False) for change in changes]
        return [points[0] if points else None for points in tops]
    dims = configuration_dims(part)
    best: list[Point | None] = [None] * len(changes)
    for region in dims_regions(part.lengths, dims, part.tile_values):
        tile = part.tile(region)
        offset = tuple((s.start or 0) + base for s, base in zip(region, selection.offset, strict=True))
        for number, change in enumerate(changes):
            capacity = narrowed(_changed(tile, change).get(CAPACITY))
            if selection.scale_permille is not None:
                capacity = np.where(capacity >= selection.scale_permille, selection.scale_permille, 0)
            found = first_in_order(np.broadcast_to(capacity, open_shape(tile.lengths, dims)), offset)
            before = best[number]
            if found is not None and (before is None or found.key < before.key):
                best[number] = found
    return best


def _changed(ev: Evaluation, change: Loosened | None) -> Evaluation:
    if change is None:
        return ev
    bound, value = change
    return ev.exchanged(bound_node(bound), np.full((1,) * len(ev.lengths), value, dtype=np.int64), frozenset())


class _Bounds:
    """The reliefs of the contract's bounds."""

    def __init__(self, grid: Grid, ev: Evaluation, selection: Selection, cell: Cell | None, now: Point | None) -> None:
        self._grid, self._ev, self._selection, self._cell = grid, ev, selection, cell
        self._scale = 0 if now is None else now.scale_permille
        self._free = [bound for bound in CONTRACT_BOUNDS if self._axis_of(bound) is None]
        self._now = {bound: self._value(bound) for bound in self._free}

    def _axis_of(self, bound: str) -> Axis | None:
        return next((axis for axis in self._grid.axes if f"contract.{bound}" in axis.fields), None)

    def _value(self, bound: str) -> int | None:
        if bound == KV and self._grid.from_memory:
            return None if self._cell is None else self._cell.bound(KV)
        value = self._grid.base[f"contract.{bound}"]
        assert isinstance(value, int)  # only the KV bound may be a text
        return value

    def reliefs(self, target: int | None) -> Iterator[Relief]:
        """One per bound, in the order of the contract; `target` is the scale that the smallest loosening reaches."""
        steps = {(bound, step): value for bound in self._free for step, value in self._steps(bound).items()}
        if target is not None:
            steps |= {(bound, "smallest"): value for bound, value in self._smallest(target).items()}
        changes = [(bound, value) for (bound, _), value in steps.items()]
        points = largest_under(self._ev, self._selection, changes)
        reached = {
            key: self._reached(bound, value, point)
            for key, (bound, value), point in zip(steps, changes, points, strict=True)
        }
        for bound in CONTRACT_BOUNDS:
            axis, found = self._axis_of(bound), {step: reached.get((bound, step)) for step in BOUND_STEPS}
            yield Relief(bound, self._now.get(bound), dict(found), _note(self._grid, bound, axis))

    def _steps(self, bound: str) -> dict[str, int]:
        now, upper = self._now[bound], CONTRACT_BOUNDS[bound][1]
        if now is None:
            return {"without": upper}
        more = {"one_unit": 1, "ten_percent": max(1, -(-now // 10)), "without": upper - now}
        return {step: min(now + by, upper) for step, by in more.items()}

    def _smallest(self, target: int) -> dict[str, int]:
        """Per bound the least value that admits a configuration at the target, where one does."""
        there = replace(self._selection, scale_permille=target)
        found = {change.bound: change.to_value for change in smallest_changes(self._grid, self._ev, there)}
        if self._grid.from_memory:
            found.pop(KV, None)
            held = least_kv_bytes(self._grid, self._ev, there, target)
            now = self._now.get(KV)
            lowest = 1 if now is None else now + 1
            if held is not None and lowest <= CONTRACT_BOUNDS[KV][1]:
                found[KV] = max(held, lowest)
        return {bound: found[bound] for bound in self._free if bound in found}

    def _reached(self, bound: str, value: int, point: Point | None) -> Reached:
        now = self._now[bound]
        change = None if now is None else value - now
        if point is None:
            return Reached(value, change, None, 0, -self._scale)
        scale = point.scale_permille
        fields = self._grid.fields((*point.index, 0)) | {f"contract.{bound}": value}
        verdict = _judged(self._grid, fields, scale)
        beyond = _judged(self._grid, fields, scale + 1).violations
        if verdict.violations or not (beyond or self._selection.scale_permille is not None):
            raise SelfCheckFault(
                f"with {bound} = {value} the largest traffic of the configuration {point.index} should be {scale}, but "
                f"the scalar reference does not agree; this is a bug of sweep, please report it"
            )
        labels = cell_at(self._grid, (*point.index, 0), scale).point
        cell = Cell(labels, {**fields, "traffic.scale_permille": scale}, verdict, self._grid.class_ids)
        return Reached(value, change, cell, scale, scale - self._scale)


def _judged(grid: Grid, fields: dict[str, Any], scale: int) -> Any:
    return judge({**fields, "traffic.scale_permille": scale}, grid.class_ids)


def _note(grid: Grid, bound: str, axis: Axis | None) -> str:
    if axis is not None and axis.is_choice:
        return f"is set by the choices of {axis.name}; compare them with --at {axis.name}=…"
    if axis is not None:
        return "is an axis; see the axes table"
    return "is from memory; an integer stands in its place" if bound == KV and grid.from_memory else ""


def least_kv_bytes(grid: Grid, ev: Evaluation, selection: Selection, scale: int) -> int | None:
    """The least integer KV bound, in place of the memory's, with which a configuration is feasible at a scale."""
    least = None
    for point, _ in configurations_at(ev, selection, scale):
        other = _changed(point, (KV, CONTRACT_BOUNDS[KV][1]))
        admitted = mask_of(grid, other) == 0
        if admitted.any():
            held = int(np.broadcast_to(narrowed(other.get("peak_kv_bytes")), admitted.shape)[admitted].min())
            least = held if least is None else min(least, held)
    return least


def _axes(grid: Grid, ev: Evaluation, selection: Selection, now: Point) -> Iterator[Relief]:
    """Per axis of integers the largest point with it fixed a step below its value, at it, and a step above."""
    for position, axis in enumerate(grid.axes[:-1]):
        if axis.is_choice:
            continue
        at = now.index[position]
        steps: dict[str, Reached | None] = {}
        for step, index in zip(AXIS_STEPS, (at - 1, at, at + 1), strict=True):
            if not 0 <= index < len(axis):
                steps[step] = None
                continue
            region = (*selection.region[:position], slice(index, index + 1), *selection.region[position + 1 :])
            (point,) = largest_under(ev, replace(selection, region=region), [None])
            change = axis.values[index] - axis.values[at]
            scale = 0 if point is None else point.scale_permille
            cell = None if point is None else cell_at(grid, (*point.index, 0), scale)
            steps[step] = Reached(axis.values[index], change, cell, scale, scale - now.scale_permille)
        yield Relief(axis.name, axis.values[at], steps)
