"""The published golden cases, by both doors of the reference: records and plain fields."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from sweep.records import (
    FIGURES,
    BatchingContract,
    BatchingWorkload,
    InvalidPoint,
    RequestClass,
    SchedulerProfile,
)
from sweep.records.bounds import SCOPE_KEYS
from sweep.records.codes import codes_of
from sweep.reference import audit, judge, records_of

GOLDEN = Path(__file__).parents[3] / "shared" / "golden" / "audit.jsonl"
pytestmark = pytest.mark.skipif(not GOLDEN.exists(), reason="the golden cases are not beside the project")


def golden_cases():
    return [json.loads(line) for line in GOLDEN.read_text().splitlines()]


def records_from(given):
    scope = tuple(given["scope"])
    contract = BatchingContract(scope=scope, **given["contract"])
    scheduler = SchedulerProfile(scope=scope, **given["scheduler"])
    classes = tuple(RequestClass(scope=scope, **item) for item in given["classes"])
    admission = given["admission_control_enabled"]
    return contract, BatchingWorkload(scope, contract.content_id, scheduler, classes, admission)


def fields_from(given):
    fields = {f"contract.{name}": value for name, value in given["contract"].items()}
    fields |= {f"scheduler.{name}": value for name, value in given["scheduler"].items()}
    fields |= {f"scope.{key}": name for key, name in zip(SCOPE_KEYS, given["scope"], strict=True)}
    for item in given["classes"]:
        fields |= {f"class.{item['class_id']}.{name}": value for name, value in item.items()}
    fields["workload.admission_control_enabled"] = given["admission_control_enabled"]
    return fields, [item["class_id"] for item in given["classes"]]


def outcome_of(contract, workload):
    report = asdict(audit(contract, workload))
    report["violations"] = list(report["violations"])
    return {
        "report": report,
        "contract_content_id": contract.content_id,
        "scheduler_content_id": workload.scheduler.content_id,
        "class_content_ids": [item.content_id for item in workload.request_classes],
        "workload_content_id": workload.content_id,
    }


def test_there_are_400_cases_and_55_beyond_int64():
    cases = golden_cases()
    reports = [case["expect"]["report"] for case in cases if "report" in case["expect"]]
    assert len(cases) == 400
    assert sum(max(report[name] for name in FIGURES) >= 2**63 for report in reports) == 55


def test_audit_gives_every_report_id_and_reason():
    differing = []
    for case in golden_cases():
        try:
            outcome = outcome_of(*records_from(case["input"]))
        except InvalidPoint as fault:
            outcome = {"invalid": fault.reason}
        if outcome != case["expect"]:
            differing.append((case["name"], outcome, case["expect"]))
    assert differing == []


def test_judge_gives_every_figure_mask_and_reason():
    differing = []
    for case in golden_cases():
        judgement = judge(*fields_from(case["input"]))
        expect = case["expect"]
        if "invalid" in expect:
            outcome, expected = (judgement.reason, judgement.violations), (expect["invalid"], 0x8000)
        else:
            names = (*FIGURES, "violations")
            outcome = {name: judgement.figures[name] for name in FIGURES}
            outcome |= {"violations": list(codes_of(judgement.violations))}
            expected = {name: expect["report"][name] for name in names}
        if outcome != expected:
            differing.append((case["name"], outcome, expected))
    assert differing == []


def test_records_of_fields_have_the_golden_ids():
    differing = []
    for case in golden_cases():
        try:
            outcome = outcome_of(*records_of(*fields_from(case["input"])))
        except InvalidPoint as fault:
            outcome = {"invalid": fault.reason}
        if outcome != case["expect"]:
            differing.append((case["name"], outcome, case["expect"]))
    assert differing == []
