"""The manifest as a unit: digest, round trip, difference, and what a file of it may not hold."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from served import UNIT, manifests, small_grid, small_manifest

import sweep
from sweep.errors import AskedForFailure, InputFault, UsageFault
from sweep.operate.manifest import diff_manifests, engine_of, is_model_id, is_revision
from sweep.operate.manifest_point import cell_of, evidence_faults
from sweep.operate.manifest_read import parse_manifest, read_manifest
from sweep.records import digest


@given(manifests())
def test_a_manifest_comes_back_from_its_file_and_the_same_bytes_again(manifest):
    again = parse_manifest(manifest.text())

    assert again == manifest
    assert again.text() == manifest.text()
    assert diff_manifests(manifest, again) == ()


@given(manifests(), manifests())
def test_two_manifests_differ_exactly_where_their_digests_do(one, other):
    assert (one.digest == other.digest) == (diff_manifests(one, other) == ()) == (one == other)


@given(manifests(), st.sampled_from(["batch_slots", "replica_count", "longest_sequence_tokens"]))
def test_one_changed_field_is_another_unit_and_the_only_difference(manifest, field):
    changed = replace(manifest, **{field: getattr(manifest, field) + 1})
    (difference,) = diff_manifests(manifest, changed)

    assert changed.digest != manifest.digest
    assert (difference.field, difference.new - difference.old) == (field, 1)


def test_the_digest_is_the_sha_256_of_the_canonical_json_without_it():
    document = json.loads(small_manifest().text())
    stated = document.pop("digest")

    assert stated == small_manifest().digest == digest(document)


def test_the_manifest_of_the_largest_point():
    manifest = small_manifest()

    assert (manifest.model_id, manifest.model_revision, manifest.framework) == UNIT
    assert (manifest.replica_count, manifest.batch_slots, manifest.tokens_per_step) == (1, 100, 1_124)
    assert dict(manifest.evidence.point)["traffic_scale_permille"] == 1_452
    assert manifest.evidence.grid_sha256 == small_grid().sha256
    assert manifest.longest_sequence_tokens == 2_048 + 28  # the longer class


def test_its_evidence_is_that_of_the_audit_and_holds():
    report, ids = cell_of(small_manifest(), small_grid()).audited()
    evidence = small_manifest().evidence

    assert evidence.evidence_id == report.evidence_id
    assert (evidence.contract_content_id, evidence.workload_content_id) == (ids["contract"], ids["workload"])
    assert evidence_faults(small_manifest(), small_grid()) == []


def test_evidence_that_was_changed_does_not_hold():
    more = replace(small_manifest(), batch_slots=101)
    assert evidence_faults(more, small_grid()) == [
        "evidence: batch_slots: the manifest and a new audit of its point do not agree; make the manifest again."
    ]
    with pytest.raises(UsageFault, match="give the result that it was made from"):
        evidence_faults(small_manifest(), small_grid(("set", "contract.max_ttft_ms=400")))
    with pytest.raises(UsageFault, match="has no evidence"):
        cell_of(replace(small_manifest(), evidence=None), small_grid())


def test_a_rejected_or_invalid_point_has_no_manifest():
    with pytest.raises(AskedForFailure, match="is rejected by"):
        sweep.deployment_manifest(small_grid(), *UNIT, at={"traffic": 2_000})
    with pytest.raises(AskedForFailure, match="is invalid by chunk-exceeds-iteration-service"):
        sweep.deployment_manifest(small_grid(), *UNIT, at={"slots": 100, "share": 800, "chunk": 1_024})


def test_every_wrong_name_is_said_at_once():
    with pytest.raises(UsageFault) as fault:
        sweep.deployment_manifest(small_grid(), "-rf", "main", "vllm>=0.19", longest_sequence_tokens=0)
    assert [sentence.partition(":")[0] for sentence in fault.value.faults] == [
        "model",
        "revision",
        "framework",
        "longest",
    ]


def test_pins_revisions_and_ids():
    assert engine_of("tensorrt-llm==1.0.0rc3") == "tensorrt-llm"
    assert [engine_of(text) for text in ("vllm", "vllm==", "vllm>=0.19", "tgi==3.0", "vllm==0.19 ")] == [None] * 5
    assert all(map(is_revision, ("v1.0", "0e9e39f2", "refs/pr/7")))
    assert not any(map(is_revision, ("", "main", "Main", "refs/heads/main", "latest", "-x", "a b", "a\nb", "x" * 129)))
    assert all(map(is_model_id, ("a/b", "/models/my llama", "x;rm -rf /", "名")))
    assert not any(map(is_model_id, ("", " a", "-a", "a\n", "a\x00", "x" * 257, "\u202ea")))


def document(**changes):
    found = {**small_manifest().payload(), **changes}
    return {key: value for key, value in found.items() if value is not ...}


def fault_of(text):
    with pytest.raises(InputFault) as fault:
        parse_manifest(text if isinstance(text, str) else json.dumps(text), "m.json")
    return fault.value.faults


def test_one_written_by_hand_needs_no_digest_and_no_evidence():
    by_hand = parse_manifest(json.dumps(document(evidence=..., kv_bytes_per_value=...), indent=2))

    assert by_hand.evidence is None
    assert by_hand.kv_bytes_per_value is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("{", "line 1, column 2 is not JSON"),
        ("[]", "holds an empty list"),
        ("{}", "manifest_version: missing, so it is not a deployment manifest"),
        ('{"a": 1, "a": 2}', 'has the key "a" twice'),
        ("[" * 100_000, "nested too deep"),
        ('{"manifest_version": ' + "9" * 5_000 + "}", "more than 4 300 digits"),
        (document(manifest_version=2), "manifest_version: got 2, wanted a whole number from 1 to 1"),
        (document(manifest_version=True), "manifest_version: got true"),
        (document(batch_slots=0), "batch_slots: got 0, wanted a whole number from 1 to 1 000 000"),
        (document(batch_slots="100"), 'batch_slots: got "100"'),
        (document(batch_slots=1.0), "batch_slots: got 1.0"),
        (document(batch_slots=float("nan")), "batch_slots: got NaN"),
        (document(batch_slots=...), "batch_slots: missing"),
        (document(model_revision="main"), 'model_revision: got "main", wanted a commit or a tag'),
        (document(model_id="a\x1b[31m"), "model_id: got"),
        (document(framework="vllm"), "wanted an exact pin such as vllm==0.19.0"),
        (document(batch_slot=1), "batch_slot: unknown key, the nearest known one is batch_slots"),
        (document(memory=None), "memory: missing, and kv_pool_bytes too"),
        (document(kv_pool_bytes=5), "kv_pool_bytes: follows from memory"),
        (document(kv_bytes_per_value="17/0"), "kv_bytes_per_value: got"),
        (document(requests={"a b": {"tokens": 1, "peak_concurrency": 1}}), "is no class id"),
        (document(digest="0" * 64), "so it was altered"),
    ],
)
def test_a_wrong_file_is_one_sentence(text, said):
    (sentence,) = fault_of(text)

    assert sentence.startswith("m.json: ")
    assert said in sentence
    assert sentence.isprintable()


def test_every_fault_of_a_file_comes_at_once():
    wrong = document(batch_slots=0, framework="x", extra=1, memory={"memory_bytes": -1})
    assert len(fault_of(wrong)) == 3 + 6


def test_hostile_files(tmp_path):
    with pytest.raises(InputFault, match="is a folder"):
        read_manifest(tmp_path)
    with pytest.raises(InputFault, match="there is no such file"):
        read_manifest(tmp_path / "none.json")
    (tmp_path / "binary").write_bytes(bytes(range(256)))
    with pytest.raises(InputFault, match="is not UTF-8"):
        read_manifest(tmp_path / "binary")
    (tmp_path / "huge").write_bytes(b" " * (4 * 2**20 + 1))
    with pytest.raises(InputFault, match="larger than"):
        read_manifest(tmp_path / "huge")


@given(st.integers(0, 2_000), st.integers(0, 255))
def test_no_changed_byte_goes_unseen(at, byte):
    """An altered file is refused, or is the same manifest."""
    data = bytearray(small_manifest().text().encode())
    data[at % len(data)] = byte
    try:
        found = parse_manifest(data.decode("utf-8", "replace"))
    except InputFault:
        return
    assert found.payload() == small_manifest().payload() or b'"digest"' not in bytes(data)
