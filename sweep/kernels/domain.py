"""The bounds that kernels clamp to, and the sentinels of the audit."""

from sweep.records.bounds import CLASS_BOUNDS, CONTRACT_BOUNDS, SCHEDULER_BOUNDS

CAPACITY = SCHEDULER_BOUNDS["token_capacity_per_second"]
ITERATION_MS = SCHEDULER_BOUNDS["iteration_time_ms"]
KV_BYTES_PER_TOKEN = SCHEDULER_BOUNDS["kv_bytes_per_token"]
KV_BYTES = CONTRACT_BOUNDS["max_kv_bytes"]
ARRIVAL_MILLIRPS = CLASS_BOUNDS["arrival_millirps"]
PEAK_CONCURRENCY = CLASS_BOUNDS["peak_concurrency"]

SCALE_MAX_PERMILLE = 10**15
"""A traffic scale above this is out of range for every class."""

SATURATED_DELAY_MS = 86_400_000
"""The queue delay that the audit reports from 1000 ‰ of total utilisation on."""

UNDEFINED = -1
"""The value of a quantity whose formula has no meaning in a cell."""

BURST_UNIT = 10**9
"""Little's law in millirps · ms · ‰: 10^3 · 10^3 · 10^3."""
