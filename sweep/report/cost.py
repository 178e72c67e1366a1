"""The page of a cost: the reservation, a million tokens, the hosted side, and how it all moves."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from sweep.operate.cost import Cost
from sweep.operate.cost_compare import HOSTED, SELF_HOST, BuildVersusBuy, money
from sweep.operate.cost_table import CostTable
from sweep.operate.curve_demand import Demand
from sweep.records.wording import CLAIM as CLAIM_CODE
from sweep.report.blocks import CLAIM, Paragraph, Section, Table, table
from sweep.report.fleet import mix_notes, rate_text
from sweep.report.words import counted, safe
from sweep.units import decimal_text, grouped

WORDS = {SELF_HOST: "Self-hosting is cheaper", HOSTED: "Hosted is not dearer"}


def cost_page(cost: Cost, sensitivity: CostTable, demand: Demand | None, sized: str) -> list[Section]:
    """The page of `sweep cost`.

    Args:
        cost: the reservation and its traffic.
        sensitivity: the cost over utilisation and price.
        demand: the traffic; None where an autoscaled fleet has it.
        sized: how the size of the reservation came about.
    """
    title = f"{money(cost.blended)} per million tokens on {safe(cost.serving.name)}"
    sections = [
        Section(title, tuple(_reservation(cost, demand, sized))),
        Section("", (_per_million(cost), Paragraph(_allocation(cost), "note"))),
    ]
    if cost.hosted is not None:
        sections.append(Section("", tuple(_against(cost))))
    sections.append(_sensitivity(cost, sensitivity))
    notes = tuple(Paragraph(note, "note") for note in _notes(cost, demand))
    return [*sections, *([Section("", notes)] if notes else []), CLAIM]


def share_text(share: Fraction) -> str:
    """A share in per cent with one decimal."""
    return f"{money(share * 100, 1)} %"


def _reservation(cost: Cost, demand: Demand | None, sized: str) -> Iterator[Paragraph]:
    serving = cost.serving
    each = counted(serving.gpus_per_replica, "GPU")
    mean = "" if cost.gpus.denominator == 1 else " in the mean"
    gpus = counted(int(cost.gpus), "GPU") if cost.gpus.denominator == 1 else f"{money(cost.gpus, 2)} GPUs"
    yield Paragraph(
        f"Reserved: {gpus}{mean}, {sized}; {each} per replica, {decimal_text(cost.price)} per GPU-hour, "
        f"{money(cost.per_hour, 2)} per hour, busy or idle."
    )
    peak = (
        ""
        if demand is None or demand.peak == demand.mean
        else f" (at its worst {rate_text(demand.peak)}, {safe(demand.words)})"
    )
    yield Paragraph(
        f"Traffic: {rate_text(cost.mean_rps)} req/s in the mean{peak}, of {money(serving.prompt_tokens, 1)} prompt and "
        f"{money(serving.output_tokens, 1)} output tokens. The GPUs carry {money(cost.full_rps, 3)} req/s within the "
        f"SLO: the realistic utilisation is {share_text(cost.utilization)}."
    )


def _per_million(cost: Cost) -> Table:
    hosted = cost.hosted
    full = cost.utilization
    rows = []
    for name, own, other in (
        ("prompt", cost.prompt, None if hosted is None else hosted.mean_prompt),
        ("output", cost.output, None if hosted is None else hosted.output),
        ("blended", cost.blended, cost.hosted_blended),
    ):
        if own is None:
            continue
        rows.append((name, money(own), money(own * full), "-" if other is None else money(other)))
    heads = ("per million tokens", f"at {share_text(full)}", "if always full", "hosted")
    return table(heads, rows, right=range(1, 4))


def _allocation(cost: Cost) -> str:
    share = cost.serving.prefill_share_permille
    if share is None:
        return "Blended: prompt and output tokens as they come."
    return (
        f"Prompt tokens bear prefill's share of the reservation, {grouped(share)} ‰, output tokens the rest; blended "
        "is all of it over all tokens. Nothing is always full: the column only shows what leaving out idle time hides."
    )


def _against(cost: Cost) -> Iterator[Paragraph]:
    assert cost.hosted is not None  # the page asks
    assert cost.hosted_per_hour is not None
    word = WORDS[cost.recommendation or HOSTED]
    yield Paragraph(
        f"{word}: the same traffic costs {money(cost.per_hour, 2)} per hour reserved and "
        f"{money(cost.hosted_per_hour, 2)} hosted.",
        "good" if cost.recommendation == SELF_HOST else "bad",
    )
    if cost.hosted.cached is not None or cost.hosted.cached_share:
        cached = cost.hosted.prompt if cost.hosted.cached is None else cost.hosted.cached
        yield Paragraph(
            f"Hosted prompt tokens: {share_text(cost.hosted.cached_share)} cached at {decimal_text(cached)}, the "
            f"others at {decimal_text(cost.hosted.prompt)} per million."
        )
    edge, rate = cost.break_even_utilization, cost.break_even_rps
    if edge is None or rate is None:
        yield Paragraph("Hosted costs nothing, so nothing is cheaper.")
    elif edge > 1:
        yield Paragraph(
            f"Break-even is at {share_text(edge)} of what these GPUs carry, so no traffic makes them cheaper."
        )
    else:
        text = f"Break-even: {rate_text(rate)} req/s on these GPUs, {share_text(edge)} of what they carry"
        always = cost.always_from_replicas
        if always is not None:
            text += f"; a fleet of just enough replicas is always cheaper from {counted(always, 'replica')} on"
        yield Paragraph(f"{text}.")


def _sensitivity(cost: Cost, found: CostTable) -> Section:
    heads = ("utilisation", *(f"{decimal_text(round(price, 4))}/h" for price in found.prices))
    rows = []
    for row, share in enumerate(found.utilizations_permille):
        cells = []
        for column, value in enumerate(found.costs[row]):
            mark = "" if found.hosted is None else "*" if found.cheaper(row, column) else " "
            cells.append(money(value) + mark)
        rows.append((share_text(Fraction(share, 1000)), *cells))
    blocks: list[Paragraph | Table] = [table(heads, rows, right=range(len(heads)))]
    if found.hosted is not None:
        blocks.append(Paragraph(f"* strictly below {money(found.hosted)}, the hosted price of the same tokens."))
    title = "A million blended tokens over utilisation (down) and price of a GPU-hour (across)"
    return Section(title, tuple(blocks))


def _notes(cost: Cost, demand: Demand | None) -> Iterator[str]:
    if demand is not None and demand.curve is None and demand.facts is None:
        yield (
            "A constant rate fills a fleet as no real traffic does; a trace or a curve gives a realistic utilisation."
        )
    if demand is not None and demand.peak > cost.full_rps:
        yield f"At its worst, {rate_text(demand.peak)} req/s, the traffic exceeds what these GPUs carry within the SLO."
    if demand is not None:
        yield from mix_notes(demand, cost.serving)


def compare_page(answer: BuildVersusBuy, price: Fraction, tokens: str, share: Fraction, hosted: str) -> list[Section]:
    """The page of plain figures."""
    own = answer.self_hosted_cost_per_million_tokens
    text = (
        f"{decimal_text(price)} per hour over {safe(tokens)} tokens/s at full load, {share_text(share)} of it served: "
        f"{money(own)} per million tokens; hosted: {safe(hosted)}."
    )
    word = WORDS[answer.recommendation]
    tone = Paragraph(f"{word}.", "good" if answer.recommendation == SELF_HOST else "bad")
    return [Section(f"{money(own)} per million tokens", (Paragraph(text), tone)), CLAIM]


def compare_json(answer: BuildVersusBuy) -> dict[str, Any]:
    """The same with keys that stay."""
    own = answer.self_hosted_cost_per_million_tokens
    return {
        "self_hosted_cost_per_million_tokens": answer.shown,
        "self_hosted_cost_per_million_tokens_exact": str(own),
        "recommendation": answer.recommendation,
        "claim": CLAIM_CODE,
    }
