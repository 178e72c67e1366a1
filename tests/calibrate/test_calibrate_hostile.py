"""Every reader and hostile files: one sentence per fault, exit code 3, nothing guessed."""

import json

import pytest
from measured_files import AIPERF, BENCH, FORMATS, GUIDELLM, META, REQUESTS, SERIES, SGLANG, SNAPSHOT

from sweep.calibrate.calibration import calibration
from sweep.calibrate.fields import MOST_FAULTS
from sweep.calibrate.formats import read_file
from sweep.calibrate.source import MAX_BYTES
from sweep.errors import InputFault, RefusedSize, UsageFault


def faults(*paths, **options):
    with pytest.raises(InputFault) as caught:
        calibration(paths, **options)
    assert caught.value.exit_code == 3
    for fault in caught.value.faults:
        assert fault.endswith(".")
        assert "\n" not in fault
        assert fault.isprintable()
        assert len(fault) < 700
    return caught.value.faults


@pytest.mark.parametrize("name", [name for name in FORMATS if name not in ("engine.log", "steps.csv")])
@pytest.mark.parametrize("part", [0.3, 0.6, 0.9])
def test_a_truncated_file(saved, name, part):
    text = FORMATS[name]
    assert len(faults(saved(name, text[: int(len(text) * part)]))) >= 1


def test_a_log_or_a_table_that_was_cut_gives_its_whole_lines(saved):
    """Nothing shows that lines are missing behind them; a line that is cut itself gives nothing, or is a fault."""
    text = FORMATS["engine.log"]
    (pool,) = read_file(saved("engine.log", text[: text.index(" tokens\n")])).pools
    assert (pool.tokens, pool.bytes_low) == (None, 11_322_607_535)
    assert "got 2 values, wanted 3" in faults(saved("steps.csv", FORMATS["steps.csv"][:-4]))[0]


@pytest.mark.parametrize("content", ["", " \n\t\n", b"\xef\xbb\xbf"])
def test_an_empty_file(saved, content):
    (fault,) = faults(saved("x.json", content))
    assert "is empty; give the file that the load test or the engine wrote" in fault


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"\x1f\x8b\x08\x00", "is compressed (gzip); unpack it first"),
        (b"\x89HDF\r\n\x1a\n", "ask a result of `sweep run` with `sweep best`"),
        (b"PK\x03\x04", "zip archive"),
        (b"\xff\xfe{\x00}\x00", "is UTF-16 text"),
        (b"abc\ndef\xff\xfe", "line 2 is not UTF-8"),
        (b"a\x00b", "has NUL bytes"),
    ],
)
def test_a_binary_file(saved, content, words):
    (fault,) = faults(saved("x.bin", content))
    assert words in fault


def test_a_folder_a_device_and_no_file(tmp_path):
    assert "is a folder" in faults(tmp_path)[0]
    assert "is a folder, a device or a pipe" in faults("/dev/zero")[0]
    assert "there is no such file" in faults(tmp_path / "none")[0]
    assert "cannot be read" in faults("a\0b")[0]


def test_a_file_that_is_too_large_is_refused_before_it_is_parsed(tmp_path):
    path = tmp_path / "large.json"
    with path.open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    with pytest.raises(RefusedSize, match=r"larger than 64 MiB \(67 108 864 bytes\)"):
        calibration([path])


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("benchmark_time_seconds: 2.48\nfailures:\n  count: 0\n", "an inference-perf report (YAML)"),
        ("metadata:\n  version: 2\nbenchmarks:\n- x: 1\n", "a GuideLLM report as YAML"),
        ("TIMESTAMP,ContextTokens,GeneratedTokens\n2023,1,2\n", "a request trace (Azure)"),
        ('{"timestamp": 1, "input_length": 2, "output_length": 3, "hash_ids": []}', "a request trace (Mooncake)"),
        ('{"avg_latency": 1, "latencies": [], "percentiles": {}}', "a vLLM bench latency result"),
        ('{"elapsed_time": 1, "num_requests": 2, "tokens_per_second": 3}', "a vLLM bench throughput result"),
        ('[{"n_prompt": 1, "n_gen": 2, "avg_ns": 3}]', "a llama-bench result"),
        ('{"load_summary": {}, "successes": {}}', "an inference-perf report"),
        ('{"model_type": "llama"}', "a model config"),
        ("============ Serving Benchmark Result ============\nMean ITL (ms): 3\n", "what a load test printed"),
        ("[sweep]\nname = 'x'\n", "a grid file"),
        ("<!DOCTYPE html><html></html>", "a web page"),
        ("max_total_num_tokens=1, chunked_prefill_size=2\n", "a start-up log of SGLang"),
        ('{"a": 1}', "JSON of a form that is not known"),
        ("hello\n", "text of a form that is not known"),
    ],
)
def test_a_format_that_is_not_read_is_named_with_those_that_are(saved, text, what):
    (fault,) = faults(saved("x.txt", text))
    assert f"is {what}, which is not read; " in fault
    assert "Formats that are read: vLLM bench serve JSON, SGLang bench_serving JSONL, GuideLLM JSON" in fault


@pytest.mark.parametrize("text", ["{" * 100_000, "[" * 100_000, '{"a":' * 100_000, '{"duration":' + "[" * 100_000])
def test_deep_nesting_is_one_sentence(saved, text):
    assert len(faults(saved("deep.json", text))) == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"a": 1, "a": 2}', 'has the key "a" twice'),
        ('{"a": 1} {"b": [1, {"c": 1, "c": 1}]}', 'has the key "c" twice'),
        ('{"a": tru}', "not JSON (Expecting value)"),
        ('{"a": 1}\n7\n', "line 2: got 7, wanted a JSON object"),
        ("[]", "holds no object"),
        ('{"a": "' + "x" * 100, "it is cut short"),
    ],
)
def test_odd_json(saved, text, words):
    (fault,) = faults(saved("x.json", text))
    assert words in fault


BAD = ["NaN", "Infinity", "-Infinity", "-1.5", "1e400", "9" * 5_000, '"12"', "true", "[1]", "{}", "1e-70"]


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("key", ["duration", "completed", "total_input_tokens", "mean_itl_ms", "max_concurrency"])
def test_odd_numbers_of_a_run(saved, key, bad):
    text = json.dumps(BENCH | {key: "@"}).replace('"@"', bad)
    found = faults(saved("x.json", text))
    assert any(f": {key}: got " in fault for fault in found)
    assert all("wanted" in fault for fault in found)


@pytest.mark.parametrize("bad", ["NaN", "-Infinity", "-1.0", "0", '"fast"', "1e400", "true"])
def test_an_odd_request_rate(saved, bad):
    text = json.dumps(BENCH | {"request_rate": "@"}).replace('"@"', bad)
    assert 'wanted requests per second above 0, or "inf"' in faults(saved("x.json", text))[0]


def test_all_faults_of_all_files_come_at_once(saved, tmp_path):
    wrong = BENCH | {"duration": -1, "mean_itl_ms": "x", "total_input_tokens": None}
    found = faults(saved("a.json", json.dumps(wrong)), tmp_path / "none", saved("b.json", "{"))
    assert [fault.partition(": ")[0].rpartition("/")[2] for fault in found] == ["a.json"] * 3 + ["none", "b.json"]


def test_many_faults_are_counted(saved):
    rows = [REQUESTS[0] | {"input_toks": -1, "queued_ts": "x"}] * 50
    found = faults(saved("requests.jsonl", "\n".join(json.dumps(one) for one in rows)))
    assert len(found) == MOST_FAULTS + 1
    assert found[-1].endswith("and 80 more faults; repair these first.")


def test_a_run_in_which_every_request_failed_is_no_result(saved):
    nothing = {key: 0.0 if key.startswith("mean_") else value for key, value in BENCH.items()}
    nothing |= {"completed": 0, "failed": 100, "total_input_tokens": 0, "total_output_tokens": 0}
    two = [json.dumps(BENCH), json.dumps(nothing)]
    (fault,) = faults(saved("bench.json", "\n".join(two)))
    assert "object 2 (line 2): completed: got 0: every request failed" in fault
    report = json.loads(json.dumps(GUIDELLM))
    report["benchmarks"][0]["metrics"]["request_totals"] = {"successful": 0, "errored": 9, "incomplete": 0}
    assert "no request succeeded" in faults(saved("guidellm.json", json.dumps(report)))[0]
    none = AIPERF | {"request_count": {"unit": "requests", "avg": 0}}
    assert "no request succeeded" in faults(saved("aiperf.json", json.dumps(none)))[0]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"duration": 0.0}, "duration: got 0"),
        ({"input_lens": [1], "output_lens": [1, 2]}, "are no lists of one length"),
        ({"input_lens": [1], "output_lens": [-1]}, "request 1 has the length -1"),
        ({"input_lens": [1], "output_lens": [1], "itls": [["x"]]}, "request 1 has no list of seconds"),
        ({"input_lens": 5, "output_lens": 5}, "are no lists of one length"),
        ({"total_input_tokens": 0, "total_output_tokens": 0}, "so nothing was measured"),
    ],
)
def test_impossible_figures_of_a_run(saved, change, words):
    assert words in faults(saved("x.json", json.dumps(BENCH | change)))[0]


def test_figures_that_give_an_impossible_step(saved):
    text = json.dumps(BENCH | {"duration": 0.000001, "max_concurrency": None})
    assert "a grid takes at most 1 000 000 and 10 000 000; check its duration" in faults(saved("x.json", text))[0]


def test_two_forms_in_one_file(saved):
    text = json.dumps(BENCH) + "\n" + json.dumps(REQUESTS[0])
    assert "line 2: an object of another form than the first" in faults(saved("x.json", text))[0]


def test_a_guidellm_report_of_another_version(saved):
    (fault,) = faults(saved("x.json", json.dumps(GUIDELLM | {"metadata": {"version": 1}})))
    assert "metadata.version: got 1, wanted 2" in fault
    assert "got an empty list" in faults(saved("x.json", json.dumps(GUIDELLM | {"benchmarks": []})))[0]
    assert "got 7, wanted objects" in faults(saved("x.json", json.dumps(GUIDELLM | {"benchmarks": [7]})))[0]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (SERIES.replace("200.0", "NaN"), 'line 3: gen_throughput: got "NaN"'),
        (SERIES.replace("200.0", "-1"), 'got "-1"'),
        (SERIES.replace("200.0", "1e400"), 'got "1e400"'),
        (SERIES.replace("200.0", "9" * 300), "got "),
        (SERIES.replace("2.0,0.0,200.0,4,0,12.5", "2.0,0.0"), "line 3: got 2 values, wanted 6"),
        (SERIES.replace("2.0,0.0,200.0", "0.5,0.0,200.0"), "line 3: t: does not increase"),
        (SERIES.splitlines()[0] + "\n", "has no row below its head"),
        (SERIES.replace("running", "t"), "text of a form that is not known"),
        (SERIES.replace("waiting", "t"), 'has the column "t" twice'),
        (SERIES.replace("prompt_throughput", "prompts"), "has no column prompt_throughput"),
        (SERIES.replace("12.5", '"12.5'), "no CSV"),
    ],
)
def test_an_odd_series(saved, text, words):
    assert words in faults(saved("series.csv", text))[0]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (SNAPSHOT.replace(" 7.0", " NaN"), 'vllm:num_requests_running: got "NaN"'),
        (SNAPSHOT.replace(" 7.0", " +Inf"), 'got "+Inf"'),
        (SNAPSHOT.replace(" 7.0", " -7"), 'got "-7"'),
        (SNAPSHOT.replace(" 7.0", " 1e400"), 'got "1e400"'),
        (SNAPSHOT.replace(" 7.0", ""), "wanted a sample, name{labels} value"),
        (SNAPSHOT.replace('engine="0",model_name="m"} 7.0', 'engine="0} 7.0'), "wanted a sample"),
        (SNAPSHOT.replace('"1000"', '"-5"'), 'num_gpu_blocks: got "-5"'),
        (SNAPSHOT + 'vllm:x{a="' + "b" * 200_000 + '"} 1\n', "wanted a sample"),
        (SNAPSHOT + SNAPSHOT, "comes twice with the same labels"),
    ],
)
def test_an_odd_snapshot(saved, text, words):
    assert words in faults(saved("metrics.prom", text))[0]


@pytest.mark.parametrize("bad", ["NaN", "-1", "0", "1e400", '"x"', "1.5"])
def test_an_odd_set_up(saved, bad):
    text = json.dumps(META).replace('"block_size": 16', f'"block_size": {bad}')
    assert "kv_cache.block_size: got" in faults(saved("meta.json", text))[0]


@pytest.mark.parametrize("bad", ["NaN", "Infinity", "-1", "1e400", '"1"', "true"])
def test_odd_moments_of_a_request(saved, bad):
    text = json.dumps(REQUESTS[0] | {"arrival_time": "@"}).replace('"@"', bad)
    assert "line 1: arrival_time: got" in faults(saved("requests.jsonl", text))[0]


def test_a_request_without_its_fields_is_a_fault_and_not_a_failed_one(saved):
    found = faults(saved("requests.jsonl", '{"first_token_ts": 1.0, "last_token_ts": 2.0}'))
    assert len(found) == 4  # two lengths, two moments


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("batch,step_ms\n0,5\n", "a step of 0 sequences and 0 prefill tokens"),
        ("batch,step_ms\n1,0\n", "or of no time"),
        ("batch,step_ms\n1,x\n", 'line 2: step_ms: got "x"'),
        ("batch,slots,step_ms\n1,1,1\n", "has the columns batch, slots"),
        ("batch,step_ms,time_s\n1,1,1\n", "has the columns step_ms, time_s"),
        ("batch,step_ms\n", "has no row below its head"),
        ("batch,step_ms\n1\n", "got 1 values, wanted 2"),
        ("batch,step_s\n1,999999\n2,1000000000\n", "a grid takes at most 1 000 000 000 000"),
    ],
)
def test_odd_steps(saved, text, words):
    assert words in faults(saved("steps.csv", text))[0]


def test_names_of_files_reach_messages_and_tables_as_printable_text(saved):
    path = saved("a\x1b[31m\u202e.json", json.dumps(SGLANG))
    found = calibration([path])
    assert found.files[0].name.isprintable()
    assert found.source.isprintable()
    assert "\x1b" not in faults(saved("b\x1b[31m.json", "{"))[0]


def test_wrong_options_come_all_at_once(saved):
    path = saved("bench.json", json.dumps(BENCH))
    with pytest.raises(UsageFault) as caught:
        calibration([path, path], unit="h", classes=0, chunk_tokens=0, block_tokens=10**13)
    assert len(caught.value.faults) == 5
    with pytest.raises(UsageFault, match="no file is given"):
        calibration([])
