"""A staged rollout: guardrails and the rollback rule per stage, in exact decimals, one decision per stage.

A rollout is a value: what was planned, and what was observed at each stage so far. Decisions follow from those and from
nothing else, so a file of it can be checked by deciding everything again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Final

from sweep.errors import UsageFault
from sweep.operate.manifest_numbers import Number, exact_numbers
from sweep.records.digest import digest
from sweep.records.wording import CLAIM
from sweep.units import decimal_text, grouped

ROLLOUT_VERSION: Final = 1

ADVANCE: Final = "advance"
HALT: Final = "halt"
ROLLBACK: Final = "rollback"
NOT_ENOUGH_DATA: Final = "not_enough_data"

RUNNING: Final = "running"
COMPLETED: Final = "completed"
HALTED: Final = "halted"
ROLLED_BACK: Final = "rolled_back"

MAX_STAGES: Final = 100
SAMPLES = (1, 10**15)
"""Bounds of a number of requests."""
LATENCY_MS = (0, 10**9)
"""Bounds of a latency."""


def evaluate_rollout_stage(
    error_rate: Number, p99_latency_ms: Number, error_guardrail: Number, latency_guardrail_ms: Number
) -> str:
    """`halt` where the error rate or the p99 latency is strictly over its guardrail, else `advance`.

    Args:
        error_rate: failed requests over all, of the stage.
        p99_latency_ms: of the stage, ms.
        error_guardrail: the largest error rate.
        latency_guardrail_ms: the largest p99 latency, ms.

    Raises:
        RecordFault: a number that is none, or negative; every fault at once.

    >>> evaluate_rollout_stage("0.01", 200, "0.01", 200), evaluate_rollout_stage("0.01", "200.1", "0.01", 200)
    ('advance', 'halt')
    """
    given = exact_numbers(
        {
            "error_rate": error_rate,
            "p99_latency_ms": p99_latency_ms,
            "error_guardrail": error_guardrail,
            "latency_guardrail_ms": latency_guardrail_ms,
        }
    )
    over = given["error_rate"] > given["error_guardrail"] or given["p99_latency_ms"] > given["latency_guardrail_ms"]
    return HALT if over else ADVANCE


def should_rollback(old_p99_ms: Number, new_p99_ms: Number, regression_tolerance: Number) -> bool:
    """Whether the new p99 latency is strictly over old · (1 + tolerance).

    Args:
        old_p99_ms: before the rollout, ms.
        new_p99_ms: of the stage, ms.
        regression_tolerance: the tolerated rise, a share: 0.1 is ten per cent.

    Raises:
        RecordFault: a number that is none, or negative; every fault at once.

    >>> should_rollback(100, 110, "0.1"), should_rollback(100, "110.1", "0.1")
    (False, True)
    """
    given = exact_numbers(
        {"old_p99_ms": old_p99_ms, "new_p99_ms": new_p99_ms, "regression_tolerance": regression_tolerance}
    )
    return given["new_p99_ms"] > given["old_p99_ms"] * (1 + given["regression_tolerance"])


@dataclass(frozen=True)
class Plan:
    """What a rollout does.

    Attributes:
        stages: the part of the traffic that the new version gets at each stage, above 0, rising, the last 1.
        error_guardrail: the largest error rate of a stage.
        latency_guardrail_ms: the largest p99 latency of a stage, ms.
        old_p99_ms: the p99 latency before the rollout, ms.
        regression_tolerance: the tolerated rise of it, a share.
        min_samples: requests that a stage needs before anything is decided.
        manifest: digest of the new manifest; None where none was named.
        old_manifest: digest of the one to roll back to; None likewise.
    """

    stages: tuple[Fraction, ...]
    error_guardrail: Fraction
    latency_guardrail_ms: Fraction
    old_p99_ms: Fraction
    regression_tolerance: Fraction
    min_samples: int
    manifest: str | None = None
    old_manifest: str | None = None

    def faults(self) -> list[str]:
        """What is wrong with it, one sentence each."""
        found = []
        if not 1 <= len(self.stages) <= MAX_STAGES:
            found.append(f"stages: got {len(self.stages)}, wanted 1 to {MAX_STAGES}; correct them.")
        rising = all(a < b for a, b in zip((Fraction(0), *self.stages), self.stages, strict=False))
        if not rising or not self.stages or self.stages[-1] != 1:
            found.append("stages: wanted shares above 0 that rise to 1 (100 %), the last is the whole; correct them.")
        for name, value, (lower, upper) in (
            ("error_guardrail", self.error_guardrail, (0, 1)),
            ("latency_guardrail_ms", self.latency_guardrail_ms, LATENCY_MS),
            ("old_p99_ms", self.old_p99_ms, LATENCY_MS),
            ("regression_tolerance", self.regression_tolerance, (0, 1_000)),
            ("min_samples", Fraction(self.min_samples), SAMPLES),
        ):
            if not lower <= value <= upper:
                wanted = f"wanted {grouped(lower)} to {grouped(upper)}"
                found.append(f"{name}: got {decimal_text(value)}, {wanted}; correct it.")
        return found

    def as_json(self) -> dict[str, Any]:
        """With stable keys; decimals are texts."""
        return {
            "stages": [decimal_text(stage) for stage in self.stages],
            "error_guardrail": decimal_text(self.error_guardrail),
            "latency_guardrail_ms": decimal_text(self.latency_guardrail_ms),
            "old_p99_ms": decimal_text(self.old_p99_ms),
            "regression_tolerance": decimal_text(self.regression_tolerance),
            "min_samples": self.min_samples,
            "manifest": self.manifest,
            "old_manifest": self.old_manifest,
        }


@dataclass(frozen=True)
class Observation:
    """What a stage showed, all of its requests so far.

    Attributes:
        requests: how many finished, those that failed included.
        errors: how many failed.
        p99_latency_ms: of them, ms.
    """

    requests: int
    errors: int
    p99_latency_ms: Fraction

    @property
    def error_rate(self) -> Fraction:
        """Failed over all, exactly; 0 of none."""
        return Fraction(self.errors, self.requests) if self.requests else Fraction(0)

    def as_json(self) -> dict[str, Any]:
        """With stable keys."""
        return {"requests": self.requests, "errors": self.errors, "p99_latency_ms": decimal_text(self.p99_latency_ms)}


@dataclass(frozen=True)
class Decision:
    """What follows from the observation of a stage.

    Attributes:
        action: `advance`, `halt`, `rollback` or `not_enough_data`.
        reasons: why, in clauses; every rule that is broken.
    """

    action: str
    reasons: tuple[str, ...]


def decide(plan: Plan, seen: Observation) -> Decision:
    """The decision on a stage: too few requests decide nothing; a regression rolls back, else a guardrail halts.

    Every broken rule is named, and the strongest action is taken.
    """
    if seen.requests < plan.min_samples:
        text = f"{grouped(seen.requests)} of the {grouped(plan.min_samples)} requests that a stage needs"
        return Decision(NOT_ENOUGH_DATA, (text,))
    reasons, p99 = list[str](), seen.p99_latency_ms
    stage = evaluate_rollout_stage(seen.error_rate, p99, plan.error_guardrail, plan.latency_guardrail_ms)
    back = should_rollback(plan.old_p99_ms, p99, plan.regression_tolerance)
    if seen.error_rate > plan.error_guardrail:
        rate = f"{grouped(seen.errors)} of {grouped(seen.requests)} requests failed"
        reasons.append(f"{rate}, more than the guardrail of {decimal_text(plan.error_guardrail)}")
    if p99 > plan.latency_guardrail_ms:
        reasons.append(f"p99 {decimal_text(p99)} ms is over the guardrail of {_ms(plan.latency_guardrail_ms)}")
    if back:
        most = plan.old_p99_ms * (1 + plan.regression_tolerance)
        rule = f"{decimal_text(plan.old_p99_ms)} · (1 + {decimal_text(plan.regression_tolerance)})"
        reasons.append(f"p99 {decimal_text(p99)} ms is over {rule} = {_ms(most)}")
    if not reasons:
        reasons.append("both guardrails hold, and p99 is within the tolerance")
    return Decision(ROLLBACK if back else stage, tuple(reasons))


def _ms(value: Fraction) -> str:
    return f"{decimal_text(value)} ms"


@dataclass(frozen=True)
class Rollout:
    """A rollout so far.

    Attributes:
        plan: what it does.
        observations: of the stages so far, in order; only the last may have decided nothing yet, halted or rolled back.
    """

    plan: Plan
    observations: tuple[Observation, ...] = ()

    @cached_property
    def decisions(self) -> tuple[Decision, ...]:
        """The decision on each observed stage."""
        return tuple(decide(self.plan, seen) for seen in self.observations)

    @property
    def status(self) -> str:
        """`running`, `completed`, `halted` or `rolled_back`."""
        last = self.decisions[-1].action if self.decisions else ADVANCE
        if last in (HALT, ROLLBACK):
            return HALTED if last == HALT else ROLLED_BACK
        return COMPLETED if last == ADVANCE and len(self.observations) == len(self.plan.stages) else RUNNING

    @property
    def stage(self) -> int:
        """The stage that is observed now, from 1; that of the last decision where the rollout has ended."""
        waiting = not self.decisions or self.decisions[-1].action == ADVANCE
        return len(self.observations) + (1 if waiting and self.status == RUNNING else 0)

    def observe(self, stage: int, seen: Observation) -> Rollout:
        """The rollout after an observation of a stage.

        The same observation of a stage that is decided gives the same rollout: a pipeline that was killed after the
        file was written may ask again.

        Args:
            stage: from 1; the one that is observed now.
            seen: all of its requests so far.

        Raises:
            UsageFault: another stage, one that is decided otherwise, or a rollout that has ended.
        """
        if 1 <= stage <= len(self.observations) and self.observations[stage - 1] == seen:
            return self
        if self.status != RUNNING:
            raise UsageFault(f"stage {stage}: the rollout is {self.status} at stage {self.stage}; start another one.")
        if stage != self.stage:
            raise UsageFault(f"stage {grouped(stage)}: the rollout is at stage {self.stage}; observe that one.")
        return replace(self, observations=(*self.observations[: stage - 1], seen))

    def payload(self) -> dict[str, Any]:
        """The state's document without its digest."""
        stages = [
            {**seen.as_json(), "decision": decision.action}
            for seen, decision in zip(self.observations, self.decisions, strict=True)
        ]
        return {"rollout_version": ROLLOUT_VERSION, "plan": self.plan.as_json(), "observed": stages}

    def as_json(self, stage: int | None = None) -> dict[str, Any]:
        """The answer of `rollout`, with stable keys.

        Args:
            stage: whose decision is told; default: the last observed one.
        """
        told = len(self.decisions) if stage is None else stage
        decision = self.decisions[told - 1] if told else None
        document = self.payload()
        return {
            "status": self.status,
            "stage": self.stage,
            "share": decimal_text(self.plan.stages[self.stage - 1]),
            "decided_stage": told or None,
            "decision": None if decision is None else decision.action,
            "reasons": [] if decision is None else list(decision.reasons),
            "plan": document["plan"],
            "observed": document["observed"],
            "digest": digest(document),
            "claim": CLAIM,
        }
