"""What a result file holds, and whether it holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sweep.query.verify import VerifyAnswer
from sweep.report.blocks import CLAIM, Paragraph, Section, table
from sweep.report.words import coordinates, counted, label, listed, safe
from sweep.units import grouped


def info_page(info: Mapping[str, Any]) -> list[Section]:
    """The page of `info`.

    Args:
        info: as `Result.info` gives it.
    """
    facts = [
        ("cells", grouped(info["cells"])),
        ("configurations", grouped(info["configurations"])),
        ("checked cells", grouped(int(info["reference_checked_cells"] or 0))),
        ("written by", f"sweep {safe(str(info['sweep_version']))}"),
        ("grid", safe(str(info["grid_sha256"]))),
        ("results", safe(str(info["results_sha256"]))),
    ]
    for record in ("contract", "workload"):
        content_id = safe(str(info[f"{record}_content_id"] or ""))
        facts.append((record, content_id or f"no id, the first cell is invalid: {info['first_cell_invalid_reason']}"))
    axes = [(safe(axis["name"]), grouped(axis["length"]), _span(axis)) for axis in info["axes"]]
    variables = [
        (
            safe(variable["name"]),
            grouped(variable["values"]),
            safe(str(variable["dtype"])) + (", limbs" if variable.get("limbs") else ""),
            safe(str(variable.get("arithmetic", ""))),
            safe(str(variable.get("units", ""))),
        )
        for variable in info["variables"]
    ]
    notes = [Paragraph(f"Overridden: {safe(override)}") for override in info["overrides"]]
    if info["recomputed"]:
        notes.append(Paragraph(f"Not stored, computed when asked for: {safe(listed(info['recomputed'], 20))}"))
    title = f"{safe(info['path'])}: {safe(info['name'])}"
    page = [
        Section(title, (table(("result", ""), facts),)),
        Section("", (table(("axis", "values", "from, to"), axes, right=(1,)),)),
        Section("", (table(("variable", "values", "type", "arithmetic", "unit"), variables, right=(1,)),)),
    ]
    return [*page, *([Section("", tuple(notes))] if notes else []), CLAIM]


def _span(axis: Mapping[str, Any]) -> str:
    if "choices" in axis:
        return listed([safe(choice) for choice in axis["choices"]])
    if axis["length"] == 1:
        return label(axis["first"])
    return f"{label(axis['first'])} to {label(axis['last'])}"


def verify_page(path: str, answer: VerifyAnswer) -> list[Section]:
    """The page of `verify`."""
    judged = f"the scalar reference judged {counted(answer.checked, 'cell')} again"
    if not answer.differences:
        text = f"{safe(path)}: seal, digests and coordinates hold; {judged} and agrees on every value."
        return [Section("", (Paragraph(text, "good"),)), CLAIM]
    head = Paragraph(f"{safe(path)}: {judged} and differs.", "bad")
    return [Section("", (head,)), *[_difference(found) for found in answer.differences], CLAIM]


def _difference(found: Mapping[str, Any]) -> Section:
    stored, reference = (safe(str(found[key])) for key in ("stored", "reference"))
    values = f"{safe(found['variable'])}: the file says {stored}, the reference {reference}"
    return Section("", (Paragraph(coordinates(found["point"])), Paragraph(values)))


def difference_sentences(path: str, differences: Sequence[Mapping[str, Any]]) -> list[str]:
    """The first difference as a sentence, and how many more there are."""
    first = differences[0]
    sentence = (
        f"{path}: {first['variable']} is {first['stored']}, the reference says {first['reference']}, at "
        f"{coordinates(first['point'])}; make the file anew with `sweep run`"
    )
    more = len(differences) - 1
    return [sentence] if not more else [sentence, f"{path}: {counted(more, 'more difference')}, see the answer"]
