"""What the arithmetic of a cache cannot express: refused with a sentence, never approximated."""

import re
from collections.abc import Mapping
from typing import Any, Final

from sweep.hardware.keys import ConfigKeys
from sweep.units import printable, shown

_BY_HAND = "give --kv-bytes-per-token, or --layers, --kv-heads and --head-dim"

_KEYS: Final[Mapping[str, str]] = {
    "is_encoder_decoder": "an encoder-decoder keeps a second cache of the encoder's output",
    "encoder_layers": "an encoder-decoder keeps a second cache of the encoder's output",
    "cross_attention_layers": "cross-attention layers cache what they attend to, such as the tokens of an image",
    "index_topk": "sparse attention with an indexer keeps a second cache, whose layout is the engine's",
    "index_head_dim": "sparse attention with an indexer keeps a second cache, whose layout is the engine's",
    "compress_ratios": "compressed attention keeps fewer entries than tokens, by a rule of the engine",
    "linear_attn_config": "its linear layers and their state are described in a form that is not read",
    "block_configs": "its layers differ by a rule that is not read",
    "hybrid_layer_pattern": "its layers differ by a rule that is not read",
    "layer_group_size": "its layers differ by a rule that is not read",
    "block_types": "its layers differ by a rule that is not read",
    "use_cla": "layers that share the cache of others (cross-layer attention) are not read",
    "cla_share_factor": "layers that share the cache of others (cross-layer attention) are not read",
    "attention_window_size": "local attention in this form is not read",
    "window_size": "local attention in this form is not read",
    "attention_types": "local attention in this form is not read",
    "attention_layers": "local attention in this form is not read",
    "attn_config": "attention is described in a form that is not read",
}
"""Key -> why a config that sets it is refused; a key that is null, false, 0 or empty sets nothing."""

_TYPES: Final[Mapping[str, str]] = {
    "minicpm3": "engines differ in whether they cache the latent or the heads that it expands to",
    "longcat_flash": "each of its layers has two attentions",
    "recurrentgemma": "its layers differ by a rule that is not read",
    "recurrent_gemma": "its layers differ by a rule that is not read",
    "deepseek_v4": "compressed attention keeps fewer entries than tokens, by a rule of the engine",
    "zamba": "its layers share one attention",
    "zamba2": "its layers share one attention",
    "zaya1": "its layers differ by a rule that is not read",
    "rwkv": "its state is described in a form that is not read",
}

_ENCODERS: Final = frozenset(
    (
        "albert",
        "bert",
        "camembert",
        "clip",
        "deberta",
        "deberta-v2",
        "distilbert",
        "electra",
        "modernbert",
        "mpnet",
        "roberta",
        "siglip",
        "vit",
        "xlm-roberta",
    )
)

_SHAPE = re.compile(r"(?:kv|key_value|query).*(?:head|group)|head.*kv|^swa_|^sliding_window_(?!pattern$)")
_NO_SHAPE = frozenset(
    ("num_query_heads", "query_pre_attn_scalar", "num_key_value_groups", "swa_rope_theta", "sliding_window_size")
)
"""Keys that look as if they told the shape of a cache, and do not, or only repeat what others say."""


def refusals(raw: Mapping[str, Any], keys: ConfigKeys, where: str) -> list[str]:
    """Why the cache of a model cannot be reckoned from its config, one sentence per reason; none where it can.

    Args:
        raw: the object that describes the text model.
        keys: its keys as read.
        where: how a message calls the object, with the joint to a key.
    """
    found = [
        f"{where}{key}: got {shown(raw[key])}, but {why}; {_BY_HAND}." for key, why in _KEYS.items() if raw.get(key)
    ]
    model_type = keys.model_type or ""
    if model_type in _TYPES:
        found.append(f"{where}model_type: got {shown(model_type)}, but {_TYPES[model_type]}; {_BY_HAND}.")
    if model_type in _ENCODERS:
        found.append(
            f"{where}model_type: got {shown(model_type)}, an encoder, which keeps no cache of keys and values."
        )
    for key, value in raw.items():
        known = key in ConfigKeys.model_fields or key in _NO_SHAPE or key in _KEYS
        if value and not known and _SHAPE.search(key):
            why = "a key that seems to tell the shape of the cache and is not read"
            found.append(f"{where}{printable(key)}: got {shown(value)}, {why}; {_BY_HAND}.")
    return found
