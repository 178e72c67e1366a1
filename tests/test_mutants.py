"""Small mistakes in the arithmetic are caught: each mutant of a module fails the battery that the original passes.

A mutant is one substitution in the source of one module of `exact`, `kernels` or `engine`, which are imported anew
with it. The battery compares every cell of six fixed grids with the reference, with capacities and limiting masks.
"""

import importlib
import sys
from contextlib import contextmanager
from importlib.machinery import SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path

import pytest
from brute import MASK, differences, engine_table, reference_table

import sweep
from sweep.grid import load_grid

ROOMS = ("sweep.exact", "sweep.kernels", "sweep.engine")
BATTERY = sorted((Path(__file__).parent / "battery").glob("*.toml"))
SOURCE = Path(sweep.__file__).parent

QUOTES = '\n    """\n    '
SCALED = "return ceil_div(declared * scale, 1000 * replicas)"
IN_ANOTHER_ORDER = "return ceil_div(floor_div(declared * scale, 1000), replicas)"

# (module, the text as it stands, the text of the mutant)
MUTANTS = [
    ("exact/ops", "return -floor_div(-a, b)", "return floor_div(a, b)"),
    ("exact/ops", "return np.maximum(a, b)", "return np.minimum(a, b)"),
    ("exact/ops", "np.where(condition, a, b)", "np.where(condition, b, a)"),
    ("exact/ops", "(below + above + 1) // 2", "(below + above) // 2"),
    ("exact/ops", "value_at(half) <= limit", "value_at(half) < limit"),
    ("exact/ops", "range(width.bit_length())", "range(width.bit_length() - 1)"),
    ("exact/interval", "self.proof.note(lo, hi)\n", "pass\n"),
    ("exact/interval", "hi <= INT64_MAX", "hi <= 2 * INT64_MAX"),
    ("exact/interval", "max(products)", "self.hi * o.lo"),
    ("kernels/domain", "SATURATED_DELAY_MS = 86_400_000", "SATURATED_DELAY_MS = 86_399_999"),
    ("kernels/domain", "SCALE_MAX_PERMILLE = 10**15", "SCALE_MAX_PERMILLE = 10**15 + 1"),
    ("kernels/derive", "ceil_div(step, 10**6)", "floor_div(step, 10**6)"),
    ("kernels/derive", "floor_div((slots + chunk) * 10**9", "ceil_div((slots + chunk) * 10**9"),
    ("kernels/derive", "ceil_div(kv_heads, parallel)", "floor_div(kv_heads, parallel)"),
    ("kernels/derive", "ceil_div(2 * layers", "floor_div(2 * layers"),
    ("kernels/derive", "floor_div(memory * utilization", "ceil_div(memory * utilization"),
    ("kernels/derive", "- overhead - reserved", "- overhead + reserved"),
    ("kernels/derive", f"⌈x/a⌉.{QUOTES}{SCALED}", f"⌈x/a⌉.{QUOTES}{SCALED.replace('ceil', 'floor')}"),
    ("kernels/derive", f"⌈x/a⌉.{QUOTES}{SCALED}", f"⌈x/a⌉.{QUOTES}{IN_ANOTHER_ORDER}"),
    ("kernels/derive", f'ceiling."""\n    {SCALED}', f'ceiling."""\n    {SCALED.replace("ceil", "floor")}'),
    ("kernels/derive", "ceil_div(declared, replicas)", "floor_div(declared, replicas)"),
    ("kernels/derive", "max_ttft + output_tokens * max_tpot", "max_tpot + output_tokens * max_ttft"),
    ("kernels/derive", "present = ceil_div(", "present = floor_div("),
    ("kernels/derive", "floor_div(clamp(capacity", "ceil_div(clamp(capacity"),
    ("kernels/derive", "floor_div(prefill * clamp", "ceil_div(prefill * clamp"),
    ("kernels/figures", "ceil_div(work_done,", "floor_div(work_done,"),
    ("kernels/figures", "(rate >= 1)", "(rate > 1)"),
    ("kernels/figures", "clamp(utilization, 0, 999)", "clamp(utilization, 0, 998)"),
    ("kernels/figures", "1000 - below", "1001 - below"),
    ("kernels/figures", "utilization >= 1000", "utilization > 1000"),
    ("kernels/figures", "maximum(ceil_div(prompt, chunk) * step", "minimum(ceil_div(prompt, chunk) * step"),
    ("kernels/figures", "ceil_div(prompt, chunk) * step", "ceil_div(prompt * step, chunk)"),
    ("kernels/figures", "else maximum(worst, served)", "else minimum(worst, served)"),
    ("kernels/figures", "slowest = maximum(", "slowest = minimum("),
    ("kernels/figures", "bound = (priority_iterations + 1)", "bound = priority_iterations"),
    ("kernels/rules", "figure > bound", "figure >= bound"),
    ("kernels/rules", "work > saturation", "work >= saturation"),
    ("kernels/rules", "max_queue_delay < ", "max_queue_delay <= "),
    ("kernels/rules", "value > upper", "value >= upper"),
    ("kernels/rules", "remainder < 1", "remainder < 0"),
    ("kernels/rules", "service_tokens < 1", "service_tokens <= 1"),
    ("kernels/rules", "chunk > service_tokens", "chunk >= service_tokens"),
    ("kernels/thresholds", "return least(caps)", "return caps[0]"),
    ("kernels/thresholds", "floor_div(1000 * time", "floor_div(999 * time"),
    ("kernels/thresholds", "ceil_div((unit - 1) * total(*weights), slope)", "ceil_div(total(*weights), slope)"),
    ("kernels/thresholds", "(unit - 1) * g + unit * (base - 1)", "(base - 1)"),
    ("kernels/thresholds", "ceil_div(ceil_div(a * x, unit) * g, ", "ceil_div(ceil_div(a * x * g, unit), "),
    ("kernels/thresholds", "floor_div(max_tpot * decode", "ceil_div(max_tpot * decode"),
    ("kernels/thresholds", "return floor_div(clamp(max_kv_bytes", "return ceil_div(clamp(max_kv_bytes"),
    ("kernels/thresholds", "limit - total(", "limit + total("),
    ("kernels/thresholds", "select(left >= 0, cap", "select(left > 0, cap"),
    ("kernels/thresholds", "select(feasible_at_all, cap, 0)", "select(feasible_at_all, cap, 1)"),
    ("kernels/nodes", '(3, "prefill_work"', '(3, "decode_work"'),
    ("engine/verdict", "for rule in reversed(reported)", "for rule in reported"),
    ("engine/verdict", "np.minimum(out, np.uint16(INVALID)", "np.maximum(out, np.uint16(INVALID)"),
    ("engine/verdict", "piece | mask", "piece & mask"),
    ("engine/runs", "part.get(_MAX_DELAY) >= ", "part.get(_MAX_DELAY) > "),
    ("engine/runs", "np.where(part.get(rule), 0, end)", "np.where(part.get(rule), 1, end)"),
    ("engine/runs", "np.minimum(keys >> _RANK_BITS, end)", "np.maximum(keys >> _RANK_BITS, end)"),
    ("engine/runs", "values[:, 0] |= np.broadcast_to", "values[:, 0] &= np.broadcast_to"),
    ("engine/runs", 'self._span + ranks, side="right"', 'self._span + ranks, side="left"'),
    ("engine/largest", "capacity + 1, configuration", "capacity + 2, configuration"),
]


class Mutated(SourceFileLoader):
    """Loads a module from its file with one substitution, without a cache."""

    def __init__(self, name, path, old, new):
        super().__init__(name, path)
        self._old, self._new = old, new

    def get_code(self, fullname):
        source = Path(self.path).read_text(encoding="utf-8")
        assert source.count(self._old) == 1, f"{self.path}: {self._old!r} stands there {source.count(self._old)} times"
        return compile(source.replace(self._old, self._new), self.path, "exec")


class Finder:
    """Finds one module at its own place, mutated."""

    def __init__(self, module, old, new):
        self._path = SOURCE / f"{module}.py"
        self._name = "sweep." + module.replace("/", ".")
        self._change = old, new

    def find_spec(self, name, path=None, target=None):
        if name != self._name:
            return None
        return spec_from_file_location(name, self._path, loader=Mutated(name, str(self._path), *self._change))


@contextmanager
def fresh_rooms(*finders):
    """The three rooms imported anew, then put back as they were."""
    kept = {name: module for name, module in sys.modules.items() if name.startswith(ROOMS)}
    parents = {name: getattr(sweep, name.removeprefix("sweep.")) for name in ROOMS}
    for name in kept:
        del sys.modules[name]
    sys.meta_path[:0] = finders
    try:
        importlib.import_module("sweep.engine.run")
        yield
    finally:
        del sys.meta_path[: len(finders)]
        for name in [name for name in sys.modules if name.startswith(ROOMS)]:
            del sys.modules[name]
        sys.modules.update(kept)
        for name, module in parents.items():
            setattr(sweep, name.removeprefix("sweep."), module)


@pytest.fixture(scope="module")
def battery():
    importlib.import_module("sweep.engine.run")
    grids = [load_grid(path) for path in BATTERY]
    return [(grid, reference_table(grid)) for grid in grids]


def first_difference(battery):
    """The first difference or error of the battery with the rooms as imported now; None where there is none."""
    for grid, wanted in battery:
        try:
            difference = next(differences(grid, engine_table(grid), wanted), None) or difference_of_runs(grid, wanted)
        except Exception as error:  # a mutant that raises is caught too
            difference = repr(error)
        if difference:
            return f"{grid.name}: {difference}"
    return None


def difference_of_runs(grid, wanted):
    """The same mask once more, as runs along traffic."""
    engine = {name: importlib.import_module(f"sweep.engine.{name}") for name in ("run", "runs", "verdict")}
    ev = engine["run"].evaluation_of(grid)
    maker = engine["runs"].RunMaker(ev, engine["verdict"].reported_rules(ev), grid.admission_control_enabled)
    runs = maker.make(tuple(slice(0, n) for n in grid.shape))
    if (runs.lengths < 0).any() or runs.lengths.sum() != grid.cells:
        return f"runs of {grid.name} do not fill its rows"
    return None if (runs.mask(grid.shape) == wanted.values[MASK]).all() else f"runs of {grid.name} differ"


def test_the_original_passes_the_battery(battery):
    with fresh_rooms():
        assert first_difference(battery) is None


@pytest.mark.parametrize("mutant", MUTANTS, ids=[f"{module}-{old} -> {new}" for module, old, new in MUTANTS])
def test_a_mutant_fails_the_battery(battery, mutant):
    with fresh_rooms(Finder(*mutant)):
        assert first_difference(battery) is not None


def test_the_rooms_are_as_before_after_a_mutant(battery):
    before = {name: id(module) for name, module in sys.modules.items() if name.startswith(ROOMS)}
    with fresh_rooms(Finder(*MUTANTS[0])):
        assert first_difference(battery) is not None
    assert {name: id(module) for name, module in sys.modules.items() if name.startswith(ROOMS)} == before
    assert first_difference(battery) is None
