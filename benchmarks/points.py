"""Unrelated points: every field of every point differs, so nothing can be shared between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

import sweep
from benchmarks.peers import demand_equal
from benchmarks.registry import Case, Prepared, Scale, Target, Timed, Yardstick, register
from benchmarks.verbs import once
from sweep.records.bounds import CLASS_BOUNDS, CONTRACT_BOUNDS, SCHEDULER_BOUNDS
from sweep.reference import judge

CLASSES = 2
LARGE_SHARE = 3
"""Work and KV bytes come from the upper third of their fields' bounds, so that their products leave int64."""

Fields = dict[str, Any]


@dataclass(frozen=True)
class PointSpec:
    """Points drawn evenly over the bounds of every field, the same on every machine."""

    name: str
    about: str
    points: Mapping[Scale, int]

    def fields(self, scale: Scale) -> Fields:
        """Full path -> int64 values, one per point, without repetition where the bounds allow that."""
        count = self.points[scale]
        drawn = np.random.default_rng(4)
        paths = {f"contract.{name}": bounds for name, bounds in CONTRACT_BOUNDS.items()}
        paths |= {f"scheduler.{name}": bounds for name, bounds in SCHEDULER_BOUNDS.items()}
        for number in range(CLASSES):
            paths |= {f"class.{number}.{name}": bounds for name, bounds in CLASS_BOUNDS.items()}
        columns = {}
        for path, (lower, upper) in paths.items():
            large = path.startswith("class.") or path.endswith("kv_bytes_per_token")
            least = upper - (upper - lower) // LARGE_SHARE if large else lower
            columns[path] = _distinct(drawn, least, upper, count)
        return columns


def _distinct(drawn: np.random.Generator, least: int, most: int, count: int) -> np.ndarray[Any, Any]:
    """Values of least … most: one from each of `count` equal parts, shuffled; distinct where they can be."""
    span = most - least + 1
    places = [least + span * i // count for i in range(count)]
    return drawn.permutation(np.array(places, dtype=np.int64))


def audits(spec: PointSpec, targets: tuple[Target, ...] = ()) -> None:
    """Register: `audit_grid` over one dimension of points, every figure and the mask, against the reference."""

    def prepare(scale: Scale, folder: Path) -> Prepared:
        fields = spec.fields(scale)
        arrays = {path: xr.DataArray(values, dims="point") for path, values in fields.items()}
        found: list[xr.Dataset] = []

        def action() -> None:
            classes = [_table(arrays, f"class.{number}.") for number in range(CLASSES)]
            found[:] = [sweep.audit_grid(_table(arrays, "contract."), _table(arrays, "scheduler."), classes)]

        return Prepared(
            action=action,
            check=lambda: None,  # the peer is the reference itself, over every point
            in_child=once(spec.name, "audit", scale),
            cells=spec.points[scale],
            configurations=spec.points[scale],
            yardsticks=[_reference(fields, found)],
        )

    register(Case(spec, "audit", prepare, targets))


def _table(arrays: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    return {path.removeprefix(prefix): values for path, values in arrays.items() if path.startswith(prefix)}


def _reference(fields: Fields, found: list[xr.Dataset]) -> Yardstick:
    """The scalar reference on every point: its figures, its mask and its reason."""
    count = len(next(iter(fields.values())))
    class_ids = [str(number) for number in range(CLASSES)]

    def prepare() -> Timed:
        columns = {path: values.tolist() for path, values in fields.items()}

        def action() -> list[Any]:
            fixed = {"workload.admission_control_enabled": True, "traffic.scale_concurrency": False}
            points = ({path: column[i] for path, column in columns.items()} | fixed for i in range(count))
            return [judge(point, class_ids) for point in points]

        return action

    def same(result: object) -> None:
        assert isinstance(result, list)
        ours = found[0]
        demand_equal(np.array([one.violations for one in result], dtype=np.uint16), ours["violations"].values)
        for name in result[0].figures:
            wanted = np.array([one.figures[name] for one in result], dtype=object)
            demand_equal(wanted, ours[name].values.astype(object))

    return Yardstick("reference", "times", prepare, same)
