"""`sweep memory`: the page, the JSON, the tables of a grid, and every way to ask wrongly."""

import json
import tomllib
from fractions import Fraction

import pytest

from sweep.records.wording import CLAIM_SENTENCE

CONFIG = {
    "model_type": "llama",
    "torch_dtype": "bfloat16",
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "hidden_size": 4096,
    "max_position_embeddings": 131_072,
}
H100 = ("--gpu", "h100", "--utilization", "0.9", "--weights", "16060522496")
MEASURED = ("--activations", "2 GiB", "--overhead", "1 GiB")
SHAPE = ("--layers", "32", "--kv-heads", "8", "--head-dim", "128", "--dtype", "bf16")


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "config.json"
    path.write_text(json.dumps(CONFIG), encoding="utf-8")
    return path


@pytest.fixture
def gpt_oss(tmp_path):
    path = tmp_path / "oss.json"
    shape = {"num_hidden_layers": 36, "num_key_value_heads": 8, "head_dim": 64, "max_position_embeddings": 131_072}
    path.write_text(json.dumps({"model_type": "gpt_oss", "dtype": "bfloat16", "sliding_window": 128} | shape), "utf-8")
    return path


@pytest.fixture
def ask(invoke):
    """`sweep memory … --json`, parsed."""

    def call(*args):
        code, out, err = invoke("memory", *args, "--json")
        assert (code, err) == (0, "")
        return json.loads(out)

    return call


def refused(invoke, code, *args):
    """The sentences on stderr; nothing on stdout, each sentence one line."""
    found, out, err = invoke("memory", *args)
    assert found == code
    assert out == ""
    lines = err.splitlines()
    assert lines
    assert all(line.startswith("sweep: ") for line in lines)
    return err


def test_the_ledger_of_an_h100(invoke, config):
    code, out, err = invoke("memory", "--model", config, *H100, *MEASURED, "--typical-length", "1367")

    assert (code, err) == (0, "")
    assert all(len(line) <= 80 for line in out.splitlines())
    assert out.endswith(CLAIM_SENTENCE + "\n")
    for row in (
        r"KV pool              57 686 981 017  what is left",
        r"bytes per token              131 072  growing layers",
        r"blocks                        27 507",
        r"tokens                       440 112",
        r"concurrency                                         3             319",
    ):
        assert row in out
    assert "worst case, longest sequence  typical length" in out


def test_the_figures_as_json_have_keys_that_stay(ask, config):
    found = ask("--model", config, *H100, *MEASURED, "--typical-length", "1367")

    assert list(found) == [
        "cache",
        "gpus",
        "share",
        "fits",
        "short_by_bytes",
        "ledger",
        "kv_pool_bytes",
        "blocks",
        "cache_tokens",
        "longest_sequence_tokens",
        "worst_case",
        "typical",
        "same_pool",
        "rounded",
        "bytes_known",
        "sources",
        "notes",
    ]
    assert found["share"] == {
        "engine": "vllm",
        "flag": "gpu_memory_utilization",
        "of": "of total, for everything",
        "value": [9, 10],
    }
    assert found["ledger"] == [
        {
            "gpus": 1,
            "kv_pool_bytes": 57_686_981_017,
            "short_by_bytes": 0,
            "memory_bytes": 85_520_809_984,
            "budget_bytes": 76_968_728_985,
            "weight_bytes": 16_060_522_496,
            "activation_bytes": 2**31,
            "framework_overhead_bytes": 2**30,
            "reserved_bytes": 0,
            "free_bytes": 66_239_062_016,
            "unused_bytes": 8_552_080_999,
            "blocks": 27_507,
            "usable_bytes": 27_507 * 2**21,
        }
    ]
    assert found["worst_case"]["concurrency"] == 3
    assert found["typical"]["concurrency"] == 319
    assert found["typical"]["blocks_per_request"] == 86
    assert Fraction(*found["typical"]["ratio"]) == Fraction(27_507, 86)
    assert found["same_pool"]["vllm"] == [9, 10]
    assert found["sources"]["heads"] == "config: num_key_value_heads"


def test_without_a_gpu_it_says_what_a_request_takes(ask, invoke, config):
    found = ask("--model", config, "--max-sequence", "8192")

    assert found["worst_case"]["bytes_per_request"] == 8_192 * 131_072
    assert found["cache"]["kv_bytes_per_token"] == 131_072
    assert "KV pool" not in invoke("memory", "--model", config)[1]


def test_the_tables_of_a_grid_say_where_each_figure_came_from(invoke, config):
    code, out, _ = invoke("memory", "--model", config, *H100, *MEASURED, "--toml")
    tables = tomllib.loads(out)

    assert code == 0
    assert tables["model"] == {
        "layers": 32,
        "kv_heads": 8,
        "head_dim": 128,
        "kv_bytes_per_value": 2,
        "weight_bytes": 16_060_522_496,
    }
    assert tables["gpu"]["memory_bytes"] == 85_520_809_984
    assert tables["gpu"]["memory_utilization_permille"] == 900
    assert tables["contract"] == {"max_kv_bytes": "from-memory"}
    assert all("# " in line for line in out.splitlines() if "=" in line)


def test_sliding_layers_and_the_chunk_that_they_hold(ask, invoke, gpt_oss):
    found = ask("--model", gpt_oss, "--chunk", "1024", "--pool", "~1.71 GiB")

    assert found["worst_case"]["bytes_per_request"] == 4_874_895_360
    assert found["cache"]["stages"][0]["bounded"][0]["most_blocks_per_request"] == 73
    assert found["worst_case"]["concurrency"] == 0
    assert found["rounded"]["highest"]["worst_case"]["concurrency"] == 0
    assert "--chunk: missing" in refused(invoke, 2, "--model", gpt_oss)
    page = invoke("memory", "--model", gpt_oss, "--chunk", "1024", "--pool", "~1.71 GiB")[1]
    assert "No request of 131 072 tokens fits: short by 3 038 796 841 bytes, concurrency 0." in page
    assert "stop growing" in refused(invoke, 3, "--model", gpt_oss, "--chunk", "1024", "--pool", "9", "--toml")


def test_a_log_by_its_blocks_alone(ask, invoke):
    options = ("--blocks", "2619", "--block-tokens", "1056", "--state-blocks", "3", "--max-sequence", "262144")
    found = ask(*options)

    assert found["worst_case"]["blocks_per_request"] == 252
    assert found["worst_case"]["cache_tokens_at_this_length"] == 2_724_425
    page = invoke("memory", *options)[1]
    assert "bytes" not in page
    assert "--toml: needs a model" in refused(invoke, 2, *options, "--toml")


def test_a_measured_pool_beside_the_memory(ask):
    found = ask(*SHAPE, "--memory", "25250627584", "--utilization", "0.9", "--blocks", "2588")

    assert found["ledger"][0]["not_kv_bytes"] == 17_298_135_449
    assert found["cache_tokens"] == 41_408


def test_rounded_figures_of_a_log(ask):
    memory = ("--memory", "~23.58 GiB", "--utilization", "0.90", "--weights", "~17.06 GiB", "--overhead", "~0.35GiB")
    found = ask(*SHAPE, *memory, "--max-sequence", "20000")

    assert found["rounded"]["lowest"]["blocks"] <= 1_952 <= found["rounded"]["highest"]["blocks"]


def test_pipeline_stages_with_a_gpu_and_weights_each(ask, invoke):
    shape = ("--layers", "48", "--kv-heads", "4", "--head-dim", "128", "--dtype", "bf16")
    stages = ("--stage-layers", "16,32", "--gpu", "l4,l40s", "--utilization", "0.9", "--weights", "12 GB,24 GB")
    found = ask(*shape, *stages, "--max-sequence", "262144")

    assert found["worst_case"]["bytes_per_request_by_stage"] == [8 * 2**30, 16 * 2**30]
    assert found["blocks"] == min(stage["blocks"] for stage in found["ledger"])
    assert found["gpus"] == 2
    page = invoke("memory", *shape, *stages)[1]
    assert "stage  layers" in page
    assert "of each" not in page
    assert "wanted one for each of the stages (2)" in refused(
        invoke, 2, *shape, "--stage-layers", "16,32", "--gpu", "l4", "--utilization", "0.9", "--weights", "36 GB"
    )
    assert "want the model's 48" in refused(invoke, 2, *shape, "--stage-layers", "16,16")
    assert "give --stage-layers" in refused(invoke, 2, *shape, "--pipeline-parallel", "5", "--engine", "sglang")
    dealt = ask(*shape, "--pipeline-parallel", "5")
    assert [stage["layers"] for stage in dealt["cache"]["stages"]] == [9, 10, 10, 10, 9]


def test_weights_from_an_index_or_a_number_of_parameters(ask, invoke, config, tmp_path):
    index = tmp_path / "model.safetensors.index.json"
    index.write_text('{"metadata": {"total_size": 16060522496}, "weight_map": {}}', encoding="utf-8")
    gpu = ("--model", config, "--gpu", "h100", "--utilization", "0.9")

    assert ask(*gpu, "--weights", index)["ledger"][0]["weight_bytes"] == 16_060_522_496
    assert ask(*gpu, "--parameters", "8030261248")["ledger"][0]["weight_bytes"] == 16_060_522_496
    fp8 = ask(*gpu, "--parameters", "8030261248", "--weight-dtype", "fp8")
    assert fp8["ledger"][0]["weight_bytes"] == 8_030_261_248
    assert fp8["sources"]["weight_bytes"] == "--parameters 8030261248 in fp8"
    assert "no whole number of bytes" in refused(invoke, 2, *gpu, "--parameters", "3", "--weight-dtype", "int4")
    assert "both given" in refused(invoke, 2, *gpu, "--weights", "1", "--parameters", "3")


@pytest.mark.parametrize("method", ["mxfp4", "fp8", "awq"])
def test_the_width_of_quantized_weights_is_asked_for(ask, invoke, tmp_path, method):
    path = tmp_path / "quantized.json"
    path.write_text(json.dumps(CONFIG | {"quantization_config": {"quant_method": method}}), encoding="utf-8")
    gpu = ("--model", path, "--gpu", "h100", "--utilization", "0.9")

    for more in ((), ("--dtype", "bf16")):
        err = refused(invoke, 2, *gpu, "--parameters", "8030261248", *more)
        assert f"the config has a quantization_config ({method})" in err
        assert "give --weight-dtype" in err
    found = ask(*gpu, "--parameters", "8030261248", "--weight-dtype", "int4")
    assert found["ledger"][0]["weight_bytes"] == 4_015_130_624
    for weights in (("--weights", "6 GB"), ("--parameters", "8030261248", "--weight-dtype", "fp8")):
        page = " ".join(invoke("memory", *gpu, *weights)[1].split())
        assert f"The config has a quantization_config ({method}): the weights are quantized" in page


def test_hybrid_models_ask_for_the_width_of_their_state(ask, invoke, tmp_path):
    linear = {
        "linear_conv_kernel_dim": 4,
        "linear_num_key_heads": 16,
        "linear_num_value_heads": 48,
        "linear_key_head_dim": 128,
        "linear_value_head_dim": 128,
    }
    raw = CONFIG | linear | {"num_hidden_layers": 64, "full_attention_interval": 4}
    path = tmp_path / "hybrid.json"
    path.write_text(json.dumps(raw), encoding="utf-8")

    assert "give --state-dtype" in refused(invoke, 3, "--model", path)
    found = ask("--model", path, "--state-dtype", "float32")
    assert found["cache"]["stages"][0]["state_bytes_per_request"] == 48 * (10_240 * 3 * 2 + 48 * 128 * 128 * 4)
    assert ask("--model", path, "--state-bytes", "5 MB")["cache"]["stages"][0]["state_bytes_per_request"] == 5_000_000
    assert "fixed cost per request" in refused(
        invoke, 3, "--model", path, "--state-bytes", "5MB", "--pool", "1 GB", "--toml"
    )
    unknown = {key: value for key, value in raw.items() if key not in linear} | {"layer_types": None}
    path.write_text(json.dumps(unknown), encoding="utf-8")
    assert "give --state-bytes" in refused(invoke, 3, "--model", path)


def test_latents_on_several_gpus_say_that_each_keeps_them(invoke, tmp_path):
    path = tmp_path / "mla.json"
    path.write_text(json.dumps(CONFIG | {"kv_lora_rank": 512, "qk_rope_head_dim": 64}), encoding="utf-8")
    page = invoke("memory", "--model", path, "--tensor-parallel", "8")[1]

    assert "294 912" in page  # 8 GPUs · 32 layers · 576 values · 2 bytes
    assert "Each of 8 GPUs keeps what its heads share" in page


def test_layers_that_differ_show_each_number(invoke, tmp_path):
    gemma = {"num_hidden_layers": 2, "head_dim": 256, "global_head_dim": 512, "sliding_window": 1024}
    path = tmp_path / "gemma.json"
    kinds = {"layer_types": ["sliding_attention", "full_attention"]}
    path.write_text(json.dumps(CONFIG | gemma | kinds), encoding="utf-8")
    page = invoke("memory", "--model", path, "--chunk", "256", "--pool", "1 GiB")[1]

    assert "values of a key" in page
    assert "256 / 512" in page
    assert "Layers differ, so there is no single number of blocks" in page


def test_the_catalogue(invoke, ask):
    code, out, _ = invoke("memory", "--list-gpus")

    assert code == 0
    assert all(len(line) <= 80 for line in out.splitlines())
    assert "h100-sxm         85 520 809 984         989.4      1 978.9  3 350" in out
    assert out.endswith(CLAIM_SENTENCE + "\n")
    assert ask("--list-gpus")["gpus"][0]["name"] == "h100-sxm"


def test_every_fault_of_the_options_and_the_file_at_once(invoke, tmp_path):
    (tmp_path / "wrong.json").write_text('{"num_hidden_layers": "32", "head_dim": 1.5}', encoding="utf-8")
    err = refused(
        invoke,
        3,
        *("--model", "wrong.json", "--gpu", "a100", "--utilization", "90", "--weights", "80 XB"),
        *("--overhead", "3.81 GiB", "--reserved", "1,2"),
    )

    parts = (
        "num_hidden_layers",
        "head_dim",
        "no dtype",
        "which of a100",
        "--utilization",
        "80 XB",
        "~3.81",
        "--reserved",
    )
    for part in parts:
        assert part in err
    assert len(err.splitlines()) == 8


WRONG = [
    # (exit code, what the sentence says, options)
    (2, "got 0 descriptions", ()),
    (2, "got 2 descriptions", (*SHAPE, "--kv-bytes-per-token", "5")),
    (2, "--head-dim: missing", ("--layers", "3", "--kv-heads", "2", "--dtype", "bf16")),
    (2, "--dtype or --kv-dtype: missing", ("--layers", "3", "--kv-heads", "2", "--head-dim", "4")),
    (2, "--gpu or --memory: missing", (*SHAPE, "--utilization", "0.9", "--weights", "1")),
    (2, "--utilization: missing", (*SHAPE, "--gpu", "h100", "--weights", "1")),
    (2, "--weights or --parameters: missing", (*SHAPE, "--gpu", "h100", "--utilization", "0.9")),
    (2, "--pool and --blocks: both given", (*SHAPE, "--pool", "1", "--blocks", "2")),
    (2, "--weights: goes into", (*SHAPE, "--pool", "1", "--weights", "2")),
    (2, "--chunk: missing", (*SHAPE, *H100, "--activations-per-chunk-token", "5")),
    (2, "wanted layers per stage", (*SHAPE, "--stage-layers", "16,x")),
    (2, "--stage-layers: got 2 stages", (*SHAPE, "--stage-layers", "16,16", "--pipeline-parallel", "3")),
    (2, "got 33 stages for 32 layers", (*SHAPE, "--pipeline-parallel", "33")),
    (2, "--dtype: goes with a shape", ("--kv-bytes-per-token", "5", "--dtype", "bf16")),
    (2, "is not in the range", (*SHAPE, "--block-tokens", "0")),
    (2, "is not a valid integer", (*SHAPE, "--max-sequence", "1.5")),
    (2, "is not one of 'vllm'", (*SHAPE, "--engine", "other")),
    (2, "--toml: needs", (*SHAPE, "--toml")),
    (2, "--toml and --json: both given", (*SHAPE, "--toml", "--json")),
    (2, "--reserved-blocks: limits a pool", (*SHAPE, "--reserved-blocks", "3")),
    (2, "--weight-dtype: goes with --parameters", (*SHAPE, *H100, "--weight-dtype", "fp8")),
    (2, "no whole number of bytes", (*SHAPE, *H100[:4], "--parameters", "3", "--weight-dtype", "int8+4")),
    (2, "of the whole model", (*SHAPE, *H100[:4], "--parameters", "3", "--stage-layers", "16,16")),
    (2, "--blocks: blocks are not all alike", ("--model", "oss.json", "--chunk", "8", "--blocks", "1")),
    (2, "the longest sequence has 5 tokens", (*SHAPE, "--max-sequence", "5", "--typical-length", "6")),
    (2, "no whole number of per mille", (*SHAPE, *H100[:2], "--utilization", "0.9215", *H100[4:], "--toml")),
    (3, "no such file", ("--model", "nothing.json")),
    (2, "--pool: got 10^19", (*SHAPE, "--pool", "10000000000000000000")),
    (2, "--reserved-blocks", ("--model", "oss.json", "--chunk", "8", "--pool", "9", "--reserved-blocks", "1")),
]


@pytest.mark.usefixtures("gpt_oss")
@pytest.mark.parametrize(("code", "why", "options"), WRONG)
def test_each_wrong_question_is_one_sentence(invoke, code, why, options):
    assert why.replace("10^19", "10 000 000 000 000 000 000") in refused(invoke, code, *options)


def test_help_has_examples_and_fits_a_terminal(invoke):
    code, out, _ = invoke("memory", "--help")

    assert code == 0
    assert "Examples:" in out
    assert all(len(line) <= 80 for line in out.splitlines())


def test_a_process_of_its_own_reads_a_hostile_file_in_one_sentence(process, tmp_path):
    (tmp_path / "deep.json").write_text('{"a":' * 100_000 + "1" + "}" * 100_000, encoding="utf-8")
    done = process("memory", "--model", "deep.json", cwd=tmp_path)

    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == "sweep: deep.json: nested too deep to be a model's config.json; give another file.\n"
