"""The file that a command is given: a grid file or a result."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sweep.cli.program import complain
from sweep.errors import InputFault, UsageFault

if TYPE_CHECKING:
    from sweep.grid.model import Grid

_HDF5_MAGIC = b"\x89HDF\r\n\x1a\n"


def grid_of(file: Path, overrides: Sequence[tuple[str, str]]) -> Grid:
    """The grid of a grid file with overrides, or the one that a result was computed from; warns as `warn` does.

    Raises:
        UsageFault: overrides of a result. InputFault, ResultFault: the file is wrong.
    """
    from sweep import api

    if not is_result(file):
        grid = api.load_grid(file, overrides)
        warn(grid)
        return grid
    if overrides:
        kind, text = overrides[0]
        raise UsageFault(f"--{kind} {text}: {file} is a result, whose grid is fixed; give the grid file instead.")
    with api.open_result(file) as result:
        return result.grid


def warn(grid: Grid) -> None:
    """One line on stderr for each `--set` that changes no cell, and each axis beyond what was measured."""
    from sweep.query.advice import ineffective_sets
    from sweep.query.measured import beyond_measured

    for sentence in (*ineffective_sets(grid), *beyond_measured(grid)):
        complain(f"warning: {sentence}.")


def refuse_result(file: Path) -> None:
    """Say so where a result is given in place of a grid file.

    Raises:
        InputFault: the file is HDF5.
    """
    head = _head(file, len(_HDF5_MAGIC))
    if head == _HDF5_MAGIC:
        raise InputFault(
            f"{file}: is a result and a grid file (TOML) is wanted; give that one, or ask the result with `sweep best`."
        )


def is_result(file: Path) -> bool:
    """Whether a file is to be opened as a result: by its content, else by its ending.

    What cannot be read is left to whoever opens it: that one has the sentence for it.
    """
    if file.suffix == ".toml":
        return False
    head = _head(file, 4096)
    return head.startswith(_HDF5_MAGIC) or b"\0" in head or file.suffix == ".nc"


def _head(file: Path, length: int) -> bytes:
    """The first bytes of a regular file; nothing of any other: a pipe gives what it has only once."""
    try:
        if not file.is_file():
            return b""
        with file.open("rb") as stream:
            return stream.read(length)
    except (OSError, ValueError):
        return b""
