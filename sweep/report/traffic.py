"""The page of a trace: its rates side by side, its lengths, and the request classes it makes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from sweep.report.blocks import CLAIM, Paragraph, Section, Table, table
from sweep.report.words import counted, rate, safe, sentence
from sweep.traffic.classes import TrafficClass
from sweep.traffic.facts import LEVELS, Lengths, TraceFacts, rounded
from sweep.traffic.formats import FORMATS
from sweep.traffic.joint import Cell, doublings
from sweep.traffic.prefix import PrefixFacts
from sweep.traffic.tables import level_name, level_words, notes, seconds_text, span_text
from sweep.units import grouped

MOST_COLUMNS = 7
"""Columns of the joint table beside its first, in a page of 80."""


def traffic_page(facts: TraceFacts, classes: Sequence[TrafficClass], level: str) -> list[Section]:
    """The page of `sweep traffic`.

    Args:
        facts: the trace.
        classes: its request classes; empty where none were asked for.
        level: whose rate they took.
    """
    head = f"{safe(facts.trace)}: {FORMATS[facts.format].title}"
    sections = [
        Section(head, (Paragraph(_rows(facts)), *_order_notes(facts))),
        Section("", (_rates(facts), Paragraph(_bins(facts)))),
        Section("", (_lengths(facts),)),
        Section("Requests by prompt tokens (down) and output tokens (across)", (_joint(facts.cells),)),
    ]
    if facts.prefix is not None:
        sections.append(Section("", (Paragraph(_sharing(facts.prefix, facts.prompt.total_tokens)),)))
    if classes:
        sections.append(_classes(facts, classes, level))
    return [*sections, CLAIM]


def _rows(facts: TraceFacts) -> str:
    text = f"{counted(facts.requests, 'request')} in {seconds_text(facts.span_ns)} s."
    if facts.failed_requests:
        tokens = counted(facts.failed_prompt_tokens, "prompt token")
        rows = counted(facts.failed_requests, "failed row")
        text += f" Apart from them, and in no figure below: {rows} (0 output tokens) with {tokens}."
    return text


def _order_notes(facts: TraceFacts) -> Iterator[Paragraph]:
    if not facts.in_order:
        yield Paragraph("The rows are not in the order of time; bins begin at the earliest request.", "note")
    if facts.times_cut:
        yield Paragraph(f"{counted(facts.times_cut, 'time')} finer than 1 ns, cut to it.", "note")


def _rates(facts: TraceFacts) -> Table:
    mean = facts.mean_millirps
    rows = [("mean", grouped(facts.requests), seconds_text(facts.span_ns), "-" if mean is None else rate(mean), "")]
    for level in LEVELS:
        busiest = facts.busiest[level]
        name = f"busiest {level_name(level)}"
        start = f"{grouped(busiest.from_second)} s"
        rows.append((name, grouped(busiest.requests), grouped(busiest.seconds), rate(busiest.millirps), start))
    return table(("arrivals", "requests", "seconds", "requests/s", "starts at"), rows, right=(1, 2, 3, 4))


def _bins(facts: TraceFacts) -> str:
    empty = f"{grouped(facts.empty_seconds)} of {counted(facts.seconds, 'second')} had no request."
    return f"{empty} Bins follow each other from the earliest request on; rates are rounded up."


def _lengths(facts: TraceFacts) -> Table:
    rows = [_length_row(name, lengths) for name, lengths in (("prompt", facts.prompt), ("output", facts.output))]
    return table(("tokens", "total", "mean", "p50", "p90", "p99", "max"), rows, right=range(1, 7))


def _length_row(name: str, lengths: Lengths) -> tuple[str, ...]:
    mean, _, decimals = rounded(lengths.mean_tokens).partition(".")
    percentiles = (lengths.p50_tokens, lengths.p90_tokens, lengths.p99_tokens, lengths.max_tokens)
    return name, grouped(lengths.total_tokens), f"{grouped(int(mean))}.{decimals}", *map(grouped, percentiles)


def _joint(cells: Iterable[Cell]) -> Table:
    """Requests per doubling of the prompt, and as many doublings of the output as fit side by side."""
    found = doublings(cells)
    starts = sorted({cell.output_from for cell in found})
    step = -(-len(starts) // MOST_COLUMNS)
    columns = [starts[at : at + step] for at in range(0, len(starts), step)]
    ends = {cell.output_from: cell.output_to for cell in found}
    rows = []
    for low, high in sorted({(cell.prompt_from, cell.prompt_to) for cell in found}):
        of_row = {cell.output_from: cell.requests for cell in found if cell.prompt_from == low}
        sums = [sum(of_row.get(start, 0) for start in column) for column in columns]
        rows.append((span_text((low, high)), *(grouped(number) if number else "-" for number in sums)))
    heads = [f"to {grouped(ends[column[-1]])}" for column in columns]
    return table(("tokens", *heads), rows, right=range(1, len(heads) + 1))


def _sharing(prefix: PrefixFacts, prompt_tokens: int) -> str:
    permille = prefix.hit_tokens * 1_000 // prompt_tokens if prompt_tokens else 0
    partial = counted(prefix.hit_partial_blocks, "of them a partial one", "of them partial ones")
    return (
        f"Prefix sharing, with a cache that never forgets: {grouped(prefix.hit_blocks)} of"
        f" {counted(prefix.blocks, 'block')} of {prefix.block_tokens} tokens are hits ({partial}),"
        f" {grouped(prefix.hit_tokens)} tokens or {permille} ‰ of all prompts, in"
        f" {counted(prefix.hit_requests, 'request')}. Prompts here and in classes are whole: hits are not taken off."
    )


def _classes(facts: TraceFacts, classes: Sequence[TrafficClass], level: str) -> Section:
    heads = ("class", "requests", "prompts of", "outputs of", "millirps", "prompt", "output")
    rows = [
        (
            class_.class_id,
            grouped(class_.requests),
            span_text(class_.prompt_span),
            span_text(class_.output_span),
            grouped(class_.arrival_millirps),
            grouped(class_.prompt_tokens),
            grouped(class_.output_tokens),
        )
        for class_ in classes
    ]
    said = (
        "Prompt and output are the mean of each class; all three figures are rounded up, so no token and no arrival"
        " is lost. TTFT is judged at a class' mean prompt; the longest has"
        f" {counted(facts.prompt.max_tokens, 'token')}. --toml prints [[class]] tables for a grid."
    )
    found = [Paragraph(sentence(note), "note") for note in notes(facts, classes, level)]
    title = f"{counted(len(classes), 'class', 'classes')} at {level_words(facts, level)}"
    return Section(title, (table(heads, rows, right=(1, 4, 5, 6)), Paragraph(said), *found))
