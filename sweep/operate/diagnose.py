"""The dashboard's rule chain: which incident five signals name; the first rule that matches wins.

A signal that is missing is not zero: then a rule may or may not match, and the verdict is only given where every value
of what is missing leads to the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from sweep.operate.manifest_numbers import Number, exact_numbers

CACHE_PRESSURE: Final = "cache_pressure"
UNDERSIZED: Final = "undersized_replica_count"
OVERSIZED: Final = "oversized_batch"
HEALTHY: Final = "healthy"
UNDETERMINED: Final = "undetermined"
"""What is missing decides between several verdicts."""

MOST_PREEMPTION_RATE: Final = Fraction(3, 10)
"""Preemptions per finished request; more are cache pressure."""
MOST_QUEUE_DEPTH: Final = 15
"""Waiting requests; more are too many where the batch is not filled."""
LEAST_OCCUPANCY: Final = Fraction(1, 2)
"""Running requests over batch slots; less is a batch that is not filled."""
MOST_ITL_MS: Final = 40
"""Median time between tokens in ms; more is a batch that is too large."""

SIGNALS: Final = ("preemption_rate", "queue_depth", "batch_occupancy", "itl_p50_ms")
"""The signals of the rules, in the order in which they are read."""


@dataclass(frozen=True)
class Verdict:
    """What the rule chain says.

    Attributes:
        name: the verdict, or `undetermined`.
        possible: every verdict that the missing signals leave; one where it is determined.
        missing: the missing signals that decide between them.
    """

    name: str
    possible: tuple[str, ...]
    missing: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """With stable keys."""
        return {"verdict": self.name, "possible": list(self.possible), "missing": list(self.missing)}


def diagnose(
    queue_depth: Number | None,
    batch_occupancy: Number | None,
    itl_p50_ms: Number | None,
    preemption_rate: Number | None,
) -> str:
    """The name of the incident, by the rule chain (`models.md`, "Operate"); every threshold is strict.

    Args:
        queue_depth: waiting requests.
        batch_occupancy: running requests over batch slots.
        itl_p50_ms: median time between tokens, ms.
        preemption_rate: preemptions per finished request.
            None for a signal that is missing: then `undetermined` where it decides.

    Raises:
        RecordFault: a number that is none, or negative; every fault at once.

    >>> diagnose(16, "0.49", 20, 0), diagnose(16, "0.49", 20, None)
    ('undersized_replica_count', 'undetermined')
    """
    given = {
        "queue_depth": queue_depth,
        "batch_occupancy": batch_occupancy,
        "itl_p50_ms": itl_p50_ms,
        "preemption_rate": preemption_rate,
    }
    known: dict[str, Fraction | None] = dict.fromkeys(given)
    known |= exact_numbers({name: value for name, value in given.items() if value is not None})
    return rule_chain(**known).name


def rule_chain(
    queue_depth: Fraction | None,
    batch_occupancy: Fraction | None,
    itl_p50_ms: Fraction | None,
    preemption_rate: Fraction | None,
) -> Verdict:
    """The verdict over exact signals, None where one is missing."""
    pressed = None if preemption_rate is None else preemption_rate > MOST_PREEMPTION_RATE
    queued = None if queue_depth is None else queue_depth > MOST_QUEUE_DEPTH
    idle = None if batch_occupancy is None else batch_occupancy < LEAST_OCCUPANCY
    slow = None if itl_p50_ms is None else itl_p50_ms > MOST_ITL_MS
    rules: tuple[tuple[str, dict[str, bool | None]], ...] = (
        (CACHE_PRESSURE, {"preemption_rate": pressed}),
        (UNDERSIZED, {"queue_depth": queued, "batch_occupancy": idle}),
        (OVERSIZED, {"itl_p50_ms": slow}),
        (HEALTHY, {}),
    )
    possible, missing = list[str](), list[str]()
    for name, needs in rules:
        if False in needs.values():
            continue  # one side of an "and" is enough to rule it out
        possible.append(name)
        unknown = [signal for signal, holds in needs.items() if holds is None]
        if not unknown:
            break  # it matches, so no later rule is read
        missing += unknown
    if len(possible) == 1:
        return Verdict(possible[0], tuple(possible), ())
    return Verdict(UNDETERMINED, tuple(possible), tuple(missing))
