"""The summary of a run, one screen."""

from __future__ import annotations

from collections.abc import Sequence
from shlex import quote

from sweep.engine.run import RunSummary
from sweep.grid.model import Grid
from sweep.query.advice import constant_iterations, invalid_inequality, rounding
from sweep.query.cell import Cell, cell_at
from sweep.records.wording import CLAIM_IN_SHORT, INVALID_MEANINGS
from sweep.report.blocks import CLAIM, Paragraph, Section, Table, table
from sweep.report.point import as_vllm, figures, next_step, place, rates, traffic_in_words, ttft_class
from sweep.report.words import counted, label, safe, sentence, short_name
from sweep.units import grouped


def run_page(summary: RunSummary) -> list[Section]:
    """The page after a run, with what makes its answer weaker than it looks."""
    grid = summary.grid
    path = safe(str(summary.path))
    notes = [Paragraph(f"Warning: {warning}.", "bad") for warning in constant_iterations(grid)]
    notes += [Paragraph(sentence(found), "note") for found in rounding(grid, summary.best)]
    notes.append(Paragraph(f"Result: {path}", keep=True))
    return [
        Section(safe(grid.name), (axes_table(grid), _cells(summary), *_reasons(summary), *_violations(summary))),
        _best(summary, notes),
        CLAIM,
    ]


def run_lines(summary: RunSummary) -> list[str]:
    """The short form: the file, the largest point on one line as `--at` takes it, quoted for a shell, the claim."""
    best, _ = best_cells(summary)
    found = "nothing is feasible"
    if best is not None:
        found = " ".join(quote(f"{short_name(axis)}={safe(str(value))}") for axis, value in best.point.items())
    return [safe(str(summary.path)), found, CLAIM_IN_SHORT]


def best_cells(summary: RunSummary) -> tuple[Cell | None, Cell | None]:
    """The largest point of a run, and the same with one permille more traffic."""
    if summary.best is None:
        return None, None
    index, scale = (*summary.best.index, 0), summary.best.scale_permille
    return cell_at(summary.grid, index, scale), cell_at(summary.grid, index, scale + 1)


def axes_table(grid: Grid) -> Table | Paragraph:
    """The axes that vary: how many values, the first and the last."""
    rows = [
        (safe(axis.name), grouped(len(axis)), label(axis.label(0)), label(axis.label(len(axis) - 1)))
        for axis in grid.axes
        if len(axis) > 1
    ]
    if not rows:
        return Paragraph("No axis varies: the grid is one operating point.")
    return table(("axis", "values", "first", "last"), rows, right=(1, 2, 3))


def _cells(summary: RunSummary) -> Paragraph:
    tally = summary.tally
    return Paragraph(
        f"{counted(tally.total, 'cell')}: {grouped(tally.within)} within all bounds, {grouped(tally.rejected)} "
        f"rejected, {grouped(tally.invalid)} invalid. {counted(summary.checked, 'check')} by the scalar reference: "
        "no difference."
    )


def _reasons(summary: RunSummary) -> list[Paragraph]:
    """The invalid cells per reason, the commonest first and with the inequality behind it."""
    found = sorted(((cells, reason) for reason, cells in summary.reasons.items() if cells), key=lambda pair: -pair[0])
    lines = [f"{grouped(cells)} invalid by {reason}" for cells, reason in found]
    if lines:
        commonest = found[0][1]
        lines[0] += f": {invalid_inequality(summary.grid, commonest) or INVALID_MEANINGS[commonest]}"
    return [Paragraph(line, "note") for line in lines]


def _violations(summary: RunSummary) -> list[Table]:
    hits, alone = summary.tally.hits(), summary.tally.alone()
    rows = [(code, grouped(cells), grouped(alone[code])) for code, cells in hits.items() if cells]
    return [table(("violation", "cells hit", "blocked by it alone"), rows, right=(1, 2))] if rows else []


def _best(summary: RunSummary, notes: Sequence[Paragraph]) -> Section:
    cell, limiting = best_cells(summary)
    if cell is None:
        text = (
            "Nothing is feasible: no configuration carries even one permille of the traffic within all bounds. "
            "`sweep best` on the result says what stands in the way."
        )
        return Section("", (Paragraph(text, "bad"), *notes))
    title = f"Largest SLO-feasible operating point: {traffic_in_words(cell)}"
    blocks: list[Paragraph | Table] = [place(cell), rates(cell), figures(cell), ttft_class(cell), *next_step(limiting)]
    return Section(title, (*blocks, as_vllm(cell, reason=False), *notes))
