"""The illustrative operating point, as the fields of a cell."""

import pytest


@pytest.fixture
def cell():
    """A feasible cell of two classes: figures 180, 250, 75 ‰; 5, 185, 20, 80 ms; 8 808 038 400 bytes."""
    names = (
        "batching-policy-v1",
        "traffic-mix-v1",
        "tokenizer-v3",
        "model-profile-v7",
        "scheduler-profile-v4",
        "kv-layout-v2",
        "latency-slo-v3",
        "fixture-v1",
    )
    keys = (
        "batching_policy",
        "traffic_mix",
        "tokenizer",
        "model_profile",
        "scheduler_profile",
        "kv_layout",
        "latency_slo",
        "fixture",
    )
    return {
        **{f"scope.{key}": name for key, name in zip(keys, names, strict=True)},
        "contract.max_total_utilization_permille": 800,
        "contract.max_prefill_utilization_permille": 700,
        "contract.max_decode_utilization_permille": 700,
        "contract.max_queue_delay_ms": 50,
        "contract.max_ttft_ms": 250,
        "contract.max_tpot_ms": 30,
        "contract.max_starvation_ms": 100,
        "contract.max_kv_bytes": 10_000_000_000,
        "scheduler.scheduler_id": "chunked-prefill-fair-v4",
        "scheduler.token_capacity_per_second": 40_000,
        "scheduler.prefill_share_permille": 600,
        "scheduler.max_active_sequences": 64,
        "scheduler.max_prefill_chunk_tokens": 480,
        "scheduler.iteration_time_ms": 20,
        "scheduler.max_consecutive_priority_iterations": 3,
        "scheduler.kv_bytes_per_token": 131_072,
        "workload.admission_control_enabled": True,
        "traffic.scale_permille": 1000,
        "traffic.replicas": 1,
        "traffic.scale_concurrency": True,
        "class.interactive-short.priority": 1,
        "class.interactive-short.arrival_millirps": 4000,
        "class.interactive-short.prompt_tokens": 1000,
        "class.interactive-short.output_tokens": 200,
        "class.interactive-short.peak_concurrency": 24,
        "class.interactive-long.priority": 2,
        "class.interactive-long.arrival_millirps": 500,
        "class.interactive-long.prompt_tokens": 4000,
        "class.interactive-long.output_tokens": 800,
        "class.interactive-long.peak_concurrency": 8,
    }


@pytest.fixture
def class_ids():
    return ("interactive-short", "interactive-long")
