"""Calibrations end to end: what comes out of several files, of a simulated load test, and of real files."""

import json
import random
from fractions import Fraction
from pathlib import Path

import pytest
from closed_loop import Engine, requests_of, series_of, summary, write_runs
from measured_files import BENCH, FORMATS, GUIDELLM, LOG, SGLANG

import sweep
from sweep.calibrate.calibration import calibration
from sweep.calibrate.tables import step_time_table
from sweep.errors import InputFault
from sweep.grid import parse_grid
from sweep.query.measured import beyond_measured

SHARED = Path(__file__).parents[3] / "shared"
REAL = SHARED / "data" / "bench"
H100 = Path(__file__).parents[2] / "grids" / "h100.toml"
COST = (7_000_000, 74_000, 33_000)


def lengths(count, seed, prompt=(512, 1536), output=(64, 448)):
    draw = random.Random(seed)
    return [(draw.randint(*prompt), draw.randint(*output)) for _ in range(count)]


def run(limit, count, engine=None, **options):
    asked = lengths(count, limit, **options)
    return summary((engine or Engine(*COST)).serve(asked, limit), asked, limit)


def close(found, wanted, permille):
    return abs(found - wanted) * 1000 <= wanted * permille


def test_a_simulated_engine_is_found_again(tmp_path):
    """Means of whole runs, ramps included: base within 2 %, the others within 10 % and 2 %."""
    path = write_runs(tmp_path / "bench.jsonl", [run(1, 16), run(8, 80), run(32, 256), run(128, 900)])
    found = calibration([path])
    base, per_sequence, per_token = found.step_time.coefficients
    assert close(base, COST[0], 20)
    assert close(per_sequence, COST[1], 100)
    assert close(per_token, COST[2], 20)
    assert found.flags == ()
    assert found.step_time.measured_slots[1] > 100


def test_prompts_in_several_steps_need_the_token_budget(tmp_path):
    """Without it prefill looks dearer, never cheaper: the base of each further step is counted as prefill."""
    runs = [run(1, 10, prompt=(6000, 6000)), run(8, 80), run(32, 256)]
    path = write_runs(tmp_path / "bench.jsonl", runs)
    exact, guessed = (calibration([path], chunk_tokens=chunk) for chunk in (2048, None))
    assert close(exact.step_time.per_prefill_token_ns, COST[2], 10)
    assert guessed.step_time.per_prefill_token_ns > exact.step_time.per_prefill_token_ns
    assert "state it with --chunk-tokens" in guessed.notes[0]


def test_arrivals_of_their_own_are_found_again_too(tmp_path):
    engine, runs = Engine(*COST), [run(1, 16)]
    for rate, count in ((2, 300), (8, 900), (14, 1_400)):
        draw, now, arrivals = random.Random(rate), 0, []
        for _ in range(count):
            now += int(draw.expovariate(rate) * 10**9)
            arrivals.append(now)
        asked = lengths(count, rate)
        runs.append(summary(engine.serve(asked, None, arrivals), asked, request_rate=float(rate)))
    base, per_sequence, per_token = calibration([write_runs(tmp_path / "x", runs)]).step_time.coefficients
    assert close(base, COST[0], 20)
    assert close(per_sequence, COST[1], 100)
    assert close(per_token, COST[2], 20)


def test_requests_and_seconds_of_a_simulated_engine(saved):
    """Each alone: requests, of which each saw hundreds of steps, come close; seconds are coarser."""
    engine, asked = Engine(*COST), lengths(600, 5, prompt=(16, 3_000), output=(16, 600))
    draw, now, arrivals = random.Random(6), 0, []
    for at in range(600):
        now += int(draw.expovariate(6 if at % 200 < 100 else 14) * 10**9)
        arrivals.append(now)
    served = engine.serve(asked, None, arrivals)
    for text, name, permille in (
        (requests_of(engine, served, asked), "requests.jsonl", (30, 20, 20)),
        (series_of(engine), "series.csv", (60, 150, 60)),
    ):
        step_time = calibration([saved(name, text)]).step_time
        for found, wanted, near in zip(step_time.coefficients, COST, permille, strict=True):
            assert close(found, wanted, near), (name, step_time.coefficients)


def test_several_files_are_one_calibration(saved):
    files = ["bench.json", "sglang.jsonl", "engine.log", "meta.json", "metrics.prom"]
    found = calibration([saved(name, FORMATS[name].replace('"sglang"', '"vllm"')) for name in files])
    assert [file.format for file in found.files][2:] == [
        "vLLM start-up log",
        "set-up of a measured run",
        "Prometheus snapshot of vLLM",
    ]
    assert found.tokens_per_s[0] == 541  # 500 + 41 of the SGLang run
    assert (found.pool.tokens, found.pool.block_tokens, found.chunk_tokens) == (1_600, 16, 2_048)
    assert any("different tokens of the KV cache, 1 600, 16 000, 230 528" in flag for flag in found.flags)
    assert found.classes[0].requests == 119


def test_a_log_alone_says_what_it_cannot_teach(saved):
    found = calibration([saved("engine.log", LOG)])
    assert found.step_time is None
    assert found.pool.longest_fit == Fraction(230_528, 100_000)
    assert (found.pool.token_bytes_low, found.pool.token_bytes_high) == (None, 49_162)
    assert [clause.partition(":")[0] for clause in found.missing] == ["step time", "token capacity", "request classes"]
    exact = calibration([saved("engine.log", LOG)], kv_bytes_per_token=49_152, block_tokens=16).pool
    assert (exact.bytes_low, exact.bytes_high, exact.blocks) == (11_330_912_256, 11_330_912_256, 14_408)
    bounds = calibration([saved("engine.log", LOG)], block_tokens=16).pool
    assert (bounds.token_bytes_low, bounds.token_bytes_high) == (49_113, 49_162)
    (flag,) = calibration([saved("engine.log", LOG)], kv_bytes_per_token=98_304).flags
    assert "check the bytes of a token, and whether several GPUs share them" in flag


def test_the_lines_of_published_logs():
    """`kv_cases.jsonl`: what a log prints holds the exact figures within half of its last digit."""
    path = SHARED / "golden" / "kv_cases.jsonl"
    if not path.exists():
        pytest.skip("the published cases are not beside the project")
    checked = 0
    for case in map(json.loads, path.read_text().splitlines()):
        log, given, exact = case["log"], case["given"], case["exact"]
        gib = given.get("available_gib") or log.get("kv_cache_size_gib") or log.get("kv_gib")
        tokens = exact.get("tokens") or log.get("tokens")
        if not (gib and tokens and exact.get("pool_bytes")):
            continue
        text = f"Available KV cache memory: {gib} GiB\nGPU KV cache size: {tokens:,} tokens\n"
        times = log.get("max_concurrency") or log.get("min_concurrency")
        text += f"Maximum concurrency for {given['max_model_len']:,} tokens per request: {times}x\n"
        found = pool_of_text(text, given["block_size"])
        assert found.flags == (), case["id"]
        left_over = given["block_size"] * exact.get("kv_bytes_per_token", 2**20)  # of the memory, less than a block
        assert found.pool.bytes_low - left_over < exact["pool_bytes"] <= found.pool.bytes_high, case["id"]
        if "kv_bytes_per_token" in exact:
            assert found.pool.token_bytes_low <= exact["kv_bytes_per_token"] <= found.pool.token_bytes_high, case["id"]
        checked += 1
    assert checked >= 4


def pool_of_text(text, block_tokens):
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        path = Path(folder) / "engine.log"
        path.write_text(text)
        return calibration([path], block_tokens=block_tokens)


def test_a_printed_concurrency_that_its_tokens_do_not_give_is_flagged(saved):
    (flag,) = calibration([saved("engine.log", LOG.replace("2.31x", "2.40x"))]).flags
    assert "are not the maximum concurrency that it prints" in flag


def test_figures_that_contradict_each_other_are_flagged_and_the_batch_capped(saved):
    bench = {**BENCH, "request_throughput": None}
    found = calibration([saved("bench.json", json.dumps(bench | {"duration": 10.0}))])
    assert "78.4 requests are in flight, but its max_concurrency is 8" in found.flags[0]
    assert found.step_time.fit.used[0].batch_milli == 8_000
    idle = calibration([saved("bench.json", json.dumps(bench | {"duration": 1000.0}))])
    assert "on average only 0.8 of 8 requests were in flight" in idle.flags[0]
    burst = calibration([saved("bench.json", json.dumps(bench | {"max_concurrency": None}))])
    assert "all requests came at once, so the batch fell during the run" in burst.flags[0]


def test_several_tokens_per_gap_are_flagged(saved):
    found = calibration([saved("x.json", json.dumps(SGLANG | {"mean_e2e_latency_ms": 549.0}))])
    assert "2.0 tokens come per gap (speculative decoding" in found.flags[0]


def test_partly_failed_runs_are_flagged(saved):
    found = calibration([saved("bench.json", json.dumps(BENCH | {"failed": 3, "num_prompts": 103}))])
    assert "3 of 103 requests failed" in found.flags[0]
    found = calibration([saved("bench.json", json.dumps({**BENCH, "failed": None, "num_prompts": 101}))])
    assert "1 of 101 requests failed" in found.flags[0]


def test_a_run_without_latencies_gives_lengths_and_throughput(saved):
    found = calibration([saved("bench.json", json.dumps(BENCH | {"mean_itl_ms": 0.0, "mean_ttft_ms": 0.0}))])
    assert found.step_time is None
    assert found.tokens_per_s[0] == 501
    assert found.missing[0].endswith("so it gives no step of a decoding engine")


def test_classes_by_length_keep_every_token(saved):
    rows = [(100, 10), (10, 100), (1, 2), (1_000, 3), (50, 50)]
    detailed = BENCH | {"input_lens": [a for a, _ in rows], "output_lens": [b for _, b in rows]}
    detailed |= {"max_concurrency": None, "request_rate": 2.0, "num_prompts": 5, "completed": 5, "duration": 2.5}
    found = calibration([saved("bench.json", json.dumps(detailed))], classes=2)
    # by total length, three and two of them: (1, 2), (50, 50), (10, 100) and (100, 10), (1000, 3)
    first, second = found.classes
    assert (first.requests, first.prompt_tokens, first.output_tokens, first.arrival_millirps) == (3, 21, 51, 1_200)
    assert (second.requests, second.prompt_tokens, second.output_tokens, second.arrival_millirps) == (2, 550, 7, 800)
    assert sum(one.requests * one.prompt_tokens for one in found.classes) >= sum(a for a, _ in rows)
    one = calibration([saved("plain.json", json.dumps(BENCH))], classes=3)
    assert len(one.classes) == 1
    assert "save the run with --save-detailed" in one.missing[0]


def test_the_table_is_taken_by_a_grid_which_warns_beyond_it(saved):
    found = calibration([saved("steps.csv", FORMATS["steps.csv"])])
    table = step_time_table(found)
    assert "base_ns = 15_000_000\nper_sequence_ns = 1_000_000\nper_prefill_token_ns = 100_000\n" in table
    text = H100.read_text()
    begin, end = text.index("\n[step_time]") + 1, text.index("\n[model]")
    grid = parse_grid(text[:begin] + table + 'capacity = "from-step-time"\n' + text[end:])
    assert grid.base["step_time.measured_slots"] == "0..8"
    assert grid.base["step_time.source"] == "steps.csv"
    with_log = calibration([saved("engine.log", LOG), *(file.name for file in found.files)])
    assert (with_log.source, "KV pool of 230 528 tokens" in step_time_table(with_log)) == ("steps.csv", True)
    assert len(beyond_measured(grid)) == 2


def test_what_is_not_learnt_stands_as_a_comment(saved):
    table = step_time_table(calibration([saved("steps.csv", "batch,step_ms\n1,16\n2,17\n")]))
    assert "# per_prefill_token_ns = not learnt from these files\n" in table
    with pytest.raises(InputFault, match="give no coefficient of the step time"):
        step_time_table(calibration([saved("guidellm.json", json.dumps(GUIDELLM))]))


def test_a_source_with_quotes_stays_toml(saved):
    found = calibration([saved('a"\\b.csv', "batch,step_ms\n1,16\n2,17\n")])
    assert parse_toml(step_time_table(found))["step_time"]["source"].startswith('a"')


def parse_toml(text):
    import tomllib

    return tomllib.loads(text)


def test_the_answer_as_json_has_stable_keys(saved):
    answer = calibration([saved("bench.json", FORMATS["bench.json"])]).as_json()
    assert list(answer) == [
        "files",
        "step_time",
        "token_capacity_per_second",
        "kv_pool",
        "classes",
        "max_num_batched_tokens",
        "flagged",
        "assumed",
        "not_learned",
        "claim",
    ]
    assert answer["step_time"]["points"][0]["batch_milli"] == 7_825
    json.dumps(answer, allow_nan=False)


def test_it_is_public():
    assert sweep.calibration is calibration


def test_the_measured_run_of_a_real_engine():
    """Llama-3.1-8B on an RTX 4090: 16 GB of weights at 1 TB/s are 16 ms; the step is a little longer."""
    names = [
        REAL / "vllm_measured" / f"RTX4090_Llama-31-8B_{end}"
        for end in ("requests.jsonl", "timeseries.csv", "meta.json")
    ]
    if not names[0].exists():
        pytest.skip("the measured run is not beside the project")
    found = calibration(names, classes=2)
    assert (found.pool.tokens, found.pool.blocks, found.pool.block_tokens) == (41_408, 2_588, 16)
    assert found.chunk_tokens == 2_048
    assert sum(one.requests for one in found.classes) == 300
    assert 15_000_000 < found.step_time.base_ns < 22_000_000
    assert 50_000 < found.step_time.per_prefill_token_ns < 120_000
    by_source = [calibration([name]).step_time for name in names[:2]]
    assert all(close(one.base_ns, found.step_time.base_ns, 100) for one in by_source)


def test_a_real_report_of_guidellm_on_a_mock_server():
    path = REAL / "guidellm_report_v2_sample.json"
    if not path.exists():
        pytest.skip("the sample report is not beside the project")
    found = calibration([path])
    assert [run.completed for run in found.runs] == [2, 2]
    assert found.runs[0].itl_ns == Fraction("1.1508464813232422") * 10**6
    assert found.step_time.coefficients == (None, None, None)  # two runs with a batch of 1
    with pytest.raises(InputFault, match="an inference-perf report"):
        calibration([REAL / "inference_perf_lifecycle_sample.yaml"])
