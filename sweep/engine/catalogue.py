"""The variables of a result: which node each shows, with its unit and its meaning in one line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sweep.engine.evaluate import Evaluation
from sweep.records.bounds import CONTRACT_BOUNDS
from sweep.records.codes import INVALID_BIT, INVALID_REASONS, VIOLATION_CODES
from sweep.store.layout import unit_of

MS, BYTES, PERMILLE, PER_SECOND, COUNT = "ms", "byte", "1e-3", "s-1", "1"


@dataclass(frozen=True)
class Quantity:
    """A variable of the result file."""

    name: str
    node: str
    units: str
    long_name: str


_FIGURES = (
    ("token_capacity_per_second", PER_SECOND, "token capacity of a replica"),
    ("iteration_time_ms", MS, "time of one scheduler iteration"),
    ("kv_bytes_per_token", BYTES, "KV-cache bytes of one token"),
    ("total_utilization_permille", PERMILLE, "token work over token capacity"),
    ("prefill_utilization_permille", PERMILLE, "prefill work over the prefill share of the capacity"),
    ("decode_utilization_permille", PERMILLE, "decode work over the rest of the capacity"),
    ("estimated_queue_delay_ms", MS, "fluid estimate of the queue delay"),
    ("worst_prefill_service_ms", MS, "time to first token of an empty queue, worst request class"),
    ("estimated_worst_ttft_ms", MS, "time to first token, worst request class"),
    ("estimated_tpot_ms", MS, "time per output token"),
    ("declared_starvation_bound_ms", MS, "longest wait behind priority iterations"),
    ("active_sequences", COUNT, "sequences active at the peak"),
    ("peak_kv_bytes", BYTES, "KV-cache bytes at the peak"),
)

FIGURES = tuple(Quantity(name, name, units, text) for name, units, text in _FIGURES)


def bound_node(field: str) -> str:
    """The node that holds a bound of the contract: the KV bound may come from the memory model."""
    return "bound_max_kv_bytes" if field == "max_kv_bytes" else f"contract.{field}"


def quantities(ev: Evaluation) -> tuple[Quantity, ...]:
    """Every figure, and each bound of the contract that varies over the grid."""
    bounds = tuple(
        Quantity(f"bound_{field}", bound_node(field), unit_of(field), f"the bound {field} of the contract")
        for field in CONTRACT_BOUNDS
        if ev.dims(bound_node(field))
    )
    return FIGURES + bounds


MASK_TEXT = "violations; 0 where the cell is feasible"


def mask_attributes(text: str) -> dict[str, Any]:
    """CF attributes of a variable that holds violation masks."""
    bits = [*range(len(VIOLATION_CODES)), INVALID_BIT]
    return {
        "long_name": text,
        "flag_masks": np.array([1 << bit for bit in bits], dtype=np.uint16),
        "flag_meanings": " ".join([*VIOLATION_CODES, "invalid"]),
    }


def reason_attributes() -> dict[str, Any]:
    """CF attributes of a variable that holds invalid reasons."""
    return {
        "long_name": "why the cell's records cannot be built",
        "flag_values": np.arange(len(INVALID_REASONS), dtype=np.uint8),
        "flag_meanings": " ".join(INVALID_REASONS),
    }
