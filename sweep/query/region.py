"""A slice of a grid over two axes: the verdict of each cell, what limits it, its capacity, slack or any quantity."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sweep.engine.catalogue import bound_node, quantities
from sweep.engine.evaluate import Evaluation, narrowed
from sweep.engine.largest import CAPACITY, LIMITING, at_scales, configuration_dims, limiting_masks
from sweep.engine.opening import Array
from sweep.engine.verdict import MaskMaker, reason_array, reported_rules
from sweep.errors import RefusedSize, UsageFault
from sweep.grid.faults import nearest
from sweep.grid.model import Axis, Grid
from sweep.kernels.nodes import BOUND_OF_BIT, FIGURE_OF_BIT
from sweep.query.cell import Cell, codes_of
from sweep.query.explain import Filled, Located, locate
from sweep.query.select import RATE, At
from sweep.records.bounds import CONTRACT_BOUNDS
from sweep.records.codes import INVALID_MASK, INVALID_REASONS
from sweep.records.wording import CLAIM
from sweep.store.layout import slab_shape, slabs, unit_of
from sweep.units import grouped

VERDICT, LIMIT, SLACK, MASK, REASON = "verdict", "limit", "slack", "violations", "invalid_reason"
VERDICTS = ("within", "rejected", "invalid")
"""What a cell is; the index is its number in `RegionAnswer.verdict`."""

MAX_CELLS = 2**22
"""The largest slice that is made: 2048 by 2048."""

UNDEFINED = -1
"""A quantity of an invalid cell, as in the result file."""

NO_SLACK = -(2**63)
"""The slack of an invalid cell: no defined one is as low, while every other integer may be one."""

_BOUNDS = {str(bound).rpartition(".")[2]: bit for bit, bound in enumerate(BOUND_OF_BIT) if bound}
_OF_CONFIGURATION = ("capacity", CAPACITY, LIMITING)


@dataclass(frozen=True)
class RegionAnswer:
    """The answer of `region`: arrays with a row per value of y and a column per value of x."""

    show: str
    """What `values` are: `verdict`, `limit`, `capacity`, `slack:BOUND`, or a variable of a result."""
    x: Axis
    y: Axis
    at: Mapping[str, int | str]
    """Every other axis with the value that holds for the slice; without the traffic where it has no say."""
    filled: Filled
    """Where the axes that the question left open took their values from."""
    filled_axes: tuple[str, ...]
    values: Array
    """Integers; masks and codes as uint16 and uint8, Python ints where a value is beyond int64.

    With `limit` a mask: what a cell breaks; what stops the next permille of a feasible cell's configuration (0 where
    nothing does); 0x8000 of an invalid cell.
    """
    verdict: Array
    """Per cell an index of `VERDICTS`, uint8; with a capacity, of the configuration at that traffic, or at 1 ‰."""
    reason: Array
    """Per cell the invalid reason, uint8, 0 where it is valid."""
    largest: Cell | None
    """The largest feasible point of the grid under the question's `at`, where it lies on the slice's other axes."""
    mark: tuple[int, int] | None
    """Its row and column; along the traffic axis the last value that it carries."""
    units: str

    @property
    def undefined(self) -> Array | None:
        """Which values mean nothing, since their cells are invalid; None where every value means something."""
        kept = (VERDICT, LIMIT, MASK, REASON, *_OF_CONFIGURATION)
        return None if self.show in kept else np.asarray(self.verdict == VERDICTS.index("invalid"))

    def as_json(self) -> dict[str, Any]:
        """With stable keys: `values` has a row per label of y; null where a value is undefined."""
        answer: dict[str, Any] = {"show": self.show, "x": self.x.name, "y": self.y.name, "at": dict(self.at)}
        answer["filled"] = {"from": self.filled, "axes": list(self.filled_axes)}
        answer["labels"] = {axis.name: list(axis.labels) for axis in (self.x, self.y)}
        verdicts = [[VERDICTS[one] for one in row] for row in self.verdict.tolist()]
        if self.show == VERDICT:
            answer["values"] = verdicts
        else:
            rows = self.values.astype(object)
            if self.undefined is not None:
                rows[self.undefined] = None
            answer["values"] = rows.tolist()
            answer["verdict"] = verdicts
        if self.show in (VERDICT, LIMIT):
            names = [None, *INVALID_REASONS[1:]]
            answer["invalid_reason"] = [[names[one] for one in row] for row in self.reason.tolist()]
        if self.show in (LIMIT, MASK, LIMITING):
            masks = sorted({int(mask) for mask in np.unique(self.values)} - {0, INVALID_MASK})
            answer["codes"] = {str(mask): codes_of(mask) for mask in masks}
        answer["largest"] = None if self.largest is None else dict(self.largest.point)
        return answer | {"claim": CLAIM}


def find_region(grid: Grid, ev: Evaluation, x: str, y: str, at: At | None = None, show: str = VERDICT) -> RegionAnswer:
    """A slice over two axes.

    Axes that are neither x, y nor fixed take the values of the largest feasible point among what `at` leaves, the
    traffic its exact scale; `sweep.query.explain.locate` says what they take where nothing is feasible.

    Args:
        grid: the grid.
        ev: its evaluation.
        x: the axis of the columns (name, path or alias).
        y: the axis of the rows.
        at: other axes to fix, name -> value; the traffic scale may be off its axis.
        show: `verdict`, `limit`, `capacity`, `slack:BOUND`, or any variable of a result.

    Raises:
        UsageFault: an unknown axis, value, bound or quantity, one axis as both, x or y fixed, or the traffic where a
            capacity is shown; all faults at once.
        RefusedSize: more than 2^22 cells.
    """
    columns, rows = _checked(grid, ev, x, y, at, show)
    x_axis, y_axis = grid.axes[columns], grid.axes[rows]
    if len(x_axis) * len(y_axis) > MAX_CELLS:
        raise RefusedSize(
            f"the slice has {grouped(len(x_axis))} by {grouped(len(y_axis))} cells, more than the "
            f"{grouped(MAX_CELLS)} that are made at once; take another axis, or thin one out."
        )
    found = locate(grid, ev, at)
    part = _slice(grid, ev, found, (columns, rows), show)
    flat = [_over(one, columns, rows) for one in _tables(part, show, grid.admission_control_enabled)]
    without = {columns, rows} | ({len(grid.axes) - 1} if show in _OF_CONFIGURATION else set())
    names = [axis.name for position, axis in enumerate(grid.axes) if position not in without]
    is_point = found.cell.status == "within" and found.filled in ("largest-point", "nothing")
    return RegionAnswer(
        show=show,
        x=x_axis,
        y=y_axis,
        at={name: found.cell.point[name] for name in names},
        filled=found.filled,
        filled_axes=tuple(name for name in found.open_axes if name in names),
        values=flat[0],
        verdict=flat[1],
        reason=flat[2],
        largest=found.cell if is_point else None,
        mark=_mark(grid, found.cell, rows, columns) if is_point else None,
        units=_units(ev, show),
    )


def _checked(grid: Grid, ev: Evaluation, x: str, y: str, at: At | None, show: str) -> tuple[int, int]:
    """The positions of x and y."""
    faults: list[str] = []
    places = []
    for option, name in (("--x", x), ("--y", y)):
        try:
            places.append(grid.position(name))
        except UsageFault as fault:
            faults += [f"{option} {name}: {sentence}" for sentence in fault.faults]
    faults += _wrong_show(ev, show)
    last = len(grid.axes) - 1
    fixed = {_position(grid, name): name for name in at or {}}
    if len(places) == 2 and places[0] == places[1]:
        faults.append(f"--x {x} --y {y}: one axis as both; name two axes.")
    else:
        faults += [
            f"--at {fixed[place]}: the slice spans this axis; take it out, or another one for {option}."
            for option, place in zip(("--x", "--y"), places, strict=False)
            if place in fixed
        ]
    if show in _OF_CONFIGURATION and last in (*places, *fixed):
        faults.append(
            f"--show {show}: it says which traffic each configuration carries; leave the traffic out of --x, --y and "
            f"--at."
        )
    if faults:
        raise UsageFault(faults)
    return places[0], places[1]


def _position(grid: Grid, name: str) -> int:
    """The axis that `at` fixes, -1 for an unknown one: whoever selects has the sentence for it."""
    try:
        by_rate = name == RATE and RATE not in [axis.name for axis in grid.axes]
        return len(grid.axes) - 1 if by_rate else grid.position(name)
    except UsageFault:
        return -1


def _wrong_show(ev: Evaluation, show: str) -> list[str]:
    if show == SLACK or show.startswith(f"{SLACK}:"):
        bound = show[len(SLACK) + 1 :]
        if bound in _BOUNDS:
            return []
        close = f", the nearest is {nearest(bound, list(_BOUNDS))}" if bound else ""
        return [f"--show {show}: wanted the bound whose slack it is{close}; write slack:BOUND, {', '.join(_BOUNDS)}."]
    known = [VERDICT, LIMIT, SLACK, MASK, REASON, *_OF_CONFIGURATION, *[quantity.name for quantity in quantities(ev)]]
    if show in known:
        return []
    return [f"--show {show}: no such quantity; the nearest is {nearest(show, known)}, and `sweep info` lists them."]


def _slice(grid: Grid, ev: Evaluation, found: Located, spans: tuple[int, int], show: str) -> Evaluation:
    """The evaluation of the slice; where the traffic is no axis of it, at the point's own scale."""
    last = len(grid.axes) - 1
    region = [
        slice(0, n) if place in spans else slice(at, at + 1)
        for place, (n, at) in enumerate(zip(grid.shape, _index(grid, found.cell), strict=True))
    ]
    part = ev.tile(tuple(region))
    if last in spans:
        return part
    scale = 1 if show in _OF_CONFIGURATION else int(found.cell.fields["traffic.scale_permille"])
    return at_scales(part, np.full((1,) * len(grid.axes), scale, dtype=np.int64), frozenset())


def _index(grid: Grid, cell: Cell) -> list[int]:
    """One index per axis; along the traffic axis 0, where the cell's own scale holds instead."""
    return [*(axis.index(cell.point[axis.name]) for axis in grid.axes[:-1]), 0]


def _mark(grid: Grid, cell: Cell, rows: int, columns: int) -> tuple[int, int] | None:
    """Row and column of the largest point; None where its scale is below the traffic axis."""
    index = _index(grid, cell)
    scale = int(cell.fields["traffic.scale_permille"])
    index[-1] = bisect_right(grid.axes[-1].values, scale) - 1
    return None if min(index[rows], index[columns]) < 0 else (index[rows], index[columns])


def _over(values: Array, columns: int, rows: int) -> Array:
    """An array of the slice as rows and columns."""
    wide = values.reshape([n for place, n in enumerate(values.shape) if place in (columns, rows)])
    return wide.T if columns < rows else wide


def _tables(part: Evaluation, show: str, admission: bool) -> tuple[Array, Array, Array]:
    """Values, verdicts and invalid reasons over the slice."""
    tables: list[Array] = [np.zeros(part.lengths, dtype=dtype) for dtype in (np.int64, np.uint8, np.uint8)]
    for region, *tiles in _tiles(part, show, admission):
        for at, tile in enumerate(tiles):
            if tile.dtype == object and tables[at].dtype != object:
                tables[at] = tables[at].astype(object)
            tables[at][region] = tile
    small = {LIMIT: np.uint16, MASK: np.uint16, LIMITING: np.uint16, VERDICT: np.uint8, REASON: np.uint8}
    return tables[0].astype(small.get(show, tables[0].dtype), copy=False), tables[1], tables[2]


def _tiles(part: Evaluation, show: str, admission: bool) -> Iterator[tuple[tuple[slice, ...], Array, Array, Array]]:
    for region in slabs(part.lengths, slab_shape(part.lengths)):
        tile = part.tile(region)
        if show in _OF_CONFIGURATION:
            carried = np.maximum(narrowed(tile.get(CAPACITY)), 1)
            judged = at_scales(tile, np.broadcast_to(carried, tile.lengths), configuration_dims(tile))
        else:
            judged = tile
        reported = reported_rules(judged)
        mask = MaskMaker(judged, reported, admission).make(tuple(slice(0, n) for n in judged.lengths))
        verdict = np.where(mask == 0, 0, np.where(mask == INVALID_MASK, 2, 1)).astype(np.uint8)
        reason = np.broadcast_to(reason_array(judged, reported), tile.lengths)
        values = np.broadcast_to(_values(tile, show, mask, verdict, reason, admission), tile.lengths)
        yield region, values, verdict, reason


def _values(tile: Evaluation, show: str, mask: Array, verdict: Array, reason: Array, admission: bool) -> Array:
    """What a tile shows."""
    if show in (VERDICT, MASK, REASON):
        return {VERDICT: verdict, MASK: mask, REASON: reason}[show]
    if show in ("capacity", CAPACITY):
        return narrowed(tile.get(CAPACITY))
    if show in (LIMIT, LIMITING):
        shape = (*tile.lengths[:-1], 1)
        limiting = limiting_masks(tile, np.broadcast_to(narrowed(tile.get(CAPACITY)), shape), admission)
        return limiting if show == LIMITING else np.where(mask == 0, limiting, mask)
    invalid = verdict == VERDICTS.index("invalid")
    if show.startswith(SLACK):
        name = show[len(SLACK) + 1 :]
        bit = _BOUNDS[name]
        bound = bound_node(name) if name in CONTRACT_BOUNDS else str(BOUND_OF_BIT[bit])
        return narrowed(np.where(invalid, NO_SLACK, tile.get(bound) - tile.get(str(FIGURE_OF_BIT[bit]))))
    node = next(quantity.node for quantity in quantities(tile) if quantity.name == show)
    return narrowed(np.where(invalid, UNDEFINED, tile.get(node)))


def _units(ev: Evaluation, show: str) -> str:
    if show.startswith(SLACK):
        return unit_of(show[len(SLACK) + 1 :])
    if show in ("capacity", CAPACITY):
        return "1e-3"
    return next((quantity.units for quantity in quantities(ev) if quantity.name == show), "1")
