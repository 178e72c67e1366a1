"""What a planner should know beside the numbers: warnings, and the inequality behind a common invalid reason."""

from __future__ import annotations

from sweep.engine.largest import CHUNK, SLOTS, Point
from sweep.grid.model import Grid
from sweep.grid.naming import field_of
from sweep.query.cell import Cell, cell_at, codes_of
from sweep.units import grouped

_COEFFICIENT = {CHUNK: "step_time.per_prefill_token_ns", SLOTS: "step_time.per_sequence_ns"}

_TIMES = ("queue-delay", "time-to-first-token", "time-per-output-token", "starvation-bound")
_FELT_PERMILLE = 20
"""A step that rounding makes longer by less than this is not worth a word, unless a time decides."""


def warnings(grid: Grid, best: Point | None = None) -> list[str]:
    """Sentences about what makes the answer of this grid weaker than it looks."""
    return [*constant_iterations(grid), *rounding(grid, best), *ineffective_sets(grid)]


def constant_iterations(grid: Grid) -> list[str]:
    """Of slots and chunk those that cost no time in this grid, so that their largest value always looks best."""
    found = [_constant_iteration(grid, position) for position in (SLOTS, CHUNK)]
    return [sentence for sentence in found if sentence]


def _constant_iteration(grid: Grid, position: int) -> str:
    axis = grid.axes[position]
    if len(axis) == 1 or _iteration_depends(grid, position):
        return ""
    return (
        f"the iteration time does not depend on {axis.name}, so the largest value always looks best: "
        f"give [step_time] {_COEFFICIENT[position].rpartition('.')[2]} to make it a trade"
    )


def _iteration_depends(grid: Grid, position: int) -> bool:
    path = _COEFFICIENT[position]
    if not grid.step_time:
        return False
    return grid.base.get(path) != 0 or any(path in axis.fields for axis in grid.axes)


def rounding(grid: Grid, best: Point | None = None) -> list[str]:
    """That a step counts as whole milliseconds, where it matters: from 2 % on, or where a time stops the next step."""
    if not grid.step_time:
        return []
    index = (*best.index, 0) if best is not None else (0,) * len(grid.axes)
    cell = cell_at(grid, index, best.scale_permille if best is not None else None)
    step, counted = step_ns(cell), cell.verdict.iteration_time_ms
    added = counted * 10**6 - step
    stops = 0 if best is None else cell_at(grid, index, best.scale_permille + 1).verdict.violations
    if added == 0 or (added * 1000 < _FELT_PERMILLE * step and not any(code in _TIMES for code in codes_of(stops))):
        return []
    where = "at the largest point" if best is not None else "in the first cell"
    return [f"in whole milliseconds a step of {milliseconds(step)} ms counts as {grouped(counted)} ms {where}"]


def step_ns(cell: Cell) -> int:
    """The step time of a cell before it is rounded up to whole milliseconds."""
    fields = cell.fields
    slots = fields["scheduler.max_active_sequences"] * fields["step_time.per_sequence_ns"]
    chunk = fields["scheduler.max_prefill_chunk_tokens"] * fields["step_time.per_prefill_token_ns"]
    return int(fields["step_time.base_ns"] + slots + chunk)


def milliseconds(ns: int) -> str:
    """Nanoseconds as an exact decimal of milliseconds."""
    whole, rest = divmod(ns, 10**6)
    return f"{whole}.{rest:06d}".rstrip("0").rstrip(".")


def ineffective_sets(grid: Grid) -> list[str]:
    """`--set` of a field that an axis sets in every cell, in any spelling: the base's value reaches none."""
    found = []
    for override in grid.overrides:
        option, _, rest = override.partition(" ")
        name, _, value = (part.strip() for part in rest.partition("="))
        path = field_of(name, grid.class_ids) if option == "--set" else None
        for axis in grid.axes:
            if path is None or not axis.listed or path not in axis.fields:
                continue
            if not axis.is_choice:
                instead = f"use --axis {axis.name}={value} instead"
            elif all(path in choice.sets for choice in axis.choices):
                instead = f"every choice of it sets {path}"
            else:
                continue
            found.append(f"{override} changes no cell, since {axis.name} is an axis: {instead}")
    return found


def invalid_inequality(grid: Grid, reason: str) -> str | None:
    """The inequality that a cell must satisfy not to be invalid for a reason, None where there is no short one."""
    if reason == "chunk-exceeds-iteration-service":
        if grid.capacity_from_step_time:
            return (
                "an iteration must serve its chunk: ⌊C·share/1000⌋·iteration/1000 ≥ chunk; with capacity from step "
                "time a share must be about chunk/(slots + chunk) or more"
            )
        return "an iteration must serve its chunk: ⌊C·share/1000⌋·iteration/1000 ≥ chunk"
    return {
        "no-prefill-token-per-iteration": "an iteration must serve a token: ⌊C·share/1000⌋·iteration/1000 ≥ 1",
        "weights-do-not-fit": "memory must remain: parallel·(share of memory − activations − overhead) > weights",
        "iteration-time-out-of-range": "1 ms ≤ ⌈(base + per sequence·slots + per token·chunk)/10^6⌉ ≤ 86 400 000 ms",
        "token-capacity-out-of-range": "1 ≤ ⌊(slots + chunk)·10^9/step_ns⌋ ≤ 10^12 tokens/s",
        "kv-bytes-per-token-out-of-range": "1 ≤ ⌈2·layers·heads·head_dim·width⌉ ≤ 10^12 bytes",
        "arrival-out-of-range": "⌈arrival·scale/(1000·replicas)⌉ ≤ 10^12 millirps for every class",
        "peak-concurrency-out-of-range": "the peak concurrency of every class must be at most 10^6",
    }.get(reason)


def invalid_numbers(cell: Cell) -> str:
    """The inequality of an invalid cell's reason with its numbers, "" in a valid cell."""
    verdict = cell.verdict
    rate, iteration = cell.prefill_rate, verdict.iteration_time_ms
    share = cell.fields["scheduler.prefill_share_permille"]
    capacity = grouped(verdict.token_capacity_per_second)
    served = f"⌊{capacity}·{grouped(share)}/1000⌋·{grouped(iteration)}/1000 = {grouped(rate * iteration // 1000)}"
    return {
        "weights-do-not-fit": f"{grouped(1 - verdict.max_kv_bytes)} bytes of memory are short",
        "kv-bound-out-of-range": f"{grouped(verdict.max_kv_bytes)} bytes are left for KV cache",
        "token-capacity-out-of-range": f"the token capacity is {capacity} tokens/s",
        "iteration-time-out-of-range": f"the iteration takes {grouped(iteration)} ms",
        "kv-bytes-per-token-out-of-range": f"a token takes {grouped(verdict.kv_bytes_per_token)} bytes",
        "no-prefill-token-per-iteration": f"{served} < 1",
        "chunk-exceeds-iteration-service": f"{served} < {grouped(cell.fields['scheduler.max_prefill_chunk_tokens'])}",
        "arrival-out-of-range": f"{grouped(max(verdict.arrivals_millirps))} millirps arrive",
        "peak-concurrency-out-of-range": f"{grouped(max(verdict.peak_concurrencies))} sequences at the peak",
    }.get(str(cell.invalid_reason), "")
