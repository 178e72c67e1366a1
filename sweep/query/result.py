"""An open result file with the questions as methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any

from sweep.engine.check import RANDOM_CELLS
from sweep.engine.evaluate import Evaluation
from sweep.engine.largest import CAPACITY
from sweep.engine.run import evaluation_of
from sweep.grid.model import Grid
from sweep.query.best import BestAnswer, find_best
from sweep.query.cell import Cell, cell_at
from sweep.query.certificate import certified
from sweep.query.explain import locate
from sweep.query.frontier import DEFAULT_LIMIT, FrontierAnswer, find_frontier
from sweep.query.relax import RelaxAnswer, relax
from sweep.query.replay import MAX_REPLAYED, Replay, replay
from sweep.query.select import At
from sweep.query.slo import Slo, under_slo
from sweep.query.verify import Progress, VerifyAnswer, verify
from sweep.store.read import ResultFile, open_file


class Result:
    """A result of a run; a context manager.

    Attributes:
        path: the file.
        grid: the grid that it was computed from (`grid_effective`).
        attrs: the file's global attributes.
    """

    def __init__(self, file: ResultFile, slo: Slo | None = None) -> None:
        self._file = file
        self._slo = slo
        self.path: Path = file.path
        self.attrs: Mapping[str, Any] = file.attrs

    def __enter__(self) -> Result:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    @cached_property
    def grid(self) -> Grid:
        """The grid that the result was computed from, under the new SLO where one was given."""
        return under_slo(self._file.grid, self._slo)

    @cached_property
    def evaluation(self) -> Evaluation:
        """The kernels over `grid`; what the file does not store is recomputed here, to the same integers."""
        return evaluation_of(self.grid)

    def best(
        self,
        at: At | None = None,
        objectives: Sequence[tuple[str, str]] = (),
        top: int = 1,
        on_grid: bool = False,
    ) -> BestAnswer:
        """The largest SLO-feasible operating point, with its certificate; see `sweep.query.best.find_best`."""
        answer = find_best(self.grid, self.evaluation, at, objectives, top, on_grid)
        return certified(self.grid, self.evaluation, answer)

    def relax(self, at: At | None = None) -> RelaxAnswer:
        """What loosening one bound, or a step on one axis, would bring; see `sweep.query.relax.relax`."""
        return relax(self.grid, self.evaluation, at)

    def explain(self, at: At | None = None) -> Cell:
        """One operating point in full; see `explain_grid`."""
        return explain_grid(self.grid, at, self.evaluation)

    def verify(
        self, all_cells: bool = False, sample: int = RANDOM_CELLS, progress: Progress | None = None
    ) -> VerifyAnswer:
        """Seal, digests and cells against the scalar reference; see `sweep.query.verify.verify`."""
        return verify(self._file, evaluation_of(self._file.grid), sample, all_cells, progress)

    def verify_best(
        self,
        all_configurations: bool = False,
        sample: int = MAX_REPLAYED,
        progress: Progress | None = None,
    ) -> Replay:
        """The seal, and the largest point's certificate by the scalar reference; see `sweep.query.replay.replay`.

        Raises:
            ResultFault: the file was altered.
        """
        self._file.check_seal()
        grid = self._file.grid
        stored = self._file.read(CAPACITY) if self._file.has(CAPACITY) else None
        answer = find_best(grid, evaluation_of(grid))
        return replay(grid, answer, all_configurations, sample, progress, stored)

    def frontier(
        self, at: At | None = None, objectives: Sequence[tuple[str, str]] = (), limit: int = DEFAULT_LIMIT
    ) -> FrontierAnswer:
        """The exact Pareto set over the feasible cells; see `sweep.query.frontier.find_frontier`."""
        return find_frontier(self.grid, self.evaluation, at, objectives, limit)

    def info(self) -> dict[str, Any]:
        """What the file holds, with stable keys."""
        grid = self._file.grid
        return {
            "path": str(self.path),
            "name": grid.name,
            **{key: self.attrs.get(key) for key in _INFO_ATTRS},
            "cells": grid.cells,
            "configurations": grid.configurations,
            "axes": [_axis_info(axis) for axis in grid.axes],
            "variables": [self._variable_info(name) for name in self._file.variables],
            "recomputed": str(self.attrs.get("recomputed", "")).split(),
            "overrides": list(grid.overrides),
            "first_cell_invalid_reason": cell_at(grid, (0,) * len(grid.axes)).invalid_reason,
        }

    def _variable_info(self, name: str) -> dict[str, Any]:
        variable = self._file.variables[name]
        values = 1
        for length in self._file.shape(name):
            values *= length
        text = {
            key: str(variable.attrs[key])
            for key in ("units", "long_name", "arithmetic", "intermediates")
            if key in variable.attrs
        }
        return {
            "name": name,
            "dims": list(variable.dims),
            "dtype": variable.dtype,
            "limbs": variable.limbs,
            "values": values,
            **text,
        }


_INFO_ATTRS = (
    "sweep_version",
    "grid_sha256",
    "results_sha256",
    "contract_content_id",
    "workload_content_id",
    "claim",
    "reference_checked_cells",
)


def _axis_info(axis: Any) -> dict[str, Any]:
    head = {"name": axis.name, "path": axis.path, "dim": axis.dim, "length": len(axis)}
    if axis.is_choice:
        return {**head, "choices": [choice.name for choice in axis.choices]}
    return {**head, "first": axis.label(0), "last": axis.label(len(axis) - 1)}


def open_result(path: str | Path, slo: Slo | None = None) -> Result:
    """Open a result file.

    Args:
        path: the file.
        slo: other bounds for every question but `verify` and `info`; see `sweep.query.slo.under_slo`.

    Raises:
        ResultFault: it is missing, foreign, altered or cut short.
        UsageFault, InputFault: on the first question, where the SLO does not fit the grid.
    """
    return Result(open_file(path), slo)


def explain_grid(grid: Grid, at: At | None = None, ev: Evaluation | None = None) -> Cell:
    """One operating point in full; `sweep.query.explain.locate` says where open axes take their values from.

    Raises:
        UsageFault: an unknown axis or value.
    """
    return locate(grid, evaluation_of(grid) if ev is None else ev, at).cell
