"""What is searched instead of walked gives the same answers, and what is not counted any more says so."""

import tracemalloc

import pytest
from hand_grids import axes_grid, base_grid, models_grid
from naive import Naive
from strategies import seeded_text
from test_query_best import assert_order, some_fixed

from sweep.api import best_of_grid
from sweep.engine.run import evaluation_of
from sweep.grid import load_grid, parse_grid
from sweep.query import declared
from sweep.query.relax import relax
from sweep.report.best import best_page
from sweep.report.plain import text_of


@pytest.fixture
def _searched(monkeypatch):
    monkeypatch.setattr(declared, "WALKED_CONFIGURATIONS", 0)


@pytest.mark.usefixtures("_searched")
@pytest.mark.parametrize("block", range(4))
def test_searched_points_are_the_references(block):
    for seed in range(block, 24, 4):
        naive = Naive(parse_grid(seeded_text(seed, cells=40)))
        assert_order(naive)
        assert_order(naive, on_grid=True)
        assert_order(naive, some_fixed(naive, seed))


@pytest.mark.parametrize("make", [axes_grid, models_grid, base_grid])
def test_relax_searched_is_relax_walked(make, monkeypatch):
    grid = make()
    walked = relax(grid, evaluation_of(grid))
    monkeypatch.setattr(declared, "WALKED_CONFIGURATIONS", 0)
    assert relax(grid, evaluation_of(grid)) == walked


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.usefixtures("_searched")
def test_relax_searched_is_relax_walked_on_drawn_grids(seed, monkeypatch):
    grid = parse_grid(seeded_text(seed, cells=60))
    found = relax(grid, evaluation_of(grid))
    monkeypatch.setattr(declared, "WALKED_CONFIGURATIONS", 10**6)
    assert found == relax(grid, evaluation_of(grid))


MANY = ["share=1:999:1", "slots=1:1000:1", "chunk=1:1000:1"]


def test_a_declared_grid_is_answered_with_its_reports_and_without_counts():
    grid = load_grid("grids/large.toml", [("axis", axis) for axis in MANY])
    answer = best_of_grid(grid)
    assert answer.cell is not None
    assert answer.cell.status == "within"
    assert answer.limiting.status == "rejected"
    assert answer.as_json()["decided"] == {"cells": 999_000_000 * 2000, "configurations": 999_000_000}
    assert "counted up to 20 000 000 configurations" in " ".join(text_of(best_page(answer)).split())


def test_a_declared_grid_without_a_feasible_point_says_so():
    grid = load_grid("grids/large.toml", [*[("axis", axis) for axis in MANY], ("set", "max_tpot_ms=1")])
    answer = best_of_grid(grid)
    assert not answer.feasible
    assert answer.obstacles is None
    assert "none of 999 000 000 configurations" in " ".join(text_of(best_page(answer)).split())


def test_a_grid_of_a_million_million_million_cells_is_asked_within_little_memory():
    grid = base_grid(*[("axis", f"{name}=1:1000000:1") for name in ("chunk", "slots", "traffic")])
    tracemalloc.start()
    answer = best_of_grid(grid)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert answer.cells == 10**18
    assert answer.feasible
    assert peak < 300 * 2**20
