"""How many parameters a model has, from its config alone: only for families whose every weight the config determines.

A count that is off by one layer's biases is worse than none, since bytes of weights are exact figures of a ledger. So a
config gives a count only where its family is one of those below, every key that bears on it is there, and nothing says
that the checkpoint differs (custom code, a quantization, another head).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

MOST: Final = 10**7
"""No width of a model comes near it; it bounds what a stranger's file can make of a product."""


@dataclass(frozen=True)
class Parameters:
    """The parameters of a model.

    Attributes:
        total: all of them.
        active: those that one token passes, fewer in a mixture of experts.
        family: the model type whose formula it is.
    """

    total: int
    active: int
    family: str


@dataclass(frozen=True)
class _Family:
    """What sets a family apart from the plain decoder: gated MLP, RMS norms, no bias.

    Attributes:
        architecture: of its causal language model, as a config names it.
        qkv_bias: `always`, `never`, or `asked` where `attention_bias` decides, of the output too.
        mlp_bias: whether `mlp_bias` decides.
        head_norms: whether queries and keys are normed per head.
        head_dim: whether the config must state it, since its class has a default of its own.
        experts: the key that counts experts; "" in a dense model.
        expert_size: the key of the width of an expert, or of the MLP.
    """

    architecture: str
    qkv_bias: Literal["always", "never", "asked"] = "never"
    mlp_bias: bool = False
    head_norms: bool = False
    head_dim: bool = False
    experts: str = ""
    expert_size: str = "intermediate_size"


_FAMILIES: Final[Mapping[str, _Family]] = {
    "llama": _Family("LlamaForCausalLM", qkv_bias="asked", mlp_bias=True),
    "mistral": _Family("MistralForCausalLM"),
    "phi3": _Family("Phi3ForCausalLM"),
    "qwen2": _Family("Qwen2ForCausalLM", qkv_bias="always"),
    "qwen3": _Family("Qwen3ForCausalLM", qkv_bias="asked", head_norms=True, head_dim=True),
    "mixtral": _Family("MixtralForCausalLM", experts="num_local_experts"),
    "qwen3_moe": _Family(
        "Qwen3MoeForCausalLM",
        qkv_bias="asked",
        head_norms=True,
        head_dim=True,
        experts="num_experts",
        expert_size="moe_intermediate_size",
    ),
}

_OTHERWISE: Final = ("quantization_config", "compression_config", "auto_map", "mlp_only_layers", "pruned_heads")
"""Keys that, where they hold anything, make the checkpoint another one than the formula's."""


class _Open(ValueError):
    """The config leaves something open; never shown, there is just no count."""


def parameters_of(raw: Mapping[str, Any]) -> Parameters | None:
    """The exact number of parameters of a causal language model; None where its config does not determine it.

    Args:
        raw: the parsed `config.json`.

    >>> parameters_of({"model_type": "llama", "num_hidden_layers": 1}) is None
    True
    """
    model_type = raw.get("model_type")
    family = _FAMILIES.get(model_type) if isinstance(model_type, str) else None
    if family is None or any(raw.get(key) for key in _OTHERWISE):
        return None
    if raw.get("architectures") not in (None, [family.architecture]) or raw.get("decoder_sparse_step") not in (None, 1):
        return None
    try:
        return _counted(raw, family, str(model_type))
    except _Open:
        return None


def _counted(raw: Mapping[str, Any], family: _Family, model_type: str) -> Parameters:
    layers, hidden, vocabulary = (_count(raw, key) for key in ("num_hidden_layers", "hidden_size", "vocab_size"))
    expert = 3 * hidden * _count(raw, family.expert_size)  # gate, up and down
    mlp, idle = expert, 0
    if family.experts:
        experts, used = _count(raw, family.experts), _count(raw, "num_experts_per_tok")
        if used > experts:
            raise _Open(family.experts)
        mlp, idle = experts * (expert + hidden), (experts - used) * expert  # a row of the router per expert
    elif family.mlp_bias and _flag(raw, "mlp_bias"):
        mlp += 2 * _count(raw, family.expert_size) + hidden
    layer = _attention(raw, family, hidden) + mlp + 2 * hidden  # two norms
    ends = vocabulary * hidden * (1 if _flag(raw, "tie_word_embeddings") else 2) + hidden  # and the last norm
    total = layers * layer + ends
    return Parameters(total, total - layers * idle, model_type)


def _attention(raw: Mapping[str, Any], family: _Family, hidden: int) -> int:
    heads, kv_heads = _count(raw, "num_attention_heads"), _count(raw, "num_key_value_heads")
    if raw.get("head_dim") is not None or family.head_dim:
        dim = _count(raw, "head_dim")
    elif hidden % heads:
        raise _Open("head_dim")
    else:
        dim = hidden // heads
    queries, both = heads * dim, 2 * kv_heads * dim
    found = hidden * (queries + both) + queries * hidden
    if family.qkv_bias == "always":
        found += queries + both
    elif family.qkv_bias == "asked" and _flag(raw, "attention_bias"):
        found += queries + both + hidden
    return found + (2 * dim if family.head_norms else 0)


def _count(raw: Mapping[str, Any], key: str) -> int:
    value = raw.get(key)
    if type(value) is not int or not 1 <= value <= MOST:
        raise _Open(key)
    return value


def _flag(raw: Mapping[str, Any], key: str) -> bool:
    """A flag; left out it is false, as in the classes of all these families."""
    value = raw.get(key)
    if value is not None and not isinstance(value, bool):
        raise _Open(key)
    return bool(value)
