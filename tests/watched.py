"""Integers that remember the largest and smallest value that arithmetic on them ever had."""

from typing import Any

import numpy as np


class Hull:
    """The range of all values seen, constants and operands included."""

    def __init__(self) -> None:
        self.lo = self.hi = 0

    def note(self, *values: int) -> None:
        self.lo, self.hi = min(self.lo, *values), max(self.hi, *values)


class Watched(int):
    """An exact integer; every result of its arithmetic is watched by the same hull."""

    hull: Hull

    def _made(self, value: int, *operands: int) -> "Watched":
        self.hull.note(value, *operands)
        return watch(value, self.hull)

    def __add__(self, other: int) -> "Watched":
        return self._made(int(self) + int(other), int(other))

    __radd__ = __add__

    def __neg__(self) -> "Watched":
        return self._made(-int(self))

    def __sub__(self, other: int) -> "Watched":
        return self._made(int(self) - int(other), int(other))

    def __rsub__(self, other: int) -> "Watched":
        return self._made(int(other) - int(self), int(other))

    def __mul__(self, other: int) -> "Watched":
        return self._made(int(self) * int(other), int(other))

    __rmul__ = __mul__

    def __floordiv__(self, other: int) -> "Watched":
        return self._made(int(self) // int(other), int(other))

    def __rfloordiv__(self, other: int) -> "Watched":
        return self._made(int(other) // int(self), int(other))


def watch(value: int, hull: Hull) -> Watched:
    found = Watched(value)
    found.hull = hull
    hull.note(int(value))
    return found


def watched_array(values: Any, hull: Hull) -> np.ndarray:
    """Python ints as an object array of watched ones."""
    array = np.empty(len(values), dtype=object)
    array[:] = [watch(value, hull) for value in values]
    return array


def object_array(values: Any) -> np.ndarray:
    """Python ints as an object array, whatever their size."""
    array = np.empty(len(values), dtype=object)
    array[:] = list(values)
    return array
