"""The published memory cases: public logs and model configs, byte for byte.

A figure that a log printed with two decimals is compared by its interval, within half of the last digit; everything
else is equal to the last byte.
"""

import csv
import json
import re
from fractions import Fraction
from pathlib import Path

import pytest

import sweep
from sweep.hardware import (
    Cache,
    CacheLayer,
    MemoryLedger,
    StageMemory,
    amount_of,
    memory_ledger,
    parse_model_config,
    staged,
    uniform_layers,
    width_of,
)

GOLDEN = Path(__file__).parents[3] / "shared" / "golden"
pytestmark = pytest.mark.skipif(not GOLDEN.exists(), reason="the golden cases are not beside the project")

GIB, MIB = 2**30, 2**20


def cases() -> dict[str, dict]:
    lines = (GOLDEN / "kv_cases.jsonl").read_text(encoding="utf-8").splitlines()
    return {case["id"]: case for case in map(json.loads, lines)}


def prints_as(exact: int | Fraction, unit: int, printed: str) -> bool:
    """Whether a figure in a unit rounds to what a log printed."""
    half = Fraction(1, 2 * 10 ** len(printed.partition(".")[2]))
    return abs(Fraction(exact) * Fraction(1, unit) - Fraction(printed)) <= half


def gib(text: str):
    """A rounded figure of a log."""
    return amount_of(f"~{text} GiB", "log")


def uniform(given: dict, **more: object) -> Cache:
    layers = uniform_layers(given["layers"], given["kv_heads"], given["head_dim"])
    width = width_of(str(given["kv_bytes"]))
    return Cache((layers,), width, width, block_tokens=given.get("block_size", 16), **more)


def of_blocks(cache: Cache, blocks: int, **more: object) -> MemoryLedger:
    size = cache.stage_caches[0].block_bytes
    assert size is not None
    return memory_ledger(cache, pool_bytes=[blocks * size], **more)


def is_between(ledger: MemoryLedger, blocks: int) -> bool:
    """Whether a number of blocks lies within what rounded figures leave open."""
    assert ledger.lowest is not None
    assert ledger.highest is not None
    return ledger.lowest.blocks <= blocks <= ledger.highest.blocks


def test_every_published_case_has_a_test_here():
    tested = {found.upper() for name in globals() for found in re.findall(r"case_(k[0-9]+)", name)}
    assert set(cases()) <= tested


@pytest.mark.parametrize("name", ["K01", "K02"])
def test_case_k01_and_case_k02_one_rtx_3090(name):
    case = cases()[name]
    given, log, exact = case["given"], case["log"], case["exact"]
    cache = uniform(cases()["K01"]["given"])
    memory = StageMemory(gib(given["total_gpu_gib"]), gib(given["peak_torch_gib"]), 0, 0, gib(given["non_torch_gib"]))
    share = Fraction(given["gpu_memory_utilization"])
    reckoned = memory_ledger(cache, [memory], share, longest_tokens=given["max_model_len"])
    measured = of_blocks(cache, log["gpu_blocks"], longest_tokens=given["max_model_len"])

    assert is_between(reckoned, log["gpu_blocks"])
    assert measured.kv_bytes_per_token == cases()["K01"]["exact"]["kv_bytes_per_token"]
    assert cache.stage_caches[0].block_bytes == cases()["K01"]["exact"]["block_bytes"]
    assert measured.kv_pool_bytes == exact["pool_bytes"]
    assert measured.cache_tokens == exact["tokens"]
    assert prints_as(measured.kv_pool_bytes, GIB, log["kv_cache_size_gib"])
    assert Fraction(measured.cache_tokens, given["max_model_len"]) == Fraction(*exact["concurrency_num_den"])
    assert prints_as(measured.worst_case.ratio, 1, log["max_concurrency"])
    assert (measured.worst_case.requests > 0) == log.get("accepted", True)


def test_case_k03_pixtral():
    case = cases()["K03"]
    given, log, exact = case["given"], case["log"], case["exact"]
    cache = uniform(given)
    others = {"activation_bytes": gib(given["activations_gib"]), "framework_overhead_bytes": gib(given["wasted_gib"])}
    memory = StageMemory(gib(given["total_gpu_gib"]), gib(given["weights_gib"]), **others)
    reckoned = memory_ledger(cache, [memory], Fraction(given["util"]))
    measured = of_blocks(cache, log["gpu_blocks"], longest_tokens=given["max_model_len"])

    assert is_between(reckoned, log["gpu_blocks"])
    assert measured.kv_bytes_per_token == exact["kv_bytes_per_token"]
    assert measured.kv_pool_bytes == exact["pool_bytes"]
    assert measured.cache_tokens == exact["tokens"] == log["max_seq_in_cache"]
    assert measured.worst_case.bytes_per_request == exact["kv_bytes_8192"]
    assert prints_as(exact["kv_bytes_8192"], GIB, log["kv_for_8192_gib"])
    assert prints_as(measured.worst_case.ratio, 1, log["min_concurrency"])


def test_case_k06_fp8_cache():
    case = cases()["K06"]
    given, log, exact = case["given"], case["log"], case["exact"]
    cache = uniform(given)
    measured = of_blocks(cache, exact["blocks"], longest_tokens=given["max_model_len"])
    printed = memory_ledger(cache, pool_bytes=[gib(given["available_gib"])])
    smaller = memory_ledger(cache, pool_bytes=[gib("5.59")])

    assert measured.kv_bytes_per_token == exact["kv_bytes_per_token"]
    assert measured.kv_pool_bytes == exact["pool_bytes"]
    assert measured.cache_tokens == log["tokens"]
    assert is_between(printed, exact["blocks"])
    assert prints_as(measured.worst_case.ratio, 1, log["max_concurrency"])
    assert measured.concurrency(221_000).bytes_per_request == exact["needed_bytes_221000"]
    assert smaller.lowest.longest_sequence_tokens <= 122_080 <= smaller.highest.longest_sequence_tokens


def test_case_k08_uneven_pipeline_stages():
    case = cases()["K08"]
    given, log, exact = case["given"], case["log"], case["exact"]
    layers = uniform_layers(given["layers"], given["kv_heads"], given["head_dim"])
    width = width_of(str(given["kv_bytes"]))
    cache = Cache(staged(layers, (given["layers_stage0"], 48 - given["layers_stage0"])), width, width)
    first, second = cache.stage_caches
    ledger = memory_ledger(cache, pool_bytes=[gib(given["available_stage0_gib"]), 10**12])

    assert ledger.kv_bytes_per_token == exact["kv_bytes_per_token_all"]
    assert first.growing_bytes_per_token == exact["kv_bytes_per_token_stage0"]
    assert first.request_bytes(given["max_model_len"]) == exact["needed_stage0"]
    assert ledger.concurrency(given["max_model_len"]).bytes_per_request == exact["needed_all"]
    assert prints_as(exact["needed_all"], GIB, log["needed_gib"])
    assert second.request_bytes(given["max_model_len"]) == 16 * GIB
    assert ledger.longest_sequence_tokens == 104_192  # the smallest stage decides, and it decides alone
    one = Cache((layers,), width, width)
    wrong = memory_ledger(one, pool_bytes=[gib(given["available_stage0_gib"])])
    assert wrong.lowest.longest_sequence_tokens <= log["estimated_max_len"] <= wrong.highest.longest_sequence_tokens


def test_case_k10_a_longest_sequence_that_does_not_fit():
    case = cases()["K10"]
    measured = of_blocks(uniform(case["given"]), 229, longest_tokens=case["given"]["max_model_len"])

    assert measured.kv_bytes_per_token == case["exact"]["kv_bytes_per_token"]
    assert measured.cache_tokens == measured.longest_sequence_tokens == case["log"]["tokens"]
    assert measured.kv_pool_bytes == case["exact"]["pool_bytes"]
    assert measured.worst_case.requests == 0
    assert measured.fits  # the weights do; a request of that length does not


def test_case_k11_tensorrt_llm_in_bytes():
    case = cases()["K11"]
    cache = uniform(case["given"])
    pool = memory_ledger(cache, pool_bytes=[case["exact"]["bytes"]])

    assert pool.kv_bytes_per_token == case["exact"]["kv_bytes_per_token"]
    assert pool.cache_tokens == case["given"]["tokens"]
    assert pool.stages[0].usable_bytes == case["log"]["alloc_bytes"]


def test_case_k14_latent_cache_is_not_doubled():
    case = cases()["K14"]
    given, log, exact = case["given"], case["log"], case["exact"]
    layer = CacheLayer("full", 1, given["kv_lora"] + given["rope"], 0)
    width = width_of(str(given["kv_bytes"]))
    cache = Cache((((layer,) * given["layers"]),), width, width, block_tokens=1)
    profiled = memory_ledger(cache, pool_bytes=[exact["bytes_profiled"]])
    capped = memory_ledger(cache, pool_bytes=[exact["bytes_profiled"]], max_cache_tokens=given["token_cap"])

    assert cache.stage_caches[0].growing_bytes_per_token == exact["bytes_per_token"]
    assert prints_as(exact["bytes_per_token"], 1024, log["kib_per_tok"])
    assert profiled.cache_tokens == log["profiled_tokens"]
    assert prints_as(exact["bytes_profiled"], GIB, given["rest_gib"])
    assert capped.cache_tokens == given["token_cap"]
    assert capped.stages[0].usable_bytes == exact["bytes_60000"]
    assert prints_as(exact["bytes_60000"], GIB, log["size_for_60000_gb"])


def test_case_k17_sliding_layers_beside_growing_ones():
    case = cases()["K17"]
    given, log, exact = case["given"], case["log"], case["exact"]
    row = (given["kv_heads"], given["head_dim"], given["head_dim"])
    layers = (CacheLayer("full", *row),) * given["full_layers"]
    layers += (CacheLayer("sliding", *row, given["window"]),) * given["swa_layers"]
    width = width_of(str(given["kv_bytes"]))
    cache = Cache((layers,), width, width, chunk_tokens=given["max_num_batched_tokens"])
    ledger = memory_ledger(cache, pool_bytes=[gib(given["available_gib"])], longest_tokens=given["max_model_len"])
    window = cache.stage_caches[0].bounded[0]

    assert window.most_blocks == exact["swa_blocks_per_layer"]
    assert window.most_blocks * window.bytes_per_token * 16 == exact["swa_bytes"]
    assert ledger.worst_case.bytes_per_request == exact["total"]
    assert exact["total"] - exact["swa_bytes"] == exact["full_bytes"]
    assert prints_as(exact["total"], GIB, log["needed_gib"])
    assert ledger.worst_case.requests == ledger.highest.worst_case.requests == 0


def test_case_k18_blocks_of_recurrent_state():
    case = cases()["K18"]
    given, exact = case["given"], case["exact"]
    width = width_of("bf16")
    cache = Cache(
        (uniform_layers(16, 4, 256),),
        width,
        width,
        block_tokens=given["block_size"],
        state_blocks=given["extra_state_blocks_per_request"],
    )
    ledger = of_blocks(cache, given["num_gpu_blocks"], longest_tokens=given["max_model_len"])

    assert ledger.worst_case.blocks_per_request == exact["blocks_per_request"]
    assert ledger.worst_case.cache_tokens == exact["tokens"] == case["log"]["kv_cache_size_tokens"]
    assert ledger.cache_tokens == exact["naive_blocks_times_size"]  # one request's tokens, not what they share


def test_case_k26_what_is_not_cache():
    case = cases()["K26"]
    given, exact = case["given"], case["exact"]
    cache = uniform({"layers": 32, "kv_heads": 8, "head_dim": 128, "kv_bytes": 2, "block_size": given["block_size"]})
    memory = [StageMemory(given["device_total_memory_bytes"], 0)]
    size = cache.stage_caches[0].block_bytes
    ledger = memory_ledger(cache, memory, Fraction(given["util"]), pool_bytes=[given["num_gpu_blocks"] * size])

    assert ledger.cache_tokens == case["log"]["num_kv_tokens"]
    assert ledger.kv_pool_bytes == exact["pool_bytes"]
    assert ledger.stages[0].account.budget_bytes == exact["budget_bytes"]
    assert ledger.stages[0].account.not_kv_bytes == exact["non_kv_bytes"]


def test_case_k27_q8_0_cache():
    case = cases()["K27"]
    given, log = case["given"], case["log"]
    width = width_of(f"{given['q8_0_bytes_per_32']}/32")
    layers = uniform_layers(given["layers"], given["kv_heads"], given["head_dim"])
    cache = Cache((layers,), width, width, block_tokens=1)

    assert width.bytes_per_value == width_of("q8_0").bytes_per_value
    keys, values = cache.key_value_bytes(given["ctx"])
    assert keys == values == case["exact"]["k_bytes"]
    assert prints_as(keys, MIB, log["k_mib"])
    assert prints_as(cache.stage_caches[0].request_bytes(given["ctx"]), MIB, log["total_mib"])


def test_case_k28_layers_split_over_two_gpus():
    case = cases()["K28"]
    given, log, exact = case["given"], case["log"], case["exact"]
    width = width_of("q8_0")
    layers = uniform_layers(given["layers"], given["kv_heads"], given["head_dim"])
    cache = Cache(staged(layers, (41, 23)), width, width, block_tokens=1)
    first, second = (stage.request_bytes(given["ctx"]) for stage in cache.stage_caches)

    assert first + second == exact["total_bytes"]
    assert (first, second) == (41 * exact["per_layer_bytes"], 23 * exact["per_layer_bytes"])
    assert prints_as(first, MIB, log["gpu0_mib"])
    assert prints_as(second, MIB, log["gpu1_mib"])


def config_of(row: dict[str, str]) -> dict:
    """A config as a hub has it, from a row of the published table; its hybrid has one full layer in a period."""
    keys = {
        name: name
        for name in (
            "num_hidden_layers",
            "num_attention_heads",
            "num_key_value_heads",
            "hidden_size",
            "torch_dtype",
            "max_position_embeddings",
            "sliding_window",
            "kv_lora_rank",
            "qk_rope_head_dim",
        )
    }
    keys["head_dim_in_config"] = "head_dim"
    raw = {key: int(row[name]) if row[name].isdigit() else row[name] for name, key in keys.items() if row[name]}
    if row["full_attention_layers"]:
        raw["full_attention_interval"] = raw["num_hidden_layers"] // int(row["full_attention_layers"])
    return raw


def test_every_published_model_config():
    with (GOLDEN / "model_configs.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))

    assert rows
    for row in rows:
        config = parse_model_config(config_of(row), row["model"])
        two = width_of("2")
        stage = Cache((config.layers,), two, two, chunk_tokens=1).stage_caches[0]
        assert stage.growing_bytes_per_token == int(row["growing_kv_bytes_per_token_2byte"]), row["model"]
        assert config.dtype == (row["torch_dtype"] or None)
        growing = sum(layer.kind == "full" for layer in config.layers)
        assert growing == int(row["full_attention_layers"] or row["num_hidden_layers"])
        if not row["kv_lora_rank"]:
            assert config.layers[-1].key_values == int(row["head_dim_effective"])


def capstone(name: str) -> list[dict]:
    return json.loads((GOLDEN / "capstone.json").read_text(encoding="utf-8"))[name]


@pytest.mark.parametrize("name", ["kv_cache_bytes_per_request", "blocks_needed", "capacity_model"])
def test_the_capstone_formulas(name):
    assert capstone(name)
    for case in capstone(name):
        arguments = {key: value for key, value in case.items() if key != "expect"}
        assert getattr(sweep, name)(**arguments) == case["expect"]


def test_the_capstone_budget():
    assert capstone("gpu_memory_budget")
    for case in capstone("gpu_memory_budget"):
        budget = sweep.gpu_memory_budget(**{key: value for key, value in case.items() if key != "expect"})
        assert vars(budget) == case["expect"]
