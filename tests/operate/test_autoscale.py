"""Autoscaling: the rule's golden answers, a naive simulation in seconds beside the exact one, and the laws it has."""

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from hand_grids import models_grid
from hypothesis import given, settings
from hypothesis import strategies as st

import sweep
from sweep.errors import RecordFault, RefusedSize, UsageFault
from sweep.operate.autoscale import simulate_autoscaling
from sweep.operate.autoscale_rule import PROACTIVE, REACTIVE, ColdStart, Rule
from sweep.operate.autoscale_search import FIRST_REACTIVE, NEXT, SAME_REACTIVE, autoscale, find_thresholds
from sweep.operate.curve import Curve, curve_of
from sweep.operate.fleet_serving import Serving, serving_of_grid

GOLDEN = Path(__file__).parents[3] / "shared" / "golden" / "capstone.json"
S = 10**9


@pytest.mark.skipif(not GOLDEN.exists(), reason="the golden answers are not beside the project")
@pytest.mark.parametrize("exact", [True, False])
def test_the_golden_answers(exact):
    cases = json.loads(GOLDEN.read_text(), parse_float=Fraction if exact else float)["proactive_scale_out"]
    assert cases
    for case in cases:
        assert sweep.proactive_scale_out(**{k: v for k, v in case.items() if k != "expect"}) is case["expect"]


def test_the_rule_refuses_what_is_no_number_all_at_once():
    with pytest.raises(RecordFault) as error:
        sweep.proactive_scale_out(-1, "x", float("nan"), True)
    assert len(error.value.faults) == 4


def replica(rps, gpus=1, price=None):
    return Serving("m", Fraction(rps), gpus, Fraction(100), Fraction(10), price=price)


def steps(*rates, seconds=60):
    return curve_of(
        [at * seconds * S for at in range(len(rates))], list(map(Fraction, rates)), len(rates) * seconds * S
    )


def rule(threshold=10, kind=PROACTIVE, cold=30, **more):
    fields = {"interval_ns": 10 * S, "cooldown_ns": 60 * S, "hysteresis": Fraction(1, 10)} | more
    return Rule(kind, Fraction(threshold), cold_start=ColdStart(load_ns=cold * S), **fields)


def test_by_hand():
    """A replica of 2 req/s at 1; then 5 for a minute. At 70 s the rule sees 30 waiting + 5 · 30 > 60, so 3 replicas.

    The two serve from 100 s on, when 40 · 3 = 120 wait; 3 replicas have 1 to spare, so 20 s later 100 wait. Four times
    the rule wants more than the limit.
    """
    found = simulate_autoscaling(replica(2, 4, Fraction("2.5")), steps(1, 5), rule(60, max_replicas=3))
    assert [(s.at_ns // S, s.serving, s.starting, s.queue) for s in found.states] == [
        (0, 1, 0, 0),
        (70, 1, 2, 30),
        (100, 3, 0, 120),
    ]
    assert (found.over, found.over_ns, found.max_queue, found.end_queue) == (((60 * S, 120 * S),), 60 * S, 120, 100)
    assert (found.replica_ns, found.most_replicas) == ((70 + 3 * 50) * S, 3)
    assert found.gpu_hours == Fraction(220 * 4, 3_600)
    assert found.cost == Fraction(220 * 4, 3_600) * Fraction("2.5")
    assert (found.scale_outs, found.scale_ins, found.oscillations, found.limited) == (1, 0, 0, 4)


def test_by_hand_a_backlog_that_is_tolerated_for_a_while():
    """A replica of 2 req/s at 3: the backlog waits 4 s once 8 requests wait, after 8 s; it is gone at 60 + 8 + …"""
    found = simulate_autoscaling(replica(2), steps(3, 0, seconds=20), rule(10**6, max_wait_ns=4 * S, start_replicas=1))
    assert found.over == ((8 * S, 26 * S),)  # 20 wait at 20 s, 8 at 26 s
    assert (found.max_queue, found.end_queue) == (20, 0)


def naive(serving: Serving, curve: Curve, rule: Rule):
    """The same in seconds and fractions; every time of the case is a whole number of seconds."""
    rates = {}
    for start, stop, rate in curve.steps():
        rates |= dict.fromkeys(range(start // S, stop // S), rate)
    step, cold = rule.interval_ns // S, rule.cold_start.total_ns // S
    seen = cold if rule.kind == PROACTIVE else 0
    top = rule.max_replicas or 10**6

    def least(queue, rate, share):
        n = rule.min_replicas
        while queue + rate * seen > share * rule.threshold * n:
            n += 1
        return n

    def enough(rate, share):
        n = rule.min_replicas
        while rate > share * serving.replica_rps * n:
            n += 1
        return n

    queue, serving_now, paid, changed, over, most = Fraction(0), 0, 0, -(10**9), Fraction(0), Fraction(0)
    first = rates[0]
    serving_now = rule.start_replicas or min(top, max(least(0, first, 1), enough(first, 1)))
    ready, log = [], []
    for now in range(curve.end_ns // S):
        serving_now += sum(number for at, number in ready if at == now)
        ready = [(at, number) for at, number in ready if at > now]
        if now % step == 0:
            past = [rates[t] for t in range(now - step, now)] if now else [first] * step
            rate, total = sum(past) / Fraction(step), serving_now + sum(number for _, number in ready)
            wanted = least(queue, rate, 1)
            share = 1 - rule.hysteresis
            fewer = max(least(queue, rate, share), enough(rate, share))
            if wanted > total:
                if top > total:
                    ready.append((now + cold, min(wanted, top) - total))
                    changed = now
                    if cold == 0:
                        serving_now += ready.pop()[1]
            elif not queue and not ready and now - changed >= rule.cooldown_ns // S and fewer < total:
                serving_now, changed = fewer, now
        growth = rates[now] - serving_now * serving.replica_rps
        after = max(Fraction(0), queue + growth)
        limit = Fraction(rule.max_wait_ns, S) * serving_now * serving.replica_rps
        if queue > limit or after > limit:
            begin = 0 if queue > limit else (limit - queue) / growth
            end = 1 if after > limit else (queue - limit) / -growth
            over += end - begin
        queue, most = after, max(most, after)
        paid += serving_now + sum(number for _, number in ready)
        log.append((serving_now, sum(number for _, number in ready)))
    return queue, most, paid, over, log


CASES = st.fixed_dictionaries(
    {
        "kind": st.sampled_from([PROACTIVE, REACTIVE]),
        "threshold": st.integers(1, 40),
        "cold": st.integers(0, 25),
        "interval_ns": st.integers(1, 12).map(lambda n: n * S),
        "cooldown_ns": st.integers(0, 40).map(lambda n: n * S),
        "hysteresis": st.sampled_from([Fraction(0), Fraction(1, 10), Fraction(1, 3)]),
        "max_replicas": st.none() | st.integers(1, 6),
        "max_wait_ns": st.integers(0, 5).map(lambda n: n * S),
    }
)
RATES = st.lists(st.fractions(0, 12, max_denominator=6), min_size=1, max_size=9).filter(any)


@settings(max_examples=80, deadline=None)
@given(CASES, RATES, st.fractions("1/3", 5, max_denominator=4), st.integers(1, 30))
def test_the_exact_simulation_is_the_naive_one(case, rates, rps, seconds):
    curve, own, one = steps(*rates, seconds=seconds), rule(**case), replica(rps)
    found = simulate_autoscaling(one, curve, own)
    queue, most, paid, over, log = naive(one, curve, own)
    assert (found.end_queue, found.max_queue, found.replica_ns) == (queue, most, paid * S)
    assert 0 <= found.over_ns - over * S <= 2 * len(log)  # each second at most one ns at either end
    times = [state.at_ns for state in found.states]
    for second, (serving, starting) in enumerate(log):
        state = found.states[max(at for at, time in enumerate(times) if time <= second * S)]
        assert (state.serving, state.starting) == (serving, starting)


@settings(max_examples=25, deadline=None)
@given(RATES, st.integers(0, 25), st.integers(1, 30), st.integers(1, 30))
def test_without_scale_in_a_smaller_threshold_keeps_what_a_larger_one_keeps(rates, cold, one, other):
    curve = steps(*rates, seconds=20)
    small, large = (
        simulate_autoscaling(replica(2), curve, rule(at, cold=cold, cooldown_ns=10**6 * S))
        for at in sorted((one, other))
    )
    assert small.keeps_slo or not large.keeps_slo
    assert not large.keeps_slo or small.replica_ns >= large.replica_ns


@settings(max_examples=25, deadline=None)
@given(RATES, st.integers(1, 25), st.integers(1, 30))
def test_more_capacity_of_a_replica_never_lengthens_the_queue_of_a_fixed_fleet(rates, replicas, more):
    curve = steps(*rates)
    fixed = rule(10**6, start_replicas=replicas, cooldown_ns=10**6 * S)
    slow, fast = (simulate_autoscaling(replica(rps), curve, fixed) for rps in (1, 1 + Fraction(more, 10)))
    assert fast.max_queue <= slow.max_queue
    assert fast.over_ns <= slow.over_ns


RAMP = steps(*range(2, 42), *range(42, 2, -2), seconds=30)


def real(cold_s, **more):
    """The replica of a real grid on the ramp."""
    serving = serving_of_grid(models_grid(), "m")
    curve = Curve("ramp", RAMP.starts_ns, tuple(rate * 3 for rate in RAMP.rates), RAMP.end_ns)
    return autoscale(serving, curve, rule(1, cold=cold_s, **more))


def test_behaviour_10_autoscaling_accounts_for_the_measured_cold_start():
    """A rule tuned for a short cold start misses the SLO with the real one, and the reactive rule misses it always."""
    short, long = real(20), real(120)
    for answer in (short, long):
        assert answer.chosen.keeps_slo
        assert not answer.compared[NEXT].keeps_slo  # the edge was tried on both sides
        assert not answer.compared[SAME_REACTIVE].keeps_slo
        assert not answer.compared[FIRST_REACTIVE].keeps_slo
        assert answer.compared[FIRST_REACTIVE].over_ns >= answer.chosen.rule.cold_start.total_ns
    serving, curve = short.chosen.serving, short.chosen.curve
    # the share of a replica that may be planned on falls with the cold start
    shares = [
        answer.thresholds.largest / (serving.replica_rps * seconds) for answer, seconds in ((short, 20), (long, 120))
    ]
    assert shares[1] < shares[0] < 1
    assert long.chosen.replica_ns > short.chosen.replica_ns
    ignored = replace(short.chosen.rule, cold_start=ColdStart(load_ns=120 * S))
    blind = replace(ignored, kind=REACTIVE)
    assert simulate_autoscaling(serving, curve, blind).over_ns > long.chosen.over_ns == 0


def test_parts_of_a_cold_start_add_up_and_only_their_sum_counts():
    serving = replica(2)
    parts = ColdStart(provision_ns=5 * S, pull_ns=10 * S, load_ns=11 * S, warm_up_ns=4 * S)
    split = simulate_autoscaling(serving, steps(1, 5), replace(rule(60), cold_start=parts))
    whole = simulate_autoscaling(serving, steps(1, 5), rule(60, cold=30))
    assert split.states == whole.states
    assert parts.as_json()["total_ns"] == 30 * S


def test_flapping_is_counted_and_a_cooldown_stops_it():
    saw = steps(*[2, 9] * 12, seconds=20)
    bare = rule(20, cold=25, cooldown_ns=0, hysteresis=Fraction(0))
    flapping = simulate_autoscaling(replica(2), saw, bare)
    calm = simulate_autoscaling(replica(2), saw, replace(bare, cooldown_ns=120 * S))
    assert flapping.oscillations == 5
    assert calm.oscillations == 1
    assert calm.over_ns <= flapping.over_ns


def test_a_gpu_limit_is_kept_and_said():
    found = simulate_autoscaling(replica(2, gpus=4), steps(1, 50, 1), rule(20, max_replicas=3))
    assert found.most_replicas == 3
    assert found.limited > 0
    assert not found.keeps_slo


def test_where_no_threshold_keeps_the_slo_the_answer_says_so():
    answer = autoscale(replica(2), steps(50), rule(1, start_replicas=1))
    assert (answer.thresholds.smallest, answer.thresholds.largest) == (None, None)
    assert not answer.chosen.keeps_slo
    assert answer.as_json()["thresholds"]["largest_keeping"] is None


def test_a_given_threshold_is_run_as_it_is():
    answer = autoscale(replica(2), steps(1, 2, 3), rule(1), Fraction(5, 2))
    assert answer.chosen.rule.threshold == Fraction(5, 2)
    assert answer.as_json()["chosen"]["rule"]["threshold"] == "5/2"


def test_thresholds_of_a_reactive_rule_can_be_searched_too():
    found = find_thresholds(replica(2), steps(1, 5), rule(1, kind=REACTIVE, max_wait_ns=60 * S))
    assert found.largest is not None
    assert found.tried[found.largest].keeps_slo


def test_a_rule_out_of_bounds_says_everything_at_once():
    wrong = Rule("x", Fraction(0), 0, -1, Fraction(1), 0, 2, 5, -1, ColdStart(-1, 10**20))
    with pytest.raises(UsageFault) as error:
        simulate_autoscaling(replica(1), steps(1), wrong)
    assert len(error.value.faults) == 10


def test_sizes_are_refused_before_they_are_walked():
    with pytest.raises(RefusedSize, match="interval"):
        simulate_autoscaling(replica(1), steps(1), rule(interval_ns=1))
    with pytest.raises(RefusedSize, match="GPU limit"):
        simulate_autoscaling(replica(1), steps(1, 10**9), rule(Fraction(1, 1000)))
