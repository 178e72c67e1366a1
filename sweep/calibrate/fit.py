"""Step time = base + per sequence · batch + per prefill token · chunk, by non-negative least squares, exactly.

The points are integers (ns, 1/1000 sequence, 1/1000 token), so the normal equations are integers and their solutions
ratios of integers: no rounding happens anywhere before a coefficient is rounded up to whole ns at the end.

Non-negative least squares over three columns: its solution is the ordinary least-squares solution over some of the
columns, the others 0. All eight choices of columns are solved, and of those with no negative coefficient the one with
the least sum of squares is it (the problem is convex, so that one is the global minimum).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Final

from sweep.calibrate.measured import MILLI, StepPoint

NAMES: Final = ("base_ns", "per_sequence_ns", "per_prefill_token_ns")

OWN_SHARE: Final = Fraction(1, 100)
"""A column counts as known when at least this part of its sum of squares is not explained by the others; below it the
points hardly tell it from them, and its coefficient would be what the noise makes of it."""

SLOWER: Final = Fraction(11, 10)
"""A second or a request that took more than this times what the fit says was held up: preempted, or swapped out."""

_MAY_STALL: Final = ("second", "request")
_MOST_ROUNDS: Final = 50

Column = int
Coefficients = tuple[Fraction, ...]


@dataclass(frozen=True)
class Fit:
    """What the points say of the coefficients.

    Attributes:
        exact: each coefficient in ns, None where the points do not separate it from the others.
        used: the points that it was fitted to, in their order.
        left_out: points of engines that stalled.
        combined: where coefficients are not separated, the mean batch and chunk of the points and their mean step time
            in ns: the one combination that they do give.
        line: where prefill grows with the batch in all points, the step time over the batch alone: ns at 0, and ns per
            sequence with the prompts that come with it.
    """

    exact: tuple[Fraction | None, Fraction | None, Fraction | None]
    used: tuple[StepPoint, ...]
    left_out: tuple[StepPoint, ...]
    combined: tuple[Fraction, Fraction, Fraction] | None = None
    line: tuple[Fraction, Fraction] | None = None


def row_of(point: StepPoint) -> tuple[int, int, int]:
    """What the three coefficients are multiplied by in a point, in 1/1000."""
    return MILLI, point.batch_milli, point.chunk_milli


def fit(points: Sequence[StepPoint]) -> Fit:
    """The coefficients of the points, as far as they are separated.

    Points of seconds and requests are fitted robustly: first the faster half of them, then all that take at most 11/10
    of what the fit says, until that set repeats. Others are all kept.

    Args:
        points: at least one.
    """
    kept = _settled(list(points))
    used = tuple(point for point, keep in zip(points, kept, strict=True) if keep)
    left_out = tuple(point for point, keep in zip(points, kept, strict=True) if not keep)
    columns = [column for column in range(3) if any(row_of(point)[column] for point in used)]
    known = separated(used, columns)
    found = dict(zip(columns, least_squares(used, columns), strict=True))
    exact = [found[column] if column in known else None for column in range(3)]
    line = combined = None
    if len(known) < len(columns):
        means = [Fraction(sum(row_of(point)[column] for point in used), len(used) * MILLI) for column in (1, 2)]
        combined = (means[0], means[1], Fraction(sum(point.step_ns for point in used), len(used)))
        if separated(used, columns[:2]) == [0, 1]:
            intercept, slope = least_squares(used, (0, 1))
            line = (intercept, slope)
    return Fit((exact[0], exact[1], exact[2]), used, left_out, combined, line)


def _settled(points: list[StepPoint]) -> list[bool]:
    """Which points are kept."""
    times = sorted(point.step_ns for point in points if point.kind in _MAY_STALL)
    if not times:
        return [True] * len(points)
    median = times[(len(times) - 1) // 2]
    kept = [point.kind not in _MAY_STALL or point.step_ns <= median for point in points]
    seen = set()
    for _ in range(_MOST_ROUNDS):
        if tuple(kept) in seen:
            break
        seen.add(tuple(kept))
        chosen = [point for point, keep in zip(points, kept, strict=True) if keep]
        found = least_squares(chosen, range(3))
        kept = [point.kind not in _MAY_STALL or point.step_ns <= SLOWER * predicted(found, point) for point in points]
    return kept


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
