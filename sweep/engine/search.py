"""The largest operating point of a declared grid, by bounds over boxes of configurations."""

from __future__ import annotations

from sweep.engine.evaluate import Evaluation
from sweep.engine.largest import Point, largest_point


def search_largest(ev: Evaluation) -> Point | None:
    """The first feasible operating point in the default order, with its exact scale; None where nothing is feasible."""
    return largest_point(ev)
