"""The keys of a Hugging Face `config.json` that bear on the cache, as a strict pydantic model; other keys pass by.

A key that is null counts as absent, as the library that writes these files has it. What a key may hold is written
once, in its type; what the keys mean together is for `attention.py` and `config.py`.
"""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sweep.hardware.checks import COUNT, TOKENS
from sweep.units import Unreadable, grouped, shown

Count = Annotated[int, Field(ge=COUNT[0], le=COUNT[1])]
Many = Annotated[int, Field(ge=0, le=10**9)]
Tokens = Annotated[int, Field(ge=TOKENS[0], le=TOKENS[1])]
Names = Annotated[list[str], Field(max_length=COUNT[1])]
Marks = Annotated[list[Annotated[int, Field(ge=0, le=COUNT[1])]], Field(max_length=COUNT[1])]


class ConfigKeys(BaseModel):
    """The keys that are read; every one may be missing."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True, protected_namespaces=())

    model_type: str | None = None
    is_encoder_decoder: bool | None = None
    dtype: str | None = None
    torch_dtype: str | None = None

    num_hidden_layers: Count | None = None
    n_layer: Count | None = None
    n_layers: Count | None = None
    num_layers: Count | None = None
    num_attention_heads: Count | None = None
    n_head: Count | None = None
    n_heads: Count | None = None
    hidden_size: Count | None = None
    n_embd: Count | None = None
    d_model: Count | None = None

    num_key_value_heads: Count | None = None
    num_kv_heads: Count | None = None
    n_head_kv: Count | None = None
    num_attention_groups: Count | None = None
    num_query_groups: Count | None = None
    multi_query_group_num: Count | None = None
    num_global_key_value_heads: Count | None = None
    multi_query: bool | None = None
    multi_query_attention: bool | None = None
    new_decoder_architecture: bool | None = None
    head_dim: Count | None = None
    global_head_dim: Count | None = None
    attention_head_dim: Count | None = None
    kv_channels: Count | None = None
    hidden_size_per_head: Count | None = None
    v_head_dim: Count | None = None
    attention_k_eq_v: bool | None = None
    kv_lora_rank: Count | None = None
    qk_rope_head_dim: Count | None = None

    layer_types: Names | None = None
    sliding_window: Tokens | None = None
    use_sliding_window: bool | None = None
    max_window_layers: Many | None = None
    sliding_window_pattern: Count | str | None = None
    attention_chunk_size: Tokens | None = None
    no_rope_layers: Marks | None = None
    no_rope_layer_interval: Count | None = None
    num_kv_shared_layers: Many | None = None

    full_attention_interval: Count | None = None
    attn_type_list: Marks | None = None
    attn_layer_indices: Marks | None = None
    full_attn_idxs: Marks | None = None
    attn_layer_period: Count | None = None
    attn_layer_offset: Many | None = None
    layers_block_type: Names | None = None
    hybrid_override_pattern: str | None = None

    linear_conv_kernel_dim: Count | None = None
    linear_num_key_heads: Count | None = None
    linear_num_value_heads: Count | None = None
    linear_key_head_dim: Count | None = None
    linear_value_head_dim: Count | None = None
    mamba_n_heads: Count | None = None
    mamba_num_heads: Count | None = None
    mamba_d_head: Count | None = None
    mamba_head_dim: Count | None = None
    mamba_d_state: Count | None = None
    ssm_state_size: Count | None = None
    mamba_n_groups: Count | None = None
    n_groups: Count | None = None
    mamba_d_conv: Count | None = None
    conv_kernel: Count | None = None
    mamba_expand: Count | None = None
    conv_L_cache: Count | None = None  # noqa: N815  # the file spells it so
    conv_dim: Count | None = None
    mamba_ssm_dtype: str | None = None
    mamba_ssm_cache_dtype: str | None = None

    max_position_embeddings: Tokens | None = None
    n_positions: Tokens | None = None
    max_seq_len: Tokens | None = None
    seq_length: Tokens | None = None
    num_nextn_predict_layers: Many | None = None
    num_mtp_modules: Many | None = None
    mtp_num_hidden_layers: Many | None = None

    def first(self, *names: str) -> tuple[str, Any] | None:
        """The first of some keys that is there, and its value."""
        return next(((name, value) for name in names if (value := getattr(self, name)) is not None), None)


def read_keys(raw: Mapping[str, Any], where: str, faults: list[str]) -> ConfigKeys:
    """The keys of a parsed object; what is wrong goes to `faults` and is left out.

    Args:
        raw: the object.
        where: how a message calls it.
        faults: where faults go, one sentence per key.
    """
    known = {name: value for name, value in raw.items() if name in ConfigKeys.model_fields}
    try:
        return ConfigKeys.model_validate(known)
    except ValidationError as error:
        wrong = {str(details["loc"][0]) for details in error.errors(include_url=False)}
        faults += [_sentence(where, name, raw[name]) for name in known if name in wrong]
        return ConfigKeys.model_validate({name: value for name, value in known.items() if name not in wrong})


def _sentence(where: str, name: str, value: object) -> str:
    wanted = _WANTED[name]
    came = shown(value)
    advice = "correct it"
    if isinstance(value, Decimal | Unreadable):
        advice = "write a whole number without a point or exponent"
    elif isinstance(value, str) and "whole number" in wanted:
        advice = "write the number without quotes"
    elif isinstance(value, list):
        came, advice = "a list with something else in it, or too long", "correct the list"
    return f"{where}{name}: got {came}, wanted {wanted}; {advice}."


def _wanted() -> Iterator[tuple[str, str]]:
    """What each key may hold, read off its type."""
    names = {Count: COUNT, Many: (0, 10**9), Tokens: TOKENS}
    for name, field in ConfigKeys.model_fields.items():
        text = str(field.annotation)
        if name in ("layer_types", "layers_block_type"):
            yield name, "a list of texts, one per layer"
        elif "list" in text:
            yield name, "a list of whole numbers"
        elif "bool" in text:
            yield name, "true or false"
        elif name == "sliding_window_pattern":
            yield name, f"a whole number from 1 to {grouped(COUNT[1])}, or a text"
        elif "int" in text:
            low, high = next(bounds for kind, bounds in names.items() if field.annotation == (kind | None))
            yield name, f"a whole number from {grouped(low)} to {grouped(high)}"
        else:
            yield name, "a text"


_WANTED = dict(_wanted())
