"""A simulation beside the audit of the same operating point: for each bound what was seen, and what is said of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Literal

from sweep.errors import UsageFault
from sweep.query.cell import FIGURE_OF_BOUND, Cell
from sweep.records.wording import CLAIM
from sweep.simulate.latency import Spread, spread_of
from sweep.simulate.serve import Row, Simulation
from sweep.simulate.summary import NS_PER_MS, NS_PER_S, Summary, summarize

STRICT_PERMILLE: Final = 500
"""Below this share of the audit's figure, what was seen makes the figure far too strict."""

MOST_NAMED: Final = 20
"""Requests that a broken bound names."""

Verdict = Literal["held", "broken", "far-too-strict", "unseen"]
Agreement = Literal["both", "audit-only", "simulation-only", "neither"]
At = Literal["p50", "p90", "p99", "max"]

AT: Final[Sequence[str]] = ("p50", "p90", "p99", "max")


@dataclass(frozen=True)
class Break:
    """A request over a bound.

    Attributes:
        request_id: which.
        at_ns: when that was certain: when it got its slot (queue delay), its first token (TTFT, starvation), or its
            last one (TPOT).
        value: by how much: its own figure, in the bound's unit.
    """

    request_id: int
    at_ns: int
    value: Fraction


@dataclass(frozen=True)
class Check:
    """One bound.

    Attributes:
        bound, limit: its name and value.
        figure, audited: the audit's figure that it bounds, and its value.
        observed: the same in the simulation, in the same unit; None where nothing was served.
        verdict: `broken`: seen above the bound. `far-too-strict`: below the stated share of the audit's figure. `held`
            otherwise; `unseen` where nothing was served.
        broken_requests: how many single requests are over the bound.
        broken: the first of them, by time.
    """

    bound: str
    limit: int
    figure: str
    audited: int
    observed: Fraction | None
    verdict: Verdict
    broken_requests: int = 0
    broken: tuple[Break, ...] = ()

    @property
    def audit_holds(self) -> bool:
        """Whether the audit's figure is within the bound."""
        return self.audited <= self.limit

    def as_json(self) -> dict[str, Any]:
        """With keys that stay; what was seen as a text `p/q`."""
        return {
            "bound": self.bound,
            "limit": self.limit,
            "figure": self.figure,
            "audited": self.audited,
            "observed": None if self.observed is None else str(self.observed),
            "verdict": self.verdict,
            "broken_requests": self.broken_requests,
            "broken": [
                {"request_id": one.request_id, "at_ns": one.at_ns, "value": str(one.value)} for one in self.broken
            ],
        }


@dataclass(frozen=True)
class Comparison:
    """All bounds, in the order of the audit's violations.

    Attributes:
        checks: one for each bound.
        at: which percentile of the requests the bounds on latencies are judged by.
        strict_permille: the share of the audit's figure below which it is far too strict.
        refused: requests that could never be served.
        audit_within: whether the audit finds the point within all bounds.
        summary: all other figures.
    """

    checks: tuple[Check, ...]
    at: str
    strict_permille: int
    refused: int
    audit_within: bool
    summary: Summary

    @property
    def simulated_within(self) -> bool:
        """Whether requests were served, none was refused, and no bound was seen broken."""
        served = self.summary.latencies.finished > 0
        return served and not self.refused and all(check.verdict != "broken" for check in self.checks)

    @property
    def agreement(self) -> Agreement:
        """Who finds the point within all bounds."""
        if self.audit_within:
            return "both" if self.simulated_within else "audit-only"
        return "simulation-only" if self.simulated_within else "neither"

    def as_json(self) -> dict[str, Any]:
        """With keys that stay."""
        return {
            "agreement": self.agreement,
            "audit_within": self.audit_within,
            "simulated_within": self.simulated_within,
            "at": self.at,
            "strict_permille": self.strict_permille,
            "checks": [check.as_json() for check in self.checks],
            "summary": self.summary.as_json(),
            "claim": CLAIM,
        }


def compare(simulation: Simulation, cell: Cell, at: str = "max", strict_permille: int = STRICT_PERMILLE) -> Comparison:
    """Put a simulation beside the audit of the cell that it is of.

    The bounds on queue delay, TTFT, TPOT and starvation are judged by a percentile over the finished requests, the
    maximum by default. Slots and KV bytes are judged by the peak of any replica, utilisations by the tokens that the
    run computed (prefix hits are none, recomputed ones are some) over the capacity of its span.

    Args:
        simulation: the run.
        cell: the operating point, valid; the simulation's point is `operating_point_of` it.
        at: `p50`, `p90`, `p99` or `max`.
        strict_permille: see `Check.verdict`; 0 to 1000.

    Raises:
        UsageFault: `at` is none of these, or the cell is invalid.
    """
    if at not in AT:
        raise UsageFault(f"at {at!r}: wanted one of {', '.join(AT)}; write one of them.")
    if cell.verdict.invalid_reason:
        raise UsageFault(f"compare: the point is invalid by {cell.invalid_reason}, no audit is there; take another.")
    bounds = cell.contract
    summary = summarize(simulation, bounds)
    observed = _observed(simulation, summary, cell, at)
    checks = []
    for bound, figure in FIGURE_OF_BOUND.items():
        limit, audited, seen = cell.bound(bound), cell.verdict.figures[figure], observed[bound]
        over = _over(simulation.rows, bound, limit)
        verdict = _verdict(seen, limit, audited, strict_permille)
        checks.append(Check(bound, limit, figure, audited, seen, verdict, len(over), tuple(over[:MOST_NAMED])))
    refused = summary.latencies.refused
    return Comparison(tuple(checks), at, strict_permille, refused, cell.status == "within", summary)


def _verdict(seen: Fraction | None, limit: int, audited: int, strict_permille: int) -> Verdict:
    if seen is None:
        return "unseen"
    if seen > limit:
        return "broken"
    return "far-too-strict" if seen * 1_000 < audited * strict_permille else "held"


def _observed(simulation: Simulation, summary: Summary, cell: Cell, at: str) -> Mapping[str, Fraction | None]:
    """Bound -> what was seen of it, in its unit."""
    total, latencies = summary.counters, summary.latencies
    passed = spread_of([row.passed_ns for row in simulation.rows if not row.refusal])

    def ms(spread: Spread[int] | Spread[Fraction] | None) -> Fraction | None:
        return None if spread is None else Fraction(spread.at(at), NS_PER_MS)

    def permille(tokens: int, rate: int) -> Fraction | None:
        seconds = summary.span_ns * simulation.point.replicas
        return Fraction(tokens * 1_000 * NS_PER_S, rate * seconds) if seconds and total.finished else None

    outputs = sum([row.output_tokens for row in simulation.rows if not row.refusal])
    served = total.finished > 0
    return {
        "max_active_sequences": Fraction(total.peak_running) if served else None,
        "max_total_utilization_permille": permille(
            total.prefill_tokens + outputs, cell.verdict.token_capacity_per_second
        ),
        "max_prefill_utilization_permille": permille(total.prefill_tokens, cell.prefill_rate),
        "max_decode_utilization_permille": permille(outputs, cell.decode_rate),
        "max_queue_delay_ms": ms(latencies.queue_delay_ns),
        "max_ttft_ms": ms(latencies.ttft_ns),
        "max_tpot_ms": ms(latencies.tpot_ns),
        "max_starvation_ms": ms(passed),
        "max_kv_bytes": Fraction(total.peak_blocks * simulation.point.block_bytes) if served else None,
    }


_OF_A_REQUEST: Final[Mapping[str, tuple[Callable[[Row], Fraction | int], Callable[[Row], int]]]] = {
    "max_queue_delay_ms": (lambda row: row.queue_delay_ns, lambda row: row.let_in_ns),
    "max_ttft_ms": (lambda row: row.ttft_ns, lambda row: row.first_token_ns),
    "max_tpot_ms": (lambda row: row.tpot_ns, lambda row: row.finish_ns),
    "max_starvation_ms": (lambda row: row.passed_ns, lambda row: row.first_token_ns),
}
"""Bound on single requests -> a row's figure in ns, and when it was certain."""


def _over(rows: Sequence[Row], bound: str, limit: int) -> list[Break]:
    """The requests over a bound, by time; none where it is no bound on single requests."""
    if bound not in _OF_A_REQUEST:
        return []
    value, when = _OF_A_REQUEST[bound]
    over = [
        Break(row.request_id, when(row), Fraction(value(row), NS_PER_MS))
        for row in rows
        if not row.refusal and value(row) > limit * NS_PER_MS
    ]
    return sorted(over, key=lambda one: one.at_ns)
