"""Keys that a config leaves to its class: filled in with the class's own number, which is said, or refused."""

import pytest

from sweep.errors import InputFault
from sweep.hardware import parse_model_config

PLAIN = {"dtype": "bfloat16", "num_hidden_layers": 12, "num_attention_heads": 32, "hidden_size": 3072}


def refusal(raw):
    with pytest.raises(InputFault) as caught:
        parse_model_config(raw, "config.json")
    assert all(fault.endswith(".") for fault in caught.value.faults)
    return "\n".join(caught.value.faults)


FILLED = [
    # (model type, further keys, key/value heads, head_dim, source of the heads, of head_dim)
    ("gemma", {"num_key_value_heads": 1}, 1, 256, "num_key_value_heads", "head_dim (class default of gemma)"),
    ("gemma2", {}, 4, 256, "num_key_value_heads (class default of gemma2)", "head_dim (class default of gemma2)"),
    ("gemma3", {}, 4, 256, *[f"{key} (class default of gemma3_text)" for key in ("num_key_value_heads", "head_dim")]),
    ("qwen3", {"num_key_value_heads": 8}, 8, 128, "num_key_value_heads", "head_dim (class default of qwen3)"),
    ("gpt_oss", {}, 8, 64, "num_key_value_heads (class default of gpt_oss)", "head_dim (class default of gpt_oss)"),
    ("glm4", {}, 2, 128, "num_key_value_heads (class default of glm4)", "head_dim (class default of glm4)"),
    ("mistral", {}, 8, 96, "num_key_value_heads (class default of mistral)", "hidden_size / num_attention_heads"),
    ("mixtral", {}, 8, 96, "num_key_value_heads (class default of mixtral)", "hidden_size / num_attention_heads"),
    ("gpt_bigcode", {}, 1, 96, "multi_query: one head of keys and values (class default of gpt_bigcode)", None),
    ("gpt_bigcode", {"multi_query": False}, 32, 96, None, None),
    ("falcon", {}, 1, 96, "multi_query: one head of keys and values (class default of falcon)", None),
    ("falcon", {"num_kv_heads": 32}, 1, 96, None, None),
    ("falcon", {"new_decoder_architecture": True, "num_kv_heads": 8}, 8, 96, "num_kv_heads", None),
    ("falcon", {"multi_query": False}, 32, 96, None, None),
    ("llama", {}, 32, 96, "num_attention_heads: no key/value heads named, so each has its own", None),
]


@pytest.mark.parametrize(("model_type", "keys", "heads", "dim", "heads_from", "dim_from"), FILLED)
def test_the_default_of_the_class_is_filled_in_and_named(model_type, keys, heads, dim, heads_from, dim_from):
    config = parse_model_config(PLAIN | {"model_type": model_type} | keys)

    assert (config.layers[0].heads, config.layers[0].key_values) == (heads, dim)
    assert heads_from in (None, config.sources["heads"])
    assert dim_from in (None, config.sources["head_dim"])


WINDOWS = [("gemma2", 4096, 6), ("gemma3_text", 4096, 10), ("gpt_oss", 128, 6), ("mistral", 4096, 12)]


@pytest.mark.parametrize(("model_type", "window", "sliding"), WINDOWS)
def test_a_window_that_is_left_out_is_that_of_the_class_and_null_is_none(model_type, window, sliding):
    raw = PLAIN | {"model_type": model_type}
    config = parse_model_config(raw)

    assert [layer.window_tokens for layer in config.layers if layer.kind == "sliding"] == [window] * sliding
    assert config.sources["kinds"].endswith(f"; sliding_window {window}, class default of {model_type}")
    if model_type == "mistral":
        assert {layer.kind for layer in parse_model_config(raw | {"sliding_window": None}).layers} == {"full"}
    else:
        assert "sliding_window: is null" in refusal(raw | {"sliding_window": None})


def test_the_class_of_a_nested_text_model_that_does_not_name_itself():
    text = {key: PLAIN[key] for key in ("num_hidden_layers", "num_attention_heads", "hidden_size")}
    config = parse_model_config({"model_type": "gemma3", "dtype": "bfloat16", "text_config": text})
    named = parse_model_config({"model_type": "paligemma", "text_config": text | {"num_key_value_heads": 1}})

    assert (config.layers[0].heads, config.layers[0].key_values, config.layers[0].window_tokens) == (4, 256, 4096)
    assert config.sources["head_dim"] == "text_config.head_dim (class default of gemma3_text)"
    assert (named.model_type, named.layers[0].heads, named.layers[0].key_values) == ("gemma", 1, 256)


def test_what_no_class_decides_is_refused():
    for model_type in ("qwen3_moe", "glm4_moe", "qwen3_vl_moe_text"):
        raw = PLAIN | {"model_type": model_type, "num_key_value_heads": 4}
        assert f"head_dim: missing, and that of {model_type} does not follow" in refusal(raw)
        assert parse_model_config(raw | {"head_dim": 128}).layers[0].key_values == 128
    assert "head_dim: is null" in refusal(PLAIN | {"model_type": "gemma2", "head_dim": None})
    assert "num_key_value_heads: is null" in refusal(PLAIN | {"model_type": "mistral", "num_key_value_heads": None})


def test_attention_heads_that_do_not_share_the_key_value_heads():
    more, odd = (refusal(PLAIN | {"num_key_value_heads": heads}) for heads in (64, 5))

    assert "num_key_value_heads: got 64 key/value heads for 32 attention heads, wanted a divisor of them" in more
    assert "num_key_value_heads: got 5 key/value heads for 32 attention heads" in odd
    assert "got 16 key/value heads for 12" in refusal(PLAIN | {"model_type": "gemma", "num_attention_heads": 12})


def test_quantized_weights_are_seen_wherever_they_are_stated():
    scheme = {"quantization_config": {"quant_method": "mxfp4"}}
    plain = PLAIN | {"num_key_value_heads": 8}

    assert parse_model_config(plain).quantization == ""
    assert parse_model_config(plain | {"quantization_config": None}).quantization == ""
    assert parse_model_config(plain | scheme).quantization == "quantization_config (mxfp4)"
    assert parse_model_config({"text_config": plain} | scheme).quantization == "quantization_config (mxfp4)"
    assert parse_model_config({"text_config": plain | scheme}).quantization == "quantization_config (mxfp4)"
    assert parse_model_config(plain | {"compression_config": {"a": 1}}).quantization == "compression_config"
