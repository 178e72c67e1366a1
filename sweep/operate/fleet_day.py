"""A fleet over a curve, and the whole answer of `sweep fleet` as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sweep.operate.curve import HOUR_NS, Curve
from sweep.operate.fleet_choice import Fleet, cheapest
from sweep.operate.fleet_file import FLEET, KIND, VERSION
from sweep.operate.fleet_serving import fewest_for
from sweep.records.wording import CLAIM


@dataclass(frozen=True)
class Day:
    """A fleet over a curve: how many replicas its one operating point needs from step to step.

    Attributes:
        curve: the traffic.
        replicas: of each step, spares included; at least one, also without traffic.
        peak: the most of them: the fleet that stands all the time.
        gpus_per_replica: of one.
        price: of a GPU-hour, None where none was given.
    """

    curve: Curve
    replicas: tuple[int, ...]
    peak: int
    gpus_per_replica: int
    price: Fraction | None

    def _hours(self, replicas: Iterable[int]) -> Fraction:
        steps = zip(self.curve.steps(), replicas, strict=True)
        replica_ns = sum((stop - start) * number for (start, stop, _), number in steps)
        return Fraction(replica_ns * self.gpus_per_replica, HOUR_NS)

    @property
    def standing_gpu_hours(self) -> Fraction:
        """Of the fleet of the peak, all the time."""
        return self._hours([self.peak] * len(self.replicas))

    @property
    def least_gpu_hours(self) -> Fraction:
        """Of the fewest replicas at every time: what no autoscaling can undercut, since starting takes time."""
        return self._hours(self.replicas)

    def as_json(self) -> dict[str, Any]:
        """With keys that stay, an entry per step; rates, hours and costs are exact ratios."""
        steps = [
            {"from_ns": start, "to_ns": stop, "rps": str(rate), "replicas": number}
            for (start, stop, rate), number in zip(self.curve.steps(), self.replicas, strict=True)
        ]
        costs = {
            name: None if self.price is None else str(hours * self.price)
            for name, hours in (("standing_cost", self.standing_gpu_hours), ("least_cost", self.least_gpu_hours))
        }
        return {
            **self.curve.as_json(),
            "standing_gpu_hours": str(self.standing_gpu_hours),
            "least_gpu_hours": str(self.least_gpu_hours),
            **costs,
            "replicas": steps,
        }


def day_of(fleet: Fleet, curve: Curve) -> Day:
    """The replicas of a fleet over a curve, at the operating point that it has for the peak."""
    sizing = fleet.sizing
    assert sizing.cell is not None  # the fleet carries the peak
    assert fleet.replicas is not None
    fewest = fewest_for(sizing.cell, curve.rates, sizing.imbalance)
    replicas = tuple(fewest[rate] + fleet.spare for rate in curve.rates)
    return Day(curve, replicas, fleet.replicas, sizing.gpus_per_replica, fleet.price)


def fleets_json(fleets: Sequence[Fleet], traffic: Mapping[str, Any], day: Day | None) -> dict[str, Any]:
    """The answer of `sweep fleet`, which `sweep autoscale` and `sweep cost` read again."""
    best = cheapest(fleets)
    return {
        KIND: FLEET,
        "version": VERSION,
        "traffic": dict(traffic),
        "cheapest": None if best is None else best.choice.name,
        "fleets": [fleet.as_json() for fleet in fleets],
        "serving": None if best is None or best.serving is None else best.serving.as_json(),
        "day": None if day is None else day.as_json(),
        "claim": CLAIM,
    }
