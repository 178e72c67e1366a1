"""What a planner should know beside the numbers: warnings, and the inequality behind a common invalid reason."""

from __future__ import annotations

from collections.abc import Sequence

from sweep.engine.largest import CHUNK, SLOTS, Point
from sweep.grid.model import Grid
from sweep.query.cell import Cell, cell_at

_COEFFICIENT = {CHUNK: "step_time.per_prefill_token_ns", SLOTS: "step_time.per_sequence_ns"}


def warnings(grid: Grid, best: Point | None = None) -> list[str]:
    """Sentences about what makes the answer of this grid weaker than it looks."""
    found = [_constant_iteration(grid, position) for position in (SLOTS, CHUNK)]
    found.append(_rounding(grid, best))
    found += _ineffective_sets(grid)
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


def _rounding(grid: Grid, best: Point | None) -> str:
    if not grid.step_time:
        return ""
    index = (*best.index, 0) if best is not None else (0,) * len(grid.axes)
    cell = cell_at(grid, index, best.scale_permille if best is not None else None)
    step = step_ns(cell)
    if step % 10**6 == 0:
        return ""
    where = "at the largest point" if best is not None else "in the first cell"
    return (
        f"iteration times are whole milliseconds, rounded up: {where} a step of {milliseconds(step)} ms counts as "
        f"{cell.verdict.iteration_time_ms} ms"
    )


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


def _ineffective_sets(grid: Grid) -> Sequence[str]:
    """`--set` of a field that an axis sets: the base's value reaches no cell."""
    found = []
    for override in grid.overrides:
        option, _, rest = override.partition(" ")
        path = rest.partition("=")[0].strip()
        if option != "--set":
            continue
        for axis in grid.axes:
            if axis.listed and path in (axis.name, axis.path) and not axis.is_choice:
                found.append(
                    f"{override} changes no cell, since {axis.name} is an axis: use --axis {axis.name}=… instead"
                )
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
