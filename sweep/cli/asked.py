"""The grid that a question is asked of: a grid file or a result, possibly under another SLO (`--slo`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sweep.cli.files import grid_of
from sweep.cli.options import pairs

if TYPE_CHECKING:
    from sweep.grid.model import Grid
    from sweep.report.blocks import Section


@dataclass(frozen=True)
class Asked:
    """A grid and the bounds of `--slo`, each with its value and the one that the file has."""

    grid: Grid
    slo: Mapping[str, tuple[int | str, int | str]] = field(default_factory=dict)

    def json(self, answer: Mapping[str, Any]) -> dict[str, Any]:
        """An answer as JSON; `slo` says under which bounds it holds, where any were given."""
        return {**answer, "slo": {name: now for name, (now, _) in self.slo.items()}} if self.slo else dict(answer)

    def page(self, sections: Sequence[Section]) -> list[Section]:
        """A page, which says first under which bounds it holds."""
        if not self.slo:
            return list(sections)
        from sweep.report.slo import slo_section

        return [slo_section(self.slo), *sections]

    def csv(self, text: str) -> str:
        """A table as CSV, with a column per bound."""
        if not self.slo:
            return text
        from sweep.report.slo import csv_with

        return csv_with(text, {name: now for name, (now, _) in self.slo.items()})


def asked(file: Path, overrides: Sequence[tuple[str, str]], slo: Iterable[str]) -> Asked:
    """The grid of a file under the bounds of `--slo`.

    Raises:
        UsageFault: overrides of a result, or a bound that is none or that an axis sets.
        InputFault, ResultFault: the file, or the value of a bound, is wrong.
    """
    bounds = pairs("--slo", slo, "max_ttft_ms=300", "bound")
    base = grid_of(file, overrides)
    if not bounds:
        return Asked(base)
    from sweep.query.slo import under_slo

    grid = under_slo(base, bounds)
    names = [name.removeprefix("contract.") for name in bounds]
    return Asked(grid, {name: (_bound(grid, name), _bound(base, name)) for name in names})


def _bound(grid: Grid, name: str) -> int | str:
    value = grid.base[f"contract.{name}"]
    return value if isinstance(value, int) else str(value)
