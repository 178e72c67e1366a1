"""`relax` against fresh runs with `--set`, and its smallest loosenings against raising a bound until one helps."""

from collections import Counter
from random import Random

import pytest
from declared import BOUNDS
from hand_grids import axes_grid, base_grid, little_grid, models_grid
from naive import TRAFFIC, Naive
from strategies import seeded_text

from sweep.engine.run import evaluation_of
from sweep.grid import parse_grid
from sweep.grid.load import grid_with
from sweep.query.relax import AXIS_STEPS, relax
from sweep.records.wording import CLAIM
from sweep.reference import judge

CONTRACT = [path.removeprefix("contract.") for path in BOUNDS if path.startswith("contract.")]
STEPS = 400
LITTLE = ("max_ttft_ms", "max_tpot_ms")


def asked(grid, at=None):
    return relax(grid, evaluation_of(grid), at)


def outcome(reached):
    """The traffic scale and the point of a step."""
    return reached.scale_permille, None if reached.cell is None else dict(reached.cell.point)


def truth(naive, at=None):
    """The same by the reference, over every configuration."""
    points = naive.points(at or {})
    return (points[0].scale, naive.point(points[0])) if points else (0, None)


def assert_answer(grid, at=None):
    """Every step of every bound and axis is what a fresh grid says; how many were looked at."""
    naive = Naive(grid)
    answer = asked(grid, at)
    now = truth(naive, at)
    assert (answer.scale_permille, None if answer.cell is None else dict(answer.cell.point)) == now, grid.text
    looked_at = sum(assert_bound(naive, answer, relief, at) for relief in answer.bounds)
    assert [relief.name for relief in answer.bounds] == CONTRACT
    assert len(answer.axes) == (0 if now[1] is None else sum(not axis.is_choice for axis in grid.axes[:-1]))
    return looked_at + sum(assert_axis(naive, answer, relief, at) for relief in answer.axes)


def assert_bound(naive, answer, relief, at):
    grid, bound = naive.grid, relief.name
    path = f"contract.{bound}"
    if any(path in axis.fields for axis in grid.axes):
        assert relief.note
        assert set(relief.steps.values()) == {None}
        return 0
    memory = grid.base[path] == "from-memory"
    point = answer.cell
    assert relief.now == ((point and point.verdict.max_kv_bytes) if memory else grid.base[path])
    upper = BOUNDS[path][1]
    wanted = {"without": upper}
    if relief.now is not None:
        wanted["one_unit"] = min(relief.now + 1, upper)
        wanted["ten_percent"] = min(relief.now + max(1, -(-relief.now // 10)), upper)
    looked_at = 0
    for step in ("one_unit", "ten_percent", "without", "smallest"):
        reached = relief.steps[step]
        if reached is None:
            assert step == "smallest" or step not in wanted
            continue
        assert reached.to == wanted.get(step, reached.to)
        assert reached.change == (None if relief.now is None else reached.to - relief.now)
        fresh = Naive(grid_with(grid, [("set", f"{path}={reached.to}")]))
        assert outcome(reached) == truth(fresh, at), (bound, step, reached.to, grid.text)
        assert reached.gain_permille == reached.scale_permille - answer.scale_permille
        looked_at += 1
    found = relief.steps["smallest"]
    assert_smallest(naive, answer, relief, at, None if found is None else found.to, upper)
    return looked_at


def assert_smallest(naive, answer, relief, at, found, upper):
    """No smaller loosening admits the next scale to any configuration."""
    grid, target, path = naive.grid, answer.next_scale_permille, f"contract.{relief.name}"
    if target is None:
        assert found is None
        return
    fields = [{**grid.fields((*c, 0)), "traffic.scale_permille": target} for c in naive.configurations(at or {})]

    def helps(value):
        return any(judge({**one, path: value}, grid.class_ids).violations == 0 for one in fields)

    low = 0 if relief.now is None else relief.now
    little = any(grid.from_slo(class_id) for class_id in grid.class_ids)
    if little and relief.name in LITTLE:
        values = range(low + 1, min(low + STEPS, upper) + 1)
        least = next((value for value in values if helps(value)), None)
        if found is not None and found > values.stop:
            assert helps(found)
            assert not helps(found - 1)
            assert least is None
            return
    elif low >= upper or not helps(upper):
        least = None
    else:
        high = upper
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if helps(middle) else (middle, high)
        least = high
    assert found == least, (relief.name, grid.text)


def assert_axis(naive, answer, relief, at):
    axis = naive.grid.axis(relief.name)
    index = axis.index(answer.cell.point[axis.name])
    assert relief.now == axis.values[index]
    for step, place in zip(AXIS_STEPS, (index - 1, index, index + 1), strict=True):
        reached = relief.steps[step]
        if not 0 <= place < len(axis):
            assert reached is None
            continue
        assert (reached.to, reached.change) == (axis.values[place], axis.values[place] - relief.now)
        assert outcome(reached) == truth(naive, {**(at or {}), axis.name: axis.values[place]})
        assert reached.gain_permille == reached.scale_permille - answer.scale_permille
    assert outcome(relief.steps["same"])[1] == dict(answer.cell.point)
    return 1


def test_drawn_grids():
    looked_at = sum(assert_answer(parse_grid(seeded_text(seed, cells=16))) for seed in range(600, 615))
    assert looked_at > 300


@pytest.mark.slow
@pytest.mark.parametrize("block", range(10))
def test_many_more_drawn_grids(block):
    for seed in range(10_000 + block, 11_500, 10):
        assert_answer(parse_grid(seeded_text(seed, cells=40)))


@pytest.mark.parametrize("make", [axes_grid, models_grid, base_grid, little_grid])
def test_hand_made_grids(make):
    assert assert_answer(make())


@pytest.mark.parametrize("at", [{TRAFFIC: 900}, {TRAFFIC: 1_900}, {"precision": "bf16"}, {TRAFFIC: 10**6}])
def test_what_is_fixed_stays_fixed(at):
    assert assert_answer(axes_grid(), at)


def test_a_fixed_axis_is_still_asked_for_its_next_value():
    answer = asked(axes_grid(), {"slots": 32})
    slots = next(relief for relief in answer.axes if relief.name == "max_active_sequences")
    assert [slots.steps[step].to for step in AXIS_STEPS] == [8, 32, 64]


def test_traffic_that_is_carried_already_has_no_next_step():
    answer = asked(axes_grid(), {TRAFFIC: 900})
    assert answer.scale_permille == 900
    assert answer.next_scale_permille is None
    assert {relief.steps["smallest"] for relief in answer.bounds} == {None}


def latency_bound_grid(seed):
    """A feasible grid by Little's law whose largest point a latency bound, the slots or KV stops; memory or not."""
    pick = Random(seed)
    if pick.random() < 0.3:
        memory = pick.randrange(17_000_000_000, 24_000_000_000)
        return models_grid(
            ("set", f"gpu.memory_bytes={memory}"),
            ("set", "gpu.activation_bytes=0"),
            ("set", "gpu.framework_overhead_bytes=0"),
            ("set", f"gpu.activation_bytes_per_chunk_token={pick.choice([0, 100_000])}"),
            ("axis", "chunk=[256, 512]"),
            ("axis", "share=[800, 900]"),
        )
    if pick.random() < 0.5:  # TTFT: a slow prefill and little time to queue
        return little_grid(
            ("set", f"contract.max_ttft_ms={pick.randrange(190, 225)}"),
            ("set", f"class.chat.burst_permille={pick.choice([1_000, 3_000])}"),
            ("axis", "share=[580, 600]"),
            ("axis", "chunk=[400, 480]"),
            ("axis", f"slots=[{pick.randrange(20, 60)}, {pick.randrange(60, 200)}]"),
        )
    return little_grid(  # TPOT: short prompts, and steps so short that decode alone decides
        ("set", f"contract.max_tpot_ms={pick.randrange(2, 6)}"),
        ("set", f"contract.max_ttft_ms={pick.choice([30, 300])}"),
        ("set", "contract.max_decode_utilization_permille=999"),
        ("set", "scheduler.iteration_time_ms=1"),
        ("set", f"class.chat.arrival_millirps={pick.randrange(10_000, 70_000)}"),
        ("set", "class.chat.prompt_tokens=1"),
        ("set", "class.code.v2.prompt_tokens=10"),
        ("axis", "share=[550, 600]"),
        ("axis", "chunk=[10, 20]"),
        ("axis", f"slots=[{pick.randrange(10, 60)}, {pick.randrange(60, 200)}]"),
    )


def test_latency_bounds_and_memory_that_stop_the_largest_point():
    stopped = Counter()
    for seed in range(16):
        grid = latency_bound_grid(seed)
        assert_answer(grid)
        answer = asked(grid)
        stopped.update(r.name for r in answer.bounds if answer.cell is not None and r.steps["smallest"] is not None)
    assert stopped["max_ttft_ms"] >= 3, stopped
    assert stopped["max_tpot_ms"] >= 3, stopped
    assert stopped["max_kv_bytes"] >= 3, stopped


def test_little_s_law_a_looser_latency_bound_may_carry_less():
    answer = asked(little_grid())
    gains = {relief.name: relief.steps["without"].gain_permille for relief in answer.bounds}
    assert gains["max_ttft_ms"] < 0
    assert gains["max_tpot_ms"] < 0


def test_from_zero_the_smallest_loosening_is_the_smallest_change():
    grid = base_grid(("set", "contract.max_tpot_ms=19"))
    answer = asked(grid)
    assert (answer.cell, answer.scale_permille, answer.next_scale_permille, answer.axes) == (None, 0, 1_000, ())
    found = {relief.name: relief.steps["smallest"] for relief in answer.bounds}
    assert found.pop("max_tpot_ms").to == 20
    assert set(found.values()) == {None}
    assert assert_answer(grid)


@pytest.mark.parametrize("bound", CONTRACT)
def test_from_zero_on_hand_made_axes(bound):
    grid = axes_grid(("set", f"contract.{bound}=1"))
    assert_answer(grid)
    assert_answer(grid, {TRAFFIC: 900})


@pytest.mark.parametrize("bound", ["max_ttft_ms", "max_tpot_ms", "max_queue_delay_ms", "max_starvation_ms"])
def test_from_zero_on_hand_made_models(bound):
    assert_answer(models_grid(("set", f"contract.{bound}=1")))
    assert_answer(little_grid(("set", f"contract.{bound}=1")))


def test_a_bound_that_is_an_axis_or_in_its_choices_is_left_out():
    answer = asked(axes_grid(("axis", "contract.max_tpot_ms=[20, 30]")))
    notes = {relief.name: relief.note for relief in answer.bounds if relief.note}
    assert notes["max_tpot_ms"] == "is an axis; see the axes table"
    assert "precision" in notes["max_ttft_ms"]
    assert "contract.max_tpot_ms" in [relief.name for relief in answer.axes]


def test_a_bound_at_its_record_s_end_gains_nothing():
    answer = asked(base_grid(("set", "contract.max_decode_utilization_permille=999")))
    relief = next(relief for relief in answer.bounds if relief.name == "max_decode_utilization_permille")
    assert {relief.steps[step].change for step in ("one_unit", "ten_percent", "without")} == {0}
    assert relief.steps["smallest"] is None


def test_the_keys_stay():
    answer = asked(models_grid()).as_json()
    assert list(answer) == [
        "feasible",
        "point",
        "traffic_scale_permille",
        "next_scale_permille",
        "bounds",
        "axes",
        "claim",
    ]
    assert list(answer["bounds"][0]) == ["bound", "now", "note", "one_unit", "ten_percent", "without", "smallest"]
    assert list(answer["axes"][0]) == ["axis", "now", "note", "down", "same", "up"]
    step = answer["bounds"][0]["one_unit"]
    assert list(step) == ["to", "change", "traffic_scale_permille", "gain_permille", "point"]
    assert answer["claim"] == CLAIM
