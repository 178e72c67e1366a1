"""The thresholds that keep the SLO for a cold start, and where a reactive rule misses it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final

from sweep.errors import RefusedSize
from sweep.operate.autoscale import simulate_autoscaling
from sweep.operate.autoscale_rule import PROACTIVE, REACTIVE, Rule
from sweep.operate.autoscale_run import Scaled
from sweep.operate.curve import HOUR_NS, SECOND_NS, Curve
from sweep.operate.fleet_file import AUTOSCALE, KIND, VERSION
from sweep.operate.fleet_serving import Serving
from sweep.records.wording import CLAIM

MOST_DOUBLINGS: Final = 60


@dataclass(frozen=True)
class Thresholds:
    """Which whole thresholds keep the SLO.

    Attributes:
        tried: threshold -> what it made of the curve, increasing; the powers of two, the capacity of a replica over one
            cold start, and bisection between them.
        smallest: the smallest of them that keeps the SLO; below it every one that was tried misses it.
        largest: the largest that keeps it: the one after it misses it, or there is no larger one that still acts.
            It starts the fewest replicas. None, as `smallest`, where none keeps it.
    """

    tried: Mapping[int, Scaled]
    smallest: int | None
    largest: int | None

    def as_json(self) -> dict[str, Any]:
        """With keys that stay."""
        return {
            "smallest_keeping": self.smallest,
            "largest_keeping": self.largest,
            "tried": [{"threshold": threshold, **_brief(scaled)} for threshold, scaled in sorted(self.tried.items())],
        }


def find_thresholds(serving: Serving, curve: Curve, rule: Rule) -> Thresholds:
    """The whole thresholds that keep the SLO, from the one that acts first to the one that hardly acts.

    A smaller threshold acts earlier. Without scale-in and with `max_wait_ns` 0 all below one that keeps the SLO keep
    it too: as long as nothing waits, a smaller threshold wants at least as many replicas at every decision, so its
    backlog is never longer. With scale-in only what was tried is known, and the edges that it names were both tried.

    Args:
        serving, curve: as in `simulate_autoscaling`.
        rule: the rule; its threshold is not looked at.

    Raises:
        UsageFault: a rule out of bounds. RefusedSize: too many decisions, or no limit and every threshold beyond 10^6
            replicas.
    """
    tried: dict[int, Scaled] = {}
    refused: RefusedSize | None = None
    cold = rule.cold_start.total_ns if rule.kind == PROACTIVE else 0
    natural = int(serving.replica_rps * cold / SECOND_NS)
    top = max(2, int(curve.peak * cold / SECOND_NS) + 2)
    ladder = {natural, top, *(2**power for power in range(MOST_DOUBLINGS) if 2**power < top)}

    def keeps(threshold: int) -> bool:
        if threshold not in tried:
            tried[threshold] = simulate_autoscaling(serving, curve, replace(rule, threshold=Fraction(threshold)))
        return tried[threshold].keeps_slo

    for threshold in sorted(ladder - {0}):
        try:
            keeps(threshold)
        except RefusedSize as fault:  # so many replicas that nobody has: too small a threshold without a limit
            refused = fault
    if not tried and refused is not None:
        raise refused
    good = [threshold for threshold in sorted(tried) if keeps(threshold)]
    if not good:
        return Thresholds(tried, None, None)
    above = [threshold for threshold in sorted(tried) if threshold > good[-1]]
    below = [threshold for threshold in sorted(tried) if threshold < good[0]]
    low, high = good[-1], above[0] if above else good[-1] + 1
    while above and high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if keeps(middle) else (low, middle)
    least, under = good[0], below[-1] if below else good[0] - 1
    while below and least - under > 1:
        middle = (least + under) // 2
        least, under = (middle, under) if keeps(middle) else (least, middle)
    return Thresholds(tried, least, low)


@dataclass(frozen=True)
class Autoscaling:
    """The answer of `sweep autoscale`.

    Attributes:
        chosen: the rule that was asked for; where no threshold was given, at the largest that keeps the SLO (or, where
            none does, at the one with the least time over it).
        thresholds: of its kind.
        compared: other runs by what they are: the next threshold up, and the reactive rule at the chosen threshold and
            at 1 request, at which it acts as early as it can.
        standing_replicas: the fleet that stands all the time: what the peak takes.
    """

    chosen: Scaled
    thresholds: Thresholds
    compared: Mapping[str, Scaled]
    standing_replicas: int

    @property
    def standing_gpu_hours(self) -> Fraction:
        """Of the standing fleet."""
        of = self.chosen
        return Fraction(self.standing_replicas * of.serving.gpus_per_replica * of.curve.span_ns, HOUR_NS)

    def as_json(self) -> dict[str, Any]:
        """With keys that stay; `sweep cost` reads it again."""
        serving = self.chosen.serving
        return {
            KIND: AUTOSCALE,
            "version": VERSION,
            "curve": self.chosen.curve.as_json(),
            "serving": serving.as_json(),
            "cold_start": self.chosen.rule.cold_start.as_json(),
            "chosen": self.chosen.as_json(),
            "thresholds": self.thresholds.as_json(),
            "compared": {name: scaled.as_json(timeline=False) for name, scaled in self.compared.items()},
            "standing": {
                "replicas": self.standing_replicas,
                "gpu_hours": str(self.standing_gpu_hours),
                "cost": None if serving.price is None else str(self.standing_gpu_hours * serving.price),
            },
            "claim": CLAIM,
        }


NEXT: Final = "next threshold"
SAME_REACTIVE: Final = "reactive, same threshold"
FIRST_REACTIVE: Final = "reactive, threshold 1"


def autoscale(serving: Serving, curve: Curve, rule: Rule, threshold: Fraction | None = None) -> Autoscaling:
    """A rule over a curve, beside the thresholds that keep the SLO and beside the reactive rule.

    Args:
        serving, curve: as in `simulate_autoscaling`.
        rule: the rule; its threshold is not looked at.
        threshold: requests per replica; None for the largest whole one that keeps the SLO.

    Raises:
        UsageFault, RefusedSize: as `simulate_autoscaling`.
    """
    found = find_thresholds(serving, curve, rule)
    if threshold is None:
        best = found.largest or min(found.tried, key=lambda at: (found.tried[at].over_ns, at))
        chosen = found.tried[best]
    else:
        chosen = simulate_autoscaling(serving, curve, replace(rule, threshold=threshold))
    at = chosen.rule.threshold
    compared: dict[str, Scaled] = {}
    if threshold is None and found.largest is not None and found.largest + 1 in found.tried:
        compared[NEXT] = found.tried[found.largest + 1]
    if rule.kind == PROACTIVE:
        for name, limit in ((SAME_REACTIVE, at), (FIRST_REACTIVE, Fraction(1))):
            reactive = replace(rule, kind=REACTIVE, threshold=limit)
            try:
                compared[name] = simulate_autoscaling(serving, curve, reactive)
            except RefusedSize:  # a queue of 10^6 requests and no limit: such a fleet is no answer
                continue
    ratio = curve.peak / serving.replica_rps
    return Autoscaling(chosen, found, compared, max(rule.min_replicas, -(-ratio.numerator // ratio.denominator)))


def _brief(scaled: Scaled) -> dict[str, Any]:
    return {
        "keeps_slo": scaled.keeps_slo,
        "over_ns": scaled.over_ns,
        "most_replicas": scaled.most_replicas,
        "gpu_hours": str(scaled.gpu_hours),
        "oscillations": scaled.oscillations,
    }
