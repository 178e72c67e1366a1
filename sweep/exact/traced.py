"""A fourth kind of number: a kernel run on `Traced` gives the formula itself, to be written in another language.

An operation does not compute; it makes a term that names itself and its operands. NumPy's `maximum`, `minimum` and
`where` hand over to it by NumPy's own protocols, so that the kernels and most of `exact.ops` need not know it. The
formula that a page computes in a browser is therefore the kernel that made it, and cannot drift from it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

COMPARISONS = ("<", "<=", ">", ">=")
FLAGS = (*COMPARISONS, "and", "or", "not")
"""Operations whose result is a flag; every other one gives a number."""

Operand = Any
"""A `Traced` or a Python int."""


@dataclass(frozen=True, slots=True, eq=False)
class Traced:
    """A term: an operation and its operands, which are terms or Python ints.

    Operations: `input` (its place), `+ - *`, `negative`, `floor_div`, `maximum`, `minimum`, the comparisons, `and`,
    `or`, `not`, `select` (condition, a, b), `largest` (variable, value, limit, lo, hi) and its `variable`.
    """

    op: str
    operands: tuple[Operand, ...] = ()

    def __add__(self, other: Operand) -> Traced:
        return Traced("+", (self, other))

    def __radd__(self, other: Operand) -> Traced:
        return Traced("+", (other, self))

    def __sub__(self, other: Operand) -> Traced:
        return Traced("-", (self, other))

    def __rsub__(self, other: Operand) -> Traced:
        return Traced("-", (other, self))

    def __mul__(self, other: Operand) -> Traced:
        return Traced("*", (self, other))

    def __rmul__(self, other: Operand) -> Traced:
        return Traced("*", (other, self))

    def __neg__(self) -> Traced:
        return Traced("negative", (self,))

    def __floordiv__(self, other: Operand) -> Traced:
        return Traced("floor_div", (self, other))

    def __rfloordiv__(self, other: Operand) -> Traced:
        return Traced("floor_div", (other, self))

    def __lt__(self, other: Operand) -> Traced:
        return Traced("<", (self, other))

    def __le__(self, other: Operand) -> Traced:
        return Traced("<=", (self, other))

    def __gt__(self, other: Operand) -> Traced:
        return Traced(">", (self, other))

    def __ge__(self, other: Operand) -> Traced:
        return Traced(">=", (self, other))

    def __and__(self, other: Traced) -> Traced:
        return Traced("and", (self, other))

    def __or__(self, other: Traced) -> Traced:
        return Traced("or", (self, other))

    def __invert__(self) -> Traced:
        return Traced("not", (self,))

    def __bool__(self) -> bool:
        raise AssertionError("a kernel branches on a value: it must select")

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *operands: Operand, **options: Any) -> Traced:
        names = {np.maximum: "maximum", np.minimum: "minimum"}
        if method != "__call__" or options or ufunc not in names:
            raise AssertionError(f"a kernel uses {ufunc.__name__}, which has no traced form")
        return Traced(names[ufunc], operands)

    def __array_function__(self, func: Callable[..., Any], types: Any, args: tuple[Any, ...], kwargs: Any) -> Traced:
        if func is not np.where or len(args) != 3 or kwargs:
            raise AssertionError(f"a kernel uses {func.__name__}, which has no traced form")
        return Traced("select", args)

    def largest(self, value_at: Callable[[Any], Any], lo: Operand, hi: Operand) -> Traced:
        """The largest x of [lo, hi] with value_at(x) ≤ this limit (`exact.ops.largest_within`)."""
        variable = Traced("variable")
        return Traced("largest", (variable, value_at(variable), self, lo, hi))

    @property
    def is_flag(self) -> bool:
        """Whether the operation gives a flag; an input may be either."""
        return self.op in FLAGS


def traced(kernel: Callable[..., Any], count: int) -> Traced:
    """The formula of a kernel that reads `count` inputs."""
    term = kernel(*[Traced("input", (place,)) for place in range(count)])
    assert isinstance(term, Traced)  # a kernel that reads nothing is none
    return term
