"""From the fields of one cell to its operating point: traffic, step time and memory (`grid.md`).

Plain Python ints, no records: what is derived may be out of range, and the rest must still be computed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, cast

from sweep.records.bounds import CLASS_BOUNDS, SCHEDULER_BOUNDS

Fields = Mapping[str, int | str | bool | Fraction]
"""Full path of a field -> its value, as a grid gives them for one cell."""

UNDEFINED: Final = -1
"""What a quantity is where its formula says nothing."""

_MAX_CAPACITY = SCHEDULER_BOUNDS["token_capacity_per_second"][1]
_MAX_ITERATION = SCHEDULER_BOUNDS["iteration_time_ms"][1]
_MAX_KV = SCHEDULER_BOUNDS["kv_bytes_per_token"][1]
_MAX_ARRIVAL = CLASS_BOUNDS["arrival_millirps"][1]
_MAX_PEAK = CLASS_BOUNDS["peak_concurrency"][1]


@dataclass(frozen=True, slots=True)
class Load:
    """One request class as the busiest replica sees it."""

    arrival_millirps: int
    """Scaled, per replica, rounded up; may exceed the bound of a record."""
    prompt_tokens: int
    output_tokens: int
    peak_concurrency: int
    """Scaled or from the SLO, per replica; may exceed the bound of a record; −1 where undefined."""


@dataclass(frozen=True, slots=True)
class Point:
    """An operating point: what the audit's formulas read, each figure as derived, even out of range."""

    token_capacity_per_second: int
    """Tokens/s; −1 for a step of 0 ns."""
    prefill_share_permille: int
    max_active_sequences: int
    max_prefill_chunk_tokens: int
    iteration_time_ms: int
    max_consecutive_priority_iterations: int
    kv_bytes_per_token: int
    loads: tuple[Load, ...]

    @property
    def capacity_in_range(self) -> bool:
        """Whether a record could hold the token capacity."""
        return 1 <= self.token_capacity_per_second <= _MAX_CAPACITY

    @property
    def iteration_in_range(self) -> bool:
        """Whether a record could hold the iteration time."""
        return 1 <= self.iteration_time_ms <= _MAX_ITERATION

    @property
    def kv_in_range(self) -> bool:
        """Whether a record could hold the KV bytes per token."""
        return 1 <= self.kv_bytes_per_token <= _MAX_KV

    @property
    def arrivals_in_range(self) -> bool:
        """Whether records could hold the arrivals of every class."""
        return all(1 <= load.arrival_millirps <= _MAX_ARRIVAL for load in self.loads)

    @property
    def peaks_in_range(self) -> bool:
        """Whether records could hold the concurrency of every class; an undefined one is −1, hence out."""
        return all(1 <= load.peak_concurrency <= _MAX_PEAK for load in self.loads)

    @property
    def prefill_tokens_per_second(self) -> int:
        """P = ⌊capacity·share/1000⌋."""
        return self.token_capacity_per_second * self.prefill_share_permille // 1000


def ceil_div(a: int, b: int) -> int:
    """⌈a/b⌉ for b > 0."""
    return -(-a // b)


def point_of(fields: Fields, class_ids: Sequence[str]) -> Point:
    """The operating point of a cell, its classes in the order of `class_ids`."""
    ints = cast(Mapping[str, int], fields)  # every field read through it is an integer
    slots = ints["scheduler.max_active_sequences"]
    chunk = ints["scheduler.max_prefill_chunk_tokens"]
    capacity, iteration = _step_time(fields, slots, chunk)
    return Point(
        capacity,
        ints["scheduler.prefill_share_permille"],
        slots,
        chunk,
        iteration,
        ints["scheduler.max_consecutive_priority_iterations"],
        _kv_bytes_per_token(fields),
        tuple([_load(fields, f"class.{class_id}.") for class_id in class_ids]),
    )


def _step_time(fields: Fields, slots: int, chunk: int) -> tuple[int, int]:
    """Token capacity (tokens/s) and iteration time (ms), given or from the step time."""
    ints = cast(Mapping[str, int], fields)
    if "step_time.base_ns" not in fields:
        return ints["scheduler.token_capacity_per_second"], ints["scheduler.iteration_time_ms"]
    step_ns = (
        ints["step_time.base_ns"]
        + ints["step_time.per_sequence_ns"] * slots
        + ints["step_time.per_prefill_token_ns"] * chunk
    )
    if fields.get("step_time.capacity") != "from-step-time":
        capacity = ints["scheduler.token_capacity_per_second"]
    else:
        capacity = (slots + chunk) * 10**9 // step_ns if step_ns else UNDEFINED
    return capacity, ceil_div(step_ns, 10**6)


def _kv_bytes_per_token(fields: Fields) -> int:
    """⌈2·layers·h·head_dim·w⌉ bytes, KV heads replicated where there are fewer than GPUs; or as given."""
    ints = cast(Mapping[str, int], fields)
    if "model.layers" not in fields:
        return ints["scheduler.kv_bytes_per_token"]
    gpus = ints.get("gpu.tensor_parallel", 1)
    heads = gpus * max(1, ceil_div(ints["model.kv_heads"], gpus))
    values = 2 * ints["model.layers"] * heads * ints["model.head_dim"]
    value_bytes = cast(int | Fraction, fields["model.kv_bytes_per_value"])
    # An int is a ratio over 1, so one formula serves both.
    return ceil_div(values * value_bytes.numerator, value_bytes.denominator)


def kv_bound_bytes(fields: Fields) -> int:
    """`max_kv_bytes` in bytes: as given, or the memory that the weights leave; below 1 where none is."""
    ints = cast(Mapping[str, int], fields)
    if fields["contract.max_kv_bytes"] != "from-memory":
        return ints["contract.max_kv_bytes"]
    usable = ints["gpu.memory_bytes"] * ints["gpu.memory_utilization_permille"] // 1000
    chunk_bytes = ints.get("gpu.activation_bytes_per_chunk_token", 0) * ints["scheduler.max_prefill_chunk_tokens"]
    per_gpu = (
        usable
        - ints["gpu.activation_bytes"]
        - chunk_bytes
        - ints["gpu.framework_overhead_bytes"]
        - ints.get("gpu.reserved_bytes", 0)
    )
    return ints.get("gpu.tensor_parallel", 1) * per_gpu - ints["model.weight_bytes"]


def _load(fields: Fields, path: str) -> Load:
    """The class whose fields begin with `path`, on the busiest replica; each step rounds up, in order."""
    ints = cast(Mapping[str, int], fields)
    scale = ints.get("traffic.scale_permille", 1000)
    replicas = ints.get("traffic.replicas", 1)
    output = ints[path + "output_tokens"]
    arrival = ceil_div(ceil_div(ints[path + "arrival_millirps"] * scale, 1000), replicas)
    if fields[path + "peak_concurrency"] == "from-slo":
        peak = UNDEFINED
        if arrival <= _MAX_ARRIVAL:
            # Little's law: arrivals × the longest stay that the SLO allows; 10^9 = millirps · ms · ‰.
            stay_ms = ints["contract.max_ttft_ms"] + output * ints["contract.max_tpot_ms"]
            peak = ceil_div(arrival * stay_ms * ints.get(path + "burst_permille", 1000), 10**9)
    else:
        peak = ints[path + "peak_concurrency"]
        if fields.get("traffic.scale_concurrency", True):
            peak = ceil_div(peak * scale, 1000)
        peak = ceil_div(peak, replicas)
    return Load(arrival, ints[path + "prompt_tokens"], output, peak)
