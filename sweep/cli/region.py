"""`sweep region`: a slice over two axes as a map."""

from __future__ import annotations

from pathlib import Path

import click

from sweep.cli.asked import asked
from sweep.cli.options import InOrder, at_option, change_options, changes, fixed, json_option, slo_option
from sweep.cli.output import page_size, write, write_json, write_page
from sweep.errors import UsageFault

_OTHER_LINES = 12
"""Lines of a page beside its map."""

_FEWEST_LINES = 8


@click.command(cls=InOrder, short_help="A map over two axes: feasible or not, what limits where, capacity, slack.")
@click.argument("file", metavar="FILE.nc|GRID.toml", type=click.Path(path_type=Path, readable=False))
@click.option("--x", required=True, metavar="AXIS", help="The axis across.")
@click.option("--y", required=True, metavar="AXIS", help="The axis down.")
@at_option
@click.option(
    "--show",
    default="verdict",
    show_default=True,
    metavar="WHAT",
    help="verdict, limit, capacity, slack, or any variable of `sweep info`.",
)
@click.option("--bound", metavar="NAME", help="With --show slack: the bound. --show slack:NAME says the same.")
@slo_option
@change_options
@click.option("--csv", "as_csv", is_flag=True, help="Print every cell of the slice as CSV, one line each.")
@json_option
def region(
    file: Path,
    x: str,
    y: str,
    at: tuple[str, ...],
    show: str,
    bound: str | None,
    slo: tuple[str, ...],
    set_: tuple[str, ...],
    axis: tuple[str, ...],
    as_csv: bool,
    as_json: bool,
) -> None:
    """Show a slice of FILE.nc over two axes: where it is feasible, what limits it where, and by how much.

    \b
    --show verdict   within, rejected or invalid
           limit     the first bound that a cell breaks; of a feasible cell what
                     stops one permille more traffic; why a cell is invalid
           capacity  the largest feasible traffic of each configuration, exact;
                     0 where there is none (the traffic is no axis then)
           slack     units left under one bound (--bound NAME), negative over it
           NAME      any variable that `sweep info` lists

    Axes that are neither --x, --y nor fixed take the values of the largest feasible point, the traffic its exact scale.
    A long axis is thinned out until the map fits the terminal; --json and --csv always have every value.

    \b
    Keys of --json: show, x, y (axes), at (the other axes), filled (where open
    ones came from), labels (axis: its values), values (a row per value of y; of
    limit the mask of violations; null where undefined), verdict (likewise),
    invalid_reason and codes (what a mask means), largest, claim.

    \b
    Examples:
      sweep region h100.nc --x slots --y share --at traffic=1000
      sweep region h100.nc --x slots --y share --show capacity
      sweep region h100.nc --x traffic --y slots --show limit
      sweep region h100.nc --x slots --y chunk --show slack:max_ttft_ms --slo max_ttft_ms=300
    """
    from sweep.engine.run import evaluation_of
    from sweep.query.region import find_region
    from sweep.report.region import region_csv, region_page

    if as_csv and as_json:
        raise UsageFault("--csv and --json: stdout takes one of them; leave one out.")
    if bound is not None and show != "slack":
        raise UsageFault(f"--bound {bound}: only the slack is one of a bound; write --show slack --bound {bound}.")
    question = asked(file, changes(), slo)
    grid = question.grid
    wanted = show if bound is None else f"{show}:{bound}"
    answer = find_region(grid, evaluation_of(grid), x, y, fixed(at), wanted)
    if as_json:
        write_json(question.json(answer.as_json()))
    elif as_csv:
        write(question.csv(region_csv(answer, [one.name for one in grid.axes])))
    else:
        width, lines = page_size()
        write_page(question.page(region_page(answer, width, max(_FEWEST_LINES, lines - _OTHER_LINES))), width)
