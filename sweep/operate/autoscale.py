"""A fleet under an autoscaling rule over a traffic curve: an exact simulation in integers.

A fluid model. Requests arrive at the curve's rate and are served in the order they came; n serving replicas serve
n·μ per second, μ being what one carries within the SLO. What arrives above that waits: the backlog q grows by λ − n·μ
and falls back to 0 when there is room. A replica that is ordered serves when its cold start is over; it is paid from
the order on. Scale-in is at once.

The SLO of the operating point holds while nothing waits beside what the point itself allows; it is broken while the
backlog's wait q/(n·μ) is above `max_wait_ns`.

Units. D is the least common denominator of μ and of all rates; a rate is an integer of 1/D requests per second, the
backlog one of 1/(D·10^9) requests, which is rate · ns. Rates change and replicas start at whole ns, so every backlog is
an integer: nothing is rounded but the ends of a time over the SLO, outwards to whole ns.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import lcm
from typing import Final

from sweep.errors import RefusedSize
from sweep.operate.autoscale_rule import PROACTIVE, Rule
from sweep.operate.autoscale_run import Scaled, State
from sweep.operate.curve import SECOND_NS, Curve
from sweep.operate.fleet_serving import Serving
from sweep.units import grouped

MAX_DECISIONS: Final = 10**6
MAX_FLEET: Final = 10**6
"""Replicas beyond which a rule without a limit is not followed."""


def simulate_autoscaling(serving: Serving, curve: Curve, rule: Rule) -> Scaled:
    """A fleet under a rule over a curve, exactly; the docstrings of this module and of `Rule` define it.

    Args:
        serving: one replica: what it carries, its GPUs, their price.
        curve: the traffic, in the mix that the replica was judged for.
        rule: the rule, its cold start and its limits.

    Raises:
        UsageFault: a rule out of bounds. RefusedSize: more than 10^6 decisions, or replicas without a limit.
    """
    rule.check()
    decisions = -(-curve.span_ns // rule.interval_ns)
    if decisions > MAX_DECISIONS:
        raise RefusedSize(
            f"autoscale: {grouped(decisions)} decisions, at most {grouped(MAX_DECISIONS)}; give a longer --interval."
        )
    return _Simulation(serving, curve, rule).run()


class _Simulation:
    """The state of one run; units as in the docstring of the module."""

    def __init__(self, serving: Serving, curve: Curve, rule: Rule) -> None:
        self.of, self.curve, self.rule = serving, curve, rule
        unit = lcm(serving.replica_rps.denominator, *{rate.denominator for rate in curve.rates})
        self.rates = [int(rate * unit) for rate in curve.rates]
        self.each = int(serving.replica_rps * unit)  # μ
        self.whole = unit * SECOND_NS  # one request as a backlog
        self.cold = rule.cold_start.total_ns
        self.counted = self.cold if rule.kind == PROACTIVE else 0  # C
        self.top = MAX_FLEET if rule.max_replicas is None else rule.max_replicas
        self.queue = self.replica_ns = self.most_queue = 0
        self.outs = self.ins = self.oscillations = self.limited = 0
        self.starting: list[tuple[int, int]] = []  # (when they serve, how many), the earliest first
        self.over: list[tuple[int, int]] = []
        self.changed = curve.starts_ns[0] - rule.cooldown_ns  # so that the first decision may scale in
        self.given_back: int | None = None
        free = 1 - rule.hysteresis
        self.full, self.eased = (self._bounds(share) for share in (Fraction(1), free))
        first = self.rates[0] * rule.interval_ns
        needed = max(rule.min_replicas, self._capacity(first, self.full), self._wanted(first, self.full))
        self.serving = rule.start_replicas or min(self.top, needed)
        self.most_replicas = self.serving
        self.states = [State(curve.starts_ns[0], self.serving, 0, Fraction(0))]

    @property
    def replicas(self) -> int:
        """All, starting ones included."""
        return self.serving + sum(number for _, number in self.starting) if self.starting else self.serving

    def run(self) -> Scaled:
        """The whole curve."""
        arrived, step, seen = 0, self.rule.interval_ns, 0
        due = self.curve.starts_ns[0]
        for start, stop, rate in self._pieces():
            if start == due:
                self._decide(start, arrived if seen else rate * step)
                arrived, seen, due = 0, 1, due + step
            at = start
            while at < stop:  # until the next replicas serve
                until = min(stop, self.starting[0][0]) if self.starting else stop
                if until > at:
                    self._flow(at, until, rate)
                at = until
                self._ready(at)
            arrived += rate * (stop - start)
        if len(self.states) > 1 and self.states[-1].at_ns >= self.curve.end_ns:
            self.states.pop()  # what changes at the very end is of no time
        return self._answer()

    def _pieces(self) -> Iterator[tuple[int, int, int]]:
        """Stretches of one rate between decisions: from ns, to ns, rate."""
        begin, step = self.curve.starts_ns[0], self.rule.interval_ns
        for (start, stop, _), rate in zip(self.curve.steps(), self.rates, strict=True):
            at = start
            while at < stop:
                until = min(stop, begin + ((at - begin) // step + 1) * step)
                yield at, until, rate
                at = until

    def _bounds(self, share: Fraction) -> tuple[Fraction, Fraction]:
        """share·μ and share·threshold, both times the interval, as whole backlogs are times it."""
        of_replica = share * self.each * self.rule.interval_ns
        return of_replica, share * self.rule.threshold * self.whole * self.rule.interval_ns

    def _wanted(self, arrived: int, bounds: tuple[Fraction, Fraction]) -> int:
        """The fewest n with queue + λ·C ≤ share·threshold·n; both sides times the interval, so that λ is `arrived`."""
        load = self.queue * self.rule.interval_ns + arrived * self.counted
        return -(-load * bounds[1].denominator // bounds[1].numerator)

    def _capacity(self, arrived: int, bounds: tuple[Fraction, Fraction]) -> int:
        """The fewest n with λ ≤ share·μ·n."""
        return -(-arrived * bounds[0].denominator // bounds[0].numerator)

    def _decide(self, now: int, arrived: int) -> None:
        """One decision on the arrivals of the interval before."""
        rule, before = self.rule, self.replicas
        wanted = self._wanted(arrived, self.full)
        if wanted > before:
            self.limited += wanted > self.top
            self._refuse(wanted)
            if self.top > before:
                self._order(now, min(wanted, self.top) - before)
            return
        if self.queue or self.starting or now - self.changed < rule.cooldown_ns:
            return
        least = max(rule.min_replicas, self._capacity(arrived, self.eased), self._wanted(arrived, self.eased))
        if least < before:
            self.serving, self.changed, self.given_back = least, now, now
            self.ins += 1
            self._note(now)

    def _refuse(self, wanted: int) -> None:
        if self.rule.max_replicas is None and wanted > MAX_FLEET:
            raise RefusedSize(
                f"autoscale: the rule wants {grouped(wanted)} replicas, at most {grouped(MAX_FLEET)}; give a GPU limit "
                f"or a larger threshold."
            )

    def _order(self, now: int, number: int) -> None:
        window = max(self.cold, self.rule.interval_ns)
        if self.given_back is not None and now - self.given_back <= window:
            self.oscillations += 1
        self.given_back, self.changed = None, now
        self.outs += 1
        self.starting.append((now + self.cold, number))
        self.most_replicas = max(self.most_replicas, self.replicas)
        if self.cold:
            self._note(now)
        self._ready(now)

    def _ready(self, now: int) -> None:
        """Replicas whose cold start is over serve."""
        while self.starting and self.starting[0][0] <= now:
            self.serving += self.starting.pop(0)[1]
            self._note(now)

    def _note(self, now: int) -> None:
        state = State(now, self.serving, self.replicas - self.serving, Fraction(self.queue, self.whole))
        if self.states[-1].at_ns == now:
            self.states.pop()
        self.states.append(state)

    def _flow(self, start: int, stop: int, rate: int) -> None:
        """A stretch in which rate and replicas stay: the backlog is a line that ends at 0."""
        time, served = stop - start, self.serving * self.each
        growth, limit = rate - served, self.rule.max_wait_ns * served
        self.replica_ns += time * self.replicas
        queue, after = self.queue, max(0, self.queue + growth * time)
        self._count_over(start, stop, queue, after, growth, limit)
        self.queue = after
        self.most_queue = max(self.most_queue, after)

    def _count_over(self, start: int, stop: int, queue: int, after: int, growth: int, limit: int) -> None:
        """Where the backlog is above the limit, rounded outwards to whole ns; there is growth where it crosses it."""
        if queue <= limit and after <= limit:
            return
        first = start if queue > limit else start + (limit - queue) // growth
        last = stop if after > limit else start + -(-(queue - limit) // -growth)
        if self.over and self.over[-1][1] >= first:
            first = self.over.pop()[0]
        self.over.append((first, last))

    def _answer(self) -> Scaled:
        return Scaled(
            rule=self.rule,
            serving=self.of,
            curve=self.curve,
            states=tuple(self.states),
            over_ns=sum(last - first for first, last in self.over),
            over=tuple(self.over),
            max_queue=Fraction(self.most_queue, self.whole),
            end_queue=Fraction(self.queue, self.whole),
            replica_ns=self.replica_ns,
            most_replicas=self.most_replicas,
            scale_outs=self.outs,
            scale_ins=self.ins,
            oscillations=self.oscillations,
            limited=self.limited,
        )
