"""What the claim and the codes mean, in plain words for people. Each text fits a line of 80 columns."""

from typing import Final

CLAIM: Final = "LOCAL_FLUID_CAPACITY_MODEL_NOT_QUEUEING_OR_DEVICE_BENCHMARK"
"""The claim that every report carries."""

CLAIM_SENTENCE: Final = (
    "These figures come from a local fluid capacity model: average flows against\n"
    "declared capacity. It is not a queueing analysis and not a device benchmark."
)
"""The claim in plain words; every output that a person sees carries it."""

CLAIM_IN_SHORT: Final = "fluid capacity model, not a device benchmark"
"""The claim where there is room for a few words only."""

VIOLATION_MEANINGS: Final = {
    "admission-control-disabled": "admission control is off",
    "active-sequence-capacity": "peak concurrency exceeds the batch slots (max_active_sequences)",
    "total-utilization": "the load on the token capacity exceeds max_total_utilization_permille",
    "prefill-utilization": "the load on the prefill share exceeds max_prefill_utilization_permille",
    "decode-utilization": "the load on the decode share exceeds max_decode_utilization_permille",
    "queue-delay": "waiting for the prefill queue exceeds max_queue_delay_ms",
    "time-to-first-token": "queue and prefill of the slowest class exceed max_ttft_ms",
    "time-per-output-token": "an output token takes longer than max_tpot_ms",
    "starvation-bound": "waiting behind prioritised iterations exceeds max_starvation_ms",
    "kv-capacity": "KV cache at peak concurrency exceeds max_kv_bytes",
}
"""Violation code -> one line."""

INVALID_MEANINGS: Final = {
    "valid": "the operating point has records and a verdict",
    "weights-do-not-fit": "the weights leave no memory for KV cache",
    "kv-bound-out-of-range": "the memory left for KV cache is above 10^18 bytes",
    "token-capacity-out-of-range": "the derived token capacity is not 1 to 10^12 tokens/s",
    "iteration-time-out-of-range": "the derived iteration time is not 1 ms to one day",
    "kv-bytes-per-token-out-of-range": "the derived KV size is not 1 to 10^12 bytes per token",
    "no-prefill-token-per-iteration": "the prefill share serves less than one token per iteration",
    "chunk-exceeds-iteration-service": "the chunk is larger than what prefill serves in an iteration",
    "arrival-out-of-range": "a class' arrivals exceed 10^12 millirps, or the scale 10^15 permille",
    "peak-concurrency-out-of-range": "a class' peak concurrency is not 1 to 10^6 sequences",
}
"""Invalid reason -> one line."""
