"""`grids/capstone.toml` gives the course's own answers, up to whole milliseconds."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from sweep.api import best_of_grid, explain_grid, load_grid

GRID = Path(__file__).parents[2] / "grids" / "capstone.toml"
GOLDEN = Path(__file__).parents[3] / "shared" / "golden" / "capstone.json"


def golden(name: str) -> list:
    if not GOLDEN.exists():
        pytest.skip("the course's right answers are not beside the project")
    return json.loads(GOLDEN.read_text())[name]


def grid_of(batch_sizes: list[int], *overrides: tuple[str, str]):
    return load_grid(GRID, [("axis", f"slots={batch_sizes}"), *overrides])


def test_frontier_latency_and_throughput_of_every_batch_size():
    rows = 0
    for case in golden("frontier"):
        grid = grid_of(case["batch_sizes"])
        for batch, throughput, itl in case["expect"]:
            step = explain_grid(grid, {"slots": batch, "traffic": 1_000}).verdict.iteration_time_ms
            assert step == itl, batch
            assert abs(Fraction(1000 * batch, step) - Fraction(str(throughput))) <= Fraction(1, 20), batch
            rows += 1
    assert rows == 16


def test_pick_operating_point_is_the_largest_batch_within_the_slo():
    cases = golden("pick_operating_point")
    for case in cases:
        slo = int(case["itl_slo_ms"])
        grid = grid_of(case["batch_sizes"], ("axis", f"contract.max_tpot_ms=[{slo}]"))
        answer = best_of_grid(grid)
        found = answer.cell.point["max_active_sequences"] if answer.feasible else None
        assert found == case["expect"], case
    assert any(case["expect"] is None for case in cases)


def test_the_slos_of_the_course_are_values_of_the_file_s_axis():
    grid = load_grid(GRID)
    for case in golden("pick_operating_point"):
        at = {"contract.max_tpot_ms": int(case["itl_slo_ms"])}
        for batch in case["batch_sizes"]:
            cell = explain_grid(grid, {**at, "slots": batch, "traffic": 1_000 * batch})
            wanted = case["expect"] is not None and batch <= case["expect"]
            assert (cell.status == "within") == wanted, (case, batch)
