"""The models that derive a record's fields (`grid.md`: traffic scale and replicas, step time, memory)."""

from sweep.exact.ops import Flag, Number, ceil_div, clamp, floor_div, maximum, select, within
from sweep.kernels import domain


def step_ns(base: Number, per_sequence: Number, per_prefill_token: Number, slots: Number, chunk: Number) -> Number:
    """Nanoseconds of one iteration with every slot decoding and a full prefill chunk."""
    return base + per_sequence * slots + per_prefill_token * chunk


def iteration_time_ms(step: Number) -> Number:
    """The step time in whole milliseconds, rounded up."""
    return ceil_div(step, 10**6)


def token_capacity(slots: Number, chunk: Number, step: Number) -> Number:
    """Tokens per second of back-to-back iterations; a step is at least 1 ns in every cell of a valid grid."""
    return floor_div((slots + chunk) * 10**9, maximum(step, 1))


def kv_bytes_per_token(
    layers: Number,
    kv_heads: Number,
    head_dim: Number,
    width_over: Number,
    width_under: Number,
    parallel: Number,
) -> Number:
    """Bytes of key and value of one token on all GPUs of a replica; heads are replicated where they are too few."""
    heads = parallel * maximum(1, ceil_div(kv_heads, parallel))
    return ceil_div(2 * layers * heads * head_dim * width_over, width_under)


def kv_memory_bytes(
    memory: Number,
    utilization: Number,
    activation: Number,
    overhead: Number,
    reserved: Number,
    weights: Number,
    parallel: Number,
) -> Number:
    """What the memory of a replica leaves for the KV cache; negative where the weights do not fit."""
    per_gpu = floor_div(memory * utilization, 1000) - activation - overhead - reserved
    return parallel * per_gpu - weights


def kv_memory_bytes_per_chunk(remainder: Number, per_chunk_token: Number, chunk: Number, parallel: Number) -> Number:
    """The same with activations that grow with the prefill chunk."""
    return remainder - parallel * (per_chunk_token * chunk)


def arrival_millirps(declared: Number, scale: Number, replicas: Number) -> Number:
    """Arrivals of the busiest replica: ⌈⌈declared·scale/1000⌉/replicas⌉ = ⌈declared·scale/(1000·replicas)⌉.

    ⌈⌈x/a⌉/b⌉ = ⌈x/(ab)⌉ for integers a, b ≥ 1: an integer n is ≥ x/(ab) iff nb ≥ x/a iff nb ≥ ⌈x/a⌉.
    """
    return ceil_div(declared * scale, 1000 * replicas)


def peak_scaled(declared: Number, scale: Number, replicas: Number) -> Number:
    """Peak concurrency of the busiest replica, growing with the traffic; the same nested ceiling."""
    return ceil_div(declared * scale, 1000 * replicas)


def peak_fixed(declared: Number, replicas: Number) -> Number:
    """Peak concurrency of the busiest replica where the traffic scale does not change it."""
    return ceil_div(declared, replicas)


def peak_from_slo(
    arrival: Number,
    arrival_in_range: Flag,
    max_ttft: Number,
    max_tpot: Number,
    output_tokens: Number,
    burst: Number,
) -> Number:
    """Little's law at the SLO's own limits: sequences present = arrivals · the longest time each may stay."""
    stay = (max_ttft + output_tokens * max_tpot) * burst
    present = ceil_div(clamp(arrival, *domain.ARRIVAL_MILLIRPS) * stay, domain.BURST_UNIT)
    return select(arrival_in_range, present, domain.UNDEFINED)


def arrival_in_range(arrival: Number) -> Flag:
    """Whether a class' arrivals are inside their bounds."""
    return within(arrival, *domain.ARRIVAL_MILLIRPS)


def peak_in_range(peak: Number) -> Flag:
    """Whether a class' peak concurrency is inside its bounds (an undefined one is not)."""
    return within(peak, *domain.PEAK_CONCURRENCY)


def all_of(*flags: Flag) -> Flag:
    """Whether every flag holds."""
    result = flags[0]
    for flag in flags[1:]:
        result = result & flag
    return result


def prefill_rate(capacity: Number, share: Number) -> Number:
    """P = ⌊C·share/1000⌋ tokens/s, with C clamped to its bounds (cells outside are invalid anyway)."""
    return floor_div(clamp(capacity, *domain.CAPACITY) * share, 1000)


def decode_rate(capacity: Number, prefill: Number) -> Number:
    """D = C − P ≥ 1: share ≤ 999 makes P ≤ 999·C/1000 < C. The maximum only tells the proof so."""
    return maximum(clamp(capacity, *domain.CAPACITY) - prefill, 1)


def iteration_service_tokens(prefill: Number, iteration: Number) -> Number:
    """Prefill tokens that one iteration serves: ⌊P·iteration/1000⌋."""
    return floor_div(prefill * clamp(iteration, *domain.ITERATION_MS), 1000)
