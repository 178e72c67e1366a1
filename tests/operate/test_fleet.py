"""Fleets: the fewest replicas by the kernels are the fewest by the reference, and the cheapest is the cheapest."""

from fractions import Fraction
from itertools import product

import pytest
from hand_grids import axes_grid, base_grid, little_grid, models_grid
from hypothesis import given, settings
from hypothesis import strategies as st

from sweep.errors import RefusedSize, UsageFault
from sweep.grid import parse_grid
from sweep.operate.curve import constant, curve_of
from sweep.operate.fleet import MAX_REPLICAS, REPLICAS, SCALE, find_fleet, scale_for, with_replicas
from sweep.operate.fleet_choice import cheapest, choices_of, find_fleets
from sweep.operate.fleet_day import day_of
from sweep.operate.fleet_serving import fewest_for, largest_scale, serving_of, serving_of_grid
from sweep.query.select import select
from sweep.reference.judge import judge

GRIDS = {"base": base_grid(), "models": models_grid(), "axes": axes_grid(), "little": little_grid()}
FIXED = {"axes": {"precision": "bf16", "class.code.v2.prompt_tokens": 4_000}}


def carries(grid, replicas, scale, at=None):
    """Whether any configuration carries a scale on so many replicas, by the reference alone."""
    fixed = {grid.position(name): grid.axis(name).index(label) for name, label in (at or {}).items()}
    places = [[fixed[i]] if i in fixed else range(n) for i, n in enumerate(grid.shape[:-1])]
    return any(
        not judge({**grid.fields((*index, 0), scale), REPLICAS: replicas}, grid.class_ids).violations
        for index in product(*places)
    )


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(sorted(GRIDS)), st.integers(1, 400_000))
def test_the_answer_passes_and_one_replica_fewer_fails_by_the_reference(name, millirps):
    grid, at = GRIDS[name], FIXED.get(name)
    found = find_fleet(grid, millirps, at)
    scale = found.scale_permille
    if found.replicas is None:
        assert not carries(grid, MAX_REPLICAS, scale, at)
        return
    assert found.cell.status == "within"
    assert carries(grid, found.replicas, scale, at)
    assert found.replicas == 1 or not carries(grid, found.replicas - 1, scale, at)
    assert (found.fewer is None) == (found.replicas == 1)
    assert found.fewer is None or found.fewer.status != "within"
    assert found.carried_permille >= scale > found.fewer_carried_permille


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(sorted(GRIDS)), st.integers(1, 60))
def test_more_replicas_never_carry_less_and_n_carry_n_times_what_one_does(name, replicas):
    grid = GRIDS[name]
    fields = {**grid.fields((0,) * len(grid.axes)), REPLICAS: 1}
    one, some, more = (
        largest_scale({**fields, REPLICAS: number}, grid.class_ids) for number in (1, replicas, replicas + 1)
    )
    assert some <= more
    assert replicas * one <= some


def test_the_busiest_replica_decides():
    """5 sequences need 3 replicas of 2 slots, though 2.5 would do on average; at 4 replicas one still has 2."""
    grid = base_grid(
        ("set", "class.chat.peak_concurrency=5"),
        ("set", "class.code.v2.peak_concurrency=1"),
        ("set", "scheduler.max_active_sequences=3"),
        ("set", "traffic.scale_concurrency=false"),
    )
    found = find_fleet(grid, 4_500)
    assert (found.replicas, found.scale_permille) == (3, 1_000)
    assert found.cell.verdict.peak_concurrencies == (2, 1)
    assert found.fewer.over == {"max_active_sequences": 1}  # 3 and 1 sequences in 3 slots


def test_an_uneven_share_takes_more_and_never_more_than_all():
    grid = models_grid()
    even, uneven = (find_fleet(grid, 60_000, imbalance=Fraction(share)) for share in ("0", "0.25"))
    assert uneven.replicas > even.replicas
    assert uneven.cell.fields[SCALE] == -(-uneven.scale_permille * 5 // 4)
    alone = find_fleet(grid, 1_000, imbalance=Fraction(3))
    assert (alone.replicas, alone.cell.fields[SCALE]) == (1, alone.scale_permille)  # one replica has no busier one


def test_no_number_of_replicas_helps_where_a_single_request_is_too_long():
    found = find_fleet(base_grid(("set", "contract.max_ttft_ms=10")), 4_500)
    assert (found.replicas, found.cell, found.carried_permille) == (None, None, 0)


def test_the_replicas_of_the_grid_are_not_looked_at():
    with_axis = models_grid(("axis", "replicas=[3, 5]"))
    assert find_fleet(with_axis, 40_000).replicas == find_fleet(models_grid(), 40_000).replicas
    assert "replicas" not in [axis.name for axis in with_replicas(with_axis, 2).axes]


def test_traffic_replicas_and_their_choices_are_refused_together():
    grid = parse_grid(models_grid().text + '[[axes.n]]\nname = "two"\nset = { "traffic.replicas" = 2 }\n')
    with pytest.raises(UsageFault) as error:
        find_fleet(grid, 1_000, {"traffic": 500, "replicas": 2}, Fraction(-1))
    assert len(error.value.faults) == 4
    with pytest.raises(RefusedSize):
        find_fleet(models_grid(), 10**12, imbalance=Fraction(10**6))


@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=5), st.integers(1, 10**9))
def test_the_scale_of_a_rate_is_the_least_that_reaches_it(arrivals, millirps):
    scale = scale_for(arrivals, millirps)
    reached = [sum(-(-arrival * at // 1000) for arrival in arrivals) for at in (scale, scale - 1)]
    assert reached[0] >= millirps
    assert scale == 1 or reached[1] < millirps


def test_the_scale_of_a_rate_is_that_of_best():
    grid = models_grid()
    arrivals = [grid.base[f"class.{name}.arrival_millirps"] for name in grid.class_ids]
    for millirps in (1, 999, 8_098, 8_099, 123_456):
        text = f"{millirps // 1000}.{millirps % 1000:03}"
        assert scale_for(arrivals, millirps) == select(grid, {"rps": text}).scale_permille


TENSOR = """
[[axes.gpus]]
name = "two"
set = { "gpu.tensor_parallel" = 2 }
[[axes.gpus]]
name = "four"
set = { "gpu.tensor_parallel" = 4 }
"""


def test_what_sets_tensor_parallel_is_split_so_that_gpus_are_counted():
    """Four GPUs a replica have more KV memory, but the same steps: fewer replicas, and more GPUs."""
    grid = parse_grid(models_grid().text.replace("[axes]", "[axes]", 1) + TENSOR)
    fleets = find_fleets(choices_of({"m": grid}, {}, (), {}), 60_000)
    assert [fleet.choice.name for fleet in fleets] == ["two", "four"]
    best = cheapest(fleets)
    assert best.choice.name == "two"
    assert best.gpus == min(fleet.gpus for fleet in fleets) == 2 * best.replicas


def two_kinds():
    fast, slow = models_grid(), models_grid(("set", "step_time.base_ns=20_000_000"))
    return choices_of({"fast": fast, "slow": slow}, {}, (), {})


@settings(max_examples=12, deadline=None)
@given(st.integers(1, 500), st.integers(1, 500), st.integers(0, 400))
def test_a_lower_price_never_raises_the_cost(fast, slow, less):
    choices = two_kinds()
    before = cheapest(find_fleets(choices, 40_000, prices={"fast": Fraction(fast), "slow": Fraction(slow)}))
    after = cheapest(
        find_fleets(choices, 40_000, prices={"fast": Fraction(max(fast - less, 0)), "slow": Fraction(slow)})
    )
    assert after.cost_per_hour <= before.cost_per_hour


def test_an_unknown_price_is_a_fault_and_all_are_said():
    with pytest.raises(UsageFault) as error:
        find_fleets(two_kinds(), 40_000)
    assert len(error.value.faults) == 2
    with pytest.raises(UsageFault, match="the nearest known one is slo;"):
        find_fleets(two_kinds(), 40_000, prices={"fast": Fraction(1), "slo": Fraction(2)})
    named = choices_of({"fast": models_grid(), "slow": models_grid()}, {}, (), {"slow": "l40s"})
    found = find_fleets(named, 40_000, prices={"fast": Fraction("2.33"), "l40s": Fraction("0.79")})
    assert [fleet.gpu for fleet in found] == ["fast", "l40s"]
    assert cheapest(found) is found[1]


def test_a_spare_costs_and_carries_nothing_more():
    (plain,) = find_fleets(choices_of({"m": models_grid()}, {}, (), {}), 40_000, prices={"": Fraction("2.5")})
    (spare,) = find_fleets(choices_of({"m": models_grid()}, {}, (), {}), 40_000, prices={"": Fraction("2.5")}, spare=1)
    assert spare.replicas == plain.replicas + 1
    assert spare.cost_per_hour == plain.cost_per_hour + Fraction("2.5")
    assert spare.sizing == plain.sizing


def test_over_a_curve_each_step_has_the_fewest_of_the_same_point():
    rates = [Fraction(value) for value in ("0", "3", "40", "12.5")]
    curve = curve_of([0, 10, 20, 30], rates, 40)
    (fleet,) = find_fleets(choices_of({"m": models_grid()}, {}, (), {}), 40_000, spare=1)
    day = day_of(fleet, curve)
    fields, ids = fleet.sizing.cell.fields, models_grid().class_ids
    arrivals = [fields[f"class.{name}.arrival_millirps"] for name in ids]
    for rate, replicas in zip(rates, day.replicas, strict=True):
        scale = scale_for(arrivals, -(-rate.numerator * 1000 // rate.denominator))
        assert not judge({**fields, REPLICAS: replicas - 1, SCALE: scale}, ids).violations
        assert replicas == 2 or judge({**fields, REPLICAS: replicas - 2, SCALE: scale}, ids).violations
    assert max(day.replicas) == fleet.replicas == day.peak
    assert day.least_gpu_hours == Fraction(10 * sum(day.replicas), 3_600 * 10**9)
    assert day.standing_gpu_hours == Fraction(40 * day.peak, 3_600 * 10**9)


def test_one_replica_serves_its_exact_capacity_in_the_mix():
    grid = models_grid()
    serving = serving_of_grid(grid, "m")
    assert serving.replica_rps == Fraction(8_098 * find_fleet(grid, 1).carried_permille, 10**6)
    assert serving.prompt_tokens == Fraction(5_531 * 1_155 + 2_567 * 2_048, 8_098)
    assert serving_of(find_fleet(grid, 1).cell, "m") == serving


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 200))
def test_n_replicas_carry_n_times_the_rate_of_one(replicas):
    """What autoscaling and cost assume, by the fleet's own search at one configuration."""
    cell = find_fleet(models_grid(), 1).cell
    rate = serving_of(cell, "m").replica_rps * replicas
    down = Fraction(int(rate * 1000), 1000)
    assert fewest_for(cell, [down])[down] <= replicas


def test_a_choice_that_is_none_and_too_many_are_refused():
    with pytest.raises(UsageFault, match="--by nothing"):
        choices_of({"m": models_grid()}, {}, ("nothing",), {})
    with pytest.raises(UsageFault, match="--gpu x: no hardware choice"):
        choices_of({"m": models_grid()}, {}, (), {"x": "h100"})
    long = models_grid(("axis", "slots=1:300:1"))
    with pytest.raises(RefusedSize, match="256"):
        choices_of({"m": long}, {}, ("slots",), {})


def test_a_constant_rate_is_a_curve_of_one_step():
    assert constant(Fraction(3)).mean == constant(Fraction(3)).peak == 3
