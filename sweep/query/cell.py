"""One operating point in full, by the scalar reference: records, figures, slack, ids, blocks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sweep.errors import RecordFault
from sweep.grid.model import Grid
from sweep.records.bounds import CLASS_BOUNDS, CONTRACT_BOUNDS, SCHEDULER_BOUNDS
from sweep.records.codes import INVALID_REASONS, VIOLATION_CODES
from sweep.records.report import BatchingReport
from sweep.records.wording import CLAIM
from sweep.reference.audit import audit
from sweep.reference.build import records_of
from sweep.reference.judge import Judgement, judge

FIGURE_OF_BOUND = {
    "max_active_sequences": "active_sequences",
    "max_total_utilization_permille": "total_utilization_permille",
    "max_prefill_utilization_permille": "prefill_utilization_permille",
    "max_decode_utilization_permille": "decode_utilization_permille",
    "max_queue_delay_ms": "estimated_queue_delay_ms",
    "max_ttft_ms": "estimated_worst_ttft_ms",
    "max_tpot_ms": "estimated_tpot_ms",
    "max_starvation_ms": "declared_starvation_bound_ms",
    "max_kv_bytes": "peak_kv_bytes",
}
"""Each bound (the batch slots among them) and the figure that must not exceed it, in the order of the bits."""

DEFAULT_BLOCK_TOKENS = 16


def codes_of(mask: int) -> list[str]:
    """The violation codes of a mask, in order; none for an invalid cell (bit 15)."""
    return [code for bit, code in enumerate(VIOLATION_CODES) if mask >> bit & 1]


@dataclass(frozen=True)
class Cell:
    """An operating point and what the reference says of it."""

    point: Mapping[str, int | str]
    """Axis name -> value, every axis of the grid; the traffic scale may be off its axis."""
    fields: Mapping[str, Any]
    """Every field of the cell by its full path, models and traffic included."""
    verdict: Judgement
    class_ids: tuple[str, ...]

    @property
    def status(self) -> str:
        """`within`, `rejected` or `invalid`."""
        if self.verdict.invalid_reason:
            return "invalid"
        return "rejected" if self.verdict.violations else "within"

    @property
    def invalid_reason(self) -> str | None:
        """The reason's code, None in a valid cell."""
        return INVALID_REASONS[self.verdict.invalid_reason] if self.verdict.invalid_reason else None

    def bound(self, name: str) -> int:
        """A bound of the contract as resolved, or the batch slots."""
        if name == "max_kv_bytes":
            return self.verdict.max_kv_bytes
        table = "scheduler" if name in SCHEDULER_BOUNDS else "contract"
        return int(self.fields[f"{table}.{name}"])

    @property
    def slack(self) -> dict[str, int]:
        """Units left under each bound; negative where it is broken. Empty in an invalid cell."""
        if self.verdict.invalid_reason:
            return {}
        return {bound: self.bound(bound) - self.verdict.figures[figure] for bound, figure in FIGURE_OF_BOUND.items()}

    @property
    def over(self) -> dict[str, int]:
        """Each broken bound and by how many units."""
        return {bound: -left for bound, left in self.slack.items() if left < 0}

    @property
    def contract(self) -> dict[str, int]:
        """The eight bounds."""
        return {name: self.bound(name) for name in CONTRACT_BOUNDS}

    @property
    def scheduler(self) -> dict[str, Any]:
        """The scheduler profile, derived fields included."""
        derived = ("token_capacity_per_second", "iteration_time_ms", "kv_bytes_per_token")
        profile: dict[str, Any] = {"scheduler_id": self.fields["scheduler.scheduler_id"]}
        for name in SCHEDULER_BOUNDS:
            profile[name] = getattr(self.verdict, name) if name in derived else self.fields[f"scheduler.{name}"]
        return profile

    @property
    def classes(self) -> list[dict[str, Any]]:
        """The request classes with the final per-replica arrivals and concurrencies."""
        rows = []
        for i, class_id in enumerate(self.class_ids):
            row: dict[str, Any] = {"class_id": class_id}
            for name in CLASS_BOUNDS:
                row[name] = self.fields[f"class.{class_id}.{name}"]
            row["arrival_millirps"] = self.verdict.arrivals_millirps[i]
            row["peak_concurrency"] = self.verdict.peak_concurrencies[i]
            rows.append(row)
        return rows

    @property
    def traffic_millirps(self) -> dict[str, int]:
        """Per class the arrivals of all replicas together at the cell's traffic scale, 1/1000 requests per second."""
        scale = self.fields["traffic.scale_permille"]
        return {name: -(-self.fields[f"class.{name}.arrival_millirps"] * scale // 1000) for name in self.class_ids}

    @property
    def prefill_rate(self) -> int:
        """Tokens per second that prefill may use."""
        return int(self.verdict.token_capacity_per_second * self.fields["scheduler.prefill_share_permille"] // 1000)

    @property
    def decode_rate(self) -> int:
        """Tokens per second that are left for decode."""
        return self.verdict.token_capacity_per_second - self.prefill_rate

    @property
    def class_service_ms(self) -> dict[str, int]:
        """Per class the prefill service that its TTFT contains; the largest sets the worst TTFT. Empty if undefined."""
        if self.verdict.figures["worst_prefill_service_ms"] < 0:
            return {}
        iteration, rate = self.verdict.iteration_time_ms, self.prefill_rate
        chunk = self.fields["scheduler.max_prefill_chunk_tokens"]
        return {
            row["class_id"]: max(-(-row["prompt_tokens"] // chunk) * iteration, -(-row["prompt_tokens"] * 1000 // rate))
            for row in self.classes
        }

    @property
    def blocks(self) -> dict[str, int] | None:
        """KV blocks: tokens in one, needed at the peak, and available under the KV bound; None in an invalid cell."""
        if self.verdict.invalid_reason:
            return None
        tokens = int(self.fields.get("gpu.block_tokens", DEFAULT_BLOCK_TOKENS))
        needed = sum(
            row["peak_concurrency"] * -(-(row["prompt_tokens"] + row["output_tokens"]) // tokens)
            for row in self.classes
        )
        available = self.verdict.max_kv_bytes // (tokens * self.verdict.kv_bytes_per_token)
        return {"block_tokens": tokens, "needed": needed, "available": available}

    def audited(self) -> tuple[BatchingReport | None, dict[str, Any] | None]:
        """The audit's report and the content ids, from records; None for both in an invalid cell."""
        try:
            contract, workload = records_of(self.fields, self.class_ids)
        except RecordFault:
            return None, None
        ids = {
            "contract": contract.content_id,
            "scheduler": workload.scheduler.content_id,
            "classes": [request_class.content_id for request_class in workload.request_classes],
            "workload": workload.content_id,
        }
        return audit(contract, workload), ids

    def report_json(self) -> dict[str, Any] | None:
        """Every field of the audit's report, None in an invalid cell."""
        report, _ = self.audited()
        return None if report is None else report_as_json(report)

    def as_json(self) -> dict[str, Any]:
        """The answer of `explain`."""
        report, ids = self.audited()
        return {
            "point": dict(self.point),
            "status": self.status,
            "invalid_reason": self.invalid_reason,
            "contract": self.contract,
            "scheduler": self.scheduler,
            "classes": self.classes,
            "report": None if report is None else report_as_json(report),
            "slack": self.slack or None,
            "content_ids": ids,
            "blocks": self.blocks,
            "traffic_millirps": self.traffic_millirps,
            "claim": CLAIM,
        }


def report_as_json(report: BatchingReport) -> dict[str, Any]:
    """The twelve fields of a report, in the order of the definition."""
    names = BatchingReport.__dataclass_fields__
    return {name: list(value) if isinstance(value := getattr(report, name), tuple) else value for name in names}


def cell_at(grid: Grid, index: tuple[int, ...], scale_permille: int | None = None) -> Cell:
    """The cell of an index, one per axis; a scale overrides the traffic axis."""
    fields = grid.fields(index, scale_permille=scale_permille)
    point = {axis.name: axis.label(i) for axis, i in zip(grid.axes, index, strict=True)}
    if scale_permille is not None:
        point[grid.axes[-1].name] = scale_permille
    return Cell(point, fields, judge(fields, grid.class_ids), grid.class_ids)
