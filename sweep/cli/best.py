"""`sweep best`: the largest SLO-feasible operating point of a result."""

from __future__ import annotations

from pathlib import Path

import click

from sweep.cli.asked import asked
from sweep.cli.options import (
    InOrder,
    at_option,
    change_options,
    changes,
    fixed,
    json_option,
    objective_options,
    objectives,
    slo_option,
)
from sweep.cli.output import write, write_json, write_page
from sweep.cli.program import complain
from sweep.errors import AskedForFailure, UsageFault


@click.command(cls=InOrder, short_help="The largest SLO-feasible operating point.")
@click.argument("file", metavar="GRID.toml|FILE.nc", type=click.Path(path_type=Path, readable=False))
@at_option
@change_options
@slo_option
@objective_options
@click.option("--top", type=click.IntRange(min=1), default=1, show_default=True, metavar="N", help="How many points.")
@click.option("--on-grid", is_flag=True, help="Take the traffic scale from its axis' own values.")
@click.option("--csv", "as_csv", is_flag=True, help="Print axes and figures as CSV, one line per point.")
@json_option
@click.option("--require", is_flag=True, help="Exit with 1 where nothing is feasible.")
def best(
    file: Path,
    at: tuple[str, ...],
    set_: tuple[str, ...],
    axis: tuple[str, ...],
    slo: tuple[str, ...],
    maximize: tuple[str, ...],
    minimize: tuple[str, ...],
    top: int,
    on_grid: bool,
    as_csv: bool,
    as_json: bool,
    require: bool,
) -> None:
    """Find the largest operating point that breaks no bound, and what stops the next step up.

    Largest means: the highest traffic scale (exact, also between and beyond the values of its axis), then the most
    batch slots, the largest chunk, the lowest prefill share. With --maximize and --minimize the grid's cells are ranked
    by other axes or quantities instead, in the order typed. Where nothing is feasible it says what stands in the way,
    and which single bound to change by how little, if one is enough. Give a result, or a grid file, whose --set and
    --axis answer a what-if without writing a file.

    \b
    Examples:
      sweep best h100.nc
      sweep best h100.nc --at traffic=1000 --minimize estimated_tpot_ms
      sweep best grids/h100.toml --set max_tpot_ms=40
      sweep best h100.nc --slo max_ttft_ms=300
      sweep best grids/h100.toml --axis replicas=1:8:1 --at rps=50 --top 3
      sweep best h100.nc --maximize slots,chunk --minimize share --top 5 --csv
      sweep best h100.nc --at chunk=256 --require
    """
    from sweep import api
    from sweep.report.best import best_csv, best_page
    from sweep.report.nothing import nothing_sentence

    if as_csv and as_json:
        raise UsageFault("--csv and --json: stdout takes one of them; leave one out.")
    wanted, places = objectives(), fixed(at)
    question = asked(file, changes(), slo)
    grid = question.grid
    answer = api.best_of_grid(grid, places, wanted, top, on_grid)
    if as_json:
        write_json(question.json(answer.as_json()))
    elif as_csv:
        write(question.csv(best_csv(answer, [axis.name for axis in grid.axes])))
    else:
        write_page(question.page(best_page(answer, wanted, any_scale=not on_grid)))
    if answer.feasible:
        return
    if require:
        raise AskedForFailure(f"{file}: {nothing_sentence(answer)}; --require makes this a failure.")
    if as_csv:
        complain(f"{file}: {nothing_sentence(answer)}; leave --csv out to see what stands in the way.")
