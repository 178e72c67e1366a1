"""What is done by whole processes, as a user starts them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import netCDF4

import sweep
from benchmarks.isolated import run_python
from benchmarks.registry import Case, Prepared, Scale, Target, Timed, Yardstick, register
from benchmarks.specs import GridSpec
from benchmarks.verbs import check_masks, check_point
from benchmarks.yardsticks import plain_write
from sweep.engine.largest import Point
from sweep.engine.opening import Array
from sweep.grid.model import Grid


def python(*arguments: str) -> Timed:
    """A Python process, its output thrown away.

    Raises:
        NotAvailable: when called, where the process fails.
    """
    return lambda: run_python(arguments)


def importing(*modules: str) -> Yardstick:
    """A Python process that imports what the product stands on."""
    action = python("-c", f"import {', '.join(modules)}")
    return Yardstick(f"importing {', '.join(modules)}", "time", lambda: action)


def runs(spec: GridSpec, targets: Sequence[Target] = ()) -> None:
    """Register: `sweep run`, mask stored, against writing that mask, ready in memory, with netCDF4 alone."""

    def prepare(scale: Scale, folder: Path) -> Prepared:
        grid = spec.grid(scale)
        target = folder / "result.nc"
        command = ["run", *spec.arguments(scale), "-o", str(target), "-q", "--materialize", "always"]
        return Prepared(
            action=python("-m", "sweep", *command),
            check=lambda: check_masks(grid, stored_mask(target)[0]),
            in_child=["sweep", *command],
            cells=grid.cells,
            configurations=grid.configurations,
            yardsticks=[plain_write(lambda: stored_mask(target), folder / "plain.nc")],
        )

    register(Case(spec, "run", prepare, targets))


def stored_mask(path: Path) -> tuple[Array, list[int]]:
    """The mask of a result file and its chunk lengths."""
    with netCDF4.Dataset(path) as stored:
        stored.set_auto_maskandscale(False)
        return stored["violations"][:], stored["violations"].chunking()


def questions(spec: GridSpec, targets: Sequence[Target] = ()) -> None:
    """Register: `sweep best` on a stored result."""

    def prepare(scale: Scale, folder: Path) -> Prepared:
        grid = spec.grid(scale)
        target = folder / "result.nc"
        sweep.run(grid, target, materialize="always")
        command = ["best", str(target)]
        return Prepared(
            action=python("-m", "sweep", *command),
            check=lambda: check_best(grid, target),
            in_child=["sweep", *command],
            cells=grid.cells,
            configurations=grid.configurations,
            yardsticks=[importing("xarray", "netCDF4")],
        )

    register(Case(spec, "best", prepare, targets))


def check_best(grid: Grid, path: Path) -> None:
    """The point that the command names is the largest one of its grid, by the reference."""
    printed = subprocess.run(
        [sys.executable, "-m", "sweep", "best", str(path), "--json"], check=True, capture_output=True, text=True
    ).stdout
    point = json.loads(printed)["point"]
    if point is None:
        check_point(grid, None)
        return
    *labels, scale = (point[axis.name] for axis in grid.axes)
    index = tuple(axis.index(label) for axis, label in zip(grid.axes, labels, strict=False))
    check_point(grid, Point(index, scale))


def main_job(spec: GridSpec, targets: Sequence[Target] = ()) -> None:
    """Register: the README's main job."""

    def prepare(scale: Scale, folder: Path) -> Prepared:
        grid = spec.grid(scale)
        target = folder / "result.nc"
        command = ["run", *spec.arguments(scale), "-o", str(target), "-q"]
        return Prepared(
            action=python("-m", "sweep", *command),
            check=lambda: check_masks(grid, stored_mask(target)[0]),
            in_child=["sweep", *command],
            cells=grid.cells,
            configurations=grid.configurations,
            yardsticks=[importing("numpy", "xarray", "netCDF4")],
        )

    register(Case(spec, "main-job", prepare, targets))


def start_up(spec: GridSpec, targets: Sequence[Target] = ()) -> None:
    """Register: `sweep --help`."""

    def prepare(scale: Scale, folder: Path) -> Prepared:
        return Prepared(
            action=python("-m", "sweep", "--help"),
            check=lambda: None,
            in_child=["sweep", "--help"],
            yardsticks=[importing("click")],
        )

    register(Case(spec, "start-up", prepare, targets))
