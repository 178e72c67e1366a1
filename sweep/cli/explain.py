"""`sweep explain`: one operating point in full."""

from __future__ import annotations

from pathlib import Path

import click

from sweep.cli.asked import asked
from sweep.cli.options import InOrder, at_option, change_options, changes, fixed, json_option, slo_option
from sweep.cli.output import write_json, write_page


@click.command(cls=InOrder, short_help="One operating point in full.")
@click.argument("file", metavar="GRID.toml|FILE.nc", type=click.Path(path_type=Path, readable=False))
@at_option
@change_options
@slo_option
@json_option
def explain(
    file: Path,
    at: tuple[str, ...],
    set_: tuple[str, ...],
    axis: tuple[str, ...],
    slo: tuple[str, ...],
    as_json: bool,
) -> None:
    """Show one operating point in full: every figure, bound, slack and violation, and where they come from.

    The point is judged by the scalar reference: derived records, content ids, evidence id, KV blocks. Axes that --at
    leaves open take their values from the largest feasible point among what is left; where nothing is feasible at the
    traffic that --at fixes, from the configuration that carries the most; where none carries anything, their first
    values. Give a grid file, or a result.

    \b
    Examples:
      sweep explain grids/illustrative.toml
      sweep explain h100.nc --at share=800 --at slots=64 --at traffic=1200
      sweep explain h100.nc --at rps=12.5
      sweep explain grids/h100.toml --set max_ttft_ms=300 --at slots=64
      sweep explain h100.nc --slo max_ttft_ms=300 --json | jq .slack
    """
    from sweep.engine.run import evaluation_of
    from sweep.query.explain import locate
    from sweep.report.explain import explain_page

    question = asked(file, changes(), slo)
    grid = question.grid
    found = locate(grid, evaluation_of(grid), fixed(at))
    if as_json:
        write_json(question.json(found.cell.as_json()))
    else:
        write_page(question.page(explain_page(grid, found.cell, found)))
