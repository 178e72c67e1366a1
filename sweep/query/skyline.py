"""The exact Pareto set of integer rows, every column to be minimised.

Row s dominates row r when s ≤ r in every column and s ≠ r. Rows are compared as int64; whoever has larger integers
passes ranks, which order alike.

Two columns need one sort. With more, rows are packed into boxes of neighbours: a box can hold a dominator of another
only if its lower corner is ≤ the other's upper corner in every column, which of n boxes on a front only few are. (A
random antichain of four columns, one core: 10^5 rows in half a second, 10^6 rows in seven.)
"""

from __future__ import annotations

import numpy as np

from sweep.engine.opening import Array
from sweep.query.shadow import MOST_COLUMNS, Shadow

BOX_ROWS = 128
"""Rows in a box: 128² comparisons cost about as much as the handling of a pair of boxes (measured: 64 to 256)."""

PAIR_VALUES = 2**21
"""How many pairs of rows, or of boxes, are compared at once; the bools stay in cache."""

COARSE_FROM = 4096
"""Below this many rows a filter costs more than it saves."""

SAMPLED = 16
"""One in so many rows makes the filter for all."""


def pareto_rows(rows: Array) -> Array:
    """Which rows no other row dominates, as a bool array; equal rows stand or fall together.

    Args:
        rows: int64, one row per candidate, one column per objective, smaller is better.
    """
    kept = np.zeros(rows.shape[0], dtype=bool)
    if rows.shape[0] == 0:
        return kept
    alive = np.flatnonzero(_coarse(rows))
    order = alive[lexicographic(rows[alive])]
    ordered = rows[order]
    first = starts_of_equal(ordered)
    distinct = _pareto_distinct(ordered[first])
    # Equal rows are neighbours after the sort: the verdict on the first of them holds for all.
    kept[order] = distinct[np.cumsum(first) - 1]
    return kept


def lexicographic(rows: Array) -> Array:
    """The order of rows by their first column, then the second, and so on."""
    return np.lexsort(rows.T[::-1])


def starts_of_equal(ordered: Array) -> Array:
    """Which rows of an ordered array differ from the one before, as a bool array."""
    first = np.ones(ordered.shape[0], dtype=bool)
    first[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    return first


def _coarse(rows: Array) -> Array:
    """Drops what the front of a sample surely dominates: sound, not complete, and cheap per row."""
    count, columns = rows.shape
    if count <= COARSE_FROM or columns > MOST_COLUMNS:
        return np.ones(count, dtype=bool)
    sample = rows[::SAMPLED]
    shadow = Shadow(sample[pareto_rows(sample)])
    return np.asarray(~shadow.covers(list(rows.T)))


def _pareto_distinct(rows: Array) -> Array:
    """The same for distinct rows in lexicographic order.

    A row can then only be dominated by an earlier one: where s ≤ r in every column and s ≠ r, s comes first.
    """
    count, columns = rows.shape
    if columns == 1:
        return np.asarray(np.arange(count) == 0)
    if columns == 2:
        kept = np.ones(count, dtype=bool)
        kept[1:] = rows[1:, 1] < np.minimum.accumulate(rows[:-1, 1])
        return kept
    # A column of one value decides nothing, and would be packed by for nothing.
    varying = [column for column in range(columns) if (rows[:, column] != rows[0, column]).any()]
    if len(varying) < columns:
        return _pareto_distinct(rows[:, varying]) if varying else np.ones(count, dtype=bool)
    order = packed(rows)
    kept = np.empty(count, dtype=bool)
    kept[order] = _ahead_in_boxes(rows[order])
    return kept


def packed(rows: Array, size: int = BOX_ROWS) -> Array:
    """An order in which every `size` consecutive rows are neighbours: sorted and cut by one column after the other.

    The last column is left out: on a front the others nearly determine it.
    """
    count = rows.shape[0]
    columns = rows.shape[1] - 1
    slices = 1
    while size * slices**columns < count:
        slices += 1
    order = np.arange(count)
    slab = np.zeros(count, dtype=np.int64)
    for column in range(columns):
        order = order[np.lexsort((rows[order, column], slab))]
        slab = np.arange(count) // (size * slices ** (columns - 1 - column))
    return order


def _ahead_in_boxes(rows: Array) -> Array:
    """Which of distinct rows none dominates; boxes are `BOX_ROWS` consecutive rows.

    Strong boxes come first, and what is known to be dominated dominates nothing that its own dominator does not.
    """
    starts = np.arange(0, rows.shape[0], BOX_ROWS)
    lows, highs = np.minimum.reduceat(rows, starts), np.maximum.reduceat(rows, starts)
    strength = np.argsort(np.argsort(lows, axis=0), axis=0).sum(axis=1)
    strongest = np.argsort(strength, kind="stable")
    alive = np.ones(rows.shape[0], dtype=bool)
    step = max(1, PAIR_VALUES // starts.size)
    for at in range(0, starts.size, step):
        boxes = strongest[at : at + step]
        for box, reach in zip(boxes, _reaching(lows[strongest], highs[boxes]), strict=True):
            own = slice(box * BOX_ROWS, (box + 1) * BOX_ROWS)
            near = _rows_of(strongest[np.flatnonzero(reach)], rows.shape[0])
            near = near[alive[near]]
            near = near[(rows[near] <= highs[box]).all(axis=1)]
            alive[own] = _none_ahead(rows[own], rows, near)
    return alive


def _reaching(lows: Array, highs: Array) -> Array:
    """Per upper corner which lower corners are ≤ it in every column: only those boxes may hold a dominator."""
    reach = np.ones((highs.shape[0], lows.shape[0]), dtype=bool)
    for column in range(lows.shape[1]):
        reach &= lows[None, :, column] <= highs[:, None, column]
    return reach


def _rows_of(boxes: Array, count: int) -> Array:
    """The rows of some boxes; the last box of all may be short."""
    found = (boxes[:, None] * BOX_ROWS + np.arange(BOX_ROWS)).reshape(-1)
    return found[found < count]


def _none_ahead(own: Array, rows: Array, near: Array) -> Array:
    """Which rows of a box no row of `near` dominates; `near` holds the box itself, and every row is ≤ itself."""
    met = np.zeros(own.shape[0], dtype=np.int64)
    open_rows = np.arange(own.shape[0])
    at, step = 0, BOX_ROWS
    while at < near.size and open_rows.size:
        others = rows[near[at : at + step]]
        ahead = np.ones((open_rows.size, others.shape[0]), dtype=bool)
        for column in range(own.shape[1]):
            ahead &= others[None, :, column] <= own[open_rows, None, column]
        met[open_rows] += np.count_nonzero(ahead, axis=1)
        open_rows = open_rows[met[open_rows] < 2]
        at, step = at + step, min(2 * step, PAIR_VALUES // BOX_ROWS)
    return met < 2
