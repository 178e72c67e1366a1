"""What a run would do, in words."""

from __future__ import annotations

from sweep.engine.plan import Plan, PlannedQuantity
from sweep.grid.model import Grid
from sweep.report.blocks import CLAIM, Paragraph, Section, table
from sweep.report.run import axes_table
from sweep.report.words import bytes_text, counted, magnitude, safe
from sweep.units import grouped


def plan_page(grid: Grid, plan: Plan, refusal: str | None = None) -> list[Section]:
    """The page of `--dry-run`.

    Args:
        grid: the grid.
        plan: its plan.
        refusal: the sentence of a refusal, None where a run would not be refused.
    """
    mask = "stored" if plan.mask_stored else "not stored, made when a query needs it"
    capacity = "stored" if plan.capacity_stored else "not stored, computed when a query needs it"
    tile = " × ".join(grouped(length) for length in plan.tile)
    facts = [
        ("cells", grouped(plan.cells)),
        ("configurations", f"{grouped(plan.configurations)} (cells at one traffic scale)"),
        ("tiles", f"{grouped(plan.tiles)} of at most {tile}"),
        ("violation mask", mask),
        ("traffic capacities", capacity),
        ("values stored", f"at most {bytes_text(plan.stored_bytes)} before compression"),
        ("memory", f"at most {bytes_text(plan.peak_bytes)}, of {bytes_text(plan.memory_bytes)} allowed"),
    ]
    rows = [_row(planned) for planned in plan.quantities]
    wide = sum(planned.arithmetic != "int64" for planned in plan.quantities)
    proof = (
        "The proof bounds every intermediate result over the whole grid; int64 is used only where none can leave "
        "64 bits."
    )
    if wide:
        proof += f" {counted(wide, 'quantity', 'quantities')} cannot be proven and use Python integers of any size."
    notes = [Paragraph(proof, "note")]
    if refusal:
        notes.append(Paragraph(f"A run would be refused: {refusal}", "bad"))
    notes.append(Paragraph("Nothing was run and nothing was written."))
    heads = ("quantity", "values", "arithmetic", "intermediates, proven", "kept")
    return [
        Section(safe(grid.name), (axes_table(grid),)),
        Section("", (table(("plan", ""), facts),)),
        Section("", (table(heads, rows, right=(1,)),)),
        Section("", tuple(notes)),
        CLAIM,
    ]


def _row(planned: PlannedQuantity) -> tuple[str, ...]:
    arithmetic = "int64" if planned.arithmetic == "int64" else "exact, any size"
    proven = f"{magnitude(planned.lower)} to {magnitude(planned.upper)}"
    stored = "yes" if planned.stored else "no"
    return planned.quantity.name, grouped(planned.values), arithmetic, proven, stored
