"""A traced kernel as JavaScript: straight-line statements, a loop where it searches, or calls on ranges."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from sweep.exact.traced import Traced
from sweep.report.html.dialects import RANGE_CALLS, Dialect

Key = tuple[object, ...]


@dataclass
class Terms:
    """The distinct terms of a formula, each once however often the kernel made it."""

    keys: list[Key] = field(default_factory=list)
    """Per term: its operation, and per operand the number of a term or `("const", value)`."""
    free: list[frozenset[int]] = field(default_factory=list)
    """Per term the search variables that it is made from."""
    _known: dict[Key, int] = field(default_factory=dict)
    _variables: dict[int, int] = field(default_factory=dict)

    def add(self, term: object) -> int:
        """The number of a term or constant."""
        if not isinstance(term, Traced):
            assert isinstance(term, int)
            return self._number(("const", int(term)), frozenset())
        if term.op == "input":
            return self._number(("input", term.operands[0]), frozenset())
        if term.op == "variable":
            place = self._variables.setdefault(id(term), len(self._variables))
            return self._number(("variable", place), frozenset((place,)))
        places = tuple(self.add(operand) for operand in term.operands)
        free = frozenset[int]().union(*[self.free[place] for place in places])
        if term.op == "largest":
            free -= self.free[places[0]]
        if term.op == "negative" and (inner := self._ceiling(places[0])) is not None:
            return self._number(("ceil_div", *inner), free)
        return self._number((term.op, *places), free)

    def _ceiling(self, place: int) -> tuple[int, int] | None:
        """a and b where a term is ⌊−a/b⌋, whose negative is ⌈a/b⌉."""
        op, *operands = self.keys[place]
        if op != "floor_div":
            return None
        numerator = self.keys[int(str(operands[0]))]
        if numerator[0] != "negative":
            return None
        return int(str(numerator[1])), int(str(operands[1]))

    def _number(self, key: Key, free: frozenset[int]) -> int:
        if key not in self._known:
            self._known[key] = len(self.keys)
            self.keys.append(key)
            self.free.append(free)
        return self._known[key]

    def operands(self, place: int) -> list[int]:
        """The terms that a term reads."""
        op, *rest = self.keys[place]
        return [] if op in ("const", "input", "variable") else [int(str(one)) for one in rest]


class Statements:
    """A formula in a dialect: the statements that make it, and the expression that is its value."""

    def __init__(self, term: Traced, dialect: Dialect, indent: str) -> None:
        self.lines: list[str] = []
        self._dialect, self._indent = dialect, indent
        self._terms = Terms()
        self._names: dict[int, str] = {}
        root = self._terms.add(term)
        reachable, todo = {root}, [root]
        while todo:
            for place in self._terms.operands(todo.pop()):
                if place not in reachable:
                    reachable.add(place)
                    todo.append(place)
        self._uses = Counter(read for place in reachable for read in self._terms.operands(place))
        self.value = self._written(root)

    def _written(self, place: int) -> str:
        """The expression of a term; what is read more than once gets a name first."""
        if place in self._names:
            return self._names[place]
        op, *rest = self._terms.keys[place]
        if op == "const":
            return self._dialect.literal(int(str(rest[0])))
        if op in ("input", "variable"):
            return f"{'x' if op == 'input' else 'v'}{rest[0]}"
        if op == "largest":
            return self._searched(place)
        text = self._dialect.operation(str(op), [self._written(read) for read in self._terms.operands(place)])
        return self._named(place, text) if self._uses[place] > 1 else text

    def _named(self, place: int, text: str) -> str:
        name = f"t{place}"
        self.lines.append(f"{self._indent}const {name} = {text};")
        self._names[place] = name
        return name

    def _searched(self, place: int) -> str:
        """`largest_within` as a bisection, with what does not depend on its variable computed before the loop.

        Invariant: value_at(lo) ≤ limit, and value_at(x) > limit for every x above hi. Where hi < lo it is lo.
        """
        variable, value, limit, lo, hi = self._terms.operands(place)
        number = self._terms.keys[variable][1]
        low, high, middle = f"l{number}", f"h{number}", f"v{number}"
        bound = self._written(limit)
        self.lines.append(f"{self._indent}let {low} = {self._written(lo)}, {high} = {self._written(hi)};")
        self._hoist(value, int(str(number)))
        one, two = self._dialect.literal(1), self._dialect.literal(2)
        half = self._dialect.operation("floor_div", [f"({low} + {high} + {one})", two])
        self.lines.append(f"{self._indent}while ({low} < {high}) {{")
        outer, self._indent = (self._indent, dict(self._names)), self._indent + "  "
        self.lines.append(f"{self._indent}const {middle} = {half};")
        reached = self._written(value)
        self.lines.append(f"{self._indent}if ({reached} <= {bound}) {low} = {middle}; else {high} = {middle} - {one};")
        self._indent, self._names = outer
        self.lines.append(f"{self._indent}}}")
        self._names[place] = low
        return low

    def _hoist(self, place: int, variable: int) -> None:
        """Name the largest parts of a term that do not depend on a search variable."""
        if variable not in self._terms.free[place]:
            if self._terms.keys[place][0] not in ("const", "input") and place not in self._names:
                self._named(place, self._written(place))
            return
        for read in self._terms.operands(place):
            self._hoist(read, variable)


def range_calls(term: Traced) -> tuple[list[int], str]:
    """A formula as calls of an arithmetic `L` on ranges: its constants, named k0, k1, …, and the expression.

    No operation is simplified here: the proof is to see every intermediate that the kernel has.
    """
    constants: list[int] = []

    def written(one: object) -> str:
        if not isinstance(one, Traced):
            assert isinstance(one, int)
            if one not in constants:
                constants.append(one)
            return f"k{constants.index(one)}"
        if one.op == "input":
            return f"x{one.operands[0]}"
        if one.op == "variable":
            return "v"
        if one.op == "largest":
            _, value, limit, lo, hi = one.operands
            return f"L.largest(v => {written(value)}, {written(limit)}, {written(lo)}, {written(hi)})"
        return f"L.{RANGE_CALLS[one.op]}({', '.join(written(operand) for operand in one.operands)})"

    return constants, written(term)
