"""The codes that a verdict is made of: violations (bits of a mask), invalid reasons and decisions."""

from typing import Final

VIOLATION_CODES: Final = (
    "admission-control-disabled",
    "active-sequence-capacity",
    "total-utilization",
    "prefill-utilization",
    "decode-utilization",
    "queue-delay",
    "time-to-first-token",
    "time-per-output-token",
    "starvation-bound",
    "kv-capacity",
)
"""Violation codes; the index is the bit in a `violations` mask (`audit.md`, "Violations")."""

INVALID_BIT: Final = 15
"""The bit of a `violations` mask that says `invalid`; it stands alone."""

INVALID_MASK: Final = 1 << INVALID_BIT
"""The `violations` mask of an invalid cell."""

INVALID_REASONS: Final = (
    "valid",
    "weights-do-not-fit",
    "kv-bound-out-of-range",
    "token-capacity-out-of-range",
    "iteration-time-out-of-range",
    "kv-bytes-per-token-out-of-range",
    "no-prefill-token-per-iteration",
    "chunk-exceeds-iteration-service",
    "arrival-out-of-range",
    "peak-concurrency-out-of-range",
)
"""Why a cell has no records; the index is `invalid_reason` (`grid.md`, "Invalid, rejected, within")."""

WITHIN: Final = "CAPACITY_WITHIN_DECLARED_BOUND"
REJECTED: Final = "REJECT_CAPACITY"

DECISIONS: Final = (WITHIN, REJECTED)
"""The two decisions of a report: no violation, or at least one."""


def codes_of(mask: int) -> tuple[str, ...]:
    """The violation codes whose bits are set in `mask`, in bit order.

    The `invalid` bit is no violation and gives no code.
    """
    return tuple(code for bit, code in enumerate(VIOLATION_CODES) if mask >> bit & 1)
