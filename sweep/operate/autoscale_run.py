"""What an autoscaling rule made of a curve."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from sweep.operate.autoscale_rule import Rule
from sweep.operate.curve import HOUR_NS, Curve
from sweep.operate.fleet_serving import Serving


@dataclass(frozen=True)
class State:
    """The fleet from one time on.

    Attributes:
        at_ns: the time.
        serving, starting: replicas.
        queue: requests waiting, exactly.
    """

    at_ns: int
    serving: int
    starting: int
    queue: Fraction


@dataclass(frozen=True)
class Scaled:
    """What a rule made of a curve.

    Attributes:
        rule: the rule.
        serving: one replica.
        curve: the traffic.
        states: the fleet whenever it changed, the first at the curve's start.
        over_ns: time over the SLO.
        over: the times over the SLO, from and to in ns, joined where they touch.
        max_queue: the longest backlog, requests, exactly.
        end_queue: what waits when the curve ends.
        replica_ns: paid for, starting ones included.
        most_replicas: at any time, starting ones included.
        scale_outs, scale_ins: how many changes.
        oscillations: scale-outs within one cold start after a scale-in: what was given back was needed before a new
            replica could serve. Where the cold start is 0, those at the next decision.
        limited: decisions at which the rule wanted more replicas than the limit.
    """

    rule: Rule
    serving: Serving
    curve: Curve
    states: tuple[State, ...] = field(repr=False)
    over_ns: int
    over: tuple[tuple[int, int], ...] = field(repr=False)
    max_queue: Fraction
    end_queue: Fraction
    replica_ns: int
    most_replicas: int
    scale_outs: int
    scale_ins: int
    oscillations: int
    limited: int

    @property
    def keeps_slo(self) -> bool:
        """Whether the SLO held all the time."""
        return self.over_ns == 0

    @property
    def gpu_hours(self) -> Fraction:
        """Paid for, exactly."""
        return Fraction(self.replica_ns * self.serving.gpus_per_replica, HOUR_NS)

    @property
    def cost(self) -> Fraction | None:
        """Of these GPU-hours; None without a price."""
        return None if self.serving.price is None else self.gpu_hours * self.serving.price

    def as_json(self, timeline: bool = True) -> dict[str, Any]:
        """With keys that stay; ratios are exact texts."""
        answer: dict[str, Any] = {
            "rule": self.rule.as_json(),
            "keeps_slo": self.keeps_slo,
            "over_ns": self.over_ns,
            "over": [list(span) for span in self.over],
            "max_queue": str(self.max_queue),
            "end_queue": str(self.end_queue),
            "most_replicas": self.most_replicas,
            "gpu_hours": str(self.gpu_hours),
            "cost": None if self.cost is None else str(self.cost),
            "scale_outs": self.scale_outs,
            "scale_ins": self.scale_ins,
            "oscillations": self.oscillations,
            "limited": self.limited,
        }
        if timeline:
            answer["timeline"] = [
                {"at_ns": s.at_ns, "serving": s.serving, "starting": s.starting, "queue": str(s.queue)}
                for s in self.states
            ]
        return answer
