"""Under which SLO an answer holds, where it is not the file's own."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping

from sweep.report.blocks import Paragraph, Section
from sweep.report.words import label


def slo_text(bounds: Mapping[str, tuple[int | str, int | str]]) -> str:
    """The bounds of `--slo` in words.

    Args:
        bounds: bound -> its value, and the one that the file has.
    """
    texts = [f"{name} = {label(now)} (the file has {label(before)})" for name, (now, before) in bounds.items()]
    return f"Under another SLO: {', '.join(texts)}"


def slo_section(bounds: Mapping[str, tuple[int | str, int | str]]) -> Section:
    """The bounds of `--slo` as a section of a page."""
    return Section("", (Paragraph(slo_text(bounds)),))


def csv_with(text: str, bounds: Mapping[str, int | str]) -> str:
    """A table as CSV with a column per bound at its end."""
    rows = list(csv.reader(io.StringIO(text)))
    found = io.StringIO()
    writer = csv.writer(found, lineterminator="\n")
    for at, row in enumerate(rows):
        writer.writerow([*row, *(bounds.values() if at else (f"slo_{name}" for name in bounds))])
    return found.getvalue()
