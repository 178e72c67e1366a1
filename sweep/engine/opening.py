"""A grid as open arrays: every input is longer than 1 only along the axes that set it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sweep.grid.model import Axis, Grid
from sweep.kernels.nodes import Switches

Array = NDArray[Any]
Dims = frozenset[int]
"""Positions of axes in the grid's canonical order."""

_DEFAULTS = {"gpu.tensor_parallel": 1, "gpu.reserved_bytes": 0, "gpu.activation_bytes_per_chunk_token": 0}
_WIDTH = "model.kv_bytes_per_value"
_CHUNK_ACTIVATION = "gpu.activation_bytes_per_chunk_token"


@dataclass(frozen=True)
class Inputs:
    """Open arrays of one rank, with the axes that each depends on by declaration (an axis of length 1 counts)."""

    lengths: tuple[int, ...]
    arrays: Mapping[str, Array]
    dims: Mapping[str, Dims]

    def replaced(self, name: str, values: Array, dims: Dims) -> Inputs:
        """The same inputs with one of them exchanged (a traffic scale per configuration, another bound)."""
        return Inputs(self.lengths, {**self.arrays, name: values}, {**self.dims, name: dims})

    def region(self, slices: tuple[slice, ...]) -> Inputs:
        """The inputs of a rectangular part of the grid."""
        lengths = tuple(len(range(*s.indices(n))) for s, n in zip(slices, self.lengths, strict=True))
        return Inputs(lengths, _Cut(self.arrays, slices), self.dims)


class _Cut(Mapping[str, Array]):
    """Arrays cut to a region, each when it is first asked for: a tile asks for few of them."""

    def __init__(self, whole: Mapping[str, Array], slices: tuple[slice, ...]) -> None:
        self._whole, self._slices = whole, slices
        self._made: dict[str, Array] = {}

    def __getitem__(self, name: str) -> Array:
        if name not in self._made:
            self._made[name] = cut(self._whole[name], self._slices)
        return self._made[name]

    def __contains__(self, name: object) -> bool:
        return name in self._whole

    def __iter__(self) -> Iterator[str]:
        return iter(self._whole)

    def __len__(self) -> int:
        return len(self._whole)


def cut(array: Array, slices: tuple[slice, ...]) -> Array:
    """An open array restricted to a region; along dimensions of length 1 it already holds for every index."""
    return array[tuple(s if n > 1 else slice(None) for s, n in zip(slices, array.shape, strict=True))]


def switches_of(grid: Grid) -> Switches:
    """What the grid's base turns on."""
    return Switches(
        from_slo=tuple(grid.from_slo(class_id) for class_id in grid.class_ids),
        scale_concurrency=grid.scale_concurrency,
        step_time=grid.step_time,
        capacity_from_step_time=grid.capacity_from_step_time,
        model=grid.model,
        from_memory=grid.from_memory,
        chunk_activation=_sets(grid, _CHUNK_ACTIVATION) or grid.base.get(_CHUNK_ACTIVATION, 0) != 0,
        admission_control=grid.admission_control_enabled,
    )


def _sets(grid: Grid, path: str) -> bool:
    return any(path in axis.fields for axis in grid.axes)


def open_inputs(grid: Grid) -> Inputs:
    """Every integer field of the grid as an open array."""
    rank = len(grid.axes)
    arrays: dict[str, Array] = {"one": _point(1, rank)}
    dims: dict[str, Dims] = {"one": frozenset()}
    for path, value in {**_DEFAULTS, **grid.base}.items():
        for name, number in _numbers(_input_name(grid, path), value):
            arrays[name], dims[name] = _point(number, rank), frozenset()
    for position, axis in enumerate(grid.axes):
        for path in axis.fields:
            for name, column in _columns(grid, axis, path, _input_name(grid, path)):
                shape = [1] * rank
                shape[position] = len(axis)
                arrays[name], dims[name] = column.reshape(shape), frozenset((position,))
    return Inputs(tuple(len(axis) for axis in grid.axes), arrays, dims)


def _input_name(grid: Grid, path: str) -> str:
    """A class' path by the class' number: an id is a label, and kernels see none. An id may hold dots."""
    if not path.startswith("class."):
        return path
    class_id, _, field = path.removeprefix("class.").rpartition(".")
    return f"class.{grid.class_ids.index(class_id)}.{field}"


def int64_values(values: Sequence[int]) -> Array:
    """The values of an axis as int64; a field's bounds keep them far inside.

    `np.arange(start, stop, step)` takes its length from a float and is short by one on wide ranges; the length of a
    Python range is exact, and start + step·i ≤ stop never leaves int64.
    """
    if isinstance(values, range):
        return values.start + values.step * np.arange(len(values), dtype=np.int64)
    return np.array(values, dtype=np.int64)


def _point(value: int, rank: int) -> Array:
    return np.full((1,) * rank, value, dtype=np.int64)


def _numbers(name: str, value: Any) -> list[tuple[str, int]]:
    """The integers that stand for a field's value: none for a text or a switch, two for a ratio."""
    if name == _WIDTH:
        ratio = Fraction(value)
        return [(f"{name}.numerator", ratio.numerator), (f"{name}.denominator", ratio.denominator)]
    if isinstance(value, bool) or not isinstance(value, int):
        return []
    return [(name, value)]


def _columns(grid: Grid, axis: Axis, path: str, name: str) -> list[tuple[str, Array]]:
    if not axis.is_choice and name != _WIDTH:
        return [(name, int64_values(axis.values))]
    labelled = [axis.setting(i).get(path, grid.base.get(path)) for i in range(len(axis))]
    rows = [dict(_numbers(name, value)) for value in labelled]
    return [(key, np.array([row[key] for row in rows], dtype=np.int64)) for key in rows[0]]
