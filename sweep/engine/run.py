"""A run, from a grid to a sealed file: capacity, quantities, reasons, masks, self-check, seal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from sweep.engine.ahead import ordered
from sweep.engine.budget import budget_of
from sweep.engine.catalogue import (
    MASK_TEXT,
    PERMILLE,
    Quantity,
    mask_attributes,
    quantities,
    reason_attributes,
)
from sweep.engine.check import Samples, check_capacity, check_cells, check_point
from sweep.engine.evaluate import Evaluation, narrowed
from sweep.engine.largest import CAPACITY, LIMITING, Point, configuration_dims, first_in_order, limiting_masks
from sweep.engine.opening import Array, Dims, open_inputs, switches_of
from sweep.engine.parts import assembled
from sweep.engine.plan import STORED_VALUES, WRITTEN_CONFIGURATIONS, Plan, PlannedQuantity
from sweep.engine.runs import RunMaker
from sweep.engine.tally import Tally, histogram
from sweep.engine.verdict import MaskMaker, dims_regions, open_shape, reason_array, reported_rules, union_dims
from sweep.errors import RecordFault
from sweep.exact.interval import Interval, fits_int64
from sweep.grid.model import Grid
from sweep.kernels.graph import build
from sweep.records.codes import INVALID_REASONS
from sweep.records.wording import CLAIM, CLAIM_SENTENCE
from sweep.reference.build import records_of
from sweep.store.layout import Variable, slab_shape, slabs
from sweep.store.write import ResultWriter

Progress = Callable[[int, int], None]
Region = tuple[slice, ...]
Judged = tuple[Region, Array | None, Array]
"""A tile, its masks where they are wanted, and its histogram of masks."""

VIOLATIONS, REASON = "violations", "invalid_reason"


@dataclass(frozen=True)
class RunSummary:
    """What a run found."""

    grid: Grid
    plan: Plan
    tally: Tally
    reasons: Mapping[str, int]
    """Invalid cells per reason, every reason of the audit."""
    best: Point | None
    """The largest operating point; None where nothing is feasible."""
    path: Path
    checked: int
    """How many cells the scalar reference judged again."""


def evaluation_of(grid: Grid, memory_bytes: int | None = None) -> Evaluation:
    """The kernel graph of a grid over its open inputs, in tiles that keep to a budget of memory.

    Raises:
        RefusedSize: too little memory for any run.
    """
    return Evaluation(build(switches_of(grid)), open_inputs(grid), budget=budget_of(memory_bytes))


def execute(grid: Grid, ev: Evaluation, plan: Plan, path: Path, force: bool, progress: Progress) -> RunSummary:
    """Run a plan and write the result file, complete or not at all.

    Args:
        grid: the grid.
        ev: its evaluation.
        plan: what to store.
        path: the result file; it appears only when it is complete, checked and sealed.
        force: replace a file that is not a result of this grid.
        progress: called with the cells done and all cells.

    Raises:
        SelfCheckFault: a kernel and the reference disagree.
        ResultFault: the file cannot be written, or is another one and `force` is off.
    """
    with ResultWriter(path, grid, force) as writer:
        job = _Job(grid, ev, plan, writer)
        best = job.capacity()
        job.samples = Samples(check_cells(grid, best))
        job.quantities()
        reasons = job.reasons()
        tally = job.masks(progress)
        checked = job.check(best)
        writer.finish(_attributes(grid, plan, job.recomputed, checked))
    return RunSummary(grid, plan, tally, reasons, best, path, checked)


class _Job:
    """The state that the steps of one run share."""

    def __init__(self, grid: Grid, ev: Evaluation, plan: Plan, writer: ResultWriter) -> None:
        self.grid, self.ev, self.plan, self.writer = grid, ev, plan, writer
        self.samples = Samples(check_cells(grid, None))
        self.capacity_samples = self.samples
        self.reported = reported_rules(ev)
        self.recomputed: list[str] = []

    def _dim_names(self, dims: Dims) -> tuple[str, ...]:
        return tuple(axis.dim for i, axis in enumerate(self.grid.axes) if i in dims)

    def _put(self, name: str, dims: Dims, region: Region, values: Array) -> None:
        """Write an open block of a variable that has only some of the axes."""
        lengths = [n for i, n in enumerate(values.shape) if i in dims]
        part = tuple(s for i, s in enumerate(region) if i in dims)
        self.writer.write(name, part, np.ascontiguousarray(values).reshape(lengths))

    def capacity(self) -> Point | None:
        """Find the largest point; write the capacity of every configuration and what limits it."""
        dims = frozenset(range(len(self.grid.axes) - 1))
        names = self._dim_names(dims)
        if self.plan.capacity_stored:
            text = "largest feasible traffic scale, exact, on the axis or not; 0 where none is"
            self.writer.create(Variable(CAPACITY, "i8", names, {"long_name": text, "units": PERMILLE}))
            self.writer.create(
                Variable(
                    LIMITING,
                    "u2",
                    names,
                    mask_attributes("violations one permille above the largest feasible traffic scale"),
                )
            )
        else:
            self.recomputed += [CAPACITY, LIMITING]
        best: Point | None = None
        # The two variables are written in turn, so their pieces are the same whatever the memory: HDF5 puts chunks
        # where they come, and the same grid gives the same bytes.
        for region, capacity, limiting in ordered(
            self._capacity_of, dims_regions(self.ev.lengths, dims, WRITTEN_CONFIGURATIONS)
        ):
            found = first_in_order(capacity, tuple(s.start or 0 for s in region))
            if found is not None and (best is None or found.key < best.key):
                best = found
            self.capacity_samples.take(CAPACITY, region, capacity)
            if limiting is not None:
                self.capacity_samples.take(LIMITING, region, limiting)
            if limiting is not None and self.plan.capacity_stored:
                self._put(CAPACITY, dims, region, capacity)
                self._put(LIMITING, dims, region, limiting)
        return best

    def _capacity_of(self, region: Region) -> tuple[Region, Array, Array | None]:
        """The capacity of a block, and what limits it where that is stored or checked."""
        dims, admission = configuration_dims(self.ev), self.grid.admission_control_enabled
        wanted = self.plan.capacity_stored or self.capacity_samples.holds(region)
        lengths = [len(range(*s.indices(n))) for s, n in zip(region, self.ev.lengths, strict=True)]
        shape = (*lengths[:-1], 1)
        capacity = np.empty(shape, dtype=np.int64)
        limiting = np.empty(shape, dtype=np.uint16) if wanted else None
        for part in slabs(shape, slab_shape(shape, self.ev.block_values)):
            here = tuple(
                s if i not in dims else slice(s.start + (r.start or 0), s.stop + (r.start or 0))
                for i, (s, r) in enumerate(zip(part, region, strict=True))
            )
            here = (*here[:-1], slice(None))
            capacity[part] = assembled(self.ev, here, CAPACITY, dims)
            if limiting is not None:
                limiting[part] = limiting_masks(self.ev.tile(here), capacity[part], admission)
        return region, capacity, limiting

    def quantities(self) -> None:
        """Compute every quantity at the cells to check, and write those that the plan stores."""
        for planned in self.plan.quantities:
            quantity, dims = planned.quantity, self.ev.dims(planned.quantity.node)
            if not planned.stored:
                self.recomputed.append(quantity.name)
                continue
            self.writer.create(self._variable(planned, dims))
            for region, values in self._blocks(quantity, dims):
                self.samples.take(quantity.name, region, values)
                self._put(quantity.name, dims, region, values)

    def _blocks(self, quantity: Quantity, dims: Dims) -> Iterator[tuple[Region, Array]]:
        for region in dims_regions(self.ev.lengths, dims, self.ev.tile_values):
            yield region, assembled(self.ev, region, quantity.node, dims)

    def _variable(self, planned: PlannedQuantity, dims: Dims) -> Variable:
        quantity = planned.quantity
        attrs: dict[str, Any] = {"long_name": quantity.long_name, "units": quantity.units}
        if not quantity.name.startswith("bound_"):
            attrs["undefined_value"] = np.int64(-1)
        attrs["arithmetic"] = planned.arithmetic
        attrs["intermediates"] = f"{planned.lower} to {planned.upper}"
        return Variable(quantity.name, "i8", self._dim_names(dims), attrs, limbs=self._needs_limbs(quantity, dims))

    def _needs_limbs(self, quantity: Quantity, dims: Dims) -> bool:
        """Whether a value, not merely the proof, is outside int64."""
        known = self.ev.proof(quantity.node).range
        if isinstance(known, Interval) and fits_int64(known.lo, known.hi):
            return False
        return any(narrowed(values).dtype == object for _, values in self._blocks(quantity, dims))

    def reasons(self) -> dict[str, int]:
        """Count the invalid cells per reason; write the reasons over the axes of those that occur."""
        dims = union_dims(self.ev, self.reported)
        shape = open_shape(self.ev.lengths, dims)
        stored = prod(shape) <= STORED_VALUES or self.plan.mask_stored
        if stored:
            self.writer.create(Variable(REASON, "u1", self._dim_names(dims), reason_attributes()))
        else:
            self.recomputed.append(REASON)
        counts = np.zeros(len(INVALID_REASONS), dtype=np.int64)
        for region in dims_regions(self.ev.lengths, dims, self.ev.tile_values):
            part = self.ev.tile(region)
            codes = reason_array(part, self.reported)
            counts += np.bincount(codes.reshape(-1), minlength=len(INVALID_REASONS))
            self.samples.take(REASON, region, codes)
            if stored:
                self._put(REASON, dims, region, codes)
        each = self.grid.cells // prod(shape)
        return {code: int(n) * each for code, n in zip(INVALID_REASONS[1:], counts[1:], strict=True)}

    def masks(self, progress: Progress) -> Tally:
        """Judge every cell, tile by tile on threads; count, sample, and write in C order."""
        judge_tile = self._judge()
        if self.plan.mask_stored:
            names = self._dim_names(frozenset(range(len(self.grid.axes))))
            self.writer.create(Variable(VIOLATIONS, "u2", names, mask_attributes(MASK_TEXT)))
        else:
            self.recomputed.append(VIOLATIONS)
        tally, done = Tally(), 0
        progress(0, self.plan.cells)
        for region, mask, counts in ordered(judge_tile, slabs(self.grid.shape, self.plan.tile)):
            tally.add(counts)
            if mask is not None:
                self.samples.take(VIOLATIONS, region, mask)
            if self.plan.mask_stored and mask is not None:
                self.writer.write(VIOLATIONS, region, mask)
            done += prod(s.stop - s.start for s in region)
            progress(done, self.plan.cells)
        return tally

    def _judge(self) -> Callable[[Region], Judged]:
        """What judges a tile: runs along traffic where they suit, else folded masks; cells only where they are used."""
        admission = self.grid.admission_control_enabled
        if not self.plan.by_runs:
            maker = MaskMaker(self.ev, self.reported, admission)

            def judge_folded(region: Region) -> Judged:
                mask = maker.make(region)
                return region, mask, histogram(mask)

            return judge_folded
        runner = RunMaker(self.ev, self.reported, admission)
        if not self.plan.mask_stored:
            for cell in self.samples.cells:
                region = tuple(slice(i, i + 1) for i in cell)
                self.samples.take(VIOLATIONS, region, runner.make(region).mask((1,) * len(cell)))

        def judge_runs(region: Region) -> Judged:
            runs = runner.make(region)
            shape = tuple(s.stop - s.start for s in region)
            return region, runs.mask(shape) if self.plan.mask_stored else None, runs.histogram()

        return judge_runs

    def check(self, best: Point | None) -> int:
        """Every sampled value against the scalar reference, before the file is sealed."""
        checked = self.samples.compare(self.grid)
        checked += check_capacity(self.grid, self.capacity_samples)
        if best is not None:
            checked += check_point(self.grid, self.ev, best, quantities(self.ev))
        return checked


def _attributes(grid: Grid, plan: Plan, recomputed: list[str], checked: int) -> dict[str, str | int]:
    try:
        contract, workload = records_of(grid.fields((0,) * len(grid.axes)), grid.class_ids)
        ids = (contract.content_id, workload.content_id)
    except RecordFault:
        ids = ("", "")
    return {
        "claim": CLAIM,
        "comment": CLAIM_SENTENCE,
        "contract_content_id": ids[0],
        "workload_content_id": ids[1],
        "recomputed": " ".join(recomputed),
        "reference_checked_cells": checked,
    }
