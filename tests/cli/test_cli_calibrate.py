"""`sweep calibrate`: pages, JSON, the table for a grid, and warnings of `sweep run` beyond the measured range."""

import json
import tomllib

import pytest

RUN = {
    "duration": 100.0,
    "completed": 100,
    "failed": 0,
    "num_prompts": 100,
    "request_rate": "inf",
    "max_concurrency": 8,
    "total_input_tokens": 10_000,
    "total_output_tokens": 40_100,
    "mean_ttft_ms": 40.0,
    "mean_itl_ms": 19.5,
}
STEPS = "batch,chunk,step_ms\n1,0,16\n2,0,17\n8,0,23\n0,100,25\n"


@pytest.fixture
def steps(tmp_path):
    path = tmp_path / "steps.csv"
    path.write_text(STEPS)
    return path


def lines(text):
    return text.rstrip("\n").split("\n")


def test_a_page_fits_eighty_columns_and_carries_the_claim(invoke, tmp_path, steps):
    (tmp_path / "bench.json").write_text(json.dumps(RUN | {"failed": 2}))
    code, out, err = invoke("calibrate", "steps.csv", "bench.json", "--classes", "2")
    assert (code, err) == (0, "")
    assert max(map(len, lines(out))) <= 80
    assert "Doubtful" in out
    assert "2 of 102 requests failed" in out.replace("\n", " ")
    assert "base_ns" in out
    assert "Not learnt" in out
    assert out.endswith("It is not a queueing analysis and not a device benchmark.\n")


def test_json_is_one_document_with_every_point(invoke, steps):
    code, out, err = invoke("calibrate", steps, "--json")
    assert (code, err) == (0, "")
    answer = json.loads(out)
    assert answer["step_time"]["base_ns"] == 15_000_000
    assert [point["residual_ns"] for point in answer["step_time"]["points"]] == [0, 0, 0, 0]
    assert answer["claim"] == "LOCAL_FLUID_CAPACITY_MODEL_NOT_QUEUEING_OR_DEVICE_BENCHMARK"


def test_the_table_alone_and_as_a_file(invoke, tmp_path, steps):
    code, out, err = invoke("calibrate", steps, "--toml")
    assert (code, err) == (0, "")
    table = tomllib.loads(out)["step_time"]
    assert table["measured_slots"] == [0, 8]
    assert table["measured_chunk_tokens"] == [0, 100]
    assert invoke("calibrate", steps, "-o", "out.toml", "--toml")[0] == 0
    assert (tmp_path / "out.toml").read_text() == out


def test_a_file_that_is_there_is_kept(invoke, tmp_path, steps):
    (tmp_path / "out.toml").write_text("mine")
    code, out, err = invoke("calibrate", steps, "-o", "out.toml")
    assert (code, out) == (4, "")
    assert "exists already; give --force to replace it" in err
    assert (tmp_path / "out.toml").read_text() == "mine"
    assert invoke("calibrate", steps, "-o", "out.toml", "--force")[0] == 0
    assert "[step_time]" in (tmp_path / "out.toml").read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.toml", "steps.csv"]


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (["-o", "steps.csv", "--force"], 2, "is what the output is made from"),
        (["-o", "."], 4, "is a folder or a device"),
        (["-o", "none/out.toml"], 4, "cannot be written"),
        (["--toml", "--json"], 2, "--toml and --json"),
        (["--unit", "h"], 2, "'h' is not one of"),
        (["--classes", "0"], 2, "--classes"),
        (["steps.csv"], 2, "given 2 times"),
        (["nothing.json"], 3, "there is no such file"),
    ],
)
def test_wrong_options_and_targets(invoke, steps, args, code, words):
    found, out, err = invoke("calibrate", "steps.csv", *args)
    assert (found, out) == (code, "")
    assert words in err
    assert len(lines(err)) == 1


def test_no_table_where_nothing_is_learnt(invoke, tmp_path):
    (tmp_path / "bench.json").write_text(json.dumps(RUN))
    code, out, err = invoke("calibrate", "bench.json", "--toml")
    assert (code, out) == (3, "")
    assert "no coefficient of the step time" in lines(err)[0]
    assert "all points have the same batch and prefill" in err


def test_one_mix_of_lengths_says_the_sum_and_takes_a_stated_prefill(invoke, tmp_path):
    """Batches 8 and 16 with 40 ms of TTFT: 1 + 7/8 · 7.8 and 1 + 15/16 · 15.6 sequences."""
    more = RUN | {"max_concurrency": 16, "mean_itl_ms": 24.96, "duration": 64.0}
    (tmp_path / "two.jsonl").write_text(json.dumps(RUN) + "\n" + json.dumps(more) + "\n")
    code, out, _ = invoke("calibrate", "two.jsonl")
    assert code == 0
    flat = " ".join(out.split())
    assert "At their mix of lengths, prompts included:" in flat
    assert "or state what a prefill token takes with --per-prefill-token-ns" in flat
    answer = json.loads(invoke("calibrate", "two.jsonl", "--json")[1])
    assert answer["step_time"]["base_ns"] is None
    assert answer["step_time"]["at_this_mix"]["per_sequence_ns"] > 0
    code, out, _ = invoke("calibrate", "two.jsonl", "--toml", "--per-prefill-token-ns", "30000")
    assert code == 0
    assert "per_prefill_token_ns was stated, not measured" in out
    assert tomllib.loads(out)["step_time"]["measured_chunk_tokens"] == [1, 4]


def test_what_is_doubtful_goes_to_stderr_beside_a_table(invoke, tmp_path, steps):
    (tmp_path / "bench.json").write_text(json.dumps(RUN | {"failed": 2}))
    code, out, err = invoke("calibrate", "steps.csv", "bench.json", "--toml")
    assert code == 0
    assert out.startswith("# Fitted by `sweep calibrate` to 5 points of\n#   steps.csv: table of step times")
    assert err.startswith("sweep: warning: bench.json: 2 of 102 requests failed")


def test_a_run_warns_once_per_axis_that_leaves_the_measured_range(invoke, tiny, steps):
    """Once per axis, on stderr, in `run` and in questions to a grid; the answer stays."""
    text = tiny.read_text().replace("iteration_time_ms = 20\n", "")
    tiny.write_text(text + invoke("calibrate", steps, "--toml")[1])
    code, _, err = invoke("run", tiny, "-q")
    assert code == 0
    axes = [line.partition(" reaches")[0].rpartition(" ")[2] for line in lines(err)]
    assert sorted(axes) == ["max_active_sequences", "max_prefill_chunk_tokens"]
    assert "outside the 0 to 8 batch slots in which [step_time] was measured" in err
    assert invoke("best", tiny)[2] == err
    quiet = invoke("run", tiny, "-q", "--force", "--axis", "slots=[4, 8]", "--set", "max_prefill_chunk_tokens=100")
    assert quiet[2] == ""


def test_the_formats_that_are_read_stand_in_the_help(invoke):
    code, out, _ = invoke("calibrate", "--help")
    assert code == 0
    assert max(map(len, lines(out))) <= 80
    for word in ("vLLM bench serve", "GuideLLM", "AIPerf", "SGLang", "Prometheus", "start-up log", "CSV of step times"):
        assert word in out


def test_a_table_that_cannot_be_written_says_only_what_it_lacks(invoke, tmp_path):
    (tmp_path / "one.csv").write_text("batch,chunk,step_ms\n8,0,23\n")
    code, out, err = invoke("calibrate", "one.csv", "--toml")
    assert (code, out) == (3, "")
    assert "all points have the same batch and prefill" in err
    assert not any(word in err for word in ("token capacity", "KV pool", "request classes"))
