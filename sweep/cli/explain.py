"""`sweep explain`: one operating point in full."""

from __future__ import annotations

from pathlib import Path

import click

from sweep.cli.options import InOrder, at_option, change_options, changes, fixed, json_option
from sweep.cli.output import write_json, write_page
from sweep.errors import UsageFault

_HDF5_MAGIC = b"\x89HDF\r\n\x1a\n"


@click.command(cls=InOrder, short_help="One operating point in full.")
@click.argument("file", metavar="GRID.toml|FILE.nc", type=click.Path(path_type=Path))
@at_option
@change_options
@json_option
def explain(file: Path, at: tuple[str, ...], set_: tuple[str, ...], axis: tuple[str, ...], as_json: bool) -> None:
    """Show one operating point in full: every figure, bound, slack and violation, and where they come from.

    The point is judged by the scalar reference: derived records, content ids, evidence id, KV blocks. Axes that --at
    leaves open take their values from the largest feasible point among what is left, or their first values where
    nothing is feasible. Give a grid file, or a result.

    \b
    Examples:
      sweep explain grids/illustrative.toml
      sweep explain h100.nc --at share=800 --at slots=64 --at traffic=1200
      sweep explain h100.toml --set contract.max_ttft_ms=300 --at slots=64
      sweep explain h100.nc --json | jq .slack
    """
    from sweep import api
    from sweep.report.explain import explain_page

    overrides = changes()
    if is_result(file):
        if overrides:
            kind, text = overrides[0]
            raise UsageFault(f"--{kind} {text}: {file} is a result, whose grid is fixed; give the grid file instead.")
        with api.open_result(file) as result:
            grid, cell = result.grid, result.explain(fixed(at))
    else:
        grid = api.load_grid(file, overrides)
        cell = api.explain_grid(grid, fixed(at))
    if as_json:
        write_json(cell.as_json())
    else:
        write_page(explain_page(grid, cell))


def is_result(file: Path) -> bool:
    """Whether a file is to be opened as a result: by its content, else by its ending.

    What cannot be read is left to whoever opens it: that one has the sentence for it.
    """
    if file.suffix == ".toml":
        return False
    try:
        with file.open("rb") as stream:
            head = stream.read(4096)
    except (OSError, ValueError):
        return file.suffix == ".nc"
    return head.startswith(_HDF5_MAGIC) or b"\0" in head or file.suffix == ".nc"
