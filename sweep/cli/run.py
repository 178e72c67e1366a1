"""`sweep run`: a grid file to a result file, and what was found."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from sweep.cli.files import refuse_result, warn
from sweep.cli.options import InOrder, change_options, changes, json_option, memory_bytes
from sweep.cli.output import progress, write, write_json, write_page
from sweep.cli.program import mark_written
from sweep.cli.signals import raise_lost

if TYPE_CHECKING:
    from sweep.engine.run import RunSummary
    from sweep.grid.model import Grid


@click.command(cls=InOrder, short_help="Judge every cell of a grid and write a result file.")
@click.argument("grid", metavar="GRID.toml", type=click.Path(path_type=Path, readable=False))
@click.option(
    "-o",
    "--output",
    metavar="FILE.nc",
    type=click.Path(path_type=Path, readable=False),
    help="Default: the grid's stem, in this folder.",
)
@change_options
@click.option(
    "--store",
    type=click.Choice(["all", "small", "none"]),
    default="small",
    show_default=True,
    help="Figures to keep: those of at most 2^22 values are small. The rest is computed when asked for.",
)
@click.option(
    "--materialize",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    show_default=True,
    help="Whether to keep the violations of every cell: auto does up to 2^28 cells.",
)
@click.option(
    "--memory",
    metavar="SIZE",
    help="What the process may take at most: 512MiB, 2GB.  [default: 1GiB]",
)
@click.option(
    "--simulate-best",
    type=click.IntRange(0, 100),
    default=0,
    metavar="N",
    help="Simulate the N best points too, with 2000 Poisson requests each.",
)
@click.option("--force", is_flag=True, help="Replace FILE.nc even if it is not a result of this grid.")
@click.option("--dry-run", is_flag=True, help="Say cells, bytes, tiles and arithmetic; run and write nothing.")
@click.option("-q", "--quiet", is_flag=True, help="Print the file, one line of the largest point, and the claim.")
@json_option
def run(
    grid: Path,
    output: Path | None,
    set_: tuple[str, ...],
    axis: tuple[str, ...],
    store: str,
    materialize: str,
    memory: str | None,
    simulate_best: int,
    force: bool,
    dry_run: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Judge every operating point of GRID.toml and report the largest SLO-feasible one.

    Every cell of the grid is judged in exact integers, a sample is judged again by an independent scalar reference,
    and the result is written to one netCDF file, complete or not at all. Use it first; best, explain and verify then
    answer from the file without running again.

    \b
    Examples:
      sweep run grids/h100.toml
      sweep run grids/h100.toml --dry-run
      sweep run grids/h100.toml -o tight.nc --set max_ttft_ms=300 --axis share=900
      sweep run grids/h100.toml --axis slots=8:256:8 --axis replicas=1:8:1
      sweep run grids/h100.toml --json | jq .best.point
    """
    from sweep import api
    from sweep.store.target import refuse_grid_as_target

    target = output if output is not None else Path(f"{grid.stem}.nc")
    allowed = memory_bytes(memory)
    refuse_result(grid)
    refuse_grid_as_target(grid, target)
    loaded = api.load_grid(grid, changes())
    warn(loaded)
    if dry_run:
        _dry_run(loaded, target, store, materialize, allowed, as_json)
        return
    with progress("judging", silent=quiet or as_json) as step:

        def stoppable(done: int, total: int) -> None:
            raise_lost()
            if step is not None:
                step(done, total)

        summary = api.run(loaded, target, store, materialize, force, stoppable, allowed)
    mark_written(str(target))
    _tell(summary, quiet, as_json, simulate_best)


def _tell(summary: RunSummary, quiet: bool, as_json: bool, simulate_best: int) -> None:
    """What was found, with the simulation of the best points where it was asked for."""
    from sweep.report.run import run_lines, run_page

    found = []
    if simulate_best:
        from sweep.cli.simulated import simulated_best

        found = simulated_best(summary.grid, simulate_best)
    if as_json:
        from sweep.query.summary import run_as_json

        more = [{"point": dict(cell.point), **comparison.as_json()} for cell, comparison in found]
        write_json(run_as_json(summary) | ({"simulated": more} if simulate_best else {}))
    elif quiet and not found:
        write("".join(f"{line}\n" for line in run_lines(summary)))
    else:
        page = run_page(summary)
        if found:
            from sweep.report.simulate import best_simulated

            page = [*page[:-1], best_simulated(found), page[-1]]
        write_page(page)


def _dry_run(grid: Grid, target: Path, store: str, materialize: str, allowed: int | None, as_json: bool) -> None:
    from sweep import api
    from sweep.engine.plan import free_bytes, refuse
    from sweep.errors import RefusedSize
    from sweep.records.wording import CLAIM
    from sweep.report.plan import plan_page

    plan = api.plan(grid, store, materialize, allowed)
    refusal = None
    try:
        refuse(plan, free_bytes(target))
    except RefusedSize as error:
        refusal = str(error)
    if as_json:
        write_json({**plan.as_json(), "refusal": refusal, "claim": CLAIM})
    else:
        write_page(plan_page(grid, plan, refusal))
