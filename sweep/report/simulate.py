"""A simulation in words: bounds beside what was seen, latencies, what binds, where audit and simulation part."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from sweep.query.cell import Cell
from sweep.report.blocks import CLAIM, Paragraph, Section, Table, table
from sweep.report.words import coordinates, counted, listed, safe
from sweep.simulate.asked import Arrivals, Serving
from sweep.simulate.batching import Batching
from sweep.simulate.latency import Spread
from sweep.simulate.serve import Simulation
from sweep.simulate.summary import NS_PER_MS, Summary
from sweep.simulate.verdict import Check, Comparison
from sweep.units import grouped

_NAMED = 4
"""Requests that a broken bound names on a page; `--json` has more."""

_AGREEMENT = {
    "both": ("Audit and simulation agree: within all bounds.", "good"),
    "neither": ("Audit and simulation agree: not within all bounds.", "plain"),
    "audit-only": (
        "The audit finds it within all bounds, the simulation does not: the fluid bound is too kind.",
        "bad",
    ),
    "simulation-only": ("The simulation holds every bound, the audit does not: the fluid bound is too strict.", "mark"),
}

_BINDS = {
    "nothing": "Nothing binds: work hardly ever waits.",
    "slots": "Slot-bound: requests wait because every batch slot is taken.",
    "blocks": "KV-bound: requests wait, or are preempted, for want of KV blocks.",
    "prefill": "Prefill-bound: iterations are full of prefill while more waits.",
}

_LATENCIES = ("queue delay", "TTFT", "TPOT", "ITL")


def simulate_page(
    cell: Cell, simulation: Simulation, comparison: Comparison, arrivals: Arrivals, serving: Serving
) -> list[Section]:
    """The page of `sweep simulate`."""
    summary = comparison.summary
    text, tone = _AGREEMENT[comparison.agreement]
    head = Section(
        f"Simulated: {counted(summary.latencies.arrived, 'request')}, {_arrivals_text(arrivals)}",
        (
            Paragraph(coordinates(cell.point)),
            Paragraph(_serving_text(simulation, serving), "note"),
            Paragraph(text, tone),  # type: ignore[arg-type]
        ),
    )
    return [
        head,
        Section("", (_checks(comparison), *_broken(comparison.checks))),
        Section("", (_latencies(summary),)),
        Section("", tuple(_facts(simulation, summary))),
        CLAIM,
    ]


def _arrivals_text(arrivals: Arrivals) -> str:
    if arrivals.trace is not None:
        return f"as in {safe(str(arrivals.as_json()['trace']))}"
    process = "Poisson" if arrivals.shape == "1" else f"Gamma of shape {safe(arrivals.shape)}"
    return f"{process}, seed {grouped(arrivals.seed)}"


def _serving_text(simulation: Simulation, serving: Serving) -> str:
    point = simulation.point
    parts = [f"{simulation.policy} first", f"{simulation.batching} batching", f"{serving.cache} cache"]
    parts.append("admission control" if point.admission_control else "no admission control")
    if point.replicas > 1:
        parts.append(f"{grouped(point.replicas)} replicas, {simulation.router}")
    return f"{', '.join(parts)}; {grouped(point.kv_blocks)} KV blocks of {grouped(point.block_tokens)} tokens."


def _checks(comparison: Comparison) -> Table:
    rows = [
        (check.bound, grouped(check.audited), grouped(check.limit), number(check.observed), check.verdict)
        for check in comparison.checks
    ]
    broken = [at for at, check in enumerate(comparison.checks) if check.verdict == "broken"]
    heads = ("bound", "audit", "bound is", f"seen ({comparison.at})", "verdict")
    return table(heads, rows, right=(1, 2, 3), alerts=broken)


def _broken(checks: Iterable[Check]) -> list[Paragraph]:
    found = []
    for check in checks:
        if check.broken_requests and check.verdict == "broken":
            some = [
                f"#{grouped(one.request_id)} by {number(one.value - check.limit)} at {seconds(one.at_ns)} s"
                for one in check.broken[:_NAMED]
            ]
            over = f"{check.bound}: {counted(check.broken_requests, 'request')} over it, first "
            found.append(Paragraph(over + ", ".join(some) + "."))
    return found


def _latencies(summary: Summary) -> Table:
    latencies = summary.latencies
    spreads = (latencies.queue_delay_ns, latencies.ttft_ns, latencies.tpot_ns, summary.itl_ns)
    rows = [(name, *_ranks(spread)) for name, spread in zip(_LATENCIES, spreads, strict=True)]
    return table(("ms", "p50", "p90", "p99", "max"), rows, right=range(1, 5))


def _ranks(spread: Spread[Any] | None) -> list[str]:
    if spread is None:
        return ["-"] * 4
    return [number(Fraction(spread.at(rank), NS_PER_MS)) for rank in ("p50", "p90", "p99", "max")]


def _facts(simulation: Simulation, summary: Summary) -> Iterable[Paragraph]:
    latencies, counters = summary.latencies, summary.counters
    refused = f", {counted(latencies.refused, 'request')} refused" if latencies.refused else ""
    good = "-" if latencies.goodput is None else permille(latencies.goodput)
    yield Paragraph(
        f"Goodput: {good} of the requests meet every bound{refused}. {number(summary.requests_per_second)} requests/s, "
        f"{number(summary.output_tokens_per_second)} output tokens/s over {seconds(summary.span_ns)} s."
    )
    yield Paragraph(
        f"Occupancy: {number(summary.occupancy)} of {grouped(simulation.point.slots)} slots on average, "
        f"{grouped(counters.peak_running)} at most; KV blocks: {permille(summary.kv_share)} on average, "
        f"{grouped(counters.peak_blocks)} at most; {counted(counters.preemptions, 'preemption')}"
        f"{_hits(counters.hit_tokens)}."
    )
    waits = ", ".join(f"{cause} {permille(share)}" for cause, share in summary.waits.items())
    yield Paragraph(f"{_BINDS[summary.binds]} Share of the busy time in which work waited for {waits}.", "mark")


def _hits(tokens: int) -> str:
    return f"; {counted(tokens, 'prompt token')} from shared prefixes" if tokens else ""


def four_way_page(counts: Mapping[str, int], parted: Sequence[str], file: str, fixed: str) -> list[Section]:
    """The page of a sweep of simulations.

    Args:
        counts: points by who finds them within all bounds (`sweep.simulate.over.AGREEMENTS`).
        parted: the points where both differ, as texts.
        file: where the figures are.
        fixed: the axes that were not swept.
    """
    rows = [
        ("audit: within", grouped(counts["both"]), grouped(counts["audit-only"])),
        ("audit: not", grouped(counts["simulation-only"]), grouped(counts["neither"])),
    ]
    total = sum(counts.values())
    blocks: list[Paragraph | Table] = [table(("operating points", "simulated: within", "not"), rows, right=(1, 2))]
    if fixed:
        blocks.append(Paragraph(f"The other axes: {fixed}.", "note"))
    if counts["invalid"]:
        blocks.append(Paragraph(f"{counted(counts['invalid'], 'more point')} invalid and not simulated."))
    if parted:
        blocks.append(Paragraph(f"They part at: {listed(list(parted), 8)}."))
    return [
        Section(f"Simulated: {counted(total, 'operating point')}", tuple(blocks)),
        Section("", (Paragraph(f"Figures of every point: {safe(file)}", keep=True),)),
        CLAIM,
    ]


def ways_page(cell: Cell, found: Sequence[tuple[str, str, Comparison]], arrivals: Arrivals) -> list[Section]:
    """Static against continuous batching, contiguous against paged cache, on the same requests."""
    rows = []
    for batching, cache, comparison in found:
        summary = comparison.summary
        ttft = summary.latencies.ttft_ns
        rows.append(
            (
                batching,
                cache,
                seconds(summary.span_ns),
                number(summary.output_tokens_per_second),
                number(summary.occupancy),
                "-" if ttft is None else number(Fraction(ttft.p99, NS_PER_MS)),
                "-" if summary.latencies.goodput is None else permille(summary.latencies.goodput),
                grouped(summary.latencies.refused),
            )
        )
    heads = ("batching", "cache", "s", "tokens/s", "running", "TTFT p99", "goodput", "refused")
    title = f"Four ways to serve the same requests, {_arrivals_text(arrivals)}"
    return [
        Section(title, (Paragraph(coordinates(cell.point)), table(heads, rows, right=range(2, 8)))),
        CLAIM,
    ]


def number(value: Fraction | int | None) -> str:
    """An exact number with at most two decimals, rounded half up for display."""
    if value is None:
        return "-"
    hundredths = (Fraction(value) * 100 + Fraction(1, 2)).__floor__()
    whole, rest = divmod(abs(hundredths), 100)
    sign = "-" if hundredths < 0 else ""
    return f"{sign}{grouped(whole)}" + (f".{rest:02}".rstrip("0") if rest else "")


def seconds(time_ns: int) -> str:
    """Nanoseconds as seconds, rounded to two decimals for display."""
    return number(Fraction(time_ns, 10**9))


def permille(share: Fraction | None) -> str:
    """A share in ‰, rounded to a whole one for display."""
    return "-" if share is None else f"{grouped((share * 1000 + Fraction(1, 2)).__floor__())} ‰"


def reference_page(cell: Cell, found: Batching, requests: int, slots: int, blocks: int) -> list[Section]:
    """The reference policy in steps: how it ended."""
    title = f"Reference policy (evict the largest, requeue last): {counted(requests, 'request')} at step 0"
    ends = {
        "completed": f"Completed after {counted(found.steps, 'step')}.",
        "unservable": f"Unservable: {listed([f'#{grouped(i)}' for i in found.unservable])} need more blocks than there "
        "are, and would block the queue for ever.",
        "livelock": "Livelock: it never ends. The state before step "
        f"{grouped(found.first_recurring_state_at_step or 0)} comes back every {counted(found.period or 0, 'step')}.",
    }
    occupancy = max((active for _, active in found.occupancy_runs), default=0)
    facts = f"{counted(found.preemptions, 'preemption')}; at most {grouped(occupancy)} of {grouped(slots)} slots."
    return [
        Section(
            title,
            (
                Paragraph(coordinates(cell.point)),
                Paragraph(f"{grouped(slots)} slots, {grouped(blocks)} blocks of 16 tokens.", "note"),
                Paragraph(ends[found.outcome], "good" if found.outcome == "completed" else "bad"),
                Paragraph(facts),
            ),
        ),
        CLAIM,
    ]


def best_simulated(found: Sequence[tuple[Cell, Comparison]]) -> Section:
    """The best points of a run, each beside its simulation."""
    rows = []
    for at, (cell, comparison) in enumerate(found, start=1):
        broken = [check.bound for check in comparison.checks if check.verdict == "broken"]
        verdict = "every bound held" if comparison.simulated_within else f"broken: {listed(broken, 2)}"
        good = comparison.summary.latencies.goodput
        rows.append(
            (
                grouped(at),
                grouped(int(cell.fields["traffic.scale_permille"])),
                verdict,
                permille(good),
                comparison.summary.binds,
            )
        )
    heads = ("#", "traffic", "simulated, 2 000 Poisson requests", "goodput", "binds")
    return Section("The best points, simulated", (table(heads, rows, right=(0, 1, 3)),))
