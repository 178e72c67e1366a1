"""The exact Pareto set of integer rows, every column to be minimised.

Row s dominates row r when s ≤ r in every column and s ≠ r. Rows are compared as int64; whoever has larger integers
passes ranks, which order alike.
"""

from __future__ import annotations

import numpy as np

from sweep.engine.opening import Array

CHUNK_ROWS = 1024
"""Rows that are compared pairwise at a time; 1024² · 8 bytes stay in cache."""

CHAMPIONS = 48
"""Rows that the coarse filter compares everything with."""


def pareto_rows(rows: Array) -> Array:
    """Which rows no other row dominates, as a bool array; equal rows stand or fall together.

    Args:
        rows: int64, one row per candidate, one column per objective, smaller is better.
    """
    kept = np.zeros(rows.shape[0], dtype=bool)
    if rows.shape[0] == 0:
        return kept
    alive = np.flatnonzero(_coarse(rows))
    order = alive[np.lexsort(rows[alive].T[::-1])]
    ordered = rows[order]
    first = np.ones(order.size, dtype=bool)
    first[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    distinct = _pareto_distinct(ordered[first])
    # Equal rows are neighbours after the sort: the verdict on the first of them holds for all.
    kept[order] = distinct[np.cumsum(first) - 1]
    return kept


def _coarse(rows: Array) -> Array:
    """Drops rows that one of a few strong rows dominates: sound, far from complete, and cheap per row."""
    alive = np.ones(rows.shape[0], dtype=bool)
    if rows.shape[0] <= 4 * CHUNK_ROWS:
        return alive
    places = np.arange(rows.shape[0])
    columns = [np.ascontiguousarray(column) for column in rows.T]
    for champion in _champions(rows):
        behind = dominated_by(columns, champion)
        alive[places[behind]] = False
        if 8 * np.count_nonzero(behind) > behind.size:
            places = places[~behind]
            columns = [column[~behind] for column in columns]
    return alive


def dominated_by(columns: list[Array], row: Array) -> Array:
    """Which rows, given as columns, one row dominates."""
    nowhere_better = np.ones(columns[0].size, dtype=bool)
    somewhere_worse = np.zeros(columns[0].size, dtype=bool)
    for column, value in zip(columns, row, strict=True):
        nowhere_better &= column >= value
        somewhere_worse |= column > value
    return nowhere_better & somewhere_worse


def _champions(rows: Array) -> Array:
    """Rows that are likely to dominate many: the best by weighted ranks, for weights that favour each column in turn.

    The weights only pick the rows; whether a row is dominated is decided on the integers.
    """
    sample = rows[:: max(1, rows.shape[0] // 20_000)]
    ranks = np.argsort(np.argsort(sample, axis=0, kind="stable"), axis=0, kind="stable")
    columns = rows.shape[1]
    picked: list[int] = []
    for turn in range(CHAMPIONS):
        weights = 1 + (turn // columns + 1) ** 2 * (np.arange(columns) == turn % columns)
        picked.append(int((ranks * weights).sum(axis=1).argmin()))
    return sample[sorted(set(picked))]


def _pareto_distinct(rows: Array) -> Array:
    """The same for distinct rows in lexicographic order.

    A row can then only be dominated by an earlier one: where s ≤ r in every column and s ≠ r, s comes first. And since
    the first column of every earlier row is ≤ that of a later one, it needs no comparison; with three columns the rest
    is a staircase.
    """
    kept = np.zeros(rows.shape[0], dtype=bool)
    best = rows[:0]
    for start in range(0, rows.shape[0], CHUNK_ROWS):
        part = rows[start : start + CHUNK_ROWS]
        alive = np.flatnonzero(~_behind(part, best))
        survivors = part[alive]
        inside = _dominated_inside(survivors)
        kept[start + alive[~inside]] = True
        best = _merged(best, survivors[~inside])
    return kept


def _behind(part: Array, best: Array) -> Array:
    """Which rows of a chunk an earlier Pareto row dominates."""
    if best.shape[0] == 0:
        return np.zeros(part.shape[0], dtype=bool)
    columns = part.shape[1]
    if columns == 1:
        return np.ones(part.shape[0], dtype=bool)
    if columns == 2:
        return np.asarray(part[:, 1] >= best[:, 1].min())
    if columns == 3:
        at = np.searchsorted(best[:, 1], part[:, 1], side="right") - 1
        return np.asarray((at >= 0) & (part[:, 2] >= best[np.maximum(at, 0), 2]))
    behind = np.zeros(part.shape[0], dtype=bool)
    for start in range(0, best.shape[0], CHUNK_ROWS):
        open_rows = np.flatnonzero(~behind)
        behind[open_rows] = _any_dominates(best[start : start + CHUNK_ROWS], part[open_rows])
    return behind


def _any_dominates(best: Array, rows: Array) -> Array:
    """Which rows some row of `best` is nowhere worse than; the first column is known to be no better."""
    ahead = np.ones((rows.shape[0], best.shape[0]), dtype=bool)
    for column in range(1, rows.shape[1]):
        ahead &= best[None, :, column] <= rows[:, None, column]
    return np.asarray(ahead.any(axis=1))


def _dominated_inside(rows: Array) -> Array:
    """Which rows of a chunk an earlier row of the chunk dominates."""
    count = rows.shape[0]
    ahead = np.tri(count, k=-1, dtype=bool)
    for column in range(1, rows.shape[1]):
        ahead &= rows[None, :, column] <= rows[:, None, column]
    return np.asarray(ahead.any(axis=1))


def _merged(best: Array, fresh: Array) -> Array:
    """The Pareto rows so far; of three columns only the staircase: second column up, third column strictly down."""
    rows = np.concatenate((best, fresh))
    if rows.shape[1] != 3 or rows.shape[0] == 0:
        return rows
    rows = rows[np.lexsort((rows[:, 2], rows[:, 1]))]
    lowest = np.minimum.accumulate(rows[:, 2])
    steps = np.ones(rows.shape[0], dtype=bool)
    steps[1:] = rows[1:, 2] < lowest[:-1]
    return rows[steps]
