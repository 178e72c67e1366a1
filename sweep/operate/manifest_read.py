"""A manifest's file -> the record; nothing in it is trusted, every fault comes at once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from sweep.errors import InputFault
from sweep.hardware.document import parse_object, read_object
from sweep.operate.manifest import (
    ID_WANTED,
    MANIFEST_VERSION,
    PIN_WANTED,
    REVISION_WANTED,
    Evidence,
    Manifest,
    Memory,
    Requests,
    engine_of,
    is_model_id,
    is_revision,
)
from sweep.operate.manifest_fields import HEX, Strict
from sweep.records.bounds import IDENTITY
from sweep.records.wording import CLAIM
from sweep.units import printable, shown

MAX_MANIFEST_BYTES: Final = 4 * 2**20
"""One with all of its 64 request classes has some ten kilobytes."""

WHAT: Final = "a deployment manifest (JSON)"

MAX_CLASSES: Final = 64

BYTES = (0, 10**18)
TOKENS = (1, 10**12)
COUNTS = (1, 10**6)
_AXES: Final = 1_000

_RATIO = re.compile(r"([1-9][0-9]{0,3})/([1-9][0-9]{0,3})")


def read_manifest(path: str | Path) -> Manifest:
    """The manifest that a file holds.

    A digest in it must be its own; one written by hand may leave it out. Version 1 is read.

    Raises:
        InputFault: missing, unreadable, too large, no manifest, or altered; all faults at once.
    """
    return _manifest_of(read_object(Path(path), MAX_MANIFEST_BYTES, WHAT), printable(str(path), 160))


def parse_manifest(text: str, where: str = "manifest") -> Manifest:
    """The manifest that a text holds; see `read_manifest`."""
    return _manifest_of(parse_object(text, where, WHAT), where)


def _manifest_of(raw: Mapping[str, Any], where: str) -> Manifest:
    if "manifest_version" not in raw:
        raise InputFault(f"{where}: manifest_version: missing, so it is not {WHAT}; write one with `sweep manifest`.")
    head = Strict(raw, where)
    head.integer("manifest_version", (MANIFEST_VERSION, MANIFEST_VERSION))
    model_id = head.text("model_id", (is_model_id, ID_WANTED))
    revision = head.text("model_revision", (is_revision, REVISION_WANTED))
    framework = head.text("framework", (lambda text: engine_of(text) is not None, PIN_WANTED))
    numbers = {
        name: head.integer(name, bounds) or 0
        for name, bounds in (
            ("replica_count", COUNTS),
            ("batch_slots", COUNTS),
            ("prefill_chunk_tokens", (1, 10**7)),
            ("longest_sequence_tokens", TOKENS),
            ("tensor_parallel", (1, 10**4)),
            ("kv_bytes_per_token", (1, 10**12)),
            ("block_tokens", COUNTS),
        )
    }
    width = _width(head)
    memory, pool = _memory(head), head.integer("kv_pool_bytes", BYTES, optional=True)
    if raw.get("memory") is None and pool is None:
        head.fault("memory", "missing, and kv_pool_bytes too; give one of them, else nobody knows whether it starts")
    if raw.get("memory") is not None and pool is not None:
        head.fault("kv_pool_bytes", "follows from memory, which is given too; leave one of them out")
    requests, evidence = _requests(head), _evidence(head)
    stated = head.text("digest", HEX, optional=True)
    head.done()
    head.raise_if_any()
    assert model_id is not None  # each is there without a fault
    assert revision is not None
    assert framework is not None
    found = Manifest(
        model_id,
        revision,
        framework,
        **numbers,
        kv_bytes_per_value=width,
        memory=memory,
        kv_pool_bytes=pool,
        requests=requests,
        evidence=evidence,
    )
    if stated is not None and stated != found.digest:
        raise InputFault(
            f"{where}: digest: got {stated}, but these fields have {found.digest}, so it was altered; take the file as "
            "it was written, or leave the digest out of one that you wrote yourself."
        )
    return found


def _width(head: Strict) -> int | Fraction | None:
    """Bytes of a value, an integer or a ratio as text."""
    value = head.raw.get("kv_bytes_per_value")
    if not isinstance(value, str):
        return head.integer("kv_bytes_per_value", (1, 1024), optional=True)
    head.text("kv_bytes_per_value", (lambda text: _RATIO.fullmatch(text) is not None, 'an integer or a ratio, "17/32"'))
    match = _RATIO.fullmatch(value)
    if match is None:
        return None
    ratio = Fraction(int(match[1]), int(match[2]))
    return ratio.numerator if ratio.denominator == 1 else ratio


def _memory(head: Strict) -> Memory | None:
    table = head.table("memory", optional=True)
    if table is None:
        return None
    amounts = {
        name: table.integer(name, bounds) or 0
        for name, bounds in (
            ("memory_bytes", (1, BYTES[1])),
            ("memory_utilization_permille", (1, 1_000)),
            ("weight_bytes", BYTES),
            ("activation_bytes", BYTES),
            ("framework_overhead_bytes", BYTES),
            ("reserved_bytes", BYTES),
        )
    }
    table.done()
    return Memory(**amounts)


def _requests(head: Strict) -> tuple[Requests, ...]:
    table = head.table("requests", optional=True)
    if table is None:
        return ()
    if len(table.raw) > MAX_CLASSES:
        head.fault("requests", f"got {len(table.raw)} classes, wanted at most {MAX_CLASSES}; merge some")
        return ()
    found = []
    for class_id in table.raw:
        if not IDENTITY.fullmatch(class_id):
            table.fault(class_id, "is no class id (letters, digits and _ . : / @ -); rename it")
        one = table.table(class_id)
        if one is not None:
            tokens, peak = one.integer("tokens", TOKENS), one.integer("peak_concurrency", COUNTS)
            one.done()
            found.append(Requests(class_id, tokens or 0, peak or 0))
    return tuple(found)


def _evidence(head: Strict) -> Evidence | None:
    table = head.table("evidence", optional=True)
    if table is None:
        return None
    ids = {
        name: table.text(name, HEX) or ""
        for name in ("grid_sha256", "contract_content_id", "workload_content_id", "evidence_id")
    }
    claim = table.text("claim", (lambda text: text == CLAIM, CLAIM)) or ""
    point, places = table.table("point"), list[tuple[str, int | str]]()
    if point is not None:
        if len(point.raw) > _AXES:
            table.fault("point", f"got {len(point.raw)} axes, wanted at most {_AXES}; take the file as it was written")
        for name, value in list(point.raw.items())[:_AXES]:
            if isinstance(value, bool) or not isinstance(value, int | str):
                point.fault(name, f"got {shown(value)}, wanted the value of an axis; correct it")
            else:
                places.append((name, value))
    table.done()
    return Evidence(point=tuple(places), claim=claim, **ids)
