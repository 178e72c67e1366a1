"""`sweep frontier`: the exact Pareto set over the feasible cells."""

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
from sweep.errors import UsageFault


@click.command(cls=InOrder, short_help="The feasible points that no other one beats in every objective.")
@click.argument("file", metavar="FILE.nc|GRID.toml", type=click.Path(path_type=Path, readable=False))
@at_option
@objective_options
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=1_000,
    show_default=True,
    metavar="N",
    help="How many points to list.",
)
@slo_option
@change_options
@click.option("--csv", "as_csv", is_flag=True, help="Print axes and figures as CSV, one line per point.")
@json_option
def frontier(
    file: Path,
    at: tuple[str, ...],
    maximize: tuple[str, ...],
    minimize: tuple[str, ...],
    limit: int,
    slo: tuple[str, ...],
    set_: tuple[str, ...],
    axis: tuple[str, ...],
    as_csv: bool,
    as_json: bool,
) -> None:
    """List the trade-offs of FILE.nc: its exact Pareto set over the cells of the grid that break no bound.

    A cell is out when another feasible one is at least as good in every objective and better in one. Without
    --maximize and --minimize the objectives are traffic up, worst TTFT down, TPOT down; any axis or variable may be
    one, in the order typed. Cells with equal values are one point, with their count and the first of them in the
    default order of operating points: highest traffic, most slots, largest chunk, lowest share.

    \b
    Keys of --json: objectives (sense, name), points (point: axis and value of the
    first cell; report; count: cells with these values; values: those of the
    objectives), total (points in all), feasible_cells, claim.

    \b
    Examples:
      sweep frontier h100.nc
      sweep frontier h100.nc --maximize traffic --minimize slots
      sweep frontier replicas.nc --at traffic=20000 --minimize replicas,estimated_tpot_ms --csv
      sweep frontier h100.nc --slo max_ttft_ms=300 --json
    """
    from sweep.engine.run import evaluation_of
    from sweep.query.frontier import find_frontier
    from sweep.report.frontier import frontier_csv, frontier_page

    if as_csv and as_json:
        raise UsageFault("--csv and --json: stdout takes one of them; leave one out.")
    question = asked(file, changes(), slo)
    grid = question.grid
    answer = find_frontier(grid, evaluation_of(grid), fixed(at), objectives(), limit)
    if as_json:
        write_json(question.json(answer.as_json()))
    elif as_csv:
        write(question.csv(frontier_csv(answer, [one.name for one in grid.axes])))
    else:
        write_page(question.page(frontier_page(answer)))
