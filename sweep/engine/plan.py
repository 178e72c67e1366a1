"""What a run will do, as a pure function of the grid and the options: sizes, arithmetic, refusals."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path

from sweep.engine.budget import AHEAD, PROCESS_BYTES, THREADS
from sweep.engine.catalogue import Quantity, quantities
from sweep.engine.evaluate import TILE_VALUES, Evaluation
from sweep.engine.runs import ROW_BYTES, RunMaker, ranked_bytes
from sweep.engine.verdict import MaskMaker
from sweep.errors import RefusedSize
from sweep.grid.model import Grid
from sweep.store.layout import slab_shape
from sweep.units import grouped

STORED_VALUES = 2**22
"""A quantity with more values than this is recomputed by the reader, not stored."""

AUTO_MASK_CELLS = 2**28
"""`--materialize auto` stores the mask up to this many cells (half a gigabyte before compression)."""

MAX_CELLS = 2 * 10**10
"""A run that touches every cell is refused beyond this: it would take minutes to hours."""

MAX_CONFIGURATIONS = 3 * 10**8
"""A run computes every configuration's capacity; beyond this it is refused likewise."""

WRITTEN_CONFIGURATIONS = 2**18
"""Capacities, and what limits them, that are written at once."""

DEFLATE_AT_BEST = 1_000
"""No compression of zlib's makes less of bytes than a thousandth (1032:1); long runs of a mask come near."""

ROW_VALUES = 2**15
"""Configurations in a tile where cells are counted as runs and not written."""

STORE_CHOICES = ("all", "small", "none")
MATERIALIZE_CHOICES = ("auto", "always", "never")


@dataclass(frozen=True)
class PlannedQuantity:
    """One variable of the result and how it is computed."""

    quantity: Quantity
    dims: tuple[str, ...]
    values: int
    arithmetic: str
    """`int64` where the proof holds over the whole grid, else `object`."""
    lower: int
    upper: int
    """The hull of every intermediate, by the proof."""
    stored: bool


@dataclass(frozen=True)
class Plan:
    """The sizes of a run."""

    cells: int
    configurations: int
    tile: tuple[int, ...]
    tiles: int
    by_runs: bool
    """Whether masks are made as runs along traffic (`sweep.engine.runs`)."""
    mask_stored: bool
    capacity_stored: bool
    quantities: tuple[PlannedQuantity, ...]
    stored_bytes: int
    """Uncompressed bytes that the file will hold at most; limbs not counted."""
    memory_bytes: int
    """What the run may take."""
    peak_bytes: int
    """What the whole process takes at most, in bytes."""

    def as_json(self) -> Mapping[str, object]:
        """The plan with stable keys."""
        return {
            "cells": self.cells,
            "configurations": self.configurations,
            "tiles": self.tiles,
            "tile": list(self.tile),
            "by_runs": self.by_runs,
            "mask_stored": self.mask_stored,
            "capacity_stored": self.capacity_stored,
            "stored_bytes": self.stored_bytes,
            "memory_bytes": self.memory_bytes,
            "peak_bytes": self.peak_bytes,
            "quantities": {
                planned.quantity.name: {
                    "dims": list(planned.dims),
                    "values": planned.values,
                    "arithmetic": planned.arithmetic,
                    "intermediates": [planned.lower, planned.upper],
                    "stored": planned.stored,
                }
                for planned in self.quantities
            },
        }


def make_plan(grid: Grid, ev: Evaluation, store: str = "small", materialize: str = "auto") -> Plan:
    """The plan of a run.

    Args:
        grid: the grid.
        ev: its evaluation; nothing of it is computed here, only proven.
        store: which quantities to store: `all`, `small` (at most 2^22 values) or `none`.
        materialize: whether to store the mask: `auto` (up to 2^28 cells), `always`, `never`.
    """
    planned = tuple(_planned(grid, ev, quantity, store) for quantity in quantities(ev))
    mask = materialize == "always" or (materialize == "auto" and grid.cells <= AUTO_MASK_CELLS)
    by_runs = RunMaker.suits(ev) and not (mask and MaskMaker.suits(ev))
    tile = _tile(ev, by_runs, mask)
    capacity = store == "all" or grid.configurations <= STORED_VALUES
    stored = sum(8 * p.values for p in planned if p.stored)
    stored += (2 + 1) * grid.cells * mask + (8 + 2) * grid.configurations * capacity
    return Plan(
        cells=grid.cells,
        configurations=grid.configurations,
        tile=tile,
        tiles=prod(-(-n // step) for n, step in zip(grid.shape, tile, strict=True)),
        by_runs=by_runs,
        mask_stored=mask,
        capacity_stored=capacity,
        quantities=planned,
        stored_bytes=stored,
        memory_bytes=ev.budget.memory_bytes,
        peak_bytes=_peak_bytes(ev, tile, by_runs, mask),
    )


def _planned(grid: Grid, ev: Evaluation, quantity: Quantity, store: str) -> PlannedQuantity:
    proof = ev.proof(quantity.node)
    values = ev.size(quantity.node)
    dims = ev.dims(quantity.node)
    return PlannedQuantity(
        quantity=quantity,
        dims=tuple(axis.dim for i, axis in enumerate(grid.axes) if i in dims),
        values=values,
        arithmetic=proof.arithmetic,
        lower=proof.peak.lo,
        upper=proof.peak.hi,
        stored=store == "all" or (store == "small" and values <= STORED_VALUES),
    )


def _tile(ev: Evaluation, by_runs: bool, mask: bool) -> tuple[int, ...]:
    """The cells that are judged at once: whole chunks of the stored mask, or rows where runs are only counted."""
    in_flight = ev.budget.flight_bytes // (2 * (AHEAD + THREADS))
    if not by_runs:
        return slab_shape(ev.lengths, min(ev.tile_values, in_flight))
    rows = max(1, ev.budget.tile_bytes // _row_bytes(ev))
    if mask:
        return slab_shape(ev.lengths, min(TILE_VALUES, in_flight, rows * ev.lengths[-1]))
    return (*slab_shape(ev.lengths[:-1], min(ROW_VALUES, rows)), ev.lengths[-1])


def _row_bytes(ev: Evaluation) -> int:
    """What the runs of one configuration take while they are made, with what they are made from."""
    return ROW_BYTES + ev.block_bytes_per_configuration


def _peak_bytes(ev: Evaluation, tile: tuple[int, ...], by_runs: bool, mask: bool) -> int:
    """The memory of the whole process at its peak, an upper bound: each term is what it may be at most."""
    inputs = sum(array.nbytes for array in ev.inputs.arrays.values())
    shared = sum(ev.size(name) * ev.width_bytes(name) for name in ev.graph if ev.shares(name))
    blocks = min(prod(ev.lengths[:-1]), ev.block_values) * ev.block_bytes_per_configuration
    tiles = prod(tile[:-1]) * _row_bytes(ev) if by_runs else prod(tile) * ev.tile_bytes_per_cell
    masks = (AHEAD + THREADS) * 2 * prod(tile) if mask or not by_runs else 0
    written = (AHEAD + THREADS) * 10 * min(prod(ev.lengths[:-1]), WRITTEN_CONFIGURATIONS)
    # Beside the input a coordinate's copy, its bytes for the file, and the samples' comparisons.
    fixed = PROCESS_BYTES + 3 * inputs + shared + (ranked_bytes(ev) if by_runs else 0)
    return fixed + THREADS * max(blocks, tiles) + max(masks, written)


def free_bytes(path: Path) -> int:
    """Free bytes on the disk that a file at this path would be on."""
    folder = path.resolve().parent
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return shutil.disk_usage(folder).free


def refuse(plan: Plan, free_disk_bytes: int) -> None:
    """Raise RefusedSize where the run would not end in reasonable time, in its memory or on this disk."""
    if plan.peak_bytes > plan.memory_bytes:
        raise RefusedSize(
            f"the run would take up to {grouped(plan.peak_bytes)} bytes of memory and may take "
            f"{grouped(plan.memory_bytes)}: give more with --memory, thin out the longest axis, or merge classes."
        )
    if plan.configurations > MAX_CONFIGURATIONS:
        raise RefusedSize(
            f"the grid has {grouped(plan.cells)} cells in {grouped(plan.configurations)} configurations, and a run "
            f"takes at most {grouped(MAX_CONFIGURATIONS)} configurations, whose capacities alone would take "
            f"{grouped(8 * plan.configurations)} bytes: ask `sweep best` with the grid file, which finds the largest "
            f"point without a run, or thin out an axis."
        )
    if plan.cells > MAX_CELLS and (plan.mask_stored or not plan.by_runs):
        why = "written" if plan.mask_stored else "judged one by one (its loads are too large to be counted as runs)"
        way = "use --materialize never, or " if plan.by_runs else ""
        raise RefusedSize(
            f"the grid has {grouped(plan.cells)} cells, whose violations would take {grouped(2 * plan.cells)} bytes "
            f"before compression, and a run takes at most {grouped(MAX_CELLS)} that are {why}: {way}ask `sweep best` "
            f"with the grid file, which finds the largest point without a run, or thin out an axis."
        )
    if plan.stored_bytes > DEFLATE_AT_BEST * free_disk_bytes:
        raise RefusedSize(
            f"the result would hold {grouped(plan.stored_bytes)} bytes before compression and the disk has "
            f"{grouped(free_disk_bytes)} free: use --store none or --materialize never, or another disk with -o."
        )
