"""Which tokens each layer of a model keeps, and how wide: from the keys of its config to `CacheLayer`s."""

from collections.abc import Sequence
from dataclasses import dataclass

from sweep.hardware.keys import ConfigKeys
from sweep.hardware.layers import CacheLayer, Kind, State
from sweep.hardware.state import state_of
from sweep.units import grouped, shown

_HEADS = ("num_key_value_heads", "num_kv_heads", "n_head_kv", "num_attention_groups", "num_query_groups")
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
}
"""A layer's type as configs spell it -> what it keeps; others are refused."""

_PATTERNS = {"gemma2": 2, "gemma3": 6, "gemma3_text": 6, "cohere2": 4, "gpt_oss": 2}
"""Model type -> every how many layers one is full, where the config leaves it to its class in transformers."""

_ALL_SLIDE = frozenset(("mistral", "mixtral", "phi3", "phimoe", "starcoder2"))
"""Model types of which every layer slides where there is a window: so their classes in transformers."""

_WITH_STATE = frozenset(("falcon_h1",))
"""Model types of which every layer has attention and a recurrent state side by side."""

_ALL_STATE = frozenset(("mamba", "mamba2", "falcon_mamba"))

_INSTEAD = "add it, or give the shape by options instead of the file"

LAYERS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers")


@dataclass(frozen=True)
class Found:
    """A figure and the keys that gave it, for a ledger."""

    value: int
    source: str


@dataclass(frozen=True)
class Layers:
    """The layers of a model.

    Attributes:
        layers: in order.
        sources: figure -> the key that gave it.
        unknown_states: recurrent layers whose state is in no form that is known.
    """

    layers: tuple[CacheLayer, ...]
    sources: dict[str, str]
    unknown_states: int


class NotRead(ValueError):
    """A config does not say what is needed; the message is a sentence without its place and full stop."""


def layer_count(keys: ConfigKeys) -> Found:
    """How many layers the model has.

    Raises:
        NotRead: it does not say.
    """
    found = keys.first(*LAYERS)
    if found is None:
        raise NotRead("num_hidden_layers: missing, wanted the number of layers; give the config.json of a model")
    return Found(found[1], found[0])


def kv_heads(keys: ConfigKeys) -> Found:
    """Key/value heads of a layer, never the attention heads where they are known.

    Raises:
        NotRead: it says neither.
    """
    found = keys.first(*_HEADS)
    if found is not None and not (keys.model_type == "falcon" and keys.new_decoder_architecture is False):
        return Found(found[1], found[0])
    if keys.multi_query_attention and keys.multi_query_group_num is not None:
        return Found(keys.multi_query_group_num, "multi_query_group_num")
    if keys.multi_query:
        return Found(1, "multi_query: one head of keys and values")
    heads = keys.first("num_attention_heads", "n_head", "n_heads")
    if heads is None:
        raise NotRead(f"num_key_value_heads: missing, wanted the key/value heads of a layer; {_INSTEAD}")
    return Found(heads[1], f"{heads[0]}: no key/value heads named, so each has its own")


def head_dim(keys: ConfigKeys) -> Found:
    """Values of a key per head: as stated, else hidden size / attention heads.

    Raises:
        NotRead: it is not stated, and the division has a remainder or lacks a number.
    """
    found = keys.first("head_dim", "attention_head_dim", "kv_channels", "hidden_size_per_head")
    if found is not None:
        return Found(found[1], found[0])
    hidden = keys.first("hidden_size", "n_embd", "d_model")
    heads = keys.first("num_attention_heads", "n_head", "n_heads")
    if hidden is None or heads is None:
        raise NotRead(f"head_dim: missing, and so is hidden_size or num_attention_heads; {_INSTEAD}")
    if hidden[1] % heads[1]:
        division = f"{hidden[0]} {grouped(hidden[1])} is no multiple of {heads[0]} {grouped(heads[1])}"
        raise NotRead(f"head_dim: missing, and {division}; {_INSTEAD}")
    return Found(hidden[1] // heads[1], f"{hidden[0]} / {heads[0]}")


def attention_row(keys: ConfigKeys) -> tuple[CacheLayer, dict[str, str]]:
    """What an attention layer keeps of a token, as a full layer, and where each figure came from.

    Raises:
        NotRead: a figure is missing.
    """
    if keys.kv_lora_rank is not None:  # MLA: one latent and one rotary part for all heads, and no separate value
        if keys.qk_rope_head_dim is None:
            raise NotRead("qk_rope_head_dim: missing beside kv_lora_rank, and a latent cache holds both; add it")
        latent = keys.kv_lora_rank + keys.qk_rope_head_dim
        return CacheLayer("full", 1, latent, 0), {
            "heads": "kv_lora_rank: one latent for all heads (MLA)",
            "head_dim": "kv_lora_rank + qk_rope_head_dim, kept once, not as key and value",
        }
    heads, keyed = kv_heads(keys), head_dim(keys)
    values = keyed.value if keys.v_head_dim is None else keys.v_head_dim
    sources = {"heads": heads.source, "head_dim": keyed.source}
    if values != keyed.value:
        sources["value_dim"] = "v_head_dim"
    return CacheLayer("full", heads.value, keyed.value, values), sources


def layers_of(keys: ConfigKeys) -> Layers:
    """Every layer of the model in order, and where each figure came from.

    Raises:
        NotRead: the config does not say what is needed.
    """
    count = layer_count(keys)
    kinds, source = _kinds(keys, count.value)
    if keys.model_type not in _WITH_STATE and "state" not in kinds and _recurrent(keys):
        raise NotRead(f"{_recurrent(keys)}: given, but not which layers are recurrent; add layer_types")
    state = state_of(keys) if "state" in kinds or keys.model_type in _WITH_STATE else None
    sources = {"layers": count.source, "kinds": source}
    row = None
    if any(kind not in ("state", "none") for kind in kinds):
        row, more = attention_row(keys)
        sources |= more
    shared = keys.num_kv_shared_layers or 0
    if shared:
        if shared >= count.value:
            raise NotRead(f"num_kv_shared_layers: got {shared} of {count.value} layers; correct it")
        kinds = [*kinds[: count.value - shared], *["none"] * shared]
        sources["shared"] = "num_kv_shared_layers: the last layers use the cache of earlier ones"
    unknown = kinds.count("state") if state is None else 0
    if keys.model_type in _WITH_STATE and state is None:
        unknown = count.value
    return Layers(tuple(_layer(keys, kind, row, state) for kind in kinds), sources, unknown)


def _recurrent(keys: ConfigKeys) -> str:
    """A key that only a model with recurrent layers has; "" where there is none."""
    found = keys.first("linear_num_value_heads", "mamba_d_state", "ssm_state_size", "mamba_expand", "conv_L_cache")
    return "" if found is None else found[0]


def _layer(keys: ConfigKeys, kind: str, row: CacheLayer | None, state: State | None) -> CacheLayer:
    if kind in ("state", "none"):
        return CacheLayer("none", state=state if kind == "state" else None)
    assert row is not None  # made where any layer has attention
    windows = {"sliding": keys.sliding_window, "chunked": keys.attention_chunk_size, "full": 0}
    kept: Kind = "full" if kind == "full" else "sliding" if kind == "sliding" else "chunked"
    window = windows[kept]
    if window is None:
        name = "sliding_window" if kept == "sliding" else "attention_chunk_size"
        raise NotRead(f"{name}: missing, and some layers are {kept}_attention; add it")
    both = state if keys.model_type in _WITH_STATE else None
    return CacheLayer(kept, row.heads, row.key_values, row.value_values, window, both)


def _kinds(keys: ConfigKeys, layers: int) -> tuple[list[str], str]:
    """`full`, `sliding`, `chunked`, `state` or `none` of each layer, and the key that says so."""
    for name, kinds in (
        ("layer_types", _named(keys.layer_types, "layer_types")),
        ("layers_block_type", _named(keys.layers_block_type, "layers_block_type")),
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
    if keys.attn_layer_indices is not None:
        full = set(keys.attn_layer_indices)
        return ["full" if at in full else "state" for at in range(layers)], "attn_layer_indices"
    if keys.attn_layer_period is not None:
        period, offset = keys.attn_layer_period, keys.attn_layer_offset or 0
        kinds = ["full" if at % period == offset else "state" for at in range(layers)]
        return kinds, "attn_layer_period, attn_layer_offset"
    if keys.full_attention_interval is not None:
        return _every(keys.full_attention_interval, layers, "state"), "full_attention_interval"
    if keys.attention_chunk_size is not None:
        return _chunked(keys, layers)
    return _sliding(keys, layers)


def _named(names: Sequence[str] | None, key: str) -> list[str]:
    unknown = [name for name in dict.fromkeys(names or ()) if name not in _KINDS]
    if unknown:
        known = ", ".join(_KINDS)
        raise NotRead(f"{key}: holds {shown(unknown[0])}, a kind of layer that is not read (known are {known})")
    return [_KINDS[name] for name in names or ()]


def _lettered(pattern: str | None) -> list[str]:
    letters = {"*": "full", "M": "state", "-": "none", "E": "none"}
    unknown = next((letter for letter in pattern or "" if letter not in letters), None)
    if unknown is not None:
        raise NotRead(f"hybrid_override_pattern: holds {shown(unknown)}, wanted M, *, - and E only")
    return [letters[letter] for letter in pattern or ""]


def _every(period: int, layers: int, other: str) -> list[str]:
    """One full layer at the end of each period."""
    return ["full" if (at + 1) % period == 0 else other for at in range(layers)]


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
        raise NotRead(f"sliding_window_pattern: got {shown(pattern)}, wanted a number; add layer_types beside it")
    if pattern is not None:
        return _every(pattern, layers, "sliding"), f"sliding_window_pattern {pattern}"
    if model_type in _PATTERNS:
        period = _PATTERNS[model_type]
        return _every(period, layers, "sliding"), f"model_type {model_type}: one full layer in {period}"
    if model_type in _ALL_SLIDE:
        return ["sliding"] * layers, f"model_type {model_type}: every layer slides"
    raise NotRead("sliding_window: given, but not which layers slide; add layer_types or sliding_window_pattern")
