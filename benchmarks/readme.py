"""The README's blocks that are made from measurements: what stands between two markers is replaced."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from benchmarks.isolated import ROOT
from benchmarks.machine import sentence
from benchmarks.results import BadFile, Results
from benchmarks.table import markdown, notes

README = ROOT / "README.md"
BENCHMARKS, GROWTH = "benchmarks", "growth"


def benchmarks_block(results: Results) -> str:
    """The table with its machine, versions and what was left out."""
    left_out = notes(results.rows)
    lines = [f"{sentence(results.machine)}; best of {results.rounds} rounds or more.", "", markdown(results.rows)]
    return "\n".join(lines + ([""] + [f"* {note}" for note in left_out] if left_out else []))


def replaced(text: str, blocks: Mapping[str, str]) -> str:
    """A text with the blocks of these names exchanged.

    Raises:
        BadFile: it has no such markers.
    """
    for name, block in blocks.items():
        begin, end = f"<!-- {name}: made by a command -->", f"<!-- {name} end -->"
        pattern = re.compile(f"{re.escape(begin)}\n.*?{re.escape(end)}", re.DOTALL)
        found = pattern.search(text)
        if found is None:
            raise BadFile(f"README.md: no lines {begin} and {end}; add them where the block belongs.")
        text = f"{text[: found.start()]}{begin}\n{block}\n{end}{text[found.end() :]}"
    return text


def rewrite(blocks: Mapping[str, str], path: Path = README) -> None:
    """Exchange blocks of the README."""
    path.write_text(replaced(path.read_text(encoding="utf-8"), blocks), encoding="utf-8")
