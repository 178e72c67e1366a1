"""Where nothing is feasible: the smallest rise of each bound, against raising it until the reference agrees."""

import pytest
from hand_grids import BASE, axes_grid, base_grid, little_grid, models_grid
from naive import TRAFFIC, Naive
from strategies import seeded_text

from sweep.api import best_of_grid
from sweep.grid import parse_grid
from sweep.reference import judge

STEPS = 3_000
DECLARED = {TRAFFIC: 1_000}


def assert_changes(naive: Naive, at=None, steps=STEPS) -> dict:
    """The engine's changes are the reference's: per bound the value and the first point in the default order."""
    wanted = naive.smallest_changes(at, steps)
    changes = best_of_grid(naive.grid, at).smallest_changes
    found = {change.bound: (change.to_value, dict(change.cell.point)) for change in changes}
    slots = found.pop("max_active_sequences", None)
    beyond = {
        change.bound for change in changes if change.bound not in wanted and change.change > steps
    }  # further than the step-by-step search looks
    found = {bound: change for bound, change in found.items() if bound not in beyond}
    assert found == {bound: (to, naive.point(spot)) for bound, (to, spot) in wanted.items()}, naive.grid.text
    relative = [change.relative for change in changes]
    assert relative == sorted(relative), "the relatively smallest change comes first"
    for change in changes:
        assert change.cell.bound(change.bound) == change.from_value < change.to_value
    if slots is not None:
        assert_slots(naive, *slots)
    return found


def assert_slots(naive: Naive, to: int, point: dict) -> None:
    """More batch slots admit the point."""
    index = [axis.index(point[axis.name]) for axis in naive.grid.axes[:-1]]
    fields = naive.grid.fields((*index, 0), scale_permille=point[TRAFFIC])
    assert judge({**fields, "scheduler.max_active_sequences": to}, naive.grid.class_ids).violations == 0
    assert judge({**fields, "scheduler.max_active_sequences": to - 1}, naive.grid.class_ids).violations != 0


def test_drawn_grids_where_nothing_is_feasible():
    admitted = 0
    for seed in range(400, 500):
        naive = Naive(parse_grid(seeded_text(seed, cells=30)))
        if not naive.points():
            admitted += len(assert_changes(naive, steps=100))
    assert admitted >= 6, "some of these grids are one bound away"


@pytest.mark.slow
@pytest.mark.parametrize("block", range(10))
def test_many_more_drawn_grids_where_nothing_is_feasible(block):
    for seed in range(2_000 + block, 2_800, 10):
        naive = Naive(parse_grid(seeded_text(seed, cells=60)))
        if not naive.points():
            assert_changes(naive, steps=2_000)


TIGHT = {
    "max_total_utilization_permille": (100, 180),
    "max_prefill_utilization_permille": (100, 250),
    "max_decode_utilization_permille": (70, 75),
    "max_queue_delay_ms": (4, 5),
    "max_ttft_ms": (184, 185),
    "max_tpot_ms": (19, 20),
    "max_starvation_ms": (79, 80),
    "max_kv_bytes": (1, 8_808_038_400),
}


@pytest.mark.parametrize("bound", TIGHT)
def test_a_bound_below_its_figure_rises_to_the_figure(bound):
    value, figure = TIGHT[bound]
    changes = best_of_grid(base_grid(("set", f"contract.{bound}={value}")), DECLARED).smallest_changes
    assert [(change.bound, change.from_value, change.to_value) for change in changes] == [(bound, value, figure)]


def test_too_few_batch_slots_rise_to_the_active_sequences():
    changes = best_of_grid(base_grid(("set", "scheduler.max_active_sequences=31")), DECLARED).smallest_changes
    assert [(change.bound, change.to_value) for change in changes] == [("max_active_sequences", 32)]


def test_two_broken_bounds_are_no_single_change_away():
    grid = base_grid(("set", "contract.max_ttft_ms=184"), ("set", "contract.max_tpot_ms=19"))
    answer = best_of_grid(grid, DECLARED)
    assert answer.smallest_changes == ()
    assert answer.as_json()["smallest_change"] is None


def test_no_change_admits_where_admission_control_is_off_or_every_cell_is_invalid():
    off = "[workload]\nadmission_control_enabled = false\n"
    assert best_of_grid(parse_grid(BASE + off)).smallest_changes == ()
    assert best_of_grid(base_grid(("set", "scheduler.max_prefill_chunk_tokens=481"))).smallest_changes == ()


def test_a_utilisation_of_1000_permille_is_not_declared_away():
    grid = base_grid(
        ("set", "contract.max_total_utilization_permille=1"), ("set", "class.chat.arrival_millirps=30_000")
    )
    assert all(
        change.bound != "max_total_utilization_permille" for change in best_of_grid(grid, DECLARED).smallest_changes
    )


def test_the_first_point_in_the_default_order_is_named_among_equal_rises():
    grid = axes_grid(
        ("set", "contract.max_starvation_ms=79"), ("set", "class.code.v2.peak_concurrency=1"), ("axis", "traffic=[200]")
    )
    found = assert_changes(Naive(grid))
    assert found["max_starvation_ms"][0] == 80
    assert found["max_starvation_ms"][1]["max_active_sequences"] == 64


@pytest.mark.parametrize("bound", TIGHT)
def test_hand_made_axes_with_one_bound_out_of_reach(bound):
    naive = Naive(axes_grid(("set", f"contract.{bound}=1")))
    for at in ({TRAFFIC: 999, "precision": "bf16"}, {TRAFFIC: 1_001, "precision": "bf16", "share": 600}):
        own = {{"share": "prefill_share_permille"}.get(name, name): label for name, label in at.items()}
        assert not naive.points(own)
        assert bound in assert_changes(naive, own)


@pytest.mark.parametrize("bound", ["max_ttft_ms", "max_tpot_ms", "max_queue_delay_ms", "max_starvation_ms"])
def test_hand_made_models_with_one_bound_out_of_reach(bound):
    naive = Naive(models_grid(("set", f"contract.{bound}=1")))
    assert not naive.points(DECLARED)
    assert assert_changes(naive, DECLARED, steps=300)


@pytest.mark.parametrize("arrivals", [20, 40, 60, 70, 77])
def test_little_s_law_a_longer_token_time_admits_more_sequences_which_make_it_longer(arrivals):
    """At 77 requests/s each ms more admits what makes 0.96 ms more: the bound has a long way to its own figure."""
    overrides = [
        ("set", "contract.max_tpot_ms=1"),
        ("set", "contract.max_ttft_ms=3_000"),
        ("set", "contract.max_decode_utilization_permille=999"),
        ("set", "scheduler.iteration_time_ms=1"),
        ("set", "scheduler.max_prefill_chunk_tokens=10"),
        ("set", f"class.chat.arrival_millirps={arrivals * 1000}"),
        ("set", "class.chat.prompt_tokens=1"),
    ]
    naive = Naive(little_grid(*overrides))
    assert not naive.points(DECLARED)
    found = assert_changes(naive, DECLARED)
    start = judge(naive.grid.fields((0, 0, 0, 0)), naive.grid.class_ids).figures["estimated_tpot_ms"]
    assert found["max_tpot_ms"][0] > start, "the figure at the given bound is not enough"


def test_little_s_law_a_token_time_that_never_catches_up_is_no_answer():
    overrides = [
        ("set", "contract.max_tpot_ms=1"),
        ("set", "contract.max_ttft_ms=3_000"),
        ("set", "scheduler.iteration_time_ms=1"),
        ("set", "scheduler.max_prefill_chunk_tokens=10"),
        ("set", "class.chat.arrival_millirps=40_000"),
        ("set", "class.chat.burst_permille=2_100"),
        ("set", "class.chat.prompt_tokens=1"),
        ("set", "scheduler.max_active_sequences=1_000_000"),
    ]
    naive = Naive(little_grid(*overrides))
    assert assert_changes(naive, DECLARED, steps=5_000) == {}


def test_little_s_law_a_longer_first_token_time_may_break_the_batch_slots():
    busy = (
        ("set", "contract.max_ttft_ms=100"),
        ("set", "class.chat.arrival_millirps=20_000"),
        ("set", "class.chat.prompt_tokens=100"),
    )
    enough = Naive(little_grid(*busy))
    found = assert_changes(enough, DECLARED)
    fields = enough.grid.fields((0, 0, 0, 0)) | {"contract.max_ttft_ms": found["max_ttft_ms"][0]}
    present = judge(fields, enough.grid.class_ids).figures["active_sequences"]
    assert present > judge(enough.grid.fields((0, 0, 0, 0)), enough.grid.class_ids).figures["active_sequences"]
    full = Naive(little_grid(*busy, ("set", f"scheduler.max_active_sequences={present - 1}")))
    assert assert_changes(full, DECLARED) == {}
