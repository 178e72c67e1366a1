"""Nodes of the kernel graph on demand: proven first, then computed in int64 or in Python ints, and remembered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from sweep.engine.budget import Budget
from sweep.engine.opening import Array, Dims, Inputs, cut
from sweep.exact.interval import Interval, Proof, Truth
from sweep.kernels.nodes import Graph

SHARED_VALUES = 2**21
"""A node with at most this many values over the whole grid is computed once and cut for every tile."""

SHARED_OBJECTS = 2**12
"""The same for a node that needs Python ints somewhere: larger ones are proven again, and mostly int64, per tile."""

TILE_VALUES = 2**20
"""A tile has at most this many cells, and fewer where its nodes would take more than the budget's bytes."""

OBJECT_BYTES = 48
"""Of a Python int in an array: a pointer and an object of 28 to 36 bytes, in blocks of 16."""

TEMPORARIES = 6
"""Arrays beside its inputs' terms that a kernel holds at once, at most."""


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

    def __init__(
        self, graph: Graph, inputs: Inputs, parent: Evaluation | None = None, budget: Budget | None = None
    ) -> None:
        self.graph = graph
        self.inputs = inputs
        self.budget: Budget = budget or (parent.budget if parent else Budget())
        self.lengths = inputs.lengths
        self._parent = parent
        self._region: tuple[slice, ...] = ()
        self._anew = False
        self._origin: Evaluation | None = None
        self._changed: frozenset[str] = frozenset()
        self._dims: dict[str, Dims] = parent._dims if parent else {}
        self._values: dict[str, Array] = {}
        self._proofs: dict[str, Proven] = {}
        self._shares: dict[str, bool] = {}
        self._needed: dict[tuple[str, ...], list[str]] = parent._needed if parent else {}

    def tile(self, region: tuple[slice, ...], anew: bool = False) -> Evaluation:
        """The same graph over a rectangular part of the grid.

        Args:
            region: the part.
            anew: prove every node for the part; else a proof for the whole grid is taken, which costs nothing, but its
                ranges are wider, so that a node that fails there hardly ever passes here.
        """
        child = Evaluation(self.graph, self.inputs.region(region), self)
        child._region, child._anew = region, anew
        return child

    def exchanged(self, name: str, values: Array, dims: Dims) -> Evaluation:
        """The same graph with one input, or what one node gives, exchanged; what does not read it is taken from here.

        Args:
            name: an input, or a node whose values are then given instead of computed.
            values: an open array.
            dims: the axes that it depends on.
        """
        other = Evaluation(self.graph, self.inputs.replaced(name, values, dims), budget=self.budget)
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
            inherited = self._parent.proof(name) if self._parent and not self._anew else None
            holds = inherited is not None and inherited.peak.holds_int64
            self._proofs[name] = inherited if inherited is not None and holds else self._prove(name)
        return self._proofs[name]

    def proven(self, names: Sequence[str]) -> bool:
        """Whether int64 is proven for every node that tiles compute for these, themselves included."""
        return all(self.proof(name).arithmetic == "int64" or self._root_shares(name) for name in self.needed(names))

    def needed(self, names: Sequence[str]) -> list[str]:
        """Some nodes and every node that they are made from."""
        key = tuple(names)
        if key not in self._needed:
            wanted = {name for name in names if name in self.graph}
            for name in reversed(self.graph):
                if name in wanted:
                    wanted.update(read for read in self.graph[name].inputs if read in self.graph)
            self._needed[key] = [name for name in self.graph if name in wanted]
        return self._needed[key]

    def _root_shares(self, name: str) -> bool:
        return self._parent._root_shares(name) if self._parent else self.shares(name)

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
        if name not in self._shares:
            size = self.size(name)
            self._shares[name] = size <= self.share_limit and (size <= SHARED_OBJECTS or self._is_tame(name))
        return self._shares[name]

    def _is_tame(self, name: str) -> bool:
        """Whether int64 is proven for a node and all that it is made from, but for nodes small enough to be shared.

        A node has all the axes of what it is made from, so what a small node is made from is small.
        """
        if name not in self.graph:
            return True
        return self.proof(name).arithmetic == "int64" and all(
            read not in self.graph or self.shares(read) for read in self.graph[name].inputs
        )

    @cached_property
    def share_limit(self) -> int:
        """The most values of a shared node: less than SHARED_VALUES where so many nodes would take too many bytes."""
        sizes = sorted((size, name) for name in self.graph if (size := self.size(name)) <= SHARED_VALUES)
        allowed = self.budget.shared_bytes // 2  # the other half is for what masks are made of
        if OBJECT_BYTES * sum(size for size, _ in sizes) <= allowed:
            return SHARED_VALUES
        taken = 0
        for size, name in sizes:
            taken += size * self.width_bytes(name)
            if taken > allowed:
                return size - 1
        return SHARED_VALUES

    @cached_property
    def tile_bytes_per_cell(self) -> int:
        """What a tile's own nodes take per cell at most, with a kernel's temporaries: those that are not shared."""
        return self._bytes_per_cell([name for name in self.graph if not self.shares(name)])

    @cached_property
    def block_bytes_per_configuration(self) -> int:
        """The same of every node: where each configuration has a traffic scale of its own, little is shared."""
        return self._bytes_per_cell(list(self.graph))

    def _bytes_per_cell(self, names: list[str]) -> int:
        widths = [self.width_bytes(name) for name in names]
        temporaries = [(len(self.graph[name].inputs) + TEMPORARIES) * max(self.width_bytes(name), 8) for name in names]
        return sum(widths) + max(temporaries, default=0)

    @cached_property
    def tile_values(self) -> int:
        """How many cells a tile may have."""
        return max(1, min(TILE_VALUES, self.budget.tile_bytes // max(self.tile_bytes_per_cell, 1)))

    @cached_property
    def block_values(self) -> int:
        """How many configurations a block may have."""
        return max(1, min(TILE_VALUES, self.budget.tile_bytes // max(self.block_bytes_per_configuration, 1)))

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
