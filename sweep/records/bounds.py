"""The declared bounds of every integer field, the identity rule and the scope keys (`audit.md`, "Records").

All bounds are inclusive, in the unit that the field's name carries (`_permille` ‰, `_millirps` 1/1000
requests per second).
"""

import re
from typing import Final

Bounds = dict[str, tuple[int, int]]

LONGEST_MS: Final = 86_400_000
"""One day: the upper bound of every time, and the queue delay from a total utilisation of 1000 ‰ on."""

CONTRACT_BOUNDS: Final[Bounds] = {
    "max_total_utilization_permille": (1, 999),
    "max_prefill_utilization_permille": (1, 999),
    "max_decode_utilization_permille": (1, 999),
    "max_queue_delay_ms": (1, LONGEST_MS),
    "max_ttft_ms": (1, LONGEST_MS),
    "max_tpot_ms": (1, LONGEST_MS),
    "max_starvation_ms": (1, LONGEST_MS),
    "max_kv_bytes": (1, 10**18),
}
"""The eight bounds of a contract, in the order of `audit.md`."""

SCHEDULER_BOUNDS: Final[Bounds] = {
    "token_capacity_per_second": (1, 10**12),
    "prefill_share_permille": (1, 999),
    "max_active_sequences": (1, 10**6),
    "max_prefill_chunk_tokens": (1, 10**7),
    "iteration_time_ms": (1, LONGEST_MS),
    "max_consecutive_priority_iterations": (1, 10**6),
    "kv_bytes_per_token": (1, 10**12),
}
"""The integer fields of a scheduler profile."""

CLASS_BOUNDS: Final[Bounds] = {
    "priority": (1, 1000),
    "arrival_millirps": (1, 10**12),
    "prompt_tokens": (1, 10**7),
    "output_tokens": (1, 10**7),
    "peak_concurrency": (1, 10**6),
}
"""The integer fields of a request class."""

FIELD_BOUNDS: Final[dict[str, Bounds]] = {
    "contract": CONTRACT_BOUNDS,
    "scheduler": SCHEDULER_BOUNDS,
    "class": CLASS_BOUNDS,
}
"""Bounds by grid table and field."""

MAX_CLASSES: Final = 64
"""A workload has 1 to this many request classes."""

MAX_SCALE_PERMILLE: Final = 10**15
"""The largest traffic scale; a cell above it is invalid (`arrival-out-of-range`)."""

IDENTITY: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:/@-]{0,127}")
"""An identity; always used with `fullmatch`, so that no trailing newline gets through."""

CONTENT_ID: Final = re.compile(r"[0-9a-f]{64}")
"""A SHA-256 in lowercase hex; always used with `fullmatch`."""

SCOPE_KEYS: Final = (
    "batching_policy",
    "traffic_mix",
    "tokenizer",
    "model_profile",
    "scheduler_profile",
    "kv_layout",
    "latency_slo",
    "fixture",
)
"""The eight identities of a scope in their order, as keys of a grid's `[scope]`."""
