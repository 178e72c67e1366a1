"""The page of an autoscaled fleet: what it costs, when the SLO is not kept, and which thresholds keep it."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

from sweep.operate.autoscale_rule import PARTS, PROACTIVE
from sweep.operate.autoscale_run import Scaled
from sweep.operate.autoscale_search import FIRST_REACTIVE, Autoscaling
from sweep.operate.cost_compare import money
from sweep.operate.curve import SECOND_NS
from sweep.operate.curve_demand import Demand
from sweep.report.blocks import CLAIM, Paragraph, Section, Table, table
from sweep.report.fleet import rate_text, time_text
from sweep.report.words import counted, safe
from sweep.units import decimal_text, grouped

MOST_CHANGES = 8
MOST_SPANS = 4


def autoscale_page(answer: Autoscaling, demand: Demand, searched: bool, output: Path | None) -> list[Section]:
    """The page of `sweep autoscale`.

    Args:
        answer: the runs.
        demand: the traffic.
        searched: whether the threshold was found, and not given.
        output: the file that was written; None for none.
    """
    chosen = answer.chosen
    sections = [
        Section(_title(chosen), tuple(_head(answer, demand))),
        Section("", (_runs(answer), *_said(answer))),
        Section("Thresholds of the rule", (_thresholds(answer, searched),)),
    ]
    if chosen.over:
        sections.append(_misses("When its SLO is not kept", chosen))
    first = answer.compared.get(FIRST_REACTIVE)
    if first is not None and first.over:
        sections.append(_misses("Where a reactive rule misses the SLO, even at threshold 1", first))
    sections.append(_changes(chosen))
    if output is not None:
        text = f"Written to {safe(str(output))}, which sweep cost reads."
        sections.append(Section("", (Paragraph(text, "note"),)))
    return [*sections, CLAIM]


def _title(chosen: Scaled) -> str:
    name = safe(chosen.serving.name)
    return f"Autoscaling {name}: {chosen.rule.kind}, threshold {_number(chosen.rule.threshold)} per replica"


def _head(answer: Autoscaling, demand: Demand) -> Iterator[Paragraph]:
    chosen, curve = answer.chosen, answer.chosen.curve
    rates = f"{rate_text(demand.mean)} req/s in the mean, {rate_text(demand.peak)} at the peak"
    yield Paragraph(f"Traffic: {rates}, over {time_text(curve.span_ns)}, from {safe(Path(curve.name).name)}.")
    gpus = counted(chosen.serving.gpus_per_replica, "GPU")
    yield Paragraph(f"A replica ({gpus}) carries {money(chosen.serving.replica_rps, 3)} req/s within the SLO.")
    cold = chosen.rule.cold_start
    parts = [(part.replace("_", " "), getattr(cold, f"{part}_ns")) for part in PARTS]
    given = ", ".join(f"{name} {time_text(ns)}" for name, ns in parts if ns)
    none = ", ".join(name for name, ns in parts if not ns)
    text = f"Cold start: {time_text(cold.total_ns)}" + (f" ({given})" if given else "")
    yield Paragraph(f"{text}{f'; nothing given for {none}, so no time' if none else ''}.")
    if chosen.keeps_slo:
        yield Paragraph("The SLO is kept all the time.", "good")
    else:
        share = Fraction(chosen.over_ns * 100, curve.span_ns)
        yield Paragraph(f"The SLO is not kept for {time_text(chosen.over_ns)} ({money(share, 2)} %).", "bad")
    if chosen.limited:
        limit = counted(chosen.rule.max_replicas or 0, "replica")
        yield Paragraph(
            f"At {counted(chosen.limited, 'decision')} the rule wanted more than the limit, {limit}.", "bad"
        )


def _runs(answer: Autoscaling) -> Table:
    """The chosen run beside the others and beside the fleet that does not change."""
    rows = [_run(scaled) for scaled in (answer.chosen, *answer.compared.values())]
    hours, price = answer.standing_gpu_hours, answer.chosen.serving.price
    cost = "-" if price is None else money(hours * price, 2)
    rows.append(("standing", "-", "0 s", "0", grouped(answer.standing_replicas), money(hours, 2), cost, "0"))
    heads = ("fleet", "threshold", "over SLO", "queue", "most", "GPU-hours", "cost", "flaps")
    alerts = [at for at, row in enumerate(rows) if row[2] != "0 s"]
    return table(heads, rows, right=range(1, 8), alerts=alerts)


def _run(scaled: Scaled) -> tuple[str, ...]:
    queue = -(-scaled.max_queue.numerator // scaled.max_queue.denominator)
    cost = "-" if scaled.cost is None else money(scaled.cost, 2)
    over = time_text(-(-scaled.over_ns // SECOND_NS) * SECOND_NS)
    amounts = (grouped(queue), grouped(scaled.most_replicas), money(scaled.gpu_hours, 2), cost)
    return scaled.rule.kind, _number(scaled.rule.threshold), over, *amounts, grouped(scaled.oscillations)


def _said(answer: Autoscaling) -> Iterator[Paragraph]:
    yield Paragraph(
        "Threshold: requests per replica. Queue: the longest; it and the time over the SLO are rounded up. Most: "
        "replicas at any time, starting ones included, all paid for. Flaps: scale-outs within one cold start after a "
        "scale-in. Standing: the fleet of the peak, all the time.",
        "note",
    )
    chosen = answer.chosen
    if chosen.gpu_hours >= answer.standing_gpu_hours:
        yield Paragraph(
            "The fleet that stands for the peak takes no more GPU-hours: over this curve the rule saves nothing.", "bad"
        )


def _thresholds(answer: Autoscaling, searched: bool) -> Paragraph:
    found, kind = answer.thresholds, answer.chosen.rule.kind
    tried = f"{counted(len(found.tried), 'threshold')} of a {kind} rule were tried, "
    span = f"{grouped(min(found.tried))} to {grouped(max(found.tried))}"
    if found.smallest is None or found.largest is None:
        return Paragraph(
            f"{tried}{span}; none keeps the SLO all the time with this cold start and these limits.", "bad"
        )
    keep = f"the smallest that keeps the SLO is {grouped(found.smallest)}, the largest {grouped(found.largest)}"
    text = f"{tried}{span}: {keep}"
    text += f"; {grouped(found.largest + 1)} misses it" if found.largest + 1 in found.tried else ""
    text += ". A larger one starts fewer replicas, a smaller one leaves more room."
    if searched:
        text += " The largest is taken."
    if kind == PROACTIVE:
        natural = answer.chosen.serving.replica_rps * answer.chosen.rule.cold_start.total_ns / SECOND_NS
        text += f" What one replica serves during a cold start is {money(natural, 1)}."
    return Paragraph(text)


def _misses(title: str, scaled: Scaled) -> Section:
    rows = [(time_text(first), time_text(last), time_text(last - first)) for first, last in scaled.over[:MOST_SPANS]]
    blocks: list[Paragraph | Table] = [table(("from", "to", "for"), rows, right=range(3))]
    if len(scaled.over) > MOST_SPANS:
        blocks.append(Paragraph(f"{grouped(len(scaled.over) - MOST_SPANS)} more; --json has all.", "note"))
    return Section(title, tuple(blocks))


def _changes(scaled: Scaled) -> Section:
    rows = [
        (
            time_text(state.at_ns),
            grouped(state.serving),
            grouped(state.starting),
            grouped((state.serving + state.starting) * scaled.serving.gpus_per_replica),
            grouped(-(-state.queue.numerator // state.queue.denominator)),
        )
        for state in scaled.states[:MOST_CHANGES]
    ]
    heads = ("from", "serving", "starting", "GPUs", "queue")
    blocks: list[Paragraph | Table] = [table(heads, rows, right=range(5))]
    if len(scaled.states) > MOST_CHANGES:
        more = grouped(len(scaled.states) - MOST_CHANGES)
        blocks.append(Paragraph(f"{more} more changes; --csv and --json have all.", "note"))
    return Section("Replicas over time", tuple(blocks))


def timeline_csv(scaled: Scaled) -> str:
    """The replicas over time as CSV: times in s, exact; the queue in whole requests, rounded up."""
    lines = ["time_s,serving,starting,gpus,queue"]
    for state in scaled.states:
        gpus = (state.serving + state.starting) * scaled.serving.gpus_per_replica
        queue = -(-state.queue.numerator // state.queue.denominator)
        time = decimal_text(Fraction(state.at_ns, SECOND_NS))
        lines.append(f"{time},{state.serving},{state.starting},{gpus},{queue}")
    return "\n".join(lines) + "\n"


def _number(number: Fraction) -> str:
    return grouped(number.numerator) if number.denominator == 1 else decimal_text(number)
