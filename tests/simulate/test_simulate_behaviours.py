"""Behaviours 2, 3, 4, 5, 6 and 9 of the serving models, on the real parts."""

from dataclasses import replace
from fractions import Fraction

import pytest

from sweep.hardware.kv import capacity_model, gpu_memory_budget, kv_cache_bytes_per_request
from sweep.simulate.cache import cache_bytes
from sweep.simulate.contrast import compare_layouts
from sweep.simulate.latency import latency_metrics
from sweep.simulate.load import load_test, static_batching
from sweep.simulate.point import OperatingPoint, contiguous
from sweep.simulate.request import Request
from sweep.simulate.serve import simulate
from sweep.simulate.summary import summarize
from sweep.traffic.lengths import LONG_TAILED, expand_to_workload

MS = 10**6
SERVER = OperatingPoint(
    slots=64,
    chunk_tokens=512,
    base_ns=7 * MS,
    per_sequence_ns=74_000,
    per_prefill_token_ns=33_000,
    priority_iterations=3,
    kv_blocks=4_000,
    kv_bytes_per_token=131_072,
)
WORKLOAD = expand_to_workload(LONG_TAILED)
MIXED = tuple(WORKLOAD[37 * at % 100] for at in range(100))
"""The same lengths as they come, not sorted: a static batch waits for its longest."""


def at_once(count, prompt=48, output=16, hashes=(), priority=1):
    return [Request(number, 0, "chat", priority, prompt, output, hashes) for number in range(count)]


@pytest.mark.parametrize("spare_bytes", [-1, 0, 1, 2**20])
def test_2_admission_refuses_exactly_beyond_the_memory_budget_s_concurrency(spare_bytes):
    per_request = kv_cache_bytes_per_request(32, 8, 128, 48 + 16, 2)
    budget = gpu_memory_budget(80 * 2**30, 70 * 2**30, 2**30, 2**30 - 20 * per_request - spare_bytes, per_request)
    fits = budget.max_concurrency
    blocks = budget.remainder_for_cache_bytes // (16 * 131_072)
    server = replace(SERVER, slots=4_000, chunk_tokens=10**6, kv_blocks=blocks)

    exactly, one_more = simulate(server, at_once(fits)), simulate(server, at_once(fits + 1))

    assert fits == 8 * 2**30 // per_request + 20 + (-1 if spare_bytes < 0 else 0)
    assert exactly.total.peak_running == one_more.total.peak_running == fits
    assert exactly.total.blocks_iterations == 0
    assert [row.let_in_ns for row in exactly.rows] == [0] * fits
    assert one_more.total.blocks_iterations > 0
    assert [row.request_id for row in one_more.rows if row.let_in_ns > 0] == [fits]


def test_3_the_latency_metrics_are_distinct_figures():
    run = simulate(SERVER, at_once(40, prompt=300, output=50))
    row, summary = run.rows[25], summarize(run)
    metrics = latency_metrics(row.ttft_ns, row.finish_ns - row.arrival_ns, row.output_tokens)

    own = metrics.tokens_per_time * 10**9
    together = summary.output_tokens_per_second
    assert metrics.ttft == row.ttft_ns
    assert metrics.itl == row.tpot_ns
    assert together == Fraction(40 * 50 * 10**9, run.last_ns)
    assert len({metrics.ttft, metrics.itl, own, together}) == 4
    assert own < together < 40 * own


def test_4_continuous_batching_over_the_paged_cache_beats_static_over_contiguous():
    requests = [(0, output) for output in MIXED]
    found = compare_layouts(requests, 131_072, 4_096, 8 * 4_096 * 131_072, 64)

    first, last = found.static_contiguous, found.continuous_paged
    assert (first.peak_concurrency, last.peak_concurrency) == (8, 64)
    assert first.steps == static_batching(MIXED, 8)
    assert found.continuous_contiguous.steps == load_test(MIXED, 8)
    assert last.steps < found.continuous_contiguous.steps < first.steps
    assert last.steps < found.static_paged.steps < first.steps
    assert found.speedup > 2
    assert first.tokens == last.tokens == sum(MIXED)


def test_4_the_same_on_the_clock_of_the_serving_mode():
    requests = [Request(number, 0, "chat", 1, 100, output) for number, output in enumerate(MIXED)]
    paged = replace(SERVER, kv_blocks=8 * 4_112 // 16)
    slabs = contiguous(paged, 4_112)

    ends = {
        (batching, server.block_tokens): simulate(server, requests, batching=batching).last_ns
        for batching in ("static", "continuous")
        for server in (slabs, paged)
    }

    assert slabs.kv_blocks == 8
    assert ends["continuous", 16] < ends["continuous", 4_112] < ends["static", 4_112]
    assert ends["continuous", 16] < ends["static", 16] < ends["static", 4_112]


def test_5_prefix_sharing_recovers_fragmented_capacity():
    prefix = tuple(range(32))  # 512 tokens
    server = replace(SERVER, kv_blocks=200)
    first, rest = at_once(1, 530, 40, prefix), at_once(60, 530, 40, prefix)
    later = [request._replace(arrival_ns=300 * MS) for request in rest]

    shared, apart = simulate(server, first + later), simulate(server, first + later, hash_tokens=0)

    assert apart.total.peak_running == 200 // 36
    assert shared.total.peak_running == (200 - 32) // 4  # only the first pays for the prefix
    assert shared.total.hit_tokens == 60 * 512
    assert shared.last_ns < apart.last_ns
    pairs = [(512, 58)] * 42
    alike, different = cache_bytes(pairs, 1, 570), cache_bytes([(0, 570)] * 42, 1, 570)
    assert alike.paged == 16 * (32 + 42 * 4) == 16 * 200
    assert different.paged == 16 * 42 * 36


def test_5_what_rounds_up_is_not_what_is_shared():
    """A prefix of 520 tokens has 33 blocks but shares 32; a prompt that is all prefix computes its last block."""
    server = replace(SERVER, kv_blocks=200)
    whole = tuple(range(100, 132))

    def hits(prompt, hashes):
        requests = [Request(0, 0, "chat", 1, prompt, 2, hashes), Request(1, 10**9, "chat", 1, prompt, 2, hashes)]
        return [row.prefix_hit_tokens for row in simulate(server, requests).rows]

    assert hits(520, whole) == [0, 512]
    assert hits(512, whole) == [0, 496]
    assert hits(513, whole) == [0, 512]


SCARCE = {
    "prefill": {},
    "slots": {"slots": 2, "chunk_tokens": 4_096},
    "blocks": {"slots": 400, "chunk_tokens": 4_096, "kv_blocks": 140},
}
"""What a crowd may fight for: the chunk, slots, or blocks, of which the patient one needs as many as four others."""


def crowd(patience, scarce):
    """One request of low priority among a stream of urgent ones that alone would take all there is, for ever."""
    server = replace(SERVER, priority_iterations=patience, base_ns=MS, per_sequence_ns=0, per_prefill_token_ns=0)
    urgent = [Request(number, number * MS // 2, "urgent", 1, 512, 5) for number in range(400)]
    patient = Request(1_000, 10 * MS, "patient", 2, 2_040 if scarce == "blocks" else 512, 5)
    requests = sorted([*urgent, patient], key=lambda one: one.arrival_ns)
    run = simulate(replace(server, **SCARCE[scarce]), requests)
    return run, next(row for row in run.rows if row.class_id == "patient")


@pytest.mark.parametrize("scarce", SCARCE)
@pytest.mark.parametrize("patience", [1, 3, 10])
def test_6_no_class_starves_beyond_the_bound(patience, scarce):
    run, row = crowd(patience, scarce)

    assert run.total.most_passes == patience
    assert row.passed_ns <= patience * MS
    assert row.queue_delay_ns < 100 * MS  # older urgent ones go first by age, and what runs ends first
    assert row.finish_ns < run.last_ns - 100 * MS


@pytest.mark.parametrize("scarce", SCARCE)
def test_6_without_the_bound_it_does(scarce):
    run, row = crowd(10**6, scarce)

    assert row.finish_ns > run.last_ns - 10 * MS
    assert summarize(run).binds == scarce


def test_9_the_capacity_model_predicts_what_the_load_test_shows():
    per_request = kv_cache_bytes_per_request(32, 8, 128, 256, 2)
    for budget_bytes in (per_request - 1, 10 * per_request, 23 * per_request + 5):
        predicted = capacity_model(budget_bytes, per_request)
        server = replace(SERVER, slots=100, kv_blocks=budget_bytes // (16 * 131_072), chunk_tokens=10**5)
        run = simulate(server, at_once(50, prompt=56, output=200))

        assert run.total.peak_running == predicted
        assert sum(row.refusal != "" for row in run.rows) == (50 if predicted == 0 else 0)
        if predicted:
            assert load_test([200] * 50, predicted) == 200 * -(-50 // predicted)


def test_9_a_load_test_lies_between_the_work_and_the_work_plus_the_longest():
    for slots in (1, 2, 8, 16, 64, 100, 200):
        steps = load_test(WORKLOAD, slots)
        assert max(-(-sum(WORKLOAD) // slots), max(WORKLOAD)) <= steps <= sum(WORKLOAD) // slots + max(WORKLOAD)
