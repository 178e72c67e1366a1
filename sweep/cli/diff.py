"""`sweep diff`: what changed from one result to another."""

from __future__ import annotations

from pathlib import Path

import click

from sweep.cli.asked import asked
from sweep.cli.options import at_option, fixed, json_option, slo_option
from sweep.cli.output import write, write_json, write_page
from sweep.errors import AskedForFailure, UsageFault


@click.command(short_help="What changed from one result to another.")
@click.argument("old", metavar="OLD.nc", type=click.Path(path_type=Path, readable=False))
@click.argument("new", metavar="NEW.nc", type=click.Path(path_type=Path, readable=False))
@at_option
@slo_option
@click.option("--csv", "as_csv", is_flag=True, help="Print the listed cells as CSV, one line per cell.")
@json_option
@click.option("--fail-on-regression", is_flag=True, help="Exit with 1 where anything got worse.")
def diff(
    old: Path,
    new: Path,
    at: tuple[str, ...],
    slo: tuple[str, ...],
    as_csv: bool,
    as_json: bool,
    fail_on_regression: bool,
) -> None:
    """Compare OLD.nc with NEW.nc on the cells that both have.

    Cells are matched by coordinate: on every axis the values that both results have, choices by name. It says how many
    cells became feasible or infeasible (and the first 20 of each in the default order of NEW.nc), how the largest
    operating point and the exact capacity of each configuration changed, and which fields of the grid differ. Cells
    that turned from rejected to invalid, or back, are counted too.

    An axis that only one result has needs one value there, or --at. --slo puts both under one bound.
    --fail-on-regression fails where a cell
    became infeasible, or where the largest point of the common part carries less traffic, in exact permille.

    \b
    Examples:
      sweep diff monday.nc friday.nc
      sweep diff one.nc replicas.nc --at replicas=1 --json
      sweep diff main.nc branch.nc --fail-on-regression
      sweep diff monday.nc friday.nc --slo max_ttft_ms=300
    """
    from sweep import api
    from sweep.report.diff import diff_csv, diff_page, regression_sentences

    if as_csv and as_json:
        raise UsageFault("--csv and --json: stdout takes one of them; leave one out.")
    places, question = fixed(at), asked(new, (), slo)
    bounds = {name: now for name, (now, _) in question.slo.items()}
    with api.open_result(old, bounds) as before, api.open_result(new, bounds) as after:
        axes = [axis.name for axis in after.grid.axes]
        answer = api.diff(before, after, places)
    if as_json:
        write_json(question.json(answer.as_json()))
    elif as_csv:
        write(question.csv(diff_csv(answer, axes)))
    else:
        write_page(question.page(diff_page(str(old), str(new), answer)))
    if fail_on_regression and answer.regression:
        raise AskedForFailure(regression_sentences(str(old), str(new), answer))
