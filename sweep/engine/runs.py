"""Violation masks as runs along traffic: a cost per configuration instead of per cell.

Along traffic every load is nondecreasing (`sweep.kernels.thresholds`), so each violation begins at one index of the
axis and stays. The queue delay alone has a second change: from 1000 ‰ on it is the sentinel 86 400 000 ms, which a
bound of just that value admits. And an out-of-range arrival or concurrency makes the rest of the row invalid. A row of
masks is thus a few runs, and `np.repeat` writes them at the speed of a fill.

The undefined value −1 follows defined ones only where the row has become invalid; a running maximum hides it there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sweep.engine.evaluate import Evaluation
from sweep.engine.opening import Array
from sweep.engine.verdict import ADMISSION_OFF, CACHED_VALUES, INVALID, may_hold
from sweep.kernels.domain import SATURATED_DELAY_MS
from sweep.kernels.nodes import BITS, COMPARED, RULES, STATIC_RULES

MIN_TRAFFIC_VALUES = 64
"""Below this a row is too short to win back what its runs cost (measured: 0.5 µs a row, 1 to 3 ns a cell folded)."""

_WORK, _QUEUE_LIMIT, _SATURATION = "total_work", "queue_work_limit", "saturation_work"
_MAX_DELAY = "contract.max_queue_delay_ms"
_STARVATION_BIT = 8
_RANK_BITS = 16
"""Breakpoints are sorted as index·2^16 + bit mask, so one sort orders both; masks fit 16 bits."""


ROW_BYTES = 1_000
"""What the runs of one row take at most while they are made: sixty arrays of int64 and their sort."""


def ranked_bytes(ev: Evaluation) -> int:
    """What the loads take as ranks: distinct values and keys of each, and four more arrays while one is made."""
    loads = {load for bit, load, _ in COMPARED if bit != _STARVATION_BIT} | {_WORK}
    values = [ev.size(load) // ev.shape(load)[-1] * ev.lengths[-1] for load in loads]
    return 8 * (2 * sum(values) + 4 * max(values))


@dataclass(frozen=True)
class Runs:
    """The rows of a region: `values[i, j]` repeated `lengths[i, j]` times, rows in C order."""

    values: Array
    lengths: Array

    def mask(self, shape: tuple[int, ...]) -> Array:
        """The cells, uint16."""
        return np.repeat(self.values.reshape(-1), self.lengths.reshape(-1)).reshape(shape)

    def write(self, out: Array) -> None:
        """The cells into an array of the region's shape, a few rows at a time, which stay in cache.

        Args:
            out: uint16; it need not be contiguous.
        """
        row = int(out.shape[-1])
        step = max(1, CACHED_VALUES // row)
        if not out.flags.c_contiguous:
            out[...] = self.mask(out.shape)
            return
        flat = out.reshape(-1)
        for first in range(0, self.values.shape[0], step):
            rows = slice(first, first + step)
            cells = np.repeat(self.values[rows].reshape(-1), self.lengths[rows].reshape(-1))
            flat[first * row : first * row + cells.size] = cells

    def histogram(self) -> Array:
        """How many cells have each mask, int64 per mask value."""
        counts = np.zeros(2**16, dtype=np.int64)
        np.add.at(counts, self.values.reshape(-1), self.lengths.reshape(-1))
        return counts


class _Ranked:
    """A load that is nondecreasing along traffic, as ranks in one sorted array, for any number of rows.

    With the distinct loads sorted, rank(v) = number of distinct loads ≤ v is monotone, so load ≤ limit iff
    rank(load) ≤ rank(limit). Row r takes the keys r·(n + 1) + rank: they are sorted over all rows, and the number of
    loads of row r within a limit is one binary search.
    """

    def __init__(self, load: Array) -> None:
        self._rows_shape = load.shape[:-1]
        self._length = load.shape[-1]
        flat = np.maximum.accumulate(load, axis=-1).reshape(-1, self._length)
        self._distinct = np.unique(flat)
        self._span = self._distinct.size + 1
        ranks = np.searchsorted(self._distinct, flat, side="right")
        rows = np.arange(flat.shape[0], dtype=np.int64).reshape(-1, 1)
        self._keys = (rows * self._span + ranks).reshape(-1)
        self._rows = rows.reshape(*self._rows_shape, 1)

    def within(self, limit: Array, region: tuple[slice, ...]) -> Array:
        """How many values of a row, from the first on, are within the limit; open over the configurations."""
        rows = self._rows[tuple(s if n > 1 else slice(None) for s, n in zip(region, self._rows_shape, strict=False))]
        ranks = np.searchsorted(self._distinct, limit, side="right")
        found = np.searchsorted(self._keys, rows * self._span + ranks, side="right")
        return np.asarray(found - rows * self._length)


class RunMaker:
    """Makes the runs of any region of a grid whose loads are small over the whole grid."""

    def __init__(self, ev: Evaluation, reported: tuple[str, ...], admission_control: bool) -> None:
        self._ev = ev
        self._constant = 0 if admission_control else ADMISSION_OFF
        self._static = tuple(rule for rule in reported if rule in STATIC_RULES)
        self._growing = tuple(rule for rule in reported if rule not in STATIC_RULES)
        self._bits = tuple(
            (1 << bit, load, limit)
            for bit, load, limit in COMPARED
            if bit != _STARVATION_BIT and may_hold(ev, BITS[bit])
        )
        self._starvation = may_hold(ev, BITS[_STARVATION_BIT])
        self._queue = may_hold(ev, BITS[5])
        self._loads = {load: _Ranked(self._row(load)) for load in {load for _, load, _ in self._bits} | {_WORK}}
        for name in [
            *(limit for _, _, limit in self._bits),
            _QUEUE_LIMIT,
            _SATURATION,
            _MAX_DELAY,
            *self._static,
            *self._growing,
        ]:
            ev.warm([name])

    @staticmethod
    def suits(ev: Evaluation) -> bool:
        """Whether the traffic axis is long enough, and every load small enough over the whole grid."""
        loads = {load for _, load, _ in COMPARED} | {_WORK, *(rule for rule in RULES if rule in ev.graph)}
        loads -= {*STATIC_RULES}
        long = ev.lengths[-1] >= MIN_TRAFFIC_VALUES
        return long and all(ev.shares(name) for name in loads) and ranked_bytes(ev) <= ev.budget.shared_bytes // 2

    def _row(self, name: str) -> Array:
        """A node with its traffic axis at full length."""
        values = self._ev.get(name)
        return np.broadcast_to(values, (*values.shape[:-1], self._ev.lengths[-1]))

    def make(self, region: tuple[slice, ...]) -> Runs:
        """The runs of a region; it may span a part of the traffic axis."""
        part = self._ev.tile(region)
        rows = part.lengths[:-1]
        first, last = region[-1].indices(self._ev.lengths[-1])[:2]
        end = self._first_invalid(part, rows, region)
        points = [self._breakpoint(part, region, value, load, limit) for value, load, limit in self._bits]
        points += self._queue_points(part, region) if self._queue else []
        keys = np.empty((end.size, len(points)), dtype=np.int64)
        for column, (value, at) in enumerate(points):
            keys[:, column] = (np.broadcast_to(at, (*rows, 1)).reshape(-1) << _RANK_BITS) | value
        keys.sort(axis=1)
        values = np.empty((end.size, len(points) + 2), dtype=np.uint16)
        values[:, 0] = self._constant
        if self._starvation:
            values[:, 0] |= np.broadcast_to(part.get(BITS[_STARVATION_BIT]), (*rows, 1)).reshape(-1) * np.uint16(1 << 8)
        # The sorted masks (the low 16 bits of the keys) are toggles; an unsafe cast keeps just those bits.
        values[:, 1:-1] = keys.astype(np.uint16)
        np.bitwise_xor.accumulate(values[:, :-1], axis=1, out=values[:, :-1])
        values[:, -1] = INVALID
        edges = np.empty((end.size, len(points) + 3), dtype=np.int64)
        edges[:, 0] = first
        edges[:, 1:-2] = np.clip(np.minimum(keys >> _RANK_BITS, end), first, last)
        edges[:, -2:-1] = np.clip(end, first, last)
        edges[:, -1] = last
        return Runs(values, np.diff(edges, axis=1))

    def _first_invalid(self, part: Evaluation, rows: tuple[int, ...], region: tuple[slice, ...]) -> Array:
        """Per row the first index along traffic whose cell is invalid; the axis' length where none is."""
        length = self._ev.lengths[-1]
        end = np.full((*rows, 1), length, dtype=np.int64)
        for rule in self._growing:
            valid = ~self._row(rule)[
                tuple(
                    s if n > 1 else slice(None) for s, n in zip(region[:-1], self._ev.get(rule).shape[:-1], strict=True)
                )
            ]
            end = np.minimum(end, valid.sum(axis=-1, keepdims=True, dtype=np.int64))
        for rule in self._static:
            end = np.where(part.get(rule), 0, end)
        return end.reshape(-1, 1)

    def _breakpoint(
        self, part: Evaluation, region: tuple[slice, ...], value: int, load: str, limit: str
    ) -> tuple[int, Array]:
        return value, self._loads[load].within(part.get(limit), region[:-1])

    def _queue_points(self, part: Evaluation, region: tuple[slice, ...]) -> list[tuple[int, Array]]:
        """The queue bit begins over its limit (or at 1000 ‰), and ends at 1000 ‰ where the bound is the sentinel."""
        work = self._loads[_WORK]
        saturated = work.within(part.get(_SATURATION), region[:-1])
        # The limit is at most 999·C, so the first change never lies past the second.
        begins = work.within(part.get(_QUEUE_LIMIT), region[:-1])
        admits = part.get(_MAX_DELAY) >= SATURATED_DELAY_MS
        # Elsewhere the second change lies past the axis, where it has no length.
        ends = np.where(admits, saturated, self._ev.lengths[-1])
        return [(1 << 5, begins), (1 << 5, ends)]
