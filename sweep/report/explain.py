"""One operating point in full."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sweep.grid.model import Grid
from sweep.query.advice import invalid_inequality, invalid_numbers
from sweep.query.cell import Cell
from sweep.query.explain import Located
from sweep.records.report import BatchingReport
from sweep.report.blocks import CLAIM, Paragraph, Section, Table, table
from sweep.report.point import as_vllm, binding_terms, breaches, figures, place, rates, traffic_in_words
from sweep.report.words import label, listed, permille_as_factor, safe, sentence, short_name
from sweep.units import grouped

_UNDEFINED = "undefined"


def explain_page(grid: Grid, cell: Cell, how: Located | None = None) -> list[Section]:
    """The page of `explain`; of an invalid cell there are records to look at, but no figures and no ids.

    Args:
        grid: the grid.
        cell: the operating point.
        how: how it was found, to say where open axes took their values from.
    """
    report, ids = cell.audited()
    where = [place(cell, tone_good=False), rates(cell, how.selection.wanted_millirps if how else None), *_filled(how)]
    title = f"{safe(grid.name)}: {traffic_in_words(cell)}"
    records = [Section("", (_scheduler(cell),)), Section("", (_classes(cell),))]
    if report is None or ids is None:
        return [Section(title, (*where, *_invalid(grid, cell))), *records, CLAIM]
    return [
        Section(title, (*where, _status(cell))),
        Section("", (figures(cell), *binding_terms(cell))),
        *records,
        *_blocks(cell),
        Section("", (_ids(report, ids),)),
        Section("", (as_vllm(cell),)),
        CLAIM,
    ]


def _filled(how: Located | None) -> list[Paragraph]:
    """Which rule gave the open axes their values."""
    if how is None or how.filled == "nothing":
        return []
    names = listed([short_name(name) for name in how.open_axes], 6)
    most = permille_as_factor(how.carried_permille)
    text = {
        "largest-point": "from the largest feasible point",
        "largest-capacity": "nothing is feasible at this traffic, so from the configuration that carries the most, "
        f"{most} times the declared traffic",
        "first-values": "no configuration carries any traffic within all bounds, so the first values",
    }[how.filled]
    return [Paragraph(f"Open axes ({names}): {text}.", "note")]


def _status(cell: Cell) -> Paragraph:
    if cell.status == "within":
        return Paragraph("Within all bounds: feasible.", "good")
    return Paragraph("\n".join(["Rejected:", *breaches(cell)]), "bad")


def _invalid(grid: Grid, cell: Cell) -> list[Paragraph]:
    """Why a cell has no verdict, with the inequality that it breaks where there is a short one."""
    inequality = invalid_inequality(grid, str(cell.invalid_reason))
    found = [Paragraph(f"Invalid, so without a verdict. {breaches(cell)[0]}; {invalid_numbers(cell)}.", "bad")]
    return [*found, Paragraph(sentence(inequality), "note")] if inequality else found


def _scheduler(cell: Cell) -> Table:
    """The scheduler profile as audited, and the contract's KV bound where the memory gives it."""
    profile = dict(cell.scheduler)
    rows = [("scheduler_id", safe(str(profile.pop("scheduler_id"))), "")]
    for name, value in profile.items():
        derived = "" if f"scheduler.{name}" in cell.fields else "derived"
        rows.append((name, grouped(int(value)), derived))
    derived = "derived" if cell.fields["contract.max_kv_bytes"] == "from-memory" else ""
    rows.append(("max_kv_bytes of the contract", grouped(cell.bound("max_kv_bytes")), derived))
    return table(("scheduler", "", ""), rows, right=(1,))


def _classes(cell: Cell) -> Table:
    """The request classes as the audit sees them: scaled, per replica."""
    service = cell.class_service_ms
    rows = []
    for row in cell.classes:
        arrival, peak = row["arrival_millirps"], row["peak_concurrency"]
        rows.append(
            (
                safe(row["class_id"]),
                grouped(row["priority"]),
                _defined(arrival),
                grouped(row["prompt_tokens"]),
                grouped(row["output_tokens"]),
                _defined(peak),
                grouped(service[row["class_id"]]) if row["class_id"] in service else _UNDEFINED,
            )
        )
    heads = ("class", "priority", "arrival millirps", "prompt", "output", "peak", "prefill ms")
    return table(heads, rows, right=range(1, 7))


def _defined(number: int) -> str:
    return _UNDEFINED if number < 0 else grouped(number)


def _blocks(cell: Cell) -> list[Section]:
    blocks = cell.blocks
    if blocks is None:
        return []
    text = (
        f"KV blocks of {label(blocks['block_tokens'])} tokens: {grouped(blocks['needed'])} needed at the peak, "
        f"{grouped(blocks['available'])} available."
    )
    return [Section("", (Paragraph(text),))]


def _ids(report: BatchingReport, ids: Mapping[str, Any]) -> Table:
    """Content ids and evidence id, never shortened."""
    rows = [("contract", ids["contract"]), ("scheduler", ids["scheduler"])]
    rows += [(f"class {at}", class_id) for at, class_id in enumerate(ids["classes"], start=1)]
    rows += [("workload", ids["workload"]), ("evidence", report.evidence_id)]
    return table(("id of", "SHA-256"), rows)
