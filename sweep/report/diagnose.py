"""What signals say of a service, as a page."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil

from sweep.operate.diagnose import (
    HEALTHY,
    LEAST_OCCUPANCY,
    MOST_ITL_MS,
    MOST_PREEMPTION_RATE,
    MOST_QUEUE_DEPTH,
    UNDETERMINED,
)
from sweep.operate.diagnose_proof import Diagnosis
from sweep.operate.diagnose_snapshot import Signals
from sweep.report.blocks import CLAIM, Paragraph, Section, Table, table
from sweep.report.words import coordinates, counted, label, safe, short_name
from sweep.units import decimal_text, grouped

_HOLDS = {True: "yes", False: "no", None: "not known"}
_PLACES = 3


def diagnose_page(answer: Diagnosis) -> list[Section]:
    """The page of `diagnose`."""
    verdict = answer.verdict
    proven = [one.name.replace("_", "-") for one in answer.findings if one.holds and one.name != HEALTHY]
    title, text = f"Diagnosis: {verdict.name}", ""
    if verdict.name == UNDETERMINED:
        missing = ", ".join(verdict.missing)
        text = f"Could be {' or '.join(verdict.possible)}; {missing} would tell, and missing is not zero."
    else:
        text = _rule(verdict.name)
    if verdict.name == HEALTHY and proven:
        title += f" by the rules, but {', '.join(proven)}"
    good = verdict.name == HEALTHY and not proven
    found = [Section(title, (Paragraph(text, "good" if good else "bad"), _signals(answer.signals)))]
    found.append(Section("", (_findings(answer),)))
    if answer.cell is not None:
        found.append(Section("", tuple(_place(answer))))
    if answer.signals.notes:
        found.append(Section("", tuple(Paragraph(safe(f"- {note}.")) for note in answer.signals.notes)))
    return [*found, CLAIM]


def _rule(name: str) -> str:
    return {
        "cache_pressure": f"The preemption rate is over {decimal_text(MOST_PREEMPTION_RATE)}.",
        "undersized_replica_count": f"More than {MOST_QUEUE_DEPTH} requests wait, and the batch is filled to less than "
        f"{decimal_text(LEAST_OCCUPANCY)}.",
        "oversized_batch": f"The median time between tokens is over {MOST_ITL_MS} ms.",
        "healthy": "No rule of the chain matches.",
    }[name]


def short(number: Fraction | None) -> str:
    """A number with at most three decimals, rounded up where it has more; `missing` for None."""
    if number is None:
        return "missing"
    scaled = Fraction(ceil(number * 10**_PLACES), 10**_PLACES)
    whole, _, rest = decimal_text(scaled).partition(".")
    return f"{grouped(int(whole))}.{rest}" if rest else grouped(int(whole))


def _signals(signals: Signals) -> Table:
    itl = short(signals.itl_p50_ms)
    if signals.itl_between_ms is not None:
        low, high = signals.itl_between_ms
        itl += f" (over {short(low)})" if high is None else f" ({short(low)} to {short(high)})"
    rows = [
        ("preemption rate, per finished request", short(signals.preemption_rate), "over 0.3"),
        ("queue depth, requests", short(signals.queue_depth), f"over {MOST_QUEUE_DEPTH}, with"),
        ("batch occupancy", short(signals.batch_occupancy), f"  under {decimal_text(LEAST_OCCUPANCY)}"),
        ("time between tokens, median ms", itl, f"over {MOST_ITL_MS}"),
        ("KV-cache use", short(signals.kv_cache_usage), ""),
        ("arrivals, req/s", short(signals.arrival_rps), ""),
    ]
    return table(("signal", "measured", "an incident"), rows, right=(1,))


def _findings(answer: Diagnosis) -> Table:
    rows = [(one.name.replace("_", "-"), _HOLDS[one.holds], safe(one.why)) for one in answer.findings]
    alerts = [at for at, one in enumerate(answer.findings) if one.holds and one.name != HEALTHY]
    return table(("proven", "", "by"), rows, alerts=alerts)


def _place(answer: Diagnosis) -> list[Paragraph | Table]:
    cell = answer.cell
    assert cell is not None
    traffic = "at the measured traffic" if answer.measured_traffic else "at its own traffic, the measured is not known"
    within = cell.status == "within"
    state = cell.invalid_reason or cell.status
    blocks: list[Paragraph | Table] = [
        Paragraph(f"The operating point {traffic}: {state}.", "good" if within else "bad"),
        Paragraph(coordinates(cell.point)),
    ]
    near = answer.nearest
    if near is not None:
        left = f"{grouped(near.slack)} left" if near.slack >= 0 else f"broken by {grouped(-near.slack)}"
        text = f"Nearest bound: {near.bound}, {near.figure} is {grouped(near.value)} of {grouped(near.limit)}, {left}."
        blocks.append(Paragraph(text))
    if answer.changes:
        blocks.append(_changes(answer, within))
    elif not within:
        text = (
            "No single knob of the grid keeps every bound at this traffic; `sweep best --at traffic=…` turns several."
        )
        blocks.append(Paragraph(text, "bad"))
    elif answer.healthy is False:
        blocks.append(Paragraph("No single knob of the grid relieves it within all bounds at this traffic."))
    return blocks


def _changes(answer: Diagnosis, within: bool) -> Table:
    what = "relieves it, within all bounds" if within else "restores all bounds"
    rows: list[Sequence[str]] = [
        (short_name(change.knob), label(change.now), label(change.to), counted(change.steps, "step"))
        for change in answer.changes
    ]
    return table((f"one knob that {what}", "now", "to", "change"), rows, right=(1, 2))
