"""`audit`: the published illustrative case, and the refusal of whatever was altered behind its back."""

from dataclasses import astuple, fields, replace

import pytest

from sweep.errors import RecordFault
from sweep.records import BatchingContract, BatchingReport, BatchingWorkload, RequestClass, SchedulerProfile
from sweep.reference import audit, records_of


@pytest.fixture
def pair(cell, class_ids):
    return records_of(cell, class_ids)


def test_the_illustrative_case(pair):
    assert astuple(audit(*pair)) == (
        "CAPACITY_WITHIN_DECLARED_BOUND",
        (),
        180,
        250,
        75,
        5,
        185,
        20,
        80,
        8_808_038_400,
        "246cc9775c168f411bbb9d086acd2695c0e5425526602981995cd5670b30b6dd",
        "LOCAL_FLUID_CAPACITY_MODEL_NOT_QUEUEING_OR_DEVICE_BENCHMARK",
    )
    assert len(fields(BatchingReport)) == 12


def test_a_rejected_case_names_every_broken_bound(cell, class_ids):
    cell |= {"contract.max_ttft_ms": 184, "workload.admission_control_enabled": False}
    report = audit(*records_of(cell, class_ids))
    assert report.decision == "REJECT_CAPACITY"
    assert report.violations == ("admission-control-disabled", "time-to-first-token")


TAMPERINGS = [
    ("contract", "max_ttft_ms", 10_000),
    ("contract", "max_kv_bytes", 10_000_000_000.0),
    ("contract", "content_id", "0" * 64),
    ("contract", "content_id", None),
    ("contract", "scope", ("a",) * 8),
    ("workload", "admission_control_enabled", False),
    ("workload", "request_classes", ()),
    ("workload", "content_id", None),
    ("scheduler", "max_active_sequences", 10_000),
    ("scheduler", "prefill_share_permille", 1),  # breaks a rule of the profile too
    ("scheduler", "content_id", "0" * 64),
    ("class", "peak_concurrency", 1),
    ("class", "class_id", "interactive-long"),
    ("class", "priority", True),  # equals the 1 that it replaces
]


@pytest.mark.parametrize(("which", "field", "value"), TAMPERINGS)
def test_altered_records_are_refused(pair, which, field, value):
    contract, workload = pair
    record = {
        "contract": contract,
        "workload": workload,
        "scheduler": workload.scheduler,
        "class": workload.request_classes[0],
    }[which]
    object.__setattr__(record, field, value)
    with pytest.raises(RecordFault, match=which):
        audit(contract, workload)


def test_a_missing_field_is_refused(pair):
    contract, workload = pair
    object.__delattr__(workload.scheduler, "iteration_time_ms")
    with pytest.raises(RecordFault, match="iteration_time_ms"):
        audit(contract, workload)


def test_a_list_of_classes_put_in_later_is_refused(pair):
    contract, workload = pair
    object.__setattr__(workload, "request_classes", list(workload.request_classes))
    with pytest.raises(RecordFault, match="request_classes"):
        audit(contract, workload)


def subclassed(record):
    kind = type(record)
    return type(f"My{kind.__name__}", (kind,), {})(*[getattr(record, field.name) for field in fields(kind)])


@pytest.mark.parametrize("kind", [BatchingContract, BatchingWorkload, SchedulerProfile, RequestClass])
def test_subclasses_are_refused(pair, kind):
    contract, workload = pair
    if kind is BatchingContract:
        contract = subclassed(contract)
    elif kind is BatchingWorkload:
        workload = subclassed(workload)
    elif kind is SchedulerProfile:
        object.__setattr__(workload, "scheduler", subclassed(workload.scheduler))
    else:
        object.__setattr__(workload, "request_classes", tuple(map(subclassed, workload.request_classes)))
    with pytest.raises(RecordFault, match=f"My{kind.__name__}"):
        audit(contract, workload)


def test_look_alikes_are_refused_both_at_once():
    with pytest.raises(RecordFault) as caught:
        audit({}, None)
    assert [fault.split(":")[0] for fault in caught.value.faults] == ["contract", "workload"]


def test_workload_and_contract_must_belong_together(pair):
    contract, workload = pair
    other = replace(contract, content_id=None, max_ttft_ms=251)
    with pytest.raises(RecordFault, match=other.content_id):
        audit(other, workload)


def test_scopes_must_be_equal(pair):
    contract, workload = pair
    foreign = replace(contract, content_id=None, scope=contract.scope[::-1])
    named = replace(workload, content_id=None, contract_content_id=foreign.content_id)
    with pytest.raises(RecordFault, match="scope") as caught:
        audit(foreign, named)
    assert len(caught.value.faults) == 1
