"""The state of a rollout as a file, and observations as files: read with nothing trusted, decided again when read."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from sweep.errors import InputFault, ResultFault
from sweep.hardware.document import parse_object, read_object
from sweep.operate.manifest_fields import HEX, Strict
from sweep.operate.rollout import (
    ADVANCE,
    HALT,
    LATENCY_MS,
    MAX_STAGES,
    NOT_ENOUGH_DATA,
    ROLLBACK,
    ROLLOUT_VERSION,
    SAMPLES,
    Observation,
    Plan,
    Rollout,
)
from sweep.records.digest import canonical_json, digest
from sweep.units import decimal_text, exact_decimal, printable, shown

MAX_STATE_BYTES: Final = 2**20
STATE: Final = "the state of a rollout, as `sweep rollout start` writes it"
OBSERVATION: Final = "an observation with requests, errors and p99_latency_ms (JSON)"

_ACTIONS: Final = (ADVANCE, HALT, ROLLBACK, NOT_ENOUGH_DATA)


def state_text(rollout: Rollout) -> str:
    """The state's file: canonical JSON with its digest, and a line break."""
    document = rollout.payload()
    return canonical_json({**document, "digest": digest(document)}) + "\n"


def read_state(path: str | Path) -> Rollout:
    """The rollout that a state file holds; every decision in it is made again and compared.

    Raises:
        ResultFault: missing, unreadable, damaged, altered, or no state; all faults at once.
    """
    where = printable(str(path), 160)
    try:
        return _rollout(read_object(Path(path), MAX_STATE_BYTES, STATE), where)
    except InputFault as fault:
        raise ResultFault(fault.faults) from None


def parse_state(text: str, where: str = "state") -> Rollout:
    """The rollout that a text holds; see `read_state`."""
    try:
        return _rollout(parse_object(text, where, STATE), where)
    except InputFault as fault:
        raise ResultFault(fault.faults) from None


def read_observation(path: str | Path) -> Observation:
    """The observation of a stage from a JSON file.

    Raises:
        InputFault: the file is wrong; all faults at once.
    """
    where = printable(str(path), 160)
    head = Strict(read_object(Path(path), MAX_STATE_BYTES, OBSERVATION), where)
    found = _observation(head, texts=False)
    head.done()
    head.raise_if_any()
    return found


def observation(requests: int, errors: int, p99_latency_ms: Fraction) -> Observation:
    """An observation from numbers.

    Raises:
        InputFault: more errors than requests, or a number that is outside; all faults at once.
    """
    head = Strict({"requests": requests, "errors": errors, "p99_latency_ms": p99_latency_ms}, "observation")
    found = _observation(head, texts=False)
    head.raise_if_any()
    return found


def _rollout(raw: Mapping[str, Any], where: str) -> Rollout:
    if "rollout_version" not in raw:
        raise InputFault(f"{where}: rollout_version: missing, so it is not {STATE}; give that file.")
    head = Strict(raw, where)
    head.integer("rollout_version", (ROLLOUT_VERSION, ROLLOUT_VERSION))
    plan = _plan(head)
    head.allow("observed")  # none at first
    observed = [] if raw.get("observed") == [] else head.tables("observed", MAX_STAGES)
    seen, actions = [], list[str | None]()
    for one in observed:
        seen.append(_observation(one, texts=True))
        actions.append(one.text("decision", (lambda text: text in _ACTIONS, f"one of {', '.join(_ACTIONS)}")))
        one.done()
    stated = head.text("digest", HEX)
    head.done()
    head.raise_if_any()
    rollout = Rollout(plan, tuple(seen))
    document = rollout.payload()
    again = [decision.action for decision in rollout.decisions]
    early = [at for at, action in enumerate(again[:-1], start=1) if action != ADVANCE]
    if stated != digest(document) or actions != again or early or len(seen) > len(plan.stages):
        raise InputFault(
            f"{where}: its digest or its decisions are not those of its plan and observations, so it was altered or "
            "damaged; take the file as it was written, or start the rollout anew."
        )
    return rollout


def _plan(head: Strict) -> Plan:
    table = head.table("plan")
    if table is None:
        return Plan((Fraction(1),), Fraction(0), Fraction(0), Fraction(0), Fraction(0), 1)  # never used
    stages = table.raw.get("stages")
    shares = [_decimal(value) for value in stages] if isinstance(stages, list) else []
    table.allow("stages")
    if not shares or len(shares) > MAX_STAGES or None in shares:
        table.fault("stages", f"got {shown(stages)}, wanted 1 to {MAX_STAGES} decimals as texts; correct it")
    numbers = {
        name: table.decimal(name) or Fraction(0)
        for name in ("error_guardrail", "latency_guardrail_ms", "old_p99_ms", "regression_tolerance")
    }
    samples = table.integer("min_samples", SAMPLES) or 1
    manifest, old = table.text("manifest", HEX, optional=True), table.text("old_manifest", HEX, optional=True)
    table.done()
    plan = Plan(
        tuple(share for share in shares if share is not None),
        **numbers,
        min_samples=samples,
        manifest=manifest,
        old_manifest=old,
    )
    if not head.faults:
        head.faults += [f"{head.where}: plan.{fault}" for fault in plan.faults()]
    return plan


def _decimal(value: object) -> Fraction | None:
    return exact_decimal(value) if isinstance(value, str) else None


def _observation(head: Strict, texts: bool) -> Observation:
    """The three numbers of an observation; in a state's file the latency is a text."""
    requests = head.integer("requests", (0, SAMPLES[1]))
    errors = head.integer("errors", (0, SAMPLES[1]))
    p99 = head.decimal("p99_latency_ms") if texts else head.number("p99_latency_ms", LATENCY_MS)
    if requests is not None and errors is not None and errors > requests:
        head.fault("errors", f"got {shown(errors)}, more than the {shown(requests)} requests; correct one of them")
    if p99 is not None and exact_decimal(decimal_text(p99)) is None:
        head.fault("p99_latency_ms", "has more than 60 decimals, more than the state's file holds; round it up")
    return Observation(requests or 0, errors or 0, p99 or Fraction(0))
