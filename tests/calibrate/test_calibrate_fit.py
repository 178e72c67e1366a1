"""Non-negative least squares in exact arithmetic, and what points can and cannot tell."""

from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sweep.calibrate.fit import fit
from sweep.calibrate.measured import StepPoint
from sweep.calibrate.squares import least_squares, predicted, rows_of, separated, solve
from sweep.calibrate.step_time import doubts_of, step_time_of, why_not
from sweep.errors import InputFault


def point(batch, chunk, step, kind="stated"):
    """A point in sequences, tokens and ns."""
    return StepPoint("x", kind, Fraction(batch), Fraction(chunk), Fraction(step))


def test_the_step_time_of_the_course():
    """ITL(b) = 15 + 1·b ms (`models.md`, "Tune")."""
    found = fit([point(b, 0, (15 + b) * 10**6) for b in (1, 2, 4, 8, 16)])
    assert found.exact == (15 * 10**6, 10**6, None)
    assert found.combined is None


def test_three_coefficients_come_out_exactly():
    rows = [(1, 0), (8, 0), (64, 0), (0, 1_024), (32, 512)]
    found = fit([point(b, c, 7_000_000 + 74_000 * b + 33_000 * c) for b, c in rows])
    assert found.exact == (7_000_000, 74_000, 33_000)


def test_a_small_case_by_hand():
    """y = 1, 2, 2 at b = 0, 1, 2 with c = 1 in the first only: residuals are those of a line through two points."""
    found = fit([point(1, 0, 10), point(2, 0, 20), point(3, 0, 60)])
    # the line 25·b − 20 has a negative base; without it Σby/Σb² = (10 + 40 + 180)/14
    assert found.exact == (0, Fraction(230, 14), None)


def test_a_coefficient_is_never_negative_and_is_rounded_up():
    step_time = step_time_of([point(1, 0, 10), point(2, 0, 20), point(3, 0, 60)])
    assert step_time.coefficients == (0, 17, None)
    assert [step_time.residual_ns(one) for one in step_time.fit.used] == [-7, -14, 9]


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30), st.integers(1, 60)), min_size=1, max_size=8))
def test_no_nearby_coefficients_fit_better(rows):
    """The problem is convex: what beats all its feasible neighbours beats everything."""
    points = [point(b, c, y) for b, c, y in rows]
    best = least_squares(rows_of(points), range(3))
    assert all(value >= 0 for value in best)

    def squares(values):
        return sum((one.step_ns - predicted(values, one)) ** 2 for one in points)

    for step in (Fraction(1, 10), Fraction(1, 1000)):
        for move in product((-step, 0, step), repeat=3):
            moved = [max(value + by, Fraction(0)) for value, by in zip(best, move, strict=True)]
            assert squares(best) <= squares(moved)


SMALL = st.integers(-9, 9)
ROW = st.lists(SMALL, min_size=3, max_size=3)


@given(st.lists(ROW, min_size=3, max_size=3), ROW)
def test_what_solve_gives_solves_the_system(matrix, right):
    rows = [[Fraction(value) for value in row] for row in matrix]
    found = solve(rows, [Fraction(value) for value in right])
    if found is not None:
        assert [sum(a * x for a, x in zip(row, found, strict=True)) for row in rows] == right


def test_one_point_gives_one_combination_and_no_coefficient():
    step_time = step_time_of([point(8, 0, 23_000_000)])
    assert step_time.coefficients == (None, None, None)
    assert step_time.combination == "base + 8 · per sequence = 23.000 ms"
    (batch, prefill) = why_not(step_time)
    assert batch.startswith("base_ns, per_sequence_ns: all points have the same batch and prefill")
    assert prefill.startswith("per_prefill_token_ns: no point has prefill tokens")


def test_one_mix_of_lengths_does_not_separate_prefill_from_decoding():
    """At one mix a decoding sequence brings r prefill tokens with it, whatever the load."""
    rows = [(b, 3 * (b - 1)) for b in (1, 2, 4, 8)]
    step_time = step_time_of([point(b, c, 15_000_000 + 1_000_000 * b + 100_000 * c) for b, c in rows])
    assert step_time.coefficients == (None, None, None)
    assert step_time.fit.line == (14_700_000, 1_300_000)
    assert "the prefill grows with the batch" in why_not(step_time)[0]
    prefill = point(0, 1_000, 15_000_000 + 100_000_000)
    assert fit([*step_time.fit.used, prefill]).exact == (15_000_000, 1_000_000, 100_000)


def test_a_stated_prefill_separates_the_others():
    rows = [(b, 3 * (b - 1)) for b in (1, 2, 4, 8)]
    points = [point(b, c, 15_000_000 + 1_000_000 * b + 100_000 * c) for b, c in rows]
    step_time = step_time_of(points, 100_000)
    assert step_time.coefficients == (15_000_000, 1_000_000, 100_000)
    assert step_time.fit.used == tuple(points)
    assert [step_time.residual_ns(one) for one in points] == [0, 0, 0, 0]
    assert (step_time.measured_slots, step_time.measured_chunk_tokens) == ((1, 8), (0, 21))
    assert why_not(step_time) == []
    with pytest.raises(InputFault, match="its 3 prefill tokens take longer than its step"):
        step_time_of(points, 10_000_000)


def test_what_is_separated_is_given_where_the_rest_is_not():
    found = fit([point(8, 0, 23), point(8, 10, 33), point(8, 100, 123)])
    assert found.exact == (None, None, 1)


def test_points_that_are_almost_alike_separate_nothing():
    nearly = [point(60 + at / 100, 0, 75_000_000 + at * 9_999) for at in range(5)]
    assert separated(rows_of(nearly), (0, 1)) == []
    assert fit(nearly).exact == (None, None, None)


def test_points_of_a_stalled_engine_are_left_out_and_others_never():
    clean = [point(b, c, 15_000_000 + 10**6 * b + 10**5 * c, "request") for b in (4, 8, 16) for c in (0, 50, 200)]
    stalled = [point(8, 50, 90_000_000, "request"), point(16, 0, 41_000_000, "request")]
    found = fit(clean + stalled)
    assert found.exact == (15 * 10**6, 10**6, 10**5)
    assert found.left_out == tuple(stalled)
    run = point(8, 50, 90_000_000, "run")
    assert fit([*clean, run]).left_out == ()


def test_rare_prefill_is_not_taken_for_a_stall():
    """Most seconds hold no prefill and the few that do are far longer: the faster half alone has none of them."""
    points = [point(b, 0, 15_000_000 + 10**6 * b, "second") for b in range(1, 25)]
    points += [point(b, 500, 15_000_000 + 10**6 * b + 50_000_000, "second") for b in (4, 8, 12)]
    found = fit(points)
    assert found.exact == (15 * 10**6, 10**6, 10**5)
    assert found.left_out == ()


@pytest.mark.parametrize("order", [1, -1])
def test_the_order_of_points_does_not_matter(order):
    points = [point(b, c, 7 + 3 * b + 2 * c + b * c % 5, "second") for b in range(1, 9) for c in range(0, 90, 30)]
    assert fit(points[::order]).exact == fit(points).exact


def test_the_measured_range_is_rounded_outwards():
    step_time = step_time_of([point(1.5, 0.2, 20), point(63.25, 100.9, 200)])
    assert (step_time.measured_slots, step_time.measured_chunk_tokens) == ((1, 64), (0, 101))


def test_points_exactly_on_the_model_give_exactly_its_coefficients():
    """6 ms + 0.08 ms · b + 0.03 ms · c, with thirds and sevenths that no 1/1000 holds."""
    thirds = [(Fraction(b, 3), Fraction(c, 7)) for b, c in ((1, 0), (8, 10), (64, 1_000), (5, 3_001), (100, 13))]
    points = [StepPoint("x", "run", b, c, 6_000_000 + 80_000 * b + 30_000 * c) for b, c in thirds]
    step_time = step_time_of(points)
    assert step_time.fit.exact == step_time.coefficients == (6_000_000, 80_000, 30_000)
    assert {step_time.residual_ns(one) for one in points} == {0}
    beside = step_time_of(points, 30_000)
    assert beside.coefficients == (6_000_000, 80_000, 30_000)
    assert (beside.measured_slots, beside.measured_chunk_tokens) == ((0, 34), (0, 429))


def test_points_without_a_short_common_denominator_are_rounded_finely():
    """Ten thousand different denominators: still the coefficients to a part in a million, and in bounded time."""
    numbers = range(1, 10_001)
    points = [
        StepPoint("x", "run", at % 70 + Fraction(1, at), at % 11 + Fraction(1, at), Fraction(0)) for at in numbers
    ]
    points = [replace(one, step=7_000_000 + 80_000 * one.batch + 30_000 * one.chunk) for one in points]
    found = step_time_of(points).fit.exact
    assert all(abs(got - wanted) * 10**6 < wanted for got, wanted in zip(found, (7e6, 8e4, 3e4), strict=True))


def test_a_zero_and_a_point_far_from_the_fit_get_a_remark():
    zero, far = doubts_of(step_time_of([point(1, 0, 10), point(2, 0, 20), point(3, 0, 60)]))
    assert zero.startswith("base_ns is 0: ")
    assert far.startswith("3 of 3 points are more than a tenth of their step away from the fit, x by ")
    assert doubts_of(step_time_of([point(b, 0, (15 + b) * 10**6) for b in (1, 2, 4)])) == []
