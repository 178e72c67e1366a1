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
    from sweep.operate.autoscale import simulate_autoscaling
    from sweep.operate.autoscale_rule import proactive_scale_out
    from sweep.operate.autoscale_search import autoscale
    from sweep.operate.cost import cost_of
    from sweep.operate.cost_compare import build_vs_buy
    from sweep.operate.cost_labelled import cost_sensitivity
    from sweep.operate.curve_file import read_curve, trace_curve
    from sweep.operate.diagnose import diagnose
    from sweep.operate.diagnose_proof import diagnosis
    from sweep.operate.diagnose_snapshot import read_signals
    from sweep.operate.flags import launch_flags
    from sweep.operate.flags_read import check_flags, parse_flags
    from sweep.operate.fleet import find_fleet
    from sweep.operate.fleet_serving import serving_of_grid
    from sweep.operate.manifest import diff_manifests
    from sweep.operate.manifest_check import check_manifest
    from sweep.operate.manifest_point import deployment_manifest
    from sweep.operate.manifest_read import read_manifest
    from sweep.operate.prices import read_prices
    from sweep.operate.rollout import evaluate_rollout_stage, should_rollback
    from sweep.operate.rollout_plan import start_rollout
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
    "sweep.operate.autoscale": ("simulate_autoscaling",),
    "sweep.operate.autoscale_rule": ("proactive_scale_out",),
    "sweep.operate.autoscale_search": ("autoscale",),
    "sweep.operate.cost": ("cost_of",),
    "sweep.operate.cost_compare": ("build_vs_buy",),
    "sweep.operate.cost_labelled": ("cost_sensitivity",),
    "sweep.operate.curve_file": ("read_curve", "trace_curve"),
    "sweep.operate.diagnose": ("diagnose",),
    "sweep.operate.diagnose_proof": ("diagnosis",),
    "sweep.operate.diagnose_snapshot": ("read_signals",),
    "sweep.operate.flags": ("launch_flags",),
    "sweep.operate.flags_read": ("check_flags", "parse_flags"),
    "sweep.operate.fleet": ("find_fleet",),
    "sweep.operate.fleet_serving": ("serving_of_grid",),
    "sweep.operate.manifest": ("diff_manifests",),
    "sweep.operate.manifest_check": ("check_manifest",),
    "sweep.operate.manifest_point": ("deployment_manifest",),
    "sweep.operate.manifest_read": ("read_manifest",),
    "sweep.operate.prices": ("read_prices",),
    "sweep.operate.rollout": ("evaluate_rollout_stage", "should_rollback"),
    "sweep.operate.rollout_plan": ("start_rollout",),
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
    "autoscale",
    "best_of_grid",
    "blocks_needed",
    "build_vs_buy",
    "calibration",
    "capacity_model",
    "check_flags",
    "check_manifest",
    "cost_of",
    "cost_sensitivity",
    "decide_quantization",
    "deployment_manifest",
    "diagnose",
    "diagnosis",
    "diff",
    "diff_manifests",
    "evaluate_rollout_stage",
    "expand_to_workload",
    "explain_grid",
    "find_fleet",
    "gpu_memory_budget",
    "kv_cache_bytes_per_request",
    "launch_flags",
    "load_grid",
    "memory_ledger",
    "open_result",
    "parse_flags",
    "parse_grid",
    "plan",
    "proactive_scale_out",
    "quantize_grid",
    "read_curve",
    "read_manifest",
    "read_model_config",
    "read_prices",
    "read_signals",
    "read_trace",
    "run",
    "serving_of_grid",
    "should_rollback",
    "simulate_autoscaling",
    "start_rollout",
    "trace_curve",
    "trace_facts",
    "traffic_classes",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'sweep' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
