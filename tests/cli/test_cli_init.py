"""`sweep init`: the example, grids of one's own that run as they are, sources, refusals, hostile files and names."""

import json
import os
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import event, given
from hypothesis import strategies as st

import sweep
from sweep.cli.main import program
from sweep.cli.memory import memory as memory_command
from sweep.draft.axes import MOST_CELLS
from sweep.query.measured import beyond_measured
from sweep.records.wording import CLAIM, CLAIM_SENTENCE

GRIDS = Path(__file__).parents[2] / "grids"
TRACE, BENCH, LLAMA = GRIDS / "trace.csv", GRIDS / "bench.jsonl", GRIDS / "llama-3.1-8b.config.json"
OWN = ("--gpu", "h100", "--model", LLAMA, "--traffic", TRACE)
STATED = ("--rate", "2.5", "--prompt", "1200", "--output", "250")
SMALL = {
    "model_type": "llama",
    "torch_dtype": "bfloat16",
    "num_hidden_layers": 16,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "hidden_size": 2048,
    "max_position_embeddings": 131_072,
}


def tables(text):
    return tomllib.loads(text)


def refused(invoke, code, *args):
    """The sentences on stderr, each one line; nothing on stdout, and no file."""
    found, out, err = invoke("init", *args)
    assert (found, out) == (code, ""), err
    lines = err.rstrip("\n").split("\n")
    assert all(line.startswith("sweep: ") for line in lines)
    assert not Path("grid.toml").exists()
    return lines


def test_without_options_it_is_the_example(invoke, tmp_path):
    code, out, err = invoke("init")

    assert (code, err) == (0, "")
    written = (tmp_path / "grid.toml").read_text(encoding="utf-8")
    shipped = (GRIDS / "h100.toml").read_text(encoding="utf-8")
    assert written == shipped.replace("sweep run grids/h100.toml", "sweep run grid.toml")
    assert sweep.parse_grid(written).sha256 == sweep.parse_grid(shipped).sha256
    assert "\nNext\n  sweep run grid.toml\n" in out
    assert "Not your own yet\n- GPU: the example's, an H100" in out
    assert max(map(len, out.split("\n"))) <= 80
    assert out.endswith(CLAIM_SENTENCE + "\n")


def test_a_file_that_is_there_is_kept_unless_it_is_forced(invoke, tmp_path):
    (tmp_path / "grid.toml").write_text("mine")
    code, out, err = invoke("init")
    assert (code, out) == (4, "")
    assert err == "sweep: grid.toml: exists already; give --force to replace it, or another name with -o.\n"
    assert (tmp_path / "grid.toml").read_text() == "mine"
    assert invoke("init", "--force")[0] == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["grid.toml"]


def test_a_grid_of_ones_own_runs_as_it_is(invoke, tmp_path):
    code, out, err = invoke("init", *OWN, "-o", "mine.toml")

    assert (code, err) == (0, "")
    assert "8 030 261 248 parameters" in out
    assert "trace.csv: the busiest minute, 65 in 60 s; 4 classes" in out
    assert "an ESTIMATE from the data sheet of h100-sxm" in out
    assert max(map(len, out.split("\n"))) <= 80
    code, out, err = invoke("run", "mine.toml")
    assert (code, err) == (0, "")
    assert "Largest SLO-feasible operating point" in out


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--ttft", "300ms"),
        ("--gpu", "l40s"),
        ("--model", LLAMA),
        ("--traffic", TRACE, "--classes", "2", "--level", "second"),
        STATED,
        ("--calibrate", BENCH),
        ("--tensor-parallel", "4", "--kv-dtype", "fp8"),
        ("--layers", "8", "--kv-heads", "2", "--head-dim", "64", "--dtype", "fp16", "--parameters", "1000000"),
        (*OWN, "--calibrate", BENCH, "--activations", "2 GiB", "--overhead", "1 GiB", "--tpot", "40"),
    ],
)
def test_whatever_is_given_the_grid_runs_without_a_warning(invoke, options):
    assert invoke("init", *options)[0] == 0
    code, out, err = invoke("run", "grid.toml", "-q")
    assert (code, err) == (0, "")
    assert "share=" in out


def test_every_figure_says_where_it_came_from(invoke):
    """Each line of a table has a comment beside it or right above it; the classes' are those of `sweep traffic`."""
    weights = ("--weights", "15 GB", "--activations", "2 GiB", "--name", "all of it")
    _, text, _ = invoke("init", *OWN, *weights, "--ttft", "1.5s", "-o", "-")
    own, _, axes = text.partition("[axes]")
    for block in [*own.partition("# Traffic of")[0].split("\n\n"), axes]:
        lines = block.split("\n")
        values = [at for at, line in enumerate(lines) if " = " in line and not line.startswith("#")]
        bare = [lines[at] for at in values if "#" not in lines[at] and not lines[at - 1].startswith("#")]
        known = ("name = ", "scheduler_id", "max_consecutive", "source = ")
        assert [line for line in bare if not line.startswith(known)] == []
    for said in (
        "weight_bytes = 15_000_000_000           # --weights",
        "kv_heads = 8                            # config: num_key_value_heads",
        "memory_bytes = 85_520_809_984           # catalogue, NVIDIA H100 80GB HBM3 (SXM): nvidia-smi memory.total",
        "activation_bytes = 2_147_483_648        # --activations",
        "max_ttft_ms = 1_500                     # time to first token: --ttft 1.5s",
        "max_tpot_ms = 50                        # time per output token: default; yours with --tpot",
        "# An ESTIMATE: a step reads 15 000 000 000 bytes of weights at 3 350 GB/s of memory bandwidth.",
        "# Arrivals: the busiest minute, 65 in 60 s,",
        "* step time: an ESTIMATE from data sheets; measure it and give the files with --calibrate.",
    ):
        assert said in text
    assert 'name = "all of it"' in text


def test_the_estimate_is_the_arithmetic_that_it_says(invoke):
    """By hand, exactly: weights and cache over 3.35 TB/s, two operations per parameter over half of 989.4 TFLOP/s."""
    _, text, _ = invoke(
        "init", "--gpu", "h100", "--model", LLAMA, "--rate", "1", "--prompt", "900", "--output", "100", "-o-"
    )
    found = tables(text)["step_time"]
    weights, parameters = 16_060_522_496, 8_030_261_248
    assert found["base_ns"] == -(-weights * 10**9 // (3_350 * 10**9))
    assert found["per_sequence_ns"] == -(-131_072 * 1_000 * 10**9 // (3_350 * 10**9))
    assert found["per_prefill_token_ns"] == -(-2 * parameters * 10**9 // (98_940 * 10**10 // 2))
    assert "ESTIMATE" in found["source"]
    _, text, _ = invoke("init", "--gpu", "h100", "--model", LLAMA, "--active-parameters", "10", "-o", "-")
    assert tables(text)["step_time"]["per_prefill_token_ns"] == 1
    assert "2 FLOP for each of 10 parameters (--active-parameters)" in text


def test_measured_files_give_step_time_range_and_axes(invoke):
    _, text, _ = invoke("init", *OWN, "--calibrate", BENCH, "-o", "-")
    found = tables(text)
    assert found["step_time"]["measured_chunk_tokens"] == [0, 865]
    assert found["axes"]["max_prefill_chunk_tokens"] == [128, 256, 512]
    assert found["axes"]["max_active_sequences"]["stop"] <= 117
    assert "ESTIMATE" not in text
    assert "# Assumed: bench.jsonl #1:" in text  # the name without its folder
    assert str(GRIDS) not in text


def test_a_log_with_another_pool_than_the_memory_gives_is_said(invoke, tmp_path):
    (tmp_path / "steps.csv").write_text("batch,chunk,step_ms\n1,0,16\n2,0,17\n8,0,23\n0,900,25\n")
    (tmp_path / "start.log").write_text("INFO kv_cache_utils.py: GPU KV cache size: 400,000 tokens\n")
    given = (*OWN, "--calibrate", "steps.csv", "--calibrate", "start.log")
    out = " ".join(invoke("init", *given)[1].split())
    assert "had a KV pool of 400 000 tokens and this memory gives 464 692, which is 8 479 309 824 bytes of a GPU" in out
    (tmp_path / "start.log").write_text("INFO kv_cache_utils.py: GPU KV cache size: 464,688 tokens\n")
    assert "had a KV pool" not in " ".join(invoke("init", *given, "--force")[1].split())


def test_the_name_is_the_models_and_its_gpus(invoke, tmp_path):
    weights = ("--weights", "5 GB", "--gpu", "h100", "-o", "-")
    for file, name in (
        ("config.json", "llama on one h100-sxm"),
        ("Some-8B.config.json", "Some-8B on one h100-sxm"),
        ("myconfig.json", "myconfig on one h100-sxm"),
        ("plain", "plain on one h100-sxm"),
    ):
        (tmp_path / file).write_text(json.dumps(SMALL), encoding="utf-8")
        assert sweep.parse_grid(invoke("init", "--model", file, *weights)[1]).name == name
    both = ("--memory", "24 GB", "--tensor-parallel", "2", "--calibrate", BENCH, "-o", "-")
    assert sweep.parse_grid(invoke("init", *both)[1]).name == "llama-3.1-8b on 2 × GPU"


def test_traffic_of_any_csv_with_its_columns_and_unit(invoke, tmp_path):
    (tmp_path / "plain.csv").write_text("at,in,out\n0,900,20\n250,40,300\n1500,35,280\n61000,850,25\n")
    given = ("--traffic", "plain.csv", "--columns", "time=at,prompt=in,output=out")
    assert "add --unit" in invoke("init", *given)[2]
    code, text, _ = invoke("init", *given, "--unit", "ms", "--classes", "1", "--level", "mean", "-o", "-")
    assert code == 0
    assert [one["arrival_millirps"] for one in tables(text)["class"]] == [66]


def test_printed_alone_with_what_is_not_ones_own_on_stderr(invoke, tmp_path):
    code, text, err = invoke("init", "--gpu", "h200", "-o", "-")
    assert code == 0
    assert sweep.parse_grid(text).name == "llama-3.1-8b on one h200-sxm"
    assert "sweep: warning: not your own yet: model: the example's" in err
    assert list(tmp_path.iterdir()) == []


def test_json_has_keys_that_stay(invoke):
    code, out, err = invoke("init", *OWN, "--json", "--name", "n")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert list(found) == [
        *("file", "name", "cells", "axes", "classes", "from", "step_time_estimated", "not_your_own", "notes", "claim")
    ]
    assert (found["file"], found["name"], found["classes"], found["claim"]) == ("grid.toml", "n", 4, CLAIM)
    assert found["cells"] == sweep.load_grid("grid.toml").cells
    assert found["step_time_estimated"] is True
    assert list(found["from"]) == ["memory", "traffic", "step_time", "slo", "axes"]
    assert found["axes"]["max_prefill_chunk_tokens"] == {"values": 4, "first": 128, "last": 1_024}


def test_options_shared_with_memory_have_its_types():
    theirs = {param.name: param for param in memory_command.params}
    from sweep.cli.init import init
    from sweep.cli.init_memory import SHARED

    for param in init.params:
        if param.name in SHARED and param.name != "engine":
            assert param.type.to_info_dict() == theirs[param.name].type.to_info_dict(), param.name
    assert set(SHARED) <= set(theirs)


def test_help_fits_and_shows_the_way(invoke):
    code, out, _ = invoke("init", "--help")
    assert code == 0
    assert max(map(len, out.split("\n"))) <= 80
    assert "sweep init --gpu h100 --model config.json --traffic trace.csv\n" in out


WRONG = [
    # (exit code, what the sentence says, options)
    (2, "--traffic and --rate: both given", ("--traffic", TRACE, "--rate", "1")),
    (2, "--prompt, --output: missing, wanted beside --rate", ("--rate", "1")),
    (2, "--level: goes with --traffic", ("--level", "mean")),
    (2, "--chunk-tokens: goes with --calibrate", ("--chunk-tokens", "5")),
    (2, "--active-parameters: goes into an estimate", (*OWN, "--calibrate", BENCH, "--active-parameters", "5")),
    (2, "--weights: goes with --model", ("--weights", "5 GB")),
    (2, '--rate: got "x", wanted requests per second', ("--rate", "x", *STATED[2:])),
    (2, "1/1000 requests per second, round it", ("--rate", "0.0001", *STATED[2:])),
    (2, "wanted 0.001 to", ("--rate", "0", *STATED[2:])),
    (2, "wanted 0.001 to", ("--rate", "9" * 18, *STATED[2:])),
    (2, "wanted requests per second", ("--rate", "nan", *STATED[2:])),
    (2, '--ttft: got "5 GB", wanted ms', ("--ttft", "5 GB")),
    (2, "--tpot: got 0 ms, wanted 1 to", ("--tpot", "0")),
    (2, "no whole number of ms", ("--tpot", "1us")),
    (2, "is no number of output tokens; the file is named with -o", ("--output", "grid.toml")),
    (2, "unexpected extra argument", ("mine.toml",)),
    (2, 'GPU "h9": wanted one of', ("--gpu", "h9")),
    (2, "the catalogue has no peak of it", ("--gpu", "a10g")),
    (2, "without a GPU of the catalogue no step time is estimated", ("--memory", "24 GB")),
    (2, "--utilization: got", ("--utilization", "2")),
    (2, "--weights or --parameters: both given", ("--model", LLAMA, "--weights", "1", "--parameters", "1")),
    (2, "--weights or --parameters: missing", ("--model", "small.json")),
    (2, "the model: got 2 descriptions", ("--model", LLAMA, "--layers", "3", "--weights", "1")),
    (2, "--kv-heads, --head-dim: missing", ("--layers", "3", "--dtype", "bf16", "--weights", "1")),
    (2, "-o - and --json", ("-o", "-", "--json")),
    (2, "--name: got", ("--name", "two\nlines")),
    (2, "--name: got", ("--name", "x" * 201)),
    (2, "no valid Unicode", ("--name", "\udcff")),
    (2, "is what the output is made from", ("--model", "small.json", "-o", "small.json", "--force")),
    (2, "level mean: all requests came at one instant", ("--traffic", "one.csv", "--level", "mean")),
    (3, "states no dtype, and the width of the cache is not guessed; give --dtype", ("--model", "none.json")),
    (3, "there is no such file", ("--traffic", "nothing")),
    (3, "is a folder", ("--model", ".")),
    (3, "is a folder", ("--traffic", ".")),
    (3, "is a folder", ("--calibrate", ".")),
    (3, "is a folder", ("--model", LLAMA, "--weights", "folder.json")),
    (3, "is not JSON", ("--model", "cut.json")),
    (3, "is a model config, which is not read", ("--calibrate", LLAMA)),
    (3, "is a request trace (Azure)", ("--calibrate", TRACE)),
    (3, "first line is", ("--traffic", LLAMA)),
    (3, "do not fit, short by", ("--gpu", "l4", "--model", "small.json", "--weights", "30 GB")),
    (3, "grid: a grid counts every token in every layer", ("--model", "window.json", "--weights", "1 GB")),
    (3, "grid: a grid has no fixed cost per request", ("--model", "state.json", "--weights", "1 GB")),
    (3, "give --layers, --kv-heads and --head-dim", ("--model", "odd.json", "--weights", "1 GB")),
    (2, "grid: the share is no whole number of per mille", ("--utilization", "0.90001")),
    (2, "state it with --calibrate-unit", ("--calibrate", "steps.csv")),
    (3, "or leave --calibrate out for an estimate", ("--calibrate", "few.csv")),
    (4, "is a folder or a device", ("-o", ".")),
    (4, "is a folder or a device", ("-o", "/dev/null", "--force")),
    (4, "cannot be written", ("-o", "none/grid.toml")),
    (4, "cannot be written", ("-o", "n" * 300)),
]


@pytest.fixture
def wrong_files(tmp_path):
    window = SMALL | {"model_type": "mistral", "sliding_window": 4_096}
    state = SMALL | {"layer_types": ["linear_attention", "full_attention"] * 8, "model_type": "qwen3_next"}
    state |= {"linear_conv_kernel_dim": 4, "linear_num_key_heads": 16, "linear_num_value_heads": 32}
    state |= {"linear_key_head_dim": 128, "linear_value_head_dim": 128, "mamba_ssm_dtype": "float32"}
    files = {
        "small.json": json.dumps(SMALL),
        "none.json": json.dumps({key: value for key, value in SMALL.items() if key != "torch_dtype"}),
        "window.json": json.dumps(window),
        "state.json": json.dumps(state),
        "odd.json": json.dumps(SMALL | {"index_topk": 5}),
        "cut.json": json.dumps(SMALL)[:30],
        "one.csv": "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03,5,5\n",
        "steps.csv": "batch,chunk,step\n1,0,16\n2,0,17\n0,100,25\n",
        "few.csv": "batch,chunk,step_ms\n1,0,16\n1,0,16\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "folder.json").mkdir()


@pytest.mark.usefixtures("wrong_files")
@pytest.mark.parametrize(("code", "why", "options"), WRONG)
def test_each_wrong_question_is_a_sentence(invoke, code, why, options):
    assert any(why in line for line in refused(invoke, code, *options))


@pytest.mark.usefixtures("wrong_files")
def test_all_faults_of_all_parts_come_at_once(invoke):
    usage = ("--ttft", "x", "--rate", "1", "--columns", "c", "--chunk-tokens", "3")
    assert len(refused(invoke, 2, *usage)) == 4
    lines = refused(invoke, 3, *usage, "--model", "none.json", "--gpu", "h9", "--calibrate", "nothing")
    assert [
        part for part in ("h9", "dtype", "--ttft", "--prompt", "--columns", "nothing") if part in "".join(lines)
    ] == [*("h9", "dtype", "--ttft", "--prompt", "--columns", "nothing")]


@pytest.mark.usefixtures("wrong_files")
def test_a_window_that_never_binds_is_no_window(invoke):
    code, out, _ = invoke("init", "--model", "window.json", "--weights", "1 GB", "--max-sequence", "4000", "-o", "-")
    assert code == 0
    assert tables(out)["model"]["layers"] == 16


@pytest.mark.usefixtures("wrong_files")
def test_traffic_that_the_model_does_not_take_is_said(invoke):
    model = ("--model", "small.json", "--weights", "1 GB", "--max-sequence", "4180")
    assert "has 4 180 tokens and the traffic has requests of 4 181" in " ".join(
        invoke("init", *model, "--traffic", TRACE)[1].split()
    )


@pytest.mark.usefixtures("wrong_files")
def test_a_class_that_is_longer_than_the_longest_sequence_is_refused(invoke, tmp_path):
    def small(*options, prompt="8000"):
        return (
            "--model",
            "small.json",
            "--weights",
            "1 GB",
            "--rate",
            "1",
            "--prompt",
            prompt,
            "--output",
            "250",
            *options,
        )

    (tmp_path / "small.json").write_text(json.dumps(SMALL | {"max_position_embeddings": 2_048}), encoding="utf-8")
    said = "requests of 8 250 tokens, prompt and output, and the longest sequence has"
    (line,) = refused(invoke, 2, *small())
    assert line.startswith(f"sweep: --prompt and --output: a class has {said} 2 048 tokens; lower them, or give")
    (line,) = refused(invoke, 2, *small("--max-sequence", "8249"))
    assert f"{said} 8 249 tokens" in line
    assert invoke("init", *small("--max-sequence", "8250"), "-o", "long.toml")[0] == 0
    assert invoke("init", *small(prompt="1798"), "-o", "short.toml")[0] == 0
    (line,) = refused(invoke, 2, *small()[:4], "--traffic", TRACE, "--max-sequence", "1000")
    assert "--traffic: a class has requests of" in line
    lines = refused(invoke, 2, *small("--ttft", "x", "--name", "\n", "--utilization", "7"))
    for part in (said, "--ttft", "--name", "--utilization"):
        assert [part in line for line in lines].count(True) == 1


@pytest.mark.usefixtures("wrong_files")
def test_a_window_is_not_got_around_by_a_longest_sequence_below_the_traffic(invoke):
    model = ("--model", "window.json", "--weights", "1 GB", "--rate", "1", "--prompt", "8000", "--output", "250")
    lines = refused(invoke, 3, *model, "--max-sequence", "4000")

    assert any("and the longest sequence has 4 000 tokens" in line for line in lines)
    assert any("layers with a window stop growing" in line for line in lines)
    assert len(lines) == 2
    assert len(refused(invoke, 3, *model, "--max-sequence", "8250")) == 1


@pytest.mark.usefixtures("wrong_files")
def test_options_are_said_before_a_file_that_is_there(invoke, tmp_path):
    (tmp_path / "there.toml").write_text("mine")
    there = ("-o", "there.toml")

    lines = refused(invoke, 2, *there, "--utilization", "0.9215", "--ttft", "x", "--traffic", TRACE)
    assert [part in line for part, line in zip(("per mille", "--ttft"), lines, strict=True)] == [True, True]
    assert "exists already" in refused(invoke, 4, *there, "--traffic", TRACE)[0]
    assert (tmp_path / "there.toml").read_text() == "mine"


def test_quantized_weights_ask_for_their_width_and_for_the_parameters(invoke, tmp_path):
    scheme = {"quantization_config": {"quant_method": "fp8"}}
    (tmp_path / "fp8.json").write_text(json.dumps(SMALL | scheme), encoding="utf-8")
    model = ("--model", "fp8.json", "--gpu", "h100")

    (line,) = refused(invoke, 2, *model, "--parameters", "1000000000")
    assert "the config has a quantization_config (fp8)" in line
    assert "--active-parameters: missing" in refused(invoke, 2, *model, "--weights", "1 GB")[0]
    out = invoke("init", *model, "--parameters", "1000000000", "--weight-dtype", "fp8", "-o", "-")[1]
    assert tables(out)["model"]["weight_bytes"] == 10**9
    assert "The config has a quantization_config (fp8)" in out


NAMES = ['quote"back\\slash', "new\nline", "tab\tand \x1b[31mred", "#comment", "名前", "\u202eleft", "[table]", "'''"]


@pytest.mark.parametrize("name", NAMES)
def test_hostile_names_stay_in_comments_and_strings(invoke, tmp_path, name):
    (tmp_path / f"{name}.config.json").write_text(json.dumps(SMALL), encoding="utf-8")
    (tmp_path / f"{name}.csv").write_bytes(TRACE.read_bytes())
    (tmp_path / f"{name}.jsonl").write_bytes(BENCH.read_bytes())
    (tmp_path / f"{name}.index.json").write_text('{"metadata": {"total_size": 2000000000}}')
    files = ("--model", f"{name}.config.json", "--weights", f"{name}.index.json")
    given = (*files, "--traffic", f"{name}.csv", "--calibrate", f"{name}.jsonl", "-o", f"{name}.toml")
    code, out, err = invoke("init", *given)
    assert (code, err) == (0, "")
    text = (tmp_path / f"{name}.toml").read_text(encoding="utf-8")
    grid = sweep.parse_grid(text)
    assert grid.base["model.weight_bytes"] == 2_000_000_000
    assert list(tables(text)) == ["sweep", "contract", "scheduler", "step_time", "model", "gpu", "class", "axes"]
    assert "\x1b" not in text + out
    assert not any(char for char in text.replace("\n", "") if not char.isprintable())


@pytest.mark.skipif(os.name != "posix", reason="names of bytes")
def test_a_name_that_is_no_text_is_escaped(process, tmp_path):
    (tmp_path / os.fsdecode(b"\xff.csv")).write_bytes(TRACE.read_bytes())
    done = process("init", "--traffic", os.fsdecode(b"\xff.csv"), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "# Traffic of \\udcff.csv" in (tmp_path / "grid.toml").read_text(encoding="utf-8")


def test_a_folder_that_takes_no_file_leaves_nothing_behind(process, tmp_path):
    (tmp_path / "file").write_text("")
    done = process("init", "-o", "file/grid.toml", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (4, "")
    assert len(done.stderr.splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@st.composite
def models(draw):
    """A config of one kind of layer: grouped heads, or a latent of any rank."""
    heads = draw(st.sampled_from([8, 16, 24]))
    config = {
        "model_type": draw(st.sampled_from(["llama", "deepseek_v3", "other"])),
        "num_hidden_layers": draw(st.integers(1, 80)),
        "num_attention_heads": heads,
        "num_key_value_heads": draw(st.sampled_from([1, 2, 4, 8])),
        "hidden_size": heads * draw(st.sampled_from([32, 64])),
        "intermediate_size": draw(st.integers(1, 20_000)),
        "vocab_size": draw(st.integers(1, 200_000)),
        "max_position_embeddings": draw(st.integers(4_000, 200_000)),
    }
    if config["model_type"] == "deepseek_v3":
        config |= {"kv_lora_rank": draw(st.integers(1, 600)), "qk_rope_head_dim": draw(st.integers(1, 64))}
    options = []
    if draw(st.booleans()):
        config["torch_dtype"] = draw(st.sampled_from(["bfloat16", "float16", "float32"]))
    else:
        options += ["--dtype", draw(st.sampled_from(["bf16", "fp16"]))]
    if config["model_type"] != "llama" or draw(st.booleans()):
        ways = (("--weights", st.integers(0, 40 * 10**9)), ("--parameters", st.integers(0, 10**10)))
        name, amount = draw(st.sampled_from(ways))
        options += [name, str(draw(amount))]
    return config, options


@st.composite
def replicas(draw):
    """Options of `sweep memory`."""
    config, options = draw(models())
    options += ["--gpu", draw(st.sampled_from(["h100", "l4", "a100-40gb", "mi300x", "b200", "rtx 4090"]))]
    options += ["--utilization", draw(st.sampled_from(["0.9", "85 %", "925‰", "1/2"]))]
    more = {
        "--tensor-parallel": st.sampled_from(["1", "2", "3", "8"]),
        "--kv-dtype": st.sampled_from(["fp8", "int4", "mxfp4", "q8_0:q4_0", "int8+4", "3"]),
        "--activations": st.sampled_from(["0", "2 GiB", "~1.55 GiB", "123456789"]),
        "--overhead": st.sampled_from(["1 GiB", "77"]),
        "--reserved": st.just("5 MB"),
        "--block-tokens": st.sampled_from(["1", "16", "64"]),
        "--engine": st.sampled_from(["vllm", "sglang", "tensorrt-llm"]),
        "--memory": st.sampled_from(["24 GB", "79.1 GiB", "~93.58 GiB"]),
    }
    for name, values in more.items():
        if draw(st.booleans()):
            options += [name, draw(values)]
    return config, options


COUNTS, LEVELS = st.integers(1, 9), st.sampled_from(["mean", "minute", "ten-seconds", "second"])


@given(replicas(), st.none() | st.tuples(COUNTS, LEVELS), st.booleans(), st.integers(1, 5_000), st.integers(1, 500))
def test_a_grid_says_what_memory_traffic_and_calibrate_say(tmp_path_factory, replica, trace, measured, ttft, tpot):
    config, options = replica
    model = tmp_path_factory.getbasetemp() / "drawn.json"
    model.write_text(json.dumps(config), encoding="utf-8")

    def ask(*args):
        done = CliRunner().invoke(program, [str(arg) for arg in args], catch_exceptions=False)
        return done.exit_code, done.stdout, done.stderr

    replica_options = ["--model", model, *options]
    given_too = ["--classes", str(trace[0]), "--level", trace[1]] if trace else []
    traffic = ["--traffic", TRACE, *given_too] if trace else STATED
    steps = ["--calibrate", BENCH] if measured else []
    slo = ["--ttft", str(ttft), "--tpot", f"{tpot}ms"]
    code, text, err = ask("init", *replica_options, *traffic, *steps, *slo, "-o", "-")
    same, theirs, why = ask("memory", *replica_options, "--toml")
    event(f"exit code {code}")
    assert (code == 0) == (same == 0), err + why
    if code:
        assert code == same
        return
    grid, found = sweep.parse_grid(text), tables(text)
    assert grid.cells <= MOST_CELLS
    assert beyond_measured(grid) == []
    assert (grid.base["contract.max_ttft_ms"], grid.base["contract.max_tpot_ms"]) == (ttft, tpot)
    memory = tables(theirs)
    assert (found["model"], found["gpu"]) == (memory["model"], memory["gpu"])
    if trace:
        assert found["class"] == tables(ask("traffic", TRACE, *given_too, "--toml")[1])["class"]
    if measured:
        step_time = tables(ask("calibrate", BENCH, "--toml")[1])["step_time"]
        assert found["step_time"] == step_time | {"capacity": "from-step-time"}
    ledger = json.loads(ask("memory", *replica_options, "--json")[1])
    if "--engine" not in options and ledger["kv_pool_bytes"]:
        assert sweep.explain_grid(grid).bound("max_kv_bytes") == ledger["kv_pool_bytes"]
