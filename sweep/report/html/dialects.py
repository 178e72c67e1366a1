"""How each operation of a formula is written in JavaScript: on doubles, on BigInts, and on ranges.

Doubles hold every integer below 2^53 and their sums, differences and products exactly where those stay below 2^53,
which the page's run on ranges proves before it takes this dialect. Division needs an argument of its own:

    For integers |a| < 2^53 and 1 ≤ b < 2^53, Math.floor(a / b) = ⌊a/b⌋ and Math.ceil(a / b) = ⌈a/b⌉.

a / b computes fl(a/b), the nearest double. fl never decreases, is odd, and fl(n) = n for integers |n| ≤ 2^53. Doubles
in [2^k, 2^(k+1)] are 2^(k−52) apart.

*Floor, a ≥ 0.* Let m = ⌊a/b⌋ + 1. From a/b ≥ m − 1 follows fl(a/b) ≥ m − 1, so the floor is not too small. It is not
too large if fl(a/b) < m. With 2^k < m ≤ 2^(k+1) the double next below m is m − 2^(k−52), so only what lies within
2^(k−53) < m·2^−53 below m may round to m. With the integer d = m·b − a ≥ 1 the distance is m − a/b = d/b =
d·m/(a + d) ≥ m/(a + 1) ≥ m·2^−53, as d/(a + d) grows with d and a + 1 ≤ 2^53. So a/b rounds to less than m.

*Ceiling, a > 0.* Let m = ⌈a/b⌉ − 1. From a/b ≤ m + 1 follows fl(a/b) ≤ m + 1, so the ceiling is not too large, and it
is not too small if fl(a/b) > m. For m = 0 it is, as a/b > 2^−53. For 2^k ≤ m < 2^(k+1) the double next above m is
m + 2^(k−52), so only what lies within 2^(k−53) ≤ m·2^−53 above m may round to m. With the integer e = a − m·b ≥ 1 the
distance is a/b − m = e/b = e·m/(a − e) > m·2^−53, as a − e < 2^53.

*Else* fl(a/b) = −fl(−a/b), ⌊a/b⌋ = −⌈−a/b⌉ and ⌈a/b⌉ = −⌊−a/b⌋ give the rest.
"""

from __future__ import annotations

from dataclasses import dataclass

_INFIX = {"+", "-", "*", "<", "<=", ">", ">="}


@dataclass(frozen=True)
class Dialect:
    """One way to write formulas."""

    name: str
    floor: str
    ceil: str
    maximum: str
    minimum: str
    suffix: str = ""
    """What ends a literal."""

    def literal(self, value: int) -> str:
        """An integer constant."""
        text = f"{value}{self.suffix}"
        return f"({text})" if value < 0 else text

    def operation(self, op: str, operands: list[str]) -> str:
        """An operation on operands that are already written."""
        if op in _INFIX:
            return f"({operands[0]} {op} {operands[1]})"
        a = operands[0]
        if op in ("and", "or"):
            return f"({a} {'&' if op == 'and' else '|'} {operands[1]})"
        simple = {"negative": f"(-{a})", "not": f"!{a}"}
        if op in simple:
            return simple[op]
        if op == "select":
            return f"({a} ? {operands[1]} : {operands[2]})"
        form = {"floor_div": self.floor, "ceil_div": self.ceil, "maximum": self.maximum, "minimum": self.minimum}[op]
        return form.format(*operands)


NUMBER = Dialect(
    "number",
    floor="Math.floor({0} / {1})",
    ceil="Math.ceil({0} / {1})",
    maximum="Math.max({0}, {1})",
    minimum="Math.min({0}, {1})",
)
"""Doubles: only where the page has proven that no intermediate leaves ±(2^53 − 1)."""

BIG = Dialect(
    "big",
    floor="floorDiv({0}, {1})",
    ceil="ceilDiv({0}, {1})",
    maximum="larger({0}, {1})",
    minimum="smaller({0}, {1})",
    suffix="n",
)
"""BigInts, of any size."""

RANGE_CALLS = {
    "+": "add",
    "-": "sub",
    "*": "mul",
    "negative": "neg",
    "floor_div": "floorDiv",
    "maximum": "max",
    "minimum": "min",
    "<": "lt",
    "<=": "le",
    ">": "gt",
    ">=": "ge",
    "and": "and",
    "or": "or",
    "not": "not",
    "select": "select",
}
"""The methods of the page's arithmetic on ranges, for the proof and for bounds of boxes."""
