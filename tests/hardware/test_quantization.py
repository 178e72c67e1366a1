"""The quantization decision: the smallest memory among the measured deltas that are tolerated."""

import json
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

import sweep
from sweep.errors import RecordFault
from sweep.hardware.quantization import REJECT_ALL, decide_quantization

GOLDEN = Path(__file__).parents[3] / "shared" / "golden" / "capstone.json"


@pytest.mark.parametrize("parse_float", [None, Decimal, Fraction, str])
def test_every_case_of_the_course(parse_float):
    if not GOLDEN.exists():
        pytest.skip("the course's right answers are not beside the project")
    cases = json.loads(GOLDEN.read_text(), parse_float=parse_float)["decide_quantization"]
    assert len(cases) >= 7
    for case in cases:
        given = decide_quantization(case["candidates"], case["max_tolerated_quality_delta"])
        assert given == case["expect"], case


def test_the_tolerance_is_inclusive_and_exact():
    candidates = [("a", 8, "0.1"), ("b", 4, Fraction(3, 10))]
    assert decide_quantization(candidates, Decimal("0.3")) == "b"
    assert decide_quantization(candidates, 0.3) == "b"  # what was typed, not the binary number below it
    assert decide_quantization(candidates, "0.29999999999999999999") == "a"
    assert decide_quantization(candidates, 0.1 + 0.2) == "b"  # 0.30000000000000004 is what that prints as
    assert decide_quantization(candidates, "0.0999") == REJECT_ALL


def test_a_candidate_without_a_measurement_is_never_chosen():
    assert decide_quantization([("a", 8, 0), ("b", 1, None)], 10**6) == "a"
    assert decide_quantization([("b", 1, None)], 10**6) == REJECT_ALL
    assert decide_quantization([], 1) == "reject_all"


def test_of_equal_memory_the_first_wins_and_a_gain_is_tolerated():
    assert decide_quantization([("a", 8, 0), ("b", 8, -1)], 0) == "a"
    assert decide_quantization([("a", 8, -0.5)], -0.5) == "a"


def test_every_fault_comes_at_once():
    candidates = [("a", 1, 0), ("a", 1, 0), ("reject_all", 1, 0), ("c", float("nan"), 0), ("d", -1, 0)]
    candidates += [("e", 1, float("inf")), ("f", True, 0), ("g", 1), "hij", ("k", 1, "x")]
    with pytest.raises(RecordFault) as caught:
        decide_quantization(candidates, float("nan"))
    places = [fault.partition(":")[0] for fault in caught.value.faults]
    assert places == ["max_tolerated_quality_delta", *(f"candidate {at}" for at in range(2, 11))]


def test_it_is_public():
    assert sweep.decide_quantization is decide_quantization
