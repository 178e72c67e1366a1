"""Non-negative least squares over the three columns of a step's time, and which columns the points tell apart; exact.

The points are ratios; brought to a common denominator they are integers, so the normal equations are integers and their
solutions ratios of integers. Nothing is rounded, with one exception that keeps the work bounded: `MOST_BITS`.
The non-negative solution is the ordinary least-squares solution over some of the columns, the
others 0: all eight choices of columns are solved, and of those with no negative coefficient the one with the least sum
of squares is it (the problem is convex, so that one is the global minimum).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, compress
from math import lcm
from typing import Final

from sweep.calibrate.measured import StepPoint, rounded

MOST_BITS: Final = 2**19
FEWEST_BITS: Final = 128
"""Batches, chunks or times whose common denominator is longer than MOST_BITS / points, and than FEWEST_BITS, are
rounded to 1/FINE of a sequence, a token or a ns before the fit. So it is with many seconds of a series and with many
requests one by one, never with load tests in a number that people run, nor with decimals in a table of steps."""

FINE: Final = 10**6

OWN_SHARE: Final = Fraction(1, 100)
"""A column counts as known when at least this part of its sum of squares is not explained by the others; below it the
points hardly tell it from them, and its coefficient would be what the noise makes of it."""

Column = int
Coefficients = tuple[Fraction, ...]


@dataclass(frozen=True)
class Rows:
    """Points as integers: each value is that many parts of its scale.

    Attributes:
        scales: of the three columns, then of the times.
        rows: what the three coefficients are multiplied by, one row per point.
        times: of the steps, in ns.
    """

    scales: tuple[int, int, int, int]
    rows: Sequence[tuple[int, int, int]]
    times: Sequence[int]

    def only(self, kept: Sequence[bool]) -> Rows:
        """The rows that are kept."""
        return replace(self, rows=list(compress(self.rows, kept)), times=list(compress(self.times, kept)))

    def mean(self, column: Column) -> Fraction:
        """The mean of a column; of 3 that of the times."""
        values = self.times if column == 3 else [row[column] for row in self.rows]
        return Fraction(sum(values), len(values) * self.scales[column])


def rows_of(points: Sequence[StepPoint]) -> Rows:
    """The points as integers; rounded only where `MOST_BITS` says so."""
    (batches, batch), (chunks, chunk), (times, time) = (
        _whole([getattr(point, what) for point in points]) for what in ("batch", "chunk", "step")
    )
    return Rows((1, batch, chunk, time), [(1, b, c) for b, c in zip(batches, chunks, strict=True)], times)


def _whole(values: Sequence[Fraction]) -> tuple[list[int], int]:
    """Values over a common denominator, and that."""
    most = max(FEWEST_BITS, MOST_BITS // len(values))
    scale = 1
    for value in values:
        scale = lcm(scale, value.denominator)
        if scale.bit_length() > most:
            return [rounded(one * FINE) for one in values], FINE
    return [value.numerator * (scale // value.denominator) for value in values], scale


def predicted(coefficients: Iterable[Fraction | int], point: StepPoint) -> Fraction:
    """The step time of a point by all three coefficients, in ns."""
    base, per_sequence, per_token = coefficients
    return base + per_sequence * point.batch + per_token * point.chunk


def least_squares(rows: Rows, columns: Sequence[Column]) -> Coefficients:
    """The non-negative coefficients of some columns with the least sum of squares; of equal ones those of most columns.

    Returns:
        One coefficient in ns per column, in their order.
    """
    gram, target = _normal(rows)
    best: tuple[Fraction, Coefficients] | None = None
    for size in range(len(columns), -1, -1):
        for chosen in combinations(columns, size):
            solution = solve([[gram[i][j] for j in chosen] for i in chosen], [target[i] for i in chosen])
            if solution is None or any(value < 0 for value in solution):
                continue
            values = dict(zip(chosen, solution, strict=True))
            # |y - Ax|² without |y|², which is the same for all: -2·xᵀAᵀy + xᵀAᵀAx, and AᵀAx = Aᵀy on the chosen columns
            cost = -sum((values[i] * target[i] for i in chosen), Fraction(0))
            if best is None or cost < best[0]:
                best = cost, tuple(values.get(column, Fraction(0)) for column in columns)
    assert best is not None  # with no column at all the solution is empty, and not negative
    return best[1]


def _normal(rows: Rows) -> tuple[list[list[Fraction]], list[Fraction]]:
    """AᵀA and Aᵀy for rows in sequences and tokens, y in ns."""
    scales = rows.scales
    upper = {
        (i, j): Fraction(sum(row[i] * row[j] for row in rows.rows), scales[i] * scales[j])
        for i in range(3)
        for j in range(i, 3)
    }
    gram = [[upper[min(i, j), max(i, j)] for j in range(3)] for i in range(3)]
    target = [
        Fraction(sum(row[i] * y for row, y in zip(rows.rows, rows.times, strict=True)), scales[i] * scales[3])
        for i in range(3)
    ]
    return gram, target


def solve(matrix: Sequence[Sequence[Fraction]], right: Sequence[Fraction]) -> list[Fraction] | None:
    """The solution of a square system by elimination; None where it has none or many."""
    size = len(right)
    rows = [[*matrix[i], right[i]] for i in range(size)]
    for column in range(size):
        pivot = next((i for i in range(column, size) if rows[i][column] != 0), None)
        if pivot is None:
            return None
        rows[column], rows[pivot] = rows[pivot], rows[column]
        for i in range(size):
            if i != column and rows[i][column] != 0:
                factor = rows[i][column] / rows[column][column]
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[column], strict=True)]
    return [rows[i][size] / rows[i][i] for i in range(size)]


def separated(rows: Rows, columns: Sequence[Column]) -> list[Column]:
    """Those of the columns that the points tell from the others: `OWN_SHARE` of their squares is their own.

    What a column has of its own is the squared distance to the others' span, det(all) / det(others) of their Gram
    matrices.
    """
    gram, _ = _normal(rows)
    return [
        column
        for column in columns
        if _own(gram, column, [other for other in columns if other != column]) >= OWN_SHARE * gram[column][column]
    ]


def _own(gram: Sequence[Sequence[Fraction]], column: Column, others: Sequence[Column]) -> Fraction:
    """The squared distance of a column to the span of others, of which some may depend on each other."""
    basis: list[Column] = []
    for other in others:
        if _determinant(gram, [*basis, other]) != 0:
            basis.append(other)
    return _determinant(gram, [*basis, column]) / _determinant(gram, basis)


def _determinant(gram: Sequence[Sequence[Fraction]], chosen: Sequence[Column]) -> Fraction:
    """The determinant of a part of a Gram matrix, 1 for none."""
    rows = [[gram[i][j] for j in chosen] for i in chosen]
    result = Fraction(1)
    for column in range(len(rows)):
        pivot = next((i for i in range(column, len(rows)) if rows[i][column] != 0), None)
        if pivot is None:
            return Fraction(0)
        if pivot != column:
            rows[column], rows[pivot] = rows[pivot], rows[column]
            result = -result
        result *= rows[column][column]
        for i in range(column + 1, len(rows)):
            factor = rows[i][column] / rows[column][column]
            rows[i] = [a - factor * b for a, b in zip(rows[i], rows[column], strict=True)]
    return result
