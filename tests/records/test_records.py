"""Records: exact types, bounds, identities, content ids, and the two rules of a scheduler profile."""

import pickle
import re
from dataclasses import FrozenInstanceError, fields, replace
from hashlib import sha256

import numpy as np
import pytest

from sweep.errors import RecordFault
from sweep.records import (
    BatchingContract,
    BatchingReport,
    BatchingWorkload,
    InvalidPoint,
    RequestClass,
    SchedulerProfile,
    as_json,
    canonical_json,
)
from sweep.records.bounds import CLASS_BOUNDS, CONTRACT_BOUNDS, SCHEDULER_BOUNDS, SCOPE_KEYS
from sweep.records.codes import INVALID_REASONS, VIOLATION_CODES, codes_of
from sweep.records.wording import CLAIM_SENTENCE, INVALID_MEANINGS, VIOLATION_MEANINGS

SCOPE = (
    "batching-policy-v1",
    "traffic-mix-v1",
    "tokenizer-v3",
    "model-profile-v7",
    "scheduler-profile-v4",
    "kv-layout-v2",
    "latency-slo-v3",
    "fixture-v1",
)
BOUNDS = (800, 700, 700, 50, 250, 30, 100, 10_000_000_000)
CONTRACT = BatchingContract(SCOPE, *BOUNDS)
SCHEDULER = SchedulerProfile(SCOPE, "chunked-prefill-fair-v4", 40_000, 600, 64, 480, 20, 3, 131_072)
SHORT = RequestClass(SCOPE, "interactive-short", 1, 4000, 1000, 200, 24)
LONG = RequestClass(SCOPE, "interactive-long", 2, 500, 4000, 800, 8)
WORKLOAD = BatchingWorkload(SCOPE, CONTRACT.content_id, SCHEDULER, (SHORT, LONG), True)
RECORDS = (CONTRACT, SCHEDULER, SHORT, WORKLOAD)

CHECKED = [
    *[(CONTRACT, name, limits) for name, limits in CONTRACT_BOUNDS.items()],
    *[(SCHEDULER, name, limits) for name, limits in SCHEDULER_BOUNDS.items()],
    *[(SHORT, name, limits) for name, limits in CLASS_BOUNDS.items()],
]


def changed(record, **changes):
    """The record with some fields changed, its content id computed anew."""
    return replace(record, content_id=None, **changes)


def test_published_content_ids():
    """The illustrative case has the ids that its publication gives."""
    assert CONTRACT.content_id == "ea1d51e1f58b34200ed21dd13b2af015839f4fb74bc68dd79625be99d099e8f7"
    assert SCHEDULER.content_id == "4151185ead14db9dda8dd3c85696ee9e61f37ebff2af79885ae0f2c86fda84ba"
    assert SHORT.content_id == "3333b340df6e3a8cffc6330c0a00b1dff2f5dd33f2ebf66ece3653c2c725575f"
    assert LONG.content_id == "e21a6128a274f2a8cc25233836ec67dfc6019e8bcf31cf2cb678f77abfa89421"
    assert WORKLOAD.content_id == "c0195ea0ebee89324d851b03d56bea70bbf037417ba1710bccb085e2881c79e2"


def test_content_id_is_the_digest_of_the_written_out_json():
    """Keys sorted, no spaces, tuples as arrays, no content_id of its own."""
    scope = ",".join(f'"{name}"' for name in SCOPE)
    text = (
        '{"arrival_millirps":500,"class_id":"interactive-long","output_tokens":800,"peak_concurrency":8,'
        f'"priority":2,"prompt_tokens":4000,"scope":[{scope}]}}'
    )
    assert LONG.content_id == sha256(text.encode()).hexdigest()


def test_nested_records_carry_their_content_id():
    nested = as_json(WORKLOAD)
    assert nested["scheduler"]["content_id"] == SCHEDULER.content_id
    assert [item["content_id"] for item in nested["request_classes"]] == [SHORT.content_id, LONG.content_id]


def test_canonical_json_is_ascii_and_refuses_nan():
    assert canonical_json({"b": ("é", True), "a": 2**64}) == '{"a":18446744073709551616,"b":["\\u00e9",true]}'
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical_json({"a": float("nan")})


@pytest.mark.parametrize(("record", "name", "limits"), CHECKED, ids=[name for _, name, _ in CHECKED])
def test_bounds_are_inclusive(record, name, limits):
    """At a bound a record is built, one beyond it is refused."""
    lower, upper = limits
    # A chunk of one token and a service of many, so that no rule of the profile is in the way of a bound.
    roomy = {} if record is not SCHEDULER else {"max_prefill_chunk_tokens": 1, "iteration_time_ms": 10**7}
    if name in {"token_capacity_per_second", "max_prefill_chunk_tokens"}:
        roomy |= {"prefill_share_permille": 999, "token_capacity_per_second": 10**12}
    for value in limits:
        if (name, value) == ("token_capacity_per_second", 1):
            with pytest.raises(InvalidPoint, match="no-prefill-token-per-iteration"):
                changed(record, **roomy | {name: value})  # P = 0 for any share, so no profile has it
            continue
        assert getattr(changed(record, **roomy | {name: value}), name) == value
    for value in (lower - 1, upper + 1, -1, 2**63, 10**5000):
        with pytest.raises(RecordFault, match=name) as caught:
            changed(record, **{name: value})
        assert not isinstance(caught.value, InvalidPoint)


@pytest.mark.parametrize(("record", "name", "limits"), CHECKED, ids=[name for _, name, _ in CHECKED])
def test_only_exact_ints_are_integers(record, name, limits):
    class MyInt(int):
        pass

    value = getattr(record, name)
    for wrong in (True, float(value), str(value), np.int64(value), MyInt(value), None, [10**5000]):
        with pytest.raises(RecordFault, match=name):
            changed(record, **{name: wrong})


@pytest.mark.parametrize("wrong", ["", "a\n", "-a", "a b", "é", "a" * 129, b"a", 1, None, "٣"])
def test_identities_match_fully(wrong):
    with pytest.raises(RecordFault, match="class_id"):
        changed(SHORT, class_id=wrong)
    with pytest.raises(RecordFault, match="scheduler_id"):
        changed(SCHEDULER, scheduler_id=wrong)
    with pytest.raises(RecordFault, match=re.escape("scope (tokenizer)")):
        changed(CONTRACT, scope=(*SCOPE[:2], wrong, *SCOPE[3:]))


def test_identities_at_their_limits():
    assert changed(SHORT, class_id="a" * 128).class_id == "a" * 128
    assert changed(SHORT, class_id="0_.:/@-Z").class_id == "0_.:/@-Z"


def test_a_str_subclass_is_no_identity():
    class MyStr(str):
        __slots__ = ()

    with pytest.raises(RecordFault, match="class_id"):
        changed(SHORT, class_id=MyStr("short"))


@pytest.mark.parametrize("scope", [SCOPE[:7], (*SCOPE, "ninth"), list(SCOPE), None, (*SCOPE[:7], SCOPE[0]), "a" * 8])
def test_scope_is_a_tuple_of_eight_distinct_identities(scope):
    with pytest.raises(RecordFault, match="scope"):
        changed(CONTRACT, scope=scope)


def test_all_faults_come_at_once():
    with pytest.raises(RecordFault) as caught:
        SchedulerProfile(SCOPE[:7], "", 0, 1000, True, 480, 20, 3, 131_072, "nonsense")
    named = [fault.split(":")[0].removeprefix("SchedulerProfile.") for fault in caught.value.faults]
    assert named == [
        "scope",
        "scheduler_id",
        "token_capacity_per_second",
        "prefill_share_permille",
        "max_active_sequences",
        "content_id",
    ]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: type(record).__name__)
def test_fields_order_and_content_id(record):
    """`scope` comes first, `content_id` last and optional; a given one must be the computed one."""
    names = [field.name for field in fields(record)]
    values = [getattr(record, name) for name in names]
    assert (names[0], names[-1]) == ("scope", "content_id")
    assert type(record)(*values) == type(record)(*values[:-1]) == record
    for wrong in ("0" * 64, record.content_id.upper(), record.content_id + "\n", "", 7, b""):
        with pytest.raises(RecordFault, match="content_id"):
            type(record)(*values[:-1], wrong)


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: type(record).__name__)
def test_records_are_frozen_and_travel(record):
    with pytest.raises(FrozenInstanceError):
        record.scope = ()
    assert pickle.loads(pickle.dumps(record)) == record


def test_a_change_needs_a_new_content_id():
    with pytest.raises(RecordFault, match="content_id"):
        replace(CONTRACT, max_ttft_ms=251)


# P = ⌊40 000 · 600 / 1000⌋ = 24 000 tokens/s, so an iteration of 20 ms serves 480 prefill tokens.
PROFILE_RULES = [
    ({"max_prefill_chunk_tokens": 480}, None),  # the whole service is one chunk
    ({"max_prefill_chunk_tokens": 481}, "chunk-exceeds-iteration-service"),
    ({"iteration_time_ms": 19}, "chunk-exceeds-iteration-service"),  # 456 tokens
    ({"token_capacity_per_second": 84, "max_prefill_chunk_tokens": 1}, None),  # P = 50, one token
    # P = 49: no token; with a chunk of 1 both rules hold and the first is reported
    ({"token_capacity_per_second": 83, "max_prefill_chunk_tokens": 1}, "no-prefill-token-per-iteration"),
    ({"token_capacity_per_second": 1, "prefill_share_permille": 999}, "no-prefill-token-per-iteration"),
]


@pytest.mark.parametrize(("changes", "reason"), PROFILE_RULES)
def test_rules_of_a_profile(changes, reason):
    if reason is None:
        assert changed(SCHEDULER, **changes).scheduler_id == SCHEDULER.scheduler_id
        return
    with pytest.raises(InvalidPoint, match=reason) as caught:
        changed(SCHEDULER, **changes)
    assert caught.value.reason == reason
    assert isinstance(caught.value, RecordFault)
    assert isinstance(caught.value, ValueError)
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (copy.reason, copy.faults) == (reason, caught.value.faults)


class Sneaky(RequestClass):
    __slots__ = ()


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"scheduler": None}, "scheduler"),
        ({"request_classes": ()}, "request_classes"),
        ({"request_classes": [SHORT]}, "request_classes"),
        ({"request_classes": (SHORT, SHORT)}, r"request_classes\[1\].class_id"),
        ({"request_classes": (SHORT, "x")}, r"request_classes\[1\]"),
        ({"request_classes": (Sneaky(SCOPE, "s", 1, 1, 1, 1, 1),)}, r"request_classes\[0\]"),
        ({"request_classes": tuple(changed(SHORT, class_id=f"c{i}") for i in range(65))}, "tuple of 65"),
        ({"request_classes": (changed(SHORT, scope=SCOPE[::-1]),)}, r"request_classes\[0\].scope"),
        ({"scheduler": changed(SCHEDULER, scope=SCOPE[::-1])}, "scheduler.scope"),
        ({"contract_content_id": "x"}, "contract_content_id"),
        ({"contract_content_id": CONTRACT.content_id + "\n"}, "contract_content_id"),
        ({"admission_control_enabled": 1}, "admission_control_enabled"),
        ({"admission_control_enabled": np.True_}, "admission_control_enabled"),
    ],
)
def test_workload_refuses(change, named):
    with pytest.raises(RecordFault, match=named) as caught:
        changed(WORKLOAD, **change)
    assert len(caught.value.faults) == 1


def test_a_workload_holds_64_classes_in_their_order():
    classes = tuple(changed(SHORT, class_id=f"c{i}") for i in range(64))
    forward = changed(WORKLOAD, request_classes=classes)
    backward = changed(WORKLOAD, request_classes=classes[::-1])
    assert forward.content_id != backward.content_id


REPORT = BatchingReport("REJECT_CAPACITY", ("queue-delay",), 1, 2, 3, 4, 5, 6, 7, 8, "0" * 64)


@pytest.mark.parametrize(
    "change",
    [
        {"decision": "CAPACITY_WITHIN_DECLARED_BOUND"},
        {"violations": ()},
        {"violations": ["queue-delay"]},
        {"violations": ("queue-delay", "total-utilization")},
        {"violations": ("queue-delay", "queue-delay")},
        {"violations": ("nonsense",)},
        {"peak_kv_bytes": -1},
        {"peak_kv_bytes": True},
        {"evidence_id": "0" * 63},
        {"claim": "BENCHMARK"},
    ],
)
def test_reports_are_strict(change):
    with pytest.raises(RecordFault, match="BatchingReport"):
        replace(REPORT, **change)


def test_codes_and_their_words():
    """Every code has one plain line that fits a terminal; bits and codes are in the same order."""
    assert codes_of(0b10_0000_0101) == ("admission-control-disabled", "total-utilization", "kv-capacity")
    assert codes_of(0x8000) == ()
    assert tuple(VIOLATION_MEANINGS) == VIOLATION_CODES
    assert tuple(INVALID_MEANINGS) == INVALID_REASONS
    lines = [*VIOLATION_MEANINGS.values(), *INVALID_MEANINGS.values(), *CLAIM_SENTENCE.splitlines()]
    assert max(map(len, lines)) <= 80
    assert (len(VIOLATION_CODES), len(INVALID_REASONS), len(SCOPE_KEYS)) == (10, 10, 8)
