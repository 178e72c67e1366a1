"""The kernel graph of a grid in JavaScript: each distinct formula once, and the nodes as a table of names."""

from __future__ import annotations

from sweep.exact.traced import Traced, traced
from sweep.kernels.nodes import Graph
from sweep.report.html.dialects import BIG, NUMBER, Dialect
from sweep.report.html.formula import Statements, range_calls

NodeRow = list[object]
"""Name, number of its kernel (−1: it is what it reads), whether it is a flag, names that it reads."""


def program_of(*graphs: Graph) -> tuple[str, list[list[NodeRow]]]:
    """The kernels of several graphs together, as source, and the table of nodes of each."""
    kernels: dict[str, int] = {}
    sources: list[str] = []
    tables = []
    for graph in graphs:
        table: list[NodeRow] = []
        for node in graph.values():
            term = traced(node.kernel, len(node.inputs))
            if term.op == "input":
                table.append([node.name, -1, 0, [node.inputs[int(term.operands[0])]]])
                continue
            constants, expression = range_calls(term)
            key = f"{len(node.inputs)} {constants} {expression}"
            if key not in kernels:
                kernels[key] = len(sources)
                sources.append(_kernel(node.name, term, len(node.inputs), constants, expression))
            table.append([node.name, kernels[key], int(term.is_flag), list(node.inputs)])
        tables.append(table)
    return f"const KERNELS = [\n{''.join(sources)}];\n", tables


def _kernel(name: str, term: Traced, count: int, constants: list[int], expression: str) -> str:
    loops = "".join(_loop(term, count, dialect) for dialect in (NUMBER, BIG))
    named = "".join(f"const k{i} = L.of({value}n); " for i, value in enumerate(constants))
    inputs = ", ".join(f"x{i}" for i in range(count))
    return f"// {name}\n{{\n{loops}ranges(L) {{ {named}return ({inputs}) => {expression}; }},\n}},\n"


def _loop(term: Traced, count: int, dialect: Dialect) -> str:
    """A kernel over rows and columns of open arrays.

    Its parameters: the array to fill and from where, rows and columns, and for each input the array, where it begins,
    and how far it goes on per row and per column (0 along an axis that it has not).
    """
    places = range(count)
    formula = Statements(term, dialect, "    ")
    arrays = ", ".join(f"a{i} = A[{i}], c{i} = C[{i}]" for i in places)
    starts = ", ".join(f"p{i} = O[{i}] + j * R[{i}]" for i in places)
    steps = ", ".join(f"p{i} += c{i}" for i in places)
    values = ", ".join(f"x{i} = a{i}[p{i}]" for i in places)
    body = "\n".join(formula.lines)
    return (
        f"{dialect.name}(out, o, rows, cols, A, O, R, C) {{\n"
        f"  const {arrays};\n"
        f"  for (let j = 0; j < rows; j++) for (let i = 0, {starts}; i < cols; i++, {steps}) {{\n"
        f"    const {values};\n"
        f"{body}{chr(10) if body else ''}"
        f"    out[o++] = {formula.value};\n"
        "  }\n"
        "},\n"
    )
