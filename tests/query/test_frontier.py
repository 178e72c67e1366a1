"""The frontier equals the Pareto set that a walk over all feasible cells by the scalar reference finds."""

import random
from itertools import pairwise

import pytest
from hand_grids import axes_grid, base_grid, models_grid
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import SLOTS, TRAFFIC, Naive
from strategies import grids, seeded_text

from sweep.engine.run import evaluation_of
from sweep.errors import RefusedSize, UsageFault
from sweep.grid import parse_grid
from sweep.query import fronts
from sweep.query.frontier import DEFAULT_OBJECTIVES, find_frontier

SHARE, CHUNK = "prefill_share_permille", "max_prefill_chunk_tokens"
QUANTITIES = (
    "total_utilization_permille",
    "prefill_utilization_permille",
    "decode_utilization_permille",
    "estimated_queue_delay_ms",
    "estimated_worst_ttft_ms",
    "estimated_tpot_ms",
    "declared_starvation_bound_ms",
    "peak_kv_bytes",
    "active_sequences",
    "token_capacity_per_second",
)


def behind(row, other):
    """Whether `other` dominates `row`; both are to be minimised."""
    return other != row and all(a <= b for a, b in zip(other, row, strict=True))


def pareto(naive: Naive, objectives, at=None):
    """Per vector on the frontier its count and its first cell, in the default order of the cells."""
    cells = sorted(naive.points(at, (("minimize", TRAFFIC),)), key=naive.order)
    found = {}
    for spot in cells:
        values = [naive.value(spot, name) * (-1 if sense == "maximize" else 1) for sense, name in objectives]
        found.setdefault(tuple(values), []).append(spot)
    kept = {row: spots for row, spots in found.items() if not any(behind(row, other) for other in found)}
    signs = [-1 if sense == "maximize" else 1 for sense, _ in objectives]
    points = [
        (tuple(a * b for a, b in zip(row, signs, strict=True)), naive.point(spots[0]), len(spots))
        for row, spots in kept.items()
    ]
    return points, len(cells)


def assert_answer(naive: Naive, objectives=(), at=None, asked=None):
    answer = find_frontier(naive.grid, evaluation_of(naive.grid), asked or at, objectives)
    wanted, feasible = pareto(naive, objectives or DEFAULT_OBJECTIVES, at)
    found = [(point.values, dict(point.cell.point), point.count) for point in answer.points]
    assert found == wanted, (objectives, at, naive.grid.text)
    assert answer.total == len(wanted)
    assert answer.feasible_cells == feasible
    return wanted


def names_of(naive: Naive):
    return [*(axis.name for axis in naive.grid.axes if not axis.is_choice), *QUANTITIES]


def some_objectives(naive: Naive, rng: random.Random):
    names = rng.sample(names_of(naive), rng.choice([1, 2, 3, 3, 4, 5]))
    return tuple((rng.choice(["maximize", "minimize"]), name) for name in names)


def some_fixed(naive: Naive, rng: random.Random):
    at = {axis.name: rng.choice(list(axis.labels)) for axis in naive.grid.axes[:-1] if rng.random() < 0.2}
    own = naive.grid.axes[-1].values
    scale = rng.choice([None, None, own[0], own[-1], min(own[0] + 1, 10**15)])
    return at if scale is None else at | {TRAFFIC: scale}


@pytest.mark.parametrize("block", range(6))
def test_drawn_grids(block):
    for seed in range(2_000 + block, 2_090, 6):
        naive, rng = Naive(parse_grid(seeded_text(seed, cells=60))), random.Random(seed)
        assert_answer(naive)
        assert_answer(naive, some_objectives(naive, rng), some_fixed(naive, rng))


@pytest.mark.slow
@pytest.mark.parametrize("block", range(20))
def test_many_more_drawn_grids(block):
    for seed in range(3_000 + block, 3_600, 20):
        naive, rng = Naive(parse_grid(seeded_text(seed, cells=150))), random.Random(seed)
        for _ in range(4):
            assert_answer(naive, some_objectives(naive, rng), some_fixed(naive, rng))


@given(grids(cells=40), st.randoms(use_true_random=False))
@settings(max_examples=40)
def test_any_grid(grid, rng):
    naive = Naive(grid)
    assert_answer(naive, some_objectives(naive, rng))


@pytest.mark.parametrize("make", [axes_grid, models_grid, base_grid])
@pytest.mark.parametrize("count", range(1, 6))
def test_hand_made_grids_with_one_to_five_objectives(make, count):
    naive, rng = Naive(make()), random.Random(count)
    assert assert_answer(naive)
    for _ in range(6):
        names = rng.sample(names_of(naive), count)
        assert assert_answer(naive, tuple((rng.choice(["maximize", "minimize"]), name) for name in names))


@pytest.mark.parametrize("block_cells", [1, 7, 64])
@pytest.mark.parametrize("make", [axes_grid, models_grid])
def test_blocks_of_any_size_give_the_same(monkeypatch, make, block_cells):
    monkeypatch.setattr(fronts, "BLOCK_CELLS", block_cells)
    monkeypatch.setattr(fronts, "SMALL", block_cells)
    naive = Naive(make())
    for objectives in ((), (("minimize", "estimated_tpot_ms"),), (("maximize", SHARE), ("minimize", "peak_kv_bytes"))):
        assert_answer(naive, objectives)


def test_cells_with_equal_vectors_are_one_point_with_their_count_and_the_first_of_them():
    naive = Naive(axes_grid())
    (only,) = assert_answer(naive, (("minimize", "declared_starvation_bound_ms"),))
    assert only[2] == pareto(naive, DEFAULT_OBJECTIVES)[1], "the bound is the same everywhere: every cell counts"


def test_an_axis_that_nothing_depends_on_multiplies_the_count():
    once = assert_answer(Naive(axes_grid()))
    twice = assert_answer(Naive(axes_grid(("axis", "class.chat.priority=[3, 7]"))))
    assert [count for _, _, count in twice] == [2 * count for _, _, count in once]
    assert all(point["class.chat.priority"] == 3 for _, point, _ in twice)
    ranked = assert_answer(
        Naive(axes_grid(("axis", "class.chat.priority=[3, 7]"))), (("maximize", "class.chat.priority"),)
    )
    assert ranked[0][0] == (7,)


def test_a_choice_is_fixed_but_is_no_objective():
    naive = Naive(axes_grid())
    for choice in ("bf16", "fp8"):
        assert_answer(naive, at={"precision": choice})
    with pytest.raises(UsageFault, match="no order"):
        find_frontier(naive.grid, evaluation_of(naive.grid), None, [("maximize", "precision")])


@pytest.mark.parametrize("scale", [250, 777, 1_000, 1_001])
def test_at_one_traffic_on_or_off_its_axis(scale):
    naive = Naive(axes_grid())
    assert assert_answer(naive, at={TRAFFIC: scale}, asked={"traffic": scale})
    assert_answer(naive, (("maximize", SLOTS), ("minimize", CHUNK)), {TRAFFIC: scale})


def test_nothing_feasible_is_an_answer():
    grid = axes_grid(("set", "contract.max_tpot_ms=1"))
    answer = find_frontier(grid, evaluation_of(grid))
    assert (answer.points, answer.total, answer.feasible_cells) == ((), 0, 0)
    assert answer.as_json()["total"] == 0
    assert_answer(Naive(axes_grid()), at={TRAFFIC: 10**15})


def test_integers_above_2_to_the_53_rank_exactly():
    grid = base_grid(
        ("axis", f"scheduler.kv_bytes_per_token=[{10**12 - 1}, {10**12}]"),
        ("set", f"contract.max_kv_bytes={10**18}"),
        ("axis", "class.chat.output_tokens=[200, 201]"),
        ("axis", "traffic=[250, 251, 900, 1000]"),
    )
    found = assert_answer(Naive(grid), (("minimize", "peak_kv_bytes"), ("maximize", TRAFFIC)))
    values = [values[0] for values, _, _ in found]
    assert max(values) > 2**53
    assert len(found) > 1
    assert all(a != b for a, b in pairwise(values))


def test_integers_beyond_int64_in_cells_that_are_not_feasible_change_nothing():
    objectives = (("minimize", "prefill_utilization_permille"), ("minimize", "peak_kv_bytes"), ("maximize", SLOTS))
    grid = axes_grid(
        ("axis", f"class.chat.arrival_millirps=[4_000, 5_000, {10**12}]"),
        ("axis", f"class.chat.prompt_tokens=[1_000, {10**7}]"),
        ("axis", "scheduler.token_capacity_per_second=[2, 40_000]"),
        ("axis", "class.code.v2.prompt_tokens=[4_000]"),
        ("axis", "share=[500, 600]"),
        ("axis", "traffic=[250, 1_000]"),
    )
    values = evaluation_of(grid).get(objectives[0][1])
    assert values.max() > 2**63
    assert assert_answer(Naive(grid), objectives)


def test_drawn_grids_that_need_python_ints():
    names = ("total_utilization_permille", "prefill_utilization_permille", "peak_kv_bytes")
    seen = 0
    for seed in range(4_000, 4_200):
        grid = parse_grid(seeded_text(seed, cells=30))
        if all(evaluation_of(grid).proof(name).arithmetic == "int64" for name in names):
            continue
        seen += 1
        assert_answer(Naive(grid), tuple(("maximize" if seed % 2 else "minimize", name) for name in names))
    assert seen > 5


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"limit": 0}, "--limit 0"),
        ({"objectives": [("minimize", "estimated_tpot")]}, "estimated_tpot_ms"),
        ({"objectives": [("minimize", SLOTS), ("maximize", "slots")]}, "given twice"),
        ({"at": {"nowhere": 1}}, "nowhere"),
    ],
)
def test_wrong_questions_are_refused(options, sentence):
    grid = axes_grid()
    with pytest.raises(UsageFault, match=sentence):
        find_frontier(grid, evaluation_of(grid), **options)


def test_the_limit_describes_the_first_points_and_counts_all():
    grid = models_grid()
    every = find_frontier(grid, evaluation_of(grid))
    first = find_frontier(grid, evaluation_of(grid), limit=2)
    assert every.total == first.total > 2
    assert first.points == every.points[:2]


def test_a_selection_of_too_many_cells_is_refused_before_anything_is_computed():
    huge = axes_grid(("axis", "traffic=1:1_000_000:1"), ("axis", "slots=1:1_000_000:1"))
    with pytest.raises(RefusedSize, match="another axis with --at"):
        find_frontier(huge, evaluation_of(huge))


def test_a_front_of_too_many_points_is_refused(monkeypatch):
    monkeypatch.setattr(fronts, "MAX_POINTS", 3)
    grid = models_grid()
    with pytest.raises(RefusedSize, match="more than 3 points"):
        find_frontier(grid, evaluation_of(grid), None, [("maximize", TRAFFIC), ("minimize", "estimated_tpot_ms")])
