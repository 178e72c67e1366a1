"""`sweep fleet`, `sweep autoscale`, `sweep cost`: pages of 80 columns, files that the next one reads, exit codes."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DAY = "time_h,rps\n0,4\n6,9.5\n12,30\n18,12\n24,\n"
TRACE = "at,in,out\n0,900,20\n0.25,40,300\n1.5,35,280\n9,0,0\n61,850,25\n"
COLUMNS = ("--columns", "time=at,prompt=in,output=out", "--unit", "s")
COLD = ("--load", "90 s")


@pytest.fixture
def day(tmp_path):
    (tmp_path / "day.csv").write_text(DAY)
    return "day.csv"


@pytest.fixture
def trace(tmp_path):
    (tmp_path / "trace.csv").write_text(TRACE)
    return "trace.csv"


def test_the_fleet_page(invoke, tiny):
    """21 req/s are 126 sequences, 6 per req/s: 42 on each of three replicas of 48 slots, and 63 on each of two."""
    code, out, err = invoke("fleet", tiny, "--rps", 21, "--price", "2.5", "--spare")
    assert (code, err) == (0, "")
    assert max(map(len, out.splitlines())) <= 80
    flat = " ".join(out.split())
    assert out.startswith("Fleet for 21 req/s: 4 replicas of tiny\n")
    assert "3 replicas to carry it and 1 to spare, 1 GPU each: 4 GPUs, 2.5 per GPU-hour, 10 per hour" in flat
    assert "2 replicas carry at most" in flat
    assert "and fail: active-sequence-capacity" in flat
    assert "not a device benchmark" in flat


def test_choices_of_an_axis_and_of_files(invoke, tiny):
    code, out, _ = invoke(
        "fleet", tiny, "--rps", 21, "--by", "precision", "--price", "bf16 [bold]=3", "--price", "fp8=2"
    )
    assert code == 0
    assert out.startswith("Fleet for 21 req/s: 3 replicas of fp8\n")
    assert "+50.0 %" in out
    code, out, _ = invoke(
        "fleet", f"one={tiny}", f"two={tiny}", "--rps", 21, "--price", "one=3", "--price", "b=1", "--gpu", "two=b"
    )
    assert code == 0
    assert "3 replicas of two" in out


def test_fleet_as_json_has_keys_that_stay(invoke, tiny, day):
    code, out, _ = invoke("fleet", tiny, "--curve", day, "--price", "2.5", "--json")
    answer = json.loads(out)
    assert code == 0
    assert list(answer) == ["sweep_file", "version", "traffic", "cheapest", "fleets", "serving", "day", "claim"]
    (fleet,) = answer["fleets"]
    assert (fleet["replicas"], fleet["gpus"], fleet["cost_per_hour"]) == (4, 4, "10")
    assert fleet["report"]["violations"] == []
    assert fleet["one_fewer"]["replicas"] == 3
    assert fleet["one_fewer"]["violations"] == ["active-sequence-capacity"]
    assert [step["replicas"] for step in answer["day"]["replicas"]] == [1, 2, 4, 2]
    assert Fraction(answer["day"]["least_gpu_hours"]) == 6 * 9
    assert Fraction(answer["serving"]["replica_rps"]) == 8


def test_a_trace_sizes_by_its_busiest_bin_and_shows_the_mean(invoke, tiny, trace):
    code, out, _ = invoke("fleet", tiny, "--traffic", trace, *COLUMNS, "--level", "second")
    assert code == 0
    flat = " ".join(out.split())
    assert "Traffic: 2 req/s, the busiest second, 2 in 1 s, of trace.csv; the mean is 0.066 req/s" in flat
    assert "whose mean request has 1000.0 prompt and 200.0 output tokens; that of the trace has 456.2 and 156.2" in flat


def test_a_trace_of_longer_requests_than_the_grid_s_is_said_to_be_one(invoke, tiny, tmp_path):
    (tmp_path / "long.csv").write_text("at,in,out\n0,9000,20\n1,9000,300\n")
    for command in (("fleet",), ("cost", "--price", "1")):
        code, out, _ = invoke(command[0], tiny, "--traffic", "long.csv", *COLUMNS, *command[1:])
        assert code == 0
        assert "longer than those that capacity was judged for" in " ".join(out.split())


def test_nothing_carries_it(invoke, tiny):
    code, out, _ = invoke("fleet", tiny, "--rps", 21, "--slo", "max_ttft_ms=50")
    assert code == 0
    assert "No fleet for 21 req/s" in out
    assert "max_ttft_ms = 50" in out
    assert invoke("fleet", tiny, "--rps", 21, "--slo", "max_ttft_ms=50", "--require")[0] == 1


def test_fleet_autoscale_and_cost_read_each_other(invoke, tiny, day, tmp_path):
    assert invoke("fleet", tiny, "--curve", day, "--price", "2.5", "-o", "fleet.json")[0] == 0
    code, out, _ = invoke("autoscale", "fleet.json", "--curve", day, *COLD, "-o", "auto.json")
    assert code == 0
    assert max(map(len, out.splitlines())) <= 80
    assert "The SLO is kept all the time." in out
    auto = json.loads((tmp_path / "auto.json").read_text())
    assert auto["serving"]["price_per_gpu_hour"] == "2.5"
    assert auto["cold_start"]["total_ns"] == 90 * 10**9
    assert auto["chosen"]["timeline"][0] == {"at_ns": 0, "serving": 2, "starting": 0, "queue": "0"}
    reserved = Fraction(auto["chosen"]["gpu_hours"])
    code, out, _ = invoke("cost", "auto.json", "--hosted-prompt", "1", "--hosted-output", "4", "--json")
    cost = json.loads(out)
    assert code == 0
    assert Fraction(cost["gpus"]) == reserved / 24
    assert Fraction(cost["mean_rps"]) == Fraction("13.875")
    assert Fraction(cost["utilization"]) == Fraction("13.875") / (8 * reserved / 24)
    code, out, _ = invoke("cost", "fleet.json", "--curve", day, "--json")
    assert (code, json.loads(out)["gpus"], json.loads(out)["recommendation"]) == (0, "4", None)


def test_the_replicas_over_time_as_csv(invoke, tiny, day):
    code, out, _ = invoke("autoscale", tiny, "--curve", day, *COLD, "--threshold", 500, "--csv")
    lines = out.splitlines()
    assert code == 0
    assert lines[:2] == ["time_s,serving,starting,gpus,queue", "0,1,0,1,0"]
    assert all(len(line.split(",")) == 5 for line in lines)


def test_a_reactive_rule_misses_the_slo_and_require_says_so(invoke, tiny, day):
    code, out, _ = invoke("autoscale", tiny, "--curve", day, *COLD)
    assert "Where a reactive rule misses the SLO" in out
    asked = ("autoscale", tiny, "--curve", day, *COLD, "--rule", "reactive", "--max-gpus", 8)
    code, out, err = invoke(*asked, "--require")
    assert code == 1
    assert "The SLO is not kept for" in out
    assert err.startswith("sweep: autoscale: the SLO is not kept")
    assert invoke(*asked)[0] == 0


def test_a_trace_is_binned_for_autoscaling(invoke, tiny, trace):
    code, out, _ = invoke("autoscale", tiny, "--traffic", trace, *COLUMNS, "--bin", "10 s", *COLD)
    assert code == 0
    assert "over 1 min 10 s, from trace.csv" in " ".join(out.split())


def test_the_cost_page(invoke, tiny, day):
    options = (
        "--price",
        "2.5",
        "--hosted-prompt",
        "1",
        "--hosted-output",
        "4",
        "--hosted-cached",
        "0.1",
        "--cached-share",
        "40%",
    )
    code, out, err = invoke("cost", tiny, "--curve", day, *options)
    assert (code, err) == (0, "")
    assert max(map(len, out.splitlines())) <= 80
    flat = " ".join(out.split())
    # 4 replicas of 8 req/s; 13.875 req/s of 1 200 tokens are 59.94 million an hour for 10
    assert flat.startswith("0.1668 per million tokens on tiny Reserved: 4 GPUs")
    assert "the realistic utilisation is 43.4 %" in flat
    assert "Self-hosting is cheaper" in flat
    assert "40.0 % cached at 0.1, the others at 1 per million" in flat
    assert "Break-even:" in flat
    code, out, _ = invoke("cost", tiny, "--curve", day, *options, "--csv")
    assert out.splitlines()[0].startswith("utilization_permille,price_per_gpu_hour")
    assert len(out.splitlines()) == 51


def test_plain_figures_are_compared(invoke):
    code, out, _ = invoke(
        "cost", "--tokens-per-second", 9635, "--utilization", "54%", "--price", "2.33", "--hosted", "6.96"
    )
    assert code == 0
    assert out.startswith("0.1244 per million tokens\n")
    code, out, _ = invoke(
        "cost", "--tokens-per-second", 9635, "--utilization", "0.54", "--price", "2.33", "--hosted", "6.96", "--json"
    )
    assert json.loads(out)["recommendation"] == "self_host"


def test_a_constant_rate_is_said_to_be_none(invoke, tiny):
    _, out, _ = invoke("cost", tiny, "--rps", 5, "--price", "1")
    assert "A constant rate fills a fleet as no real traffic does" in " ".join(out.split())


WRONG = {
    ("fleet",): 2,
    ("fleet", "missing.nc", "--rps", "1"): 4,
    ("fleet", "missing.toml", "--rps", "1"): 3,
    ("fleet", "tiny.toml"): 2,
    ("fleet", "tiny.toml", "--rps", "0"): 2,
    ("fleet", "tiny.toml", "--rps", "nan"): 2,
    ("fleet", "tiny.toml", "--rps", "1", "--curve", "day.csv"): 2,
    ("fleet", "tiny.toml", "--rps", "1", "--level", "mean", "--bin", "1 s"): 2,
    ("fleet", "tiny.toml", "--curve", "none.csv"): 3,
    ("fleet", "tiny.toml", "--curve", "tiny.toml"): 3,
    ("fleet", "tiny.toml", "tiny.toml", "--rps", "1"): 2,
    ("fleet", "a=tiny.toml", "b=tiny.toml", "--rps", "1"): 2,
    ("fleet", "a=tiny.toml", "b=tiny.toml", "--rps", "1", "--price", "a=1"): 2,
    ("fleet", "tiny.toml", "--rps", "1", "--price", "h100=1"): 2,
    ("fleet", "tiny.toml", "--rps", "1", "--price", "x"): 2,
    ("fleet", "tiny.toml", "--rps", "1", "--price-file", "none.csv"): 3,
    ("fleet", "tiny.toml", "--rps", "1", "--at", "traffic=1000"): 2,
    ("fleet", "tiny.toml", "--rps", "1", "--by", "nothing"): 2,
    ("fleet", "tiny.toml", "--rps", "1", "--spare", "-1"): 2,
    ("fleet", "tiny.toml", "--rps", "1", "--imbalance", "much"): 2,
    ("fleet", "tiny.toml", "--rps", "1", "-o", "fleet.txt"): 2,
    ("autoscale", "tiny.toml", "--curve", "day.csv"): 2,
    ("autoscale", "tiny.toml", "--load", "90 s"): 2,
    ("autoscale", "tiny.toml", "--curve", "day.csv", "--load", "90"): 2,
    ("autoscale", "tiny.toml", "--curve", "day.csv", "--load", "soon", "--pull", "-1 s"): 2,
    ("autoscale", "tiny.toml", "--curve", "day.csv", "--load", "1 s", "--threshold", "0"): 2,
    ("autoscale", "tiny.toml", "--curve", "day.csv", "--load", "1 s", "--max-gpus", "0"): 2,
    ("autoscale", "tiny.toml", "--curve", "day.csv", "--load", "1 s", "--hysteresis", "100%"): 2,
    ("autoscale", "tiny.toml", "--curve", "day.csv", "--load", "1 s", "--interval", "1 ms"): 3,
    ("autoscale", "tiny.toml", "--curve", "day.csv", "--load", "1 s", "--json", "--csv"): 2,
    ("autoscale", "tiny.json", "--curve", "day.csv", "--load", "1 s"): 3,
    ("autoscale", "tiny.toml", "--curve", "day.csv", "--load", "1 s", "--slo", "max_ttft_ms=50"): 3,
    ("cost",): 2,
    ("cost", "--tokens-per-second", "1", "--utilization", "2", "--price", "1", "--hosted", "1"): 2,
    ("cost", "--tokens-per-second", "0", "--utilization", "1", "--price", "1", "--hosted", "1"): 2,
    ("cost", "--tokens-per-second", "x", "--utilization", "1", "--price", "1", "--hosted", "1"): 3,
    ("cost", "tiny.toml", "--rps", "1"): 2,
    ("cost", "tiny.toml", "--rps", "1", "--price", "1", "--hosted", "3"): 2,
    ("cost", "tiny.toml", "--rps", "1", "--price", "1", "--hosted-cached", "3"): 2,
    ("cost", "tiny.toml", "--rps", "100", "--price", "1", "--replicas", "2"): 3,
    ("cost", "tiny.toml", "--rps", "1", "--price", "1", "--replicas", "0"): 2,
}


@pytest.mark.parametrize("arguments", WRONG, ids=" ".join)
def test_what_is_wrong_is_one_sentence_each_and_its_kind_s_code(invoke, tiny, day, tmp_path, arguments):
    (tmp_path / "tiny.json").write_text('{"sweep_file": "fleet"}')
    code, out, err = invoke(*arguments)
    assert (code, out) == (WRONG[arguments], "")
    lines = err.splitlines()
    assert lines
    assert all(line.startswith("sweep: ") and len(line) < 400 for line in lines)
    assert all(line.rstrip().endswith((".", "'.")) for line in lines)


@pytest.mark.parametrize(
    "change",
    [
        {"version": 2},
        {"serving": None},
        {"serving": {}},
        {"serving": {"replica_rps": "1/0", "gpus_per_replica": 1, "prompt_tokens": "1", "output_tokens": "1"}},
        {"serving": {"replica_rps": "1", "gpus_per_replica": True, "prompt_tokens": "1e9", "output_tokens": 1}},
    ],
)
def test_a_fleet_s_file_that_was_altered_is_refused(invoke, tiny, day, tmp_path, change):
    document = {"sweep_file": "fleet", "version": 1, **change}
    (tmp_path / "odd.json").write_text(json.dumps(document))
    code, _, err = invoke("autoscale", "odd.json", "--curve", day, *COLD)
    assert code == 3
    assert err.count("\n") >= 1


def test_files_are_not_written_over(invoke, tiny, tmp_path):
    (tmp_path / "fleet.json").write_text("mine")
    assert invoke("fleet", tiny, "--rps", 1, "-o", "fleet.json")[0] == 4
    assert (tmp_path / "fleet.json").read_text() == "mine"
    assert invoke("fleet", tiny, "--rps", 1, "-o", "fleet.json", "--force")[0] == 0


def test_several_missing_files_are_said_together(invoke):
    code, _, err = invoke("fleet", "a.toml", "b.toml", "--rps", 1)
    assert (code, len(err.splitlines())) == (3, 2)


@pytest.mark.parametrize("command", ["fleet", "autoscale", "cost"])
def test_help_has_examples(invoke, command):
    code, out, _ = invoke(command, "--help")
    assert code == 0
    assert f"  Examples:\n    sweep {command}" in out
    assert "--json" in out
    assert max(map(len, out.splitlines())) <= 84
