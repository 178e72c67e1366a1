"""What the numbers of a service prove against its operating point, and what of the grid restores it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any, Final

from sweep.engine.evaluate import Evaluation
from sweep.engine.run import evaluation_of
from sweep.grid.model import Grid
from sweep.operate.diagnose import CACHE_PRESSURE, HEALTHY, OVERSIZED, UNDERSIZED, UNDETERMINED, Verdict, rule_chain
from sweep.operate.diagnose_knob import KnobChange, NearestBound, knob_changes, nearest_bound
from sweep.operate.diagnose_snapshot import Signals
from sweep.operate.manifest import Manifest
from sweep.query.cell import Cell, cell_at
from sweep.query.rank import ranked
from sweep.query.select import select
from sweep.records.wording import CLAIM
from sweep.units import decimal_text, grouped

SLOT_BOUND: Final = "slot_bound"
KV_BOUND: Final = "kv_bound"
PREFILL_BOUND: Final = "prefill_bound"
UNDER_REPLICATED: Final = "under_replicated"

RELIEF: Final[Mapping[str, Mapping[str, int]]] = {
    KV_BOUND: {"max_active_sequences": -1},
    SLOT_BOUND: {"max_active_sequences": 1},
    PREFILL_BOUND: {"max_prefill_chunk_tokens": 1, "prefill_share_permille": 1},
    UNDER_REPLICATED: {"replicas": 1},
    CACHE_PRESSURE: {"max_active_sequences": -1},
    UNDERSIZED: {"replicas": 1},
    OVERSIZED: {"max_active_sequences": -1},
}
"""Finding or verdict -> which knobs relieve it, and which way."""


@dataclass(frozen=True)
class Finding:
    """One thing that the numbers may prove.

    Attributes:
        name: what it is.
        holds: True or False where they prove it; None where something is missing.
        why: by which numbers, a clause.
    """

    name: str
    holds: bool | None
    why: str

    def as_json(self) -> dict[str, Any]:
        """With stable keys."""
        return {"finding": self.name, "holds": self.holds, "why": self.why}


@dataclass(frozen=True)
class Diagnosis:
    """The answer of `diagnose`.

    Attributes:
        signals: what was measured.
        verdict: what the rule chain says of it.
        findings: what the numbers prove.
        cell: the operating point, at the measured traffic where that is known; None without a result.
        measured_traffic: whether it is.
        capacity_millirps: what the point's configuration carries within all bounds, all replicas; None without.
        nearest: the bound that is nearest at the cell.
        changes: which single knobs keep every bound, and relieve what was proven; the smallest change first.
    """

    signals: Signals
    verdict: Verdict
    findings: tuple[Finding, ...]
    cell: Cell | None
    measured_traffic: bool
    capacity_millirps: int | None
    nearest: NearestBound | None
    changes: tuple[KnobChange, ...]

    @property
    def healthy(self) -> bool | None:
        """Whether the rule chain calls it healthy and the numbers prove no bound; None where too little is known."""
        if self.verdict.name == UNDETERMINED:
            return None if HEALTHY in self.verdict.possible else False
        proven = any(one.holds for one in self.findings if one.name != HEALTHY)
        return self.verdict.name == HEALTHY and not proven

    def as_json(self) -> dict[str, Any]:
        """With stable keys; exact decimals are texts, ratios without an end are p/q."""
        signals = self.signals
        names = ("queue_depth", "running", "batch_occupancy", "itl_p50_ms", "preemption_rate", "kv_cache_usage")
        shown = {name: exact_text(getattr(signals, name)) for name in (*names, "arrival_rps")}
        bucket = None if signals.itl_between_ms is None else [exact_text(edge) for edge in signals.itl_between_ms]
        return {
            **self.verdict.as_json(),
            "signals": {**shown, "itl_p50_between_ms": bucket, "engines": signals.engines},
            "findings": [one.as_json() for one in self.findings],
            "point": None if self.cell is None else dict(self.cell.point),
            "status": None if self.cell is None else self.cell.status,
            "measured_traffic": self.measured_traffic,
            "capacity_millirps": self.capacity_millirps,
            "nearest_bound": None if self.nearest is None else self.nearest.as_json(),
            "smallest_change": self.changes[0].as_json() if self.changes else None,
            "changes": [change.as_json() for change in self.changes],
            "notes": list(signals.notes),
            "claim": CLAIM,
        }


def exact_text(number: Fraction | None) -> str | None:
    """A number as an exact decimal where it is one, else as p/q; None for None."""
    if number is None:
        return None
    try:
        return decimal_text(number)
    except ValueError:
        return str(number)


def diagnosis(
    signals: Signals, grid: Grid | None = None, cell: Cell | None = None, manifest: Manifest | None = None
) -> Diagnosis:
    """What signals say of a service.

    Args:
        signals: what was measured.
        grid: what the operating point was chosen from; None for the rule chain alone.
        cell: the operating point in it.
        manifest: what was launched; its slots and replicas count in place of the cell's.
    """
    fields = {} if cell is None else cell.fields
    slots = manifest.batch_slots if manifest is not None else fields.get("scheduler.max_active_sequences")
    replicas = manifest.replica_count if manifest is not None else fields.get("traffic.replicas", 1)
    signals = signals.with_slots(slots)
    verdict = rule_chain(signals.queue_depth, signals.batch_occupancy, signals.itl_p50_ms, signals.preemption_rate)
    arrivals = None if signals.arrival_rps is None else ceil(signals.arrival_rps * 1_000 * replicas / signals.engines)
    ev = None if grid is None else evaluation_of(grid)
    capacity = None if grid is None or ev is None or cell is None else _capacity(grid, ev, cell)
    findings = _findings(signals, cell, arrivals, capacity)
    if grid is None or ev is None or cell is None:
        return Diagnosis(signals, verdict, findings, None, False, None, None, ())
    there = cell if not arrivals else _at_traffic(grid, cell, arrivals)
    changes = _changes(grid, ev, there, verdict, findings)
    return Diagnosis(signals, verdict, findings, there, bool(arrivals), capacity, nearest_bound(there), changes)


def _capacity(grid: Grid, ev: Evaluation, cell: Cell) -> int:
    """The exact largest arrivals of a cell's configuration, 1/1000 requests/s of all replicas; 0 where there are none.

    The largest traffic of a configuration is one integer, whatever the values of the traffic axis are.
    """
    places = {axis.name: cell.point[axis.name] for axis in grid.axes[:-1]}
    found = ranked(grid, ev, select(grid, places))
    if not found:
        return 0
    return sum(cell_at(grid, found[0].index, found[0].scale_permille).traffic_millirps.values())


def _at_traffic(grid: Grid, cell: Cell, millirps: int) -> Cell:
    """The same configuration at the least traffic scale whose arrivals reach the measured ones."""
    places = {axis.name: cell.point[axis.name] for axis in grid.axes[:-1]}
    selection = select(grid, {**places, "rps": f"{millirps // 1_000}.{millirps % 1_000:03}"})
    return cell_at(grid, selection.offset, selection.scale_permille)


def _changes(
    grid: Grid, ev: Evaluation, cell: Cell, verdict: Verdict, findings: tuple[Finding, ...]
) -> tuple[KnobChange, ...]:
    """What restores a point that is not within; for one that is, what relieves the incident and stays within."""
    if cell.status != "within":
        return knob_changes(grid, ev, cell)
    incidents = [finding.name for finding in findings if finding.holds]
    directions: dict[str, int] = {}
    for incident in (*incidents, verdict.name):
        directions = {**RELIEF.get(incident, {}), **directions}  # the first one has the say
    return knob_changes(grid, ev, cell, directions) if directions else ()


def _findings(signals: Signals, cell: Cell | None, arrivals: int | None, capacity: int | None) -> tuple[Finding, ...]:
    kv = _kv_bound(signals, cell)
    slots = _slot_bound(signals)
    bound = [kv, slots, _prefill_bound(signals, kv, slots), _under_replicated(arrivals, capacity)]
    if any(one.holds for one in bound):
        return (*bound, Finding(HEALTHY, False, "something else is proven"))
    open_ones = [one.name for one in bound if one.holds is None]
    if open_ones:
        return (*bound, Finding(HEALTHY, None, f"not known: {', '.join(open_ones)}"))
    return (*bound, Finding(HEALTHY, True, "nothing else is the case"))


def _kv_bound(signals: Signals, cell: Cell | None) -> Finding:
    """Preemptions prove it: vLLM preempts where a running request finds no free block. So does a full cache."""
    preempted, waiting, usage = signals.preemptions, signals.queue_depth, signals.kv_cache_usage
    if preempted or (signals.preemption_rate or 0) > 0:
        return Finding(KV_BOUND, True, "requests were preempted, which happens only where a block is missing")
    blocks = None if cell is None else cell.blocks
    if waiting and usage is not None and cell is not None and blocks is not None:
        size = blocks["block_tokens"]
        prompts = sorted(-(-row["prompt_tokens"] // size) for row in cell.classes)
        free = blocks["available"] * (1 - usage)
        text = f"requests wait, and of {grouped(blocks['available'])} blocks {grouped(int(free))} are free"
        if free < prompts[0]:
            return Finding(KV_BOUND, True, f"{text}, fewer than the shortest prompt takes ({grouped(prompts[0])})")
        if preempted is not None:
            if free >= prompts[-1]:
                return Finding(KV_BOUND, False, f"no request was preempted, and {grouped(int(free))} blocks are free")
            return Finding(KV_BOUND, None, f"{text}: enough for some prompts and not for others")
    if preempted is None:
        return Finding(KV_BOUND, None, "preemptions are missing")
    if waiting == 0:
        return Finding(KV_BOUND, False, "no request was preempted, and none waits")
    missing = "queue depth" if waiting is None else "KV-cache use" if usage is None else "an operating point"
    return Finding(KV_BOUND, None, f"{missing} is missing")


def _slot_bound(signals: Signals) -> Finding:
    waiting, occupancy = signals.queue_depth, signals.batch_occupancy
    if waiting == 0:
        return Finding(SLOT_BOUND, False, "no request waits")
    if occupancy is not None and occupancy < 1:
        return Finding(SLOT_BOUND, False, "slots are free")
    if waiting is None or occupancy is None:
        missing = "queue depth" if waiting is None else "batch occupancy (running requests, or the slots)"
        return Finding(SLOT_BOUND, None, f"{missing} is missing")
    return Finding(SLOT_BOUND, True, "requests wait while every slot is taken")


def _prefill_bound(signals: Signals, kv: Finding, slots: Finding) -> Finding:
    """What waits with slots and blocks free waits for the prompt tokens of the steps: nothing else admits it."""
    if signals.queue_depth == 0:
        return Finding(PREFILL_BOUND, False, "no request waits")
    if kv.holds or slots.holds:
        return Finding(PREFILL_BOUND, False, "what waits is explained by slots or blocks")
    if signals.queue_depth is None or kv.holds is None or slots.holds is None:
        return Finding(PREFILL_BOUND, None, "whether slots or blocks hold requests back is not known")
    return Finding(PREFILL_BOUND, True, "requests wait though slots and blocks are free, so prefill lacks tokens")


def _under_replicated(arrivals: int | None, capacity: int | None) -> Finding:
    if arrivals is None or capacity is None:
        missing = "the arrivals per second are" if arrivals is None else "an operating point is"
        return Finding(UNDER_REPLICATED, None, f"{missing} missing")
    numbers = f"{_rps(arrivals)} req/s arrive, and the point carries {_rps(capacity)} within all bounds"
    return Finding(UNDER_REPLICATED, arrivals > capacity, numbers)


def _rps(millirps: int) -> str:
    return decimal_text(Fraction(millirps, 1_000))
