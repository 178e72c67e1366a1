"""The memory of a replica as the tables `[model]` and `[gpu]`, with the source of every figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sweep.draft.parts import Memory
from sweep.draft.text import entry, paragraphs
from sweep.errors import InputFault
from sweep.hardware.gridtables import grid_rows
from sweep.hardware.ledger import StageMemory
from sweep.hardware.replica import MemoryLedger
from sweep.units import grouped

_HEADS = {
    "model": "The shape of the model.",
    "gpu": "The GPUs of a replica: what weights and these allowances leave is the KV pool.",
}
_ALLOWANCES = {"activation_bytes": "--activations", "framework_overhead_bytes": "--overhead"}


def memory_part(
    ledger: MemoryLedger,
    stage: StageMemory,
    longest_tokens: int | None,
    sources: Mapping[str, str],
    known: Memory,
) -> Memory:
    """`[model]` and `[gpu]` with exactly the cache and the pool of a ledger.

    Args:
        ledger: of a replica of one stage.
        stage: its memory.
        longest_tokens: the longest sequence; layers whose window never binds up to it count as full.
        sources: figure of the ledger -> where it came from.
        known: what else is known of the replica; its lines and figures of the ledger are made here.

    Raises:
        InputFault: it does not fit, or a grid cannot say it; one sentence per reason.
    """
    if not ledger.fits:
        short = f"the weights and what stands beside them do not fit, short by {grouped(ledger.short_by_bytes)} bytes"
        raise InputFault(f"memory: {short}; take more GPUs (--tensor-parallel), larger ones, or smaller weights.")
    rows = grid_rows(ledger, stage, longest_tokens, "grid")
    lines: list[str] = []
    for table, head in _HEADS.items():
        lines += ["", *paragraphs([head, *(known.notes if table == "gpu" else ())]), f"[{table}]"]
        for row in rows:
            if row.table == table:
                lines += entry(row.key, row.toml, sources.get(row.figure, ""), row.note)
    weights, cache = stage.plain().weight_bytes, ledger.cache.stage_caches[0]
    assert isinstance(weights, int)  # of a plain StageMemory
    pool = ledger.kv_pool_bytes
    said = f"{grouped(weights)} bytes of weights ({sources['weight_bytes']}), {grouped(pool)} bytes of KV pool"
    return replace(
        known,
        lines=lines[1:],
        says=f"{known.name}: {said}",
        kv_pool_bytes=pool,
        kv_bytes_per_token=cache.growing_bytes_per_token + sum(group.bytes_per_token for group in cache.bounded),
        weight_bytes=weights,
        gpus=ledger.cache.tensor_parallel,
    )


def allowance_notes(missing: Sequence[str]) -> list[str]:
    """That an allowance was not given, so that the pool is larger than an engine's.

    Args:
        missing: keys of `[gpu]` that nobody gave.
    """
    options = [option for key, option in _ALLOWANCES.items() if key in missing]
    if not options:
        return []
    given = " and ".join(options)
    return [
        f"{given}: not given, so 0, and the KV pool is larger than your engine's by what it takes for them; its"
        " start-up log or a profile says how much, 1 to 3 GiB each are common."
    ]
