"""What holds in every run of the serving mode: it ends, nothing is lost, time adds up, bounds are kept."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from simulate_cases import draw_point, draw_requests

from sweep.errors import InputFault, RefusedSize, SelfCheckFault, UsageFault
from sweep.simulate.point import OperatingPoint
from sweep.simulate.policies import POLICIES, ROUTERS
from sweep.simulate.pool import KvPool
from sweep.simulate.replica import Replica
from sweep.simulate.request import Request
from sweep.simulate.serve import LONGER_THAN_POOL, simulate

POINT = OperatingPoint(4, 8, 10, 1, 1, 2, 20, 4)


def assert_laws(run, requests):
    point, total = run.point, run.total
    served = [row for row in run.rows if not row.refusal]

    assert [row.request_id for row in run.rows] == [request.request_id for request in requests]
    assert total.arrived == total.finished == len(served)
    for row in run.rows:
        too_long = point.blocks(row.prompt_tokens + row.output_tokens) > point.kv_blocks
        assert row.refusal == (LONGER_THAN_POOL if too_long else "")
    for row in served:
        assert row.arrival_ns <= row.let_in_ns <= row.first_token_ns <= row.finish_ns <= run.last_ns
        assert 0 <= row.prefix_hit_tokens < row.prompt_tokens
        assert 0 <= row.replica < point.replicas
    assert total.blocks_taken == total.blocks_returned
    assert total.in_system_ns == sum(row.finish_ns - row.arrival_ns for row in served)
    assert total.running_ns == total.stay_ns <= total.in_system_ns
    assert total.busy_ns <= point.replicas * (run.last_ns - run.first_ns)
    # every token but the first of each request ends a gap, and the gaps of a request lie end to end
    assert sum(run.gaps.values()) == sum(row.output_tokens - 1 for row in served)
    assert sum(gap * times for gap, times in run.gaps.items()) == sum(r.finish_ns - r.first_token_ns for r in served)
    # all that was computed: each prompt but its hits, and anew what preemption threw away
    recomputed = total.preemptions + total.discarded_tokens
    assert 0 <= total.prefill_tokens + total.hit_tokens - sum(row.prompt_tokens for row in served) <= recomputed
    assert total.peak_running <= point.slots
    assert total.peak_blocks <= point.kv_blocks
    assert total.most_passes <= point.priority_iterations
    assert total.preemptions == sum(row.preemptions for row in served)
    assert total.slots_iterations + total.blocks_iterations + total.prefill_iterations <= total.iterations
    if point.admission_control:
        assert total.preemptions == 0


@given(st.integers(0, 2**32), st.sampled_from([*POLICIES]), st.sampled_from([*ROUTERS]), st.booleans())
def test_every_run_ends_and_nothing_is_lost(seed, policy, router, static):
    random = Random(seed)
    point = draw_point(random)
    unit = point.block_tokens * random.randint(0, 2)
    requests = draw_requests(random, point, unit, 20)

    assert_laws(simulate(point, requests, policy, router, "static" if static else "continuous", unit), requests)


@pytest.mark.parametrize("seed", range(3))
def test_a_pool_that_holds_one_request_serves_all_one_after_the_other(seed):
    """The tightest pool: whatever is let in beside the first is preempted again and again, and still ends."""
    random = Random(seed)
    requests = [Request(at, at, "a", 1, random.randint(1, 40), random.randint(1, 40)) for at in range(60)]
    longest = max(request.prompt_tokens + request.output_tokens for request in requests)
    point = OperatingPoint(16, 16, 10, 1, 1, 2, longest, 1, admission_control=False)
    run = simulate(point, requests)

    assert_laws(run, requests)
    assert run.total.preemptions > 30


def test_the_same_input_gives_the_same_run():
    random = Random(7)
    point = draw_point(random, kv_blocks=30, admission_control=False)
    requests = draw_requests(random, point, point.block_tokens, 40)

    assert simulate(point, requests) == simulate(point, iter(requests))


def test_nothing_arrives():
    run = simulate(POINT, [])

    assert (run.rows, run.replicas, run.gaps, run.first_ns, run.last_ns) == ((), (), {}, 0, 0)


def test_a_policy_is_one_function():
    requests = [Request(at, 0, "a", 1, 8, tokens) for at, tokens in enumerate((2, 9, 5))]
    one_slot = OperatingPoint(1, 8, 10, 1, 1, 100, 20, 4)

    def longest_output(request):
        return -request.output_tokens

    run = simulate(one_slot, requests, policy=longest_output)

    assert sorted(run.rows, key=lambda row: row.let_in_ns) == [run.rows[1], run.rows[2], run.rows[0]]
    assert run.policy == "longest_output"


def test_the_policies_differ_where_they_should():
    lengths = ((1, 20), (3, 8), (2, 4), (1, 12))
    requests = [Request(at, 0, "a", priority, prompt, 2) for at, (priority, prompt) in enumerate(lengths)]
    one_slot = OperatingPoint(1, 32, 10, 1, 1, 100, 20, 4)

    def order(policy):
        rows = simulate(one_slot, requests, policy).rows
        return [row.request_id for row in sorted(rows, key=lambda row: row.let_in_ns)]

    assert order("fifo") == [0, 1, 2, 3]
    assert order("priority") == [0, 3, 2, 1]
    assert order("shortest-prompt") == [2, 1, 3, 0]


def test_the_routers_differ_where_they_should():
    requests = [Request(0, 0, "a", 1, 4, 50), *(Request(at, at * 40, "a", 1, 4, 1) for at in (1, 2, 3))]
    two = OperatingPoint(4, 8, 10, 1, 1, 2, 20, 4, replicas=2)

    assert [row.replica for row in simulate(two, requests).rows] == [0, 1, 1, 1]
    assert [row.replica for row in simulate(two, requests, router="round-robin").rows] == [0, 1, 0, 1]
    three = simulate(two, requests, router=lambda unfinished, routed: 1)
    assert [row.replica for row in three.rows] == [1, 1, 1, 1]
    assert three.replicas[0].arrived == 0


def test_decoding_is_not_stepped_token_by_token(monkeypatch):
    """256 slots and outputs of 300 tokens: a few starts for each request, not 300."""
    starts = []
    real = Replica.start
    monkeypatch.setattr(Replica, "start", lambda self, now: starts.append(now) or real(self, now))
    point = OperatingPoint(256, 512, 10**6, 10**4, 10**3, 3, 2 * 10**5)
    requests = [Request(at, at * 10**6, "a", 1, 100, 300) for at in range(1_000)]
    run = simulate(point, requests)

    assert run.total.decode_tokens == 1_000 * 299
    assert len(starts) < 4 * len(requests)
    starts.clear()
    crowd = [Request(at, at, "a", 1, 1, 5_000) for at in range(2)] + [
        Request(2 + at, 10**7 * at, "a", 1, 1, 1) for at in range(100, 400)
    ]
    simulate(OperatingPoint(2, 512, 10**6, 0, 0, 3, 10**5), crowd)
    assert len(starts) < 320  # those that arrive while no slot is free and others wait already end no run of iterations
    starts.clear()
    alone = simulate(point, [Request(0, 0, "a", 1, 10**6, 10**6)])
    assert alone.total.iterations == -(-(10**6) // 512) + 10**6 - 1
    assert len(starts) < 5


def test_memory_is_for_requests_under_way(monkeypatch):
    """Rows stay; sequences, heaps and finished ones do not."""
    point = OperatingPoint(8, 512, 1_000, 10, 1, 3, 10**4)
    largest = []
    real = Replica.end

    def end(self, now):
        real(self, now)
        largest.append(len(self.waiting._by_order) + len(self.waiting._by_age) + len(self.due) + len(self.running))

    monkeypatch.setattr(Replica, "end", end)
    simulate(point, (Request(at, at * 10**6, "a", 1, 100, 30) for at in range(2_000)))

    assert max(largest) < 40


@pytest.mark.parametrize(
    ("call", "fault", "message"),
    [
        (lambda: simulate(POINT, [], policy="lifo"), UsageFault, "policy 'lifo': wanted one of priority, fifo"),
        (lambda: simulate(POINT, [], router="random"), UsageFault, "router 'random'"),
        (lambda: simulate(POINT, [], batching="dynamic"), UsageFault, "batching 'dynamic'"),
        (lambda: simulate(POINT, [], hash_tokens=6), InputFault, "hash_tokens: got 6"),
        (lambda: simulate(OperatingPoint(1, 1, 0, 0, 0, 1, 1, replicas=10_001), []), RefusedSize, "10 001 replicas"),
        (lambda: simulate(POINT, [Request(5, 0, "a", 1, 0, 1)]), InputFault, "request 5: prompt_tokens: got 0"),
        (lambda: simulate(POINT, [Request(5, 0, "a", 0, 1, 1)]), InputFault, "request 5: priority: got 0"),
        (lambda: simulate(POINT, [Request(5, 0.0, "a", 1, 1, 1)]), InputFault, "request 5: arrival_ns: got 0"),
        (
            lambda: simulate(POINT, [Request(1, 9, "a", 1, 1, 1), Request(2, 8, "a", 1, 1, 1)]),
            InputFault,
            "request 2: arrival_ns: got 8 after 9",
        ),
        (lambda: OperatingPoint(0, 0, -1, 0, 0, 1, 1), InputFault, "slots: got 0"),
    ],
)
def test_faulty_input_is_refused_with_a_sentence(call, fault, message):
    with pytest.raises(fault, match=message):
        call()


def test_a_lost_block_is_a_fault_of_ours(monkeypatch):
    real = KvPool.release
    monkeypatch.setattr(
        KvPool, "release", lambda self, hashes, private, promise: real(self, hashes, private - 1, promise)
    )

    with pytest.raises(SelfCheckFault, match="blocks taken, and returned"):
        simulate(POINT, [Request(0, 0, "a", 1, 4, 2)])
