"""The vocabulary of the kernel graph: rules, bits, switches and nodes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

RULES = (
    "reason.1",
    "reason.2",
    "reason.3",
    "reason.4",
    "reason.5",
    "reason.6",
    "reason.7",
    "reason.8",
    "reason.9",
)
STATIC_RULES = RULES[:7]
"""The invalid reasons that no traffic scale changes."""

BITS = tuple(f"bit.{i}" for i in range(10))
BOUND_OF_BIT = (
    None,
    "scheduler.max_active_sequences",
    "contract.max_total_utilization_permille",
    "contract.max_prefill_utilization_permille",
    "contract.max_decode_utilization_permille",
    "contract.max_queue_delay_ms",
    "contract.max_ttft_ms",
    "contract.max_tpot_ms",
    "contract.max_starvation_ms",
    "contract.max_kv_bytes",
)
FIGURE_OF_BIT = (
    None,
    "active_sequences",
    "total_utilization_permille",
    "prefill_utilization_permille",
    "decode_utilization_permille",
    "estimated_queue_delay_ms",
    "estimated_worst_ttft_ms",
    "estimated_tpot_ms",
    "declared_starvation_bound_ms",
    "peak_kv_bytes",
)
COMPARED = (
    (1, "active_sequences", "scheduler.max_active_sequences"),
    (2, "total_work", "total_work_bound"),
    (3, "prefill_work", "prefill_work_limit"),
    (4, "decode_work", "decode_work_limit"),
    (6, "total_work", "ttft_work_limit"),
    (7, "active_sequences", "tpot_sequences_limit"),
    (8, "declared_starvation_bound_ms", "contract.max_starvation_ms"),
    (9, "peak_kv_bytes", "bound_max_kv_bytes"),
)
"""Bit, load and limit: the violation is load > limit (`rules`)."""

SCALE = "traffic.scale_permille"
REPLICAS = "traffic.replicas"


@dataclass(frozen=True)
class Switches:
    """What the base of a grid turns on; it decides which nodes exist and what they read."""

    from_slo: tuple[bool, ...]
    """Per request class: concurrency by Little's law instead of an integer."""
    scale_concurrency: bool = True
    step_time: bool = False
    capacity_from_step_time: bool = False
    model: bool = False
    from_memory: bool = False
    chunk_activation: bool = False
    """Whether activations may grow with the prefill chunk (a value other than 0, or an axis)."""
    admission_control: bool = True


@dataclass(frozen=True)
class Node:
    """A named kernel and the names it reads: inputs of the grid or other nodes."""

    name: str
    inputs: tuple[str, ...]
    kernel: Callable[..., Any]


Graph = dict[str, Node]
