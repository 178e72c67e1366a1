"""Parameters from a config, against the counts that published checkpoints have, and step times from data sheets."""

from fractions import Fraction

import pytest

from sweep.hardware import gpu_of, parse_model_config
from sweep.hardware.estimate import peak_of, step_estimate
from sweep.hardware.parameters import parameters_of

KEYS = (
    "vocab_size",
    "hidden_size",
    "intermediate_size",
    "num_hidden_layers",
    "num_attention_heads",
    "num_key_value_heads",
)
LLAMA = dict(zip(KEYS, (128_256, 4_096, 14_336, 32, 32, 8), strict=True)) | {"model_type": "llama"}
EXPERTS = {"num_experts": 128, "num_experts_per_tok": 8, "moe_intermediate_size": 768}

PUBLISHED = [
    # (what the checkpoint's tensors add up to, model type, shape, further keys)
    (8_030_261_248, "llama", (128_256, 4_096, 14_336, 32, 32, 8), {}),
    (1_235_814_400, "llama", (128_256, 2_048, 8_192, 16, 32, 8), {"head_dim": 64, "tie_word_embeddings": True}),
    (6_738_415_616, "llama", (32_000, 4_096, 11_008, 32, 32, 32), {"tie_word_embeddings": False}),
    (7_241_732_096, "mistral", (32_000, 4_096, 14_336, 32, 32, 8), {}),
    (3_821_079_552, "phi3", (32_064, 3_072, 8_192, 32, 32, 32), {}),
    (7_615_616_512, "qwen2", (152_064, 3_584, 18_944, 28, 28, 4), {}),
    (494_032_768, "qwen2", (151_936, 896, 4_864, 24, 14, 2), {"tie_word_embeddings": True}),
    (8_190_735_360, "qwen3", (151_936, 4_096, 12_288, 36, 32, 8), {"head_dim": 128}),
    (46_702_792_704, "mixtral", (32_000, 4_096, 14_336, 32, 32, 8), {"num_local_experts": 8, "num_experts_per_tok": 2}),
    (30_532_122_624, "qwen3_moe", (151_936, 2_048, 6_144, 48, 32, 4), {"head_dim": 128} | EXPERTS),
]


@pytest.mark.parametrize(("total", "model_type", "shape", "more"), PUBLISHED)
def test_the_count_of_a_published_checkpoint(total, model_type, shape, more):
    found = parameters_of({"model_type": model_type} | dict(zip(KEYS, shape, strict=True)) | more)

    assert found is not None
    assert found.total == total
    assert found.active == {46_702_792_704: 12_879_925_248, 30_532_122_624: 3_353_032_704}.get(total, total)


def test_biases_are_counted_where_the_config_asks_for_them():
    plain, biased = parameters_of(LLAMA), parameters_of(LLAMA | {"attention_bias": True, "mlp_bias": True})

    queries, pair, mlp = 4_096, 2 * 8 * 128, 2 * 14_336
    assert biased.total - plain.total == 32 * (queries + pair + 4_096 + mlp + 4_096)


OPEN = [
    {key: None}
    for key in (*KEYS, "model_type")  # each is needed
] + [
    {"model_type": "gemma2"},
    {"model_type": ["llama"]},
    {"architectures": ["LlamaForSequenceClassification"]},
    {"auto_map": {"AutoModel": "custom"}},
    {"quantization_config": {"quant_method": "awq"}},
    {"hidden_size": 4_097},  # no multiple of the heads, and no head_dim
    {"hidden_size": True},
    {"vocab_size": "128256"},
    {"vocab_size": 10**9},
    {"tie_word_embeddings": 1},
    {"attention_bias": "no"},
    {"model_type": "qwen3"},  # whose class has a head_dim of its own
    {"model_type": "qwen3_moe", "head_dim": 128, "decoder_sparse_step": 2} | EXPERTS,
    {"model_type": "qwen3_moe", "head_dim": 128, "mlp_only_layers": [3]} | EXPERTS,
    {"model_type": "mixtral", "num_local_experts": 2, "num_experts_per_tok": 3},
]


@pytest.mark.parametrize("change", OPEN)
def test_no_count_where_the_config_leaves_something_open(change):
    assert parameters_of(LLAMA | change) is None


def test_a_text_model_inside_of_another_config_has_no_count():
    inner = LLAMA | {"torch_dtype": "bfloat16"}
    assert parse_model_config(inner).parameters.total == 8_030_261_248
    assert parse_model_config(inner | {"text_config": inner}).parameters is None


def test_an_estimate_is_the_exact_quotient_rounded_up():
    """By hand: an L4 has 121 TFLOP/s in bf16, 242.5 in fp8, and 300 GB/s."""
    found = step_estimate(gpu_of("l4"), 1, 3 * 10**9 + 1, 10**9, 1_000, 300)
    assert (found.base_ns, found.per_sequence_ns) == (10_000_001, 1_000)
    assert found.per_prefill_token_ns == -(-2 * 10**9 * 10**9 // (121 * 10**12 // 2))
    halved = step_estimate(gpu_of("l4"), 2, 3 * 10**9, 10**9, 1_000, 300, fp8=True)
    assert (halved.base_ns, halved.per_sequence_ns) == (5_000_000, 500)
    exact = Fraction(2 * 10**18, 2425 * 10**11)
    assert exact <= halved.per_prefill_token_ns < exact + 1


def test_no_estimate_without_a_peak_and_bf16_where_there_is_no_fp8():
    assert step_estimate(gpu_of("a10g"), 1, 1, 1, 1, 1) is None
    assert peak_of(gpu_of("a10"), fp8=True) == gpu_of("a10").dense_bf16_flops
