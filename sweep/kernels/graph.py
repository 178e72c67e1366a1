"""Which kernel feeds which: a flat table of named nodes, made for what a grid switches on.

A node's dimensions are the union of its inputs' dimensions, so what the base switches off (a fixed concurrency, no
class from the SLO) must not appear among the inputs: that is decided here and nowhere else. Class figures are
numbered (`class.0.prompt_tokens`), since ids are labels.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from sweep.kernels import derive, domain, figures, rules, thresholds
from sweep.kernels.nodes import BITS, COMPARED, REPLICAS, SCALE, STATIC_RULES, Graph, Node, Switches


def build(switches: Switches) -> Graph:
    """All nodes that a grid with these switches has, in an order in which each reads only earlier ones."""
    graph: Graph = {}

    def add(name: str, kernel: Callable[..., Any], *inputs: str) -> None:
        graph[name] = Node(name, inputs, kernel)

    _add_models(add, switches)
    _add_traffic(add, switches)
    _add_figures(add, len(switches.from_slo))
    _add_rules(add, switches)
    _add_thresholds(add, switches)
    return graph


Add = Callable[..., None]


def _class(index: int, field: str) -> str:
    return f"class.{index}.{field}"


def _pairs(count: int, *fields: str) -> list[str]:
    return [_class(i, field) for i in range(count) for field in fields]


def _same(value: Any) -> Any:
    return value


def _add_models(add: Add, on: Switches) -> None:
    share, chunk = "scheduler.prefill_share_permille", "scheduler.max_prefill_chunk_tokens"
    slots = "scheduler.max_active_sequences"
    if on.step_time:
        names = ("base_ns", "per_sequence_ns", "per_prefill_token_ns")
        add("step_ns", derive.step_ns, *[f"step_time.{name}" for name in names], slots, chunk)
        add("iteration_time_ms", derive.iteration_time_ms, "step_ns")
    else:
        add("iteration_time_ms", _same, "scheduler.iteration_time_ms")
    if on.capacity_from_step_time:
        add("token_capacity_per_second", derive.token_capacity, slots, chunk, "step_ns")
    else:
        add("token_capacity_per_second", _same, "scheduler.token_capacity_per_second")
    if on.model:
        width = ("model.kv_bytes_per_value.numerator", "model.kv_bytes_per_value.denominator")
        shape = ("model.layers", "model.kv_heads", "model.head_dim")
        add("kv_bytes_per_token", derive.kv_bytes_per_token, *shape, *width, "gpu.tensor_parallel")
    else:
        add("kv_bytes_per_token", _same, "scheduler.kv_bytes_per_token")
    _add_kv_bound(add, on, chunk)
    add("capacity_in_range", partial(_within, domain.CAPACITY), "token_capacity_per_second")
    add("iteration_in_range", partial(_within, domain.ITERATION_MS), "iteration_time_ms")
    add("kv_width_in_range", partial(_within, domain.KV_BYTES_PER_TOKEN), "kv_bytes_per_token")
    add("prefill_rate", derive.prefill_rate, "token_capacity_per_second", share)
    add("decode_rate", derive.decode_rate, "token_capacity_per_second", "prefill_rate")
    add("service_tokens", derive.iteration_service_tokens, "prefill_rate", "iteration_time_ms")


def _within(bounds: tuple[int, int], value: Any) -> Any:
    return rules.none_of(rules.outside(value, *bounds))


def _add_kv_bound(add: Add, on: Switches, chunk: str) -> None:
    if not on.from_memory:
        add("bound_max_kv_bytes", _same, "contract.max_kv_bytes")
        return
    ledger = ("memory_bytes", "memory_utilization_permille", "activation_bytes", "framework_overhead_bytes")
    names = [f"gpu.{name}" for name in (*ledger, "reserved_bytes")]
    remainder = "kv_memory_bytes" if on.chunk_activation else "bound_max_kv_bytes"
    add(remainder, derive.kv_memory_bytes, *names, "model.weight_bytes", "gpu.tensor_parallel")
    if on.chunk_activation:
        per_chunk = ("gpu.activation_bytes_per_chunk_token", chunk, "gpu.tensor_parallel")
        add("bound_max_kv_bytes", derive.kv_memory_bytes_per_chunk, remainder, *per_chunk)


def _add_traffic(add: Add, on: Switches) -> None:
    count = len(on.from_slo)
    for i, from_slo in enumerate(on.from_slo):
        arrival, inside, peak = _class(i, "arrival"), _class(i, "arrival_in_range"), _class(i, "peak")
        add(arrival, derive.arrival_millirps, _class(i, "arrival_millirps"), SCALE, REPLICAS)
        add(inside, derive.arrival_in_range, arrival)
        if from_slo:
            bounds = ("contract.max_ttft_ms", "contract.max_tpot_ms")
            own = (_class(i, "output_tokens"), _class(i, "burst_permille"))
            add(peak, derive.peak_from_slo, arrival, inside, *bounds, *own)
        elif on.scale_concurrency:
            add(peak, derive.peak_scaled, _class(i, "peak_concurrency"), SCALE, REPLICAS)
        else:
            add(peak, derive.peak_fixed, _class(i, "peak_concurrency"), REPLICAS)
        add(_class(i, "peak_in_range"), derive.peak_in_range, peak)
        add(_class(i, "tokens"), figures.total, _class(i, "prompt_tokens"), _class(i, "output_tokens"))
    add("arrivals_in_range", derive.all_of, *_pairs(count, "arrival_in_range"))
    add("peaks_in_range", derive.all_of, *_pairs(count, "peak_in_range"))


def _add_figures(add: Add, count: int) -> None:
    add("total_work", figures.work, *_pairs(count, "arrival", "tokens"))
    add("prefill_work", figures.work, *_pairs(count, "arrival", "prompt_tokens"))
    add("decode_work", figures.work, *_pairs(count, "arrival", "output_tokens"))
    add("rates_defined", derive.all_of, "arrivals_in_range", "capacity_in_range")
    for kind, rate in (
        ("total", "token_capacity_per_second"),
        ("prefill", "prefill_rate"),
        ("decode", "decode_rate"),
    ):
        name = f"{kind}_utilization_permille"
        add(name, figures.utilization_permille, f"{kind}_work", rate, "rates_defined")
    iteration = ("iteration_time_ms", "iteration_in_range")
    add("estimated_queue_delay_ms", figures.queue_delay_ms, "total_utilization_permille", *iteration)
    add("speeds_defined", derive.all_of, "capacity_in_range", "iteration_in_range")
    chunk = "scheduler.max_prefill_chunk_tokens"
    speeds = ("prefill_rate", "iteration_time_ms", chunk, "speeds_defined")
    add("worst_prefill_service_ms", figures.prefill_service_ms, *speeds, *_pairs(count, "prompt_tokens"))
    add("estimated_worst_ttft_ms", figures.ttft_ms, "estimated_queue_delay_ms", "worst_prefill_service_ms")
    add("active_sequences", figures.active_sequences, "peaks_in_range", *_pairs(count, "peak"))
    tpot = ("active_sequences", "decode_rate", "iteration_time_ms", "speeds_defined")
    add("estimated_tpot_ms", figures.tpot_ms, *tpot)
    priority = "scheduler.max_consecutive_priority_iterations"
    add("declared_starvation_bound_ms", figures.starvation_ms, priority, *iteration)
    add("kv_tokens", figures.kv_tokens, *_pairs(count, "peak", "tokens"))
    add("kv_defined", derive.all_of, "peaks_in_range", "kv_width_in_range")
    add("peak_kv_bytes", figures.kv_bytes, "kv_tokens", "kv_bytes_per_token", "kv_defined")


def _add_limits(add: Add) -> None:
    """What each load of the audit may reach in a configuration."""
    capacity = "token_capacity_per_second"
    add("total_work_bound", thresholds.capacity_work_limit, "contract.max_total_utilization_permille", capacity)
    for kind in ("prefill", "decode"):
        own = f"contract.max_{kind}_utilization_permille"
        add(f"{kind}_work_limit", thresholds.work_limit, own, f"{kind}_rate")
    iteration = "iteration_time_ms"
    add("queue_utilization_limit", thresholds.waiting_limit, "contract.max_queue_delay_ms", iteration)
    service = ("contract.max_ttft_ms", "worst_prefill_service_ms", iteration)
    add("ttft_utilization_limit", thresholds.ttft_limit, *service)
    for kind in ("queue", "ttft"):
        add(f"{kind}_work_limit", thresholds.capacity_work_limit, f"{kind}_utilization_limit", capacity)
    add("saturation_work", thresholds.saturation_work, capacity)
    add("iteration_over_tpot", rules.over, iteration, "contract.max_tpot_ms")
    tpot = ("contract.max_tpot_ms", "decode_rate", "iteration_over_tpot")
    add("tpot_sequences_limit", thresholds.tpot_sequences_limit, *tpot)


def _add_rules(add: Add, on: Switches) -> None:
    _add_limits(add)
    for bit, figure, limit in COMPARED:
        add(BITS[bit], rules.over, figure, limit)
    queue = ("total_work", "queue_work_limit", "saturation_work", "contract.max_queue_delay_ms")
    add(BITS[5], rules.queue_over, *queue)
    if on.from_memory:
        add("reason.1", rules.weights_do_not_fit, "bound_max_kv_bytes")
    add("reason.2", rules.kv_bound_outside, "bound_max_kv_bytes")
    add("reason.3", rules.capacity_outside, "token_capacity_per_second")
    add("reason.4", rules.iteration_outside, "iteration_time_ms")
    add("reason.5", rules.kv_width_outside, "kv_bytes_per_token")
    add("reason.6", rules.no_prefill_token, "service_tokens")
    add("reason.7", rules.chunk_exceeds_service, "scheduler.max_prefill_chunk_tokens", "service_tokens")
    add("reason.8", rules.arrivals_outside, "arrivals_in_range", SCALE)
    add("reason.9", rules.none_of, "peaks_in_range")


def _add_thresholds(add: Add, on: Switches) -> None:
    count = len(on.from_slo)
    caps = _add_caps(add, on)
    add("scale_cap", thresholds.smallest, *caps)
    limits = ("contract.max_total_utilization_permille", "queue_utilization_limit", "ttft_utilization_limit")
    add("utilization_limit", thresholds.smallest, *limits)
    add("total_work_limit", thresholds.capacity_work_limit, "utilization_limit", "token_capacity_per_second")
    for kind, tokens in (("total", "tokens"), ("prefill", "prompt_tokens"), ("decode", "output_tokens")):
        reads = (f"{kind}_work_limit", "scale_cap", REPLICAS, *_pairs(count, "arrival_millirps", tokens))
        add(f"scale.{kind}", thresholds.scale_for_work, *reads)
    add("sequences_limit", thresholds.smallest, "scheduler.max_active_sequences", "tpot_sequences_limit")
    add("kv_tokens_limit", thresholds.kv_tokens_limit, "bound_max_kv_bytes", "kv_bytes_per_token")
    _add_peak_threshold(add, on, "scale.sequences", "sequences_limit", None)
    _add_peak_threshold(add, on, "scale.kv", "kv_tokens_limit", "tokens")
    static = [rule for rule in STATIC_RULES if rule != "reason.1" or on.from_memory]
    blockers = (*static, "bit.8")
    admitted = on.admission_control
    add("feasible_at_all", partial(_none_of_these, admitted), *blockers)
    scales = ("scale.total", "scale.prefill", "scale.decode", "scale.sequences", "scale.kv")
    add("max_traffic_scale_permille", thresholds.largest_scale, "feasible_at_all", "scale_cap", *scales)


def _none_of_these(admitted: bool, *flags: Any) -> Any:
    free = derive.all_of(*[~flag for flag in flags])
    return free if admitted else free & ~free


def _add_caps(add: Add, on: Switches) -> list[str]:
    caps = []
    for i, from_slo in enumerate(on.from_slo):
        declared = _class(i, "arrival_millirps")
        add(_class(i, "arrival_cap"), thresholds.arrival_cap, declared, REPLICAS)
        caps.append(_class(i, "arrival_cap"))
        if from_slo:
            bounds = ("contract.max_ttft_ms", "contract.max_tpot_ms")
            own = (_class(i, "output_tokens"), _class(i, "burst_permille"))
            add(_class(i, "stay"), thresholds.stay_permille_ms, *bounds, *own)
            add(_class(i, "peak_cap"), thresholds.peak_cap_from_slo, declared, REPLICAS, _class(i, "stay"))
            caps.append(_class(i, "peak_cap"))
        elif on.scale_concurrency:
            peak = _class(i, "peak_concurrency")
            add(_class(i, "peak_cap"), thresholds.peak_cap_scaled, peak, REPLICAS)
            caps.append(_class(i, "peak_cap"))
    return caps


def _add_peak_threshold(add: Add, on: Switches, name: str, limit: str, weight: str | None) -> None:
    """A threshold on Σ v·peak: v = 1 for active sequences, the class' tokens for KV."""
    grown, little, fixed = [], [], []
    for i, from_slo in enumerate(on.from_slo):
        v = _class(i, weight) if weight else "one"
        if from_slo:
            little += [v, _class(i, "arrival_millirps"), _class(i, "stay")]
        elif on.scale_concurrency:
            grown += [v, _class(i, "peak_concurrency")]
        else:
            fixed += [v, _class(i, "peak")]
    left = limit
    if fixed:
        left = f"{limit}_left"
        add(left, thresholds.limit_left, limit, *fixed)
    if grown or little:
        kernel = partial(_scale_for_peaks, len(grown) // 2)
        add(name, kernel, left, "scale_cap", REPLICAS, *grown, *little)
    else:
        add(name, thresholds.scale_if_fits, left, "scale_cap")


def _scale_for_peaks(scaled: int, left: Any, cap: Any, replicas: Any, *terms: Any) -> Any:
    return thresholds.scale_for_peaks(left, cap, replicas, scaled, *terms)
