"""`judge`: one cell of a grid in plain Python ints, a few microseconds; the oracle of kernels and files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from sweep.records.bounds import CONTRACT_BOUNDS, MAX_SCALE_PERMILLE
from sweep.records.codes import INVALID_MASK, INVALID_REASONS
from sweep.reference.derive import Fields, Point, kv_bound_bytes, point_of
from sweep.reference.figures import BOUND_OF, figures_of, violations_of

# Bit 2 on; the KV bound comes from `kv_bound_bytes`, which may have derived it.
_PATHS = tuple([(bound, f"contract.{bound}") for _, bound in BOUND_OF if bound != "max_kv_bytes"])


@dataclass(frozen=True, slots=True)
class Judgement:
    """Everything that a result file says about one cell."""

    token_capacity_per_second: int
    """Tokens/s, given or derived, even out of range."""
    iteration_time_ms: int
    """ms, given or derived, even out of range."""
    kv_bytes_per_token: int
    """Bytes per token, given or derived, even out of range."""
    max_kv_bytes: int
    """Bytes, given or derived, even out of range: negative where the weights do not fit."""
    arrivals_millirps: tuple[int, ...]
    """By class, scaled, per replica; even out of range."""
    peak_concurrencies: tuple[int, ...]
    """By class, scaled or from the SLO, per replica; even out of range; −1 where undefined."""
    figures: dict[str, int]
    """The eight figures of a report, `active_sequences`, `worst_prefill_service_ms`; −1 where undefined."""
    violations: int
    """The mask of broken bounds; 0x8000 alone in an invalid cell."""
    invalid_reason: int
    """Index into `INVALID_REASONS`; 0 in a valid cell."""

    @property
    def reason(self) -> str:
        """The code of `invalid_reason`."""
        return INVALID_REASONS[self.invalid_reason]


def judge(fields: Fields, class_ids: Sequence[str]) -> Judgement:
    """Judge one cell: derive its operating point, compute every figure, compare with every bound.

    An invalid cell has its figures too, by formula, −1 where they are undefined.

    Args:
        fields: full path -> value for every field of the cell, models and traffic included.
        class_ids: the classes, in the order of the file.
    """
    point = point_of(fields, class_ids)
    kv_bound = kv_bound_bytes(fields)
    reason = _invalid_reason(fields, point, kv_bound)
    figures = figures_of(point)
    violations = INVALID_MASK
    if not reason:
        ints = cast(Mapping[str, int], fields)
        bounds = {bound: ints[path] for bound, path in _PATHS}
        bounds["max_kv_bytes"] = kv_bound
        admission = bool(fields.get("workload.admission_control_enabled", True))
        violations = violations_of(figures, bounds, point.max_active_sequences, admission)
    return Judgement(
        point.token_capacity_per_second,
        point.iteration_time_ms,
        point.kv_bytes_per_token,
        kv_bound,
        tuple([load.arrival_millirps for load in point.loads]),
        tuple([load.peak_concurrency for load in point.loads]),
        figures,
        violations,
        reason,
    )


def _invalid_reason(fields: Fields, point: Point, kv_bound: int) -> int:
    """The lowest reason that applies, 0 where none does (`grid.md`, "Invalid, rejected, within")."""
    if kv_bound < 1 and fields["contract.max_kv_bytes"] == "from-memory":
        return 1
    if not 1 <= kv_bound <= CONTRACT_BOUNDS["max_kv_bytes"][1]:
        return 2
    if not point.capacity_in_range:
        return 3
    if not point.iteration_in_range:
        return 4
    if not point.kv_in_range:
        return 5
    # Capacity and iteration time are in range from here on, so what an iteration serves is defined.
    per_iteration = point.prefill_tokens_per_second * point.iteration_time_ms // 1000
    if per_iteration < 1:
        return 6
    if point.max_prefill_chunk_tokens > per_iteration:
        return 7
    scale = cast(int, fields.get("traffic.scale_permille", 1000))
    if scale > MAX_SCALE_PERMILLE or not point.arrivals_in_range:
        return 8
    # A concurrency is undefined only where its arrival is out of range, which is reason 8.
    return 0 if point.peaks_in_range else 9
