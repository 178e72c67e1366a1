"""Guardrails, the rollback rule, stages in order, and a state file that a kill or a hand cannot bend."""

import json
import os
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sweep
from sweep.errors import InputFault, RecordFault, ResultFault, UsageFault
from sweep.operate.rollout import NOT_ENOUGH_DATA, Observation, Rollout, decide
from sweep.operate.rollout_state import parse_state, read_observation, read_state, state_text
from sweep.records import digest

GOLDEN = Path(__file__).parents[3] / "shared" / "golden" / "capstone.json"


def golden(name):
    if not GOLDEN.exists():
        pytest.skip("the course's right answers are not beside the project")
    return json.loads(GOLDEN.read_text(), parse_float=Decimal)[name]


def test_the_golden_stages():
    cases = golden("evaluate_rollout_stage")
    assert len(cases) == 5
    for case in cases:
        expected = case.pop("expect")
        assert sweep.evaluate_rollout_stage(**case) == expected, case


def test_the_golden_rollbacks():
    cases = golden("should_rollback")
    assert len(cases) == 6
    for case in cases:
        expected = case.pop("expect")
        assert sweep.should_rollback(**case) is expected, case


def test_the_rules_are_exact_where_binary_numbers_are_not():
    """In binary 100 · (1 + 0.1) is a little over 110, and 0.1 + 0.2 over 0.3."""
    assert not sweep.should_rollback(100, 110.0, 0.1)
    assert sweep.should_rollback(100, Fraction(110) + Fraction(1, 10**40), "0.1")
    assert sweep.evaluate_rollout_stage("0.3", 1, "0.3", 1) == "advance"
    with pytest.raises(RecordFault) as fault:
        sweep.should_rollback(float("nan"), -1, "x")
    assert len(fault.value.faults) == 3


def begun(stages=("0.01", "0.1", "0.5", 1), **changes):
    numbers = {"error_guardrail": "0.01", "latency_guardrail_ms": 500, "old_p99_ms": 400, "regression_tolerance": "0.1"}
    return sweep.start_rollout(list(stages), **{**numbers, "min_samples": 200, **changes})


GOOD = Observation(1_000, 3, Fraction(430))
SLOW = Observation(1_000, 3, Fraction(441))
FAILING = Observation(1_000, 11, Fraction(430))
FEW = Observation(199, 0, Fraction(1))


def test_decisions_by_hand():
    plan = begun().plan
    assert decide(plan, GOOD).action == "advance"
    assert decide(plan, Observation(1_000, 10, Fraction(440))).action == "advance"  # both at their limits
    assert decide(plan, SLOW).action == "rollback"
    assert decide(plan, FAILING).action == "halt"
    assert decide(plan, FEW).action == NOT_ENOUGH_DATA
    assert decide(plan, Observation(200, 0, Fraction(1))).action == "advance"
    both = decide(plan, Observation(100_000, 5_000, Fraction(501)))
    assert (both.action, len(both.reasons)) == ("rollback", 3)
    assert decide(plan, Observation(0, 0, Fraction(0))).action == NOT_ENOUGH_DATA


def test_a_rollout_that_passes_every_stage_is_completed():
    rollout = begun()
    for stage in range(1, 5):
        assert (rollout.status, rollout.stage) == ("running", stage)
        rollout = rollout.observe(stage, GOOD)
    assert (rollout.status, rollout.stage) == ("completed", 4)


def test_too_few_requests_keep_the_stage_and_are_replaced_by_more():
    rollout = begun().observe(1, FEW)
    assert (rollout.status, rollout.stage) == ("running", 1)
    again = rollout.observe(1, GOOD)
    assert (again.stage, len(again.observations)) == (2, 1)


def test_a_stage_is_decided_once_and_asking_again_changes_nothing():
    rollout = begun().observe(1, GOOD)
    assert rollout.observe(1, GOOD) == rollout
    with pytest.raises(UsageFault, match="the rollout is at stage 2"):
        rollout.observe(1, SLOW)
    with pytest.raises(UsageFault, match="the rollout is at stage 2"):
        rollout.observe(3, GOOD)
    ended = rollout.observe(2, SLOW)
    assert ended.observe(2, SLOW) == ended
    for stage, seen in ((2, GOOD), (3, GOOD)):
        with pytest.raises(UsageFault, match="the rollout is rolled_back at stage 2"):
            ended.observe(stage, seen)


@given(st.integers(1, 4), st.booleans(), st.lists(st.integers(0, 3), max_size=4))
def test_a_planted_regression_is_caught_at_its_stage_and_not_before(planted, slow, waits):
    """However often a stage was asked with too few requests before."""
    rollout = begun()
    for stage in range(1, planted):
        for _ in range(waits[stage - 1] if stage <= len(waits) else 0):
            rollout = rollout.observe(stage, FEW)
        rollout = rollout.observe(stage, GOOD)
        assert rollout.decisions[-1].action == "advance"
    rollout = rollout.observe(planted, SLOW if slow else FAILING)

    assert (rollout.status, rollout.stage) == ("rolled_back" if slow else "halted", planted)


OBSERVATIONS = st.lists(st.sampled_from([GOOD, SLOW, FAILING, FEW]), max_size=8)


def played(observations, rollout=None):
    rollout = begun() if rollout is None else rollout
    for seen in observations:
        if rollout.status == "running":
            rollout = rollout.observe(rollout.stage, seen)
    return rollout


@given(OBSERVATIONS, OBSERVATIONS)
def test_a_state_comes_back_from_its_file_and_goes_on_as_if_nothing_had_happened(first, rest):
    rollout = played(first)
    again = parse_state(state_text(rollout))

    assert again == rollout
    assert played(rest, again) == played(rest, rollout)


def test_every_wrong_plan_is_said_at_once():
    with pytest.raises(RecordFault) as fault:
        begun(["0.5", "0.5"], error_guardrail=2, latency_guardrail_ms=10**10, min_samples=0)
    assert [sentence.partition(":")[0] for sentence in fault.value.faults] == [
        "stages",
        "error_guardrail",
        "latency_guardrail_ms",
        "min_samples",
    ]
    for stages in ([], ["0.1"], ["0", 1], ["0.1", "1.1"], [Fraction(k, 200) for k in range(1, 201)]):
        with pytest.raises(RecordFault, match="stages"):
            begun(stages)
    with pytest.raises(RecordFault, match="60 digits"):
        begun([Fraction(1, 3), 1])
    with pytest.raises(RecordFault, match="min_samples"):
        begun(min_samples=1.5)


def changed(**changes):
    document = json.loads(state_text(begun().observe(1, GOOD).observe(2, FEW)))
    for path, value in changes.items():
        *tables, last = path.split("__")
        place = document
        for name in tables:
            place = place[int(name) if name.isdigit() else name]
        if value is ...:
            del place[last]
        else:
            place[last] = value
    return document


def resealed(document):
    """With the digest that it would have: only the decisions still tell."""
    document.pop("digest")
    return {**document, "digest": digest(document)}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        (state_text(begun())[:-20], "is not JSON"),
        ("{}", "rollout_version: missing"),
        ('{"a":1,"a":1}', "twice"),
        (changed(rollout_version=2), "rollout_version: got 2"),
        (changed(plan__min_samples=100), "altered or damaged"),
        (changed(observed__0__requests=10**16), "observed[0].requests: got"),
        (changed(observed__0__requests=True), "observed[0].requests: got true"),
        (changed(observed__0__p99_latency_ms=430), "got 430, wanted a decimal from 0 on as a text"),
        (changed(observed__0__p99_latency_ms="NaN"), 'got "NaN"'),
        (changed(observed__0__errors=2_000), "more than the 1 000 requests"),
        (changed(observed__0__decision="go"), 'got "go"'),
        (changed(plan__stages=["0.5"]), "plan.stages: wanted shares above 0 that rise to 1"),
        (changed(plan__stages=[]), "plan.stages: got an empty list"),
        (changed(plan__old_p99_ms=...), "plan.old_p99_ms: got"),
        (changed(plan=3), "plan: got 3"),
        (changed(observed=...), "observed: missing"),
        (changed(extra=1), "extra: unknown key"),
        (changed(digest=...), "digest: missing"),
        (resealed(changed(observed__0__decision="rollback")), "altered or damaged"),
        (resealed(changed(observed__0__p99_latency_ms="441")), "altered or damaged"),
    ],
)
def test_a_damaged_or_altered_state_is_refused_with_one_sentence(text, said):
    with pytest.raises(ResultFault) as fault:
        parse_state(text if isinstance(text, str) else json.dumps(text), "state.json")
    assert said in fault.value.faults[0]
    assert fault.value.faults[0].startswith("state.json: ")


def test_a_state_with_stages_after_its_end_is_refused_even_with_a_digest():
    bent = Rollout(begun().plan, (SLOW, GOOD))
    with pytest.raises(ResultFault, match="altered or damaged"):
        parse_state(state_text(bent))


@given(st.integers(0, 700), st.integers(0, 255))
def test_no_changed_byte_of_a_state_goes_unseen(at, byte):
    whole = begun().observe(1, GOOD)
    data = bytearray(state_text(whole).encode())
    data[at % len(data)] = byte
    try:
        found = parse_state(data.decode("utf-8", "replace"))
    except ResultFault:
        return
    assert found == whole


def test_hostile_states(tmp_path):
    with pytest.raises(ResultFault, match="is a folder"):
        read_state(tmp_path)
    with pytest.raises(ResultFault, match="no such file"):
        read_state(tmp_path / "none")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ResultFault, match="a pipe"):
        read_state(tmp_path / "pipe")
    (tmp_path / "huge").write_bytes(b" " * (2**20 + 1))
    with pytest.raises(ResultFault, match="larger than"):
        read_state(tmp_path / "huge")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"requests": 5, "errors": 6, "p99_latency_ms": 1}', "errors: got 6, more than the 5 requests"),
        ('{"requests": 5.5, "errors": 0, "p99_latency_ms": 1}', "requests: got 5.5"),
        ('{"requests": 5, "errors": 0, "p99_latency_ms": NaN}', "p99_latency_ms: got NaN"),
        ('{"requests": 5, "errors": 0}', "p99_latency_ms: missing"),
        ('{"requests": 5, "errors": 0, "p99_latency_ms": 1, "p99": 1}', "p99: unknown key"),
        ('{"requests": 5, "errors": 0, "p99_latency_ms": ' + "1." + "1" * 70 + "}", "more than 60 decimals"),
    ],
)
def test_a_wrong_observation_is_one_sentence(tmp_path, text, said):
    (tmp_path / "seen.json").write_text(text)
    with pytest.raises(InputFault) as fault:
        read_observation(tmp_path / "seen.json")
    assert said in fault.value.faults[0]
    assert len(fault.value.faults) == 1
