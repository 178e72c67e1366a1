"""A deployment manifest, whether it starts, and how two differ, as pages."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from sweep.hardware.share import ENGINES
from sweep.operate.flags import LaunchLine
from sweep.operate.manifest import Difference, Manifest
from sweep.operate.manifest_check import Start
from sweep.report.blocks import CLAIM, Paragraph, Section, Table, table
from sweep.report.words import bytes_text, coordinates, counted, safe
from sweep.units import grouped, printable


def manifest_page(
    manifest: Manifest, start: Start, lines: Sequence[LaunchLine], longest_stated: bool = True
) -> list[Section]:
    """The page of `manifest`.

    Args:
        manifest: the unit.
        start: whether it starts.
        lines: its launch lines.
        longest_stated: whether somebody stated the longest sequence; else it follows from the classes.
    """
    found = [Section("Deployment manifest", (_unit(manifest),)), *_evidence(manifest), *start_sections(start)]
    found += [section for line in lines for section in _launch(line)]
    if not longest_stated:
        text = (
            "The longest sequence is that of the longest class. Lengths of classes may be means: state the longest "
            "request to accept with --longest."
        )
        found.append(Section("", (Paragraph(text, "note"),)))
    return [*found, CLAIM]


def _unit(manifest: Manifest) -> Table:
    parallel = manifest.tensor_parallel
    rows = [
        ("model", safe(manifest.model_id)),
        ("revision", safe(manifest.model_revision)),
        ("framework", safe(manifest.framework)),
        ("replicas", f"{grouped(manifest.replica_count)}, of {counted(parallel, 'GPU')} each"),
        ("batch slots", grouped(manifest.batch_slots)),
        ("prefill chunk", counted(manifest.prefill_chunk_tokens, "token")),
        ("longest sequence", counted(manifest.longest_sequence_tokens, "token")),
    ]
    return table(("unit", ""), rows)


def _evidence(manifest: Manifest) -> list[Section]:
    evidence = manifest.evidence
    unit = ("manifest", manifest.digest)
    if evidence is None:
        none = Paragraph("No evidence: nobody has judged its operating point.", "bad")
        return [Section("", (table(("id of", "SHA-256"), [unit]), none))]
    rows = [
        unit,
        ("grid", evidence.grid_sha256),
        ("contract", evidence.contract_content_id),
        ("workload", evidence.workload_content_id),
        ("evidence", evidence.evidence_id),
    ]
    where = Paragraph(f"Operating point: {printable(coordinates(dict(evidence.point)), 1_000)}")
    return [Section("", (table(("id of", "SHA-256"), rows), where))]


def start_sections(start: Start, what: str = "a replica of it") -> list[Section]:
    """Whether something starts, why not, and what is not known."""
    if start.starts:
        title = Paragraph(f"Starts: {what} fits its memory.", "good")
    elif start.starts is None:
        title = Paragraph(f"Not known to start: too little is known of {what}.", "bad")
    else:
        title = Paragraph(f"Does not start: {what} does not fit.", "bad")
    blocks = [title, *(Paragraph(f"- {safe(sentence)}") for sentence in start.refusals)]
    blocks += [Paragraph(f"- not known: {safe(sentence)}") for sentence in start.unknown]
    return [Section("", (*blocks, *_pool(start)))]


def _pool(start: Start) -> list[Paragraph]:
    if start.blocks is None:
        return []
    text = f"KV pool: {bytes_text(start.pool_bytes)}, " if start.pool_bytes is not None else "KV pool: "
    text += counted(start.blocks, "block")
    if start.longest_fitting_tokens is not None:
        text += f"; one request of up to {counted(start.longest_fitting_tokens, 'token')} fits"
    if start.effective_slots is not None:
        text += f"; of the declared mix {counted(start.effective_slots, 'request')} at once"
    return [Paragraph(f"{text}.")]


def _launch(line: LaunchLine) -> list[Section]:
    blocks = [Paragraph(f"In {ENGINES[line.engine].title}:")]
    blocks += [Paragraph(text, keep=True) for text in line.lines()]
    blocks += [Paragraph(f"({safe(note)})", "note") for note in line.notes]
    return [Section("", tuple(blocks))]


def check_page(start: Start, what: str, notes: Sequence[str] = ()) -> list[Section]:
    """The page of `manifest check`.

    Args:
        start: the verdict.
        what: what was checked, the title.
        notes: what else is to be said, in sentences.
    """
    first, *rest = start_sections(start, "a replica")
    found = [Section(safe(what), first.blocks), *rest]
    if notes:
        found.append(Section("", tuple(Paragraph(safe(note)) for note in notes)))
    return [*found, CLAIM]


def diff_page(old: Manifest, new: Manifest, differences: Sequence[Difference]) -> list[Section]:
    """The page of `manifest diff`."""
    if not differences:
        text = Paragraph(f"The same unit: {old.digest}.", "good")
        return [Section("Manifests are equal", (text,)), CLAIM]
    rows = [(safe(one.field), _shown(one.old), _shown(one.new)) for one in differences]
    title = f"Manifests differ in {counted(len(differences), 'field')}"
    ids = table(("digest", "SHA-256"), [("old", old.digest), ("new", new.digest)])
    return [Section(title, (table(("field", "old", "new"), rows),)), Section("", (ids,)), CLAIM]


def _shown(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, int) and not isinstance(value, bool):
        return grouped(value)
    return printable(value if isinstance(value, str) else json.dumps(value), 300)
