"""What is measured: grid files of the house under the axes of a case, at two scales."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import sweep
from benchmarks.registry import Scale
from sweep.grid.model import Grid

_HERE = Path(__file__).resolve().parent
FIXED = _HERE / "grids" / "fixed.toml"
"""Iteration time and capacity given."""

BEYOND_INT64 = _HERE / "grids" / "beyond_int64.toml"
"""Every class figure above 2^63."""

STEP_TIME = _HERE.parent / "grids" / "large.toml"
"""Iteration time and capacity from slots and chunk, KV bytes from the model, concurrency by Little's law."""

H100 = _HERE.parent / "grids" / "h100.toml"
"""The grid of the main job."""


@dataclass(frozen=True)
class GridSpec:
    """A grid file with other axes."""

    name: str
    about: str
    file: Path
    axes: Mapping[Scale, Sequence[str]]
    """Per scale the `--axis` texts; smoke is the same code on a small grid."""

    def grid(self, scale: Scale) -> Grid:
        """The grid at a scale."""
        return sweep.load_grid(self.file, [("axis", text) for text in self.axes[scale]])

    def arguments(self, scale: Scale) -> list[str]:
        """The same as arguments of `sweep run`."""
        return [str(self.file), *[part for text in self.axes[scale] for part in ("--axis", text)]]
