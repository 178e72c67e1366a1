"""The Pareto set of a result."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from sweep.query.frontier import FrontierAnswer
from sweep.records.wording import CLAIM as CLAIM_CODE
from sweep.report.blocks import CLAIM, Paragraph, Section, table
from sweep.report.point import FIGURE_NAMES, quantity
from sweep.report.words import coordinates, counted, label, safe, short_name
from sweep.units import grouped


def frontier_page(answer: FrontierAnswer) -> list[Section]:
    """The page of `frontier`: per point the axes that differ, the objectives, and how many cells are alike."""
    title = f"Frontier: {', '.join(f'{sense} {safe(name)}' for sense, name in answer.objectives)}"
    if not answer.points:
        return [
            Section(title, (Paragraph("Nothing is feasible, so there is no point on the frontier.", "bad"),)),
            CLAIM,
        ]
    first = answer.points[0].cell.point
    axes = [name for name in first if len({point.cell.point[name] for point in answer.points}) > 1]
    shown = [(at, name) for at, (_, name) in enumerate(answer.objectives) if name not in axes]
    rows = [
        [
            *(label(point.cell.point[name]) for name in axes),
            *(grouped(point.values[at]) for at, _ in shown),
            grouped(point.count),
        ]
        for point in answer.points
    ]
    heads = [*(short_name(name) for name in axes), *(safe(name) for _, name in shown), "cells"]
    notes = [Paragraph(_total(answer))]
    same = {name: value for name, value in first.items() if name not in axes}
    if same:
        notes.append(Paragraph(f"Everywhere {coordinates(same)}"))
    more = answer.total - len(answer.points)
    if more:
        text = f"{counted(more, 'more point')}, later in the default order; --limit {answer.total} lists all."
        notes.append(Paragraph(text, "note"))
    return [
        Section(title, tuple(notes)),
        Section("", (table(heads, rows, right=range(len(heads))),)),
        CLAIM,
    ]


def _total(answer: FrontierAnswer) -> str:
    cells = counted(answer.feasible_cells, "feasible cell")
    return f"{counted(answer.total, 'point')} that none of {cells} beats; cells with equal values are one point."


def frontier_csv(answer: FrontierAnswer, axes: Sequence[str]) -> str:
    """The points as CSV: a head, then the axes, every figure, count and claim of each point.

    Args:
        answer: the answer; where nothing is feasible only the head is left.
        axes: the names of the axes, in the order of the grid.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    others = [(at, name) for at, (_, name) in enumerate(answer.objectives) if name not in (*axes, *FIGURE_NAMES)]
    writer.writerow([*axes, *FIGURE_NAMES, *(name for _, name in others), "count", "claim"])
    for point in answer.points:
        figures = (quantity(point.cell, name) for name in FIGURE_NAMES)
        bounds = (point.values[at] for at, _ in others)
        writer.writerow([*(point.cell.point[axis] for axis in axes), *figures, *bounds, point.count, CLAIM_CODE])
    return text.getvalue()
