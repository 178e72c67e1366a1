"""The scheduler profile: what one replica serves, and how it shares its iterations."""

from dataclasses import dataclass

from sweep.records.base import NOT_GIVEN, seal
from sweep.records.bounds import SCHEDULER_BOUNDS
from sweep.records.checks import InvalidPoint, bounded_faults, identity_faults, scope_faults
from sweep.units import grouped


@dataclass(frozen=True, slots=True)
class SchedulerProfile:
    """A continuous-batching scheduler with chunked prefill.

    With P = ⌊capacity·share/1000⌋ prefill tokens/s, an iteration must serve at least one prefill token and a
    whole chunk; a profile that does not is invalid, not rejected.

    Raises:
        InvalidPoint: (a RecordFault) for a profile that breaks one of those two rules; `reason` is the first.
        RecordFault: with every fault of its fields, or for a `content_id` that is not that of the fields.
    """

    scope: tuple[str, ...]
    """Eight distinct identities that name what the figures belong to, in the order of `SCOPE_KEYS`."""
    scheduler_id: str
    """Identity of the scheduler."""
    token_capacity_per_second: int
    """Prompt and output tokens per second, 1 to 10^12."""
    prefill_share_permille: int
    """‰ of the capacity that prefill gets, 1 to 999."""
    max_active_sequences: int
    """Batch slots, 1 to 10^6."""
    max_prefill_chunk_tokens: int
    """Most prompt tokens of one request in one iteration, 1 to 10^7."""
    iteration_time_ms: int
    """ms, 1 to one day."""
    max_consecutive_priority_iterations: int
    """Iterations that may prefer a higher priority in a row, 1 to 10^6."""
    kv_bytes_per_token: int
    """Bytes of KV cache per token, 1 to 10^12."""
    content_id: str = NOT_GIVEN
    """SHA-256 of the canonical JSON of the fields above; computed when left out, checked when given."""

    def __post_init__(self) -> None:
        where = "SchedulerProfile"
        faults = scope_faults(where, self.scope) + identity_faults(f"{where}.scheduler_id", self.scheduler_id)
        outside = bounded_faults(where, self, SCHEDULER_BOUNDS)
        broken = None if outside else self._broken_rule(where)
        if broken:
            reason, sentence = broken
            raise InvalidPoint(reason, [*faults, sentence])
        seal(where, self, faults + outside)

    def _broken_rule(self, where: str) -> tuple[str, str] | None:
        """The first of the two rules that the profile breaks, as its code and a sentence."""
        prefill_per_second = self.token_capacity_per_second * self.prefill_share_permille // 1000
        per_iteration = prefill_per_second * self.iteration_time_ms // 1000
        served = (
            f"an iteration serves {grouped(per_iteration)} prefill tokens: "
            f"⌊{grouped(prefill_per_second)}·{grouped(self.iteration_time_ms)}/1000⌋, that is "
            "⌊P·iteration_time_ms/1000⌋ with P = ⌊token_capacity_per_second·prefill_share_permille/1000⌋"
        )
        remedy = "raise the share, the capacity or the iteration time"
        if per_iteration < 1:
            reason = "no-prefill-token-per-iteration"
            return reason, f"{where}: {reason}: want 1 or more, but {served}; {remedy}."
        chunk = self.max_prefill_chunk_tokens
        if chunk > per_iteration:
            reason = "chunk-exceeds-iteration-service"
            return reason, (
                f"{where}.max_prefill_chunk_tokens: {reason}: got {grouped(chunk)}, but {served}; lower the "
                f"chunk to that, or {remedy}."
            )
        return None
