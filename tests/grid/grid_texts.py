"""Grid texts that the tests of this room share."""

from sweep.errors import InputFault
from sweep.grid import Grid, parse_grid

MINIMAL = """
[sweep]
name = "minimal"
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
"""

MODELS = """
[sweep]
name = "models"
[contract]
max_total_utilization_permille = 800
max_prefill_utilization_permille = 700
max_decode_utilization_permille = 700
max_queue_delay_ms = 50
max_ttft_ms = 250
max_tpot_ms = 30
max_starvation_ms = 100
max_kv_bytes = "from-memory"
[scheduler]
scheduler_id = "fair"
prefill_share_permille = 600
max_active_sequences = 64
max_prefill_chunk_tokens = 480
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
memory_bytes = "80 GB"
memory_utilization_permille = 900
activation_bytes = "2 GiB"
framework_overhead_bytes = "1 GiB"
[[class]]
class_id = "chat"
priority = 1
arrival_millirps = 4_000
prompt_tokens = 1_000
output_tokens = 200
peak_concurrency = "from-slo"
"""


def changed(text: str, **lines: str | None) -> str:
    """A text with the lines of some keys replaced, or removed where the new line is None."""
    kept = []
    for line in text.splitlines():
        key = line.partition("=")[0].strip()
        if key not in lines:
            kept.append(line)
        elif lines[key] is not None:
            kept.append(lines[key])
    return "\n".join(kept) + "\n"


def faults_of(text: str, *overrides: tuple[str, str]) -> tuple[str, ...]:
    """The faults of a text; an AssertionError where it has none."""
    try:
        parse_grid(text, overrides)
    except InputFault as error:
        return error.faults
    raise AssertionError("the grid has no fault")


def with_axes(axes: str, text: str = MINIMAL) -> Grid:
    """The grid of a text with `[axes]` appended."""
    return parse_grid(f"{text}[axes]\n{axes}\n")


def axis_faults(axes: str, text: str = MINIMAL) -> tuple[str, ...]:
    """The faults of a text with `[axes]` appended."""
    return faults_of(f"{text}[axes]\n{axes}\n")
