"""When a fleet grows and shrinks: cold start in parts, the scale-out rules, scale-in with cooldown and hysteresis."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final

from sweep.errors import RecordFault, UsageFault
from sweep.operate.curve import SECOND_NS
from sweep.operate.prices import Number, exact_number
from sweep.units import grouped, shown

PROACTIVE: Final = "proactive"
REACTIVE: Final = "reactive"
PARTS: Final = ("provision", "pull", "load", "warm_up")
MAX_WAIT_NS: Final = 31 * 86_400 * SECOND_NS
"""Longest time of any rule, a month."""


def proactive_scale_out(
    queue_depth: Number, threshold: Number, cold_start_seconds: Number, arrival_rate_per_sec: Number
) -> bool:
    """Whether to start a replica now: queue depth + arrival rate · cold start > threshold, strictly.

    What arrives until a new replica serves counts as waiting already (`models.md`, "Plan"). Compared exactly.

    Args:
        queue_depth: requests waiting, at least 0.
        threshold: requests.
        cold_start_seconds: from the order of a replica until it serves, measured, at least 0.
        arrival_rate_per_sec: requests per second, at least 0.

    Raises:
        RecordFault: an argument that is no finite number, or below 0; every fault at once.

    >>> proactive_scale_out(4, 112, 120, 0.9), proactive_scale_out(4, 111, 120, 0.9)
    (False, True)
    """
    given = {
        "queue_depth": queue_depth,
        "threshold": threshold,
        "cold_start_seconds": cold_start_seconds,
        "arrival_rate_per_sec": arrival_rate_per_sec,
    }
    queue, limit, cold, rate = numbers_of(given)
    return queue + rate * cold > limit


def numbers_of(given: Mapping[str, object]) -> list[Fraction]:
    """Arguments as exact numbers of at least 0.

    Raises:
        RecordFault: some are none; every fault at once.
    """
    numbers = {name: exact_number(value) for name, value in given.items()}
    faults = [
        f"{name}: got {shown(given[name])}, wanted a finite number of at least 0; correct it."
        for name, number in numbers.items()
        if number is None or number < 0
    ]
    if faults:
        raise RecordFault(faults)
    return [number for number in numbers.values() if number is not None]


@dataclass(frozen=True)
class ColdStart:
    """From the order of a replica until it serves, in measured parts; each in ns.

    Attributes:
        provision_ns: until the machine with its GPUs is there.
        pull_ns: until the container image is there.
        load_ns: until the weights are in the GPUs' memory.
        warm_up_ns: until the first request may come: compilation, graphs, a warm-up request.
    """

    provision_ns: int = 0
    pull_ns: int = 0
    load_ns: int = 0
    warm_up_ns: int = 0

    @property
    def total_ns(self) -> int:
        """All parts, one after the other."""
        return self.provision_ns + self.pull_ns + self.load_ns + self.warm_up_ns

    def as_json(self) -> dict[str, int]:
        """With keys that stay."""
        return {**{f"{part}_ns": getattr(self, f"{part}_ns") for part in PARTS}, "total_ns": self.total_ns}


@dataclass(frozen=True)
class Rule:
    """An autoscaling rule. n counts all replicas, serving and starting; it decides at every interval's end.

    It sees the queue and the arrivals of the interval before (of the first one its first rate). Let λ be their rate, C
    the cold start of the proactive rule and 0 of the reactive one, and μ what a replica serves.

    * Scale-out: where queue + λ·C > threshold·n (strictly: `proactive_scale_out`), to the fewest n at which this is
      false, at most `max_replicas`. A reactive rule sees what waits, a proactive one also what will have come until a
      new replica serves.
    * Scale-in: where nothing waits and nothing is starting, and the last change is at least `cooldown_ns` ago, to the
      fewest n, at least `min_replicas`, with λ ≤ (1 − hysteresis)·μ·n and λ·C ≤ (1 − hysteresis)·threshold·n. So it
      never gives back what it would order at once.

    Attributes:
        kind: `proactive` or `reactive`.
        threshold: requests per replica, above 0.
        interval_ns: between decisions.
        cooldown_ns: from a change to the next scale-in.
        hysteresis: from 0 to below 1.
        max_replicas: the GPU limit in replicas; None for none.
        min_replicas: at least 1.
        start_replicas: that serve from the beginning; None for what the first rate takes, by capacity and by the rule.
        max_wait_ns: the backlog's wait up to which the SLO holds; 0: any backlog breaks it.
    """

    kind: str
    threshold: Fraction
    interval_ns: int = 15 * SECOND_NS
    cooldown_ns: int = 300 * SECOND_NS
    hysteresis: Fraction = Fraction(1, 10)
    max_replicas: int | None = None
    min_replicas: int = 1
    start_replicas: int | None = None
    max_wait_ns: int = 0
    cold_start: ColdStart = field(default_factory=ColdStart)

    def check(self) -> None:
        """Raise UsageFault unless every field is within its bounds; every fault at once."""
        faults = []
        if self.kind not in (PROACTIVE, REACTIVE):
            faults.append(f"rule: got {shown(self.kind)}, wanted {PROACTIVE} or {REACTIVE}; write one of them.")
        if not 0 < self.threshold <= 10**15:
            faults.append("threshold: wanted above 0 and at most 10^15 requests per replica; correct it.")
        if not 0 <= self.hysteresis < 1:
            faults.append("hysteresis: wanted from 0 to below 100 %; at 10 % a tenth stays free after a scale-in.")
        times = {
            "interval": (self.interval_ns, 1),
            "cooldown": (self.cooldown_ns, 0),
            "max wait": (self.max_wait_ns, 0),
        }
        times |= {part.replace("_", " "): (getattr(self.cold_start, f"{part}_ns"), 0) for part in PARTS}
        for name, (value, least) in times.items():
            if not least <= value <= MAX_WAIT_NS:
                faults.append(f"{name}: got {grouped(value)} ns, wanted {least} ns to 31 days; correct it.")
        top = self.max_replicas
        if self.min_replicas < 1 or (top is not None and top < self.min_replicas):
            most = "no limit" if top is None else grouped(top)
            faults.append(
                f"replicas: got at least {grouped(self.min_replicas)} and at most {most}, wanted at least 1 and "
                f"at most no less; raise the GPU limit or lower the minimum."
            )
        start = self.start_replicas
        if start is not None and (start < self.min_replicas or (top is not None and start > top)):
            faults.append(f"start replicas: got {grouped(start)}, wanted between minimum and limit; correct it.")
        if faults:
            raise UsageFault(faults)

    def as_json(self) -> dict[str, Any]:
        """With keys that stay; ratios are exact texts."""
        return {
            "kind": self.kind,
            "threshold": str(self.threshold),
            "interval_ns": self.interval_ns,
            "cooldown_ns": self.cooldown_ns,
            "hysteresis": str(self.hysteresis),
            "max_replicas": self.max_replicas,
            "min_replicas": self.min_replicas,
            "start_replicas": self.start_replicas,
            "max_wait_ns": self.max_wait_ns,
        }
