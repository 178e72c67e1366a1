"""What a simulation comes to: latencies by nearest rank, goodput, throughput, occupancy, KV use, and what binds."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, Final

from sweep.simulate.counters import CAUSES, Counters
from sweep.simulate.latency import Spread, spread_of, spread_of_counts, spread_of_ratios
from sweep.simulate.serve import Row, Simulation

NS_PER_MS: Final = 10**6
NS_PER_S: Final = 10**9

NOTHING: Final = "nothing"
"""Binds where no cause does."""

BINDS_FROM_PERMILLE: Final = 10
"""A cause that keeps work waiting in less of the time in iterations than this is not said to bind."""


def within_bounds(bounds: Mapping[str, int]) -> Callable[[Row], bool]:
    """Whether a row was served and meets every bound on a single request, each inclusive.

    Args:
        bounds: of `max_queue_delay_ms`, `max_ttft_ms`, `max_tpot_ms`, `max_starvation_ms` those that there are; a
            contract's other bounds are not of single requests.
    """
    never = 2**100
    queue, ttft, tpot, passed = [
        bounds[name] * NS_PER_MS if name in bounds else never
        for name in ("max_queue_delay_ms", "max_ttft_ms", "max_tpot_ms", "max_starvation_ms")
    ]

    def good(row: Row) -> bool:
        return (
            not row.refusal
            and row.queue_delay_ns <= queue
            and row.ttft_ns <= ttft
            and row.finish_ns - row.first_token_ns <= tpot * max(row.output_tokens - 1, 1)
            and row.passed_ns <= passed
        )

    return good


@dataclass(frozen=True)
class Latencies:
    """Of some requests; spreads are of the finished ones, None where there is none.

    Attributes:
        arrived, finished, refused: requests.
        good: those within every bound; None where no bounds were given.
        queue_delay_ns: from arrival to the first slot.
        ttft_ns: from arrival to the first token.
        tpot_ns: mean time between two tokens of each request.
    """

    arrived: int
    finished: int
    refused: int
    good: int | None
    queue_delay_ns: Spread[int] | None
    ttft_ns: Spread[int] | None
    tpot_ns: Spread[Fraction] | None

    @property
    def goodput(self) -> Fraction | None:
        """The share of the requests that arrived which meet every bound; None without bounds, or requests."""
        return Fraction(self.good, self.arrived) if self.good is not None and self.arrived else None


@dataclass(frozen=True)
class Summary:
    """All figures exact; a rate or a mean over time is None where the run took no time.

    Attributes:
        latencies: of all requests.
        classes: by request class, in the order of first arrival.
        itl_ns: between any two tokens of a request, of all gaps.
        span_ns: from the first arrival to the last token.
        requests_per_second: finished.
        good_per_second: finished within every bound; None also without bounds.
        output_tokens_per_second: of finished requests, all replicas together.
        prompt_tokens_per_second: of finished requests, prefix hits included.
        occupancy: sequences with a slot, of one replica, mean over time.
        kv_blocks_held: blocks held, of one replica, mean over time.
        kv_share: of the pool's blocks, mean over time; None also without blocks.
        busy: share of the time in iterations.
        binds: `slots`, `blocks`, `prefill`: what keeps work waiting for the longest time; or `nothing`.
        waits: cause -> share of the time in iterations in which it kept work waiting; at most one does at a time.
        counters: all replicas together.
    """

    latencies: Latencies
    classes: Mapping[str, Latencies]
    itl_ns: Spread[int] | None
    span_ns: int
    requests_per_second: Fraction | None
    good_per_second: Fraction | None
    output_tokens_per_second: Fraction | None
    prompt_tokens_per_second: Fraction | None
    occupancy: Fraction | None
    kv_blocks_held: Fraction | None
    kv_share: Fraction | None
    busy: Fraction | None
    binds: str
    waits: Mapping[str, Fraction]
    counters: Counters

    def as_json(self) -> dict[str, Any]:
        """With keys that stay: times in ns, ratios as texts `p/q`."""
        found: dict[str, Any] = _json(self.latencies)
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name not in ("latencies", "classes", "counters"):
                found[field.name] = _json(value)
        found["classes"] = {name: _json(latencies) for name, latencies in self.classes.items()}
        found["counters"] = {field.name: getattr(self.counters, field.name) for field in fields(Counters)}
        return found


def summarize(simulation: Simulation, bounds: Mapping[str, int] | None = None) -> Summary:
    """The figures of a run.

    Args:
        simulation: the run.
        bounds: what goodput is judged by; see `within_bounds`. A contract's bounds as they are will do.
    """
    good = within_bounds(bounds) if bounds is not None else None
    by_class: dict[str, list[Row]] = {}
    for row in simulation.rows:
        by_class.setdefault(row.class_id, []).append(row)
    point, total = simulation.point, simulation.total
    latencies = latencies_of(simulation.rows, good)
    span = simulation.last_ns - simulation.first_ns
    finished = [row for row in simulation.rows if not row.refusal]

    def per_second(amount: int) -> Fraction | None:
        return Fraction(amount * NS_PER_S, span) if span else None

    def mean(integral_ns: int) -> Fraction | None:
        return Fraction(integral_ns, span * point.replicas) if span else None

    held = mean(total.held_block_ns)
    waits = waits_of(total)
    return Summary(
        latencies=latencies,
        classes={name: latencies_of(rows, good) for name, rows in by_class.items()},
        itl_ns=spread_of_counts(simulation.gaps),
        span_ns=span,
        requests_per_second=per_second(latencies.finished),
        good_per_second=None if latencies.good is None else per_second(latencies.good),
        output_tokens_per_second=per_second(sum([row.output_tokens for row in finished])),
        prompt_tokens_per_second=per_second(sum([row.prompt_tokens for row in finished])),
        occupancy=mean(total.running_ns),
        kv_blocks_held=held,
        kv_share=held / point.kv_blocks if held is not None and point.kv_blocks else None,
        busy=mean(total.busy_ns),
        binds=binding(waits),
        waits=waits,
        counters=total,
    )


def latencies_of(rows: Sequence[Row], good: Callable[[Row], bool] | None = None) -> Latencies:
    """The latencies of some rows."""
    finished = [row for row in rows if not row.refusal]
    return Latencies(
        len(rows),
        len(finished),
        len(rows) - len(finished),
        None if good is None else sum(map(good, rows)),
        spread_of([row.queue_delay_ns for row in finished]),
        spread_of([row.ttft_ns for row in finished]),
        spread_of_ratios(_tpot_pairs(finished)),
    )


def _tpot_pairs(rows: Iterable[Row]) -> Iterable[tuple[int, int]]:
    return [(row.finish_ns - row.first_token_ns, max(row.output_tokens - 1, 1)) for row in rows]


def waits_of(total: Counters) -> dict[str, Fraction]:
    """Cause -> share of the time in iterations in which it kept work waiting.

    * `slots`: a request waited, and no slot was free.
    * `blocks`: the next request lacked KV blocks, or a sequence was preempted for them.
    * `prefill`: the chunk was full, and there was more to prefill that had a slot or could have had one.

    In one iteration the first that holds of: prefill with running sequences left over, slots or blocks of the next
    request, prefill. So more of what an iteration is counted for would have gone to use in it.
    """
    times = {cause: getattr(total, f"{cause}_wait_ns") for cause in CAUSES}
    return {cause: Fraction(took, total.busy_ns) if total.busy_ns else Fraction(0) for cause, took in times.items()}


def binding(waits: Mapping[str, Fraction]) -> str:
    """What binds: the cause with the largest share, of equal ones the first; `nothing` where it is below 1 %."""
    cause = max(waits, key=lambda one: waits[one])
    return cause if waits[cause] * 1_000 >= BINDS_FROM_PERMILLE else NOTHING


def _json(value: Any) -> Any:
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, Mapping):
        return {key: _json(one) for key, one in value.items()}
    if isinstance(value, Latencies):
        return {field.name: _json(getattr(value, field.name)) for field in fields(value)} | {
            "goodput": _json(value.goodput)
        }
    if isinstance(value, Spread):
        return {field.name: _json(getattr(value, field.name)) for field in fields(value)}
    return value
