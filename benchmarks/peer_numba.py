"""The numba peer: loops compiled for all cores. What lacks an axis is hoisted; every figure of a cell is an int64."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numba import njit, prange

from benchmarks.problem import INVALID, Problem, speeds_of, traffic_of
from benchmarks.registry import Timed
from sweep.engine.opening import Array


def compiled(p: Problem, threads: int) -> Timed:
    """The loops on a problem, compiled on a part of it before the clock starts."""
    numba.set_num_threads(threads)
    mask = np.empty(p.shape, dtype=np.uint16)
    bounds = np.array(
        [
            p.total_permille,
            p.prefill_permille,
            p.decode_permille,
            p.queue_ms,
            p.ttft_ms,
            p.tpot_ms,
            p.starvation_ms,
            p.kv_bytes,
            p.priority_iterations + 1,
        ],
        dtype=np.int64,
    )
    prompts = np.array([load.prompt_tokens for load in p.loads], dtype=np.int64)

    def judge(shares: Array, out: Array) -> Array:
        iteration, capacity = speeds_of(p)
        traffic = traffic_of(p)
        loads = (traffic.prompt_work, traffic.output_work, traffic.active, traffic.kv_bytes)
        total, queue, shared = _along_traffic(iteration, capacity, p.slots, *loads, bounds)
        _masks(shares, p.chunks, p.slots, iteration, capacity, *loads[:3], prompts, bounds, total, queue, shared, out)
        return out

    judge(p.shares[:1], np.empty((1, *p.shape[1:]), dtype=np.uint16))
    return lambda: judge(p.shares, mask)


@njit(inline="always")
def _ceil_div(a: Any, b: Any) -> Any:
    """⌈a / b⌉ of int64 that are not negative; dividing them as unsigned halves the time of the whole peer."""
    return np.int64((np.uint64(a) + np.uint64(b) - np.uint64(1)) // np.uint64(b))


@njit(parallel=True, cache=True, error_model="numpy")
def _along_traffic(
    iteration: Any, capacity: Any, slots: Any, prompts: Any, outputs: Any, active: Any, kv: Any, bounds: Any
) -> Any:
    """Total utilisation and queue delay, which no share touches, and the bits that follow without a share."""
    chunk_count, scales = iteration.shape[0], prompts.size
    total = np.empty((chunk_count, slots.size, scales), dtype=np.int64)
    queue = np.empty((chunk_count, slots.size, scales), dtype=np.int64)
    shared = np.empty((chunk_count, slots.size, scales), dtype=np.uint16)
    for pair in prange(chunk_count * slots.size):
        c, b = pair // slots.size, pair % slots.size
        column = min(b, iteration.shape[1] - 1)
        step, rate = iteration[c, column], capacity[c, column]
        for t in range(scales):
            used = _ceil_div(prompts[t] + outputs[t], rate)
            delay = 86_400_000 if used >= 1000 else _ceil_div(step * used, 1000 - used)
            bits = (active[t] > slots[b]) << 1 | (used > bounds[0]) << 2 | (delay > bounds[3]) << 5
            bits |= (step * bounds[8] > bounds[6]) << 8 | (kv[t] > bounds[7]) << 9
            total[c, b, t], queue[c, b, t], shared[c, b, t] = used, delay, bits
    return total, queue, shared


@njit(parallel=True, cache=True, error_model="numpy")
def _masks(
    shares: Any,
    chunks: Any,
    slots: Any,
    iteration: Any,
    capacity: Any,
    prompts: Any,
    outputs: Any,
    active: Any,
    prompt_tokens: Any,
    bounds: Any,
    total: Any,
    queue: Any,
    shared: Any,
    out: Any,
) -> None:
    """The rest: what the share touches, row by row in the order of the output."""
    for pair in prange(shares.size * chunks.size):
        s, c = pair // chunks.size, pair % chunks.size
        table = min(c, iteration.shape[0] - 1)
        for b in range(slots.size):
            column = min(b, iteration.shape[1] - 1)
            step, rate = iteration[table, column], capacity[table, column]
            prefill = rate * shares[s] // 1000
            decode = rate - prefill
            if chunks[c] > prefill * step // 1000:
                out[s, c, b, :] = INVALID
                continue
            service = 0
            for i in range(prompt_tokens.size):
                chunked = _ceil_div(prompt_tokens[i], chunks[c]) * step
                rated = _ceil_div(prompt_tokens[i] * 1000, prefill)
                service = max(service, chunked, rated)
            for t in range(active.size):
                prefill_use = _ceil_div(prompts[t], prefill)
                decode_use = _ceil_div(outputs[t], decode)
                ttft = queue[table, b, t] + service
                tpot = max(step, _ceil_div(1000 * active[t], decode))
                out[s, c, b, t] = (
                    shared[table, b, t]
                    | (prefill_use > bounds[1]) << 3
                    | (decode_use > bounds[2]) << 4
                    | (ttft > bounds[4]) << 6
                    | (tpot > bounds[5]) << 7
                )
