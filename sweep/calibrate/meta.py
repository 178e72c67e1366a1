"""The set-up of a measured vLLM run, as its benchmark saves it: engine options, KV blocks, device memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from sweep.calibrate.documents import Item, value_at
from sweep.calibrate.fields import Faults, Fields
from sweep.calibrate.measured import Measured, Pool
from sweep.units import grouped

META: Final = "set-up of a measured run"


def is_meta(raw: Mapping[str, Any]) -> bool:
    """Whether an object states KV blocks beside engine options."""
    return isinstance(raw.get("kv_cache"), Mapping) and isinstance(raw.get("engine_kwargs"), Mapping)


def read_meta(name: str, items: list[Item]) -> Measured:
    """The KV pool and the token budget of a run.

    Raises:
        InputFault: missing or impossible figures, or blocks that contradict tokens; every fault at once.
    """
    faults = Faults(name)
    if len(items) > 1:
        faults.add("", f"got {grouped(len(items))} objects, wanted one; give one run at a time")
    fields = Fields(items[0].raw, faults)
    blocks = fields.count("kv_cache.num_gpu_blocks", least=1)
    block_tokens = fields.count("kv_cache.block_size", least=1)
    tokens = fields.count("kv_cache.num_kv_tokens", least=1)
    chunk = fields.count("engine_kwargs.max_num_batched_tokens", least=1)
    slots = fields.count("engine_kwargs.max_num_seqs", least=1)
    memory = fields.count("hardware.device_total_memory_bytes", least=1)
    if blocks and block_tokens and tokens and blocks * block_tokens != tokens:
        what = f"got {grouped(tokens)}, but {grouped(blocks)} blocks of {grouped(block_tokens)} tokens are"
        faults.add("kv_cache.num_kv_tokens", f"{what} {grouped(blocks * block_tokens)}; correct one of them")
    faults.raise_if_any()
    if tokens is None and blocks and block_tokens:
        tokens = blocks * block_tokens
    facts = [
        (what, grouped(value))
        for what, value in (("max_num_seqs", slots), ("device memory, bytes", memory))
        if value is not None
    ]
    device = value_at(items[0].raw, ("hardware", "device_name"))
    if isinstance(device, str):
        facts.append(("device", device))
    pool = Pool(name, tokens, blocks, block_tokens)
    engines = ((name, "vllm"),) if "vllm_version" in items[0].raw else ()
    return Measured(name, META, pools=(pool,), chunk_tokens=chunk, facts=facts, engines=engines)
