"""Each format, a small file of it computed by hand."""

import json
from fractions import Fraction

import pytest
from measured_files import AIPERF, BENCH, FORMATS, LOG, REQUESTS, SERIES, SNAPSHOT, STEPS

from sweep.calibrate.formats import read_file
from sweep.calibrate.points import steps_of
from sweep.calibrate.requests import Timed, _steps_beside
from sweep.errors import InputFault, UsageFault

MS = 10**6


def points(file, chunk_tokens=None):
    """(kind, batch, chunk, step) of every point, in sequences, tokens and ms."""
    made = [point for run in file.runs for point in steps_of(run, chunk_tokens).points]
    return [
        (point.kind, point.batch_milli / 1000, point.chunk_milli / 1000, point.step_ns / MS)
        for point in (*made, *file.points)
    ]


def faults(path, unit=None):
    with pytest.raises(InputFault) as caught:
        read_file(path, unit)
    assert caught.value.exit_code == 3
    return caught.value.faults


def test_a_vllm_run(saved):
    file = read_file(saved("bench.json", FORMATS["bench.json"]))
    assert file.format == "vLLM bench serve"
    (run,) = file.runs
    assert (run.ttft_ns, run.itl_ns, run.max_concurrency, run.all_at_once) == (40 * MS, Fraction("19.5") * MS, 8, True)
    assert run.tokens_per_s == 501
    # 1 + 7/8 · (400 gaps/s · 19.5 ms) = 7.825 sequences; 7/8 · 100 tokens/s · 19.5 ms = 1.70625 tokens
    assert points(file) == [("run", 7.825, 1.706, 19.5)]
    assert (file.flags, file.missing) == ((), ())


def test_decimals_are_read_as_they_are_written(saved):
    file = read_file(saved("bench.json", json.dumps(BENCH).replace("19.5", "19.500000000000000001")))
    assert file.runs[0].itl_ns == 19_500_000 + Fraction(1, 10**12)


def test_several_runs_in_one_file_pretty_printed_or_a_line_each_or_as_a_list(saved):
    two = [BENCH, BENCH | {"max_concurrency": None, "request_rate": 1.0}]
    pretty, joined = ("\n".join(json.dumps(one, indent=1) for one in two), "".join(map(json.dumps, two)))
    texts = [pretty, joined, json.dumps(two)]
    for text in texts:
        file = read_file(saved("x.json", text))
        assert [run.where.rpartition(" ")[2] for run in file.runs] == ["#1", "#2"]
        # without a limit: 1 + 7.8 sequences, 100 tokens/s · 19.5 ms
        assert points(file)[1] == ("run", 8.8, 1.95, 19.5)
        assert [one.millirps for one in file.lengths] == [None, 1_000]


def test_detailed_lists_give_lengths_and_the_exact_time_of_decoding(saved):
    detailed = BENCH | {
        "completed": 2,
        "failed": 1,
        "num_prompts": 3,
        "input_lens": [100, 50, 70],
        "output_lens": [3, 2, 0],
        "ttfts": [0.1, 0.2, 0.0],
        "itls": [[0.02, 0.03], [0.05], []],
    }
    file = read_file(saved("bench.json", json.dumps(detailed)))
    assert file.runs[0].lengths == ((100, 3), (50, 2))
    assert file.runs[0].decode_ns_per_request == 50 * MS
    assert "1 of 3 requests failed" in file.flags[0]


def test_one_request_at_a_time_gives_a_decode_step_and_a_prefill_step(saved):
    file = read_file(saved("sglang.jsonl", FORMATS["sglang.jsonl"]))
    assert file.format == "SGLang bench_serving"
    assert points(file) == [("stream", 1, 0, 22.5), ("prefill", 0, 500, 99)]
    # a budget of 200 tokens cuts the prompt of 500 into 3 steps
    assert points(file, 200)[1] == ("prefill", 0, 166.667, 33)
    assert "whether requests failed" in file.missing[0]


def test_a_guidellm_report_keeps_to_successful_requests_and_their_time_between_tokens(saved):
    file = read_file(saved("guidellm.json", FORMATS["guidellm.json"]))
    assert file.format == "GuideLLM report"
    # decoding 0.5/s · (7.8 s − 0.3 s) = 3.75; 1 + 3/4 · 3.75 = 3.8125; 3/4 · 150 tokens/s · 25 ms = 2.8125
    assert points(file) == [("run", 3.813, 2.813, 25)]
    report = json.loads(FORMATS["guidellm.json"])
    report["benchmarks"][0]["metrics"]["request_totals"] |= {"errored": 5, "incomplete": 2}
    flags = read_file(saved("two.json", json.dumps(report))).flags
    assert "5 of 25 requests failed" in flags[0]
    assert "2 requests were cut off at its end" in flags[1]


def test_guidellm_strategies_say_how_many_requests_are_in_flight(saved):
    for strategy, limit in (
        ({"type_": "synchronous"}, 1),
        ({"type_": "throughput", "max_concurrency": 512}, 512),
        ({"type_": "constant", "rate": 2.0, "max_concurrency": 10240}, None),
        ({"type_": "poisson", "rate": 2.0}, None),
    ):
        report = json.loads(FORMATS["guidellm.json"])
        report["benchmarks"][0]["config"]["strategy"] = strategy
        (run,) = read_file(saved("guidellm.json", json.dumps(report))).runs
        assert (run.max_concurrency, run.all_at_once) == (limit, limit is not None)


def test_an_aiperf_export_states_its_units(saved):
    file = read_file(saved("aiperf.json", FORMATS["aiperf.json"]))
    # no limit: 1 + 2/s · (1 500 − 500 ms) = 3 sequences; 800 tokens/s · 10 ms = 8 tokens
    assert points(file) == [("run", 3, 8, 10)]
    assert file.lengths[0].millirps == 2_000
    micro = AIPERF | {"inter_token_latency": {"unit": "us", "avg": 10_000.0}}
    assert points(read_file(saved("us.json", json.dumps(micro)))) == [("run", 3, 8, 10)]
    (fault,) = faults(saved("bad.json", json.dumps(AIPERF | {"inter_token_latency": {"unit": "ticks", "avg": 1.0}})))
    assert 'got "ticks", wanted one of ns, us, ms, s' in fault


def test_requests_one_by_one(saved):
    file = read_file(saved("requests.jsonl", FORMATS["requests.jsonl"]))
    # a: 10 steps in 200 ms, beside it 5 tokens of b and b's prompt of 50; b: 5 steps in 100 ms beside 5 tokens of a
    assert points(file) == [("request", 1.5, 5, 20), ("request", 2, 0, 20)]
    assert file.lengths[0].pairs == ((100, 11), (50, 6))
    assert file.lengths[0].millirps == 2_000
    assert ("wait in the queue, p50/p90/p99", "0/500/500 ms") in file.facts


def test_a_request_that_was_held_up_counts_with_its_own_tokens():
    """Beside the first, the second decodes all of 200 ms, or, held up, only 2 of its 4 gaps fall into them."""
    first = Timed(1, 10, 11, 0, 0, 1_000, 201_000, None)
    second = Timed(2, 10, 5, 0, 0, 1_000, 401_000, None)
    alone = _steps_beside("x", [first, second], frozenset())[0]
    held = _steps_beside("x", [first, second], frozenset({1}))[0]
    assert (alone.batch_milli, held.batch_milli) == (2_000, 1_200)
    assert alone.step_ns == held.step_ns == 20_000


def test_the_two_clocks_are_never_subtracted(saved):
    """Another zero of one of the clocks, whichever, changes no figure."""
    moments = ("queued_ts", "scheduled_ts", "first_token_ts", "last_token_ts")
    later = [one | {key: one[key] + 5_000 for key in moments} for one in REQUESTS]
    earlier = [one | {"arrival_time": one["arrival_time"] - 1_699_999_000} for one in REQUESTS]
    files = [
        read_file(saved("requests.jsonl", "".join(json.dumps(one) + "\n" for one in rows)))
        for rows in (REQUESTS, later, earlier)
    ]
    assert files[0] == files[1] == files[2]


def test_failed_requests_are_apart_and_out_of_order_moments_are_faults(saved):
    rows = [*REQUESTS, REQUESTS[0] | {"output_toks": 0}, REQUESTS[0] | {"first_token_ts": None}]
    file = read_file(saved("requests.jsonl", "\n".join(json.dumps(one) for one in rows)))
    assert len(file.points) == 2
    assert "2 of 4 requests failed" in file.flags[0]
    (fault,) = faults(saved("bad.jsonl", json.dumps(REQUESTS[0] | {"scheduled_ts": 12.0})))
    assert "are not in this order" in fault
    (fault,) = faults(saved("none.jsonl", json.dumps(REQUESTS[0] | {"output_toks": 0})))
    assert "all 1 requests failed" in fault


def test_a_series_of_seconds(saved):
    file = read_file(saved("series.csv", SERIES))
    # 200 tokens over 4 running are 50 steps of 20 ms; in two seconds 200 over 5 are 40, with 80 prompt tokens
    assert points(file) == [("second", 4, 0, 20), ("second", 5, 2, 50)]
    assert file.tokens_per_s == 200
    assert ("fullest KV cache", "99.5 %") in file.facts


def test_a_log_prints_intervals(saved):
    file = read_file(saved("engine.log", LOG))
    (pool,) = file.pools
    assert (pool.tokens, pool.longest_tokens) == (230_528, 100_000)
    assert pool.concurrency == (Fraction("2.305"), Fraction("2.315"))
    # 10.545 and 10.555 · 2^30, inwards to whole bytes
    assert (pool.bytes_low, pool.bytes_high) == (11_322_607_535, 11_333_344_952)
    assert file.chunk_tokens == 2048
    assert ("weights on one GPU", "14.99 GiB") in file.facts


def test_of_several_gpus_the_smallest_pool_counts_and_older_lines_are_read(saved):
    more = LOG + "INFO Available KV cache memory: 9.5 GiB\nINFO GPU KV cache size: 200,000 tokens\n"
    file = read_file(saved("engine.log", more))
    assert (file.pools[0].tokens, file.pools[0].bytes_low) == (200_000, 9 * 2**30 + 2**30 * 45 // 100 + 1)
    assert "several sizes" in file.flags[0]
    old = "the rest of the memory reserved for KV Cache is 3.81GiB.\nINFO # GPU blocks: 1952, # CPU blocks: 2048\n"
    (pool,) = read_file(saved("old.log", old)).pools
    assert (pool.tokens, pool.blocks) == (None, 1952)


def test_a_log_line_inside_json_is_found(saved):
    lines = [json.dumps({"log": line, "stream": "stderr"}) for line in LOG.splitlines()]
    assert read_file(saved("container.log", "\n".join(lines))).pools[0].tokens == 230_528
    assert read_file(saved("bracket.log", "[rank0] start\n" + LOG)).pools[0].tokens == 230_528


def test_no_memory_for_a_cache_is_a_fault_that_says_how_much_is_short(saved):
    (fault,) = faults(saved("engine.log", "INFO Available KV cache memory: -2.81 GiB\n"))
    assert "at least 3 011 845 817 bytes are short" in fault  # 2.805 · 2^30 = 3 011 845 816.32


def test_the_set_up_of_a_run(saved):
    file = read_file(saved("meta.json", FORMATS["meta.json"]))
    (pool,) = file.pools
    assert (pool.tokens, pool.blocks, pool.block_tokens, file.chunk_tokens) == (1_600, 100, 16, 2048)
    wrong = json.loads(FORMATS["meta.json"])
    wrong["kv_cache"]["num_kv_tokens"] = 1_601
    (fault,) = faults(saved("meta.json", json.dumps(wrong)))
    assert "100 blocks of 16 tokens are 1 600" in fault


def test_a_snapshot_of_metrics(saved):
    file = read_file(saved("metrics.prom", SNAPSHOT))
    # 8 010 − 10 first tokens over 1 000 steps, 5 000 prompt tokens over them, 160 s over 8 000 gaps
    assert points(file) == [("snapshot", 8, 5, 20)]
    assert (file.pools[0].tokens, file.pools[0].blocks) == (16_000, 1_000)
    assert (file.lengths[0].prompt_tokens, file.lengths[0].output_tokens) == (4_500, 7_200)
    without = "\n".join(line for line in SNAPSHOT.splitlines() if "iteration" not in line)
    file = read_file(saved("older.prom", without.replace("kv_cache_usage", "gpu_cache_usage")))
    assert points(file) == []
    assert "without vllm:iteration_tokens_total" in file.missing[0]
    assert ("KV cache in use just now", "250 ‰") in file.facts


def test_a_snapshot_of_several_engines_is_summed(saved):
    text = SNAPSHOT + SNAPSHOT.replace('engine="0"', 'engine="1"').replace('"1000"', '"900"')
    file = read_file(saved("metrics.prom", text))
    assert points(file) == [("snapshot", 8, 5, 20)]
    assert file.pools[0].blocks == 900
    assert "different sizes" in file.flags[0]


def test_a_table_of_steps_has_a_unit_in_its_name_or_needs_one(saved):
    file = read_file(saved("steps.csv", STEPS))
    assert points(file) == [("stated", 1, 0, 16), ("stated", 2, 0, 17), ("stated", 8, 0, 23), ("stated", 0, 100, 25)]
    plain = STEPS.replace("step_ms", "step")
    with pytest.raises(UsageFault) as caught:
        read_file(saved("plain.csv", plain))
    assert "column step: has no unit of time; state it with --unit ns|us|ms|s" in caught.value.faults[0]
    assert points(read_file(saved("plain.csv", plain), "us"))[0] == ("stated", 1, 0, 0.016)
    assert points(read_file(saved("steps.csv", STEPS), "us"))[0] == ("stated", 1, 0, 16)  # its name says ms
    file = read_file(saved("two.csv", "slots,latency_us\n4,20000\n"))
    assert points(file) == [("stated", 4, 0, 20)]
    assert "no column of prefill tokens" in file.missing[0]


def test_every_format_is_read_with_windows_line_breaks_and_a_byte_order_mark(saved):
    for name, text in FORMATS.items():
        plain = read_file(saved(name, text))
        assert read_file(saved(name, b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())) == plain, name
