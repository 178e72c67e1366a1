"""Which tokens each layer of a model keeps: by the lists, patterns and family rules of its config."""

from collections.abc import Sequence

from sweep.hardware.keys import ConfigKeys
from sweep.units import grouped, shown

_KINDS = {
    "full_attention": "full",
    "attention": "full",
    "sliding_attention": "sliding",
    "chunked_attention": "chunked",
    "linear_attention": "state",
    "mamba": "state",
    "mamba2": "state",
    "recurrent": "state",
    "conv": "state",
    "moe": "none",
    "mlp": "none",
}
"""A layer's type as configs spell it -> what it keeps; others are refused."""

_PATTERNS = {
    "cohere2": 4,
    "exaone4": 4,
    "gemma2": 2,
    "gemma3": 6,
    "gemma3_text": 6,
    "gpt_oss": 2,
    "olmo3": 4,
    "vaultgemma": 2,
}
"""Model type -> every how many layers one is full, where the config leaves it to its class in transformers."""

_ALL_SLIDE = frozenset(("ministral", "mistral", "mixtral", "phi3", "phi4mm", "phimoe", "starcoder2"))
"""Model types of which every layer slides where there is a window: so their classes in transformers."""

WITH_STATE = frozenset(("falcon_h1",))
"""Model types of which every layer has attention and a recurrent state side by side."""

_ALL_STATE = frozenset(("mamba", "mamba2", "falcon_mamba"))


class NotRead(ValueError):
    """A config does not say what is needed; the message is a sentence without its place and full stop."""


def kinds_of(keys: ConfigKeys, layers: int) -> tuple[list[str], str]:
    """`full`, `sliding`, `chunked`, `state` or `none` of each layer, and the key that says so.

    Args:
        keys: of the text model.
        layers: how many it has.

    Raises:
        NotRead: it does not say, or says it in a form that is not known.
    """
    for name, kinds in (
        ("layer_types", _named(keys, "layer_types")),
        ("layers_block_type", _named(keys, "layers_block_type")),
        ("hybrid_override_pattern", _lettered(keys.hybrid_override_pattern)),
        ("attn_type_list", ["full" if mark else "state" for mark in keys.attn_type_list or ()]),
    ):
        if kinds:
            if len(kinds) != layers:
                raise NotRead(
                    f"{name}: got {grouped(len(kinds))} layers, wanted the model's {grouped(layers)}; correct it"
                )
            return kinds, name
    if keys.model_type in _ALL_STATE:
        return ["state"] * layers, f"model_type {keys.model_type}: every layer is recurrent"
    listed = keys.first("attn_layer_indices", "full_attn_idxs")
    if listed is not None:
        return ["full" if at in listed[1] else "state" for at in range(layers)], listed[0]
    if keys.attn_layer_period is not None:
        period, offset = keys.attn_layer_period, keys.attn_layer_offset or 0
        kinds = ["full" if at % period == offset else "state" for at in range(layers)]
        return kinds, "attn_layer_period, attn_layer_offset"
    if keys.full_attention_interval is not None:
        return _every(keys.full_attention_interval, layers, "state"), "full_attention_interval"
    if keys.attention_chunk_size is not None:
        return _chunked(keys, layers)
    return _sliding(keys, layers)


def _named(keys: ConfigKeys, key: str) -> list[str]:
    names: Sequence[str] = getattr(keys, key) or ()
    kinds = _KINDS | ({"hybrid": "full"} if keys.model_type in WITH_STATE else {})
    unknown = [name for name in dict.fromkeys(names) if name not in kinds]
    if unknown:
        known = ", ".join(kinds)
        raise NotRead(f"{key}: holds {shown(unknown[0])}, a kind of layer that is not read (known are {known})")
    return [kinds[name] for name in names]


def _lettered(pattern: str | None) -> list[str]:
    letters = {"*": "full", "M": "state", "-": "none", "E": "none"}
    unknown = next((letter for letter in pattern or "" if letter not in letters), None)
    if unknown is not None:
        raise NotRead(f"hybrid_override_pattern: holds {shown(unknown)}, wanted M, *, - and E only")
    return [letters[letter] for letter in pattern or ""]


def _every(period: int, layers: int, other: str) -> list[str]:
    """One full layer at the end of each period."""
    return ["full" if (at + 1) % period == 0 else other for at in range(layers)]


def _by_letters(pattern: str, layers: int) -> list[str]:
    """EXAONE 4: L and G repeat, and the last layer is full whatever its letter."""
    letters = {"L": "sliding", "G": "full"}
    if not pattern or set(pattern) - set(letters):
        raise NotRead(f"sliding_window_pattern: got {shown(pattern)}, wanted a number, or a text of L and G")
    return [*[letters[pattern[at % len(pattern)]] for at in range(layers - 1)], "full"]


def _chunked(keys: ConfigKeys, layers: int) -> tuple[list[str], str]:
    if keys.no_rope_layers:
        if len(keys.no_rope_layers) != layers:
            raise NotRead(
                f"no_rope_layers: got {len(keys.no_rope_layers)} layers, wanted the model's {layers}; correct it"
            )
        return ["chunked" if mark else "full" for mark in keys.no_rope_layers], "no_rope_layers"
    if keys.no_rope_layer_interval is not None or keys.model_type in ("llama4", "llama4_text"):
        interval = keys.no_rope_layer_interval or 4
        return _every(interval, layers, "chunked"), f"no_rope_layer_interval {interval}"
    raise NotRead("attention_chunk_size: given, but not which layers are chunked; add layer_types")


def _sliding(keys: ConfigKeys, layers: int) -> tuple[list[str], str]:
    window, model_type = keys.sliding_window, keys.model_type or ""
    qwen = model_type.startswith(("qwen2", "qwen3")) or keys.max_window_layers is not None
    if window is None and model_type in _PATTERNS and model_type != "exaone4":  # whose smaller models have none
        raise NotRead(f"sliding_window: is null, and model_type {model_type} has layers that slide; add it")
    if window is None or keys.use_sliding_window is False or (qwen and not keys.use_sliding_window):
        why = "use_sliding_window is off" if window is not None else "no sliding window"
        return ["full"] * layers, f"{why}: every layer keeps all tokens"
    if qwen:
        first = keys.max_window_layers
        if first is None:
            raise NotRead("max_window_layers: missing, and use_sliding_window is on; add it")
        return ["sliding" if at >= first else "full" for at in range(layers)], f"max_window_layers {first}"
    pattern = keys.sliding_window_pattern
    if isinstance(pattern, str):
        return _by_letters(pattern, layers), f"sliding_window_pattern {pattern}, the last layer full"
    if pattern is not None:
        return _every(pattern, layers, "sliding"), f"sliding_window_pattern {pattern}"
    if model_type in _PATTERNS:
        period = _PATTERNS[model_type]
        return _every(period, layers, "sliding"), f"model_type {model_type}: one full layer in {period}"
    if model_type in _ALL_SLIDE:
        return ["sliding"] * layers, f"model_type {model_type}: every layer slides"
    raise NotRead("sliding_window: given, but not which layers slide; add layer_types or sliding_window_pattern")
