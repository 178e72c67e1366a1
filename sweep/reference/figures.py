"""The figures of an operating point and its violations, formula by formula as `audit.md` writes them."""

from collections.abc import Mapping
from typing import Final

from sweep.records.bounds import LONGEST_MS
from sweep.reference.derive import UNDEFINED, Load, Point, ceil_div

Figures = dict[str, int]
"""The eight figures of a report, `active_sequences` and `worst_prefill_service_ms`; −1 where undefined."""

BOUND_OF: Final = (
    ("total_utilization_permille", "max_total_utilization_permille"),
    ("prefill_utilization_permille", "max_prefill_utilization_permille"),
    ("decode_utilization_permille", "max_decode_utilization_permille"),
    ("estimated_queue_delay_ms", "max_queue_delay_ms"),
    ("estimated_worst_ttft_ms", "max_ttft_ms"),
    ("estimated_tpot_ms", "max_tpot_ms"),
    ("declared_starvation_bound_ms", "max_starvation_ms"),
    ("peak_kv_bytes", "max_kv_bytes"),
)
"""Figure -> the contract's bound on it, in the order of the violation bits 2 to 9."""


def figures_of(point: Point) -> Figures:
    """Every figure of the point; −1 where a divisor is 0, an input is out of range or itself undefined."""
    capacity_known, iteration_known = point.capacity_in_range, point.iteration_in_range
    capacity, iteration, loads = point.token_capacity_per_second, point.iteration_time_ms, point.loads
    prefill = point.prefill_tokens_per_second
    decode = capacity - prefill  # > 0 for a capacity in range, since the share is below 1000

    total = prefill_use = decode_use = queue = service = UNDEFINED
    tpot = starvation = kv_bytes = active = UNDEFINED
    if capacity_known and point.arrivals_in_range:
        prompts = sum([load.arrival_millirps * load.prompt_tokens for load in loads])
        outputs = sum([load.arrival_millirps * load.output_tokens for load in loads])
        total = ceil_div(prompts + outputs, capacity)
        decode_use = ceil_div(outputs, decode)
        if prefill > 0:
            prefill_use = ceil_div(prompts, prefill)
        if iteration_known:
            queue = LONGEST_MS if total >= 1000 else ceil_div(iteration * total, 1000 - total)
    if iteration_known:
        starvation = (point.max_consecutive_priority_iterations + 1) * iteration
        if capacity_known and prefill > 0:
            chunk = point.max_prefill_chunk_tokens
            service = max([_service_ms(load, chunk, iteration, prefill) for load in loads])
    if point.peaks_in_range:
        active = sum([load.peak_concurrency for load in loads])
        if iteration_known and capacity_known:
            tpot = max(iteration, ceil_div(1000 * active, decode))
        if point.kv_in_range:
            held = sum([load.peak_concurrency * (load.prompt_tokens + load.output_tokens) for load in loads])
            kv_bytes = held * point.kv_bytes_per_token
    ttft = UNDEFINED if queue == UNDEFINED or service == UNDEFINED else queue + service
    return {
        "total_utilization_permille": total,
        "prefill_utilization_permille": prefill_use,
        "decode_utilization_permille": decode_use,
        "estimated_queue_delay_ms": queue,
        "estimated_worst_ttft_ms": ttft,
        "estimated_tpot_ms": tpot,
        "declared_starvation_bound_ms": starvation,
        "peak_kv_bytes": kv_bytes,
        "active_sequences": active,
        "worst_prefill_service_ms": service,
    }


def _service_ms(load: Load, chunk: int, iteration: int, prefill: int) -> int:
    """Prefill of one prompt without the queue: by its chunks or by the prefill rate, whichever is longer."""
    return max(ceil_div(load.prompt_tokens, chunk) * iteration, ceil_div(load.prompt_tokens * 1000, prefill))


def violations_of(
    figures: Figures, bounds: Mapping[str, int], max_active_sequences: int, admission_control_enabled: bool
) -> int:
    """The violation mask of a valid point; `bounds` holds the contract's eight bounds by field name."""
    mask = 0 if admission_control_enabled else 1
    if figures["active_sequences"] > max_active_sequences:
        mask |= 1 << 1
    for bit, (figure, bound) in enumerate(BOUND_OF, start=2):
        if figures[figure] > bounds[bound]:
            mask |= 1 << bit
    return mask
