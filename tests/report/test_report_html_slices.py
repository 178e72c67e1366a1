"""The page's slices, frontiers and CSV against `sweep region` and `sweep frontier`, on random grids, in node."""

import random

import pytest
from html_node import asked, node
from strategies import seeded_text

from sweep.engine.run import evaluation_of
from sweep.errors import SweepError
from sweep.grid import load_grid, parse_grid
from sweep.query.frontier import find_frontier
from sweep.query.region import find_region
from sweep.query.slo import under_slo
from sweep.records.bounds import CONTRACT_BOUNDS
from sweep.report.region import region_csv
from sweep.report.slo import csv_with

pytestmark = pytest.mark.skipif(node() is None, reason="needs node, to run the page's JavaScript")

SHOWS = ("verdict", "limit", "capacity", "slack", "estimated_worst_ttft_ms", "peak_kv_bytes", "kv_bytes_per_token")
SLACKS = ("max_active_sequences", *CONTRACT_BOUNDS)


def drawn_slice(grid, choose, show):
    """A question as the page's state, and the same as the command line's options."""
    last = len(grid.axes) - 1
    x, y = choose.sample(range(last if show == "capacity" else last + 1), 2)
    index = [choose.randrange(n) for n in grid.shape]
    scale = choose.choice([1, 999, *grid.axes[-1].values])
    if show == "slack":
        show = f"slack:{choose.choice(SLACKS)}"
    others = [axis for axis in range(last + 1) if axis not in (x, y)]
    at = {grid.axes[axis].name: grid.axes[axis].label(index[axis]) for axis in others}
    if last in others:
        at[grid.axes[-1].name] = scale
        if show == "capacity":
            del at[grid.axes[-1].name]
    state = {"x": x, "y": y, "index": index, "scale": str(scale), "slo": {}, "show": show}
    return state, at


def drawn_bounds(grid, choose):
    """Moved bounds, where no axis sets them."""
    free = [name for name in CONTRACT_BOUNDS if not any(f"contract.{name}" in axis.fields for axis in grid.axes)]
    moved = {}
    for name in choose.sample(free, min(len(free), choose.choice([0, 0, 1, 3, 8]))):
        lower, upper = CONTRACT_BOUNDS[name]
        now = grid.base[f"contract.{name}"]
        near = [now // 2, now + 1, now * 3] if isinstance(now, int) else [10**9, 10**10]
        moved[name] = min(max(choose.choice([*near, lower, upper]), lower), upper)
    return moved


def wanted_csv(grid, state, at):
    """What `sweep region --csv` prints, with --slo where bounds are moved."""
    moved = {name: int(value) for name, value in state["slo"].items()}
    asked_of = under_slo(grid, moved) if moved else grid
    names = [axis.name for axis in grid.axes]
    answer = find_region(asked_of, evaluation_of(asked_of), names[state["x"]], names[state["y"]], at, state["show"])
    text = region_csv(answer, names)
    return csv_with(text, moved) if moved else text


def page_bounds(grid, moved):
    """The page keeps no bound that is as declared."""
    return {name: str(value) for name, value in moved.items() if grid.base[f"contract.{name}"] != value}


@pytest.fixture(scope="module")
def cases():
    found = []
    for seed in range(90):
        choose = random.Random(seed)
        grid = parse_grid(seeded_text(seed + 1000, cells=80))
        show = SHOWS[seed % len(SHOWS)]
        state, at = drawn_slice(grid, choose, show)
        state["slo"] = page_bounds(grid, drawn_bounds(grid, choose))
        try:
            text = wanted_csv(grid, state, at)
        except SweepError:  # a bound that leaves [gpu] without use, say
            continue
        found.append((grid, state, text))
    return found


def test_a_slice_is_what_sweep_region_prints_for_it(cases):
    assert len(cases) > 70
    answers = asked("region", [grid for grid, _, _ in cases], [state for _, state, _ in cases])
    for (grid, state, text), found in zip(cases, answers, strict=True):
        assert (grid.name, state, found) == (grid.name, state, text)


@pytest.mark.parametrize("name", ["h100", "precision", "capstone"])
def test_the_trade_off_of_a_slice_is_what_sweep_frontier_finds(name):
    grid = load_grid(f"grids/{name}.toml")
    last = len(grid.axes) - 1
    index = [n // 2 for n in grid.shape]
    at = {axis.name: axis.label(index[place]) for place, axis in enumerate(grid.axes) if place not in (2, last)}
    for first, second in (("traffic_scale_permille", "estimated_tpot_ms"), ("traffic_scale_permille", "peak_kv_bytes")):
        state = {"x": 2, "y": last, "index": index, "scale": "1", "slo": {}, "show": "limit"}
        (found,) = asked("region", [grid], [{**state, "objectives": [first, second]}])
        pairs = (("maximize", first), ("minimize", second))
        wanted = find_frontier(grid, evaluation_of(grid), at, pairs, limit=10_000)
        assert found["feasible"] == wanted.feasible_cells
        assert {tuple(map(int, point)) for point in found["points"]} == {point.values for point in wanted.points}
