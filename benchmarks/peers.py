"""The same masks by other means, each as a competent person would write it for this grid.

Every peer gets a grid and gives what is timed; that returns the violation mask of every cell, uint16. A peer whose
masks are not the product's, in dtype and every value, is refused (`measure`). None is tuned down: what does not vary
along an axis is computed once, outputs are allocated and code is compiled before the clock starts.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from itertools import product
from typing import Any

import numpy as np

from benchmarks.problem import INVALID, Problem, problem_of, speeds_of, traffic_of
from benchmarks.registry import DifferentResult, NotAvailable, Timed, Yardstick
from sweep.engine.budget import THREADS
from sweep.engine.opening import Array
from sweep.grid.model import Grid
from sweep.reference import judge

Peer = Callable[[Grid], Timed]


def reference(grid: Grid) -> Timed:
    """The scalar reference of the house, cell by cell: plain Python ints of any size."""

    def action() -> Array:
        cells = product(*[range(n) for n in grid.shape])
        masks = [judge(grid.fields(cell), grid.class_ids).violations for cell in cells]
        return np.array(masks, dtype=np.uint16).reshape(grid.shape)

    return action


def calls(grid: Grid) -> Timed:
    """One call of a lean Python function per point, as a script without NumPy has it."""
    problem = problem_of(grid)

    def action() -> Array:
        axes = [axis.values for axis in grid.axes]
        masks = [mask_of_point(problem, *point) for point in product(*axes)]
        return np.array(masks, dtype=np.uint16).reshape(problem.shape)

    return action


def mask_of_point(p: Problem, share: int, chunk: int, slots: int, scale: int) -> int:
    """The violation mask of one point, figure by figure."""
    iteration, capacity = p.iteration_ms, p.capacity
    if p.base_ns:
        step_ns = p.base_ns + p.per_sequence_ns * slots + p.per_prefill_token_ns * chunk
        iteration, capacity = -(-step_ns // 10**6), (slots + chunk) * 10**9 // step_ns
    prefill = capacity * share // 1000
    if chunk > prefill * iteration // 1000:
        return INVALID
    decode = capacity - prefill
    prompts = outputs = active = held = service = 0
    for load in p.loads:
        arrival = -(-load.arrival_millirps * scale // 1000)
        if load.stay_permille_ms:
            peak = -(-arrival * load.stay_permille_ms // 10**9)
        else:
            peak = -(-load.peak_concurrency * scale // 1000)
        prompts += arrival * load.prompt_tokens
        outputs += arrival * load.output_tokens
        active += peak
        held += peak * (load.prompt_tokens + load.output_tokens)
        chunked = -(-load.prompt_tokens // chunk) * iteration
        service = max(service, chunked, -(-load.prompt_tokens * 1000 // prefill))
    total = -(-(prompts + outputs) // capacity)
    queue = 86_400_000 if total >= 1000 else -(-iteration * total // (1000 - total))
    return (
        (active > slots) << 1
        | (total > p.total_permille) << 2
        | (-(-prompts // prefill) > p.prefill_permille) << 3
        | (-(-outputs // decode) > p.decode_permille) << 4
        | (queue > p.queue_ms) << 5
        | (queue + service > p.ttft_ms) << 6
        | (max(iteration, -(-1000 * active // decode)) > p.tpot_ms) << 7
        | ((p.priority_iterations + 1) * iteration > p.starvation_ms) << 8
        | (held * p.kv_bytes_per_token > p.kv_bytes) << 9
    )


class Open:
    """The arrays of a problem that every array peer shares, open over (share, chunk, slots, traffic)."""

    def __init__(self, p: Problem) -> None:
        traffic = traffic_of(p)
        self.slots = p.slots[None, None, :, None]
        self.iteration, self.capacity = (table[None, :, :, None] for table in speeds_of(p))
        self.prefill = self.capacity * p.shares[:, None, None, None] // 1000
        self.decode = self.capacity - self.prefill
        chunk = p.chunks[None, :, None, None]
        self.invalid = chunk > self.prefill * self.iteration // 1000
        # A rate of 0 makes the cell invalid; a divisor of 0 would make noise before that shows.
        self.prefill = np.maximum(self.prefill, 1)
        self.service = np.zeros(1, dtype=np.int64)
        for load in p.loads:
            chunked = -(-load.prompt_tokens // chunk) * self.iteration
            rated = -(-load.prompt_tokens * 1000 // self.prefill)
            self.service = np.maximum(self.service, np.maximum(chunked, rated))
        self.prompts, self.outputs = traffic.prompt_work, traffic.output_work
        self.active, self.kv_bytes = traffic.active, traffic.kv_bytes
        self.total = -(-(self.prompts + self.outputs) // self.capacity)
        below = np.minimum(self.total, 999)
        queued = -(-self.iteration * below // (1000 - below))
        self.queue = np.where(self.total >= 1000, 86_400_000, queued)
        self.starvation = (p.priority_iterations + 1) * self.iteration


def numpy_full(grid: Grid) -> Timed:
    """NumPy over the full grid into preallocated arrays; what lacks an axis is broadcast, not repeated."""
    p = problem_of(grid)
    mask = np.empty(p.shape, dtype=np.uint16)
    figure, flag, bit = np.empty(p.shape, dtype=np.int64), np.empty(p.shape, dtype=bool), np.empty_like(mask)

    def action() -> Array:
        o = Open(p)
        small = (
            (o.active > o.slots) * np.uint16(1 << 1)
            | (o.total > p.total_permille) * np.uint16(1 << 2)
            | (o.queue > p.queue_ms) * np.uint16(1 << 5)
            | (o.starvation > p.starvation_ms) * np.uint16(1 << 8)
            | (o.kv_bytes > p.kv_bytes) * np.uint16(1 << 9)
        )
        np.copyto(mask, small)

        def over(bound: int, value: int) -> None:
            np.greater(figure, bound, out=flag)
            np.multiply(flag, np.uint16(value), out=bit)
            np.bitwise_or(mask, bit, out=mask)

        np.add(o.prompts, o.prefill - 1, out=figure)
        np.floor_divide(figure, o.prefill, out=figure)
        over(p.prefill_permille, 1 << 3)
        np.add(o.outputs, o.decode - 1, out=figure)
        np.floor_divide(figure, o.decode, out=figure)
        over(p.decode_permille, 1 << 4)
        np.add(o.queue, o.service, out=figure)
        over(p.ttft_ms, 1 << 6)
        np.add(1000 * o.active, o.decode - 1, out=figure)
        np.floor_divide(figure, o.decode, out=figure)
        np.maximum(figure, o.iteration, out=figure)
        over(p.tpot_ms, 1 << 7)
        np.copyto(mask, INVALID, where=o.invalid)
        return mask

    return action


_EXPRESSION = """where(invalid, 32768,
    where(active > slots, 2, 0) + where(total > max_total, 4, 0)
    + where((prompts + prefill - 1) // prefill > max_prefill, 8, 0)
    + where((outputs + decode - 1) // decode > max_decode, 16, 0)
    + where(queue > max_queue, 32, 0) + where(queue + service > max_ttft, 64, 0)
    + where((iteration > max_tpot) | ((1000 * active + decode - 1) // decode > max_tpot), 128, 0)
    + where(starvation > max_starvation, 256, 0) + where(kv_bytes > max_kv, 512, 0))"""


def numexpr_full(grid: Grid) -> Timed:
    """One numexpr expression over the full grid, on as many threads as the engine has."""
    numexpr = _needed("numexpr")
    p = problem_of(grid)
    numexpr.set_num_threads(THREADS)
    mask = np.empty(p.shape, dtype=np.uint16)
    bounds = {
        "max_total": p.total_permille,
        "max_prefill": p.prefill_permille,
        "max_decode": p.decode_permille,
        "max_queue": p.queue_ms,
        "max_ttft": p.ttft_ms,
        "max_tpot": p.tpot_ms,
        "max_starvation": p.starvation_ms,
        "max_kv": np.int64(p.kv_bytes),
    }

    def action() -> Array:
        names = {**vars(Open(p)), **bounds}
        numexpr.evaluate(" ".join(_EXPRESSION.split()), local_dict=names, global_dict={}, out=mask, casting="unsafe")
        return mask

    return action


def numba_loops(grid: Grid) -> Timed:
    """Compiled loops over all cores, int64 figures per cell, into a preallocated mask."""
    _needed("numba")
    from benchmarks.peer_numba import compiled

    return compiled(problem_of(grid), THREADS)


def _needed(module: str) -> Any:
    if find_spec(module) is None:
        raise NotAvailable(f"{module} is not installed: pip install 'sweep[bench]' (here: pip install -e '.[bench]')")
    return __import__(module)


PEERS: dict[str, Peer] = {
    "reference": reference,
    "Python calls": calls,
    "NumPy": numpy_full,
    "numexpr": numexpr_full,
    "numba": numba_loops,
}


def mask_peers(grid: Grid, names: tuple[str, ...], mask: Array) -> list[Yardstick]:
    """The named peers on a grid, each checked against the product's mask of it."""

    def same(result: object) -> None:
        demand_equal(result, mask)

    return [Yardstick(name, "times", partial(PEERS[name], grid), same) for name in names]


def demand_equal(found: object, wanted: Array) -> None:
    """Raise DifferentResult unless two arrays have one dtype, one shape and the same values."""
    if not isinstance(found, np.ndarray) or found.dtype != wanted.dtype or found.shape != wanted.shape:
        raise DifferentResult(f"another kind of result than the product's {wanted.dtype} of shape {wanted.shape}")
    differing = int(np.count_nonzero(found != wanted))
    if differing:
        where = np.unravel_index(int(np.argmax((found != wanted).reshape(-1))), wanted.shape)
        at = tuple(int(i) for i in where)
        raise DifferentResult(
            f"{differing} of {wanted.size} values differ from the product's, the first at {at}: "
            f"{int(found[at])} instead of {int(wanted[at])}"
        )
