"""A small grid with every kind of axis, and a result file of it, that the tests of this room share."""

from pathlib import Path

import numpy as np

from sweep.grid import Grid, parse_grid
from sweep.store import ResultWriter, Variable, slab_shape, slabs

TEXT = """# комментарий ‰ 日本語 😀
[sweep]
name = "small"
[contract]
max_total_utilization_permille = 800
max_prefill_utilization_permille = 700
max_decode_utilization_permille = 700
max_queue_delay_ms = 50
max_ttft_ms = 250
max_tpot_ms = 30
max_starvation_ms = 100
max_kv_bytes = 10_000_000_000
[scheduler]
scheduler_id = "fair"
token_capacity_per_second = 40_000
prefill_share_permille = 600
max_active_sequences = 64
max_prefill_chunk_tokens = 480
iteration_time_ms = 20
max_consecutive_priority_iterations = 3
kv_bytes_per_token = 131_072
[[class]]
class_id = "chat.v1"
priority = 1
arrival_millirps = 4_000
prompt_tokens = 1_000
output_tokens = 200
peak_concurrency = 24
[axes]
prefill_share_permille = { start = 500, stop = 650, step = 50 }
"class.chat.v1.prompt_tokens" = [500, 1_000, 2_000]
traffic_scale_permille = { start = 1, stop = 20_000, step = 1 }
[[axes.precision]]
name = "bf16 ‰"
set = { "scheduler.kv_bytes_per_token" = 131_072 }
[[axes.precision]]
name = "fp8"
set = { "scheduler.kv_bytes_per_token" = 65_536 }
"""
HUGE = np.array([-1, -(10**18) - 1, 2**63, 10**27], dtype=object)
"""Values along the share axis: two negative ones, the first one beyond int64, and one of KV's size."""


def small_grid(ttft_ms: int = 250) -> Grid:
    return parse_grid(TEXT.replace("max_ttft_ms = 250", f"max_ttft_ms = {ttft_ms}"))


def variables(grid: Grid) -> list[Variable]:
    dims = tuple(axis.dim for axis in grid.axes)
    flags = {"flag_masks": np.array([1, 2, 32768], dtype=np.uint16), "flag_meanings": "a b invalid"}
    return [
        Variable("peak_kv_bytes", "i8", dims[:1], {"long_name": "peak KV", "units": "byte"}, limbs=True),
        Variable("estimated_worst_ttft_ms", "i8", (), {"long_name": "worst TTFT", "units": "ms"}, limbs=True),
        Variable("iteration_time_ms", "i8", (), {"long_name": "iteration", "units": "ms"}),
        Variable("invalid_reason", "u1", dims[:1], {"long_name": "why", "flag_meanings": "valid"}),
        Variable("violations", "u2", dims, {"long_name": "violated bounds", **flags}),
    ]


def mask_of(grid: Grid) -> np.ndarray:
    cells = np.arange(np.prod(grid.shape), dtype=np.int64).reshape(grid.shape)
    return (cells // 777 % 5).astype(np.uint16)


def write_result(path: Path, grid: Grid | None = None, force: bool = False, slab_values: int = 2**20) -> ResultWriter:
    """Write a whole result: every kind of variable, the mask in slabs of about `slab_values`."""
    grid = grid or small_grid()
    mask = mask_of(grid)
    with ResultWriter(path, grid, force) as writer:
        for variable in variables(grid):
            writer.create(variable)
        writer.write("peak_kv_bytes", None, HUGE)
        writer.write("estimated_worst_ttft_ms", (), np.array(10**20, dtype=object))
        writer.write("iteration_time_ms", (), np.array(2**53 + 1))
        writer.write("invalid_reason", None, np.array([0, 255, 6, 0], dtype=np.uint8))
        for region in slabs(mask.shape, slab_shape(mask.shape, slab_values)):
            writer.write("violations", region, mask[region])
        writer.finish({"claim": "a model", "empty": "", "reference_cells": 2**62})
    return writer
