"""Step time = base + per sequence · batch + per prefill token · chunk, from measured points.

Nothing is rounded before a coefficient is rounded up to whole ns at the end, but where very many points have no short
common denominator (`squares.MOST_BITS`). Which seconds and requests count as stalled is decided in 1/1000.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from sweep.calibrate.measured import MILLI, StepPoint, rounded
from sweep.calibrate.squares import Rows, least_squares, rows_of, separated

NAMES: Final = ("base_ns", "per_sequence_ns", "per_prefill_token_ns")

SLOWER: Final = (11, 10)
"""A second or a request that took more than this ratio of what the fit says was held up: preempted, or swapped out."""

_MAY_STALL: Final = ("second", "request")
_MOST_ROUNDS: Final = 50
_PARTS: Final = 4


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


def fit_beside(points: Sequence[StepPoint], per_token_ns: int) -> Fit:
    """The other two coefficients where that of a prefill token is stated: it is taken off each point first.

    Args:
        points: at least one, each longer than its prefill.
        per_token_ns: ns of a prefill token.
    """
    bare = [replace(point, chunk=Fraction(0), step=point.step - per_token_ns * point.chunk) for point in points]
    found = fit(bare)
    whole = {id(one): point for one, point in zip(bare, points, strict=True)}
    used, left_out = (tuple(whole[id(one)] for one in part) for part in (found.used, found.left_out))
    return Fit((found.exact[0], found.exact[1], Fraction(per_token_ns)), used, left_out, found.combined)


def fit(points: Sequence[StepPoint]) -> Fit:
    """The coefficients of the points, as far as they are separated.

    Points of seconds and requests are fitted robustly: those that take more than 11/10 of what the fit says are left
    out, until the set of the others repeats. Points of other kinds are all kept.

    Args:
        points: at least one.
    """
    everything = rows_of(points)
    kept = _settled(list(points), everything)
    rows = everything.only(kept)
    used = tuple(point for point, keep in zip(points, kept, strict=True) if keep)
    left_out = tuple(point for point, keep in zip(points, kept, strict=True) if not keep)
    columns = [column for column in range(3) if any(row[column] for row in rows.rows)]
    known = separated(rows, columns)
    found = dict(zip(columns, least_squares(rows, columns), strict=True))
    exact = [found[column] if column in known else None for column in range(3)]
    line = combined = None
    if len(known) < len(columns):
        combined = (rows.mean(1), rows.mean(2), rows.mean(3))
        if separated(rows, columns[:2]) == [0, 1]:
            intercept, slope = least_squares(rows, (0, 1))
            line = (intercept, slope)
    return Fit((exact[0], exact[1], exact[2]), used, left_out, combined, line)


def _settled(points: Sequence[StepPoint], rows: Rows) -> list[bool]:
    """Which points are kept.

    A stall only ever makes a step longer, and a fit to all points may be drawn so far by the long ones that it keeps
    them. So it is begun three times: with all points, with the faster half, and with the faster half of each quarter by
    prefill tokens. Of the three ends the one counts whose three quarters of best fitting points fit best (least trimmed
    squares); of equal ones the one that keeps most.
    """
    movable = [at for at, point in enumerate(points) if point.kind in _MAY_STALL]
    if not movable:
        return [True] * len(points)
    by_chunk = sorted(movable, key=lambda at: points[at].chunk)
    size = -(-len(by_chunk) // _PARTS)
    quarters = [by_chunk[begin : begin + size] for begin in range(0, len(by_chunk), size)]
    ends = [
        _repeated(points, rows, {at for part in start for at in _faster_half(points, part)})
        for start in ([], [movable], quarters)
    ]
    return min(ends, key=lambda end: (end[0], -sum(end[1])))[1]


def _faster_half(points: Sequence[StepPoint], part: Sequence[int]) -> list[int]:
    return sorted(part, key=lambda at: points[at].step)[: -(-len(part) // 2)]


def _repeated(points: Sequence[StepPoint], rows: Rows, start: set[int]) -> tuple[int, list[bool]]:
    """Fits and leaves out the slow points until the set of kept ones repeats.

    Args:
        points: the points.
        rows: the same as integers.
        start: which of those that may stall are fitted first; empty for all.

    Returns:
        The sum of the smallest three quarters of the squared residuals, and which points are kept.
    """
    kept = [point.kind not in _MAY_STALL or not start or at in start for at, point in enumerate(points)]
    seen: set[tuple[bool, ...]] = set()
    milli = [(point.batch_milli, point.chunk_milli) for point in points]
    times = [point.step_ns * MILLI * MILLI for point in points]
    models = times
    for _ in range(_MOST_ROUNDS):
        if tuple(kept) in seen:
            break
        seen.add(tuple(kept))
        # which points are kept is decided in whole 1/1000 ns: that is fast, and finer than any clock
        base, per_sequence, per_token = (rounded(value * MILLI) for value in least_squares(rows.only(kept), range(3)))
        models = [base * MILLI + per_sequence * batch + per_token * chunk for batch, chunk in milli]
        kept = [
            point.kind not in _MAY_STALL or time * SLOWER[1] <= model * SLOWER[0]
            for point, time, model in zip(points, times, models, strict=True)
        ]
    squares = sorted((time - model) ** 2 for time, model in zip(times, models, strict=True))
    return sum(squares[: -(-3 * len(squares) // 4)]), kept
