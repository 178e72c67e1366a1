"""The step time that measured points give: coefficients in whole ns, their range, a residual for each point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from sweep.calibrate.fields import MOST_FAULTS
from sweep.calibrate.fit import NAMES, Fit, fit, fit_beside
from sweep.calibrate.measured import StepPoint, ceiling, rounded
from sweep.calibrate.squares import predicted
from sweep.errors import InputFault
from sweep.units import grouped

BOUNDS: Final = (10**15, 10**12, 10**12)
"""The largest coefficients that a grid takes, in ns (`grid.md`)."""

FAR: Final = 10
"""A point whose residual is more than this part of its step gets a remark."""

MOST_SLOTS: Final = 10**6
MOST_TOKENS: Final = 10**7
"""The largest batch and chunk of a grid."""


@dataclass(frozen=True)
class StepTime:
    """Coefficients of the step time; None where the points do not separate one from the others.

    Attributes:
        base_ns, per_sequence_ns, per_prefill_token_ns: rounded up to whole ns, so that no step is taken as faster.
        fit: the exact coefficients, the points that they were fitted to, and those left out.
        measured_slots, measured_chunk_tokens: the range of the points used, outwards to whole numbers.
        stated: whether the user stated `per_prefill_token_ns`.
    """

    base_ns: int | None
    per_sequence_ns: int | None
    per_prefill_token_ns: int | None
    fit: Fit
    measured_slots: tuple[int, int]
    measured_chunk_tokens: tuple[int, int]
    stated: bool = False

    @property
    def coefficients(self) -> tuple[int | None, int | None, int | None]:
        """The three, in the order of `NAMES`."""
        return self.base_ns, self.per_sequence_ns, self.per_prefill_token_ns

    @property
    def complete(self) -> bool:
        """Whether all three are known."""
        return None not in self.coefficients

    def residual_ns(self, point: StepPoint) -> int | None:
        """Measured minus modelled step time, to the nearest ns; None where a coefficient that it needs is unknown."""
        rows = (1, point.batch, point.chunk)
        if any(value is None and times for value, times in zip(self.coefficients, rows, strict=True)):
            return None
        return rounded(point.step - predicted([value or 0 for value in self.coefficients], point))

    def as_json(self) -> dict[str, Any]:
        """With stable keys."""
        found: dict[str, Any] = dict(zip(NAMES, self.coefficients, strict=True))
        found["exact"] = {
            name: None if value is None else f"{value.numerator}/{value.denominator}"
            for name, value in zip(NAMES, self.fit.exact, strict=True)
        }
        found["measured_slots"] = list(self.measured_slots)
        found["measured_chunk_tokens"] = list(self.measured_chunk_tokens)
        found["combination"] = self.combination
        line = None if self.fit.line is None else [ceiling(part) for part in self.fit.line]
        found["at_this_mix"] = None if line is None else {"base_ns": line[0], "per_sequence_ns": line[1]}
        kept = set(map(id, self.fit.used))
        found["points"] = [
            {
                "where": point.where,
                "kind": point.kind,
                "batch_milli": point.batch_milli,
                "chunk_milli": point.chunk_milli,
                "step_ns": point.step_ns,
                "residual_ns": self.residual_ns(point),
                "used": id(point) in kept,
            }
            for point in (*self.fit.used, *self.fit.left_out)
        ]
        return found

    @property
    def combination(self) -> str | None:
        """The one combination that the points do give where they do not separate the coefficients."""
        if self.fit.combined is None:
            return None
        batch, chunk, step = self.fit.combined
        parts = ["base"]
        parts += [f"{_decimal(batch)} · per sequence"] if batch else []
        parts += [f"{_decimal(chunk)} · per prefill token"] if chunk else []
        return f"{' + '.join(parts)} = {milliseconds(rounded(step))} ms"


def _decimal(number: Fraction) -> str:
    thousandths = rounded(number * 1_000)
    text = f"{grouped(thousandths // 1_000)}.{thousandths % 1_000:03}"
    return text.rstrip("0").rstrip(".")


def milliseconds(ns: int) -> str:
    """Whole ns as ms with three decimals, rounded to nearest."""
    thousandths = rounded(Fraction(abs(ns), 1_000))
    sign = "-" if ns < 0 and thousandths else ""
    return f"{sign}{grouped(thousandths // 1_000)}.{thousandths % 1_000:03}"


def step_time_of(points: Sequence[StepPoint], per_prefill_token_ns: int | None = None) -> StepTime:
    """The step time of at least one point.

    Args:
        points: the points.
        per_prefill_token_ns: where the user states it; the others are then fitted beside it.

    Raises:
        InputFault: a batch, a chunk or a coefficient beyond what a grid takes, or a stated prefill that is longer than
            a step.
    """
    beyond = [
        f"{point.where}: its figures give a step of {grouped(int(point.batch))} sequences and "
        f"{grouped(int(point.chunk))} prefill tokens, a grid takes at most {grouped(MOST_SLOTS)} and "
        f"{grouped(MOST_TOKENS)}; check its duration and its lengths."
        for point in points
        if point.batch > MOST_SLOTS or point.chunk > MOST_TOKENS
    ]
    stated = per_prefill_token_ns
    if stated is not None:
        beyond += [
            f"{point.where}: at {grouped(stated)} ns a token its {grouped(int(point.chunk))} prefill tokens "
            f"take longer than its step of {milliseconds(point.step_ns)} ms; state less."
            for point in points
            if stated * point.chunk >= point.step
        ]
    if beyond:
        raise InputFault(beyond[:MOST_FAULTS])
    found = fit(points) if stated is None else fit_beside(points, stated)
    whole = [None if value is None else ceiling(value) for value in found.exact]
    faults = [
        f"{name}: the points give {grouped(value)} ns, a grid takes at most {grouped(most)}; check the unit of times."
        for name, value, most in zip(NAMES, whole, BOUNDS, strict=True)
        if value is not None and value > most
    ]
    if faults:
        raise InputFault(faults)
    batches = [point.batch for point in found.used]
    chunks = [point.chunk for point in found.used]
    slots, tokens = ((int(min(side)), ceiling(max(side))) for side in (batches, chunks))
    if stated is not None:
        return StepTime(whole[0], whole[1], stated, found, slots, tokens, stated=True)
    return StepTime(whole[0], whole[1], whole[2], found, slots, tokens)


def why_not(step_time: StepTime) -> list[str]:
    """Why coefficients are not known, and what measurement would give them, as clauses."""
    unknown = [name for name, value in zip(NAMES, step_time.coefficients, strict=True) if value is None]
    if not unknown:
        return []
    used, fitted = step_time.fit.used, step_time.fit
    clauses = []
    if fitted.combined is not None:
        names = ", ".join(
            name for name, value in zip(NAMES, fitted.exact, strict=True) if value is None and _in(name, used)
        )
        many = len({(point.batch, point.chunk) for point in used})
        if many == 1:
            why = "all points have the same batch and prefill"
        elif fitted.line is not None:
            why = "in all points the prefill grows with the batch, as it does at one mix of lengths"
        else:
            why = "the points differ too little in batch and prefill"
        clauses.append(
            f"{names}: {why}; add load tests with other max_concurrency, one with a single request at a time, or "
            f"another mix of lengths{_OR_STATE if fitted.line is not None else ''}"
        )
    if not any(point.batch for point in used):
        clauses.append("per_sequence_ns: no point has a decoding sequence; add a load test")
    if not step_time.stated and not any(point.chunk for point in used):
        clauses.append(
            "per_prefill_token_ns: no point has prefill tokens; add a load test with a single request at a time "
            "(max_concurrency 1), or one under load"
        )
    return clauses


def doubts_of(step_time: StepTime) -> list[str]:
    """What makes the fit doubtful, as clauses: a coefficient of 0, and points that it misses by far."""
    zero = [name for name, value in zip(NAMES, step_time.fit.exact, strict=True) if value == 0]
    found = [
        f"{name} is 0: the points fit best without it, and no engine works for nothing; check them, or measure more"
        for name in zero
    ]
    far = [
        (abs(residual), point)
        for point in step_time.fit.used
        if (residual := step_time.residual_ns(point)) is not None and abs(residual) * FAR > point.step
    ]
    if far:
        worst, point = max(far, key=lambda one: one[0] / one[1].step)
        found.append(
            f"{grouped(len(far))} of {grouped(len(step_time.fit.used))} points are more than a tenth of their step "
            f"away from the fit, {point.where} by {milliseconds(worst)} of {milliseconds(point.step_ns)} ms; a step "
            f"time that is linear in batch and prefill describes them badly"
        )
    return found


_OR_STATE = ", or state what a prefill token takes with --per-prefill-token-ns"


def _in(name: str, points: Sequence[StepPoint]) -> bool:
    """Whether a coefficient has a part in any point."""
    side = {"base_ns": 0, "per_sequence_ns": 1, "per_prefill_token_ns": 2}[name]
    return any((1, point.batch, point.chunk)[side] for point in points)
