"""One row of the results: what was measured, and whether it reached its targets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from benchmarks.registry import Case, Target


@dataclass(frozen=True)
class Outcome:
    """A measured case, or the reason why there is no measurement."""

    case: str
    """The spec's name."""
    verb: str
    about: str = ""
    """What the spec is, in one line."""
    cells: int = 0
    configurations: int = 0
    seconds: float | None = None
    """Best of the rounds."""
    peak_bytes: int | None = None
    """Most resident memory of a process that does this case alone, interpreter and libraries included."""
    ratios: Mapping[str, float] = field(default_factory=dict)
    """Seconds of a yardstick or peer over seconds of the case: higher is better for the case."""
    reads: Mapping[str, str] = field(default_factory=dict)
    """How each ratio is said, as in `Yardstick.reads`."""
    skipped: Mapping[str, str] = field(default_factory=dict)
    """Yardsticks and peers that were not measured, with the reason."""
    reason: str | None = None
    """Why the case itself was not measured."""
    targets: Sequence[Mapping[str, Any]] = ()
    """`text` and `reached` (null where it was not measured, or not at full scale)."""

    @property
    def key(self) -> str:
        """spec/verb."""
        return f"{self.case}/{self.verb}"

    @property
    def cells_per_second(self) -> float | None:
        """None where nothing was measured or there are no cells."""
        return self.cells / self.seconds if self.seconds and self.cells else None

    @property
    def configurations_per_second(self) -> float | None:
        """None where nothing was measured or there are no configurations."""
        return self.configurations / self.seconds if self.seconds and self.configurations else None

    def as_json(self) -> dict[str, Any]:
        """With stable keys."""
        return {
            "case": self.case,
            "verb": self.verb,
            "about": self.about,
            "cells": self.cells,
            "configurations": self.configurations,
            "seconds": self.seconds,
            "cells_per_second": self.cells_per_second,
            "configurations_per_second": self.configurations_per_second,
            "peak_bytes": self.peak_bytes,
            "ratios": dict(self.ratios),
            "reads": dict(self.reads),
            "skipped": dict(self.skipped),
            "reason": self.reason,
            "targets": [dict(target) for target in self.targets],
        }


def outcome_of(row: Mapping[str, Any]) -> Outcome:
    """An outcome from its JSON."""
    derived = ("cells_per_second", "configurations_per_second")
    return Outcome(**{key: value for key, value in row.items() if key not in derived})


def not_measured(case: Case, reason: str, full: bool) -> Outcome:
    """A row that says why there is no measurement."""
    row = Outcome(case.spec.name, case.verb, case.spec.about, reason=reason)
    return replace(row, targets=judged(case.targets, row, full))


def judged(targets: Sequence[Target], row: Outcome, full: bool) -> list[dict[str, Any]]:
    """Each target with whether the row reached it; targets are for full scale."""
    return [{"text": target.text, "reached": _reached(target, row) if full else None} for target in targets]


def _reached(target: Target, row: Outcome) -> bool | None:
    own = {
        "seconds": row.seconds,
        "peak_bytes": row.peak_bytes,
        "configurations_per_second": row.configurations_per_second,
    }
    value = own[target.measure] if target.measure in own else row.ratios.get(target.measure)
    if value is None:
        return None
    return value <= target.limit if target.at_most else value >= target.limit
