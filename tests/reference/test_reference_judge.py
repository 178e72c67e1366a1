"""`judge`: hand-computed cells, every bound at its edge, every invalid reason, every undefined figure."""

from fractions import Fraction

import pytest

from sweep.errors import RecordFault
from sweep.records import InvalidPoint
from sweep.records.codes import INVALID_REASONS
from sweep.reference import audit, judge, records_of

UTILISATIONS = {"total_utilization_permille", "prefill_utilization_permille", "decode_utilization_permille"}
QUEUE, TTFT, SERVICE = "estimated_queue_delay_ms", "estimated_worst_ttft_ms", "worst_prefill_service_ms"
TPOT, STARVATION = "estimated_tpot_ms", "declared_starvation_bound_ms"
KV, ACTIVE = "peak_kv_bytes", "active_sequences"

# Memory of one H100 with Llama-3.1-8B in bf16, as the vendor's driver and the model's card give it.
MODEL = {
    "model.layers": 32,
    "model.kv_heads": 8,
    "model.head_dim": 128,
    "model.kv_bytes_per_value": 2,
    "model.weight_bytes": 16_060_522_496,
    "gpu.memory_bytes": 85_520_809_984,
    "gpu.memory_utilization_permille": 900,
    "gpu.activation_bytes": 2 * 2**30,
    "gpu.framework_overhead_bytes": 2**30,
}
SMALL = {"model.layers": 1, "model.kv_heads": 3, "model.head_dim": 1}
STEP = {
    "step_time.base_ns": 7_000_000,
    "step_time.per_sequence_ns": 74_000,
    "step_time.per_prefill_token_ns": 33_000,
}
FLAT_STEP = {"step_time.base_ns": 1, "step_time.per_sequence_ns": 0, "step_time.per_prefill_token_ns": 0}
FROM_STEP = {"step_time.capacity": "from-step-time"}
FROM_MEMORY = {"contract.max_kv_bytes": "from-memory"}
FROM_SLO = {"class.interactive-short.peak_concurrency": "from-slo"}


def without(fields, *names):
    return {name: value for name, value in fields.items() if name not in names}


def test_the_illustrative_cell(cell, class_ids):
    judgement = judge(cell, class_ids)
    assert list(judgement.figures.values()) == [180, 250, 75, 5, 185, 20, 80, 8_808_038_400, 32, 180]
    assert (judgement.violations, judgement.invalid_reason, judgement.reason) == (0, 0, "valid")
    assert (judgement.arrivals_millirps, judgement.peak_concurrencies) == ((4000, 500), (24, 8))


EDGES = [
    (1, "scheduler.max_active_sequences", 32),
    (2, "contract.max_total_utilization_permille", 180),
    (3, "contract.max_prefill_utilization_permille", 250),
    (4, "contract.max_decode_utilization_permille", 75),
    (5, "contract.max_queue_delay_ms", 5),
    (6, "contract.max_ttft_ms", 185),
    (7, "contract.max_tpot_ms", 20),
    (8, "contract.max_starvation_ms", 80),
    (9, "contract.max_kv_bytes", 8_808_038_400),
]


@pytest.mark.parametrize(("bit", "bound", "figure"), EDGES)
def test_a_bound_is_broken_strictly_beyond_it(cell, class_ids, bit, bound, figure):
    assert judge(cell | {bound: figure}, class_ids).violations == 0
    assert judge(cell | {bound: figure - 1}, class_ids).violations == 1 << bit


def test_admission_control_is_bit_0(cell, class_ids):
    assert judge(cell | {"workload.admission_control_enabled": False}, class_ids).violations == 1
    assert judge(without(cell, "workload.admission_control_enabled"), class_ids).violations == 0


def test_scale_and_replicas_round_up_in_their_order(cell, class_ids):
    """4000 · 1501 ‰ = 6004, over 7 → 858; 500 · 1501 ‰ = 750.5 → 751 → 108; 24 → 37 → 6; 8 → 13 → 2."""
    fields = cell | {"traffic.scale_permille": 1501, "traffic.replicas": 7}
    judgement = judge(fields, class_ids)
    assert judgement.arrivals_millirps == (858, 108)
    assert judgement.peak_concurrencies == (6, 2)
    # kept by the switch, then over 7 replicas: ⌈24/7⌉, ⌈8/7⌉
    kept = judge(fields | {"traffic.scale_concurrency": False}, class_ids)
    assert (kept.arrivals_millirps, kept.peak_concurrencies) == ((858, 108), (4, 2))


def test_traffic_has_defaults(cell, class_ids):
    bare = without(cell, "traffic.scale_permille", "traffic.replicas", "traffic.scale_concurrency")
    assert judge(bare, class_ids) == judge(cell, class_ids)


def test_concurrency_from_the_slo(cell, class_ids):
    """⌈858 · (250 + 200 · 30) · 1000 / 10^9⌉ = ⌈5.3625⌉ = 6; a burst of 1.2 gives ⌈6.435⌉ = 7."""
    fields = cell | FROM_SLO | {"traffic.scale_permille": 1501, "traffic.replicas": 7}
    assert judge(fields, class_ids).peak_concurrencies == (6, 2)
    fields |= {"traffic.scale_concurrency": False}
    assert judge(fields, class_ids).peak_concurrencies == (6, 2)
    fields |= {"class.interactive-short.burst_permille": 1200}
    assert judge(fields, class_ids).peak_concurrencies == (7, 2)


def test_step_time(cell, class_ids):
    """7 000 000 + 74 000 · 16 + 33 000 · 256 = 16 632 000 ns → 17 ms; ⌊272 · 10^9 / 16 632 000⌋ = 16 354."""
    sizes = {"scheduler.max_active_sequences": 16, "scheduler.max_prefill_chunk_tokens": 256}
    fields = without(cell, "scheduler.iteration_time_ms") | STEP | sizes
    judgement = judge(fields, class_ids)
    assert (judgement.iteration_time_ms, judgement.token_capacity_per_second) == (17, 40_000)
    judgement = judge(without(fields, "scheduler.token_capacity_per_second") | FROM_STEP, class_ids)
    assert (judgement.iteration_time_ms, judgement.token_capacity_per_second) == (17, 16_354)


@pytest.mark.parametrize(
    ("change", "kv_bytes"),
    [
        ({}, 131_072),
        ({"gpu.tensor_parallel": 16}, 262_144),  # 8 heads on 16 GPUs: one each, so 16
        ({"gpu.tensor_parallel": 3}, 147_456),  # ⌈8/3⌉ = 3 on each, so 9
        ({"model.kv_bytes_per_value": Fraction(17, 32)}, 34_816),
        (SMALL | {"model.kv_bytes_per_value": Fraction(1, 4)}, 2),  # ⌈6/4⌉
        (SMALL | {"model.kv_bytes_per_value": Fraction(1, 6)}, 1),
    ],
)
def test_kv_bytes_per_token(cell, class_ids, change, kv_bytes):
    """2 · layers · heads · head_dim · bytes per value, rounded up at the end."""
    judgement = judge(without(cell, "scheduler.kv_bytes_per_token") | MODEL | change, class_ids)
    assert judgement.kv_bytes_per_token == kv_bytes
    assert judgement.max_kv_bytes == 10_000_000_000  # given, hence not derived


def test_kv_bytes_per_token_needs_no_gpu(cell, class_ids):
    model = {name: value for name, value in MODEL.items() if name.startswith("model.")}
    judgement = judge(without(cell, "scheduler.kv_bytes_per_token") | model, class_ids)
    assert judgement.kv_bytes_per_token == 131_072


# ⌊85 520 809 984 · 900 / 1000⌋ − 2 GiB − 1 GiB = 73 747 503 513 per GPU
@pytest.mark.parametrize(
    ("change", "bound"),
    [
        ({}, 57_686_981_017),
        ({"gpu.tensor_parallel": 4}, 278_929_491_556),
        ({"gpu.reserved_bytes": 13, "gpu.tensor_parallel": 4}, 278_929_491_504),
        ({"gpu.activation_bytes_per_chunk_token": 1000, "gpu.tensor_parallel": 4}, 278_927_571_556),
        ({"model.weight_bytes": 73_747_503_512}, 1),
    ],
)
def test_bound_from_memory(cell, class_ids, change, bound):
    judgement = judge(cell | MODEL | FROM_MEMORY | change, class_ids)
    assert (judgement.max_kv_bytes, judgement.invalid_reason) == (bound, 0)


NO_CAPACITY = {*UTILISATIONS, QUEUE, SERVICE, TTFT, TPOT}
NO_ARRIVAL = {*UTILISATIONS, QUEUE, TTFT}
NO_PEAK = {TPOT, KV, ACTIVE}
LONG_ARRIVAL = "class.interactive-long.arrival_millirps"
KEPT = {"traffic.scale_concurrency": False}
HUGE_STEP = {**FLAT_STEP, "step_time.base_ns": 10**15}
HUGE_MODEL = {**MODEL, "model.layers": 10**5, "model.kv_heads": 10**5, "model.head_dim": 10**5}
TINY = {"scheduler.token_capacity_per_second": 1, "scheduler.prefill_share_permille": 999}
# fields on top of the illustrative cell, the reason, the undefined figures
INVALID = [
    (MODEL | FROM_MEMORY | {"model.weight_bytes": 73_747_503_513}, 1, set()),
    (MODEL | FROM_MEMORY | {"model.weight_bytes": 10**18}, 1, set()),
    (MODEL | FROM_MEMORY | {"gpu.memory_bytes": 10**18, "gpu.tensor_parallel": 2}, 2, set()),
    # 10 480 · 10^9 tokens/s in 1 ns
    (FLAT_STEP | FROM_STEP | {"scheduler.max_active_sequences": 10**4}, 3, NO_CAPACITY),
    # ⌊544 · 10^9 / 10^15⌋ = 0 tokens/s, 10^9 ms: capacity is the lower reason
    (HUGE_STEP | FROM_STEP, 3, {*NO_CAPACITY, STARVATION}),
    (HUGE_STEP, 4, {QUEUE, SERVICE, TTFT, TPOT, STARVATION}),
    (HUGE_MODEL, 5, {KV}),
    (HUGE_MODEL | {"scheduler.max_prefill_chunk_tokens": 481}, 5, {KV}),
    (TINY, 6, {"prefill_utilization_permille", SERVICE, TTFT}),  # P = 0
    # P = 49 tokens/s: a divisor of its own, though no whole token per iteration
    (TINY | {"scheduler.token_capacity_per_second": 50}, 6, set()),
    ({"scheduler.token_capacity_per_second": 2, "scheduler.prefill_share_permille": 500}, 6, set()),  # P = 1
    ({"scheduler.max_prefill_chunk_tokens": 481}, 7, set()),
    ({"traffic.scale_permille": 10**15}, 8, NO_ARRIVAL | NO_PEAK),
    ({"traffic.scale_permille": 10**15} | KEPT, 8, NO_ARRIVAL),
    ({"traffic.scale_permille": 10**15} | KEPT | FROM_SLO, 8, NO_ARRIVAL | NO_PEAK),
    ({"traffic.scale_permille": 10**15 + 1, "traffic.replicas": 10**6} | KEPT, 8, set()),
    ({LONG_ARRIVAL: 10**12, "traffic.scale_permille": 1001} | KEPT, 8, NO_ARRIVAL),
    ({"class.interactive-long.peak_concurrency": 10**6, "traffic.scale_permille": 1001}, 9, NO_PEAK),
    ({"class.interactive-short.arrival_millirps": 10**9} | FROM_SLO, 9, NO_PEAK),
]


@pytest.mark.parametrize(("change", "reason", "undefined"), INVALID)
def test_invalid_cells(cell, class_ids, change, reason, undefined):
    """The lowest reason, bit 15 alone, −1 exactly where a figure is undefined, and no records."""
    judgement = judge(cell | change, class_ids)
    assert (judgement.invalid_reason, judgement.violations) == (reason, 0x8000)
    assert {name for name, value in judgement.figures.items() if value == -1} == undefined
    with pytest.raises(InvalidPoint, match=INVALID_REASONS[reason]) as caught:
        records_of(cell | change, class_ids)
    assert caught.value.reason == judgement.reason == INVALID_REASONS[reason]


ALL_MEMORY = {
    "gpu.memory_bytes": 10**18,
    "gpu.memory_utilization_permille": 1000,
    "gpu.activation_bytes": 0,
    "gpu.framework_overhead_bytes": 0,
    "model.weight_bytes": 0,
}
SQUARE = {
    "model.layers": 10**5,
    "model.kv_heads": 10**5,
    "model.head_dim": 50,
    "model.kv_bytes_per_value": 1,
}


@pytest.mark.parametrize(
    "change",
    [
        {LONG_ARRIVAL: 10**12},
        {"traffic.scale_permille": 10**15, "traffic.replicas": 10**6} | KEPT,
        {"class.interactive-long.peak_concurrency": 10**6},
        FLAT_STEP | FROM_STEP | {"scheduler.max_active_sequences": 520},  # 1000 tokens per ns
        FLAT_STEP | {"step_time.base_ns": 86_400_000 * 10**6},
        MODEL | SQUARE,  # 10^12 bytes per token
        MODEL | FROM_MEMORY | ALL_MEMORY,  # 10^18 bytes
    ],
)
def test_derived_figures_at_their_upper_bound_are_valid(cell, class_ids, change):
    judgement = judge(cell | change, class_ids)
    assert judgement.reason == "valid"
    assert min(judgement.figures.values()) >= 0
    assert records_of(cell | change, class_ids)[1].request_classes[1].class_id == "interactive-long"


def test_derived_figures_are_given_even_out_of_range(cell, class_ids):
    judgement = judge(cell | HUGE_STEP | FROM_STEP | HUGE_MODEL | FROM_MEMORY, class_ids)
    assert judgement.token_capacity_per_second == 0
    assert judgement.iteration_time_ms == 10**9
    assert judgement.kv_bytes_per_token == 4 * 10**15
    judgement = judge(cell | MODEL | FROM_MEMORY | {"model.weight_bytes": 10**18}, class_ids)
    assert judgement.max_kv_bytes == 73_747_503_513 - 10**18
    judgement = judge(cell | {"traffic.scale_permille": 10**15}, class_ids)
    assert judgement.arrivals_millirps == (4 * 10**15, 5 * 10**14)
    assert judgement.peak_concurrencies == (24 * 10**12, 8 * 10**12)
    judgement = judge(cell | {"traffic.scale_permille": 10**15} | FROM_SLO, class_ids)
    assert judgement.peak_concurrencies == (-1, 8 * 10**12)


def test_records_of_a_derived_cell_audit_to_the_same_verdict(cell, class_ids):
    fields = cell | STEP | FROM_STEP | MODEL | FROM_MEMORY | FROM_SLO | {"traffic.replicas": 3}
    fields |= {"scheduler.prefill_share_permille": 950, "contract.max_starvation_ms": 200}
    contract, workload = records_of(fields, class_ids)
    judgement = judge(fields, class_ids)
    assert judgement.invalid_reason == 0
    assert contract.max_kv_bytes == 57_686_981_017
    assert workload.scheduler.iteration_time_ms == 28  # 7 000 000 + 4 736 000 + 15 840 000 ns
    assert workload.request_classes[0].arrival_millirps == 1334
    report = audit(contract, workload)
    assert report.peak_kv_bytes == judgement.figures[KV]


def test_records_of_takes_the_default_scope(cell, class_ids):
    bare = {name: value for name, value in cell.items() if not name.startswith("scope.")}
    contract, _ = records_of(bare, class_ids)
    assert contract.scope[:2] == ("batching-policy", "traffic-mix")
    with pytest.raises(RecordFault, match="scope"):
        records_of(bare | {"scope.tokenizer": "fixture"}, class_ids)


def test_a_single_bit_is_not_always_a_step(cell, class_ids):
    """At 999 ‰ the queue takes 100 000 · 999 ms, over a day; at 1000 ‰ it is a day, which is within."""
    fields = cell | {
        "scheduler.iteration_time_ms": 100_000,
        "contract.max_queue_delay_ms": 86_400_000,
        "scheduler.token_capacity_per_second": 9_600,
        "class.interactive-long.arrival_millirps": 1000,
    }
    # (4000 · 1200 + 1000 · 4800) / 9600: 1000 ‰ at scale 1000
    at = {scale: judge(fields | {"traffic.scale_permille": scale}, class_ids) for scale in (999, 1000, 1001)}
    assert [judged.figures["total_utilization_permille"] for judged in at.values()] == [999, 1000, 1001]
    assert [judged.figures[QUEUE] for judged in at.values()] == [99_900_000, 86_400_000, 86_400_000]
    assert [judged.violations >> 5 & 1 for judged in at.values()] == [1, 0, 0]
    assert all(judged.violations & 0b100_0100 == 0b100_0100 for judged in at.values())
