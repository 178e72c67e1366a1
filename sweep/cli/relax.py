"""`sweep relax`: which bound to loosen, or which axis to step, for more traffic."""

from __future__ import annotations

from pathlib import Path

import click

from sweep.cli.asked import asked
from sweep.cli.options import InOrder, at_option, change_options, changes, fixed, json_option, slo_option
from sweep.cli.output import write, write_json, write_page
from sweep.errors import UsageFault


@click.command(cls=InOrder, short_help="Which bound to loosen, or which axis to step, for more traffic.")
@click.argument("file", metavar="GRID.toml|FILE.nc", type=click.Path(path_type=Path, readable=False))
@at_option
@slo_option
@change_options
@click.option("--csv", "as_csv", is_flag=True, help="Print every step as CSV, one line per step.")
@json_option
def relax(
    file: Path,
    at: tuple[str, ...],
    slo: tuple[str, ...],
    set_: tuple[str, ...],
    axis: tuple[str, ...],
    as_csv: bool,
    as_json: bool,
) -> None:
    """Say what the largest operating point of a result becomes when one bound is loosened, or one axis steps.

    For each bound of the contract, alone: loosened by one unit, by 10 % (rounded up), and to the end of its range
    (without it), and the smallest loosening that lets the traffic grow by one permille, exactly. For each axis of
    integers: fixed at its next value down and up, the others free. Gains are in permille of the declared traffic.
    With concurrency from the SLO, a looser max_ttft_ms or max_tpot_ms admits longer stays, so it may carry less: then
    the gain is negative. A bound from the memory model is replaced by an integer, from its value at the largest point.
    Where nothing is feasible, the smallest step is what admits the lowest traffic. Give a result, or a grid file.

    \b
    Keys of --json:
      feasible, point, traffic_scale_permille      the largest point as it is
      next_scale_permille                          what smallest reaches
      bounds  [{bound, now, note, one_unit, ten_percent, without, smallest}]
      axes    [{axis, now, note, down, same, up}]
      each step {to, change, traffic_scale_permille, gain_permille, point} or null

    \b
    Examples:
      sweep relax h100.nc
      sweep relax h100.nc --at slots=64
      sweep relax h100.nc --at traffic=2000
      sweep relax h100.nc --slo max_ttft_ms=300 --json | jq .bounds[0].smallest
    """
    from sweep.engine.run import evaluation_of
    from sweep.query.relax import relax as find_relax
    from sweep.report.relax import relax_csv, relax_page

    if as_csv and as_json:
        raise UsageFault("--csv and --json: stdout takes one of them; leave one out.")
    question = asked(file, changes(), slo)
    grid = question.grid
    answer = find_relax(grid, evaluation_of(grid), fixed(at))
    if as_json:
        write_json(question.json(answer.as_json()))
    elif as_csv:
        write(question.csv(relax_csv(answer, [one.name for one in grid.axes])))
    else:
        write_page(question.page(relax_page(answer)))
