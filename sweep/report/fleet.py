"""The page of a fleet: the choices side by side, the proof that one replica fewer fails, and the day."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path

from sweep.operate.cost_compare import money
from sweep.operate.curve import HOUR_NS, SECOND_NS
from sweep.operate.curve_demand import Demand
from sweep.operate.fleet import MAX_REPLICAS
from sweep.operate.fleet_choice import Fleet, cheapest
from sweep.operate.fleet_day import Day
from sweep.operate.fleet_serving import Serving
from sweep.query.cell import FIGURE_OF_BOUND, Cell
from sweep.report.blocks import CLAIM, Paragraph, Section, Table, table
from sweep.report.point import breaches
from sweep.report.words import coordinates, counted, listed, permille_as_factor, rate, safe
from sweep.units import decimal_text, grouped

MOST_ROWS = 10


def fleet_page(fleets: Sequence[Fleet], demand: Demand, day: Day | None, output: Path | None) -> list[Section]:
    """The page of `sweep fleet`.

    Args:
        fleets: one per hardware choice.
        demand: the traffic.
        day: the cheapest fleet over the curve; None without one.
        output: the file that was written; None for none.
    """
    best = cheapest(fleets)
    asked = f"{rate(demand.peak_millirps)} req/s"
    words = f"Traffic: {asked}, {safe(demand.words)}"
    if demand.mean != demand.peak:
        words += f"; the mean is {rate_text(demand.mean)} req/s"
    if best is None:
        first = fleets[0].sizing
        text = (
            f"Not even {grouped(MAX_REPLICAS)} replicas carry it within the SLO; `sweep best` says what is in the way."
        )
        head = Section(
            f"No fleet for {asked}", (Paragraph(f"{words}, {_times(first.scale_permille)}."), Paragraph(text, "bad"))
        )
        return [head, CLAIM]
    title = f"Fleet for {asked}: {counted(best.replicas or 0, 'replica')} of {safe(best.choice.name)}"
    head = Section(title, (Paragraph(f"{words}, {_times(best.sizing.scale_permille)}."), *_size(best)))
    sections = [head]
    if len(fleets) > 1:
        sections.append(Section("", (_choices(fleets, best),)))
    sections.append(_proof(best))
    if day is not None:
        sections += _day(day, best)
    notes = [*_open_demands(best), *_unlike(fleets), *mix_notes(demand, best.serving)]
    if output is not None:
        notes.append(f"Written to {safe(str(output))}, which sweep autoscale and sweep cost read.")
    if notes:
        sections.append(Section("", tuple(Paragraph(note, "note") for note in notes)))
    return [*sections, CLAIM]


def rate_text(rps: Fraction) -> str:
    """A rate, rounded up to three decimals."""
    return rate(-(-rps.numerator * 1000 // rps.denominator))


def _times(scale: int) -> str:
    return f"{permille_as_factor(scale)} times the declared traffic"


def _size(fleet: Fleet) -> Iterator[Paragraph]:
    sizing, each = fleet.sizing, fleet.sizing.gpus_per_replica
    assert sizing.replicas is not None  # it carries the traffic
    replicas = f"{counted(sizing.replicas, 'replica')} to carry it"
    if fleet.spare:
        replicas += f" and {grouped(fleet.spare)} to spare"
    gpus = f"{counted(each, 'GPU')} each: {counted(fleet.gpus or 0, 'GPU')}"
    cost = ""
    if fleet.price is not None and fleet.cost_per_hour is not None:
        cost = f", {decimal_text(fleet.price)} per GPU-hour, {decimal_text(fleet.cost_per_hour)} per hour, busy or idle"
    yield Paragraph(f"{replicas}, {gpus}{cost}.", "good")
    if sizing.imbalance:
        share = sizing.imbalance * 100
        yield Paragraph(f"The busiest replica is taken to get {money(share, 2)} % more than the mean.")
    if sizing.cell is not None:
        point = {name: value for name, value in sizing.cell.point.items() if name != "traffic_scale_permille"}
        yield Paragraph(f"Every replica at {coordinates(point)}.")


def _choices(fleets: Sequence[Fleet], best: Fleet) -> Table:
    rows = []
    for fleet in fleets:
        price = "-" if fleet.price is None else decimal_text(fleet.price)
        if fleet.replicas is None:
            rows.append((safe(fleet.choice.name), "none", "-", price, "-", "carries too little"))
            continue
        cost = "-" if fleet.cost_per_hour is None else decimal_text(fleet.cost_per_hour)
        more = "cheapest" if best.price is not None else "fewest GPUs"
        verdict = more if fleet is best else _dearer(fleet, best)
        rows.append((safe(fleet.choice.name), grouped(fleet.replicas), grouped(fleet.gpus or 0), price, cost, verdict))
    return table(("hardware", "replicas", "GPUs", "per GPU-hour", "per hour", ""), rows, right=range(1, 5))


def _dearer(fleet: Fleet, best: Fleet) -> str:
    """How much more a fleet costs than the best one, or how many more GPUs it has where nothing has a price."""
    mine, least = ((one.rank[0] if best.price is not None else Fraction(one.rank[1])) for one in (fleet, best))
    if not least:
        return ""
    more = (mine / least - 1) * 100
    return f"+{money(more, 1)} %" if more else "the same"


def _proof(fleet: Fleet) -> Section:
    """The busiest replica of the fleet, and of one replica fewer, by the scalar reference."""
    sizing = fleet.sizing
    assert sizing.cell is not None  # it carries the traffic
    assert sizing.replicas is not None
    carried = _carried(sizing.cell, sizing.carried_permille)
    evenly = "evenly shared they" if sizing.replicas > 1 else "it"
    verb = "carry" if sizing.replicas > 1 else "carries"
    text = f"{evenly} {verb} up to {rate(carried)} req/s ({_times(sizing.carried_permille)})"
    text = f"{text[:1].upper()}{text[1:]}."
    cells = [(sizing.replicas, sizing.cell)] + ([] if sizing.fewer is None else [(sizing.replicas - 1, sizing.fewer)])
    blocks: list[Paragraph | Table] = [_figures(cells), Paragraph(text)]
    if sizing.fewer is not None:
        fails = "; ".join(breaches(sizing.fewer))
        verb = "carries" if sizing.replicas == 2 else "carry"
        most = f"at most {permille_as_factor(sizing.fewer_carried_permille)} times the declared traffic"
        blocks.append(
            Paragraph(
                f"{counted(sizing.replicas - 1, 'replica')} {verb} {most}, at any point, and fail: {fails}.", "bad"
            )
        )
    title = (
        "The busiest replica, by the scalar reference"
        if sizing.replicas > 1
        else "The replica, by the scalar reference"
    )
    return Section(title, tuple(blocks))


def _figures(cells: Sequence[tuple[int, Cell]]) -> Table:
    heads = ["figure", *(counted(number, "replica") for number, _ in cells), "bound"]
    rows = []
    for bound, figure in FIGURE_OF_BOUND.items():
        found = [cell.verdict.figures[figure] for _, cell in cells]
        bounds = " / ".join(dict.fromkeys(grouped(cell.bound(bound)) for _, cell in cells))  # two points may have two
        rows.append((figure, *(grouped(value) if value >= 0 else "-" for value in found), bounds))
    return table(heads, rows, right=range(1, len(heads)))


def _carried(cell: Cell, scale: int) -> int:
    """The traffic of a scale, 1/1000 requests per second."""
    return sum(-(-cell.fields[f"class.{class_id}.arrival_millirps"] * scale // 1000) for class_id in cell.class_ids)


def _day(day: Day, fleet: Fleet) -> list[Section]:
    """The replicas from step to step, equal neighbours together."""
    spans: list[tuple[int, int, Fraction, int]] = []
    for (start, stop, rps), number in zip(day.curve.steps(), day.replicas, strict=True):
        if spans and spans[-1][3] == number:
            spans[-1] = (spans[-1][0], stop, max(spans[-1][2], rps), number)
        else:
            spans.append((start, stop, rps, number))
    each = day.gpus_per_replica
    rows = [
        (time_text(start), time_text(stop), rate_text(rps), grouped(number), grouped(number * each))
        for start, stop, rps, number in spans[:MOST_ROWS]
    ]
    blocks: list[Paragraph | Table] = [table(("from", "to", "req/s up to", "replicas", "GPUs"), rows, right=range(5))]
    if len(spans) > MOST_ROWS:
        blocks.append(Paragraph(f"{grouped(len(spans) - MOST_ROWS)} more; --json has all.", "note"))
    standing, least = day.standing_gpu_hours, day.least_gpu_hours
    text = f"The fleet of the peak, standing all the time: {money(standing, 2)} GPU-hours{_cost(standing, day.price)}. "
    text += f"The fewest at every time: {money(least, 2)}{_cost(least, day.price)}; starting replicas takes time, so "
    text += "no autoscaling reaches that (sweep autoscale)."
    blocks.append(Paragraph(text))
    spare = f", {grouped(fleet.spare)} to spare included" if fleet.spare else ""
    return [Section(f"Over {time_text(day.curve.span_ns)}, at the same operating point{spare}", tuple(blocks))]


def _cost(hours: Fraction, price: Fraction | None) -> str:
    return "" if price is None else f" for {money(hours * price, 2)}"


def time_text(ns: int) -> str:
    """A time in hours, minutes and seconds: `7 h 30 min`, `12.5 s`."""
    hours, rest = divmod(ns, HOUR_NS)
    minutes, rest = divmod(rest, 60 * SECOND_NS)
    parts = [f"{grouped(hours)} h"] if hours else []
    parts += [f"{minutes} min"] if minutes else []
    if rest or not parts:
        thousandths = -(-rest * 1000 // SECOND_NS)
        parts.append(f"{decimal_text(Fraction(thousandths, 1000))} s")
    return " ".join(parts)


def _open_demands(fleet: Fleet) -> Iterator[str]:
    """Axes of the demand that the question left open: a fleet would take the easiest value."""
    grid = fleet.choice.grid
    fixed = {grid.position(name) for name in fleet.at}
    left = [
        axis.name
        for place, axis in enumerate(grid.axes)
        if place not in fixed
        and len(axis) > 1
        and all(path.startswith(("contract.", "class.")) for path in axis.fields)
    ]
    if left:
        yield f"The best value was taken of {listed(left)}, which is part of what is asked; fix it with --at."


def _unlike(fleets: Sequence[Fleet]) -> Iterator[str]:
    """Where the choices are not asked for the same work, or not under the same SLO."""
    mixes = {(one.serving.prompt_tokens, one.serving.output_tokens) for one in fleets if one.serving is not None}
    if len(mixes) > 1:
        yield "The mixes of these grids differ, so one rate is not the same work for all; give them the same classes."
    bounds = {
        tuple(cell.bound(name) for name in FIGURE_OF_BOUND if name not in ("max_kv_bytes", "max_active_sequences"))
        for cell in (one.sizing.cell for one in fleets)
        if cell is not None
    }
    if len(bounds) > 1:
        yield "The SLOs of these fleets differ; --slo gives all files the same bounds."


def mix_notes(demand: Demand, serving: Serving | None) -> Iterator[str]:
    """Where the requests of a trace are not those that capacity was judged for."""
    facts = demand.facts
    if facts is None or serving is None:
        return
    own = f"{money(serving.prompt_tokens, 1)} prompt and {money(serving.output_tokens, 1)} output tokens"
    trace = f"{money(facts.prompt.mean_tokens, 1)} and {money(facts.output.mean_tokens, 1)}"
    tokens = facts.prompt.mean_tokens + facts.output.mean_tokens
    if tokens * 10 > (serving.prompt_tokens + serving.output_tokens) * 11:
        yield "The trace's requests are longer than those that capacity was judged for: it needs more than this."
    yield (
        f"Capacity is that of the grid's mix, whose mean request has {own}; that of the trace has {trace}. Where they "
        "differ, put the trace's classes into the grid (sweep traffic --toml)."
    )
