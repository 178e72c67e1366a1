"""The figures of a ledger by name, for `--json`: keys that stay, integers as they are, exact ratios as [p, q]."""

from collections.abc import Mapping
from dataclasses import fields
from fractions import Fraction
from typing import Any

from sweep.hardware.cache import Cache, StageCache
from sweep.hardware.ledger import Account, Measured, StageLedger
from sweep.hardware.replica import Concurrency, MemoryLedger
from sweep.hardware.share import ENGINES, StageBytes

Json = dict[str, Any]


def cache_figures(cache: Cache) -> Json:
    """How the cache is kept: of each stage, and over all of them."""
    stages = cache.stage_caches
    return {
        "tensor_parallel": cache.tensor_parallel,
        "pipeline_parallel": len(stages),
        "block_tokens": cache.block_tokens,
        "chunk_tokens": cache.chunk_tokens,
        "key_bytes_per_value": _pair(cache.key.bytes_per_value),
        "value_bytes_per_value": _pair(cache.value.bytes_per_value),
        "scale_bytes_per_head": [cache.key.scale_bytes, cache.value.scale_bytes],
        "kv_bytes_per_token": sum(stage.growing_bytes_per_token for stage in stages),
        "stages": [_stage_cache(stage) for stage in stages],
    }


def _stage_cache(stage: StageCache) -> Json:
    return {
        "layers": stage.layers,
        "growing_layers": stage.growing_layers,
        "kv_bytes_per_token": stage.growing_bytes_per_token,
        "block_bytes": stage.block_bytes,
        "bounded": [
            {
                "kind": group.kind,
                "layers": group.layers,
                "window_tokens": group.window_tokens,
                "bytes_per_token": group.bytes_per_token,
                "most_blocks_per_request": group.most_blocks,
                "most_bytes_per_request": group.most_blocks * group.bytes_per_token * stage.block_tokens,
            }
            for group in stage.bounded
        ],
        "state_bytes_per_request": stage.state_bytes,
        "state_blocks_per_request": stage.state_blocks,
    }


def request_figures(cache: Cache, tokens: int) -> Json:
    """What one request of some tokens takes, without asking how many fit."""
    stages = cache.stage_caches
    blocks = stages[0].request_blocks(tokens)
    keys, values = cache.key_value_bytes(tokens)
    return {
        "sequence_tokens": tokens,
        "bytes_per_request": sum(stage.request_bytes(tokens) for stage in stages),
        "bytes_per_request_by_stage": [stage.request_bytes(tokens) for stage in stages],
        "key_bytes_per_request": keys,
        "value_bytes_per_request": values,
        "blocks_per_request": blocks,
    }


def ledger_figures(ledger: MemoryLedger) -> Json:
    """Every figure of a ledger."""
    engine = ENGINES[ledger.engine]
    share = {
        "engine": engine.name,
        "flag": engine.flag,
        "of": engine.of,
        "value": None if ledger.share is None else _pair(Fraction(ledger.share)),
    }
    rounded = None
    if ledger.lowest is not None and ledger.highest is not None:
        rounded = {"lowest": _capacity(ledger.lowest), "highest": _capacity(ledger.highest)}
    return {
        "gpus": sum(stage.gpus for stage in ledger.stages),
        "share": share,
        "fits": ledger.fits,
        "short_by_bytes": ledger.short_by_bytes,
        "ledger": [_account(stage) for stage in ledger.stages],
        **_capacity(ledger),
        "same_pool": {name: None if found is None else _pair(found) for name, found in same_pool(ledger).items()},
        "rounded": rounded,
    }


def _account(stage: StageLedger) -> Json:
    found: Json = {"gpus": stage.gpus, "kv_pool_bytes": stage.kv_pool_bytes, "short_by_bytes": stage.short_by_bytes}
    if isinstance(stage.account, Account | Measured):
        found |= {field.name: getattr(stage.account, field.name) for field in fields(stage.account)}
    return found | {"blocks": stage.blocks, "usable_bytes": stage.usable_bytes}


def _capacity(ledger: MemoryLedger) -> Json:
    return {
        "kv_pool_bytes": ledger.kv_pool_bytes,
        "blocks": ledger.blocks,
        "cache_tokens": ledger.cache_tokens,
        "longest_sequence_tokens": ledger.longest_sequence_tokens,
        "worst_case": _concurrency(ledger.worst_case, ledger),
        "typical": _concurrency(ledger.typical, ledger),
    }


def _concurrency(found: Concurrency | None, ledger: MemoryLedger) -> Json | None:
    if found is None:
        return None
    return request_figures(ledger.cache, found.sequence_tokens) | {
        "blocks_per_request": found.blocks_per_request,
        "concurrency": found.requests,
        "ratio": _pair(found.ratio),
        "cache_tokens_at_this_length": found.cache_tokens,
        "deciding_stage": found.stage,
    }


def same_pool(ledger: MemoryLedger) -> Mapping[str, Fraction | None]:
    """The share by which each engine would come to the pool of a single stage, through bytes; None where none does."""
    if len(ledger.stages) != 1 or not ledger.fits:
        return {}
    stage = ledger.stages[0]
    if not isinstance(stage.account, Account):
        return {}
    account = stage.account
    others = account.activation_bytes + account.framework_overhead_bytes + account.reserved_bytes
    one = StageBytes(stage.gpus, account.memory_bytes // stage.gpus, account.weight_bytes, others // stage.gpus)
    return {name: one.share_for(name, stage.kv_pool_bytes) for name in ENGINES}


def _pair(number: Fraction) -> list[int]:
    return [number.numerator, number.denominator]
