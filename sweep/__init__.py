"""Exact, exhaustive search for the largest SLO-feasible operating point of an LLM serving replica.

Everything here is a local fluid capacity model, not a queueing analysis and not a device benchmark.

The public names load on first use (PEP 562), so that `import sweep` and `sweep --help` cost nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from sweep._version import __version__

if TYPE_CHECKING:
    from sweep.api import best_of_grid, diff, explain_grid, load_grid, parse_grid, plan, run
    from sweep.calibrate.calibration import calibration
    from sweep.calibrate.quantized import quantize_grid
    from sweep.hardware.config import read_model_config
    from sweep.hardware.kv import blocks_needed, capacity_model, gpu_memory_budget, kv_cache_bytes_per_request
    from sweep.hardware.quantization import decide_quantization
    from sweep.hardware.replica import memory_ledger
    from sweep.labelled import audit_grid
    from sweep.query.labelled import open_result
    from sweep.records import (
        BatchingContract,
        BatchingReport,
        BatchingWorkload,
        RequestClass,
        SchedulerProfile,
    )
    from sweep.reference import audit
    from sweep.traffic.classes import traffic_classes
    from sweep.traffic.count import trace_facts
    from sweep.traffic.lengths import expand_to_workload
    from sweep.traffic.read import read_trace

_HOMES = {
    "sweep.api": ("best_of_grid", "diff", "explain_grid", "load_grid", "parse_grid", "plan", "run"),
    "sweep.query.labelled": ("open_result",),
    "sweep.hardware.config": ("read_model_config",),
    "sweep.hardware.kv": ("blocks_needed", "capacity_model", "gpu_memory_budget", "kv_cache_bytes_per_request"),
    "sweep.calibrate.calibration": ("calibration",),
    "sweep.calibrate.quantized": ("quantize_grid",),
    "sweep.hardware.quantization": ("decide_quantization",),
    "sweep.hardware.replica": ("memory_ledger",),
    "sweep.labelled": ("audit_grid",),
    "sweep.records": (
        "BatchingContract",
        "BatchingReport",
        "BatchingWorkload",
        "RequestClass",
        "SchedulerProfile",
    ),
    "sweep.reference": ("audit",),
    "sweep.traffic.classes": ("traffic_classes",),
    "sweep.traffic.count": ("trace_facts",),
    "sweep.traffic.lengths": ("expand_to_workload",),
    "sweep.traffic.read": ("read_trace",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "BatchingContract",
    "BatchingReport",
    "BatchingWorkload",
    "RequestClass",
    "SchedulerProfile",
    "__version__",
    "audit",
    "audit_grid",
    "best_of_grid",
    "blocks_needed",
    "calibration",
    "capacity_model",
    "decide_quantization",
    "diff",
    "expand_to_workload",
    "explain_grid",
    "gpu_memory_budget",
    "kv_cache_bytes_per_request",
    "load_grid",
    "memory_ledger",
    "open_result",
    "parse_grid",
    "plan",
    "quantize_grid",
    "read_model_config",
    "read_trace",
    "run",
    "trace_facts",
    "traffic_classes",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'sweep' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
