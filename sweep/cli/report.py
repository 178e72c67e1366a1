"""`sweep report`: the offline explorer of a grid as one page."""

from __future__ import annotations

from pathlib import Path

import click

from sweep.cli.asked import asked
from sweep.cli.files import is_result
from sweep.cli.options import InOrder, change_options, changes, json_option, slo_option
from sweep.cli.output import write, write_json
from sweep.cli.writing import write_text


@click.command(cls=InOrder, short_help="One page that explores every cell offline: sliders, SLO, frontier.")
@click.argument("file", metavar="FILE.nc|GRID.toml", type=click.Path(path_type=Path, readable=False))
@click.option(
    "-o",
    "--output",
    metavar="FILE.html",
    type=click.Path(path_type=Path, readable=False),
    help="Default: the stem of FILE with .html, in this folder.",
)
@slo_option
@change_options
@click.option("--force", is_flag=True, help="Replace FILE.html even if it is no page of this grid.")
@json_option
def report(
    file: Path,
    output: Path | None,
    slo: tuple[str, ...],
    set_: tuple[str, ...],
    axis: tuple[str, ...],
    force: bool,
    as_json: bool,
) -> None:
    """Write one page that opens from disk in any browser, loads nothing and sends nothing.

    The page holds the grid's inputs and the very formulas of the kernels, in JavaScript, and computes any slice while
    you look, in exact integers: a map of two axes with what limits each cell, sliders for the other axes and for every
    bound of the SLO, the largest point of the whole grid under them, frontiers, every figure of a cell, two cells
    compared, and the cells seen as CSV. Its size does not depend on the number of cells. When it opens it judges
    again the cells that the scalar reference judged, and says so. --slo sets the bounds that it starts from.

    \b
    Keys of --json: report (the file), bytes, cells (that it explores), claim.

    \b
    Examples:
      sweep report h100.nc
      sweep report grids/h100.toml -o h100.html
      sweep report grids/large.toml --axis traffic=5:10000:5 --slo max_ttft_ms=1500
    """
    from sweep.records.wording import CLAIM, CLAIM_IN_SHORT
    from sweep.report.html.page import grid_of_page, html_report
    from sweep.units import grouped

    target = output if output is not None else Path(f"{file.stem}.html")
    question = asked(file, changes(), slo)
    grid = question.grid
    page = html_report(grid)
    own = not is_result(target) and grid_of_page(_head(target)) == grid.sha256
    write_text(target, page, force or own, [file])
    size = len(page.encode())
    if as_json:
        write_json(question.json({"report": str(target), "bytes": size, "cells": grid.cells, "claim": CLAIM}))
    else:
        tenths = -(-size // 10**5)
        write(f"{target}\n{grouped(grid.cells)} cells in {tenths // 10}.{tenths % 10} MB; {CLAIM_IN_SHORT}\n")


def _head(target: Path) -> str:
    """The first characters of a file that is there; none where it cannot be read as one."""
    try:
        with target.open(encoding="utf-8", errors="replace") as file:
            return file.read(2000) if target.is_file() else ""
    except (OSError, ValueError):
        return ""
