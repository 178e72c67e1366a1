"""Bounds of the capacity over boxes of configurations: the kernels on `Ranges`, whatever the size of the grid."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sweep.engine.evaluate import Evaluation, narrowed
from sweep.engine.largest import CAPACITY
from sweep.engine.opening import Array, Inputs
from sweep.exact.ranges import Ranges, Truths


@dataclass(frozen=True)
class Boxes:
    """Rectangular sets of configurations: per axis but traffic the first and last index, int64 of (axes, boxes)."""

    first: Array
    last: Array

    def __len__(self) -> int:
        return int(self.first.shape[1])

    def take(self, which: Array | slice) -> Boxes:
        """Some of the boxes, by positions, flags or a slice."""
        return Boxes(self.first[:, which], self.last[:, which])

    @property
    def widths(self) -> Array:
        """How many indices each spans beyond its first, per axis."""
        return np.asarray(self.last - self.first)

    @property
    def single(self) -> Array:
        """Whether a box is one configuration."""
        return np.asarray((self.first == self.last).all(axis=0))

    def halves(self, axes: Array) -> Boxes:
        """Each box cut in two along an axis of its own, which it must span: all lower halves, then all upper ones."""
        number = np.arange(len(self))
        middle = (self.first[axes, number] + self.last[axes, number]) // 2
        lower_last, upper_first = self.last.copy(), self.first.copy()
        lower_last[axes, number] = middle
        upper_first[axes, number] = middle + 1
        return joined(Boxes(self.first, lower_last), Boxes(upper_first, self.last))


def joined(*boxes: Boxes) -> Boxes:
    """All of them."""
    return Boxes(np.concatenate([b.first for b in boxes], axis=1), np.concatenate([b.last for b in boxes], axis=1))


class Column:
    """The values of an input along its axis, and their ends between any two indices."""

    def __init__(self, values: Array) -> None:
        self.values = values
        self._rising = bool((values[1:] >= values[:-1]).all())

    def between(self, first: Array, last: Array, single: bool) -> Ranges:
        """The least and largest value from `first` to `last`, both included; `single`: everywhere first = last."""
        if single:
            exact = self.values[first]
            return Ranges(exact, exact)
        if self._rising:
            return Ranges(self.values[first], self.values[last])
        level = _bit_length(last - first + 1) - 1
        tail = last - (np.int64(1) << level) + 1
        least, most = self._extremes
        return Ranges(
            np.minimum(least[level, first], least[level, tail]), np.maximum(most[level, first], most[level, tail])
        )

    @cached_property
    def _extremes(self) -> tuple[Array, Array]:
        """Row k: the least and largest of the 2^k values from an index on (short of them, as far as they go)."""
        least, most = [self.values], [self.values]
        step = 1
        while 2 * step <= self.values.size:
            for rows, pick in ((least, np.minimum), (most, np.maximum)):
                row = rows[-1].copy()
                row[:-step] = pick(rows[-1][:-step], rows[-1][step:])
                rows.append(row)
            step *= 2
        return np.stack(least), np.stack(most)


def _bit_length(values: Array) -> Array:
    """The bit length of integers from 1 on, without floats."""
    length = np.zeros(values.shape, dtype=np.int64)
    rest = values.copy()
    while rest.any():
        length += rest > 0
        rest >>= 1
    return length


class CapacityBounds:
    """The range of the largest feasible traffic scale over each of many boxes."""

    def __init__(self, ev: Evaluation) -> None:
        self._ev = ev
        # A node's values may be given (`Evaluation.exchanged`): then it is an input.
        self._nodes = [name for name in ev.needed([CAPACITY]) if name not in ev.inputs.arrays]
        read = {name for node in self._nodes for name in ev.graph[node].inputs}
        self._inputs = sorted(read & set(ev.inputs.arrays))
        self._columns = {
            name: (axis, Column(ev.inputs.arrays[name].reshape(-1)))
            for name in self._inputs
            for axis in ev.inputs.dims[name]
            if ev.inputs.arrays[name].size > 1
        }
        self._proven = all(ev.proof(name).peak.holds_int64 for name in self._nodes)

    def of(self, boxes: Boxes) -> tuple[Array, Array]:
        """The least and largest capacity of each box at most, int64; equal where the box is one configuration."""
        known = self._given(boxes)
        proofs = self._ev if self._proven else self._hull(known)
        for name in self._nodes:
            node = self._ev.graph[name]
            kind = object if proofs.proof(name).arithmetic == "object" else np.int64
            known[name] = node.kernel(*[_as_kind(known[read], kind) for read in node.inputs])
        found = known[CAPACITY]
        assert isinstance(found, Ranges)
        shape = (len(boxes),)
        least, most = narrowed(found.lo), narrowed(found.hi)
        return np.broadcast_to(least, shape), np.broadcast_to(most, shape)

    def _given(self, boxes: Boxes) -> dict[str, Ranges | Truths]:
        known: dict[str, Ranges | Truths] = {}
        exact = (boxes.first == boxes.last).all(axis=1)
        for name in self._inputs:
            if name in self._columns:
                axis, column = self._columns[name]
                known[name] = column.between(boxes.first[axis], boxes.last[axis], bool(exact[axis]))
            else:
                value = self._ev.inputs.arrays[name].reshape(1)
                known[name] = Ranges(value, value)
        return known

    def _hull(self, known: dict[str, Ranges | Truths]) -> Evaluation:
        """The proof over these boxes alone: one wild corner leaves int64 to the others."""
        ends = {
            name: np.array([ranges.lo.min(), ranges.hi.max()], dtype=np.int64)
            for name, ranges in known.items()
            if isinstance(ranges, Ranges)
        }
        return Evaluation(self._ev.graph, Inputs((2,), ends, {name: frozenset() for name in ends}))


def _as_kind(known: Ranges | Truths, kind: type) -> Ranges | Truths:
    if isinstance(known, Truths):
        return known
    lo: Array = known.lo.astype(kind, copy=False)
    return Ranges(lo, lo if known.is_exact else known.hi.astype(kind, copy=False))
