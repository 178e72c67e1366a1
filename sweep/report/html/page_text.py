"""The page's own files: its code in the order in which it is run, its markup and its style."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files

ENGINE = ("numbers.js", "ranges.js", "evaluation.js", "slice.js", "point.js", "grid.js", "walk.js", "boxes.js")
"""What computes: it touches no document."""

VIEW = (
    "words.js",
    "state.js",
    "model.js",
    "colours.js",
    "chart.js",
    "panel.js",
    "map.js",
    "controls.js",
    "pareto.js",
    "along.js",
    "tradeoff.js",
    "frontier.js",
    "csv.js",
    "turns.js",
    "searches.js",
    "describe.js",
    "app.js",
    "main.js",
)
"""What shows."""


def text_of(name: str) -> str:
    """A file of the folder `page`."""
    return (files(__package__) / "page" / name).read_text(encoding="utf-8")


def code_of(names: Sequence[str]) -> str:
    """Several files as one script."""
    return "\n".join(text_of(name) for name in names)
