"""Every kernel beside the definition of what it computes, with the ranges of its arguments.

`flag` arguments are the verdict "derived inputs are inside".
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from declared import BOUNDS
from plain import (
    DAY,
    MAX_ARRIVAL,
    MAX_CAPACITY,
    MAX_PEAK,
    MAX_WIDTH,
    clip,
    largest,
    little,
    per_replica,
    plain_grown,
    plain_kv_limit,
    plain_kv_width,
    plain_little,
    plain_little_only,
    plain_memory,
    plain_queue,
    plain_queue_over,
    plain_scale_for_peaks,
    plain_scale_for_work,
    plain_service,
    plain_tpot,
    plain_tpot_limit,
    plain_ttft_limit,
    plain_waiting_limit,
    plain_work_limit,
    up,
)

from sweep.kernels import derive, figures, rules, thresholds

MAX_SCALE = 10**15

CAPACITY = BOUNDS["scheduler.token_capacity_per_second"]
SHARE = BOUNDS["scheduler.prefill_share_permille"]
SLOTS = BOUNDS["scheduler.max_active_sequences"]
CHUNK = BOUNDS["scheduler.max_prefill_chunk_tokens"]
TOKENS = BOUNDS["class.prompt_tokens"]
ARRIVAL = BOUNDS["class.arrival_millirps"]
PEAK = BOUNDS["class.peak_concurrency"]
BURST = BOUNDS["class.burst_permille"]
REPLICAS = BOUNDS["traffic.replicas"]
SCALE = (1, MAX_SCALE + 1)
MS = (1, DAY)
BYTES = (0, 10**18)
PERMILLE = (1, 999)
# Derived values may leave their records' bounds.
ANY_CAPACITY, ANY_ITERATION, ANY_WIDTH = (0, 10**16), (0, 10**14), (1, 10**23)
ANY_ARRIVAL, ANY_PEAK, ANY_BOUND = (1, 10**25), (-1, 10**28), (-(10**23), 10**23)
RATE = (0, MAX_CAPACITY)
STAY = (2, 10**21)
WORK = (1, 2 * 10**21)
FLAG = "flag"


@dataclass(frozen=True)
class Case:
    """A kernel, the ranges of its arguments, and the plain formula."""

    kernel: Callable[..., Any]
    ranges: tuple[Any, ...]
    plain: Callable[..., int | bool]


def _case(kernel: Callable[..., Any], plain: Callable[..., int | bool], *ranges: Any) -> Case:
    return Case(kernel, ranges, plain)


def _inside(lower: int, upper: int) -> Callable[[int], bool]:
    return lambda value: lower <= value <= upper


def _outside(lower: int, upper: int) -> Callable[[int], bool]:
    return lambda value: not lower <= value <= upper


DERIVE = {
    "step_ns": _case(
        derive.step_ns, lambda b, s, p, n, c: b + s * n + p * c, (0, 10**15), (0, 10**12), (0, 10**12), SLOTS, CHUNK
    ),
    "iteration_time_ms": _case(derive.iteration_time_ms, lambda step: up(step, 10**6), (0, 10**20)),
    "token_capacity": _case(
        derive.token_capacity, lambda b, c, step: (b + c) * 10**9 // max(step, 1), SLOTS, CHUNK, (0, 10**20)
    ),
    "kv_bytes_per_token": _case(
        derive.kv_bytes_per_token, plain_kv_width, *[(1, 10**5)] * 3, (1, 1024), (1, 1024), (1, 10**4)
    ),
    "kv_memory_bytes": _case(derive.kv_memory_bytes, plain_memory, BYTES, (1, 1000), *[BYTES] * 4, (1, 10**4)),
    "kv_memory_bytes_per_chunk": _case(
        derive.kv_memory_bytes_per_chunk, lambda r, a, c, g: r - g * a * c, ANY_BOUND, (0, 10**12), CHUNK, (1, 10**4)
    ),
    "arrival_millirps": _case(derive.arrival_millirps, per_replica, ARRIVAL, SCALE, REPLICAS),
    "peak_scaled": _case(derive.peak_scaled, per_replica, PEAK, SCALE, REPLICAS),
    "peak_fixed": _case(derive.peak_fixed, up, PEAK, REPLICAS),
    "peak_from_slo": _case(derive.peak_from_slo, plain_little, ANY_ARRIVAL, FLAG, MS, MS, TOKENS, BURST),
    "arrival_in_range": _case(derive.arrival_in_range, _inside(1, MAX_ARRIVAL), ANY_ARRIVAL),
    "peak_in_range": _case(derive.peak_in_range, _inside(1, MAX_PEAK), ANY_PEAK),
    "all_of": _case(derive.all_of, lambda *flags: all(flags), FLAG, FLAG, FLAG),
    "prefill_rate": _case(derive.prefill_rate, lambda c, s: clip(c, 1, MAX_CAPACITY) * s // 1000, ANY_CAPACITY, SHARE),
    "decode_rate": _case(derive.decode_rate, lambda c, p: max(1, clip(c, 1, MAX_CAPACITY) - p), ANY_CAPACITY, RATE),
    "iteration_service_tokens": _case(
        derive.iteration_service_tokens, lambda p, it: p * clip(it, 1, DAY) // 1000, RATE, ANY_ITERATION
    ),
}
FIGURES = {
    "work": _case(
        figures.work,
        lambda a, t, b, s: clip(a, 1, MAX_ARRIVAL) * t + clip(b, 1, MAX_ARRIVAL) * s,
        *(ANY_ARRIVAL, TOKENS) * 2,
    ),
    "total": _case(figures.total, lambda *terms: sum(terms), *[(-(10**19), 10**19)] * 3),
    "utilization_permille": _case(
        figures.utilization_permille,
        lambda w, r, inside: up(w, r) if inside and r >= 1 else -1,
        (0, 2 * 10**21),
        RATE,
        FLAG,
    ),
    "queue_delay_ms": _case(figures.queue_delay_ms, plain_queue, (-1, 10**21), ANY_ITERATION, FLAG),
    "prefill_service_ms": _case(
        figures.prefill_service_ms, plain_service, RATE, ANY_ITERATION, CHUNK, FLAG, TOKENS, TOKENS
    ),
    "ttft_ms": _case(figures.ttft_ms, lambda q, s: q + s if q >= 0 and s >= 0 else -1, (-1, 10**11), (-1, 10**15)),
    "active_sequences": _case(
        figures.active_sequences,
        lambda inside, a, b: clip(a, 1, MAX_PEAK) + clip(b, 1, MAX_PEAK) if inside else -1,
        FLAG,
        ANY_PEAK,
        ANY_PEAK,
    ),
    "tpot_ms": _case(figures.tpot_ms, plain_tpot, (-1, 64 * 10**6), (1, MAX_CAPACITY), ANY_ITERATION, FLAG),
    "starvation_ms": _case(
        figures.starvation_ms,
        lambda n, it, inside: (n + 1) * clip(it, 1, DAY) if inside else -1,
        (1, 10**6),
        ANY_ITERATION,
        FLAG,
    ),
    "kv_tokens": _case(
        figures.kv_tokens,
        lambda a, t, b, s: clip(a, 1, MAX_PEAK) * t + clip(b, 1, MAX_PEAK) * s,
        *(ANY_PEAK, (2, 2 * 10**7)) * 2,
    ),
    "kv_bytes": _case(
        figures.kv_bytes, lambda t, w, inside: t * clip(w, 1, MAX_WIDTH) if inside else -1, (2, 10**15), ANY_WIDTH, FLAG
    ),
}
RULES = {
    "over": _case(rules.over, lambda figure, bound: figure > bound, (-1, 10**27), ANY_BOUND),
    "outside": _case(lambda value: rules.outside(value, 3, 7), _outside(3, 7), (0, 10)),
    "capacity_outside": _case(rules.capacity_outside, _outside(1, MAX_CAPACITY), ANY_CAPACITY),
    "iteration_outside": _case(rules.iteration_outside, _outside(1, DAY), ANY_ITERATION),
    "kv_width_outside": _case(rules.kv_width_outside, _outside(1, MAX_WIDTH), ANY_WIDTH),
    "weights_do_not_fit": _case(rules.weights_do_not_fit, lambda left: left < 1, ANY_BOUND),
    "kv_bound_outside": _case(rules.kv_bound_outside, _outside(1, 10**18), ANY_BOUND),
    "no_prefill_token": _case(rules.no_prefill_token, lambda served: served < 1, (0, 10**17)),
    "chunk_exceeds_service": _case(rules.chunk_exceeds_service, lambda c, served: c > served, CHUNK, (0, 10**17)),
    "queue_over": _case(rules.queue_over, plain_queue_over, WORK, (0, 10**15), (999, 999 * 10**12), MS),
    "arrivals_outside": _case(
        rules.arrivals_outside, lambda inside, scale: not inside or scale > MAX_SCALE, FLAG, SCALE
    ),
    "none_of": _case(rules.none_of, lambda flag: not flag, FLAG),
}
LIMIT = (-(10**15), 10**15)
THRESHOLDS = {
    "arrival_cap": _case(
        thresholds.arrival_cap,
        lambda a, r: largest(lambda x: per_replica(a, x, r) <= MAX_ARRIVAL, 0, MAX_SCALE),
        ARRIVAL,
        REPLICAS,
    ),
    "peak_cap_scaled": _case(
        thresholds.peak_cap_scaled,
        lambda n, r: largest(lambda x: per_replica(n, x, r) <= MAX_PEAK, 0, 10**16),
        PEAK,
        REPLICAS,
    ),
    "stay_permille_ms": _case(thresholds.stay_permille_ms, lambda f, p, o, b: (f + o * p) * b, MS, MS, TOKENS, BURST),
    "peak_cap_from_slo": _case(
        thresholds.peak_cap_from_slo,
        lambda a, r, g: largest(
            lambda x: per_replica(a, x, r) <= MAX_ARRIVAL and little(per_replica(a, x, r), g) <= MAX_PEAK, 0, 10**22
        ),
        ARRIVAL,
        REPLICAS,
        STAY,
    ),
    "smallest": _case(thresholds.smallest, min, SCALE, SCALE, SCALE),
    "waiting_limit": _case(thresholds.waiting_limit, plain_waiting_limit, (-(10**13), DAY), ANY_ITERATION),
    "ttft_limit": _case(thresholds.ttft_limit, plain_ttft_limit, MS, (0, 10**13), ANY_ITERATION),
    "work_limit": _case(thresholds.work_limit, plain_work_limit, PERMILLE, RATE),
    "capacity_work_limit": _case(
        thresholds.capacity_work_limit, lambda u, c: u * clip(c, 1, MAX_CAPACITY), (-1, 999), ANY_CAPACITY
    ),
    "saturation_work": _case(
        thresholds.saturation_work,
        lambda c: largest(lambda work: up(work, clip(c, 1, MAX_CAPACITY)) < 1000, 0, 10**16),
        ANY_CAPACITY,
    ),
    "scale_for_work": _case(
        thresholds.scale_for_work, plain_scale_for_work, LIMIT, (1, MAX_SCALE), REPLICAS, *(ARRIVAL, TOKENS) * 2
    ),
    "tpot_sequences_limit": _case(thresholds.tpot_sequences_limit, plain_tpot_limit, MS, (1, MAX_CAPACITY), FLAG),
    "kv_tokens_limit": _case(thresholds.kv_tokens_limit, plain_kv_limit, ANY_BOUND, ANY_WIDTH),
    "limit_left": _case(
        thresholds.limit_left, lambda left, v, n, w, m: left - v * n - w * m, (0, 10**18), *(TOKENS, ANY_PEAK) * 2
    ),
    "scale_if_fits": _case(thresholds.scale_if_fits, lambda left, cap: cap if left >= 0 else 0, LIMIT, (1, MAX_SCALE)),
    "scale_for_peaks": _case(
        lambda left, cap, r, *terms: thresholds.scale_for_peaks(left, cap, r, 2, *terms),
        plain_scale_for_peaks,
        (-(10**13), 10**18),
        (0, MAX_SCALE),
        REPLICAS,
        *(TOKENS, PEAK) * 2,
        TOKENS,
        ARRIVAL,
        STAY,
    ),
    "scale_for_peaks, grown": _case(
        lambda left, cap, r, *terms: thresholds.scale_for_peaks(left, cap, r, 1, *terms),
        plain_grown,
        (-(10**13), 10**18),
        (0, MAX_SCALE),
        REPLICAS,
        TOKENS,
        PEAK,
    ),
    "scale_for_peaks, Little": _case(
        lambda left, cap, r, *terms: thresholds.scale_for_peaks(left, cap, r, 0, *terms),
        plain_little_only,
        (-(10**13), 10**18),
        (0, MAX_SCALE),
        REPLICAS,
        (1, 2 * 10**7),
        ARRIVAL,
        STAY,
    ),
    "largest_scale": _case(
        thresholds.largest_scale, lambda free, cap, *scales: min(cap, *scales) if free else 0, FLAG, SCALE, SCALE, SCALE
    ),
}
KERNELS = {**DERIVE, **FIGURES, **RULES, **THRESHOLDS}
