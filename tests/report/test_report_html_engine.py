"""The page's arithmetic against the kernels that it was made from, on random grids, in node."""

import random

import numpy as np
import pytest
from hand_grids import base_grid, models_grid
from html_node import asked, node
from strategies import seeded_text

from sweep.engine.catalogue import FIGURES as FIGURE_TABLE
from sweep.engine.largest import largest_point
from sweep.engine.run import evaluation_of
from sweep.grid import parse_grid

pytestmark = pytest.mark.skipif(node() is None, reason="needs node, to run the page's JavaScript")

GRIDS = 120
FIGURES = [figure.node for figure in FIGURE_TABLE]


@pytest.fixture(scope="module")
def grids():
    """Calm, wild and aimed grids: about a third has values beyond 2^53, many beyond 2^63."""
    return [parse_grid(seeded_text(seed, cells=60)) for seed in range(GRIDS)]


@pytest.fixture(scope="module")
def answers(grids):
    return asked("values", grids)


def differences(grid, answer):
    """Nodes whose values in JavaScript are not those of Python."""
    ev = evaluation_of(grid)
    for name in ev.graph:
        own = np.asarray(ev.get(name))
        found = answer[name]
        shape = [n if axis in found["axes"] else 1 for axis, n in enumerate(grid.shape)]
        values = np.array([int(value) for value in found["values"]], dtype=object).reshape(shape)
        if not (values == own.astype(object)).all():
            yield name


def test_every_node_has_the_values_of_the_kernels(grids, answers):
    wrong = {grid.name: list(differences(grid, answer)) for grid, answer in zip(grids, answers, strict=True)}
    assert {name: nodes for name, nodes in wrong.items() if nodes} == {}


def test_every_proof_has_the_hull_of_the_interval_run(grids, answers):
    for grid, answer in zip(grids, answers, strict=True):
        ev = evaluation_of(grid)
        for name, found in answer.items():
            peak = ev.proof(name).peak
            if found["hull"] is not None:
                assert (name, *found["hull"]) == (name, str(peak.lo), str(peak.hi))


def test_the_grids_reach_both_kinds_of_number(grids):
    """Else the comparisons would say little about BigInts."""
    beyond = sum(any(ev.proof(name).peak.hi >= 2**53 for name in FIGURES) for ev in map(evaluation_of, grids))
    assert 20 < beyond < GRIDS - 20


def test_walking_and_boxes_find_the_largest_point(grids):
    more = [*grids, *(parse_grid(seeded_text(seed, cells=2_000)) for seed in range(2_000, 2_020))]
    for grid, answer in zip(more, asked("largest", more), strict=True):
        best = largest_point(evaluation_of(grid))
        wanted = None if best is None else [list(best.index), best.scale_permille]
        assert answer == {"walked": wanted, "boxed": wanted}


@pytest.mark.parametrize("wrong", [("Math.ceil", "Math.floor"), (" <= x0", " < x0"), ("* 1000", "* 1001")])
def test_the_self_check_of_the_page_sees_a_wrong_formula(wrong):
    (right,), (found,) = asked("check", [models_grid()]), asked("check", [models_grid()], wrong=wrong)
    assert right["differing"] == 0 < found["differing"] <= right["checked"] == found["checked"]


def test_divisions_of_doubles_are_exact_below_two_to_the_53():
    """At the ends, where a quotient comes as near to an integer as it may (the proof is in `dialects`)."""
    choose = random.Random(0)
    pairs = []
    for _ in range(20_000):
        b = max(1, choose.getrandbits(choose.randrange(1, 53)))
        a = choose.choice([2**53 - 1, choose.getrandbits(choose.randrange(1, 54))])
        a = min(a // b * b + choose.choice([-1, 0, 1, b - 1]), 2**53 - 1) * choose.choice([1, -1])
        pairs.append((a, b))
    (found,) = asked("divisions", [base_grid()], [[[str(a), str(b)] for a, b in pairs]])
    assert [list(map(int, one)) for one in found] == [[a // b, -(-a // b)] for a, b in pairs]
