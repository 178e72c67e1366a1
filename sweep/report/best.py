"""The largest SLO-feasible operating point, or why there is none."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from sweep.query.best import BestAnswer
from sweep.query.cell import Cell
from sweep.query.declared import COUNTED_CONFIGURATIONS, is_counted
from sweep.records import wording
from sweep.report.blocks import CLAIM, Paragraph, Section, Table, table
from sweep.report.nothing import nothing
from sweep.report.point import (
    FIGURE_NAMES,
    as_vllm,
    binding_terms,
    figures,
    next_step,
    place,
    quantity,
    rates,
    traffic_in_words,
)
from sweep.report.relax import decided_by
from sweep.report.words import coordinates, counted, label, listed, safe, short_name
from sweep.units import grouped

_HOLES_SHOWN = 8


def best_page(answer: BestAnswer, objectives: Sequence[tuple[str, str]] = (), any_scale: bool = True) -> list[Section]:
    """The page of `best`.

    Args:
        answer: the answer.
        objectives: what was asked for instead of the default order.
        any_scale: whether a traffic scale need not be on its axis; then, if it was free, the best on the axis is named.
    """
    text = f"Decided: {counted(answer.configurations, 'configuration')}, {counted(answer.cells, 'cell')}."
    if not is_counted(answer.selection):
        text += f" What decides each is counted up to {grouped(COUNTED_CONFIGURATIONS)} configurations: narrow --at."
    decided = Paragraph(text, "note")
    if answer.cell is None:
        return [*nothing(answer), Section("", (decided, *decided_by(answer.causes))), CLAIM]
    page = [_point(answer, answer.cell, objectives, any_scale and answer.selection.scale_permille is None)]
    if len(answer.top) > 1:
        page.append(Section(f"The first {grouped(len(answer.top))} points in this order", (_top(answer, objectives),)))
    page.append(Section("", (_neighbours(answer), *_holes(answer))))
    return [*page, Section("", (as_vllm(answer.cell), decided, *decided_by(answer.causes))), CLAIM]


def best_csv(answer: BestAnswer, axes: Sequence[str]) -> str:
    """The points as CSV: a head, then the axes, every figure as a plain integer, and the claim, for each point.

    Args:
        answer: the answer; where nothing is feasible only the head is left.
        axes: the names of the axes, in the order of the grid.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*axes, *FIGURE_NAMES, "claim"])
    for cell in answer.top:
        numbers = (quantity(cell, name) for name in FIGURE_NAMES)
        writer.writerow([*(cell.point[axis] for axis in axes), *numbers, wording.CLAIM])
    return text.getvalue()


def _point(answer: BestAnswer, cell: Cell, objectives: Sequence[tuple[str, str]], any_scale: bool) -> Section:
    order = ", then ".join(f"{sense} {name}" for sense, name in objectives)
    title = f"Best by {safe(order)}" if objectives else "Largest SLO-feasible operating point"
    blocks: list[Paragraph | Table] = [place(cell), rates(cell, answer.selection.wanted_millirps)]
    if answer.selection.scale_permille is None:
        title += f": {traffic_in_words(cell)}"
    elif objectives:
        title += f", at {traffic_in_words(cell)}"
    else:
        title = f"Feasible operating point at {traffic_in_words(cell)}"
        order = "First in the default order: most slots, then the largest chunk, then the lowest share."
        blocks.append(Paragraph(order, "note"))
    blocks += [figures(cell), *binding_terms(cell), *next_step(answer.limiting)]
    own = answer.on_grid
    if any_scale and own is None:
        blocks.append(Paragraph("None of the traffic axis' own values is feasible, only scales below them."))
    elif any_scale and own is not None and own.point != cell.point:
        blocks.append(Paragraph(f"Among the traffic axis' own values: {coordinates(own.point)}"))
    return Section(title, tuple(blocks))


def _top(answer: BestAnswer, objectives: Sequence[tuple[str, str]]) -> Table:
    """The points side by side: the axes on which they differ, and what they were ranked by."""
    first = answer.top[0]
    axes = [name for name in first.point if len({cell.point[name] for cell in answer.top}) > 1]
    ranked = [name for _, name in objectives if name in FIGURE_NAMES]
    rows = [
        [grouped(at), *(label(cell.point[name]) for name in axes), *(grouped(quantity(cell, name)) for name in ranked)]
        for at, cell in enumerate(answer.top, start=1)
    ]
    heads = ["#", *(short_name(name) for name in axes), *ranked]
    return table(heads, rows, right=range(len(heads)))


def _neighbours(answer: BestAnswer) -> Table:
    rows = []
    for neighbour in answer.neighbours:
        value, verdict = "-", "the axis ends here"
        if neighbour.cell is not None and neighbour.value is not None:
            value = label(neighbour.value)
            verdict = neighbour.cell.invalid_reason or neighbour.cell.status
            over = neighbour.cell.over
            if over:
                verdict = ", ".join(f"{bound} broken by {grouped(by)}" for bound, by in over.items())
        rows.append((short_name(neighbour.axis), value, verdict))
    return table(("one step up", "to", "is then"), rows, right=(1,))


def _holes(answer: BestAnswer) -> list[Paragraph]:
    """Smaller values of an axis that are not feasible though the point is."""
    found = []
    for axis, values in answer.holes.items():
        if values:
            text = listed([label(value) for value in values], _HOLES_SHOWN)
            found.append(Paragraph(f"Not feasible below the point on {short_name(axis)}: {text}"))
    return found
