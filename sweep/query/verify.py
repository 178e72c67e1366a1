"""A result file against the scalar reference: seal, digests, and stored cells judged again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, product
from typing import Any

import numpy as np

from sweep.engine.catalogue import quantities
from sweep.engine.check import MAX_CORNERS, corner_indices, drawn_indices, expected
from sweep.engine.evaluate import Evaluation, narrowed
from sweep.engine.largest import CAPACITY, LIMITING, limiting_masks
from sweep.engine.opening import Array
from sweep.engine.verdict import MaskMaker, reason_array, reported_rules
from sweep.grid.model import Grid
from sweep.records.wording import CLAIM
from sweep.reference.judge import judge
from sweep.store.layout import slab_shape, slabs
from sweep.store.read import ResultFile

MAX_DIFFERENCES = 20
"""A file that differs everywhere is described by its first differences."""

Progress = Callable[[int, int], None]
Region = tuple[slice, ...]
_TILE_CELLS = 2**16


@dataclass(frozen=True)
class VerifyAnswer:
    """What `verify` found."""

    checked: int
    """Cells that the reference judged."""
    differences: tuple[Mapping[str, Any], ...]
    """The first differences: point, variable, stored (or recomputed) value, the reference's value."""

    def as_json(self) -> dict[str, Any]:
        """With stable keys."""
        differences = [dict(difference) for difference in self.differences]
        return {"checked": self.checked, "differences": differences, "claim": CLAIM}


def verify(
    file: ResultFile, ev: Evaluation, sample: int, all_cells: bool = False, progress: Progress | None = None
) -> VerifyAnswer:
    """Check seal, digests and coordinates, then cells against the reference.

    What the file does not store is recomputed by the kernels, as a query would, and checked likewise.

    Args:
        file: the open result.
        ev: the evaluation of its grid.
        sample: how many random cells, drawn from the grid's digest; the corners come on top. As many as the grid has,
            or more, are all cells.
        all_cells: judge every cell instead.
        progress: called with the cells judged and all cells.

    Raises:
        ResultFault: the seal, a digest or a coordinate does not fit: the file was altered.
    """
    file.check_seal()
    file.check_digest()
    file.check_coordinates()
    grid = file.grid
    todo: Iterable[Region]
    if all_cells or sample >= grid.cells:
        shape = slab_shape(grid.shape, _TILE_CELLS)
        todo = slabs(grid.shape, shape)
        total = grid.cells
    else:
        todo = _sample(grid, sample)
        total = sample + min(2 ** sum(length > 1 for length in grid.shape), MAX_CORNERS)
    checker = _Checker(file, grid, ev)
    for region in todo:
        checker.check(region)
        if progress is not None:
            progress(checker.checked, total)
        if len(checker.differences) >= MAX_DIFFERENCES:
            break
    if progress is not None and checker.checked < total:
        progress(total, total)  # cells that were drawn twice are judged once
    return VerifyAnswer(checker.checked, tuple(checker.differences[:MAX_DIFFERENCES]))


def _sample(grid: Grid, sample: int) -> Iterator[Region]:
    """The corners and so many drawn cells, each once, drawn one by one."""
    seen: set[tuple[int, ...]] = set()
    for cell in chain(corner_indices(grid), drawn_indices(grid, sample, "verify")):
        if cell not in seen:
            seen.add(cell)
            yield tuple(slice(i, i + 1) for i in cell)


class _Checker:
    def __init__(self, file: ResultFile, grid: Grid, ev: Evaluation) -> None:
        self._file, self._grid, self._ev = file, grid, ev
        self._quantities = quantities(ev)
        self._reported = reported_rules(ev)
        self._maker = MaskMaker(ev, self._reported, grid.admission_control_enabled)
        self._capacities: set[tuple[int, ...]] = set()
        self.checked = 0
        self.differences: list[Mapping[str, Any]] = []

    def check(self, region: Region) -> None:
        """Compare every variable of every cell in a region."""
        values = dict(self._values(region))
        shape = tuple(s.stop - s.start for s in region)
        for place in product(*[range(n) for n in shape]):
            cell = tuple(i + s.start for i, s in zip(place, region, strict=True))
            verdict = judge(self._grid.fields(cell), self._grid.class_ids)
            self.checked += 1
            for name, array in values.items():
                found = int(array[tuple(i if n > 1 else 0 for i, n in zip(place, array.shape, strict=True))])
                if name in (CAPACITY, LIMITING):
                    continue
                truth = expected(self._grid, cell, verdict, name)
                if found != truth:
                    self._differ(cell, name, found, truth)
            self._check_capacity(cell, place, values)

    def _values(self, region: Region) -> Iterator[tuple[str, Array]]:
        part = self._ev.tile(region)
        for quantity in self._quantities:
            if self._file.has(quantity.name):
                yield quantity.name, self._stored(quantity.name, region)
            else:
                yield quantity.name, part.get(quantity.node)
        if not self._file.has("violations"):
            yield "violations", self._maker.make(region)
        if not self._file.has("invalid_reason"):
            yield "invalid_reason", reason_array(part, self._reported)
        if not self._file.has(CAPACITY):
            capacity = np.broadcast_to(narrowed(part.get(CAPACITY)), (*part.lengths[:-1], 1))
            yield CAPACITY, capacity
            yield LIMITING, limiting_masks(part, capacity, self._grid.admission_control_enabled)
        for name in ("violations", "invalid_reason", CAPACITY, LIMITING):
            if self._file.has(name):
                yield name, self._stored(name, region)

    def _stored(self, name: str, region: Region) -> Array:
        """A stored variable's values as an open array."""
        dims = self._file.variables[name].dims
        kept = [axis.dim in dims for axis in self._grid.axes]
        values = self._file.read(name, tuple(s for s, keep in zip(region, kept, strict=True) if keep))
        shape = [s.stop - s.start if keep else 1 for s, keep in zip(region, kept, strict=True)]
        return values.reshape(shape)

    def _check_capacity(self, cell: tuple[int, ...], place: tuple[int, ...], values: Mapping[str, Array]) -> None:
        """The largest scale T of a configuration, once: feasible at T, and the limiting mask at T + 1."""
        if cell[:-1] in self._capacities:
            return
        self._capacities.add(cell[:-1])
        at = (*place[:-1], 0)
        scale = int(values[CAPACITY][at])
        if scale > 0 and judge(self._grid.fields(cell, scale), self._grid.class_ids).violations:
            self._differ(cell, CAPACITY, scale, "not feasible at this scale")
        mask = judge(self._grid.fields(cell, scale + 1), self._grid.class_ids).violations
        if mask == 0:
            self._differ(cell, CAPACITY, scale, "feasible one permille higher")
        elif int(values[LIMITING][at]) != mask:
            self._differ(cell, LIMITING, int(values[LIMITING][at]), mask)

    def _differ(self, cell: tuple[int, ...], name: str, found: int, truth: int | str) -> None:
        point = {axis.name: axis.label(i) for axis, i in zip(self._grid.axes, cell, strict=True)}
        self.differences.append({"point": point, "variable": name, "stored": found, "reference": truth})
