"""A replica's memory as the `[model]` and `[gpu]` tables of a grid file, where these say exactly the same.

A grid knows one kind of layer, 2 · layers · heads · head_dim · width bytes per token with heads rounded up to a
multiple of the GPUs, and one way to share memory, vLLM's. Everything else is refused, or written in these terms to
the byte.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from sweep.errors import InputFault, UsageFault
from sweep.hardware.cache import Cache
from sweep.hardware.checks import ceil_div
from sweep.hardware.layers import CacheLayer
from sweep.hardware.ledger import Account, StageMemory
from sweep.hardware.replica import MemoryLedger
from sweep.hardware.widths import MAX_RATIO_PART
from sweep.units import grouped

_LEDGER = "take the ledger of `sweep memory`"


@dataclass(frozen=True)
class GridRow:
    """One line of a grid file.

    Attributes:
        table: `model`, `gpu` or `contract`.
        key: of the table.
        value: what it says; a Fraction is written as a ratio in quotes.
        figure: which figure of the ledger it is, to say where it came from.
        note: what a reader should know of it; "" where it is that figure as it stands.
    """

    table: str
    key: str
    value: int | Fraction | str
    figure: str
    note: str = ""

    @property
    def toml(self) -> str:
        """The value as TOML."""
        if isinstance(self.value, Fraction):
            return f'"{self.value.numerator}/{self.value.denominator}"'
        return f'"{self.value}"' if isinstance(self.value, str) else f"{self.value:_}"


def grid_rows(
    ledger: MemoryLedger, memory: StageMemory | None, longest_tokens: int | None, asked_by: str = "--toml"
) -> tuple[GridRow, ...]:
    """The lines of `[model]`, `[gpu]` and `[contract]` that give a grid the same cache and the same pool.

    Args:
        ledger: of the replica.
        memory: of its only stage; None where its pool was measured.
        longest_tokens: the longest sequence there will be; layers whose window never binds up to it count as full.
        asked_by: what a sentence begins with.

    Raises:
        InputFault: what a grid cannot say, one sentence per reason. UsageFault: only a number asked for is the reason.
    """
    rounding = [] if memory is None else list(_share_faults(ledger))
    cache, faults = ledger.cache, list(_differences(ledger.cache, longest_tokens))
    if not ledger.fits:
        faults.append(f"does not fit, short by {grouped(ledger.short_by_bytes)} bytes; nothing is left to grid.")
    if faults:
        raise InputFault(f"{asked_by}: {fault}" for fault in [*faults, *rounding])
    rows = list(_model(cache, memory))
    if memory is None:
        rows += _measured(ledger, rounding)
    else:
        rows += _gpu(ledger, memory, rounding)
    if rounding:
        raise UsageFault(f"{asked_by}: {fault}" for fault in rounding)
    return tuple(rows)


def _share_faults(ledger: MemoryLedger) -> Iterator[str]:
    """A share that a grid has no number for; TensorRT-LLM's is written as bytes."""
    permille = (ledger.share or 0) * 1_000
    if ledger.engine != "tensorrt-llm" and (permille.denominator != 1 or permille == 0):
        yield "the share is no whole number of per mille, which a grid needs; round it."


def _differences(cache: Cache, longest_tokens: int | None) -> Iterator[str]:
    """Why a grid cannot say how this cache is kept."""
    if len(cache.stages) > 1:
        yield f"a grid has no pipeline stages; {_LEDGER} for such a replica."
    caches = cache.stage_caches
    if any(stage.state_bytes or stage.state_blocks for stage in caches):
        yield f"a grid has no fixed cost per request, which recurrent layers have; {_LEDGER}."
    most = [group.most_blocks for stage in caches for group in stage.bounded]
    if most and (longest_tokens is None or min(most) < ceil_div(longest_tokens, cache.block_tokens)):
        yield (
            f"a grid counts every token in every layer, and layers with a window stop growing; {_LEDGER}, or a"
            " --max-sequence at which no window binds."
        )
    rows = {(layer.heads, layer.key_values, layer.value_values) for stage in cache.stages for layer in _kept(stage)}
    if len(rows) > 1:
        yield f"a grid has one kind of layer, and these keep different numbers of values; {_LEDGER}."
    elif rows:
        _, width = _dim_and_width(cache)
        if max(width.numerator, width.denominator) > MAX_RATIO_PART:
            ratio = f"{width.numerator}/{width.denominator}"
            yield f"{ratio} bytes per value is no ratio of parts up to 1 024, as in a grid; {_LEDGER}."


def _kept(layers: tuple[CacheLayer, ...]) -> list[CacheLayer]:
    return [layer for layer in layers if layer.kind != "none"]


def _dim_and_width(cache: Cache) -> tuple[int, Fraction]:
    """A head_dim and a width for which 2 · head_dim · width is what one head keeps of a token, exactly."""
    layer = _kept(cache.stages[0])[0]
    row = cache.key.row_bytes(layer.key_values) + cache.value.row_bytes(layer.value_values)
    dim = layer.key_values
    if layer.value_values == 0 and dim % 2 == 0:  # a latent kept once is a key and a value of half of it each
        dim //= 2
    return dim, row * Fraction(1, 2 * dim)


def _model(cache: Cache, memory: StageMemory | None) -> Iterator[GridRow]:
    layers = _kept(cache.stages[0])
    first, (dim, width) = layers[0], _dim_and_width(cache)
    left_out = len(cache.stages[0]) - len(layers)
    without = f"{grouped(left_out)} more keep no cache of their own" if left_out else ""
    yield GridRow("model", "layers", len(layers), "layers", without)
    latent = first.value_values == 0
    yield GridRow("model", "kv_heads", first.heads, "heads")
    halves = f"half of {grouped(first.key_values)}: a latent is kept once" if dim != first.key_values else ""
    yield GridRow("model", "head_dim", dim, "head_dim", halves)
    mixed = width != cache.key.bytes_per_value
    note = f"mean over key and value of {'a latent kept once' if latent else 'different widths'}" if mixed else ""
    yield GridRow("model", "kv_bytes_per_value", _whole(width), "kv_width", note)
    weights = 0 if memory is None else _int(memory.plain().weight_bytes)
    unused = "not used: max_kv_bytes is a number" if memory is None else ""
    yield GridRow("model", "weight_bytes", weights, "weight_bytes", unused)


def _measured(ledger: MemoryLedger, faults: list[str]) -> Iterator[GridRow]:
    """A pool that was measured: the bound is a number, and of [gpu] only how the cache is cut counts."""
    if ledger.stages[0].usable_bytes < 1:
        faults.append("the pool holds nothing, and a grid's bound is at least 1 byte; give a larger one.")
    yield GridRow("gpu", "tensor_parallel", ledger.cache.tensor_parallel, "tensor_parallel")
    yield GridRow("gpu", "block_tokens", ledger.cache.block_tokens, "block_tokens")
    yield GridRow(
        "contract", "max_kv_bytes", ledger.stages[0].usable_bytes, "kv_pool_bytes", "whole blocks of the pool"
    )


def _gpu(ledger: MemoryLedger, memory: StageMemory, faults: list[str]) -> Iterator[GridRow]:
    """[gpu] in vLLM's terms: the same bytes of pool, whatever the engine."""
    cache, one, share = ledger.cache, memory.plain(), ledger.share
    assert share is not None  # a ledger from a memory has one
    account = ledger.stages[0].account
    assert isinstance(account, Account)  # likewise
    others = {
        "activation_bytes": _int(one.activation_bytes),
        "framework_overhead_bytes": _int(one.framework_overhead_bytes),
        "reserved_bytes": _int(one.reserved_bytes),
        "activation_bytes_per_chunk_token": _int(one.activation_bytes_per_chunk_token),
    }
    notes = dict.fromkeys(others, "")
    permille, note = share * 1_000, ""
    if ledger.engine == "sglang":
        note = "SGLang's share covers weights and KV only"
        others, notes = dict.fromkeys(others, 0), dict.fromkeys(others, "stands outside of SGLang's share")
    if ledger.engine == "tensorrt-llm":
        permille, note = Fraction(1_000), "all of it; reserved_bytes holds what TensorRT-LLM's fraction leaves free"
        others["reserved_bytes"] += _per_gpu(account.unused_bytes, cache, "what the fraction leaves free", faults)
        notes["reserved_bytes"] = "with what the fraction of the free memory leaves free"
    held = ledger.stages[0].held_back_bytes
    if held:
        others["reserved_bytes"] += _per_gpu(held, cache, "what is held back in blocks", faults)
        notes["reserved_bytes"] = "with the blocks that no request gets"
    yield GridRow("gpu", "memory_bytes", _int(one.memory_bytes), "memory_bytes")
    yield GridRow("gpu", "memory_utilization_permille", permille.numerator // permille.denominator, "share", note)
    for key, value in others.items():
        yield GridRow("gpu", key, value, key, notes[key])
    yield GridRow("gpu", "tensor_parallel", cache.tensor_parallel, "tensor_parallel")
    yield GridRow("gpu", "block_tokens", cache.block_tokens, "block_tokens")
    yield GridRow("contract", "max_kv_bytes", "from-memory", "", "beside the other bounds")


def _per_gpu(total: int, cache: Cache, what: str, faults: list[str]) -> int:
    each, rest = divmod(total, cache.tensor_parallel)
    if rest:
        faults.append(f"{what}, {grouped(total)} bytes, is no multiple of the GPUs; round the weights or the share.")
    return each


def _whole(number: Fraction) -> int | Fraction:
    return number.numerator if number.denominator == 1 else number


def _int(given: object) -> int:
    assert isinstance(given, int)  # of a plain StageMemory
    return given
