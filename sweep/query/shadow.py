"""The shadow of some rows: a table that tells at a few nanoseconds a row that something of them dominates it.

All columns are to be minimised; s dominates r when s ≤ r in every column and s ≠ r. Every column but one is cut at
thresholds, and the table holds, per combination of cuts, the least value of the one uncut column among the rows below
the cuts. What the table says is dominated is; what it does not know of may be dominated all the same, by a row
between two thresholds.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from sweep.engine.opening import Array

TABLE_VALUES = 2**17
"""The most entries of a table: a megabyte, which stays in the second cache."""

MOST_COLUMNS = 11
"""With more columns not even one threshold each fits the table."""

LOOKUP_VALUES = 2**16
"""A column whose thresholds span at most this many integers is cut by a lookup instead of a search."""

_LEAST, _MOST = np.iinfo(np.int64).min, np.iinfo(np.int64).max


class Shadow:
    """What some rows dominate, as far as thresholds tell; made once, asked from any thread."""

    def __init__(self, rows: Array) -> None:
        """Make the table.

        Args:
            rows: int64, at least one row, at most `MOST_COLUMNS` columns, smaller is better.
        """
        columns = rows.shape[1]
        distinct = [np.unique(column) for column in rows.T]
        self._exact = max(range(columns), key=lambda column: distinct[column].size)
        self._cut = [column for column in range(columns) if column != self._exact]
        most = _thresholds(len(self._cut))
        cuts = [_spread(distinct[column], most) for column in self._cut]
        self._edges = [_edges(cut) for cut in cuts]
        self._lookups = [_lookup(edges) for edges in self._edges]
        below = _least_below(rows[:, self._exact], [rows[:, column] for column in self._cut], cuts)
        table = _doubled(below)
        self._strides = [prod(table.shape[axis + 1 :]) for axis in range(table.ndim)]
        self._table = table.reshape(-1)

    def covers(self, columns: Sequence[Array]) -> Array:
        """Which rows one of the shadow's rows surely dominates.

        Args:
            columns: one int64 array per column; open arrays broadcast.
        """
        place: Array | int = 0
        for column, edges, lookup, stride in zip(self._cut, self._edges, self._lookups, self._strides, strict=True):
            place = place + _position(columns[column], edges, lookup, stride)
        return np.asarray(self._table[place] < columns[self._exact])


def _thresholds(cut_columns: int) -> int:
    """How many thresholds per column the table has room for; a column of m of them has 2·m + 1 positions."""
    most = 1
    while cut_columns and (2 * (most + 1) + 1) ** cut_columns <= TABLE_VALUES:
        most += 1
    return most


def _spread(distinct: Array, most: int) -> Array:
    """At most `most` of some sorted values, evenly by rank, the largest among them."""
    if distinct.size <= most:
        return distinct
    return distinct[(np.arange(1, most + 1) * distinct.size) // most - 1]


def _edges(cut: Array) -> Array:
    """Per threshold t the values t and t + 1: the number of edges ≤ x is x' position, odd where x is a threshold."""
    edges = np.repeat(cut, 2)[: -1 if cut[-1] == _MOST else None]  # nothing is above the largest integer
    edges[1::2] += 1
    return edges


def _lookup(edges: Array) -> Array | None:
    """The positions of the integers from just below the first edge to the last, where they are few."""
    first, last = int(edges[0]), int(edges[-1])
    if last - first >= LOOKUP_VALUES or first == _LEAST or last == _MOST:
        return None
    return np.searchsorted(edges, np.arange(first - 1, last + 1), side="right")


def _position(values: Array, edges: Array, lookup: Array | None, stride: int) -> Array:
    if lookup is None:
        return np.asarray(np.searchsorted(edges, values, side="right") * stride)
    first = edges[0] - 1
    return np.asarray((lookup * stride)[np.clip(values, first, edges[-1]) - first])


def _least_below(exact: Array, columns: Sequence[Array], cuts: Sequence[Array]) -> Array:
    """Per combination of thresholds the least exact value among the rows that are ≤ all of them."""
    below = np.full([cut.size for cut in cuts], _MOST, dtype=np.int64)
    places = np.zeros(exact.size, dtype=np.int64)
    for column, cut in zip(columns, cuts, strict=True):
        places = places * cut.size + np.searchsorted(cut, column)
    np.minimum.at(below.reshape(-1), places, exact)
    for axis in range(below.ndim):
        np.minimum.accumulate(below, axis=axis, out=below)
    return below


def _doubled(below: Array) -> Array:
    """Per combination of positions the value v such that a row is dominated where v < its exact value.

    Position 2·j + 1 is on threshold j, 2·j + 2 above it, 0 below all. Strictly above a threshold in some column, an
    equal exact value is enough. On thresholds in all of them the exact value has to be better, or the same row has to
    be met strictly above a threshold: one position lower in some column, seen as above the threshold before.
    """
    weak = below
    for axis in range(below.ndim):
        head = np.full_like(weak.take([0], axis=axis), _MOST)
        weak = np.concatenate((head, np.repeat(weak, 2, axis=axis)), axis=axis)
    # An unknown value stays the largest integer, which is below nothing.
    table = np.where(weak == _MOST, _MOST, np.maximum(weak, _LEAST + 1) - 1)
    odd = (slice(1, None, 2),) * below.ndim
    on = np.array(weak[odd])
    for axis in range(below.ndim):
        lower = (*odd[:axis], slice(0, -1, 2), *odd[axis + 1 :])
        np.minimum(on, table[lower], out=on)
    table[odd] = on
    return np.asarray(table)
