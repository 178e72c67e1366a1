"""Properties of the reference over random cells: traffic is a prefix, and `judge` agrees with `audit`."""

from dataclasses import asdict
from fractions import Fraction

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from sweep.records import FIGURES, InvalidPoint, SchedulerProfile
from sweep.records.bounds import CLASS_BOUNDS, CONTRACT_BOUNDS, SCHEDULER_BOUNDS
from sweep.records.codes import codes_of
from sweep.reference import audit, judge, records_of

SLOW_ENOUGH = settings(max_examples=150, deadline=None)


def magnitude(lower, upper):
    """Integers of every size between the bounds, both ends often: first how many digits, then which."""
    digits = st.integers(len(str(lower)), len(str(upper)))
    inside = digits.flatmap(lambda count: st.integers(max(lower, 10 ** (count - 1)), min(upper, 10**count - 1)))
    return st.one_of(inside, st.sampled_from([lower, upper]))


@st.composite
def cells(draw, loose=False):
    """The fields of a cell and its class ids; `loose` draws calm traffic under wide bounds."""
    fields = {}
    for name, (lower, upper) in CONTRACT_BOUNDS.items():
        floor = min(upper, {"permille": 900}.get(name.rsplit("_", 1)[1], 10**6)) if loose else lower
        fields[f"contract.{name}"] = draw(magnitude(floor, upper))
    for name, (lower, upper) in SCHEDULER_BOUNDS.items():
        fields[f"scheduler.{name}"] = draw(magnitude(lower, upper))
    if loose:
        calm = {
            "token_capacity_per_second": draw(st.integers(10**3, 10**6)),
            "prefill_share_permille": draw(st.integers(200, 800)),
            "max_prefill_chunk_tokens": draw(st.integers(1, 16)),
            "iteration_time_ms": draw(st.integers(100, 10**4)),
            "max_active_sequences": draw(st.integers(100, 10**4)),
            "max_consecutive_priority_iterations": draw(st.integers(1, 10)),
            "kv_bytes_per_token": draw(st.integers(1, 10**3)),
        }
        fields |= {f"scheduler.{name}": value for name, value in calm.items()}
    fields["scheduler.scheduler_id"] = "fair"
    fields["workload.admission_control_enabled"] = loose or draw(st.booleans())
    fields["traffic.scale_permille"] = draw(magnitude(1, 10**15))
    fields["traffic.replicas"] = draw(magnitude(1, 10**6))
    fields["traffic.scale_concurrency"] = draw(st.booleans())
    class_ids = [f"c{index}" for index in range(draw(st.integers(1, 3)))]
    for class_id in class_ids:
        for name, (lower, upper) in CLASS_BOUNDS.items():
            fields[f"class.{class_id}.{name}"] = draw(magnitude(lower, min(upper, 1000) if loose else upper))
        if draw(st.booleans()):
            fields[f"class.{class_id}.peak_concurrency"] = "from-slo"
            fields[f"class.{class_id}.burst_permille"] = draw(magnitude(1, 10**6))
    if not loose:
        draw_models(draw, fields)
    return fields, class_ids


def draw_models(draw, fields):
    """Step time and memory, each or neither."""
    if draw(st.booleans()):
        fields["step_time.base_ns"] = draw(magnitude(1, 10**15))
        fields["step_time.per_sequence_ns"] = draw(st.integers(0, 10**6))
        fields["step_time.per_prefill_token_ns"] = draw(st.integers(0, 10**6))
        if draw(st.booleans()):
            fields["step_time.capacity"] = "from-step-time"
    if draw(st.booleans()):
        ratio = Fraction(draw(st.integers(1, 1024)), draw(st.integers(1, 1024)))
        fields["model.kv_bytes_per_value"] = ratio.numerator if ratio.denominator == 1 else ratio
        for name in ("layers", "kv_heads", "head_dim"):
            fields[f"model.{name}"] = draw(magnitude(1, 10**5))
        fields["model.weight_bytes"] = draw(magnitude(1, 10**12))
        fields["gpu.tensor_parallel"] = draw(magnitude(1, 10**4))
        fields["gpu.memory_bytes"] = draw(magnitude(1, 10**18))
        fields["gpu.memory_utilization_permille"] = draw(st.integers(1, 1000))
        fields["gpu.activation_bytes"] = draw(magnitude(1, 10**12))
        fields["gpu.framework_overhead_bytes"] = 0
        if draw(st.booleans()):
            fields["contract.max_kv_bytes"] = "from-memory"


@SLOW_ENOUGH
@given(cells(loose=True))
def test_feasibility_is_a_prefix_along_traffic(drawn):
    """Once infeasible, more traffic never helps; scales 1, 2, 4, … and their neighbours."""
    fields, class_ids = drawn
    scales = sorted({min(10**15 + 1, 2**power + near) for power in range(51) for near in (0, 1)})
    feasible = [judge(fields | {"traffic.scale_permille": scale}, class_ids).violations == 0 for scale in scales]
    event(f"feasible at all: {any(feasible)}")
    assert feasible == sorted(feasible, reverse=True)
    assert not feasible[-1]


@SLOW_ENOUGH
@given(st.one_of(cells(), cells(loose=True)))
def test_judge_agrees_with_audit(drawn):
    """A valid cell has records whose audit says the same; an invalid one has none, for the same reason."""
    fields, class_ids = drawn
    judgement = judge(fields, class_ids)
    event(judgement.reason)
    if judgement.invalid_reason:
        with pytest.raises(InvalidPoint) as caught:
            records_of(fields, class_ids)
        assert caught.value.reason == judgement.reason
        assert judgement.violations == 0x8000
        return
    report = asdict(audit(*records_of(fields, class_ids)))
    assert {name: report[name] for name in FIGURES} == {name: judgement.figures[name] for name in FIGURES}
    assert report["violations"] == codes_of(judgement.violations)
    assert min(judgement.figures.values()) >= 0


@SLOW_ENOUGH
@given(st.fixed_dictionaries({name: magnitude(*limits) for name, limits in SCHEDULER_BOUNDS.items()}))
def test_profile_rules_are_those_of_judge(profile):
    """The constructor refuses a profile for the reason that `judge` gives a cell with it."""
    fields = {f"scheduler.{name}": value for name, value in profile.items()}
    fields |= {f"contract.{name}": upper for name, (_, upper) in CONTRACT_BOUNDS.items()}
    fields |= {f"class.c.{name}": lower for name, (lower, _) in CLASS_BOUNDS.items()}
    try:
        SchedulerProfile(tuple("abcdefgh"), "fair", **profile)
        reason = "valid"
    except InvalidPoint as fault:
        reason = fault.reason
    assert judge(fields, ["c"]).reason == reason


@SLOW_ENOUGH
@given(cells())
def test_every_defined_figure_fits_two_limbs(drawn):
    """A file stores hi·10^18 + lo with hi in int64: defined figures are 0 or more and below 2^63·10^18."""
    judgement = judge(*drawn)
    assert all(value == -1 or 0 <= value < 2**63 * 10**18 for value in judgement.figures.values())
