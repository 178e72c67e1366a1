"""The plan of a rollout from the numbers that a caller gives."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from sweep.errors import RecordFault
from sweep.operate.manifest_numbers import Number, exact_numbers
from sweep.operate.rollout import Plan, Rollout
from sweep.records.checks import shown
from sweep.units import decimal_text, exact_decimal


def start_rollout(
    stages: Sequence[Number],
    error_guardrail: Number,
    latency_guardrail_ms: Number,
    old_p99_ms: Number,
    regression_tolerance: Number,
    min_samples: int,
    manifest: str | None = None,
    old_manifest: str | None = None,
) -> Rollout:
    """A rollout at its first stage; `Rollout.observe` goes on.

    Args:
        stages: the part of the traffic that the new version gets at each stage, rising to 1.
        error_guardrail: the largest error rate of a stage, a share.
        latency_guardrail_ms: the largest p99 latency of a stage, ms.
        old_p99_ms: the p99 latency before the rollout, ms.
        regression_tolerance: the tolerated rise of it, a share: 0.1 is ten per cent.
        min_samples: requests that a stage needs before anything is decided.
        manifest: digest of the new manifest.
        old_manifest: digest of the one to roll back to.

    Raises:
        RecordFault: a number that is no decimal, or outside of its bounds; all faults of a kind at once.

    >>> start_rollout(["0.1", 1], "0.01", 500, 400, "0.1", 200).status
    'running'
    """
    given = exact_numbers(
        {
            "error_guardrail": error_guardrail,
            "latency_guardrail_ms": latency_guardrail_ms,
            "old_p99_ms": old_p99_ms,
            "regression_tolerance": regression_tolerance,
            **{f"stages[{at}]": share for at, share in enumerate(stages)},
        }
    )
    faults = [
        f"{name}: got {value}, wanted a decimal of at most 60 digits on each side of its point; round it."
        for name, value in given.items()
        if not _is_decimal(value)
    ]
    if type(min_samples) is not int:
        faults.append(f"min_samples: got {shown(min_samples)}, wanted an int; pass one.")
    if faults:
        raise RecordFault(faults)
    shares = tuple(given.pop(f"stages[{at}]") for at in range(len(stages)))
    plan = Plan(shares, **given, min_samples=min_samples, manifest=manifest, old_manifest=old_manifest)
    if plan.faults():
        raise RecordFault(plan.faults())
    return Rollout(plan)


def _is_decimal(value: Fraction) -> bool:
    try:
        return exact_decimal(decimal_text(value)) == value
    except ValueError:
        return False
