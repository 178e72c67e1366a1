"""Invalid reasons and violation masks, tile by tile, from the fewest small arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

import numpy as np

from sweep.engine.evaluate import SHARED_VALUES, TILE_VALUES, Evaluation
from sweep.engine.opening import Array, Dims, cut
from sweep.engine.parts import inside, parts
from sweep.exact.interval import Truth
from sweep.kernels.nodes import BITS, RULES
from sweep.store.layout import slab_shape, slabs

CACHED_VALUES = 2**18
"""Cells of a mask that are made at once where nothing is computed in the tile: they stay in the second-level cache."""

INVALID = 0x8000
"""Bit 15, alone in an invalid cell."""

ADMISSION_OFF = 0x0001


def open_shape(lengths: tuple[int, ...], dims: Dims) -> tuple[int, ...]:
    """The shape over some axes only, 1 along the others."""
    return tuple(n if i in dims else 1 for i, n in enumerate(lengths))


def dims_regions(lengths: tuple[int, ...], dims: Dims, values: int = TILE_VALUES) -> Iterator[tuple[slice, ...]]:
    """Tiles of about `values` cells over some axes; along the others a region is all, since nothing depends on them."""
    shape = open_shape(lengths, dims)
    for region in slabs(shape, slab_shape(shape, values)):
        yield tuple(s if i in dims else slice(None) for i, s in enumerate(region))


def may_hold(ev: Evaluation, name: str) -> bool:
    """Whether the proof leaves room for a flag to be true anywhere."""
    known = ev.proof(name).range
    return not isinstance(known, Truth) or known.can_be_true


def reported_rules(ev: Evaluation) -> tuple[str, ...]:
    """The rules that are the lowest applicable one in at least one cell, in order.

    A rule counts when it holds in a cell where no reported lower rule does; a lower rule that is never reported is
    everywhere hidden behind reported ones, so leaving it out changes nothing.
    """
    reported: list[str] = []
    for rule in RULES:
        if rule in ev.graph and may_hold(ev, rule) and _holds_first(ev, rule, reported):
            reported.append(rule)
    return tuple(reported)


def _holds_first(ev: Evaluation, rule: str, lower: Sequence[str]) -> bool:
    alone = any(ev.tile(region).get(rule).any() for region in dims_regions(ev.lengths, ev.dims(rule), ev.tile_values))
    if not alone or not lower:
        return alone
    dims = frozenset[int]().union(*[ev.dims(name) for name in (rule, *lower)])
    for region in dims_regions(ev.lengths, dims, ev.tile_values):
        part = ev.tile(region)
        first = part.get(rule)
        for name in lower:
            first = first & ~part.get(name)
        if first.any():
            return True
    return False


def union_dims(ev: Evaluation, names: Sequence[str]) -> Dims:
    """The axes that any of the nodes depends on."""
    return frozenset[int]().union(*[ev.dims(name) for name in names])


def reason_array(ev: Evaluation, reported: Sequence[str]) -> Array:
    """The lowest reason that applies, uint8, open over the union of the rules' axes."""
    shape = open_shape(ev.lengths, union_dims(ev, reported))
    codes = np.zeros(shape, dtype=np.uint8)
    for rule in reversed(reported):
        np.copyto(codes, np.uint8(int(rule.rpartition(".")[2])), where=ev.get(rule))
    return codes


class MaskMaker:
    """Makes the violation mask of any tile: small masks are folded once, large ones compared in the tile.

    Folding ORs a mask into another that already spans its axes, so that a tile costs one pass per *maximal* small
    mask. A tile is made in parts that stay in cache. Bit 15 is set beside others at first; since it is the highest bit
    that occurs, one minimum with 0x8000 leaves it alone in invalid cells and changes nothing elsewhere. Parts whose
    small rules say that no cell, or every cell, is invalid do without that pass.
    """

    def __init__(self, ev: Evaluation, reported: Sequence[str], admission_control: bool) -> None:
        self._ev = ev
        flags = [(bit, 1 << int(bit.rpartition(".")[2])) for bit in BITS[1:]] + [(rule, INVALID) for rule in reported]
        live = [(name, value) for name, value in flags if may_hold(ev, name)]
        self._large = [(name, value) for name, value in live if not ev.shares(name)]
        small = [(name, value) for name, value in live if ev.shares(name)]
        constant = np.full((1,) * len(ev.lengths), 0 if admission_control else ADMISSION_OFF, dtype=np.uint16)
        self._pieces = fold([_mask(ev.get(name), value) for name, value in small]) or [constant]
        if not admission_control:
            self._pieces[0] = self._pieces[0] | constant
        self._clips = any(value == INVALID for _, value in self._large)
        self._invalid = fold([_mask(ev.get(name), INVALID) for name, value in small if value == INVALID])
        for name, _ in self._large:
            ev.warm([name])

    @staticmethod
    def suits(ev: Evaluation) -> bool:
        """Whether every mask is small, so that a cell costs little more than being written."""
        flags = (*BITS[1:], *(rule for rule in RULES if rule in ev.graph))
        return all(ev.shares(name) for name in flags if may_hold(ev, name))

    def make(self, region: tuple[slice, ...], out: Array | None = None) -> Array:
        """The mask of a tile, uint16, full over its axes.

        Args:
            region: the tile.
            out: an array of the tile's shape to fill, instead of a new one.
        """
        starts = [s.indices(n)[0] for s, n in zip(region, self._ev.lengths, strict=True)]
        shape = tuple(len(range(*s.indices(n))) for s, n in zip(region, self._ev.lengths, strict=True))
        if out is None:
            out = np.empty(shape, dtype=np.uint16)
        if self._large:
            every = frozenset(range(len(shape)))
            for here, tile in parts(self._ev, region, [name for name, _ in self._large]):
                self._fill(here, out[inside(here, region, every)] if here is not region else out, tile)
            return out
        for part in slabs(shape, slab_shape(shape, CACHED_VALUES)):
            here = tuple(slice(s.start + at, s.stop + at) for s, at in zip(part, starts, strict=True))
            self._fill(here, out[part], None)
        return out

    def _fill(self, region: tuple[slice, ...], out: Array, part: Evaluation | None) -> None:
        invalid = [cut(piece, region) for piece in self._invalid]
        if any(piece.all() for piece in invalid):
            out.fill(INVALID)
            return
        first, *others = [cut(piece, region) for piece in self._pieces]
        if others:
            np.bitwise_or(first, others[0], out=out)
        else:
            np.copyto(out, first)
        for piece in others[1:]:
            np.bitwise_or(out, piece, out=out)
        if part is not None:
            for name, value in self._large:
                np.bitwise_or(out, _mask(part.get(name), value), out=out)
        if self._clips or any(piece.any() for piece in invalid):
            np.minimum(out, np.uint16(INVALID), out=out)


def _mask(flag: Array, value: int) -> Array:
    return np.multiply(flag, np.uint16(value), dtype=np.uint16)


def fold(masks: Sequence[Array], limit: int = SHARED_VALUES) -> list[Array]:
    """OR open masks together as long as the union of their axes stays at most `limit` values or as large as one."""
    pieces: list[Array] = []
    for mask in sorted(masks, key=lambda m: (-m.size, m.shape)):
        for i, piece in enumerate(pieces):
            merged = np.broadcast_shapes(piece.shape, mask.shape)
            if prod(merged) <= max(limit // 8, piece.size):
                pieces[i] = piece | mask
                break
        else:
            pieces.append(mask)
    return [piece for piece in pieces if piece.any()]
