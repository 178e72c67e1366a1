"""How a replica keeps its cache: the rows of the table, each with where its figure came from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction

from sweep.hardware import Cache, MemoryLedger
from sweep.hardware.cache import StageCache
from sweep.report.blocks import Table, table
from sweep.report.words import counted, safe
from sweep.units import grouped

Sources = Mapping[str, str]
"""Figure -> where it came from."""


def cache_table(cache: Cache, ledger: MemoryLedger | None, sources: Sources, bytes_known: bool) -> Table:
    """How the cache is kept; of several stages all together."""
    rows: list[tuple[str, str, str]] = list(_shape_rows(cache, sources)) if bytes_known else []
    for at, stage in enumerate(cache.stage_caches):
        prefix = f"stage {at}, " if len(cache.stages) > 1 else ""
        rows += [(prefix + name, value, source) for name, value, source in _stage_rows(stage, sources)]
    growing = sum(stage.growing_bytes_per_token for stage in cache.stage_caches)
    if bytes_known:
        rows.append(("bytes per token", grouped(growing), _token_formula(cache)))
    block = cache.stage_caches[0].block_bytes if len(cache.stages) == 1 else None
    tokens = f"block of {counted(cache.block_tokens, 'token')}"
    if block is not None and bytes_known:
        rows.append((f"{tokens}, bytes", grouped(block), sources.get("block_tokens", "")))
    if ledger is not None:
        rows += list(_pool_rows(ledger, sources))
    return table(("KV cache", "", "from"), [(name, value, safe(source)) for name, value, source in rows], right=(1,))


def _shape_rows(cache: Cache, sources: Sources) -> Iterator[tuple[str, str, str]]:
    layers = [layer for stage in cache.stages for layer in stage]
    if "kv_bytes_per_token" in sources:
        return
    yield "layers", grouped(len(layers)), sources.get("layers", "")
    growing = sum(layer.kind == "full" for layer in layers)
    if growing != len(layers):
        yield "of them growing", grouped(growing), sources.get("kinds", "")
    kept = dict.fromkeys((layer.heads, layer.key_values, layer.value_values) for layer in layers if layer.heads)
    if kept:
        heads, keys, values = zip(*kept, strict=True)
        yield "key/value heads", _each(heads), sources.get("heads", "")
        yield "values of a key", _each(keys), sources.get("head_dim", "")
        if values != keys:
            yield "values of a value", _each(values), sources.get("value_dim", "none: a latent is kept once")
        yield "bytes per value", _widths(cache), sources.get("kv_width", "")


def _stage_rows(stage: StageCache, sources: Sources) -> Iterator[tuple[str, str, str]]:
    for group in stage.bounded:
        most = group.most_blocks * group.bytes_per_token * stage.block_tokens
        what = (
            f"{counted(group.layers, 'layer')} of a {group.window_tokens}-token {_WINDOWS[group.kind]}, bytes at most"
        )
        yield what, grouped(most), f"{grouped(group.most_blocks)} blocks of each layer, {_BOUNDS[group.kind]}"
    if stage.state_bytes:
        yield "fixed bytes per request", grouped(stage.state_bytes), sources.get("state", "")
    if stage.state_blocks:
        yield "fixed blocks per request", grouped(stage.state_blocks), sources.get("state", "")


_WINDOWS = {"sliding": "window", "chunked": "chunk"}
_BOUNDS = {
    "sliding": "⌈(window − 1 + chunk) / block⌉ + 1",
    "chunked": "⌈(chunk of attention + chunk) / block⌉",
}


def _pool_rows(ledger: MemoryLedger, sources: Sources) -> Iterator[tuple[str, str, str]]:
    if ledger.blocks is not None:
        fewest = "⌊pool / block⌋" if len(ledger.stages) == 1 else "⌊pool / block⌋ of the stage with the fewest"
        held = "" if not any(stage.held_back_bytes for stage in ledger.stages) else ", without those held back"
        yield "blocks", grouped(ledger.blocks), fewest + held
        yield "tokens", grouped(ledger.cache_tokens or 0), "blocks · tokens of a block"
    yield "longest sequence", any_length(ledger.longest_sequence_tokens), "the longest that fits, alone"


def any_length(tokens: int | None) -> str:
    """A length in tokens; None is any."""
    return "any length" if tokens is None else grouped(tokens)


def _each(numbers: Iterable[int]) -> str:
    """A number, or those of layers that differ, in the order of the model."""
    return " / ".join(map(grouped, dict.fromkeys(numbers)))


def _widths(cache: Cache) -> str:
    texts = [_width(width.bytes_per_value, width.scale_bytes) for width in (cache.key, cache.value)]
    return texts[0] if texts[0] == texts[1] else f"{texts[0]} key, {texts[1]} value"


def _width(size: Fraction, scale: int) -> str:
    ratio = grouped(size.numerator) if size.denominator == 1 else f"{size.numerator}/{size.denominator}"
    return ratio + (f" + {scale} per head" if scale else "")


def _token_formula(cache: Cache) -> str:
    gpus = cache.tensor_parallel
    over = f", on {counted(gpus, 'GPU')}" if gpus > 1 else ""
    what = "growing layers · heads · (key + value)"
    return f"{what}{over}{', all stages' if len(cache.stages) > 1 else ''}"


def own_notes(cache: Cache, ledger: MemoryLedger | None) -> Iterator[str]:
    """What a reader should know of heads on several GPUs and of layers that differ, one sentence each."""
    gpus = cache.tensor_parallel
    kept = [layer for stage in cache.stages for layer in stage if layer.kind != "none"]
    heads = kept[0].heads if kept else gpus
    if kept and kept[0].value_values == 0 and gpus > 1:
        yield f"Each of {gpus} GPUs keeps what its heads share, so the bytes of a token count {gpus} times."
    elif heads < gpus:
        yield f"{counted(heads, 'key/value head')} on {gpus} GPUs: each GPU keeps one, so some are kept twice or more."
    elif heads % gpus:
        yield f"{heads} key/value heads on {gpus} GPUs: rounded up to {kept[0].heads_on(gpus)}; engines may refuse."
    several = any(len(stage.bounded) + bool(stage.growing_bytes_per_token) > 1 for stage in cache.stage_caches)
    if several and ledger is not None:
        yield "Layers differ, so there is no single number of blocks; an engine that pads groups of layers fits fewer."
