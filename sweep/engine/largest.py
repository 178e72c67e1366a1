"""The largest SLO-feasible operating point, from the exact capacity of every configuration."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sweep.engine.evaluate import Evaluation
from sweep.engine.opening import Array, Dims
from sweep.engine.parts import assembled
from sweep.engine.verdict import MaskMaker, dims_regions, reported_rules
from sweep.kernels.nodes import SCALE

SHARE, CHUNK, SLOTS = 0, 1, 2
"""Positions of three standing axes in the canonical order; traffic is last."""

CAPACITY = "max_traffic_scale_permille"
LIMITING = "limiting_violations"


@dataclass(frozen=True)
class Point:
    """A configuration of a grid with a traffic scale on or off the axis."""

    index: tuple[int, ...]
    """One index per axis but traffic, in canonical order."""
    scale_permille: int
    """The exact traffic scale; 0 never occurs, a configuration that carries nothing is no point."""

    @property
    def key(self) -> tuple[int, ...]:
        """Sorts in the default order: the larger operating point first."""
        share, chunk, slots, *others = self.index
        return (-self.scale_permille, -slots, -chunk, share, *others)


def configuration_dims(ev: Evaluation) -> Dims:
    """Every axis but traffic."""
    return frozenset(range(len(ev.lengths) - 1))


def capacity_blocks(ev: Evaluation) -> Iterator[tuple[tuple[slice, ...], Array]]:
    """The largest feasible scale of every configuration, int64, block by block in C order (0: none).

    Each block spans all axes but traffic, along which it has length 1.
    """
    dims = configuration_dims(ev)
    for region in dims_regions(ev.lengths, dims, ev.block_values):
        yield region, assembled(ev, region, CAPACITY, dims)


def first_in_order(capacity: Array, offset: tuple[int, ...]) -> Point | None:
    """The first configuration of a block in the default order, or None where every capacity is 0."""
    scale = int(capacity.max()) if capacity.size else 0
    if scale < 1:
        return None
    columns = [column + start for column, start in zip(np.nonzero(capacity == scale), offset, strict=True)]
    columns.pop()
    share, chunk, slots, *others = columns
    keep = np.arange(share.size)
    for column, sign in ((slots, -1), (chunk, -1), (share, 1), *[(other, 1) for other in others]):
        ranked = sign * column[keep]
        keep = keep[ranked == ranked.min()]
    return Point(tuple(int(column[keep[0]]) for column in columns), scale)


def largest_point(ev: Evaluation) -> Point | None:
    """The first feasible operating point in the default order, with its exact scale; None where nothing is feasible."""
    best: Point | None = None
    for region, capacity in capacity_blocks(ev):
        found = first_in_order(capacity, tuple(s.indices(n)[0] for s, n in zip(region, ev.lengths, strict=True)))
        if found is not None and (best is None or found.key < best.key):
            best = found
    return best


def at_scales(ev: Evaluation, scales: Array, dims: Dims) -> Evaluation:
    """The same grid with a traffic scale of its own for each configuration instead of the traffic axis."""
    inputs = ev.inputs.replaced(SCALE, scales, dims)
    lengths = (*inputs.lengths[:-1], 1)
    return Evaluation(ev.graph, type(inputs)(lengths, inputs.arrays, inputs.dims), budget=ev.budget)


def limiting_masks(ev: Evaluation, capacity: Array, admission_control: bool) -> Array:
    """The mask of each configuration one permille above its capacity: what stops the next step up."""
    next_scale = at_scales(ev, capacity + 1, configuration_dims(ev))
    maker = MaskMaker(next_scale, reported_rules(next_scale), admission_control)
    return maker.make(tuple(slice(0, n) for n in next_scale.lengths))
