"""The house: which room imports which, what stands where, and how long anything may get."""

import ast
import shutil
import subprocess
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import sweep

ROOT = Path(sweep.__file__).resolve().parent
ROOMS = (
    "errors",
    "units",
    "records",
    "hardware",
    "traffic",
    "grid",
    "reference",
    "exact",
    "kernels",
    "store",
    "engine",
    "query",
    "calibrate",
    "draft",
    "simulate",
    "operate",
    "endpoint",
    "report",
    "cli",
)
"""In the order of the house: a room imports only rooms above it."""

API = {"sweep", "sweep.__main__", "sweep._version", "sweep.api", "sweep.labelled"}
"""Files in no room: the version is below all rooms, the public functions are between `query` and `cli`."""

ONLY_IN = {
    "click": {"cli"},
    "rich": {"cli", "report"},
    "netCDF4": {"store"},
    "tomllib": {"grid"},
    "matplotlib": {"report"},
}
NO_ARITHMETIC_OF_ITS_OWN = ("exact", "kernels", "engine", "store")
TOP_LEVEL = {"pyproject.toml", "README.md", "sweep", "grids", "tests", "benchmarks"}
LICENCES = {"LICENSE", "LICENCE", "LICENSE.txt", "LICENSE.md"}
MAX_FILE, MAX_FUNCTION = 300, 60


@cache
def files():
    return sorted(ROOT.rglob("*.py"))


def name_of(path):
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room_of(module):
    return module.split(".")[1] if "." in module else ""


@cache
def tree_of(path):
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


@cache
def modules():
    return {name_of(path) for path in files()}


def imported(path, node):
    """The modules that an import statement names: `from sweep.kernels import derive` is `sweep.kernels.derive`."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    assert node.level == 0, f"{path}: imports are absolute"
    known = modules()
    whole = [f"{node.module}.{alias.name}" for alias in node.names]
    return [name if name in known else node.module for name in whole]


def imports(path):
    """Every (module, line) that a file imports, at whatever depth; what only type checkers read too."""
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            for module in imported(path, node):
                yield module, node.lineno


def rank(module):
    if module in ("sweep._version", "sweep.__main__"):
        return -1 if module == "sweep._version" else len(ROOMS)
    return ROOMS.index("report") - 0.5 if module in API else ROOMS.index(room_of(module))


def test_every_room_is_in_the_order_of_the_house():
    assert {room_of(name) for name in modules() - API} <= set(ROOMS)


def test_a_room_imports_only_rooms_above_it():
    wrong = [
        f"{path.relative_to(ROOT.parent)}:{line} imports {module}"
        for path in files()
        if name_of(path) != "sweep"  # its exports are lazy
        for module, line in imports(path)
        if module.startswith("sweep") and room_of(module) != room_of(name_of(path))
        if module != "sweep" and rank(module) >= rank(name_of(path))
    ]
    assert wrong == []


def test_inside_a_room_no_imports_go_in_a_circle():
    graph = {
        name_of(path): {module for module, _ in imports(path) if module.startswith("sweep.")} - {name_of(path)}
        for path in files()
        if name_of(path) != "sweep"
    }
    circle: list[str] = []
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        circle = error.args[1]

    assert circle == []


def test_the_package_itself_imports_its_version_and_nothing_else_at_run_time():
    body = tree_of(ROOT / "__init__.py").body
    found = [module for node in body if isinstance(node, ast.ImportFrom) for module in imported(ROOT, node)]
    assert [module for module in found if module.startswith("sweep")] == ["sweep._version"]


def test_nothing_is_imported_inside_a_function_but_by_commands():
    wrong = []
    for path in files():
        late_allowed = room_of(name_of(path)) == "cli" or name_of(path) == "sweep"
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not late_allowed:
                late = [inner for inner in ast.walk(node) if isinstance(inner, ast.Import | ast.ImportFrom)]
                wrong += [f"{path.relative_to(ROOT.parent)}:{inner.lineno}" for inner in late]
    assert wrong == []


def test_the_reference_shares_no_arithmetic_with_what_it_checks():
    """An oracle that shares code proves nothing; not through a third module either."""
    reached, todo = set(), [path for path in files() if room_of(name_of(path)) == "reference"]
    by_name = {name_of(path): path for path in files()}
    while todo:
        for module, _ in imports(todo.pop()):
            if module in by_name and module not in reached:
                reached.add(module)
                todo.append(by_name[module])
    assert sorted(module for module in reached if room_of(module) in NO_ARITHMETIC_OF_ITS_OWN) == []
    assert any(room_of(module) == "records" for module in reached)


@pytest.mark.parametrize("library", ONLY_IN)
def test_a_library_is_imported_in_its_room_only(library):
    wrong = [
        f"{path.relative_to(ROOT.parent)}:{line}"
        for path in files()
        for module, line in imports(path)
        if module.split(".")[0] == library and room_of(name_of(path)) not in ONLY_IN[library]
    ]
    assert wrong == []


def test_kernels_see_numbers_only():
    """No labels, no files, no checks: a kernel imports `exact`, other kernels and the bounds of the records."""
    allowed = ("sweep.exact", "sweep.kernels", "sweep.records.bounds")
    standard = {"__future__", "collections.abc", "dataclasses", "functools", "typing"}
    wrong = [
        f"{path.name}:{line} imports {module}"
        for path in files()
        if room_of(name_of(path)) == "kernels"
        for module, line in imports(path)
        if not module.startswith(allowed) and module not in standard
    ]
    assert wrong == []


def test_no_file_has_three_hundred_lines():
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in files()}
    assert {str(path.relative_to(ROOT.parent)): n for path, n in lengths.items() if n >= MAX_FILE} == {}


def test_no_function_has_sixty_lines():
    long = {}
    for path in files():
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = node.end_lineno - node.lineno + 1
                if lines >= MAX_FUNCTION:
                    long[f"{path.relative_to(ROOT.parent)}:{node.lineno} {node.name}"] = lines
    assert long == {}


def test_nothing_stands_at_the_top_but_what_the_house_has():
    git = shutil.which("git")
    if git is None or not (ROOT.parent / ".git").exists():
        pytest.skip("needs git and a checkout, to tell the project's files from the others")
    listed = subprocess.run([git, "ls-files"], cwd=ROOT.parent, capture_output=True, text=True, check=True).stdout
    entries = {line.split("/")[0] for line in listed.splitlines()}
    assert {entry for entry in entries if not entry.startswith(".")} <= TOP_LEVEL | LICENCES


def test_no_room_of_arithmetic_has_a_float_or_a_true_division():
    wrong = []
    for path in files():
        if room_of(name_of(path)) not in ("records", "hardware", "reference", "exact", "kernels", "engine", "draft"):
            continue
        for node in ast.walk(tree_of(path)):
            literal = isinstance(node, ast.Constant) and isinstance(node.value, float)
            division = isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.Div)
            if literal or division:
                wrong.append(f"{path.relative_to(ROOT.parent)}:{node.lineno} {ast.unparse(node)}")
    assert wrong == []
