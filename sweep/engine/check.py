"""The self-check: cells that the kernels judged, judged again by the scalar reference before the file is sealed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from itertools import islice, product

import numpy as np

from sweep.engine.catalogue import Quantity
from sweep.engine.evaluate import Evaluation
from sweep.engine.largest import CAPACITY, LIMITING, Point, at_scales
from sweep.engine.opening import Array
from sweep.engine.verdict import MaskMaker, reason_array, reported_rules
from sweep.errors import SelfCheckFault
from sweep.exact.interval import INT64_MAX
from sweep.grid.model import Grid
from sweep.reference.judge import Judgement, judge

RANDOM_CELLS = 256
MAX_CORNERS = 1024

Index = tuple[int, ...]


def drawn_indices(grid: Grid, count: int, salt: str = "cells") -> Iterator[Index]:
    """Cells drawn from the grid's digest: the same for the same grid, on every machine and library version.

    Each axis takes SHA-256(digest/salt/number/axis) modulo its length; the bias of the modulo is below 2^-190.
    """
    for number in range(count):
        yield tuple(
            int.from_bytes(hashlib.sha256(f"{grid.sha256}/{salt}/{number}/{i}".encode()).digest()[:28]) % length
            for i, length in enumerate(grid.shape)
        )


def corner_indices(grid: Grid) -> Iterator[Index]:
    """The corners of the grid, at most 1024 of them."""
    ends = [(0,) if length == 1 else (0, length - 1) for length in grid.shape]
    return islice(product(*ends), MAX_CORNERS)


def check_cells(grid: Grid, best: Point | None) -> tuple[Index, ...]:
    """The cells to check: corners, random ones, and the grid's own cells around the largest point."""
    cells = dict.fromkeys(corner_indices(grid))
    cells.update(dict.fromkeys(drawn_indices(grid, RANDOM_CELLS)))
    if best is not None:
        own = sum(value <= best.scale_permille for value in grid.axes[-1].values)
        for traffic in (own - 1, own):
            if 0 <= traffic < grid.shape[-1]:
                cells[(*best.index, traffic)] = None
                cells.update(dict.fromkeys((*step, traffic) for step in steps_up(grid, best.index)))
    return tuple(cells)


def steps_up(grid: Grid, index: Index) -> Iterator[Index]:
    """The configurations one step up on each axis but traffic."""
    for axis, at in enumerate(index):
        if at + 1 < grid.shape[axis]:
            yield (*index[:axis], at + 1, *index[axis + 1 :])


class Samples:
    """Values that the run computed (and stored) at the cells to check, gathered while they pass by."""

    def __init__(self, cells: Sequence[Index]) -> None:
        self.cells = tuple(cells)
        self.seen: dict[str, dict[Index, int]] = {}
        self._table = np.array(self.cells, dtype=np.int64)

    def _inside(self, region: Sequence[slice]) -> Iterator[Index]:
        starts = np.array([s.start or 0 for s in region], dtype=np.int64)
        stops = np.array([INT64_MAX if s.stop is None else s.stop for s in region], dtype=np.int64)
        for number in np.flatnonzero(((self._table >= starts) & (self._table < stops)).all(axis=1)):
            yield self.cells[number]

    def holds(self, region: Sequence[slice]) -> bool:
        """Whether any of the cells lies in a region."""
        return next(self._inside(region), None) is not None

    def take(self, name: str, region: Sequence[slice], values: Array) -> None:
        """Remember the values of an open array that covers a region, at the cells inside it."""
        starts = [s.start or 0 for s in region]
        kept = self.seen.setdefault(name, {})
        for cell in self._inside(region):
            at = (0 if n == 1 else i - start for i, start, n in zip(cell, starts, values.shape, strict=True))
            kept[cell] = int(values[tuple(at)])

    def compare(self, grid: Grid) -> int:
        """Judge every cell by the reference; raise SelfCheckFault at the first difference. Returns their number."""
        for cell in self.cells:
            verdict = judge(grid.fields(cell), grid.class_ids)
            for name, values in self.seen.items():
                if cell in values:
                    _demand(grid, cell, None, name, values[cell], expected(grid, cell, verdict, name))
        return len(self.cells)


def expected(grid: Grid, cell: Index, verdict: Judgement, name: str) -> int:
    """What the reference says of a variable of the result."""
    if name == "violations":
        return verdict.violations
    if name == "invalid_reason":
        return verdict.invalid_reason
    if name == "bound_max_kv_bytes":
        return verdict.max_kv_bytes
    if name.startswith("bound_"):
        bound = grid.fields(cell)[f"contract.{name.removeprefix('bound_')}"]
        assert isinstance(bound, int)
        return bound
    if name in verdict.figures:
        return verdict.figures[name]
    return int(getattr(verdict, name))


def check_capacity(grid: Grid, samples: Samples) -> int:
    """Each largest scale T by the reference: T is feasible (or 0), and T + 1 has the limiting mask, which is not 0.

    Returns the cells judged.
    """
    judged = 0
    for cell, scale in samples.seen[CAPACITY].items():
        for probe in (scale, scale + 1):
            if probe < 1:
                continue
            judged += 1
            mask = judge(grid.fields(cell, scale_permille=probe), grid.class_ids).violations
            if (mask == 0) != (probe == scale):
                _fail(grid, cell, probe, CAPACITY, scale, f"not: the mask is {mask:#06x} at {probe}")
            if probe > scale:
                _demand(grid, cell, probe, LIMITING, samples.seen[LIMITING][cell], mask)
    return judged


def check_point(grid: Grid, ev: Evaluation, best: Point, quantities: Sequence[Quantity]) -> int:
    """The largest point, one permille more, and each neighbour at its scale, every figure against the reference."""
    judged = 0
    scales = [(best.index, best.scale_permille), (best.index, best.scale_permille + 1)]
    scales += [(step, best.scale_permille) for step in steps_up(grid, best.index)]
    for index, scale in scales:
        cell = (*index, 0)
        verdict = judge(grid.fields(cell, scale_permille=scale), grid.class_ids)
        for name, value in values_at(ev, cell, scale, quantities, grid.admission_control_enabled).items():
            _demand(grid, cell, scale, name, value, expected(grid, cell, verdict, name))
        judged += 1
    return judged


def values_at(
    ev: Evaluation, cell: Index, scale: int, quantities: Sequence[Quantity], admission_control: bool
) -> dict[str, int]:
    """Every variable of one configuration at any traffic scale, by the kernels."""
    rank = len(cell)
    one = ev.tile(tuple(slice(i, i + 1) for i in cell))
    point = at_scales(one, np.full((1,) * rank, scale, dtype=np.int64), frozenset(range(rank - 1)))
    reported = reported_rules(point)
    everything = (slice(0, 1),) * rank
    values = {quantity.name: int(point.get(quantity.node).item()) for quantity in quantities}
    values["violations"] = int(MaskMaker(point, reported, admission_control).make(everything).item())
    values["invalid_reason"] = int(reason_array(point, reported).item())
    return values


def _demand(grid: Grid, cell: Index, scale: int | None, name: str, kernel: int, reference: int) -> None:
    if kernel != reference:
        _fail(grid, cell, scale, name, kernel, str(reference))


def _fail(grid: Grid, cell: Index, scale: int | None, name: str, kernel: int, reference: str) -> None:
    labels = [f"{axis.name}={axis.label(i)}" for axis, i in zip(grid.axes, cell, strict=True)]
    if scale is not None:
        labels[-1] = f"{grid.axes[-1].name}={scale}"
    raise SelfCheckFault(
        f"self-check: {name} of the cell {', '.join(labels)} is {kernel} by the kernels and {reference} by the scalar "
        f"reference; no file was written: this is a bug of sweep, please report it with the grid file"
    )
