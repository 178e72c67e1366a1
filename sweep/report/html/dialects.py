"""How each operation of a formula is written in JavaScript: on doubles, on BigInts, and on ranges.

Doubles hold every integer below 2^53 and their sums, differences and products exactly where those stay below 2^53,
which the page's interval run proves before it takes this dialect. Division needs an argument of its own:

    For integers |a| < 2^53 and 1 ≤ b < 2^53, Math.floor(a / b) = ⌊a/b⌋ and Math.ceil(a / b) = ⌈a/b⌉.

Let fl be rounding to the nearest double: a / b computes fl(a/b), fl never decreases, and fl(n) = n for integers
|n| ≤ 2^53. Take a ≥ 0 and m = ⌊a/b⌋ + 1. fl(a/b) ≥ fl(m − 1) = m − 1, so the floor is not below ⌊a/b⌋; it is not above
if fl(a/b) < m. The double next below m is at least m − m·2^−52 away from... precisely: for m in (2^k, 2^(k+1)] it is
m − 2^(k−52), so whatever is nearer to m than half of that, 2^(k−53) < m·2^−53, may round to m, and nothing else. With
d = m·b − a ≥ 1 (an integer) the distance is m − a/b = d/b = d·m/(a + d) ≥ m/(a + 1) ≥ m·2^−53, as a + 1 ≤ 2^53 and
d/(a + d) grows with d. So fl(a/b) < m. For a < 0 let c = −a: fl(a/b) = −fl(c/b), and ⌊a/b⌋ = −⌈c/b⌉. With
m = ⌈c/b⌉ − 1 ≥ 1 the doubles above m begin at m + 2^(k−52), m in [2^k, 2^(k+1)), and what is farther from m than
2^(k−53) ≤ m·2^−53 does not round to m; with e = c − m·b ≥ 1, c/b − m = e/b = e·m/(c − e) > m·2^−53, as
c − e < c < 2^53. (For m = 0, c/b ≥ 2^−53 does not round to 0.) So fl(c/b) > m, and it is ≤ ⌈c/b⌉, which is a double:
its ceiling is ⌈c/b⌉. The statement for Math.ceil follows by ⌈a/b⌉ = −⌊−a/b⌋.
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
