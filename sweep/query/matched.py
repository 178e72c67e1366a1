"""The walk over the configurations that two results share: cells that changed sides, and steps of the capacity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sweep.engine.evaluate import Evaluation, narrowed
from sweep.engine.largest import CAPACITY, CHUNK, SHARE, SLOTS, configuration_dims
from sweep.engine.opening import Array
from sweep.engine.verdict import dims_regions, may_hold, open_shape
from sweep.kernels.nodes import STATIC_RULES
from sweep.query.cell import codes_of
from sweep.query.common import CommonSide
from sweep.query.rank import Block, Ranked, first_of, traffic_values
from sweep.query.select import select
from sweep.records.codes import INVALID_REASONS
from sweep.reference.judge import judge

SHOWN_CELLS = 20
"""How many of the cells that changed are listed."""

Point = Mapping[str, int | str]
Index = tuple[int, ...]


@dataclass(frozen=True)
class Flipped:
    """Cells of the common part that are feasible on one side only."""

    count: int
    cells: tuple[Point, ...]
    """The first of them in the new grid's default order: axis name -> value, every axis of the new grid."""
    stopped_by: tuple[tuple[str, ...], ...]
    """Per listed cell what stops it on the side where it is infeasible: violation codes, or its invalid reason."""

    def as_json(self) -> dict[str, Any]:
        """With stable keys."""
        cells, codes = [dict(cell) for cell in self.cells], [list(one) for one in self.stopped_by]
        return {"count": self.count, "cells": cells, "stopped_by": codes}


@dataclass(frozen=True)
class CapacityStep:
    """A configuration whose exact largest feasible traffic scale changed; 0 where none is feasible."""

    configuration: Point
    old_permille: int
    new_permille: int

    def as_json(self) -> dict[str, Any]:
        """With stable keys."""
        by = self.new_permille - self.old_permille
        return {
            "configuration": dict(self.configuration),
            "old": self.old_permille,
            "new": self.new_permille,
            "by": by,
        }


@dataclass
class Walk:
    """The walk over the matched configurations, block by block, with what it has found so far."""

    mine: CommonSide
    theirs: CommonSide
    became_feasible: int = 0
    became_infeasible: int = 0
    rejected_to_invalid: int = 0
    invalid_to_rejected: int = 0
    feasible_old: int = 0
    feasible_new: int = 0
    grew: int = 0
    shrank: int = 0
    old: list[Ranked] = field(default_factory=list)
    new: list[Ranked] = field(default_factory=list)
    gain: list[Ranked] = field(default_factory=list)
    loss: list[Ranked] = field(default_factory=list)
    risen: list[Ranked] = field(default_factory=list)
    fallen: list[Ranked] = field(default_factory=list)
    """Configurations by their first cell that changed; the first cells overall are among as many of these, since
    each configuration that comes earlier has a cell before them."""

    def __post_init__(self) -> None:
        self.configurations = self.theirs.grid.configurations
        self._selection = select(self.theirs.grid)
        self._traffic = traffic_values(self.theirs.grid)

    def run(self) -> None:
        """Walk every block."""
        ev = self.theirs.evaluation
        for region in dims_regions(ev.lengths, configuration_dims(ev), ev.tile_values):
            parts = [side.evaluation.tile(region) for side in (self.mine, self.theirs)]
            self._block(tuple(s.start or 0 for s in region), parts[0], parts[1])

    def _block(self, offset: Index, old: Evaluation, new: Evaluation) -> None:
        before, after = _capacity(old), _capacity(new)
        n_before, n_after = self._reached(before), self._reached(after)
        self._tally(before, after, n_before, n_after)
        self._tally_invalid(old, new, n_before, n_after)

        def keep(found: list[Ranked], feasible: Array, scales: Array, top: int) -> list[Ranked]:
            block = Block(offset, feasible, scales, new)
            return sorted(found + first_of(self.theirs.grid, self._selection, block, (), top))[:top]

        self.old = keep(self.old, *self._largest(before, n_before), 1)
        self.new = keep(self.new, *self._largest(after, n_after), 1)
        self.gain = keep(self.gain, after > before, after - before, 1)
        self.loss = keep(self.loss, before > after, before - after, 1)
        # Where no cell changed the scale is not looked at, so that an index of -1 does no harm.
        self.risen = keep(self.risen, n_after > n_before, self._traffic[n_after - 1], SHOWN_CELLS)
        self.fallen = keep(self.fallen, n_before > n_after, self._traffic[n_before - 1], SHOWN_CELLS)

    def _reached(self, scale: Array) -> Array:
        """How many values of the common traffic axis, from the first on, are at most a scale."""
        return np.asarray(np.searchsorted(self._traffic, scale, side="right"))

    def _largest(self, capacity: Array, reached: Array) -> tuple[Array, Array]:
        """Which configurations are feasible, and at which scale they count: the exact one, or the one that is fixed."""
        if self.theirs.selection.scale_permille is None:
            return capacity >= 1, capacity
        return reached >= 1, np.full((1,) * capacity.ndim, self.theirs.selection.scale_permille, dtype=np.int64)

    def _tally(self, before: Array, after: Array, n_before: Array, n_after: Array) -> None:
        # A block has at most 2^20 or so rows of at most 10^7 cells, so its sums stay far below 2^63.
        self.became_feasible += int(np.maximum(n_after - n_before, 0).sum())
        self.became_infeasible += int(np.maximum(n_before - n_after, 0).sum())
        self.feasible_old += int(n_before.sum())
        self.feasible_new += int(n_after.sum())
        self.grew += int(np.count_nonzero(after > before))
        self.shrank += int(np.count_nonzero(before > after))

    def _tally_invalid(self, old: Evaluation, new: Evaluation, n_before: Array, n_after: Array) -> None:
        """A row is feasible on [0, n), rejected on [n, e) and invalid from e on; count where such parts overlap."""
        e_before, e_after = self._reached(_last_valid(old)), self._reached(_last_valid(new))
        self.rejected_to_invalid += int(np.maximum(e_before - np.maximum(n_before, e_after), 0).sum())
        self.invalid_to_rejected += int(np.maximum(e_after - np.maximum(n_after, e_before), 0).sum())

    def step_at(self, found: list[Ranked]) -> CapacityStep | None:
        """The capacity step of a configuration."""
        if not found:
            return None
        point = dict(self.theirs.point(found[0].index, 0))
        del point[self.theirs.side.grid.axes[-1].name]
        return CapacityStep(point, *self._capacities_at(found[0].index))

    def _capacities_at(self, index: Index) -> tuple[int, int]:
        region = (*(slice(i, i + 1) for i in index[:-1]), slice(0, 1))
        old, new = (int(_capacity(side.evaluation.tile(region)).item()) for side in (self.mine, self.theirs))
        return old, new

    def flipped(self, count: int, rows: list[Ranked], rising: bool) -> Flipped:
        """The first cells that changed, from the configurations that hold them."""
        found = []
        for row in rows:
            reached = sorted(self._reached(np.array(self._capacities_at(row.index), dtype=np.int64)).tolist())
            share, chunk, slots = (row.index[axis] for axis in (SHARE, CHUNK, SLOTS))
            for at in range(reached[0], reached[1])[::-1][:SHOWN_CELLS]:
                found.append(((-at, -slots, -chunk, share, *row.index[SLOTS + 1 : -1]), (*row.index[:-1], at)))
        indices = [index for _, index in sorted(found)[:SHOWN_CELLS]]
        infeasible = self.mine if rising else self.theirs
        return Flipped(
            count,
            tuple(self.theirs.point(index, int(self._traffic[index[-1]])) for index in indices),
            tuple(_stops(infeasible, index) for index in indices),
        )


def _stops(part: CommonSide, index: Sequence[int]) -> tuple[str, ...]:
    verdict = judge(part.grid.fields(index), part.grid.class_ids)
    if verdict.invalid_reason:
        return (INVALID_REASONS[verdict.invalid_reason],)
    return tuple(codes_of(verdict.violations))


def _capacity(part: Evaluation) -> Array:
    """The capacity of every configuration of a tile, int64 (it is at most 10^15)."""
    return np.broadcast_to(narrowed(part.get(CAPACITY)), open_shape(part.lengths, configuration_dims(part)))


def _last_valid(part: Evaluation) -> Array:
    """The largest scale at which a configuration is valid, 0 where no scale is; open.

    Arrivals and growing concurrencies are monotone in the scale, and `scale_cap` is the last one in range; a
    concurrency that does not grow is in range as its field is.
    """
    cap = narrowed(part.get("scale_cap"))
    for rule in STATIC_RULES:
        if rule in part.graph and may_hold(part, rule):
            cap = np.where(part.get(rule), 0, cap)
    return cap
