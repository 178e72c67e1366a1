"""Files that do not belong into one fit: other models, other engines, another unit, rates that contradict totals."""

import json

import pytest
from measured_files import AIPERF, BENCH, FORMATS, GUIDELLM, SGLANG, SNAPSHOT, STEPS

from sweep.calibrate.calibration import calibration
from sweep.calibrate.origin import engine_of
from sweep.errors import InputFault, UsageFault


def refusal(kind, *args, **options):
    with pytest.raises(kind) as caught:
        calibration(*args, **options)
    return caught.value.faults


def test_different_models_make_no_fit(saved):
    files = [saved("m1.json", json.dumps(BENCH)), saved("m2.json", json.dumps(BENCH | {"model_id": "other/model"}))]
    (fault,) = refusal(InputFault, files)
    assert 'm1.json was measured on "example/model", ' in fault
    assert 'm2.json on "other/model": these are different models' in fault
    both = saved("both.jsonl", "".join(json.dumps(BENCH | {"model_id": name}) + "\n" for name in ("a", "b")))
    assert "both.jsonl #1 was measured on" in refusal(InputFault, [both])[0]


def test_a_model_that_is_not_stated_is_no_other_model(saved):
    bare = {key: value for key, value in BENCH.items() if key != "model_id"}
    assert calibration([saved("a.json", json.dumps(BENCH)), saved("b.json", json.dumps(bare))]).step_time is not None


@pytest.mark.parametrize(
    ("name", "report"),
    [
        ("guidellm.json", GUIDELLM | {"args": {"model": "other/model"}}),
        ("aiperf.json", AIPERF | {"input_config": {"endpoint": {"model_names": ["other/model"]}}}),
    ],
)
def test_other_clients_state_models_too(saved, name, report):
    (fault,) = refusal(InputFault, [saved("bench.json", json.dumps(BENCH)), saved(name, json.dumps(report))])
    assert "different models" in fault
    assert name in fault


@pytest.mark.parametrize("other", ["bench.json", "engine.log", "metrics.prom", "meta.json"])
def test_different_engines_make_no_fit(saved, other):
    (fault,) = refusal(InputFault, [saved("sglang.jsonl", FORMATS["sglang.jsonl"]), saved(other, FORMATS[other])])
    assert 'sglang.jsonl was measured on "sglang", ' in fault
    assert f'{other} on "vllm": these are different engines' in fault


def test_a_protocol_is_no_engine(saved):
    assert [engine_of(name) for name in ("openai", "openai-chat", "vllm-chat", "sglang-oai", "", None)] == [
        None,
        None,
        "vllm",
        "sglang",
        None,
        None,
    ]
    files = [("a.json", BENCH), ("b.json", BENCH | {"backend": "openai-chat"})]
    assert calibration([saved(name, json.dumps(raw)) for name, raw in files]).step_time is not None


def test_a_snapshot_of_two_models_is_refused(saved):
    two = SNAPSHOT + SNAPSHOT.replace('"m"', '"n"').replace('engine="0"', 'engine="1"')
    (fault,) = refusal(InputFault, [saved("metrics.prom", two)])
    assert 'of different models, "m" and "n"' in fault


def test_a_rate_that_contradicts_its_total_is_flagged(saved):
    wrong = BENCH | {"request_throughput": 2.0, "output_throughput": 401.0, "total_token_throughput": 900.0}
    flags = calibration([saved("bench.json", json.dumps(wrong))]).flags
    assert len(flags) == 2
    assert "its request_throughput is 2.0, but completed / duration is 1.000" in flags[0]
    assert "its total_token_throughput is 900.0, but all tokens / duration is 501.000" in flags[1]
    near = BENCH | {"duration": 102.5, "request_throughput": 0.98}  # 0.9756
    assert not [flag for flag in calibration([saved("near.json", json.dumps(near))]).flags if "throughput" in flag]


def test_a_unit_that_no_file_takes_is_refused(saved):
    steps, bench = saved("steps.csv", STEPS), saved("bench.json", json.dumps(BENCH))
    (fault,) = refusal(UsageFault, [steps], "us")
    assert "--unit us: the times of " in fault
    assert "steps.csv are in ms, as its column says; remove --unit." in fault
    (fault,) = refusal(UsageFault, [bench], "ms")
    assert "is read as vLLM bench serve, which fixes the units of times" in fault
    assert len(refusal(UsageFault, [steps, bench], "s")) == 2
    assert calibration([steps], "ms").step_time.base_ns == 15 * 10**6
    plain = saved("plain.csv", STEPS.replace("step_ms", "step"))
    assert calibration([plain, bench], "ms").step_time is not None


def test_a_missing_unit_is_the_users_to_give(saved):
    assert "state it with --unit" in refusal(UsageFault, [saved("plain.csv", STEPS.replace("step_ms", "step"))])[0]


def test_sglang_alone_is_read(saved):
    assert calibration([saved("sglang.jsonl", json.dumps(SGLANG))]).step_time is not None
