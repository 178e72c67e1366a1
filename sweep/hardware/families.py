"""What a family's class fills in for keys that its config leaves out: the defaults of its class in transformers.

Only an absent key is filled in. A key that is null says that its class is not to fill it in: where it bears on the
cache and its class has a number of its own for it, the file is refused; a window that is null is no window.
"""

from collections.abc import Mapping
from typing import Any, Final

_GEMMA_2: Final = {"num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256, "sliding_window": 4096}
_MISTRAL: Final = {"num_key_value_heads": 8, "sliding_window": 4096}
_QWEN: Final = {"sliding_window": 4096}
_GLM: Final = {"num_key_value_heads": 2, "head_dim": 128}
_MLA: Final = {"kv_lora_rank": 512, "qk_rope_head_dim": 64}

CLASS_DEFAULTS: Final[Mapping[str, Mapping[str, int | bool]]] = {
    "bamba": {"num_key_value_heads": 8},
    "bitnet": {"num_key_value_heads": 5},
    "cohere2": {"sliding_window": 4096},
    "deepseek_v2": _MLA,
    "deepseek_v3": _MLA,
    "ernie4_5": _GLM,
    "ernie4_5_moe": {"num_key_value_heads": 4},
    "exaone4": {"num_key_value_heads": 32, "sliding_window": 4096},
    "falcon": {"multi_query": True, "new_decoder_architecture": False},
    "falcon_h1": {"num_key_value_heads": 8},
    "gemma": {"num_key_value_heads": 16, "head_dim": 256},
    "gemma2": _GEMMA_2,
    "gemma3_text": _GEMMA_2 | {"max_position_embeddings": 131_072},
    "gemma3n_text": _GEMMA_2 | {"num_key_value_heads": 2, "sliding_window": 512, "num_kv_shared_layers": 15},
    "glm": _GLM,
    "glm4": _GLM,
    "glm4_moe": {"num_key_value_heads": 8},
    "glm4v_text": {"num_key_value_heads": 2},
    "gpt_bigcode": {"multi_query": True},
    "gpt_oss": {"num_key_value_heads": 8, "head_dim": 64, "sliding_window": 128},
    "helium": {"num_key_value_heads": 20, "head_dim": 128},
    "jamba": {"num_key_value_heads": 8},
    "lfm2": {"num_key_value_heads": 8},
    "llama4_text": {"num_key_value_heads": 8, "head_dim": 128, "attention_chunk_size": 8192},
    "minimax": {"num_key_value_heads": 8},
    "ministral": _MISTRAL,
    "mistral": _MISTRAL,
    "mixtral": {"num_key_value_heads": 8},
    "olmo3": {"sliding_window": 4096},
    "phi4_multimodal": {"num_key_value_heads": 8},
    "phimoe": {"num_key_value_heads": 8},
    "qwen2": _QWEN | {"num_key_value_heads": 32},
    "qwen2_5_vl_text": _QWEN | {"num_key_value_heads": 8},
    "qwen2_moe": _QWEN | {"num_key_value_heads": 16},
    "qwen2_vl_text": _QWEN | {"num_key_value_heads": 8},
    "qwen3": _QWEN | {"num_key_value_heads": 32, "head_dim": 128},
    "qwen3_moe": _QWEN | {"num_key_value_heads": 4},
    "qwen3_next": {"num_key_value_heads": 2, "head_dim": 256},
    "qwen3_omni_moe_text": {"num_key_value_heads": 4},
    "qwen3_vl_moe_text": {"num_key_value_heads": 16},
    "qwen3_vl_text": {"num_key_value_heads": 32, "head_dim": 128},
    "seed_oss": {"num_key_value_heads": 8, "head_dim": 128},
    "smollm3": {"num_key_value_heads": 4},
    "starcoder2": {"num_key_value_heads": 2},
    "vaultgemma": _GEMMA_2,
}
"""Model type -> keys that its class fills in with a number of its own, none that follows from other keys."""

_HEAD_DIM_STATED: Final = frozenset(
    (
        "gemma4_text",
        "glm4_moe",
        "glm4v_moe_text",
        "qwen3_5_moe_text",
        "qwen3_5_text",
        "qwen3_moe",
        "qwen3_omni_moe_text",
        "qwen3_vl_moe_text",
    )
)
"""Model types whose published heads are wider than hidden size / heads, and whose classes do not say how wide."""

_TEXT_OF: Final[Mapping[str, str]] = {
    "gemma3": "gemma3_text",
    "gemma3n": "gemma3n_text",
    "gemma4": "gemma4_text",
    "llama4": "llama4_text",
    "llava": "llama",
    "llava_next": "llama",
    "mistral3": "mistral",
    "paligemma": "gemma",
    "qwen3_vl": "qwen3_vl_text",
    "qwen3_vl_moe": "qwen3_vl_moe_text",
}
"""Model type of several models in one -> that of its text model, where the inner object does not name it."""

_NOT_NULL: Final = ("num_key_value_heads", "head_dim", "kv_lora_rank", "qk_rope_head_dim")
_OTHER_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "num_key_value_heads": ("num_kv_heads", "n_head_kv", "num_attention_groups", "num_query_groups", "multi_query"),
    "num_attention_heads": ("n_head", "n_heads"),
    "head_dim": ("attention_head_dim", "kv_channels", "hidden_size_per_head"),
    "max_position_embeddings": ("n_positions", "max_seq_len", "seq_length"),
}
"""Key -> other keys that say the same, beside which nothing is filled in."""


def text_type(raw: Mapping[str, Any], text: Mapping[str, Any]) -> str | None:
    """The model type of the text model; None where neither object names one."""
    outer, inner = raw.get("model_type"), text.get("model_type")
    if isinstance(inner, str):
        return _TEXT_OF.get(inner, inner) if text is raw else inner
    return _TEXT_OF.get(outer) if isinstance(outer, str) else None


def class_defaults(text: Mapping[str, Any], model_type: str | None) -> tuple[dict[str, int | bool], list[str]]:
    """What the class of a text model fills in, and the faults of what it leaves open, without their place.

    Args:
        text: the object that describes the text model.
        model_type: as `text_type` finds it.
    """
    known = CLASS_DEFAULTS.get(model_type or "", {})
    filled = {
        key: value
        for key, value in known.items()
        if key not in text and not any(text.get(other) is not None for other in _OTHER_NAMES.get(key, ()))
    }
    faults = [
        f"{key}: is null, and the class of {model_type} has a default of its own, which is not guessed; add it."
        for key in _NOT_NULL
        if key in known and key in text and text[key] is None
        if not any(text.get(other) is not None for other in _OTHER_NAMES.get(key, ()))
    ]
    stated = any(text.get(key) is not None for key in ("head_dim", *_OTHER_NAMES["head_dim"]))
    if model_type in _HEAD_DIM_STATED and not stated:
        faults.append(f"head_dim: missing, and that of {model_type} does not follow from hidden_size; add it.")
    return filled, faults
