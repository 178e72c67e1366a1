"""Where the whole grid fails the overflow proof: tiles cut so that only wild corners take Python ints.

A tile is cut in two along the axis that leaves more of it proven, and so on, until a part is proven, or too small to
be worth another cut. Where not even single cells of it are proven, it is left whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

import numpy as np

from sweep.engine.evaluate import Evaluation, narrowed
from sweep.engine.opening import Array, Dims

Region = tuple[slice, ...]

LEAST_PART_CELLS = 2**10
"""A part with fewer cells is not cut: its proof costs as much as its Python ints."""

MAX_CUTS = 8
"""Cuts between a tile and its smallest part, so 256 parts at most."""


def parts(ev: Evaluation, region: Region, names: Sequence[str]) -> list[tuple[Region, Evaluation]]:
    """A region as parts with the evaluation of each; one part where everything that the nodes need is proven.

    Args:
        ev: the evaluation of the grid.
        region: slices with both ends, or whole axes.
        names: the nodes that will be asked for.
    """
    if ev.proven(names):
        return [(region, ev.tile(region))]
    tile = ev.tile(region, anew=True)
    if tile.proven(names):
        return [(region, tile)]
    full = tuple(slice(*s.indices(n)[:2]) for s, n in zip(region, ev.lengths, strict=True))
    if not _has_tame_cell(ev, full, names):
        return [(region, tile)]
    axes = sorted(frozenset[int]().union(*[ev.dims(name) for name in names]))
    return list(_cut(ev, full, tile, names, axes, MAX_CUTS))


def _has_tame_cell(ev: Evaluation, region: Region, names: Sequence[str]) -> bool:
    return any(ev.tile(cell, anew=True).proven(names) for cell in _samples(region))


def _samples(region: Region) -> Iterator[Region]:
    """The first, the middle and the last cell."""
    for pick in (0, 1, 2):
        at = [(s.start, (s.start + s.stop) // 2, s.stop - 1)[pick] for s in region]
        yield tuple(slice(i, i + 1) for i in at)


def _cut(
    ev: Evaluation, region: Region, tile: Evaluation, names: Sequence[str], axes: Sequence[int], cuts: int
) -> Iterator[tuple[Region, Evaluation]]:
    cells = prod(region[axis].stop - region[axis].start for axis in axes)
    if cuts == 0 or cells < LEAST_PART_CELLS or tile.proven(names) or not _has_tame_cell(ev, region, names):
        yield region, tile
        return
    best: tuple[int, int, int] | None = None  # proven halves, length and number of the axis to cut
    for axis in axes:
        length = region[axis].stop - region[axis].start
        if length < 2:
            continue
        proven = sum(ev.tile(half, anew=True).proven(names) for half in _halves(region, axis))
        best = (proven, length, axis) if best is None else max(best, (proven, length, axis))
    if best is None:
        yield region, tile
        return
    for half in _halves(region, best[2]):
        yield from _cut(ev, half, ev.tile(half, anew=True), names, axes, cuts - 1)


def _halves(region: Region, axis: int) -> tuple[Region, Region]:
    side = region[axis]
    middle = (side.start + side.stop) // 2
    return (
        (*region[:axis], slice(side.start, middle), *region[axis + 1 :]),
        (*region[:axis], slice(middle, side.stop), *region[axis + 1 :]),
    )


def assembled(ev: Evaluation, region: Region, name: str, dims: Dims) -> Array:
    """A node over a region, full along some axes and of length 1 along the others, int64 (or bool) wherever it fits.

    Args:
        ev: the evaluation of the grid.
        region: slices with both ends, or whole axes.
        name: the node; it depends on no other axis than `dims`.
        dims: the axes along which the result is full.
    """
    found = parts(ev, region, [name])
    shape = tuple(
        len(range(*s.indices(n))) if i in dims else 1 for i, (s, n) in enumerate(zip(region, ev.lengths, strict=True))
    )
    values = [narrowed(part.get(name)) for _, part in found]
    if len(found) == 1:
        return np.broadcast_to(values[0], shape)
    kind = object if any(value.dtype == object for value in values) else values[0].dtype
    out = np.empty(shape, dtype=kind)
    for (here, _), value in zip(found, values, strict=True):
        out[inside(here, region, dims)] = value
    return out


def inside(part: Region, region: Region, dims: Dims) -> Region:
    """Where a part of a region lies in an array over the region; everything along axes that are none of `dims`."""
    return tuple(
        slice(p.start - (r.start or 0), p.stop - (r.start or 0)) if i in dims else slice(None)
        for i, (p, r) in enumerate(zip(part, region, strict=True))
    )
