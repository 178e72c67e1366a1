"""What a peer reads of a grid: plain numbers, no nodes and no proofs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.registry import NotAvailable
from sweep.engine.opening import Array
from sweep.grid.model import Grid
from sweep.reference import judge

INVALID = 0x8000


@dataclass(frozen=True)
class Load:
    """One request class at 1000 ‰ of traffic."""

    arrival_millirps: int
    prompt_tokens: int
    output_tokens: int
    peak_concurrency: int
    """Sequences; 0 where it follows from the SLO."""
    stay_permille_ms: int
    """Little's law: the longest stay that the SLO allows times the burst factor; 0 for an integer concurrency."""


@dataclass(frozen=True)
class Problem:
    """A grid over the four standing axes whose derived fields are in range everywhere."""

    shares: Array
    chunks: Array
    slots: Array
    scales: Array
    """The axes, int64: ‰, tokens, sequences, ‰."""
    base_ns: int
    per_sequence_ns: int
    per_prefill_token_ns: int
    """The step time; all 0 where iteration time and capacity are given."""
    iteration_ms: int
    capacity: int
    """Tokens/s."""
    priority_iterations: int
    kv_bytes_per_token: int
    loads: tuple[Load, ...]
    total_permille: int
    prefill_permille: int
    decode_permille: int
    queue_ms: int
    ttft_ms: int
    tpot_ms: int
    starvation_ms: int
    kv_bytes: int
    """The eight bounds."""

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Lengths of share, chunk, slots, traffic."""
        return self.shares.size, self.chunks.size, self.slots.size, self.scales.size

    @property
    def step_time(self) -> bool:
        """Whether iteration time and capacity follow from slots and chunk."""
        return self.base_ns > 0


def problem_of(grid: Grid) -> Problem:
    """The numbers of a grid; KV width and KV bound, which no axis touches, by the reference.

    Raises:
        NotAvailable: the grid has more than the peers are written for.
    """
    base = {path: value for path, value in grid.base.items() if isinstance(value, int)}
    last = tuple(n - 1 for n in grid.shape)
    most = judge(grid.fields(last), grid.class_ids)
    plain = len(grid.axes) == 4 and grid.admission_control_enabled and grid.scale_concurrency
    if not plain or base.get("traffic.replicas", 1) != 1 or most.invalid_reason in (2, 3, 4, 5, 8, 9):
        raise NotAvailable("the peers know the four standing axes, one replica, and figures that are in range")
    shares, chunks, slots, scales = (np.array(axis.values, dtype=np.int64) for axis in grid.axes)
    return Problem(
        shares,
        chunks,
        slots,
        scales,
        base.get("step_time.base_ns", 0),
        base.get("step_time.per_sequence_ns", 0),
        base.get("step_time.per_prefill_token_ns", 0),
        base.get("scheduler.iteration_time_ms", 0),
        base.get("scheduler.token_capacity_per_second", 0),
        base["scheduler.max_consecutive_priority_iterations"],
        most.kv_bytes_per_token,
        tuple(_load(base, f"class.{class_id}.") for class_id in grid.class_ids),
        base["contract.max_total_utilization_permille"],
        base["contract.max_prefill_utilization_permille"],
        base["contract.max_decode_utilization_permille"],
        base["contract.max_queue_delay_ms"],
        base["contract.max_ttft_ms"],
        base["contract.max_tpot_ms"],
        base["contract.max_starvation_ms"],
        most.max_kv_bytes,
    )


def _load(base: dict[str, int], path: str) -> Load:
    output, peak = base[path + "output_tokens"], base.get(path + "peak_concurrency", 0)
    longest_ms = base["contract.max_ttft_ms"] + output * base["contract.max_tpot_ms"]
    stay = 0 if peak else longest_ms * base.get(path + "burst_permille", 1000)
    return Load(base[path + "arrival_millirps"], base[path + "prompt_tokens"], output, peak, stay)


@dataclass(frozen=True)
class Traffic:
    """The loads at every traffic scale, int64."""

    prompt_work: Array
    output_work: Array
    """Σ arrival·tokens, millirequests·tokens/s."""
    active: Array
    """Σ peak concurrency, sequences."""
    kv_bytes: Array


def traffic_of(problem: Problem) -> Traffic:
    """The loads along the traffic axis in int64 arrays, as every array peer begins."""
    prompts, outputs, held, active = (np.zeros_like(problem.scales) for _ in range(4))
    for load in problem.loads:
        arrival = -(-load.arrival_millirps * problem.scales // 1000)
        if load.stay_permille_ms:
            peak = -(-arrival * load.stay_permille_ms // 10**9)
        else:
            peak = -(-load.peak_concurrency * problem.scales // 1000)
        prompts += arrival * load.prompt_tokens
        outputs += arrival * load.output_tokens
        held += peak * (load.prompt_tokens + load.output_tokens)
        active += peak
    return Traffic(prompts, outputs, active, held * problem.kv_bytes_per_token)


def speeds_of(problem: Problem) -> tuple[Array, Array]:
    """Iteration time in ms and capacity in tokens/s, int64 over (chunk, slots), of length 1 where they are given."""
    if not problem.step_time:
        return np.full((1, 1), problem.iteration_ms), np.full((1, 1), problem.capacity)
    chunks, slots = problem.chunks[:, None], problem.slots[None, :]
    step_ns = problem.base_ns + problem.per_sequence_ns * slots + problem.per_prefill_token_ns * chunks
    return -(-step_ns // 10**6), (slots + chunks) * 10**9 // step_ns
