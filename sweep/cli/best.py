"""`sweep best`: the largest SLO-feasible operating point of a result."""

from __future__ import annotations

from pathlib import Path

import click

from sweep.cli.options import InOrder, at_option, fixed, json_option, typed
from sweep.cli.output import write, write_json, write_page
from sweep.cli.program import complain
from sweep.errors import AskedForFailure, UsageFault


@click.command(cls=InOrder, short_help="The largest SLO-feasible operating point of a result.")
@click.argument("file", metavar="FILE.nc", type=click.Path(path_type=Path))
@at_option
@click.option("--maximize", multiple=True, metavar="NAME", help="Rank by the largest axis value or quantity first.")
@click.option("--minimize", multiple=True, metavar="NAME", help="Rank by the smallest; in order with --maximize.")
@click.option("--top", type=click.IntRange(min=1), default=1, show_default=True, metavar="N", help="How many points.")
@click.option("--on-grid", is_flag=True, help="Take the traffic scale from its axis' own values.")
@click.option("--csv", "as_csv", is_flag=True, help="Print axes and figures as CSV, one line per point.")
@json_option
@click.option("--require", is_flag=True, help="Exit with 1 where nothing is feasible.")
def best(
    file: Path,
    at: tuple[str, ...],
    maximize: tuple[str, ...],
    minimize: tuple[str, ...],
    top: int,
    on_grid: bool,
    as_csv: bool,
    as_json: bool,
    require: bool,
) -> None:
    """Find the largest operating point of FILE.nc that breaks no bound, and what stops the next step up.

    Largest means: the highest traffic scale (exact, also between and beyond the values of its axis), then the most
    batch slots, the largest chunk, the lowest prefill share. With --maximize and --minimize the grid's cells are ranked
    by other axes or quantities instead, in the order typed. Where nothing is feasible it says which single bound to
    change, and by how little.

    \b
    Examples:
      sweep best h100.nc
      sweep best h100.nc --at traffic=1000 --minimize estimated_tpot_ms
      sweep best replicas.nc --at traffic=1000 --minimize replicas
      sweep best h100.nc --maximize slots,chunk --minimize share --top 5 --csv
      sweep best h100.nc --at chunk=256 --require
    """
    from sweep import api
    from sweep.report.best import best_csv, best_page, nothing_sentence

    if as_csv and as_json:
        raise UsageFault("--csv and --json: stdout takes one of them; leave one out.")
    objectives, places = _objectives(), fixed(at)
    with api.open_result(file) as result:
        grid = result.grid
        answer = result.best(places, objectives, top, on_grid)
    if as_json:
        write_json(answer.as_json())
    elif as_csv:
        write(best_csv(answer, [axis.name for axis in grid.axes]))
    else:
        traffic_fixed = any(grid.axis(name) is grid.axes[-1] for name in places)
        write_page(best_page(answer, objectives, any_scale=not on_grid and not traffic_fixed))
    if answer.feasible:
        return
    if require:
        raise AskedForFailure(f"{file}: {nothing_sentence(answer)}; --require makes this a failure.")
    if as_csv:
        complain(f"{file}: {nothing_sentence(answer)}; leave --csv out to see the smallest change that helps.")


def _objectives() -> list[tuple[str, str]]:
    """--maximize and --minimize in the order typed; commas separate several names."""
    found = []
    for sense, text in typed(("maximize", "minimize")):
        names = [name.strip() for name in text.split(",")]
        if not all(names):
            raise UsageFault(f"--{sense} {text}: wanted names with commas between; take out the empty one.")
        found += [(sense, name) for name in names]
    return found
