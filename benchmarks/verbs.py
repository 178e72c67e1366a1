"""What is done with a grid inside this process: masks, capacities, the largest point, unrelated points."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.peers import mask_peers
from benchmarks.registry import Case, DifferentResult, Prepared, Scale, Target, register
from benchmarks.specs import GridSpec
from benchmarks.yardsticks import fresh_fill, touched_fill, unit_fill
from sweep.engine.check import drawn_indices
from sweep.engine.largest import Point, largest_point
from sweep.engine.opening import Array
from sweep.engine.run import evaluation_of
from sweep.engine.search import search_largest
from sweep.engine.whole import fill_capacities, fill_masks
from sweep.grid.model import Grid
from sweep.reference import judge

SPOT_CELLS = 256
SPOT_CONFIGURATIONS = 64
WALKED_CONFIGURATIONS = 10**5
"""Up to here the search is compared with a walk over every configuration."""


def masks(spec: GridSpec, targets: Sequence[Target] = (), peers: tuple[str, ...] = ()) -> None:
    """Register: the violation mask of every cell into an array whose pages are there."""

    def prepare(scale: Scale, folder: Path) -> Prepared:
        grid = spec.grid(scale)
        out = np.full(grid.shape, 1, dtype=np.uint16)
        return Prepared(
            action=lambda: fill_masks(evaluation_of(grid), grid.admission_control_enabled, out),
            check=lambda: check_masks(grid, out),
            in_child=once(spec.name, "mask", scale),
            cells=grid.cells,
            configurations=grid.configurations,
            # The peers come first: a fill leaves no masks to compare with.
            yardsticks=[*mask_peers(grid, peers, out), touched_fill(out)],
        )

    register(Case(spec, "mask", prepare, targets))


def check_masks(grid: Grid, out: Array) -> None:
    """Cells drawn from the grid's digest against the scalar reference."""
    for cell in drawn_indices(grid, SPOT_CELLS):
        wanted = judge(grid.fields(cell), grid.class_ids).violations
        _demand(f"the mask at {cell}", int(out[cell]), wanted)


def capacities(spec: GridSpec, targets: Sequence[Target] = ()) -> None:
    """Register: the largest feasible traffic scale of every configuration into a fresh array."""

    def prepare(scale: Scale, folder: Path) -> Prepared:
        grid = spec.grid(scale)
        found: list[Array] = []

        def action() -> None:
            found[:] = [np.empty(grid.shape[:-1], dtype=np.int64)]
            fill_capacities(evaluation_of(grid), found[0])

        return Prepared(
            action=action,
            check=lambda: check_capacities(grid, found[0]),
            in_child=once(spec.name, "capacity", scale),
            cells=grid.cells,
            configurations=grid.configurations,
            yardsticks=[fresh_fill(grid.shape[:-1])],
        )

    register(Case(spec, "capacity", prepare, targets))


def check_capacities(grid: Grid, found: Array) -> None:
    """Drawn configurations: the reference finds the scale feasible, and one permille more not."""
    for cell in drawn_indices(grid, SPOT_CONFIGURATIONS):
        check_largest_scale(grid, cell[:-1], int(found[cell[:-1]]))


def check_largest_scale(grid: Grid, configuration: tuple[int, ...], scale: int) -> None:
    """Whether a scale is the largest feasible one of a configuration (0: none is), by the reference."""
    for probe in (scale, scale + 1):
        if probe >= 1:
            mask = judge(grid.fields((*configuration, 0), scale_permille=probe), grid.class_ids).violations
            _demand(f"feasibility of {configuration} at {probe} permille", mask == 0, probe == scale)


def largest(spec: GridSpec, targets: Sequence[Target] = (), patience_seconds: int = 120) -> None:
    """Register: the largest operating point of a declared grid; nothing of the grid is materialised."""

    def prepare(scale: Scale, folder: Path) -> Prepared:
        grid = spec.grid(scale)
        found: list[Point | None] = []

        def action() -> None:
            found[:] = [search_largest(evaluation_of(grid))]

        return Prepared(
            action=action,
            check=lambda: check_point(grid, found[0]),
            in_child=once(spec.name, "largest", scale),
            cells=grid.cells,
            configurations=grid.configurations,
            yardsticks=[unit_fill()],
        )

    register(Case(spec, "largest", prepare, targets, patience_seconds))


def check_point(grid: Grid, found: Point | None) -> None:
    """The reference finds it feasible and one permille more not; on a small grid a walk finds the same point."""
    if found is not None:
        check_largest_scale(grid, found.index, found.scale_permille)
    for cell in drawn_indices(grid, SPOT_CONFIGURATIONS):
        better = 1 if found is None else found.scale_permille + 1
        mask = judge(grid.fields(cell, scale_permille=better), grid.class_ids).violations
        _demand(f"feasibility of {cell[:-1]} at {better} permille, beyond the largest point", mask == 0, False)
    if grid.configurations <= WALKED_CONFIGURATIONS:
        _demand("the largest point", found, largest_point(evaluation_of(grid)))


def _demand(what: str, found: object, wanted: object) -> None:
    if found != wanted:
        raise DifferentResult(f"{what}: got {found}, the reference says {wanted}")


def once(name: str, verb: str, scale: Scale) -> list[str]:
    """Module and arguments of a process that does a case's set-up and action once."""
    return ["benchmarks.once", f"{name}/{verb}", scale]
