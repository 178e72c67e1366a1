"""The quantization decision, in words and tables."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor

from sweep.calibrate.candidates import Candidate
from sweep.calibrate.quantized import Quantization
from sweep.report.blocks import CLAIM, Paragraph, Section, Table, table
from sweep.report.words import coordinates, counted, permille_as_factor, rate, safe
from sweep.units import decimal_text, grouped

_PLACES = 6


def quantize_page(answer: Quantization) -> list[Section]:
    """The page of `quantize`."""
    within = f"the largest loss tolerated is {shown_delta(answer.tolerance)}, inclusive"
    chosen = answer.candidate
    if chosen is None:
        head = Paragraph(f"All are rejected: none has a measured loss of quality within it ({within}).", "bad")
    else:
        delta = chosen.judged(answer.cautious)
        assert delta is not None  # what is not measured is never chosen
        how = "the upper end of its measured loss" if answer.cautious and chosen.scores else "its measured loss"
        head = Paragraph(
            f"{safe(chosen.name)}: {grouped(chosen.weight_bytes)} bytes of weights; {how} is {shown_delta(delta)}, by "
            f"{safe(chosen.measured)}; {within}.",
            "good",
        )
    title = f"Quantization: {safe(chosen.name)}" if chosen else "Quantization: reject all"
    rule = Paragraph("Of the measured losses within the tolerance, the smallest weights; then the narrower KV.", "note")
    page = [Section(title, (head, _candidates(answer), rule))]
    if answer.axis is not None:
        page.append(Section("", (_points(answer),)))
        if chosen is not None and chosen.point is not None:
            page.append(Section("", (Paragraph(f"Served as {safe(chosen.name)}: {coordinates(chosen.point.point)}"),)))
    doubts = [*_unmeasured(answer), *_doubts(answer)]
    if doubts:
        page.append(Section("", tuple(Paragraph(safe(f"- {text}.")) for text in doubts)))
    return [*page, CLAIM]


def shown_delta(number: Fraction) -> str:
    """A delta with at most six decimals, rounded up where it has more: a loss never looks smaller than it is."""
    text = _short(number)
    return text if Fraction(text) == number else f"{text} (rounded up)"


def _short(number: Fraction, up: bool = True) -> str:
    """A number with at most six decimals, rounded up or down."""
    scaled = number * 10**_PLACES
    return decimal_text(Fraction(ceil(scaled) if up else floor(scaled), 10**_PLACES))


def _candidates(answer: Quantization) -> Table:
    per_token = all(one.kv_bytes_per_token is not None for one in answer.candidates)
    rows = []
    for one in answer.candidates:
        interval = "" if one.scores is None else "one item"
        if one.scores is not None and one.scores.interval is not None:
            low, high = one.scores.interval
            interval = f"{_short(low, up=False)} to {_short(high)}"
        rows.append(
            (
                safe(one.name),
                grouped(one.weight_bytes),
                _width(one, per_token),
                "-" if one.quality_delta is None else _short(one.quality_delta),
                interval,
                answer.verdict(one),
            )
        )
    alerts = [
        at for at, one in enumerate(answer.candidates) if answer.verdict(one) in ("not measured", "loses too much")
    ]
    heads = (
        "candidate",
        "weight bytes",
        f"KV B/{'token' if per_token else 'value'}",
        "loss",
        "95 % interval",
        "verdict",
    )
    return table(heads, rows, right=(1, 2, 3), alerts=alerts)


def _width(candidate: Candidate, per_token: bool) -> str:
    """KV bytes of a token where a grid gives them, else of a value."""
    width = candidate.kv_bytes_per_token if per_token else candidate.kv_bytes_per_value
    if width is None:
        return "-"
    return grouped(width) if isinstance(width, int) else str(width)


def _points(answer: Quantization) -> Table:
    """What each candidate does to the largest operating point."""
    rows: list[tuple[str, ...]] = []
    for one in answer.candidates:
        if one.point is None:
            rows.append((safe(one.name), "nothing is feasible", "", "", "", ""))
            continue
        point = one.point.point
        others = [
            grouped(int(point[name]))
            for name in ("max_active_sequences", "max_prefill_chunk_tokens", "prefill_share_permille")
        ]
        traffic = permille_as_factor(int(point["traffic_scale_permille"]))
        total = rate(sum(one.point.traffic_millirps.values()))
        rows.append((safe(one.name), traffic, total, *others))
    return table(("largest point", "× traffic", "req/s", "slots", "chunk", "share ‰"), rows, right=range(1, 6))


def _unmeasured(answer: Quantization) -> list[str]:
    names = [one.name for one in answer.candidates if one.judged(answer.cautious) is None]
    if not names:
        return []
    return [
        f"{counted(len(names), 'candidate')} without a measured loss ({', '.join(names[:6])}), never chosen; measure "
        f"with --scores NAME=FILE, or state it with --delta NAME=LOSS or as quality_delta in the grid"
    ]


def _doubts(answer: Quantization) -> list[str]:
    """Why the decision may not hold: intervals that reach beyond the tolerance, few items."""
    found = []
    chosen = answer.candidate
    if chosen is not None and chosen.scores is not None and chosen.scores.interval is not None and not answer.cautious:
        high = chosen.scores.interval[1]
        if high > answer.tolerance:
            found.append(
                f"the 95 % interval of {chosen.name} reaches {_short(high)}, beyond the tolerance; --cautious judges "
                f"by that end"
            )
    for one in answer.candidates:
        if one.scores is not None:
            found += one.scores.doubts
    return found
