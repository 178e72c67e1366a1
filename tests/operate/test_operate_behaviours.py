"""Behaviours 7, 8, 11, 12, 13 and 15 of the course's fifteen, on the real parts."""

import json
import socket
import sys
from dataclasses import replace
from fractions import Fraction

import pytest
from served import GRIDS, UNIT, small_grid, small_manifest, snapshot

import sweep
from sweep.operate.diagnose_proof import diagnosis
from sweep.operate.diagnose_snapshot import read_signals
from sweep.operate.manifest_point import cell_of
from sweep.operate.rollout import Observation


def test_7_the_chosen_point_passes_the_slo_and_the_next_one_up_fails():
    cell = cell_of(small_manifest(), small_grid())
    up = sweep.explain_grid(small_grid(), {**cell.point, "traffic_scale_permille": 1_453})
    more_slots = sweep.explain_grid(small_grid(), {**cell.point, "max_active_sequences": 128})

    assert (cell.status, up.status) == ("within", "rejected")
    assert up.over == {"max_queue_delay_ms": 1}
    assert more_slots.status != "within"


def test_8_the_quantized_form_that_is_deployed_cites_a_measured_loss():
    grid = sweep.load_grid(
        GRIDS / "precision.toml",
        [("axis", f"{name}=[{n}]") for name, n in (("share", 900), ("chunk", 512), ("slots", 64))],
    )
    measured = sweep.quantize_grid(grid, "0.01", deltas={"bf16": 0, "fp8": "0.004"})
    unmeasured = sweep.quantize_grid(grid, "0.01", deltas={"bf16": 0})
    manifest = sweep.deployment_manifest(grid, *UNIT, at={"precision": measured.chosen, "replicas": 4})

    assert (measured.chosen, measured.candidate.quality_delta) == ("fp8", Fraction(4, 1_000))
    assert unmeasured.chosen == "bf16"
    assert dict(manifest.evidence.point)["precision"] == "fp8"
    assert manifest.memory.weight_bytes == measured.candidate.weight_bytes


CALM = {"running": 40, "finished": 1_000, "itl": (0, 900, 100, 0, 0, 0)}
INCIDENTS = {
    # name: (a minute later, verdict of the rules, what the numbers prove)
    "none": ({"running": 40, "finished": 1_300, "itl": (0, 9_000, 200, 0, 0, 0)}, "healthy", "healthy"),
    "the cache is too small": (
        {
            "running": 60,
            "waiting": 20,
            "usage": "0.999",
            "preempted": 200,
            "finished": 1_300,
            "itl": (0, 900, 999, 0, 0, 0),
        },
        "cache_pressure",
        "kv_bound",
    ),
    "too few replicas": (
        {"running": 40, "waiting": 300, "usage": "0.2", "finished": 1_900, "itl": (0, 9_000, 200, 0, 0, 0)},
        "undersized_replica_count",
        "under_replicated",
    ),
    "too large a batch": (
        {"running": 90, "usage": "0.2", "finished": 1_300, "itl": (0, 900, 100, 9_000, 0, 0)},
        "oversized_batch",
        None,
    ),
    "too few slots": (
        {"running": 100, "waiting": 9, "usage": "0.2", "finished": 1_300, "itl": (0, 9_000, 200, 0, 0, 0)},
        "healthy",
        "slot_bound",
    ),
    "prefill lacks tokens": (
        {"running": 70, "waiting": 9, "usage": "0.2", "finished": 1_300, "itl": (0, 9_000, 200, 0, 0, 0)},
        "healthy",
        "prefill_bound",
    ),
}


@pytest.mark.parametrize("incident", INCIDENTS)
def test_11_the_dashboard_tells_the_incidents_apart(incident, tmp_path):
    later, verdict, proven = INCIDENTS[incident]
    (tmp_path / "before").write_text(snapshot(**CALM))
    (tmp_path / "after").write_text(snapshot(**later))
    signals = read_signals([tmp_path / "before", tmp_path / "after"], Fraction(60))
    answer = diagnosis(signals, small_grid(), cell_of(small_manifest(), small_grid()), small_manifest())

    assert answer.verdict.name == verdict
    holds = [one.name for one in answer.findings if one.holds]
    assert holds[:1] == ([proven] if proven and proven != "under_replicated" else holds[:1])
    assert proven is None or proven in holds
    assert answer.healthy is (incident == "none")


def test_11_no_two_incidents_look_alike():
    told = [(verdict, proven) for _, verdict, proven in INCIDENTS.values()]
    assert len(set(told)) == len(told)


def test_12_a_staged_rollout_rolls_back_on_a_planted_regression():
    rollout = sweep.start_rollout(["0.01", "0.1", 1], "0.01", 1_000, 400, "0.1", 100)
    for stage, p99 in ((1, "439.9"), (2, "440.1")):
        rollout = rollout.observe(stage, Observation(500, 0, Fraction(p99)))
    assert [decision.action for decision in rollout.decisions] == ["advance", "rollback"]
    assert (rollout.status, rollout.stage) == ("rolled_back", 2)


def test_13_the_manifest_is_versioned_as_one_unit():
    manifest, digests = small_manifest(), {small_manifest().digest}
    for name, value in (
        ("model_id", "other/model"),
        ("model_revision", "v2"),
        ("framework", "vllm==0.19.1"),
        ("replica_count", 2),
        ("batch_slots", 96),
        ("evidence", replace(manifest.evidence, evidence_id="0" * 64)),
    ):
        digests.add(replace(manifest, **{name: value}).digest)
    assert len(digests) == 7
    named = {"model_id", "model_revision", "framework", "replica_count", "batch_slots", "evidence", "digest"}
    assert named <= set(json.loads(manifest.text()))


def test_15_all_of_it_runs_offline_and_without_a_gpu(monkeypatch, tmp_path):
    def refuse(*_args, **_options):
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    grid = sweep.load_grid(GRIDS / "h100.toml", [("axis", "slots=[100]"), ("axis", "chunk=[1024]")])
    sweep.run(grid, tmp_path / "h100.nc")
    with sweep.open_result(tmp_path / "h100.nc") as result:
        manifest = sweep.deployment_manifest(result.grid, *UNIT)
        (tmp_path / "now").write_text(snapshot(running=50))
        answer = sweep.diagnosis(sweep.read_signals([tmp_path / "now"]), result.grid, result.best().cell, manifest)
    assert answer.cell.status == "within"
    assert sweep.check_manifest(manifest).starts
    assert not {"torch", "cupy", "pynvml", "vllm"} & set(sys.modules)
