"""The report of an audit."""

from dataclasses import dataclass
from typing import Final

from sweep.errors import RecordFault
from sweep.records.bounds import CONTENT_ID
from sweep.records.checks import shown
from sweep.records.codes import REJECTED, VIOLATION_CODES, WITHIN
from sweep.records.wording import CLAIM

FIGURES: Final = (
    "total_utilization_permille",
    "prefill_utilization_permille",
    "decode_utilization_permille",
    "estimated_queue_delay_ms",
    "estimated_worst_ttft_ms",
    "estimated_tpot_ms",
    "declared_starvation_bound_ms",
    "peak_kv_bytes",
)
"""The eight figures of a report, in its order."""


@dataclass(frozen=True, slots=True)
class BatchingReport:
    """The verdict on one operating point: decision, every violation, every figure.

    Raises:
        RecordFault: with every fault of its fields; the decision must be that of the violations.
    """

    decision: str
    """`CAPACITY_WITHIN_DECLARED_BOUND` with no violation, else `REJECT_CAPACITY`."""
    violations: tuple[str, ...]
    """The codes of every broken bound, in the order of `VIOLATION_CODES`."""
    total_utilization_permille: int
    """‰ of the token capacity that the arrivals need."""
    prefill_utilization_permille: int
    """‰ of the prefill share that the prompts need."""
    decode_utilization_permille: int
    """‰ of the decode share that the outputs need."""
    estimated_queue_delay_ms: int
    """ms; exactly one day where the total utilisation reaches 1000 ‰."""
    estimated_worst_ttft_ms: int
    """ms from arrival to first token, over the class that waits longest."""
    estimated_tpot_ms: int
    """ms per output token at the peak concurrency."""
    declared_starvation_bound_ms: int
    """ms that the lowest priority may wait behind prioritised iterations."""
    peak_kv_bytes: int
    """Bytes of KV cache at the peak concurrency."""
    evidence_id: str
    """SHA-256 that ties the verdict to the contract and the workload."""
    claim: str = CLAIM
    """What the figures are: a local fluid model, neither queueing theory nor a measurement."""

    def __post_init__(self) -> None:
        where = "BatchingReport"
        faults = [
            f"{where}.{name}: got {shown(value)}, want an integer of 0 or more; take it from an audit."
            for name in FIGURES
            if type(value := getattr(self, name)) is not int or value < 0
        ]
        codes: object = self.violations
        if type(codes) is not tuple or codes != tuple(code for code in VIOLATION_CODES if code in codes):
            faults.append(f"{where}.violations: got {shown(codes)}, want a tuple of codes in their order.")
        decision = REJECTED if codes else WITHIN
        if self.decision != decision:
            faults.append(f"{where}.decision: got {shown(self.decision)}, these violations want {decision}.")
        if type(self.evidence_id) is not str or not CONTENT_ID.fullmatch(self.evidence_id):
            faults.append(f"{where}.evidence_id: got {shown(self.evidence_id)}, want 64 hex digits.")
        if self.claim != CLAIM:
            faults.append(f"{where}.claim: got {shown(self.claim)}, want {CLAIM}.")
        if faults:
            raise RecordFault(faults)
