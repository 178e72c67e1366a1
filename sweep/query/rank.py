"""Feasible operating points in an order: the default one, or objectives first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from sweep.engine.catalogue import quantities
from sweep.engine.evaluate import Evaluation, narrowed
from sweep.engine.largest import CAPACITY, CHUNK, SHARE, SLOTS, Point, at_scales, capacity_blocks, configuration_dims
from sweep.engine.opening import Array, int64_values
from sweep.engine.plan import MAX_CELLS, MAX_CONFIGURATIONS
from sweep.errors import RefusedSize, UsageFault
from sweep.grid.faults import nearest
from sweep.grid.model import Grid
from sweep.query.declared import configurations_of, is_searched, searched
from sweep.query.select import Selection, restricted
from sweep.store.layout import slab_shape, slabs
from sweep.units import grouped

MAXIMIZE, MINIMIZE = "maximize", "minimize"
Column = Callable[[Array], Array]


@dataclass(frozen=True)
class Objective:
    """Something to rank by: an axis (by its position) or a quantity (by its node)."""

    sense: str
    name: str
    axis: int | None = None
    node: str | None = None

    @property
    def sign(self) -> int:
        """What makes smaller better."""
        return -1 if self.sense == MAXIMIZE else 1


@dataclass(frozen=True, order=True)
class Ranked:
    """A feasible operating point with its place in the order; smaller keys come first."""

    key: tuple[int, ...]
    index: tuple[int, ...]
    """One index per axis; along traffic that of the scale where the axis has it, else 0."""
    scale_permille: int


@dataclass(frozen=True)
class Block:
    """Part of the grid at which points are ranked: per point a traffic scale, and whether it is feasible."""

    offset: tuple[int, ...]
    feasible: Array
    scales: Array
    evaluation: Evaluation
    """The kernels at those scales."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The block's full shape; 1 along traffic where each configuration has one scale."""
        lengths = (*self.evaluation.lengths[:-1], 1)
        return np.broadcast_shapes(self.feasible.shape, self.scales.shape, lengths)

    def pool(self) -> Array:
        """The feasible points as flat positions in C order."""
        return np.flatnonzero(np.broadcast_to(self.feasible, self.shape))

    def indices(self, grid: Grid, selection: Selection, flat: Array) -> list[Array]:
        """Per axis the grid's indices of some points; along traffic 0 where the axis has not their scale."""
        places = np.unravel_index(flat, self.shape)
        found = [place + (a + b) for place, a, b in zip(places, self.offset, selection.offset, strict=True)]
        scales = np.broadcast_to(self.scales, self.shape).reshape(-1)[flat]
        axis = traffic_values(grid)
        at = np.minimum(np.searchsorted(axis, scales), axis.size - 1)
        found[-1] = np.where(axis[at] == scales, at, 0)
        return found


def objectives_of(grid: Grid, ev: Evaluation, wanted: Sequence[tuple[str, str]]) -> tuple[Objective, ...]:
    """Resolve (sense, name) pairs; names are axes (short, path or alias) or quantities of the result.

    Raises:
        UsageFault: an unknown name, or an axis of choices, which has no order.
    """
    nodes = {quantity.name: quantity.node for quantity in quantities(ev)}
    known = [axis.name for axis in grid.axes if not axis.is_choice] + list(nodes)
    found, faults = [], []
    for sense, name in wanted:
        if name in nodes:
            found.append(Objective(sense, name, node=nodes[name]))
            continue
        try:
            position = len(grid.axes) - 1 if name == CAPACITY else grid.position(name)
        except UsageFault:
            faults.append(
                f"--{sense} {name}: no such axis or quantity; the nearest is {nearest(name, known)}, and "
                f"`sweep info` lists them all."
            )
            continue
        if grid.axes[position].is_choice:
            faults.append(f"--{sense} {name}: the choices of an axis have no order; fix it with --at {name}=… instead.")
            continue
        found.append(Objective(sense, grid.axes[position].name, axis=position))
    if faults:
        raise UsageFault(faults)
    return tuple(found)


def ranked(
    grid: Grid,
    ev: Evaluation,
    selection: Selection,
    objectives: Sequence[Objective] = (),
    top: int = 1,
    on_grid: bool = False,
) -> list[Ranked]:
    """The first `top` feasible operating points of a selection, in order; fewer where fewer are feasible.

    With no objectives, or traffic maximised first, each configuration counts once, at its exact largest scale (with
    `on_grid` at the largest value of the traffic axis that it carries). With other objectives the grid's own cells
    are ranked. Ties fall to the default order.
    """
    last = len(grid.axes) - 1
    exact = not objectives or (objectives[0].axis == last and objectives[0].sense == MAXIMIZE)
    part = restricted(ev, selection)
    if on_grid and selection.scale_permille is not None and selection.scale_permille not in grid.axes[last].values:
        return []
    default = not objectives or (exact and len(objectives) == 1)  # traffic alone is what the default order begins with
    if default and is_searched(selection):
        points = searched(part, selection, traffic_values(grid)[selection.region[-1]], top, on_grid)
        return [Ranked(point.key, _cell_of(grid, point), point.scale_permille) for point in points]
    refuse_large(selection, walks_traffic=not exact and selection.scale_permille is None)
    if selection.scale_permille is not None:
        blocks = _blocks_at(part, selection.scale_permille)
    elif exact and not on_grid:
        blocks = _exact_blocks(part)
    elif exact:
        blocks = _floor_blocks(part)
    else:
        blocks = _cell_blocks(part)
    best: list[Ranked] = []
    for block in blocks:
        found = first_of(grid, selection, block, objectives, top)
        best = sorted(best + found)[:top] if found else best
    return best


def _cell_of(grid: Grid, point: Point) -> tuple[int, ...]:
    """A point's index with that of its scale on the traffic axis, 0 where the axis has not the scale."""
    axis = grid.axes[-1].values
    return (*point.index, axis.index(point.scale_permille) if point.scale_permille in axis else 0)


def refuse_large(selection: Selection, walks_traffic: bool) -> None:
    """Raise RefusedSize where a question would walk more cells or configurations than a person waits for."""
    configurations = configurations_of(selection)
    cells = configurations * (selection.region[-1].stop - selection.region[-1].start)
    if configurations > MAX_CONFIGURATIONS:
        raise RefusedSize(
            f"the selection spans {grouped(configurations)} configurations, more than the "
            f"{grouped(MAX_CONFIGURATIONS)} that this question walks; fix an axis with --at or thin one out."
        )
    if walks_traffic and cells > MAX_CELLS:
        raise RefusedSize(
            f"the selection spans {grouped(cells)} cells, more than the {grouped(MAX_CELLS)} that this question walks; "
            f"fix the traffic or another axis with --at, or thin one out."
        )


def _exact_blocks(ev: Evaluation) -> Iterator[Block]:
    for region, capacity in capacity_blocks(ev):
        scales = np.maximum(capacity, 1)
        at = at_scales(ev.tile(region), scales, configuration_dims(ev))
        yield Block(_starts(region), capacity >= 1, scales, at)


def _blocks_at(ev: Evaluation, scale: int) -> Iterator[Block]:
    for region, capacity in capacity_blocks(ev):
        scales = np.full((1,) * capacity.ndim, scale, dtype=np.int64)
        yield Block(_starts(region), capacity >= scale, scales, at_scales(ev.tile(region), scales, frozenset()))


def _floor_blocks(ev: Evaluation) -> Iterator[Block]:
    axis = _traffic(ev)
    for region, capacity in capacity_blocks(ev):
        below = np.searchsorted(axis, capacity, side="right")
        scales = axis[np.maximum(below - 1, 0)]
        at = at_scales(ev.tile(region), scales, configuration_dims(ev))
        yield Block(_starts(region), below >= 1, scales, at)


def traffic_values(grid: Grid) -> Array:
    """The traffic axis' values, int64."""
    return int64_values(grid.axes[-1].values)


def _cell_blocks(ev: Evaluation) -> Iterator[Block]:
    axis = _traffic(ev)
    for region in slabs(ev.lengths, slab_shape(ev.lengths, ev.tile_values)):
        part = ev.tile(region)
        scales = axis[region[-1]].reshape((1,) * (len(region) - 1) + (-1,))
        yield Block(_starts(region), part.get(CAPACITY) >= scales, scales, part)


def _traffic(ev: Evaluation) -> Array:
    return ev.get("traffic.scale_permille").reshape(-1)


def _starts(region: Sequence[slice]) -> tuple[int, ...]:
    return tuple(s.start or 0 for s in region)


def first_of(grid: Grid, selection: Selection, block: Block, objectives: Sequence[Objective], top: int) -> list[Ranked]:
    """The first points of a block: whoever is strictly ahead in a column is in, ties go on to the next column."""
    pool = block.pool()
    if pool.size == 0:
        return []
    columns = _columns(grid, selection, block, objectives)
    chosen: list[Array] = []
    need = top
    for column in columns:
        if pool.size <= need:
            break
        values = column(pool)
        last_in = np.sort(values)[need - 1] if need > 1 else values.min()
        ahead = pool[values < last_in]
        chosen.append(ahead)
        need -= ahead.size
        pool = pool[values == last_in]
    flat = np.concatenate([*chosen, pool[:need]])
    keys = np.stack([column(flat).astype(object) for column in columns], axis=-1)
    scales = np.broadcast_to(block.scales, block.shape).reshape(-1)[flat]
    indices = block.indices(grid, selection, flat)
    points = [
        Ranked(tuple(int(k) for k in key), tuple(int(index[number]) for index in indices), int(scales[number]))
        for number, key in enumerate(keys)
    ]
    return sorted(points)


def objective_column(grid: Grid, selection: Selection, block: Block, objective: Objective) -> Column:
    """An objective's value at points of a block, negated where it is maximised, so that smaller is better."""
    if objective.axis == len(grid.axes) - 1:
        return _open_column(block.scales, block.shape, objective.sign)
    if objective.axis is not None:
        values = block.evaluation.inputs.arrays.get(grid.axes[objective.axis].path)
        if values is not None:
            return _open_column(values, block.shape, objective.sign)
        start = block.offset[objective.axis] + selection.offset[objective.axis]
        return _label_column(grid, objective.axis, block.shape, objective.sign, start)
    return _open_column(narrowed(block.evaluation.get(str(objective.node))), block.shape, objective.sign)


def _columns(grid: Grid, selection: Selection, block: Block, objectives: Sequence[Objective]) -> list[Column]:
    """What the order compares, first column first, smaller is better: objectives, then the default order."""
    others = range(SLOTS + 1, len(grid.axes) - 1)
    default = [(SLOTS, -1), (CHUNK, -1), (SHARE, 1), *[(other, 1) for other in others]]
    columns = [objective_column(grid, selection, block, objective) for objective in objectives]
    columns.append(_open_column(block.scales, block.shape, -1))
    # Axis values increase strictly, so an index ranks like its value.
    starts = [start + base for start, base in zip(block.offset, selection.offset, strict=True)]
    columns += [_index_column(axis, block.shape, sign, starts[axis]) for axis, sign in default]
    return columns


def _label_column(grid: Grid, axis: int, shape: tuple[int, ...], sign: int, start: int) -> Column:
    """The values of an axis that no kernel reads (a class' priority)."""
    labels = np.array([grid.axes[axis].label(start + i) for i in range(shape[axis])], dtype=np.int64)

    def column(flat: Array) -> Array:
        return sign * labels[np.unravel_index(flat, shape)[axis]]

    return column


def _index_column(axis: int, shape: tuple[int, ...], sign: int, start: int = 0) -> Column:
    def column(flat: Array) -> Array:
        return sign * (np.unravel_index(flat, shape)[axis] + start)

    return column


def _open_column(values: Array, shape: tuple[int, ...], sign: int) -> Column:
    def column(flat: Array) -> Array:
        if 16 * flat.size > prod(shape):
            # Most points are wanted: one copy of the block and a take cost less than their coordinates.
            return sign * np.broadcast_to(values, shape).reshape(-1)[flat]
        places = np.unravel_index(flat, shape)
        at: tuple[Any, ...] = tuple(p if n > 1 else 0 for p, n in zip(places, values.shape, strict=True))
        picked = values[at]
        return sign * np.broadcast_to(np.asarray(picked, dtype=values.dtype), flat.shape)

    return column
