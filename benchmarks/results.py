"""The file of a run's rows, and the smaller one of its ratios: read and written here only."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.outcome import Outcome, outcome_of

FORMAT = "sweep-benchmarks-1"


class BadFile(Exception):
    """A file is no file of rows, or does not fit what is asked of it."""


@dataclass(frozen=True)
class Results:
    """The rows of a run."""

    scale: str
    rounds: int
    machine: Mapping[str, Any]
    """Empty in a baseline, which holds ratios only."""
    rows: Sequence[Outcome]

    def write(self, path: Path) -> None:
        """Every figure, with stable keys."""
        _write(path, {**self._head(), "rows": [row.as_json() for row in self.rows]})

    def write_baseline(self, path: Path) -> None:
        """Ratios only: they hold on other machines, seconds do not."""
        rows = [
            {"case": row.case, "verb": row.verb, "ratios": {name: _rounded(r) for name, r in row.ratios.items()}}
            for row in self.rows
            if row.ratios
        ]
        _write(path, {"format": FORMAT, "scale": self.scale, "rows": rows})

    def _head(self) -> dict[str, Any]:
        return {"format": FORMAT, "scale": self.scale, "rounds": self.rounds, "machine": dict(self.machine)}


def _rounded(ratio: float) -> float:
    """Three digits: more would be noise in the history."""
    return float(f"{ratio:.3g}")


def _write(path: Path, content: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def read(path: Path) -> Results:
    """The rows of a file, of a run or a baseline.

    Raises:
        BadFile: it cannot be read, or holds something else.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["format"] != FORMAT:
            raise BadFile(f"{path.name}: format {content['format']!r}, wanted {FORMAT}; measure anew.")
        rows = [outcome_of(row) for row in content["rows"]]
        return Results(content["scale"], content.get("rounds", 0), content.get("machine", {}), rows)
    except OSError as error:
        raise BadFile(f"{path.name}: cannot be read ({error.strerror}); give a file that --json wrote.") from error
    except (ValueError, KeyError, TypeError) as error:
        raise BadFile(f"{path.name}: holds no rows of a run; give a file that --json wrote.") from error
