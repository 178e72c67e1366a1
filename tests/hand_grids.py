"""Hand-made grids: small enough to be judged cell by cell, each with a point of its own."""

from sweep.grid import Grid, parse_grid

BASE = """
[sweep]
name = "hand-made"
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
class_id = "chat"
priority = 1
arrival_millirps = 4_000
prompt_tokens = 1_000
output_tokens = 200
peak_concurrency = 24
[[class]]
class_id = "code.v2"
priority = 2
arrival_millirps = 500
prompt_tokens = 4_000
output_tokens = 800
peak_concurrency = 8
"""
"""One cell of two classes, within every bound."""

AXES = """
[axes]
prefill_share_permille = [300, 500, 600, 620]
max_prefill_chunk_tokens = [64, 256, 480]
max_active_sequences = [8, 32, 64]
traffic_scale_permille = [250, 900, 1_000, 1_100, 20_000]
"class.code.v2.prompt_tokens" = [1_000, 4_000]
[[axes.precision]]
name = "bf16"
set = { "scheduler.kv_bytes_per_token" = 131_072 }
[[axes.precision]]
name = "fp8"
set = { "scheduler.kv_bytes_per_token" = 65_536, "contract.max_ttft_ms" = 240 }
"""
"""720 cells, among them feasible, rejected and invalid ones."""

MODELS = """
[sweep]
name = "models"
[contract]
max_total_utilization_permille = 950
max_prefill_utilization_permille = 950
max_decode_utilization_permille = 950
max_queue_delay_ms = 200
max_ttft_ms = 900
max_tpot_ms = 50
max_starvation_ms = 500
max_kv_bytes = "from-memory"
[scheduler]
scheduler_id = "chunked"
max_consecutive_priority_iterations = 3
[step_time]
base_ns = 7_000_000
per_sequence_ns = 74_000
per_prefill_token_ns = 33_000
capacity = "from-step-time"
[model]
layers = 32
kv_heads = 8
head_dim = 128
kv_bytes_per_value = 2
weight_bytes = 16_060_522_496
[gpu]
memory_bytes = 85_520_809_984
memory_utilization_permille = 900
activation_bytes = "2 GiB"
framework_overhead_bytes = "1 GiB"
[[class]]
class_id = "conversation"
priority = 1
arrival_millirps = 5_531
prompt_tokens = 1_155
output_tokens = 212
peak_concurrency = "from-slo"
[[class]]
class_id = "code"
priority = 2
arrival_millirps = 2_567
prompt_tokens = 2_048
output_tokens = 28
peak_concurrency = "from-slo"
[axes]
prefill_share_permille = [600, 800, 900, 950]
max_prefill_chunk_tokens = [256, 512, 1_024]
max_active_sequences = [16, 64, 128, 256]
traffic_scale_permille = [50, 200, 400, 1_000]
"""
"""192 cells where every derived field is derived."""


def base_grid(*overrides: tuple[str, str]) -> Grid:
    """The one cell, with `set` and `axis` overrides."""
    return parse_grid(BASE, overrides)


def axes_grid(*overrides: tuple[str, str]) -> Grid:
    return parse_grid(BASE + AXES, overrides)


def models_grid(*overrides: tuple[str, str]) -> Grid:
    return parse_grid(MODELS, overrides)


def little_grid(*overrides: tuple[str, str]) -> Grid:
    """One class by Little's law on a slow replica: the time per output token grows with its own bound."""
    slow = (
        ("set", "class.chat.peak_concurrency='from-slo'"),
        ("set", "class.code.v2.peak_concurrency=1"),
        ("set", "scheduler.max_active_sequences=10_000"),
        ("set", "contract.max_kv_bytes=10**18".replace("10**18", str(10**18))),
    )
    return parse_grid(BASE, (*slow, *overrides))


def little_case() -> str:
    """One cell with concurrency from the SLO: 4 requests/s that stay 250 ms + 200 · 30 ms are 25 of 26 slots."""
    text = BASE[: BASE.rindex("[[class]]")].replace("peak_concurrency = 24", 'peak_concurrency = "from-slo"')
    return text.replace("max_active_sequences = 64", "max_active_sequences = 26")
