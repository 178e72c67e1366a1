"""The contract: the eight bounds that an operating point must keep (the SLO)."""

from dataclasses import dataclass

from sweep.records.base import NOT_GIVEN, seal
from sweep.records.bounds import CONTRACT_BOUNDS
from sweep.records.checks import bounded_faults, scope_faults


@dataclass(frozen=True, slots=True)
class BatchingContract:
    """The bounds that a report is held against; each is broken only by a figure strictly over it.

    Raises:
        RecordFault: with every fault of its fields, or for a `content_id` that is not that of the fields.
    """

    scope: tuple[str, ...]
    """Eight distinct identities that name what the figures belong to, in the order of `SCOPE_KEYS`."""
    max_total_utilization_permille: int
    """‰ of the token capacity, 1 to 999."""
    max_prefill_utilization_permille: int
    """‰ of the prefill share of the capacity, 1 to 999."""
    max_decode_utilization_permille: int
    """‰ of the rest of the capacity, 1 to 999."""
    max_queue_delay_ms: int
    """ms, 1 to one day; one day is what people type for "off"."""
    max_ttft_ms: int
    """Time to first token, ms, 1 to one day."""
    max_tpot_ms: int
    """Time per output token, ms, 1 to one day."""
    max_starvation_ms: int
    """Longest wait behind prioritised iterations, ms, 1 to one day."""
    max_kv_bytes: int
    """Bytes of KV cache, 1 to 10^18."""
    content_id: str = NOT_GIVEN
    """SHA-256 of the canonical JSON of the fields above; computed when left out, checked when given."""

    def __post_init__(self) -> None:
        where = "BatchingContract"
        seal(where, self, scope_faults(where, self.scope) + bounded_faults(where, self, CONTRACT_BOUNDS))
