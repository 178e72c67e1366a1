"""The public functions of `sweep`, each one call deep."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sweep.engine import plan as planning
from sweep.engine.evaluate import Evaluation
from sweep.engine.plan import MATERIALIZE_CHOICES, STORE_CHOICES, Plan, free_bytes, refuse
from sweep.engine.run import Progress, RunSummary, evaluation_of, execute
from sweep.errors import UsageFault
from sweep.grid.load import load_grid, parse_grid
from sweep.grid.model import Grid
from sweep.query.best import BestAnswer, find_best
from sweep.query.result import explain_grid, open_result
from sweep.query.select import At

__all__ = [
    "best_of_grid",
    "explain_grid",
    "load_grid",
    "open_result",
    "parse_grid",
    "plan",
    "run",
]


def plan(grid: Grid, store: str = "small", materialize: str = "auto") -> Plan:
    """What a run would do: sizes, stored quantities, and the arithmetic that each quantity needs; computes nothing.

    Args:
        grid: the grid, of any size.
        store: `all`, `small` (quantities of at most 2^22 values) or `none`.
        materialize: whether the mask is stored: `auto` (up to 2^28 cells), `always` or `never`.
    """
    return _planned(grid, evaluation_of(grid), store, materialize)


def run(
    grid: Grid | str | Path,
    output: str | Path | None = None,
    store: str = "small",
    materialize: str = "auto",
    force: bool = False,
    progress: Progress | None = None,
) -> RunSummary:
    """Judge every cell of a grid, check a sample against the scalar reference, and write a sealed netCDF file.

    Args:
        grid: a grid, or the path of a grid file.
        output: the result file; default: the grid file's stem (a grid's name is no path, so then it must be given).
        store: as in `plan`.
        materialize: as in `plan`.
        force: replace a file that is not a result of this grid.
        progress: called with the cells done and all cells.

    Raises:
        InputFault: the grid file is wrong. RefusedSize: the run would be too large.
        ResultFault: the file cannot be written. SelfCheckFault: kernels and reference disagree.
    """
    if output is None:
        if isinstance(grid, Grid):
            raise UsageFault("run: a Grid has no file name; give output=… for the result file.")
        output = Path(Path(grid).stem + ".nc")
    loaded = grid if isinstance(grid, Grid) else load_grid(grid)
    ev = evaluation_of(loaded)
    planned = _planned(loaded, ev, store, materialize)
    refuse(planned, free_bytes(Path(output)))
    return execute(loaded, ev, planned, Path(output), force, progress or _silent)


def best_of_grid(
    grid: Grid,
    at: At | None = None,
    objectives: Sequence[tuple[str, str]] = (),
    top: int = 1,
    on_grid: bool = False,
) -> BestAnswer:
    """The largest SLO-feasible operating point of a grid without a result file; see `Result.best`."""
    return find_best(grid, evaluation_of(grid), at, objectives, top, on_grid)


def _planned(grid: Grid, ev: Evaluation, store: str, materialize: str) -> Plan:
    for option, given, allowed in (
        ("store", store, STORE_CHOICES),
        ("materialize", materialize, MATERIALIZE_CHOICES),
    ):
        if given not in allowed:
            raise UsageFault(f"{option}: got {given!r}, wanted one of {', '.join(allowed)}.")
    return planning.make_plan(grid, ev, store, materialize)


def _silent(done: int, total: int) -> None:
    """Progress for nobody."""
