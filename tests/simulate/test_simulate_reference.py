"""Reference mode: the course's right answers, and the policy written out step by step with every state remembered."""

import doctest
import json
from collections import deque
from fractions import Fraction
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sweep.errors import InputFault
from sweep.simulate import batching, cache, latency, load
from sweep.simulate.batching import continuous_batching
from sweep.simulate.cache import CacheBytes, cache_bytes
from sweep.simulate.contrast import compare_layouts
from sweep.simulate.latency import latency_metrics
from sweep.simulate.load import load_test, static_batching
from sweep.traffic.lengths import LONG_TAILED, expand_to_workload

GOLDEN = Path(__file__).parents[3] / "shared" / "golden"
WORKLOAD = expand_to_workload(LONG_TAILED)


def golden(name: str):
    if not GOLDEN.exists():
        pytest.skip("the course's right answers are not beside the project")
    return json.loads((GOLDEN / "capstone.json").read_text(encoding="utf-8"), parse_float=str)[name]


def pressure():
    if not GOLDEN.exists():
        pytest.skip("the course's right answers are not beside the project")
    lines = (GOLDEN / "scheduler_pressure.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def batching_of(case):
    return continuous_batching(case["output_tokens"], case["max_batch_slots"], case["cache_budget_blocks"])


def naive(outputs, slots, budget):
    """The policy as it is written, one token at a time, every state remembered: what `Batching` says, as a tuple."""
    blocks = [-(-tokens // 16) for tokens in outputs]
    if any(needed > budget for needed in blocks):
        return "unservable", tuple(at for at, needed in enumerate(blocks) if needed > budget)
    active, queue, seen = [], deque([at, 0] for at in range(len(outputs))), {}
    steps, preemptions, occupancy = 0, 0, []
    while active or queue:
        state = (tuple(map(tuple, active)), tuple(map(tuple, queue)))
        if state in seen:
            return "livelock", seen[state], steps - seen[state], preemptions, occupancy
        seen[state] = steps
        allowance = len(active)
        while queue and len(active) < slots:
            if sum(blocks[at] for at, _ in active) + blocks[queue[0][0]] <= budget:
                active.append(queue.popleft())
            elif not active or not allowance:
                break
            else:
                largest = max(active, key=lambda one: one[1])  # the first of equal ones
                active.remove(largest)
                queue.append([largest[0], 0])
                allowance -= 1
                preemptions += 1
        for one in active:
            one[1] += 1
        occupancy.append(len(active))
        active = [one for one in active if one[1] < outputs[one[0]]]
        steps += 1
    return "completed", steps, preemptions, occupancy


def as_naive(found):
    if found.outcome == "unservable":
        return found.outcome, found.unservable
    if found.outcome == "livelock":
        first, period = found.first_recurring_state_at_step, found.period
        assert found.steps == first + period
        return found.outcome, first, period, found.preemptions, found.occupancy
    return found.outcome, found.steps, found.preemptions, found.occupancy


def test_continuous_batching_gives_the_course_s_answers():
    cases = golden("continuous_batching")
    for case in cases:
        found = batching_of(case)
        wanted = case["expect"]

        assert (found.outcome, found.steps, found.preemptions) == (
            "completed",
            wanted["steps"],
            wanted["preemption_count"],
        )
        assert (sum(found.occupancy), max(found.occupancy)) == (wanted["occupancy_sum"], wanted["occupancy_max"])
        assert found.occupancy[: len(wanted["occupancy_head"])] == wanted["occupancy_head"]
        assert found.tokens == sum(found.occupancy)
    assert len(cases) == 40


def test_all_cases_under_pressure_end_as_the_course_says():
    cases = pressure()
    for case in cases:
        found, wanted = batching_of(case), case["expect"]
        assert found.outcome == wanted["outcome"]
        if found.outcome == "completed":
            assert (found.steps, found.preemptions) == (wanted["steps"], wanted["preemption_count"])
            assert found.occupancy == wanted["occupancy"]
        else:
            assert found.first_recurring_state_at_step == wanted["first_recurring_state_at_step"]
            assert found.period == wanted["period"]
    assert len(cases) == 60


def test_load_test_gives_the_course_s_answers():
    cases = golden("load_test")
    for case in cases:
        lengths = WORKLOAD if case["lengths"] == "expand_to_workload" else case["lengths"]
        assert load_test(lengths, case["max_batch_slots"]) == case["expect"]
    assert len(cases) == 13


def test_cache_bytes_gives_the_course_s_answers():
    cases = golden("cache_bytes")
    for case in cases:
        found = cache_bytes(case["requests"], case["bytes_per_token"], case["max_seq_len"])
        assert found == CacheBytes(**case["expect"])
    assert len(cases) == 10


def test_latency_metrics_give_the_course_s_answers_before_rounding():
    cases = golden("latency_metrics")
    for case in cases:
        found, wanted = latency_metrics(case["ttft_ms"], case["total_ms"], case["output_tokens"]), case["expect"]
        for exact, rounded in (
            (found.ttft, wanted["ttft_ms"]),
            (found.itl, wanted["itl_ms"]),
            (found.tokens_per_second, wanted["tokens_per_sec"]),
        ):
            assert abs(exact - Fraction(str(rounded))) <= Fraction(1, 200), case
    assert len(cases) == 12


def test_unservable_is_decided_before_the_first_step_and_names_the_requests():
    assert as_naive(continuous_batching([16, 33, 5], 4, 2)) == ("unservable", (1,))
    assert as_naive(continuous_batching([17], 4, 1)) == ("unservable", (0,))
    assert as_naive(continuous_batching([1, 1], 1, 0)) == ("unservable", (0, 1))
    assert as_naive(continuous_batching([], 1, 0)) == ("completed", 0, 0, [])


@pytest.mark.parametrize("seed", range(4))
def test_every_end_is_that_of_the_policy_step_by_step(seed):
    random, ends = Random(seed), {"completed": 0, "livelock": 0, "unservable": 0}
    for _ in range(250):
        outputs = [random.randint(1, random.choice([6, 40, 90])) for _ in range(random.randint(0, 9))]
        slots, budget = random.randint(1, 6), random.randint(0, 12)
        found = continuous_batching(outputs, slots, budget)
        ends[found.outcome] += 1

        assert as_naive(found) == naive(outputs, slots, budget), (outputs, slots, budget)
    assert min(ends.values()) > 10


@given(st.lists(st.integers(1, 60), max_size=8), st.integers(1, 5), st.integers(0, 9))
def test_any_small_case_ends_as_the_policy_says(outputs, slots, budget):
    assert as_naive(continuous_batching(outputs, slots, budget)) == naive(outputs, slots, budget)


def test_a_long_livelock_is_found_without_remembering_its_states():
    outputs, slots, budget = [38, 5, 90, 41, 77, 12, 66, 52, 83, 29, 61, 34], 6, 11
    found = continuous_batching(outputs, slots, budget)

    assert found.outcome == "livelock"
    assert as_naive(found) == naive(outputs, slots, budget)


def test_where_blocks_are_ample_batching_takes_as_long_as_the_load_test():
    for slots in (1, 3, 8, 64, 200):
        found = continuous_batching(WORKLOAD, slots, slots * 250)
        assert found.steps == load_test(WORKLOAD, slots)
        assert found.tokens == sum(WORKLOAD)
        assert found.preemptions == 0


@given(st.lists(st.integers(1, 50), max_size=12), st.integers(1, 5))
def test_a_load_test_takes_as_long_as_one_slot_after_the_other(lengths, slots):
    left, queue, steps = [], list(lengths), 0
    while left or queue:
        while queue and len(left) < slots:
            left.append(queue.pop(0))
        left = [one - 1 for one in left if one > 1]
        steps += 1

    assert load_test(lengths, slots) == steps
    assert load_test(lengths, slots) <= static_batching(lengths, slots)


def stepped(outputs, needs, slots, budget, static):
    """Steps and most requests at one time, one token at a time."""
    queue, active, steps, peak = [at for at, need in enumerate(needs) if need <= budget], {}, 0, 0
    while queue or active:
        closed = static and len(active) > 0
        while queue and not closed and len(active) < slots:
            if sum(needs[at] for at in active) + needs[queue[0]] > budget:
                break
            head = queue.pop(0)
            active[head] = outputs[head]
        peak, steps = max(peak, len(active)), steps + 1
        active = {at: left - 1 for at, left in active.items() if left > 1}
    return steps, peak


@given(
    st.lists(st.tuples(st.sampled_from([0, 0, 20, 40]), st.integers(1, 60)), max_size=10),
    st.integers(1, 4),
    st.integers(0, 400),
    st.integers(20, 100),
)
def test_layouts_are_what_their_steps_say(requests, slots, budget, max_seq_len):
    found = compare_layouts(requests, 1, max_seq_len, budget, slots)
    outputs = [output for _, output in requests]
    slabs = [1 if prefix + output <= max_seq_len else 10**9 for prefix, output in requests]
    blocks = [-(-output // 16) for output in outputs]
    left = budget // 16 - sum(-(-prefix // 16) for prefix in {prefix for prefix, _ in requests})

    for layout, needs, room in (
        (found.static_contiguous, slabs, budget // max_seq_len),
        (found.static_paged, blocks, left),
        (found.continuous_contiguous, slabs, budget // max_seq_len),
        (found.continuous_paged, blocks, left),
    ):
        wanted = stepped(outputs, needs, slots, room, layout.batching == "static")
        assert (layout.steps, layout.peak_concurrency) == wanted, layout
        assert layout.unservable == tuple(at for at, need in enumerate(needs) if need > room)
        assert layout.tokens == sum(output for output, need in zip(outputs, needs, strict=True) if need <= room)


def test_a_million_tokens_are_not_walked_through():
    """10^7 tokens per request would be 10^10 steps."""
    assert load_test([10**7] * 1_000, 1) == 10**10
    assert continuous_batching([10**7] * 1_000, 1, 625_000).occupancy_runs == ((10**10, 1),)


@pytest.mark.parametrize("module", [batching, cache, latency, load])
def test_examples_in_docstrings_are_true(module):
    found = doctest.testmod(module)
    assert (found.failed, found.attempted > 0) == (0, True)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: continuous_batching([1, 0, True], 1, 1), r"output_tokens\[1\]: got 0"),
        (lambda: continuous_batching([1], 0, 1), "max_batch_slots: got 0"),
        (lambda: continuous_batching([1], 1, -1), "cache_budget_blocks: got -1"),
        (lambda: load_test([1.0], 1), r"lengths\[0\]: got 1.0"),
        (lambda: cache_bytes([(1, 2, 3)], 1, 1), r"requests\[0\]: wanted a pair"),
        (lambda: cache_bytes([(-1, 2)], 0, 1), "bytes_per_token: got 0"),
        (lambda: latency_metrics(0.5, 1, 1), "ttft: got 0.5"),
        (lambda: latency_metrics(2, 1, 1), "0 ≤ ttft ≤ total"),
        (lambda: latency_metrics(0, 0, 1), "total > 0"),
        (lambda: compare_layouts([(1, 0)], 1, 1, 1, 1), r"requests\[0\] output: got 0"),
    ],
)
def test_faulty_arguments_are_refused_with_a_sentence(call, message):
    with pytest.raises(InputFault, match=message):
        call()
