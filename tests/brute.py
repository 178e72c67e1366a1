"""The reference's answers of a whole grid, the dimensions by the definition, and what the engine says beside them.

Engine modules are looked up when a function runs, so that a test may exchange them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from itertools import product
from typing import Any

import numpy as np

from sweep.grid import Grid
from sweep.reference import judge

CONTRACT = (
    "max_total_utilization_permille",
    "max_prefill_utilization_permille",
    "max_decode_utilization_permille",
    "max_queue_delay_ms",
    "max_ttft_ms",
    "max_tpot_ms",
    "max_starvation_ms",
    "max_kv_bytes",
)
FIGURES = (
    "token_capacity_per_second",
    "iteration_time_ms",
    "kv_bytes_per_token",
    "total_utilization_permille",
    "prefill_utilization_permille",
    "decode_utilization_permille",
    "estimated_queue_delay_ms",
    "worst_prefill_service_ms",
    "estimated_worst_ttft_ms",
    "estimated_tpot_ms",
    "declared_starvation_bound_ms",
    "active_sequences",
    "peak_kv_bytes",
)
MASK, REASON, CAPACITY, LIMITING = "violations", "invalid_reason", "max_traffic_scale_permille", "limiting_violations"
MAX_SCALE = 10**15
INVALID = 0x8000
SCALE = "traffic.scale_permille"


@dataclass(frozen=True)
class Table:
    """Every variable of a grid: full arrays over all axes, over all but traffic for the two of a configuration."""

    values: dict[str, np.ndarray]
    dims: dict[str, tuple[str, ...]]
    """Per variable the axes (by name) that it spans, in the grid's order."""
    dtypes: dict[str, str]


def cells_of(shape: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    return product(*[range(n) for n in shape])


def largest_scale(grid: Grid, configuration: tuple[int, ...]) -> int:
    """The largest feasible scale of 1…10^15 by bisection, 0 where there is none."""
    fields = grid.fields((*configuration, 0))

    def feasible(scale: int) -> bool:
        return judge({**fields, SCALE: scale}, grid.class_ids).violations == 0

    if not feasible(1):
        return 0
    low, high = 1, 2
    while high <= MAX_SCALE and feasible(high):
        low, high = high, 2 * high
    high = min(high, MAX_SCALE + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if feasible(middle) else (low, middle)
    return low


def formula_fields(grid: Grid) -> dict[str, set[str]]:
    """Per quantity and invalid rule the fields that its formula names, as the definition writes them."""
    base, share = grid.base, "scheduler.prefill_share_permille"
    slots, chunk = "scheduler.max_active_sequences", "scheduler.max_prefill_chunk_tokens"
    steps = {"step_time.base_ns", "step_time.per_sequence_ns", "step_time.per_prefill_token_ns", slots, chunk}
    capacity, iteration, width = (
        {f"scheduler.{name}"} for name in ("token_capacity_per_second", "iteration_time_ms", "kv_bytes_per_token")
    )
    if "step_time.base_ns" in base:
        iteration = steps
        capacity = steps if base.get("step_time.capacity") == "from-step-time" else capacity
    if "model.layers" in base:
        width = {f"model.{name}" for name in ("layers", "kv_heads", "head_dim", "kv_bytes_per_value")}
        width |= {"gpu.tensor_parallel"}
    bound = {"contract.max_kv_bytes"}
    if base["contract.max_kv_bytes"] == "from-memory":
        gpu = ("memory_bytes", "memory_utilization_permille", "activation_bytes", "framework_overhead_bytes")
        bound = {f"gpu.{name}" for name in (*gpu, "reserved_bytes", "tensor_parallel")} | {"model.weight_bytes"}
        per_chunk = "gpu.activation_bytes_per_chunk_token"
        if base.get(per_chunk, 0) != 0 or any(per_chunk in axis.fields for axis in grid.axes):
            bound |= {per_chunk, chunk}
    arrivals, prompts, outputs, peaks = _class_fields(grid)
    rate = capacity | {share}
    found = {
        "token_capacity_per_second": capacity,
        "iteration_time_ms": iteration,
        "kv_bytes_per_token": width,
        "total_utilization_permille": arrivals | prompts | outputs | capacity,
        "prefill_utilization_permille": arrivals | prompts | rate,
        "decode_utilization_permille": arrivals | outputs | rate,
        "worst_prefill_service_ms": prompts | iteration | rate | {chunk},
        "active_sequences": peaks,
        "declared_starvation_bound_ms": iteration | {"scheduler.max_consecutive_priority_iterations"},
        "peak_kv_bytes": peaks | prompts | outputs | width,
        "estimated_tpot_ms": iteration | peaks | rate,
    }
    queue = found["total_utilization_permille"] | iteration
    found |= {"estimated_queue_delay_ms": queue, "estimated_worst_ttft_ms": queue | found["worst_prefill_service_ms"]}
    found |= {f"bound_{name}": {f"contract.{name}"} for name in CONTRACT} | {"bound_max_kv_bytes": bound}
    served = rate | iteration
    rules = (bound, bound, capacity, iteration, width, served, served | {chunk}, arrivals, peaks)
    return found | {f"reason {i}": fields for i, fields in enumerate(rules, start=1)}


def _class_fields(grid: Grid) -> tuple[set[str], set[str], set[str], set[str]]:
    arrivals, prompts, outputs, peaks = {SCALE, "traffic.replicas"}, set(), set(), set()
    for class_id in grid.class_ids:
        own = f"class.{class_id}."
        arrival = {own + "arrival_millirps", SCALE, "traffic.replicas"}
        arrivals |= arrival
        prompts |= {own + "prompt_tokens"}
        outputs |= {own + "output_tokens"}
        if grid.base[own + "peak_concurrency"] == "from-slo":
            peaks |= arrival | {own + "output_tokens", own + "burst_permille"}
            peaks |= {"contract.max_ttft_ms", "contract.max_tpot_ms"}
        else:
            peaks |= {own + "peak_concurrency", "traffic.replicas"}
            peaks |= {SCALE} if grid.base["traffic.scale_concurrency"] else set()
    return arrivals, prompts, outputs, peaks


def dims_of(grid: Grid, fields: set[str]) -> tuple[str, ...]:
    """The axes that set any of the fields; a choice axis counts for every field that one of its choices sets."""
    return tuple(axis.name for axis in grid.axes if fields & set(axis.fields))


def reference_table(grid: Grid) -> Table:
    """Every variable of every cell by `judge`, as Python ints."""
    fields = formula_fields(grid)
    dims = {name: dims_of(grid, used) for name, used in fields.items() if not name.startswith("reason ")}
    dims = {name: used for name, used in dims.items() if name in FIGURES or used}
    values = {name: np.empty(grid.shape, dtype=object) for name in (*dims, MASK, REASON)}
    for cell in cells_of(grid.shape):
        point = grid.fields(cell)
        verdict = judge(point, grid.class_ids)
        for name in dims:
            values[name][cell] = _said(verdict, point, name)
        values[MASK][cell], values[REASON][cell] = verdict.violations, verdict.invalid_reason
    reported = sorted({int(reason) for reason in values[REASON].flat} - {0})
    everything = tuple(axis.name for axis in grid.axes)
    dims |= {MASK: everything, CAPACITY: everything[:-1], LIMITING: everything[:-1]}
    dims[REASON] = dims_of(grid, set().union(*[fields[f"reason {reason}"] for reason in reported]))
    for name in (CAPACITY, LIMITING):
        values[name] = np.empty(grid.shape[:-1], dtype=object)
    for configuration in cells_of(grid.shape[:-1]):
        scale = largest_scale(grid, configuration)
        above = grid.fields((*configuration, 0), scale_permille=scale + 1)
        values[CAPACITY][configuration] = scale
        values[LIMITING][configuration] = judge(above, grid.class_ids).violations
    dtypes = dict.fromkeys(dims, "int64") | {MASK: "uint16", LIMITING: "uint16", REASON: "uint8"}
    wide = [name for name, array in values.items() if max(array.flat) >= 2**63 or min(array.flat) < -(2**63)]
    return Table(values, dims, dtypes | dict.fromkeys(wide, "limbs"))


def _said(verdict: Any, point: Any, name: str) -> int:
    if name == "bound_max_kv_bytes":
        return verdict.max_kv_bytes
    if name.startswith("bound_"):
        return point[f"contract.{name.removeprefix('bound_')}"]
    return verdict.figures[name] if name in verdict.figures else getattr(verdict, name)


def evaluation_of(grid: Grid) -> Any:
    return import_module("sweep.engine.run").evaluation_of(grid)


def engine_table(grid: Grid) -> Table:
    """The same by the engine, in memory."""
    verdict, largest = import_module("sweep.engine.verdict"), import_module("sweep.engine.largest")
    catalogue, narrowed = import_module("sweep.engine.catalogue"), import_module("sweep.engine.evaluate").narrowed
    ev = evaluation_of(grid)
    names = [axis.name for axis in grid.axes]

    def named(dims: Any) -> tuple[str, ...]:
        return tuple(name for i, name in enumerate(names) if i in dims)

    arrays, dims = {}, {}
    for quantity in catalogue.quantities(ev):
        arrays[quantity.name], dims[quantity.name] = narrowed(ev.get(quantity.node)), named(ev.dims(quantity.node))
    reported = verdict.reported_rules(ev)
    arrays[REASON] = verdict.reason_array(ev, reported)
    dims[REASON] = named(verdict.union_dims(ev, reported))
    maker = verdict.MaskMaker(ev, reported, grid.admission_control_enabled)
    arrays[MASK], dims[MASK] = maker.make(tuple(slice(0, n) for n in grid.shape)), tuple(names)
    blocks = list(largest.capacity_blocks(ev))
    assert len(blocks) == 1, "a small grid is one block"
    limiting = largest.limiting_masks(ev, blocks[0][1], grid.admission_control_enabled)
    dtypes = {name: "limbs" if array.dtype == object else str(array.dtype) for name, array in arrays.items()}
    values = {name: np.broadcast_to(_checked(array, dims[name], names), grid.shape) for name, array in arrays.items()}
    for name, array in ((CAPACITY, blocks[0][1]), (LIMITING, limiting)):
        values[name], dims[name], dtypes[name] = array[..., 0], tuple(names[:-1]), str(array.dtype)
    return Table(values, dims, dtypes)


def _checked(array: np.ndarray, dims: tuple[str, ...], names: list[str]) -> np.ndarray:
    """An open array, longer than 1 only along its dimensions."""
    assert all(n == 1 or name in dims for n, name in zip(array.shape, names, strict=True)), (array.shape, dims)
    return array


def differences(grid: Grid, found: Table, wanted: Table) -> Iterator[str]:
    """Every difference of two tables, each with the cell's coordinates."""
    if list(found.values) != list(wanted.values) and set(found.values) != set(wanted.values):
        yield f"variables: {sorted(set(found.values) ^ set(wanted.values))} are in one only"
        return
    for name, right in wanted.values.items():
        for what, mine, its in (("dims", found.dims, wanted.dims), ("dtype", found.dtypes, wanted.dtypes)):
            if mine[name] != its[name]:
                yield f"{what} of {name}: {mine[name]}, wanted {its[name]}"
        left = found.values[name]
        if left.shape != right.shape:
            yield f"shape of {name}: {left.shape}, wanted {right.shape}"
            continue
        for at in np.argwhere(left.astype(object) != right)[:3]:
            cell = tuple(int(i) for i in at)
            yield f"{name} of {labels(grid, cell)}: {left[cell]}, wanted {right[cell]}"


def labels(grid: Grid, cell: tuple[int, ...]) -> str:
    """A cell's coordinates."""
    return ", ".join(f"{axis.name}={axis.label(i)}" for axis, i in zip(grid.axes, cell, strict=False))


def assert_equal(grid: Grid, found: Table, wanted: Table) -> None:
    """Fail with every difference and the grid's text."""
    faults = list(differences(grid, found, wanted))
    assert not faults, "\n".join([*faults, "", grid.text])
