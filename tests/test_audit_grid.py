"""`audit_grid` over labelled arrays gives the audit of every combination, as integers of any size."""

import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from hand_grids import base_grid

import sweep
from sweep.errors import InputFault, RefusedSize
from sweep.records import INVALID_REASONS, VIOLATION_CODES
from sweep.reference import judge, records_of

GOLDEN = Path(__file__).parents[2] / "shared" / "golden" / "audit.jsonl"
CONTRACT = {
    "max_total_utilization_permille": 800,
    "max_prefill_utilization_permille": 700,
    "max_decode_utilization_permille": 700,
    "max_queue_delay_ms": 50,
    "max_ttft_ms": 250,
    "max_tpot_ms": 30,
    "max_starvation_ms": 100,
    "max_kv_bytes": 10_000_000_000,
}
SCHEDULER = {
    "token_capacity_per_second": 40_000,
    "prefill_share_permille": 600,
    "max_active_sequences": 64,
    "max_prefill_chunk_tokens": 480,
    "iteration_time_ms": 20,
    "max_consecutive_priority_iterations": 3,
    "kv_bytes_per_token": 131_072,
}
CHAT = {
    "priority": 1,
    "arrival_millirps": 4_000,
    "prompt_tokens": 1_000,
    "output_tokens": 200,
    "peak_concurrency": 24,
}
CODE = {
    "priority": 2,
    "arrival_millirps": 500,
    "prompt_tokens": 4_000,
    "output_tokens": 800,
    "peak_concurrency": 8,
}


def array(dim, values, dtype=np.int64, labels=None):
    coords = {dim: labels if labels is not None else list(range(len(values)))}
    return xr.DataArray(np.array(values, dtype=dtype), dims=dim, coords=coords)


def picked(value, at):
    if not isinstance(value, xr.DataArray):
        return value
    return int(value.isel({dim: at[dim] for dim in value.dims}).item())


def fields_of(contract, scheduler, classes, at, admission=True):
    """The fields of one combination, as a grid would give them."""
    fields = {f"contract.{name}": picked(value, at) for name, value in contract.items()}
    fields |= {f"scheduler.{name}": picked(value, at) for name, value in scheduler.items()}
    for i, one in enumerate(classes):
        fields |= {f"class.{i}.{name}": picked(value, at) for name, value in one.items()}
    return {**fields, "workload.admission_control_enabled": admission, "traffic.scale_concurrency": False}


def assert_judged(contract, scheduler, classes, admission=True):
    """Every value of every combination is the reference's; returns the Dataset."""
    found = sweep.audit_grid(contract, scheduler, classes, admission)
    dims = found["violations"].dims
    ids = [str(i) for i in range(len(classes))]
    for place in product(*[range(found.sizes[dim]) for dim in dims]):
        at = dict(zip(dims, place, strict=True))
        verdict = judge(fields_of(contract, scheduler, classes, at, admission), ids)
        told = {name: int(values.isel({d: at[d] for d in values.dims}).item()) for name, values in found.items()}
        assert told.pop("violations") == verdict.violations, at
        assert told.pop("invalid_reason") == verdict.invalid_reason, at
        for name, value in told.items():
            assert value == (verdict.figures[name] if name in verdict.figures else getattr(verdict, name)), (name, at)
    return found


def test_a_single_point_is_a_dataset_of_scalars():
    found = assert_judged(CONTRACT, SCHEDULER, [CHAT, CODE])
    assert dict(found.sizes) == {}
    assert int(found["estimated_worst_ttft_ms"]) == 185
    assert int(found["violations"]) == 0
    assert found["violations"].dtype == np.uint16
    assert found["invalid_reason"].dtype == np.uint8
    assert found["peak_kv_bytes"].dtype == np.int64


def test_arrays_broadcast_by_name_and_each_quantity_spans_only_its_own_dimensions():
    contract = CONTRACT | {"max_ttft_ms": array("slo", [100, 185, 250])}
    scheduler = SCHEDULER | {
        "prefill_share_permille": array("share", [100, 600, 950]),
        "max_prefill_chunk_tokens": array("chunk", [64, 480]),
    }
    rates = xr.DataArray(
        [[400, 4_000], [9_000, 30_000]], dims=("hour", "day"), coords={"hour": [8, 12], "day": ["mo", "su"]}
    )
    found = assert_judged(contract, scheduler, [CHAT | {"arrival_millirps": rates}, CODE])
    assert set(found["violations"].dims) == {"slo", "share", "chunk", "hour", "day"}
    assert set(found["total_utilization_permille"].dims) == {"hour", "day"}
    assert set(found["prefill_utilization_permille"].dims) == {"share", "hour", "day"}
    assert set(found["worst_prefill_service_ms"].dims) == {"share", "chunk"}
    assert found["iteration_time_ms"].dims == ()
    assert list(found["day"].values) == ["mo", "su"]
    chosen = found.sel(slo=2, share=1, chunk=1, hour=8, day="su")
    assert int(chosen["violations"]) == 0


@pytest.mark.parametrize("dtype", [np.int64, np.uint64, np.int32, np.uint8, object])
def test_any_integer_type_gives_the_same_answer(dtype):
    shares = array("share", [1, 200], dtype)
    found = assert_judged(CONTRACT, SCHEDULER | {"prefill_share_permille": shares}, [CHAT, CODE])
    same = sweep.audit_grid(CONTRACT, SCHEDULER | {"prefill_share_permille": array("share", [1, 200])}, [CHAT, CODE])
    assert found.identical(same)


def test_a_0_d_array_is_a_number_and_no_dimension():
    found = assert_judged(CONTRACT, SCHEDULER | {"iteration_time_ms": xr.DataArray(20)}, [CHAT, CODE])
    assert dict(found.sizes) == {}


def test_values_beyond_int64_come_as_python_ints():
    wide = SCHEDULER | {"kv_bytes_per_token": array("width", [1, 10**12], object)}
    huge = CHAT | {"prompt_tokens": array("prompt", [1, 10**7]), "peak_concurrency": 10**6}
    found = assert_judged(CONTRACT | {"max_kv_bytes": 10**18}, wide, [huge, CODE])
    assert found["peak_kv_bytes"].dtype == object
    value = found["peak_kv_bytes"].isel(width=1, prompt=1).item()
    assert type(value) is int
    assert value == (10**6 * (10**7 + 200) + 8 * 4_800) * 10**12
    assert found["active_sequences"].dtype == np.int64


def test_invalid_combinations_have_bit_15_alone_and_their_reason():
    chunks = SCHEDULER | {"max_prefill_chunk_tokens": array("chunk", [480, 481])}
    found = assert_judged(CONTRACT, chunks, [CHAT, CODE], admission=False)
    assert [int(mask) for mask in found["violations"]] == [1, 0x8000]
    assert found["invalid_reason"].dims == ("chunk",)
    assert found["violations"].attrs["flag_meanings"].split() == [*VIOLATION_CODES, "invalid"]
    assert found["invalid_reason"].attrs["flag_meanings"].split() == list(INVALID_REASONS)
    assert found["estimated_tpot_ms"].attrs["units"] == "ms"
    assert found["estimated_tpot_ms"].attrs["undefined_value"] == -1
    assert found.attrs["claim"] == "LOCAL_FLUID_CAPACITY_MODEL_NOT_QUEUEING_OR_DEVICE_BENCHMARK"


def test_records_are_taken_as_they_are():
    grid = base_grid()
    contract, workload = records_of(grid.fields((0, 0, 0, 0)), grid.class_ids)
    found = sweep.audit_grid(contract, workload.scheduler, workload.request_classes)
    assert found.identical(sweep.audit_grid(CONTRACT, SCHEDULER, [CHAT, CODE]))
    report = sweep.audit(contract, workload)
    for name in ("estimated_worst_ttft_ms", "peak_kv_bytes", "total_utilization_permille"):
        assert int(found[name]) == getattr(report, name)


def test_identities_beside_the_integers_are_ignored():
    named = {"scope": ("a",), "content_id": "x"}
    found = sweep.audit_grid(
        CONTRACT | named, SCHEDULER | named | {"scheduler_id": "s"}, [CHAT | named | {"class_id": "c"}, CODE]
    )
    assert int(found["violations"]) == 0


def test_the_arguments_are_left_as_they_were():
    shares = array("share", [100, 600])
    before = shares.copy(deep=True)
    sweep.audit_grid(CONTRACT, SCHEDULER | {"prefill_share_permille": shares}, [CHAT])
    assert shares.identical(before)


def test_labels_that_differ_are_refused():
    scheduler = SCHEDULER | {"prefill_share_permille": array("x", [500, 600], labels=[1, 2])}
    with pytest.raises(InputFault, match="labels"):
        sweep.audit_grid(CONTRACT | {"max_ttft_ms": array("x", [100, 200], labels=[1, 3])}, scheduler, [CHAT])
    with pytest.raises(InputFault, match="labels"):
        sweep.audit_grid(CONTRACT | {"max_ttft_ms": array("x", [100, 200, 300])}, scheduler, [CHAT])
    unlabelled = xr.DataArray([100, 200, 300], dims="x")
    with pytest.raises(InputFault, match="labels"):
        sweep.audit_grid(CONTRACT | {"max_ttft_ms": unlabelled}, scheduler, [CHAT])


def test_arrays_cut_from_one_table_may_carry_different_scalar_labels():
    table = xr.DataArray([[500, 600], [400, 480]], dims=("y", "x"), coords={"y": ["share", "chunk"], "x": [0, 1]})
    scheduler = SCHEDULER | {
        "prefill_share_permille": table.sel(y="share"),
        "max_prefill_chunk_tokens": table.sel(y="chunk"),
    }
    found = assert_judged(CONTRACT, scheduler, [CHAT, CODE])
    assert found["violations"].dims == ("x",)


def test_a_dimension_named_as_a_quantity_is_refused_with_a_sentence():
    scheduler = SCHEDULER | {"iteration_time_ms": array("iteration_time_ms", [20, 21], labels=[20, 21])}
    with pytest.raises(InputFault, match=r"iteration_time_ms.*rename"):
        sweep.audit_grid(CONTRACT, scheduler, [CHAT])


WRONG = {
    "a float": 1.0,
    "a bool": True,
    "a text": "20",
    "None": None,
    "a NumPy scalar": np.int64(20),
    "a NumPy array": np.array([20]),
    "floats": xr.DataArray([20.0], dims="x"),
    "bools": xr.DataArray([True], dims="x"),
    "texts": xr.DataArray(["20"], dims="x"),
    "objects that are no ints": xr.DataArray(np.array([20, 20.0], dtype=object), dims="x"),
    "bools as objects": xr.DataArray(np.array([True], dtype=object), dims="x"),
    "no values": xr.DataArray(np.zeros(0, dtype=np.int64), dims="x"),
    "below its bound": 0,
    "above its bound": 86_400_001,
    "one value above": array("x", [20, 86_400_001]),
    "a uint64 beyond int64": array("x", [20, 2**63 + 1], np.uint64),
    "an object beyond everything": array("x", [20, 10**30], object),
    "a negative one": array("x", [-1, 20]),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_value_is_one_sentence_with_its_place(what):
    with pytest.raises(InputFault) as error:
        sweep.audit_grid(CONTRACT, SCHEDULER | {"iteration_time_ms": WRONG[what]}, [CHAT, CODE])
    (sentence,) = error.value.faults
    assert sentence.startswith("scheduler.iteration_time_ms: got ")
    assert "wanted" in sentence


def test_every_fault_is_told_at_once():
    contract = {name: value for name, value in CONTRACT.items() if name != "max_ttft_ms"}
    with pytest.raises(InputFault) as error:
        sweep.audit_grid(
            contract | {"max_tpot_ms": 0}, SCHEDULER | {"max_slots": 4}, [CHAT | {"priority": 1_001}, {"priority": 1}]
        )
    places = [sentence.partition(":")[0] for sentence in error.value.faults]
    assert places[:4] == ["contract.max_ttft_ms", "contract.max_tpot_ms", "scheduler.max_slots", "class.0.priority"]
    assert places[4:] == [f"class.1.{name}" for name in CHAT if name != "priority"]


@pytest.mark.parametrize("count", [0, 65])
def test_the_number_of_classes_is_1_to_64(count):
    with pytest.raises(InputFault, match=f"got {count}"):
        sweep.audit_grid(CONTRACT, SCHEDULER, [CHAT] * count)


def test_too_many_combinations_are_refused_before_they_are_made():
    scheduler = SCHEDULER | {
        "prefill_share_permille": array("share", range(1, 901)),
        "max_active_sequences": array("slots", range(1, 1_001)),
        "max_prefill_chunk_tokens": array("chunk", range(1, 1_001)),
    }
    with pytest.raises(RefusedSize, match="900000000 combinations"):
        sweep.audit_grid(CONTRACT, scheduler, [CHAT])


@pytest.mark.parametrize("part", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_golden_cases_as_single_points(part):
    if not GOLDEN.exists():
        pytest.skip("the audit's right answers are not beside the project")
    checked = beyond = 0
    for line in GOLDEN.read_text().splitlines()[part::2]:
        case = json.loads(line)
        given, expect = case["input"], case["expect"]
        try:
            found = sweep.audit_grid(
                given["contract"], given["scheduler"], given["classes"], given["admission_control_enabled"]
            )
        except InputFault:
            assert "invalid" in expect, case["name"]
            continue
        if "report" not in expect:
            assert int(found["violations"]) == 0x8000, case["name"]
            continue
        report = expect["report"]
        codes = [code for bit, code in enumerate(VIOLATION_CODES) if int(found["violations"]) >> bit & 1]
        assert codes == report["violations"], case["name"]
        for name in [name for name in report if name.endswith(("_permille", "_ms", "_bytes"))]:
            assert int(found[name].item()) == report[name], (case["name"], name)
            beyond += report[name] >= 2**63
        checked += 1
    assert checked > 100
    assert beyond > 10
