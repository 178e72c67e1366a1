"""`sweep info`: what a result file holds."""

from __future__ import annotations

from pathlib import Path

import click

from sweep.cli.options import json_option
from sweep.cli.output import write_json, write_page


@click.command(short_help="What a result file holds.")
@click.argument("file", metavar="FILE.nc", type=click.Path(path_type=Path, readable=False))
@json_option
def info(file: Path, as_json: bool) -> None:
    """Show what FILE.nc holds: its grid, axes, variables, digests, and what is computed only when asked for.

    Use it to see which grid and which overrides a result came from; `ncdump -h` shows the same file to any netCDF tool.

    \b
    Examples:
      sweep info h100.nc
      sweep info h100.nc --json | jq .grid_sha256
    """
    from sweep import api
    from sweep.report.inspect import info_page

    with api.open_result(file) as result:
        found = result.info()
    if as_json:
        write_json(found)
    else:
        write_page(info_page(found))
