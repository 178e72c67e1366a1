"""Simulations as files: the rows of one as CSV or netCDF, the figures of a sweep over its axes as netCDF."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sweep.grid import Grid
from sweep.records.wording import CLAIM, CLAIM_SENTENCE
from sweep.simulate.over import AGREEMENTS, BINDS, Ask
from sweep.simulate.serve import Row, Simulation
from sweep.store.layout import axis_attributes, unit_of
from sweep.store.table import Column, write_table

_TEXTS = ("class_id", "refusal")
_CODES = {"agreement": AGREEMENTS, "binds": BINDS}


def rows_csv(simulation: Simulation) -> str:
    """One line per request, in the order of arrival; −1 where an instant did not come."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(Row._fields)
    writer.writerows(simulation.rows)
    return text.getvalue()


def write_rows(simulation: Simulation, path: Path, told: Mapping[str, Any], force: bool) -> None:
    """The same as netCDF, along the dimension `request`.

    Args:
        simulation: the run.
        path: the file.
        told: what it was of, as JSON.
        force: replace a file that is there.

    Raises:
        ResultFault: the file is there and may not be replaced, or cannot be written.
    """
    columns = {}
    for at, name in enumerate(Row._fields):
        values = [row[at] for row in simulation.rows]
        kept: Any = values if name in _TEXTS else np.array(values, dtype=np.int64)
        units = {} if name in _TEXTS else {"units": unit_of(name)}
        columns[name] = Column(("request",), kept, units)
    write_table(path, {"request": len(simulation.rows)}, columns, _attributes(told), force)


def write_sweep(
    grid: Grid,
    ask: Ask,
    axes: Sequence[tuple[int, Sequence[int | str]]],
    figures: Sequence[Mapping[str, int]],
    path: Path,
    force: bool,
) -> None:
    """The figures of a sweep over the axes that it ran over, as netCDF.

    Args:
        grid: the grid.
        ask: the sweep; its spots are in C order of the axes.
        axes: (position in the grid, values) of each axis that was swept.
        figures: of each spot.
        path: the file.
        force: replace a file that is there.

    Raises:
        ResultFault: the file is there and may not be replaced, or cannot be written.
    """
    dims = {grid.axes[position].dim: len(values) for position, values in axes}
    shape = tuple(dims.values())
    columns = {}
    for position, values in axes:
        axis = grid.axes[position]
        labels: Any = [str(v) for v in values] if axis.is_choice else np.array(values, dtype=np.int64)
        columns[axis.dim] = Column((axis.dim,), labels, axis_attributes(axis))
    for name in figures[0]:
        block = np.array([one[name] for one in figures], dtype=np.int64).reshape(shape)
        columns[name] = Column(tuple(dims), block, _figure_attributes(name))
    told = {"arrivals": ask.arrivals.as_json(), "serving": ask.serving.as_json(), "ask_sha256": ask.sha256}
    told["fixed"] = _fixed(grid, ask, [position for position, _ in axes])
    write_table(path, dims, columns, {**_attributes(told), "grid_sha256": grid.sha256}, force)


def _figure_attributes(name: str) -> dict[str, Any]:
    if name in _CODES:
        codes = _CODES[name]
        return {"flag_values": np.arange(len(codes), dtype=np.int64), "flag_meanings": " ".join(codes)}
    return {"units": unit_of(name), "undefined_value": np.int64(-1)}


def _fixed(grid: Grid, ask: Ask, swept: Sequence[int]) -> dict[str, int | str]:
    """The axes that were not swept, with the value that each has throughout."""
    spot, last = ask.spots[0], len(grid.axes) - 1
    found = {axis.name: axis.label(spot.index[i]) for i, axis in enumerate(grid.axes) if i not in swept and i != last}
    return found if last in swept else found | {grid.axes[last].name: spot.scale_permille}


def _attributes(told: Mapping[str, Any]) -> dict[str, str]:
    text = json.dumps(told, sort_keys=True, separators=(",", ":"))
    return {"title": "sweep: simulation", "claim": CLAIM, "comment": CLAIM_SENTENCE, "simulated": text}
