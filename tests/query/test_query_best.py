"""`best` in any order equals a walk over all operating points by the scalar reference."""

import random

import pytest
from hand_grids import axes_grid, base_grid, models_grid
from naive import SLOTS, TRAFFIC, Naive
from strategies import seeded_text

from sweep.api import best_of_grid
from sweep.errors import RefusedSize, UsageFault
from sweep.grid import parse_grid

SHARE, CHUNK = "prefill_share_permille", "max_prefill_chunk_tokens"
HAND = {"axes": axes_grid, "models": models_grid, "one cell": base_grid}
ORDERS = (
    (),
    (("maximize", TRAFFIC),),
    (("minimize", TRAFFIC),),
    (("maximize", SLOTS), ("minimize", CHUNK)),
    (("minimize", "estimated_worst_ttft_ms"),),
    (("minimize", "estimated_tpot_ms"), ("maximize", TRAFFIC), ("minimize", SHARE)),
    (("maximize", TRAFFIC), ("minimize", "peak_kv_bytes")),
    (("maximize", "total_utilization_permille"), ("maximize", SHARE)),
    (("minimize", "declared_starvation_bound_ms"),),
    (("maximize", "active_sequences"), ("minimize", TRAFFIC)),
)


def assert_order(naive: Naive, at=None, objectives=(), on_grid=False, asked=None):
    """The first 1, 3 and 10 000 points of the engine are the reference's."""
    if on_grid and (at or {}).get(TRAFFIC, naive.grid.axes[-1].values[0]) not in naive.grid.axes[-1].values:
        with pytest.raises(UsageFault, match=r"--on-grid: .* is no value of the traffic axis; "):
            best_of_grid(naive.grid, asked or at, objectives, 1, on_grid)
        return []
    wanted = [naive.point(spot) for spot in naive.points(at, objectives, on_grid)]
    for top in (1, 3, 10_000):
        answer = best_of_grid(naive.grid, asked or at, objectives, top, on_grid)
        assert [dict(cell.point) for cell in answer.top] == wanted[:top], (at, objectives, on_grid, naive.grid.text)
        assert answer.feasible == bool(wanted)
        assert (dict(answer.cell.point) if answer.cell else None) == (wanted[0] if wanted else None)
        own = [naive.point(spot) for spot in naive.points(at, objectives, True)]
        assert (dict(answer.on_grid.point) if answer.on_grid else None) == (own[0] if own else None)
    return wanted


def some_fixed(naive: Naive, seed: int) -> dict:
    """A few axes fixed at values that they have, traffic also off its axis."""
    rng = random.Random(seed)
    free = [axis for axis in naive.grid.axes[:-1] if len(axis) > 1]
    at = {axis.name: rng.choice(list(axis.labels)) for axis in free if rng.random() < 0.4}
    own = naive.grid.axes[-1].values
    scale = rng.choice([None, own[0], own[-1], min(own[0] + 1, 10**15), max(1, own[-1] // 2), 10**15])
    return at if scale is None else at | {TRAFFIC: scale}


@pytest.mark.parametrize("block", range(6))
def test_drawn_grids_default_order_fixed_axes_and_own_cells(block):
    for seed in range(block, 90, 6):
        naive = Naive(parse_grid(seeded_text(seed, cells=40)))
        assert_order(naive)
        assert_order(naive, some_fixed(naive, seed))
        assert_order(naive, some_fixed(naive, seed + 1), on_grid=True)


@pytest.mark.parametrize("block", range(4))
def test_drawn_grids_objectives(block):
    for seed in range(100 + block, 148, 4):
        naive = Naive(parse_grid(seeded_text(seed, cells=40)))
        rng = random.Random(seed)
        assert_order(naive, some_fixed(naive, seed), ORDERS[seed % len(ORDERS)], rng.random() < 0.3)
        names = [*(axis.name for axis in naive.grid.axes if not axis.is_choice), "peak_kv_bytes", "kv_bytes_per_token"]
        mixed = tuple((rng.choice(["maximize", "minimize"]), rng.choice(names)) for _ in range(rng.choice([1, 2, 3])))
        assert_order(naive, None, mixed)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(20))
def test_many_more_drawn_grids(block):
    for seed in range(1_000 + block, 1_800, 20):
        naive = Naive(parse_grid(seeded_text(seed, cells=80)))
        assert_order(naive)
        for objectives in (ORDERS[seed % len(ORDERS)], ORDERS[seed // 7 % len(ORDERS)]):
            assert_order(naive, some_fixed(naive, seed), objectives, seed % 3 == 0)


@pytest.mark.parametrize("objectives", ORDERS, ids=lambda order: " ".join(f"{s[:3]}:{n}" for s, n in order) or "none")
def test_hand_made_grids_in_every_order(objectives):
    for make in HAND.values():
        naive = Naive(make())
        found = assert_order(naive, objectives=objectives)
        assert found, "a hand-made grid has feasible points"


def test_the_scale_is_exact_between_and_beyond_the_values_of_the_axis():
    naive = Naive(axes_grid())
    first = assert_order(naive)[0]
    own = list(naive.grid.axes[-1].values)
    assert first[TRAFFIC] not in own
    assert own[0] < first[TRAFFIC] < own[-1]
    beyond = Naive(axes_grid(("axis", "traffic=[1, 2, 3]")))
    assert assert_order(beyond)[0] == first


def test_ties_fall_to_more_slots_then_larger_chunk_then_lower_share_then_the_first_index():
    free = [("set", f"contract.{name}=86_400_000") for name in ("max_ttft_ms", "max_queue_delay_ms")]
    grid = base_grid(
        ("set", "traffic.scale_concurrency=false"),
        *free,
        ("axis", "share=[590, 600, 605]"),
        ("axis", "chunk=[16, 32]"),
        ("axis", "slots=[64, 100, 200]"),
        ("axis", "class.chat.priority=[3, 7]"),
        ("set", "contract.max_total_utilization_permille=300"),
    )
    found = assert_order(Naive(grid))
    assert len({point[TRAFFIC] for point in found}) == 1, "every configuration carries the same traffic"
    assert found[0] == {SHARE: 590, CHUNK: 32, SLOTS: 200, "class.chat.priority": 3, TRAFFIC: found[0][TRAFFIC]}
    assert found[1]["class.chat.priority"] == 7
    assert found[2][SHARE] == 600


def test_an_axis_is_fixed_by_alias_path_dimension_or_text_with_a_unit():
    naive = Naive(axes_grid())
    at = {SHARE: 500, SLOTS: 64, "precision": "fp8", "class.code.v2.prompt_tokens": 1_000}
    asked = {"share": "50 %", "scheduler.max_active_sequences": "64", "precision": "fp8"}
    assert_order(naive, at, asked=asked | {"class__code__v2__prompt_tokens": 1_000})
    assert_order(naive, {TRAFFIC: 777}, asked={"traffic": "777"})
    assert_order(naive, {TRAFFIC: 1_000}, asked={"traffic": "100 %"})


def test_traffic_off_its_axis_has_no_own_cell():
    answer = best_of_grid(axes_grid(), {"traffic": 777})
    assert answer.cell.point[TRAFFIC] == 777
    assert answer.on_grid is None
    with pytest.raises(UsageFault, match=r"^--on-grid: 777 is no value of the traffic axis; .*\.$"):
        best_of_grid(axes_grid(), {"traffic": 777}, on_grid=True)


def test_an_axis_that_begins_above_the_largest_scale_says_what_that_is():
    exact = best_of_grid(axes_grid()).cell
    beyond = axes_grid(("axis", "traffic=[900_000, 1_000_000]"))
    for question in ({"on_grid": True}, {"objectives": (("minimize", SLOTS),)}):
        answer = best_of_grid(beyond, **question)
        assert not answer.feasible
        assert answer.as_json()["obstacles"]["carried"] == dict(exact.point)


def test_how_many_replicas_for_my_traffic():
    naive = Naive(base_grid(("axis", "replicas=1:12:1")))
    wanted = assert_order(naive, {TRAFFIC: 5_000}, (("minimize", "replicas"),))[0]
    assert 1 < wanted["replicas"] < 12
    assert not naive.points({TRAFFIC: 5_000, "replicas": wanted["replicas"] - 1})


def test_maximising_traffic_by_any_of_its_names_is_exact():
    grid = axes_grid()
    wanted = best_of_grid(grid).cell.point
    for name in ("traffic", TRAFFIC, "traffic.scale_permille", "max_traffic_scale_permille"):
        assert best_of_grid(grid, objectives=[("maximize", name)]).cell.point == wanted


def test_objectives_that_leave_int64_in_some_cells_are_ranked_exactly():
    grid = base_grid(
        ("set", "traffic.scale_concurrency=false"),
        ("axis", "scheduler.kv_bytes_per_token=[1, 131_072, 1_000_000_000_000]"),
        ("axis", "class.chat.peak_concurrency=[1, 2, 24, 1_000_000]"),
        ("axis", "class.code.v2.output_tokens=[1, 10, 800, 10_000_000]"),
    )
    for sense in ("minimize", "maximize"):
        assert assert_order(Naive(grid), objectives=((sense, "peak_kv_bytes"), ("minimize", "estimated_tpot_ms")))


def test_wrong_questions_are_refused_all_at_once():
    grid = axes_grid()
    with pytest.raises(UsageFault, match="at least 1"):
        best_of_grid(grid, top=0)
    with pytest.raises(UsageFault) as error:
        best_of_grid(grid, {"slotz": 4, "share": 301, "traffic": 0})
    assert len(error.value.faults) == 3
    with pytest.raises(UsageFault) as error:
        best_of_grid(grid, objectives=[("maximize", "precision"), ("minimize", "estimated_tpot")])
    assert "no order" in error.value.faults[0]
    assert "estimated_tpot_ms" in error.value.faults[1]
    with pytest.raises(UsageFault, match="fixed twice"):
        best_of_grid(grid, {"share": 300, SHARE: 300})


def test_a_question_that_would_walk_a_huge_grid_is_refused_before_it_starts():
    wide = base_grid(("axis", "share=1:900:1"), ("axis", "slots=1:900_000:1"), ("axis", "traffic=1:1_000_000:1"))
    with pytest.raises(RefusedSize, match="configurations"):
        best_of_grid(wide, objectives=[("maximize", TRAFFIC), ("minimize", "estimated_tpot_ms")])
    assert best_of_grid(wide).feasible, "the default order is searched"
    long = base_grid(("axis", "share=1:900:1"), ("axis", "slots=1:900:1"), ("axis", "traffic=1:10_000_000:1"))
    with pytest.raises(RefusedSize, match="cells"):
        best_of_grid(long, objectives=[("minimize", "estimated_tpot_ms")])
    assert best_of_grid(long, {"share": 600}).feasible, "the exact order does not walk the traffic axis"
