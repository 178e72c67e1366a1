"""How wide what a layer keeps is: from the keys of a config to the `CacheLayer`s of its model."""

from collections.abc import Mapping
from dataclasses import dataclass

from sweep.hardware.keys import ConfigKeys
from sweep.hardware.kinds import WITH_STATE, NotRead, kinds_of
from sweep.hardware.layers import CacheLayer, Kind, State
from sweep.hardware.state import state_of
from sweep.units import grouped

_HEADS = ("num_key_value_heads", "num_kv_heads", "n_head_kv", "num_attention_groups", "num_query_groups")
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
    if found is not None and not (keys.model_type == "falcon" and not keys.new_decoder_architecture):
        return Found(found[1], found[0])
    if keys.multi_query_attention and keys.multi_query_group_num is not None:
        return Found(keys.multi_query_group_num, "multi_query_group_num")
    if keys.multi_query and not keys.new_decoder_architecture:
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
    _check_heads(keys, heads)
    values = keyed.value if keys.v_head_dim is None else keys.v_head_dim
    sources = {"heads": heads.source, "head_dim": keyed.source}
    if values != keyed.value:
        sources["value_dim"] = "v_head_dim"
    return CacheLayer("full", heads.value, keyed.value, values), sources


def _check_heads(keys: ConfigKeys, kept: Found) -> None:
    """That the attention heads share the key/value heads evenly."""
    found = keys.first("num_attention_heads", "n_head", "n_heads")
    if found is not None and found[1] % kept.value:
        where = kept.source.split(":")[0]
        raise NotRead(
            f"{where}: got {grouped(kept.value)} key/value heads for {grouped(found[1])} attention heads, wanted a"
            " divisor of them; correct the one or the other"
        )


def _global_row(keys: ConfigKeys, row: CacheLayer, sources: dict[str, str]) -> CacheLayer:
    """What a full layer keeps where it differs from the sliding ones (Gemma 4: `Gemma4TextAttention`).

    With `attention_k_eq_v` a value is made of the key's projection, yet normed and rotated differently: both are kept.
    """
    heads, dim = row.heads, row.key_values
    if keys.attention_k_eq_v and keys.num_global_key_value_heads is not None:
        heads = keys.num_global_key_value_heads
        _check_heads(keys, Found(heads, "num_global_key_value_heads"))
        sources["heads"] += "; full layers: num_global_key_value_heads"
    if keys.global_head_dim is not None:
        dim = keys.global_head_dim
        sources["head_dim"] += "; full layers: global_head_dim"
    return row if (heads, dim) == (row.heads, row.key_values) else CacheLayer("full", heads, dim, dim)


def layers_of(keys: ConfigKeys) -> Layers:
    """Every layer of the model in order, and where each figure came from.

    Raises:
        NotRead: the config does not say what is needed.
    """
    count = layer_count(keys)
    kinds, source = kinds_of(keys, count.value)
    if keys.model_type not in WITH_STATE and "state" not in kinds and _recurrent(keys):
        raise NotRead(f"{_recurrent(keys)}: given, but not which layers are recurrent; add layer_types")
    state = state_of(keys) if "state" in kinds or keys.model_type in WITH_STATE else None
    sources = {"layers": count.source, "kinds": source}
    rows: dict[str, CacheLayer] = {}
    if any(kind not in ("state", "none") for kind in kinds):
        row, more = attention_row(keys)
        sources |= more
        rows = {"sliding": row, "chunked": row, "full": _global_row(keys, row, sources)}
    shared = keys.num_kv_shared_layers or 0
    if shared:
        if shared >= count.value:
            raise NotRead(f"num_kv_shared_layers: got {shared} of {count.value} layers; correct it")
        kinds = [*kinds[: count.value - shared], *["none"] * shared]
        sources["shared"] = "num_kv_shared_layers: the last layers use the cache of earlier ones"
    unknown = kinds.count("state") if state is None else 0
    if keys.model_type in WITH_STATE and state is None:
        unknown = count.value
    return Layers(tuple(_layer(keys, kind, rows, state) for kind in kinds), sources, unknown)


def _recurrent(keys: ConfigKeys) -> str:
    """A key that only a model with recurrent layers has; "" where there is none."""
    found = keys.first("linear_num_value_heads", "mamba_d_state", "ssm_state_size", "mamba_expand", "conv_L_cache")
    return "" if found is None else found[0]


def _layer(keys: ConfigKeys, kind: str, rows: Mapping[str, CacheLayer], state: State | None) -> CacheLayer:
    if kind in ("state", "none"):
        return CacheLayer("none", state=state if kind == "state" else None)
    row = rows[kind]
    windows = {"sliding": keys.sliding_window, "chunked": keys.attention_chunk_size, "full": 0}
    kept: Kind = "full" if kind == "full" else "sliding" if kind == "sliding" else "chunked"
    window = windows[kept]
    if window is None:
        name = "sliding_window" if kept == "sliding" else "attention_chunk_size"
        raise NotRead(f"{name}: missing, and some layers are {kept}_attention; add it")
    both = state if keys.model_type in WITH_STATE else None
    return CacheLayer(kept, row.heads, row.key_values, row.value_values, window, both)
