"""Cost: golden answers, a case by hand, and what an idle GPU does to a token."""

import json
from fractions import Fraction
from pathlib import Path

import pytest
from hand_grids import models_grid
from hypothesis import given
from hypothesis import strategies as st

import sweep
from sweep.errors import InputFault, RecordFault, UsageFault
from sweep.operate.cost import HostedPrices, cost_of
from sweep.operate.cost_compare import HOSTED, SELF_HOST, money
from sweep.operate.cost_table import cost_table, table_csv
from sweep.operate.curve import curve_of
from sweep.operate.fleet import find_fleet
from sweep.operate.fleet_serving import Serving, serving_of_grid

GOLDEN = Path(__file__).parents[3] / "shared" / "golden" / "capstone.json"


@pytest.mark.skipif(not GOLDEN.exists(), reason="the golden answers are not beside the project")
@pytest.mark.parametrize("exact", [True, False])
def test_the_golden_answers(exact):
    cases = json.loads(GOLDEN.read_text(), parse_float=Fraction if exact else float)["build_vs_buy"]
    assert cases
    for case in cases:
        expect = case.pop("expect")
        found = sweep.build_vs_buy(**case)
        assert Fraction(found.shown) == Fraction(str(float(expect["self_hosted_cost_per_million_tokens"])))
        assert found.recommendation == expect["recommendation"]


def test_the_capacity_model_s_golden_answers():
    if not GOLDEN.exists():
        pytest.skip("the golden answers are not beside the project")
    for case in json.loads(GOLDEN.read_text())["capacity_model"]:
        assert sweep.capacity_model(case["cache_budget_bytes"], case["bytes_per_request"]) == case["expect"]


def test_only_strictly_cheaper_is_cheaper():
    assert sweep.build_vs_buy(36, 1_000, "0.5", 20).self_hosted_cost_per_million_tokens == 20
    assert sweep.build_vs_buy(36, 1_000, "0.5", 20).recommendation == HOSTED
    assert sweep.build_vs_buy("35.9999", 1_000, "0.5", 20).recommendation == SELF_HOST


def test_plain_figures_out_of_bounds():
    with pytest.raises(RecordFault) as error:
        sweep.build_vs_buy("x", -1, None, True)
    assert len(error.value.faults) == 4
    with pytest.raises(UsageFault) as error:
        sweep.build_vs_buy(1, 0, 2, 1)
    assert len(error.value.faults) == 2


def test_money_rounds_half_to_even():
    assert [money(Fraction(n, 20_000)) for n in (1, 3, 5)] == ["0.0000", "0.0002", "0.0002"]
    assert money(Fraction(-3, 2), 1) == "-1.5"


# 10 req/s a replica of 2 GPUs, 900 prompt and 100 output tokens: 10 000 tokens/s at full load.
HAND = Serving("m", Fraction(10), 2, Fraction(900), Fraction(100), 750, Fraction("1.8"))


def test_by_hand():
    """4 GPUs at 1.80 are 7.20 an hour; 5 of 20 req/s are 25 %: 18 million tokens an hour, 0.40 a million."""
    hosted = HostedPrices(Fraction("0.3"), Fraction("1.5"), Fraction("0.03"), Fraction(1, 3))
    cost = cost_of(HAND, Fraction(4), Fraction(5), hosted)
    assert (cost.per_hour, cost.full_rps, cost.utilization) == (Fraction("7.2"), 20, Fraction(1, 4))
    assert (cost.blended, cost.blended_at_full_load) == (Fraction("0.4"), Fraction("0.1"))
    # 5.40 an hour over 16.2 million prompt tokens, 1.80 over 1.8 million output tokens
    assert (cost.prompt, cost.output) == (Fraction(1, 3), 1)
    # prompt tokens at (2 · 0.3 + 0.03)/3 = 0.21: 900 · 0.21 + 100 · 1.5 = 339 per million requests
    assert cost.hosted_per_request == Fraction(339, 10**6)
    assert cost.hosted_blended == Fraction("0.339")
    assert cost.hosted_per_hour == Fraction(339, 10**6) * 18_000
    assert cost.recommendation == HOSTED
    assert cost.break_even_rps == Fraction(7_200_000_000, 339 * 3_600_000)
    assert cost.always_from_replicas == 2


def test_what_is_allocated_is_the_whole_cost():
    cost = cost_of(HAND, Fraction(4), Fraction(5))
    each_hour = 5 * 3_600
    whole = (cost.prompt * 900 + cost.output * 100) * each_hour / 10**6
    assert whole == cost.per_hour == cost.blended * 1_000 * each_hour / 10**6
    assert (cost.hosted_blended, cost.recommendation, cost.break_even_utilization) == (None, None, None)


@given(st.fractions("1/100", 1), st.fractions("1/100", 100), st.fractions("1/100", 100))
def test_at_break_even_both_sides_cost_the_same_and_above_it_self_hosting_is_cheaper(part, prompt, output):
    hosted = HostedPrices(prompt, output)
    edge = cost_of(HAND, Fraction(4), Fraction(5), hosted).break_even_rps
    if edge <= 20:
        cost = cost_of(HAND, Fraction(4), edge, hosted)
        assert cost.blended == cost.hosted_blended
        assert cost.per_hour == cost.hosted_per_hour
        assert cost.recommendation == HOSTED
    above = edge + (20 - edge) * part
    if above > edge:
        assert cost_of(HAND, Fraction(4), above, hosted).recommendation == SELF_HOST


@given(st.fractions("1/10", 100), st.integers(1, 12), st.fractions("1/1000", 1))
def test_from_so_many_replicas_on_a_tight_fleet_is_always_cheaper(price, replicas, part):
    hosted = HostedPrices(price, price)
    always = cost_of(HAND, Fraction(2), Fraction(1), hosted).always_from_replicas
    rate = (replicas - 1 + part) * HAND.replica_rps  # any traffic that takes just so many
    if always is not None and replicas >= always:
        assert cost_of(HAND, Fraction(replicas * 2), rate, hosted).recommendation == SELF_HOST


def test_behaviour_14_build_versus_buy_uses_realistic_utilisation():
    """On the grid's own capacity and a day of traffic: at full load self-hosting looks cheaper, at the real one not."""
    grid = models_grid()
    day = curve_of([at * 3_600 * 10**9 for at in range(4)], [Fraction(n) for n in (2, 3, 40, 5)], 4 * 3_600 * 10**9)
    replicas = find_fleet(grid, 40_000).replicas
    one = serving_of_grid(grid, "m")
    serving = Serving(**{**one.__dict__, "price": Fraction("2.33")})
    gpus = Fraction(replicas)
    cost = cost_of(serving, gpus, day.mean, HostedPrices(Fraction("0.05"), Fraction("0.2")))
    assert cost.utilization == day.mean / (replicas * serving.replica_rps)
    assert cost.blended_at_full_load < cost.hosted_blended < cost.blended
    assert cost.recommendation == HOSTED
    same = sweep.build_vs_buy(
        gpus * serving.price, replicas * serving.replica_tokens, cost.utilization, cost.hosted_blended
    )
    assert same.self_hosted_cost_per_million_tokens == cost.blended
    assert same.recommendation == cost.recommendation


def test_an_idle_gpu_costs():
    half, full = (cost_of(HAND, Fraction(gpus), Fraction(5)) for gpus in (4, 2))
    assert half.blended == 2 * full.blended
    assert half.blended_at_full_load == full.blended_at_full_load


def test_more_traffic_than_the_gpus_carry_and_missing_prices_are_refused():
    with pytest.raises(InputFault, match=r"reserve 8\.00 or more"):
        cost_of(HAND, Fraction(4), Fraction(40))
    bare = Serving("m", Fraction(1), 1, Fraction(1), Fraction(1))
    with pytest.raises(InputFault) as error:
        cost_of(bare, Fraction(0), Fraction(0))
    assert len(error.value.faults) == 2
    with pytest.raises(UsageFault) as wrong:
        cost_of(HAND, Fraction(4), Fraction(5), HostedPrices(Fraction(-1), Fraction(10**10), None, Fraction(2)))
    assert len(wrong.value.faults) == 3
    free = cost_of(HAND, Fraction(4), Fraction(5), HostedPrices(Fraction(0), Fraction(0)))
    assert (free.recommendation, free.break_even_rps, free.always_from_replicas) == (HOSTED, None, None)


def test_the_sensitivity_is_exact_and_labelled():
    found = sweep.cost_sensitivity(HAND, "0.339", [250, 1000], ["0.9", "1.8"])
    assert found.sizes == {"utilization_permille": 2, "price_micro": 2}
    ratio = found.cost_numerator.astype(object) / found.cost_denominator.astype(object)
    assert found.cost_numerator.dtype == found.cost_micro.dtype == "int64"
    at = {"utilization_permille": 250, "price_micro": 1_800_000}
    cell = found.sel(at)
    assert Fraction(int(cell.cost_numerator), int(cell.cost_denominator)) == Fraction("0.4")
    assert int(cell.cost_micro) == 400_000
    assert not bool(cell.cheaper_than_hosted)
    assert bool(found.cheaper_than_hosted.sel(utilization_permille=1000).all())
    assert ratio.shape == (2, 2)
    assert found.attrs["claim"]


def test_a_ratio_beyond_int64_stays_exact():
    odd = Serving(
        "m", Fraction(10**19 + 1, 10**19), 1, Fraction(10**9 + 7, 10**9), Fraction(1), price=Fraction("1.234567")
    )
    found = sweep.cost_sensitivity(odd, None, [333])
    assert found.cost_numerator.dtype == object
    exact = cost_table(odd, None, [333]).costs[0][0]
    cell = found.isel(utilization_permille=0, price_micro=0)
    assert Fraction(cell.cost_numerator.item(), cell.cost_denominator.item()) == exact


def test_sensitivities_that_make_no_sense():
    with pytest.raises(UsageFault) as error:
        cost_table(HAND, None, [500, 500, 2_000], [Fraction(2), Fraction(1)])
    assert len(error.value.faults) == 3
    with pytest.raises(UsageFault, match="no price"):
        cost_table(Serving("m", Fraction(1), 1, Fraction(1), Fraction(1)))
    with pytest.raises(UsageFault, match="millionths"):
        sweep.cost_sensitivity(HAND, None, [500], ["0.0000001"])
    with pytest.raises(UsageFault, match="no finite number"):
        sweep.cost_sensitivity(HAND, "x")


def test_the_table_as_csv():
    lines = table_csv(cost_table(HAND, Fraction("0.3"), [250], [Fraction("1.8")])).splitlines()
    assert lines == [
        "utilization_permille,price_per_gpu_hour,cost_per_million,cost_micro,cheaper_than_hosted",
        "250,9/5,2/5,400000,false",
    ]
