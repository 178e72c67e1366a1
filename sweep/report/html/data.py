"""What the page is told: axes, open inputs, the nodes of the graph, words, and cells that the reference judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from sweep._version import __version__
from sweep.engine.catalogue import FIGURES, bound_node
from sweep.engine.check import corner_indices, drawn_indices
from sweep.engine.opening import Array, open_inputs, switches_of
from sweep.engine.run import evaluation_of
from sweep.engine.search import search_largest
from sweep.grid.model import Axis, Grid
from sweep.kernels.graph import build
from sweep.query.cell import FIGURE_OF_BOUND
from sweep.records.bounds import CONTRACT_BOUNDS
from sweep.records.codes import INVALID_REASONS, VIOLATION_CODES
from sweep.records.wording import CLAIM, CLAIM_SENTENCE, INVALID_MEANINGS, VIOLATION_MEANINGS
from sweep.reference.judge import judge
from sweep.report.html.program import program_of
from sweep.report.words import short_name
from sweep.store.layout import unit_of

SAFE = 2**53 - 1
"""The largest integer that JSON carries into a double with all its neighbours."""

CORNERS, DRAWN = 16, 48
"""How many cells the page compares with the scalar reference when it opens."""

Json = dict[str, Any]


def page_data(grid: Grid) -> tuple[str, Json]:
    """The kernels of a grid as JavaScript, and everything else as JSON."""
    switches = switches_of(grid)
    # Where memory sets the KV bound a moved one replaces it, as `--slo max_kv_bytes=…` does: another graph.
    graphs = [build(switches)] + ([build(replace(switches, from_memory=False))] if switches.from_memory else [])
    kernels, tables = program_of(*graphs)
    inputs = open_inputs(grid)
    return kernels, {
        "name": grid.name,
        "version": __version__,
        "grid": grid.sha256,
        "claim": {"code": CLAIM, "text": " ".join(CLAIM_SENTENCE.split())},
        "axes": [_axis(axis) for axis in grid.axes],
        "inputs": {name: _input(grid, array, sorted(inputs.dims[name])) for name, array in inputs.arrays.items()},
        "nodes": tables[0],
        "nodesWithBound": tables[1] if switches.from_memory else None,
        "best": _best(grid),
        "admission": grid.admission_control_enabled,
        "classes": list(grid.class_ids),
        "figures": [{"name": one.name, "node": one.node, "unit": one.units, "text": one.long_name} for one in FIGURES],
        "bounds": [_bound(grid, name, figure) for name, figure in FIGURE_OF_BOUND.items()],
        "codes": [[code, VIOLATION_MEANINGS[code]] for code in VIOLATION_CODES],
        "reasons": [[code, INVALID_MEANINGS[code]] for code in INVALID_REASONS],
        "sample": _sample(grid),
    }


def integer(value: int) -> int | str:
    """An integer as JSON: a text where a double might not hold it."""
    return value if -SAFE <= value <= SAFE else str(value)


def _column(values: Sequence[int]) -> Json | list[int | str]:
    """The values of an axis or an input along it, a range as such."""
    if isinstance(values, range):
        return {"first": integer(values.start), "step": integer(values.step), "count": len(values)}
    return [integer(int(value)) for value in values]


def _axis(axis: Axis) -> Json:
    head = {"name": axis.name, "short": short_name(axis.name), "unit": unit_of(axis.name)}
    if axis.is_choice:
        return {**head, "choices": [choice.name for choice in axis.choices]}
    return {**head, "values": _column(axis.values)}


def _input(grid: Grid, array: Array, dims: Sequence[int]) -> Json:
    if not dims:
        return {"value": integer(int(array.flat[0]))}
    axis = grid.axes[dims[0]]
    if not axis.is_choice and array.size == len(axis) and _is_its_axis(array, axis):
        return {"axis": dims[0]}  # the axis' own values
    return {"axis": dims[0], "values": _column(array.reshape(-1).tolist())}


def _is_its_axis(array: Array, axis: Axis) -> bool:
    first, last = int(array.flat[0]), int(array.flat[-1])
    return (first, last) == (axis.values[0], axis.values[-1])


def _bound(grid: Grid, name: str, figure: str) -> Json:
    """A bound, and whether the page may move it: not what an axis or the memory model sets."""
    code = VIOLATION_CODES[1 + list(FIGURE_OF_BOUND).index(name)]
    head = {"name": name, "figure": figure, "code": code, "unit": unit_of(name)}
    if name not in CONTRACT_BOUNDS:
        return {**head, "node": f"scheduler.{name}"}
    path = f"contract.{name}"
    head["node"] = bound_node(name)
    setters = [axis.name for axis in grid.axes if path in axis.fields]
    if setters:
        return {**head, "axis": setters[0]}
    lower, upper = CONTRACT_BOUNDS[name]
    value = grid.base[path]
    known = {"value": integer(value), "memory": False} if isinstance(value, int) else {"value": None, "memory": True}
    return {**head, "input": path, **known, "lower": lower, "upper": integer(upper)}


def _best(grid: Grid) -> Json | None:
    """The largest point as declared, from which the page starts."""
    point = search_largest(evaluation_of(grid))
    return None if point is None else {"index": list(point.index), "scale": point.scale_permille}


def _sample(grid: Grid) -> list[list[Any]]:
    """Cells with what the scalar reference says: index, mask, reason and every figure."""
    found = []
    cells = dict.fromkeys([*islice(corner_indices(grid), CORNERS), *drawn_indices(grid, DRAWN)])
    for index in cells:
        verdict = judge(grid.fields(index), grid.class_ids)
        figures = [
            verdict.figures[one.name] if one.name in verdict.figures else int(getattr(verdict, one.name))
            for one in FIGURES
        ]
        found.append(
            [list(index), int(verdict.violations), int(verdict.invalid_reason), [integer(one) for one in figures]]
        )
    return found
