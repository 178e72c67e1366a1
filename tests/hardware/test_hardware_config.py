"""Model configs in the forms that people have: which layers keep what, and where each figure came from."""

from collections import Counter
from fractions import Fraction

import pytest

from sweep.errors import InputFault
from sweep.hardware import Cache, State, parse_model_config, width_of

LLAMA = {
    "model_type": "llama",
    "torch_dtype": "bfloat16",
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "hidden_size": 4096,
    "max_position_embeddings": 131_072,
}
QWEN_NEXT = {
    "model_type": "qwen3_next",
    "dtype": "bfloat16",
    "num_hidden_layers": 48,
    "num_attention_heads": 16,
    "num_key_value_heads": 2,
    "head_dim": 256,
    "hidden_size": 2048,
    "linear_conv_kernel_dim": 4,
    "linear_num_key_heads": 16,
    "linear_num_value_heads": 32,
    "linear_key_head_dim": 128,
    "linear_value_head_dim": 128,
    "full_attention_interval": 4,
}


def kinds(raw):
    """Kind and window of every layer."""
    return [(layer.kind, layer.window_tokens) for layer in parse_model_config(raw).layers]


def counted(raw):
    return Counter(kinds(raw))


def refusal(raw, **more):
    with pytest.raises(InputFault) as caught:
        parse_model_config(raw, "config.json", **more)
    assert all(fault.endswith(".") for fault in caught.value.faults)
    return "\n".join(caught.value.faults)


def growing(raw, width="2", **more):
    """Bytes by which the cache grows with a token."""
    two = width_of(width)
    states = {"conv_bytes_per_value": Fraction(2), "state_bytes_per_value": Fraction(4)}
    cache = Cache((parse_model_config(raw).layers,), two, two, chunk_tokens=1_024, **states, **more)
    return cache.stage_caches[0].growing_bytes_per_token


def test_a_plain_config_says_where_each_figure_came_from():
    config = parse_model_config(LLAMA, "config.json")

    assert len(config.layers) == 32
    assert (config.layers[0].heads, config.layers[0].key_values, config.layers[0].value_values) == (8, 128, 128)
    assert config.sources["heads"] == "num_key_value_heads"
    assert config.sources["head_dim"] == "hidden_size / num_attention_heads"
    assert (config.dtype, config.dtype_key) == ("bfloat16", "torch_dtype")
    assert config.longest_tokens == 131_072
    assert growing(LLAMA) == 131_072


def test_an_explicit_head_dim_wins_over_hidden_size_by_heads():
    assert growing(LLAMA | {"head_dim": 64}) == 65_536
    assert growing(LLAMA | {"head_dim": None}) == 131_072  # null is absent


def test_heads_of_keys_and_values_are_never_the_attention_heads_where_they_are_known():
    for key in ("num_kv_heads", "n_head_kv", "num_query_groups"):
        raw = LLAMA | {"num_key_value_heads": None, key: 4}
        assert parse_model_config(raw).layers[0].heads == 4
    assert parse_model_config(LLAMA | {"num_key_value_heads": None}).layers[0].heads == 32
    assert parse_model_config(LLAMA | {"num_key_value_heads": None, "multi_query": True}).layers[0].heads == 1
    glm = {"num_key_value_heads": None, "multi_query_attention": True, "multi_query_group_num": 2}
    assert parse_model_config(LLAMA | glm).layers[0].heads == 2


def test_falcon_with_one_head_for_all_says_so_in_two_ways():
    falcon = {"model_type": "falcon", "num_hidden_layers": 32, "num_attention_heads": 71, "hidden_size": 4544}
    small = falcon | {"multi_query": True, "num_kv_heads": 71, "new_decoder_architecture": False}
    large = falcon | {"multi_query": True, "num_kv_heads": 8, "new_decoder_architecture": True}
    large |= {"num_attention_heads": 128, "hidden_size": 8192}

    assert parse_model_config(small).layers[0].heads == 1
    assert parse_model_config(large).layers[0].heads == 8


def test_older_spellings_of_the_shape():
    gpt2 = {"model_type": "gpt2", "n_layer": 12, "n_head": 12, "n_embd": 768, "n_positions": 1_024}
    config = parse_model_config(gpt2)

    assert (len(config.layers), config.layers[0].heads, config.layers[0].key_values) == (12, 12, 64)
    assert config.longest_tokens == 1_024


def test_values_narrower_than_keys():
    assert growing(LLAMA | {"head_dim": 192, "v_head_dim": 128}) == 32 * 8 * (192 + 128) * 2


def test_a_latent_cache_is_one_row_per_layer_whatever_the_heads():
    mla = LLAMA | {"num_hidden_layers": 61, "kv_lora_rank": 512, "qk_rope_head_dim": 64, "v_head_dim": 128}

    assert growing(mla) == 61 * 576 * 2
    assert growing(mla, tensor_parallel=8) == 8 * 61 * 576 * 2  # each GPU keeps all of it
    assert "qk_rope_head_dim" in refusal(mla | {"qk_rope_head_dim": None})


def test_draft_layers_are_not_counted_and_that_is_said():
    config = parse_model_config(LLAMA | {"num_nextn_predict_layers": 1})

    assert len(config.layers) == 32
    assert "num_nextn_predict_layers" in config.notes[0]


SLIDING = [
    # (keys beside the plain config, what the layers are)
    ({"model_type": "mistral", "sliding_window": 4096}, {("sliding", 4096): 32}),
    ({"model_type": "mistral", "sliding_window": None}, {("full", 0): 32}),
    ({"model_type": "qwen2", "sliding_window": 4096, "use_sliding_window": False}, {("full", 0): 32}),
    ({"model_type": "qwen2", "sliding_window": 4096}, {("full", 0): 32}),
    (
        {"model_type": "qwen2", "sliding_window": 4096, "use_sliding_window": True, "max_window_layers": 28},
        {("full", 0): 28, ("sliding", 4096): 4},
    ),
    ({"model_type": "gemma2", "sliding_window": 4096}, {("full", 0): 16, ("sliding", 4096): 16}),
    ({"model_type": "gemma3_text", "sliding_window": 1024}, {("full", 0): 5, ("sliding", 1024): 27}),
    (
        {"model_type": "gemma3_text", "sliding_window": 1024, "sliding_window_pattern": 4},
        {("full", 0): 8, ("sliding", 1024): 24},
    ),
    ({"model_type": "cohere2", "sliding_window": 4096}, {("full", 0): 8, ("sliding", 4096): 24}),
    ({"model_type": "gpt_oss", "sliding_window": 128}, {("full", 0): 16, ("sliding", 128): 16}),
    (
        {"model_type": "exaone4", "sliding_window": 4096, "sliding_window_pattern": "LLLG"},
        {("full", 0): 8, ("sliding", 4096): 24},
    ),
    (
        {"model_type": "exaone4", "sliding_window": 4096, "sliding_window_pattern": "LLG"},
        {("full", 0): 11, ("sliding", 4096): 21},  # the last layer is full whatever its letter
    ),
    (
        {"sliding_window": 128, "layer_types": ["sliding_attention", "full_attention"] * 16},
        {("full", 0): 16, ("sliding", 128): 16},
    ),
    (
        {"model_type": "llama4_text", "attention_chunk_size": 8192},
        {("chunked", 8192): 24, ("full", 0): 8},
    ),
    (
        {"model_type": "llama4_text", "attention_chunk_size": 8192, "no_rope_layers": [1, 1, 0, 1] * 8},
        {("chunked", 8192): 24, ("full", 0): 8},
    ),
]


@pytest.mark.parametrize(("keys", "expected"), SLIDING)
def test_windows_by_the_rules_of_each_family(keys, expected):
    assert counted(LLAMA | keys) == expected


def test_the_order_of_sliding_layers():
    gemma = kinds(LLAMA | {"model_type": "gemma3_text", "sliding_window": 1024})
    window = {"sliding_window": 9, "use_sliding_window": True, "max_window_layers": 2}
    qwen = kinds(LLAMA | {"model_type": "qwen2"} | window)

    assert [kind for kind, _ in gemma[:7]] == ["sliding"] * 5 + ["full", "sliding"]
    assert [kind for kind, _ in qwen[:3]] == ["full", "full", "sliding"]


def test_a_nested_text_model_with_the_defaults_of_its_class():
    gemma = {
        "model_type": "gemma3",
        "torch_dtype": "bfloat16",
        "text_config": {
            "model_type": "gemma3_text",
            "num_hidden_layers": 34,
            "hidden_size": 2560,
            "sliding_window": 1024,
        },
        "vision_config": {"num_hidden_layers": 27, "num_attention_heads": 16, "hidden_size": 1152},
    }
    config = parse_model_config(gemma)

    assert counted(gemma) == {("full", 0): 5, ("sliding", 1024): 29}
    assert (config.layers[0].heads, config.layers[0].key_values) == (4, 256)
    assert config.sources["heads"] == "text_config.num_key_value_heads (class default of gemma3_text)"
    assert (config.dtype, config.dtype_key) == ("bfloat16", "torch_dtype")


def test_a_text_model_nested_twice():
    omni = {"thinker_config": {"text_config": LLAMA}, "talker_config": {"num_hidden_layers": 3}}

    assert len(parse_model_config(omni).layers) == 32
    assert parse_model_config(omni).sources["layers"] == "thinker_config.text_config.num_hidden_layers"


def test_nested_and_outer_values_that_differ():
    assert "16 outside and 32 inside of text_config" in refusal({"num_hidden_layers": 16, "text_config": LLAMA})
    assert len(parse_model_config({"num_hidden_layers": 32, "text_config": LLAMA}).layers) == 32
    assert "text_config and llm_config" in refusal({"text_config": LLAMA, "llm_config": LLAMA})


def test_hybrid_models_keep_a_state():
    config = parse_model_config(QWEN_NEXT)
    state = config.layers[0].state

    assert Counter(layer.kind for layer in config.layers) == {"none": 36, "full": 12}
    assert state == State(2 * 16 * 128 + 32 * 128, 3, 32, 128 * 128)
    assert growing(QWEN_NEXT) == 12 * 2 * 2 * 256 * 2
    # 36 layers of (8 192 channels · 3 · 2 bytes + 32 heads · 16 384 values · 4 bytes)
    cache = Cache((config.layers,), width_of("2"), width_of("2"), 1, 16, None, Fraction(2), Fraction(4))
    assert cache.stage_caches[0].state_bytes == 36 * (8_192 * 3 * 2 + 32 * 16_384 * 4)


def test_mamba2_groups_that_gpus_do_not_divide_are_extended():
    granite = LLAMA | {
        "model_type": "granitemoehybrid",
        "layer_types": (["mamba"] * 3 + ["attention"]) * 8,
        "mamba_n_heads": 48,
        "mamba_d_head": 64,
        "mamba_d_state": 128,
        "mamba_n_groups": 1,
        "mamba_d_conv": 4,
    }
    state = parse_model_config(granite).layers[0].state

    assert state.row_bytes(1, Fraction(2), Fraction(2)) == (48 * 64 + 2 * 128) * 3 * 2 + 48 * 64 * 128 * 2
    assert state.row_bytes(4, Fraction(2), Fraction(2)) == (48 * 64 + 4 * 2 * 128) * 3 * 2 + 48 * 64 * 128 * 2


def test_layers_by_letters_periods_and_lists():
    nemotron = LLAMA | {"hybrid_override_pattern": "M-M*" * 8, "model_type": "nemotron_h"}
    mamba = {"mamba_num_heads": 8, "mamba_head_dim": 4, "ssm_state_size": 16, "n_groups": 2, "conv_kernel": 4}
    jamba = LLAMA | {"attn_layer_period": 8, "attn_layer_offset": 4, "mamba_expand": 2, "mamba_d_state": 16}
    minimax = LLAMA | {"attn_type_list": [0, 0, 0, 1] * 8, "head_dim": 128}

    assert Counter(layer.kind for layer in parse_model_config(nemotron | mamba).layers) == {"none": 24, "full": 8}
    assert sum(layer.state is not None for layer in parse_model_config(nemotron | mamba).layers) == 16
    assert [at for at, layer in enumerate(parse_model_config(jamba).layers) if layer.kind == "full"] == [4, 12, 20, 28]
    assert parse_model_config(jamba).unknown_states == 28  # no mamba_d_conv
    assert parse_model_config(minimax).layers[0].state == State(0, 0, 32, 128**2)


def test_published_forms_of_hybrid_models():
    """Keys as hubs have them: layers of experts, an infinite limit, attention and state side by side."""
    nemotron = LLAMA | {
        "model_type": "nemotron_h",
        "num_hidden_layers": 4,
        "layers_block_type": ["mamba", "moe", "attention", "mlp"],
        "mamba_num_heads": 64,
        "mamba_head_dim": 64,
        "ssm_state_size": 128,
        "conv_kernel": 4,
        "n_groups": 8,
        "mamba_ssm_cache_dtype": "float32",
    }
    falcon = LLAMA | {
        "model_type": "falcon_h1",
        "layer_types": ["hybrid"] * 32,
        "mamba_n_heads": 24,
        "mamba_d_head": 128,
        "mamba_d_state": 256,
        "mamba_n_groups": 1,
        "mamba_d_conv": 4,
    }
    lfm = LLAMA | {"model_type": "lfm2", "full_attn_idxs": [2, 5], "conv_L_cache": 3, "conv_dim": 2048}

    config = parse_model_config(nemotron)
    assert [(layer.kind, layer.state is not None) for layer in config.layers] == [
        ("none", True),
        ("none", False),
        ("full", False),
        ("none", False),
    ]
    assert config.state_dtype == "float32"
    assert all(layer.kind == "full" and layer.state for layer in parse_model_config(falcon).layers)
    assert [at for at, layer in enumerate(parse_model_config(lfm).layers) if layer.kind == "full"] == [2, 5]
    assert parse_model_config(lfm).layers[0].state == State(2048, 2)


def test_gemma_4_has_other_heads_in_its_full_layers():
    gemma = LLAMA | {
        "model_type": "gemma4_text",
        "num_hidden_layers": 60,
        "num_attention_heads": 32,
        "num_key_value_heads": 16,
        "head_dim": 256,
        "global_head_dim": 512,
        "num_global_key_value_heads": 4,
        "attention_k_eq_v": True,
        "sliding_window": 1024,
        "layer_types": (["sliding_attention"] * 5 + ["full_attention"]) * 10,
    }
    full, sliding = parse_model_config(gemma).layers[5], parse_model_config(gemma).layers[0]

    assert (full.kind, full.heads, full.key_values, full.value_values) == ("full", 4, 512, 512)
    assert (sliding.kind, sliding.heads, sliding.key_values) == ("sliding", 16, 256)
    assert growing(gemma) == 10 * 2 * 4 * 512 * 2
    small = parse_model_config(gemma | {"attention_k_eq_v": False, "num_kv_shared_layers": 20})
    assert (small.layers[5].heads, small.layers[59].kind) == (16, "none")


def test_layers_that_use_the_cache_of_earlier_ones():
    shared = parse_model_config(LLAMA | {"num_kv_shared_layers": 12})

    assert [layer.kind for layer in shared.layers].count("full") == 20
    assert {layer.kind for layer in shared.layers[20:]} == {"none"}
    assert "num_kv_shared_layers" in refusal(LLAMA | {"num_kv_shared_layers": 32})


def test_the_dtype_is_asked_for_and_never_guessed():
    silent = {key: value for key, value in LLAMA.items() if key != "torch_dtype"}

    assert parse_model_config(silent).dtype is None
    assert "--dtype" in refusal(silent, for_cache=True)
    assert parse_model_config(silent, "config", "bf16", True).kv_dtype_open == ""
    assert parse_model_config(silent | {"dtype": "float16"}).dtype == "float16"
    assert parse_model_config(silent | {"torch_dtype": "torch.float16"}).dtype == "float16"
    assert parse_model_config(silent | {"torch_dtype": "auto"}).dtype is None
    assert "wanted one dtype" in refusal(LLAMA | {"dtype": "float16"})
    assert "float32" in parse_model_config(LLAMA | {"torch_dtype": "float32"}).notes[0]


def test_a_quantized_cache_in_the_config_is_asked_about():
    scheme = {"quantization_config": {"kv_cache_scheme": {"num_bits": 8, "type": "float"}}}
    modelopt = {"quantization_config": {"quantization": {"kv_cache_quant_algo": "FP8"}}}

    assert "kv_cache_scheme" in refusal(LLAMA | scheme, for_cache=True)
    assert "kv_cache_scheme" in refusal(LLAMA | scheme, dtype="bf16", for_cache=True)
    assert "kv_cache_quant_algo" in refusal(LLAMA | modelopt, for_cache=True)
    assert parse_model_config(LLAMA | {"quantization_config": {"bits": 4}}, for_cache=True).kv_dtype_open == ""
    assert "float8_e4m3fn" in refusal(LLAMA | {"torch_dtype": "float8_e4m3fn"}, for_cache=True)


REFUSED = [
    ({"is_encoder_decoder": True}, "encoder-decoder"),
    ({"cross_attention_layers": [3, 8]}, "cross-attention"),
    ({"index_topk": 2048}, "second cache"),
    ({"model_type": "bert"}, "encoder"),
    ({"model_type": "zamba2"}, "share one attention"),
    ({"block_configs": [{}]}, "differ by a rule"),
    ({"swa_num_key_value_heads": 8}, "shape of the cache"),
    ({"num_key_value_heads_per_layer": [8]}, "shape of the cache"),
    ({"layer_types": ["full_attention"] * 31 + ["compressed_sparse_attention"]}, "not read"),
    ({"layer_types": ["full_attention"] * 31}, "got 31 layers, wanted the model's 32"),
    ({"layer_types": ["sliding_attention"] * 32}, "sliding_window: missing"),
    ({"sliding_window": 4096, "model_type": "new_thing"}, "not which layers slide"),
    ({"sliding_window": 4096, "model_type": "exaone4", "sliding_window_pattern": "LXG"}, "a text of L and G"),
    ({"attention_chunk_size": 4096, "model_type": "new_thing"}, "not which layers are chunked"),
    ({"linear_num_value_heads": 32}, "not which layers are recurrent"),
    ({"hybrid_override_pattern": "MX" * 16}, 'holds "X"'),
    ({"hidden_size": 4097}, "no multiple"),
]


@pytest.mark.parametrize(("keys", "why"), REFUSED)
def test_what_the_arithmetic_cannot_express_is_refused_with_a_sentence(keys, why):
    assert why in refusal(LLAMA | keys)


def test_a_false_or_empty_key_refuses_nothing():
    harmless = {"is_encoder_decoder": False, "cross_attention_layers": [], "index_topk": None, "use_cla": False}

    assert growing(LLAMA | harmless) == 131_072


def test_an_encoder_decoder_around_a_text_model_is_refused():
    assert "encoder-decoder" in refusal({"is_encoder_decoder": True, "text_config": LLAMA})


def test_every_wrong_value_is_reported_at_once():
    wrong = {
        "num_hidden_layers": -1,
        "num_attention_heads": "32",
        "num_key_value_heads": True,
        "head_dim": 10**6,
        "layer_types": [1, 2],
        "torch_dtype": "strange",
        "is_encoder_decoder": True,
    }
    sentences = refusal(wrong).split("\n")

    assert len(sentences) == len(wrong)
    assert all(any(f": {key}: got" in sentence for sentence in sentences) for key in wrong)
