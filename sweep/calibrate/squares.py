"""Non-negative least squares over the three columns of a step's time, and which columns the points tell apart; exact.

The points are integers (ns, 1/1000 sequence, 1/1000 token), so the normal equations are integers and their solutions
ratios of integers. The non-negative solution is the ordinary least-squares solution over some of the columns, the
others 0: all eight choices of columns are solved, and of those with no negative coefficient the one with the least sum
of squares is it (the problem is convex, so that one is the global minimum).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Final

from sweep.calibrate.measured import MILLI, StepPoint

OWN_SHARE: Final = Fraction(1, 100)
"""A column counts as known when at least this part of its sum of squares is not explained by the others; below it the
points hardly tell it from them, and its coefficient would be what the noise makes of it."""

Column = int
Coefficients = tuple[Fraction, ...]


def row_of(point: StepPoint) -> tuple[int, int, int]:
    """What the three coefficients are multiplied by in a point, in 1/1000."""
    return MILLI, point.batch_milli, point.chunk_milli


def predicted(coefficients: Iterable[Fraction | int], point: StepPoint) -> Fraction:
    """The step time of a point by all three coefficients, in ns."""
    base, per_sequence, per_token = coefficients
    milli, batch, chunk = row_of(point)
    return Fraction(base * milli + per_sequence * batch + per_token * chunk) / MILLI


def least_squares(points: Sequence[StepPoint], columns: Sequence[Column]) -> Coefficients:
    """The non-negative coefficients of some columns with the least sum of squares; of equal ones those of most columns.

    Returns:
        One coefficient in ns per column, in their order.
    """
    gram, target = _normal(points)
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


def _normal(points: Sequence[StepPoint]) -> tuple[list[list[Fraction]], list[Fraction]]:
    """AᵀA and Aᵀy for rows in sequences and tokens, y in ns."""
    rows = [row_of(point) for point in points]
    upper = {(i, j): Fraction(sum(row[i] * row[j] for row in rows), MILLI**2) for i in range(3) for j in range(i, 3)}
    gram = [[upper[min(i, j), max(i, j)] for j in range(3)] for i in range(3)]
    times = [point.step_ns for point in points]
    return gram, [Fraction(sum(row[i] * y for row, y in zip(rows, times, strict=True)), MILLI) for i in range(3)]


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


def separated(points: Sequence[StepPoint], columns: Sequence[Column]) -> list[Column]:
    """Those of the columns that the points tell from the others: `OWN_SHARE` of their squares is their own.

    What a column has of its own is the squared distance to the others' span, det(all) / det(others) of their Gram
    matrices.
    """
    gram, _ = _normal(points)
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
