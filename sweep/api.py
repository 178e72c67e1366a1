"""The public functions of `sweep`, each one call deep."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from sweep.engine import plan as planning
from sweep.engine.evaluate import Evaluation
from sweep.engine.plan import MATERIALIZE_CHOICES, STORE_CHOICES, Plan, free_bytes, refuse
from sweep.engine.run import Progress, RunSummary, evaluation_of, execute
from sweep.errors import UsageFault
from sweep.grid.load import load_grid, parse_grid
from sweep.grid.model import Grid
from sweep.query.best import BestAnswer, find_best
from sweep.query.certificate import certified
from sweep.query.common import Side
from sweep.query.diff import DiffAnswer, find_diff
from sweep.query.result import Result, explain_grid, open_result
from sweep.query.select import At
from sweep.store.target import refuse_grid_as_target

__all__ = [
    "best_of_grid",
    "diff",
    "explain_grid",
    "load_grid",
    "open_result",
    "parse_grid",
    "plan",
    "run",
]


def plan(grid: Grid, store: str = "small", materialize: str = "auto", memory_bytes: int | None = None) -> Plan:
    """What a run would do: sizes, stored quantities, and the arithmetic that each quantity needs; computes nothing.

    Args:
        grid: the grid, of any size.
        store: `all`, `small` (quantities of at most 2^22 values) or `none`.
        materialize: whether the mask is stored: `auto` (up to 2^28 cells), `always` or `never`.
        memory_bytes: what the whole process may take; default 1 GiB.

    Raises:
        RefusedSize: too little memory for any run.
    """
    return _planned(grid, evaluation_of(grid, memory_bytes), store, materialize)


def run(
    grid: Grid | str | Path,
    output: str | Path | None = None,
    store: str = "small",
    materialize: str = "auto",
    force: bool = False,
    progress: Progress | None = None,
    memory_bytes: int | None = None,
) -> RunSummary:
    """Judge every cell of a grid, check a sample against the scalar reference, and write a sealed netCDF file.

    Args:
        grid: a grid, or the path of a grid file.
        output: the result file; default: the grid file's stem (a grid's name is no path, so then it must be given).
        store: as in `plan`.
        materialize: as in `plan`.
        force: replace a file that is not a result of this grid.
        progress: called with the cells done and all cells.
        memory_bytes: as in `plan`; tiles are made to fit, and a run that cannot keep to it is refused.

    Raises:
        UsageFault: the output is the grid file itself.
        InputFault: the grid file is wrong. RefusedSize: the run would be too large.
        ResultFault: the file cannot be written. SelfCheckFault: kernels and reference disagree.
    """
    if output is None:
        if isinstance(grid, Grid):
            raise UsageFault("run: a Grid has no file name; give output=… for the result file.")
        output = Path(Path(grid).stem + ".nc")
    if not isinstance(grid, Grid):
        refuse_grid_as_target(Path(grid), Path(output))
    loaded = grid if isinstance(grid, Grid) else load_grid(grid)
    ev = evaluation_of(loaded, memory_bytes)
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
    ev = evaluation_of(grid)
    return certified(grid, ev, find_best(grid, ev, at, objectives, top, on_grid))


def diff(old: Result | str | Path, new: Result | str | Path, at: At | None = None) -> DiffAnswer:
    """What changed from one result to another, on the cells with the same coordinates in both.

    Args:
        old: an open result (it stays open), or the path of one.
        new: the other; points, order and lists of cells are in its grid's terms.
        at: axes to fix, name -> value, each on whichever side has it; the traffic scale may be off both axes.

    Raises:
        ResultFault: a file is missing, foreign, altered or cut short.
        UsageFault: an unknown axis or value, an axis without a common value, or one with several values on one side.
        RefusedSize: too many common configurations.
    """
    with ExitStack() as files:
        sides = []
        for given in (old, new):
            result = given if isinstance(given, Result) else files.enter_context(open_result(given))
            sides.append(Side(str(result.path), result.grid, result.evaluation))
        return find_diff(sides[0], sides[1], at)


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
