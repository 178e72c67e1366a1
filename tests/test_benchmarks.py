"""Every benchmark runs, so that none rots; no time is asserted."""

import pytest

from benchmarks.__main__ import line
from benchmarks.cases import CASES


@pytest.mark.parametrize(
    "case", [pytest.param(name, marks=pytest.mark.slow) if name == "stored-mask" else name for name in CASES]
)
def test_the_case_runs_and_reports_a_ratio(case: str) -> None:
    outcome = CASES[case](1)

    assert outcome.seconds > 0
    assert outcome.ratio > 0
    assert f"{outcome.ratio:.2f} x {outcome.against}" in line(outcome)
