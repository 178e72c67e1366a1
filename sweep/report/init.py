"""The page of `sweep init`: what was written, where it came from, and what to do next."""

from __future__ import annotations

import shlex

from sweep.draft.grid import Draft
from sweep.report.blocks import CLAIM, Paragraph, Section, table
from sweep.report.words import safe, sentence


def init_page(draft: Draft, file: str) -> list[Section]:
    """The page.

    Args:
        draft: what was written.
        file: its name as given.
    """
    rows = [(part, safe(says)) for part, says in draft.parts.items()]
    sections = [Section(f"Wrote {safe(file)}: {safe(draft.grid.name)}", (table(("part", "from"), rows),))]
    if draft.gaps:
        lines = "\n".join(f"- {safe(gap)}." for gap in draft.gaps)
        sections.append(Section("Not your own yet", (Paragraph(lines, "bad"),)))
    if draft.notes:
        sections.append(Section("", tuple(Paragraph(sentence(safe(note).rstrip(".")), "note") for note in draft.notes)))
    command = Paragraph(f"  sweep run {safe(shlex.quote(file))}", "good", keep=True)
    return [*sections, Section("Next", (command,)), CLAIM]
