"""The picture of a simulation draws exactly what `sweep simulate` says."""

from fractions import Fraction

import pytest

from sweep.engine.run import evaluation_of
from sweep.grid import load_grid
from sweep.query.explain import locate
from sweep.simulate.asked import Arrivals, simulated

pytest.importorskip("matplotlib", reason="the extra plot (matplotlib) is not installed")

from sweep.report.pictures.beside import MOST_PERMILLE, beside_scene, draw_beside


@pytest.fixture(scope="module")
def beside():
    grid = load_grid("grids/h100.toml")
    cell = locate(grid, evaluation_of(grid), {}).cell
    comparison = simulated(cell, Arrivals(count=200))[1]
    return comparison, beside_scene(cell, comparison, (grid.name,))


def test_each_bound_has_its_figures_as_exact_shares(beside):
    comparison, scene = beside
    for check, mark in zip(comparison.checks, scene.marks, strict=True):
        assert mark.bound == check.bound
        assert mark.audited == Fraction(check.audited * 1000, check.limit)
        assert mark.observed == check.observed * 1000 / check.limit
        assert mark.broken == (check.verdict == "broken")


def test_the_scale_holds_the_bound_and_ends_where_it_says(beside):
    _, scene = beside
    assert 1_200 <= scene.end_permille <= MOST_PERMILLE


@pytest.mark.parametrize("inches", [2.5, 3.3, 7])
def test_the_figure_is_as_wide_as_asked(beside, inches):
    figure = draw_beside(beside[1], inches)
    assert figure.get_size_inches()[0] == pytest.approx(inches)
    texts = {text.get_text() for text in figure.texts}
    assert "max_ttft_ms" in texts
