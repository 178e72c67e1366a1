"""Nodes of the kernel graph on demand: proven first, then computed in int64 or in Python ints, and remembered."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from sweep.engine.opening import Array, Dims, Inputs, cut
from sweep.exact.interval import Interval, Proof, Truth
from sweep.kernels.nodes import Graph

SHARED_VALUES = 2**21
"""A node with at most this many values over the whole grid is computed once and cut for every tile."""

SHARED_BYTES = 2**29
"""What all shared nodes together may take; beyond it only smaller nodes are shared."""

TILE_VALUES = 2**20
TILE_BYTES = 2**28
"""A tile has at most this many cells, and fewer where its nodes would take more than this many bytes."""

OBJECT_BYTES = 40
"""Of a Python int in an array: a pointer and an object of 32 bytes."""


@dataclass(frozen=True)
class Proven:
    """The outcome of a kernel's run on intervals."""

    range: Interval | Truth
    """The possible values of the node."""
    peak: Proof
    """The hull of every intermediate, inputs and constants included."""

    @property
    def arithmetic(self) -> str:
        """`int64` where the proof holds, else `object` (Python ints)."""
        return "int64" if self.peak.holds_int64 else "object"


class Evaluation:
    """The kernel graph over one set of open inputs.

    A tile is an `Evaluation` of its own over the cut inputs; nodes that are small over the whole grid it takes from
    its parent, and proofs that hold for the whole grid hold for every part of it.
    """

    def __init__(self, graph: Graph, inputs: Inputs, parent: Evaluation | None = None) -> None:
        self.graph = graph
        self.inputs = inputs
        self.lengths = inputs.lengths
        self._parent = parent
        self._region: tuple[slice, ...] = ()
        self._origin: Evaluation | None = None
        self._changed: frozenset[str] = frozenset()
        self._dims: dict[str, Dims] = parent._dims if parent else {}
        self._values: dict[str, Array] = {}
        self._proofs: dict[str, Proven] = {}

    def tile(self, region: tuple[slice, ...]) -> Evaluation:
        """The same graph over a rectangular part of the grid."""
        child = Evaluation(self.graph, self.inputs.region(region), self)
        child._region = region
        return child

    def exchanged(self, name: str, values: Array, dims: Dims) -> Evaluation:
        """The same graph with one input, or what one node gives, exchanged; what does not read it is taken from here.

        Args:
            name: an input, or a node whose values are then given instead of computed.
            values: an open array.
            dims: the axes that it depends on.
        """
        other = Evaluation(self.graph, self.inputs.replaced(name, values, dims))
        changed = {name}
        for node in self.graph.values():  # in an order in which each reads only earlier ones
            if not changed.isdisjoint(node.inputs):
                changed.add(node.name)
        other._origin, other._changed = self, frozenset(changed)
        return other

    def dims(self, name: str) -> Dims:
        """The axes that a node depends on by its formula, whatever the values are."""
        if name in self.inputs.dims:
            return self.inputs.dims[name]
        if name not in self._dims:
            reads = self.graph[name].inputs
            self._dims[name] = frozenset().union(*[self.dims(read) for read in reads])
        return self._dims[name]

    def shape(self, name: str) -> tuple[int, ...]:
        """A node's open shape: an axis' length where the node depends on it, else 1."""
        dims = self.dims(name)
        return tuple(n if i in dims else 1 for i, n in enumerate(self.lengths))

    def size(self, name: str) -> int:
        """How many values a node has (a Python int: it may exceed every machine word)."""
        return prod(self.shape(name))

    def proof(self, name: str) -> Proven:
        """The range of a node and of all its intermediates, from the ranges of what it reads."""
        if self._origin is not None and name not in self._changed:
            return self._origin.proof(name)
        if name not in self._proofs:
            inherited = self._parent.proof(name) if self._parent else None
            holds = inherited is not None and inherited.peak.holds_int64
            self._proofs[name] = inherited if inherited is not None and holds else self._prove(name)
        return self._proofs[name]

    def _prove(self, name: str) -> Proven:
        peak = Proof()
        if name in self.inputs.arrays:
            values = self.inputs.arrays[name]
            lo, hi = int(values.min()), int(values.max())
            peak.note(lo, hi)
            return Proven(Interval(lo, hi, peak), peak)
        node = self.graph[name]
        return Proven(node.kernel(*[_carry(self.proof(read).range, peak) for read in node.inputs]), peak)

    def get(self, name: str) -> Array:
        """A node's values as an open array: bool, int64, or object where the proof demands Python ints.

        Dimensions of length 1 are kept, so that arrays broadcast by position.
        """
        if name not in self._values:
            self._values[name] = self._fetch(name)
        return self._values[name]

    def _fetch(self, name: str) -> Array:
        if name in self.inputs.arrays:
            return self.inputs.arrays[name]
        if self._origin is not None and name not in self._changed:
            return self._origin.get(name)
        if self._parent is not None and self._parent.shares(name):
            return cut(self._parent.get(name), self._region)
        node = self.graph[name]
        arithmetic = self.proof(name).arithmetic
        values = [_as_kind(self.get(read), arithmetic) for read in node.inputs]
        return np.asarray(node.kernel(*values))

    def shares(self, name: str) -> bool:
        """Whether tiles take a node from here instead of computing it for themselves."""
        return self.size(name) <= self.share_limit

    @cached_property
    def share_limit(self) -> int:
        """The most values of a shared node: less than SHARED_VALUES where so many nodes would take SHARED_BYTES."""
        sizes = sorted((size, name) for name in self.graph if (size := self.size(name)) <= SHARED_VALUES)
        if OBJECT_BYTES * sum(size for size, _ in sizes) <= SHARED_BYTES:
            return SHARED_VALUES
        taken = 0
        for size, name in sizes:
            taken += size * self.width_bytes(name)
            if taken > SHARED_BYTES:
                return size - 1
        return SHARED_VALUES

    @cached_property
    def tile_bytes_per_cell(self) -> int:
        """What a tile's own nodes take per cell at most: those that are not shared."""
        return sum(self.width_bytes(name) for name in self.graph if not self.shares(name))

    @cached_property
    def tile_values(self) -> int:
        """How many cells a tile may have."""
        return max(1, min(TILE_VALUES, TILE_BYTES // max(self.tile_bytes_per_cell, 1)))

    def width_bytes(self, name: str) -> int:
        """Bytes of one value of a node."""
        proven = self.proof(name)
        if isinstance(proven.range, Truth):
            return 1
        return 8 if proven.arithmetic == "int64" else OBJECT_BYTES

    def warm(self, names: list[str]) -> None:
        """Compute what tiles will share, before threads ask for it."""
        for name in names:
            if name in self.inputs.arrays:
                continue
            if self.shares(name):
                self.get(name)
            else:
                self.warm(list(self.graph[name].inputs))


def _carry(known: Interval | Truth, peak: Proof) -> Interval | Truth:
    """A node's range as an input of the next proof; inputs count among the intermediates."""
    if isinstance(known, Truth):
        return known
    peak.note(known.lo, known.hi)
    return Interval(known.lo, known.hi, peak)


def _as_kind(values: Array, arithmetic: str) -> Array:
    if values.dtype == bool:
        return values
    return values.astype(object if arithmetic == "object" else np.int64, copy=False)


def narrowed(values: Any) -> Array:
    """An integer array as int64 where every value fits, else unchanged; -1 of a fallback path costs no limbs."""
    array = np.asarray(values)
    if array.dtype != object:
        return array
    flat = array.ravel()
    if flat.size == 0 or (min(flat) >= -(2**63) and max(flat) < 2**63):
        return array.astype(np.int64)
    return array
