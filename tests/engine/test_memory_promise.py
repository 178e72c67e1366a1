"""The promise of `--memory`: the plan states a peak within it, a run keeps to it, and the bytes do not depend on it."""

import json
import subprocess
import sys

import pytest
from hand_grids import axes_grid
from hypothesis import given, settings
from strategies import grids

from sweep.api import plan, run
from sweep.engine.budget import DEFAULT_MEMORY_BYTES, LEAST_ARRAY_BYTES, PROCESS_BYTES
from sweep.errors import RefusedSize
from sweep.grid import load_grid

SMALL = 2**28
WILD = [
    ("set", "class.chat.arrival_millirps=1000000000000"),
    ("set", "class.chat.prompt_tokens=10000000"),
    ("axis", "traffic=1:10:1"),
    ("axis", "slots=8:800:16"),
]
CASES = {
    "runs, stored": ("h100", [], {}),
    "runs, counted": ("large", [], {"materialize": "never"}),
    "short rows": ("large", [("axis", "traffic=[100,900]"), ("axis", "share=1:999:3")], {"materialize": "never"}),
    "a long traffic axis": ("capstone", [("axis", "traffic=1:1000000:1"), ("axis", "slots=1")], {}),
    "Python ints": ("large", WILD, {"materialize": "never"}),
    "every figure": ("h100", [("axis", "slots=16:200:8")], {"store": "all"}),
}
CHILD = """
import json, sys
import sweep
name, overrides, memory, options = json.loads(sys.argv[1])
grid = sweep.load_grid(f"grids/{name}.toml", [tuple(pair) for pair in overrides])
planned = sweep.plan(grid, memory_bytes=memory, **options)
sweep.run(grid, sys.argv[2], memory_bytes=memory, **options)
peak = next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(json.dumps([planned.peak_bytes, peak]))
"""


def planned_and_measured(tmp_path, case, memory):
    """The peak that the plan states and that of a process that does nothing else, in bytes."""
    name, overrides, options = case
    asked = json.dumps([name, overrides, memory, options])
    done = subprocess.run([sys.executable, "-c", CHILD, asked, str(tmp_path / "r.nc")], capture_output=True, check=True)
    return json.loads(done.stdout)


def assert_kept(tmp_path, case, memory):
    planned, measured = planned_and_measured(tmp_path, case, memory)
    assert measured <= planned <= memory, (measured, planned, memory)


@pytest.mark.parametrize("name", CASES)
def test_a_run_takes_no_more_memory_than_its_plan_states_and_than_it_may(tmp_path, name):
    assert_kept(tmp_path, CASES[name], SMALL)


@pytest.mark.slow
@pytest.mark.parametrize("memory", [SMALL, DEFAULT_MEMORY_BYTES])
def test_a_run_of_a_thousand_million_cells_keeps_to_its_memory(tmp_path, memory):
    assert_kept(tmp_path, ("large", [("axis", "traffic=1:10000:1")], {"materialize": "always"}), memory)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_so_it_is_with_the_default(tmp_path, name):
    assert_kept(tmp_path, CASES[name], DEFAULT_MEMORY_BYTES)


@pytest.mark.parametrize(
    ("name", "overrides"),
    [
        ("h100", [("axis", "slots=16:200:8")]),
        ("large", [("axis", "traffic=[100,900]"), ("axis", "share=1:999:2"), ("axis", "slots=8:400:8")]),
        ("precision", [("axis", "replicas=1:40:1")]),
    ],
)
def test_the_same_bytes_come_out_of_any_budget(tmp_path, name, overrides):
    grid = load_grid(f"grids/{name}.toml", overrides)
    for file, memory in (("small", PROCESS_BYTES + LEAST_ARRAY_BYTES), ("large", 2**32)):
        run(grid, tmp_path / file, memory_bytes=memory)

    assert (tmp_path / "small").read_bytes() == (tmp_path / "large").read_bytes()


@settings(max_examples=30)
@given(grids(cells=200))
def test_a_plan_never_states_more_than_it_may_take_but_for_the_inputs(grid):
    for memory in (PROCESS_BYTES + LEAST_ARRAY_BYTES, SMALL, 2**32):
        stated = plan(grid, memory_bytes=memory)
        assert stated.memory_bytes == memory
        assert PROCESS_BYTES < stated.peak_bytes <= memory


def test_more_memory_never_makes_smaller_tiles():
    for name in ("h100", "large", "precision"):
        grid = load_grid(f"grids/{name}.toml")
        tiles = [plan(grid, memory_bytes=memory).tiles for memory in (2**28, 2**29, 2**30, 2**33)]
        assert tiles == sorted(tiles, reverse=True)


def test_too_little_memory_is_refused_with_what_a_run_needs():
    with pytest.raises(RefusedSize, match=r"155 189 248 bytes at the least"):
        plan(axes_grid(), memory_bytes=10**8)


def test_an_axis_that_does_not_fit_is_refused_before_anything_is_written(tmp_path):
    grid = load_grid("grids/capstone.toml", [("axis", "traffic=1:10000000:1")])
    with pytest.raises(RefusedSize, match="give more with --memory"):
        run(grid, tmp_path / "r.nc", memory_bytes=SMALL)
    assert list(tmp_path.iterdir()) == []


def test_the_default_is_one_gibibyte():
    assert plan(axes_grid()).memory_bytes == 2**30 == DEFAULT_MEMORY_BYTES
