"""Spaced axes are exact; arithmetic progressions have one form."""

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sweep.grid.spacing import by_step, geometric, linear, normal


def nearest_root(start: int, stop: int, k: int, m: int) -> int:
    """The integer n with (2n − 1)^m ≤ 2^m·start^(m−k)·stop^k < (2n + 1)^m: the nearest, halves up."""
    power = 2**m * start ** (m - k) * stop**k
    low, high = start, stop + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if (2 * middle - 1) ** m <= power else (low, middle)
    return low


@settings(max_examples=200, deadline=None)
@given(st.integers(1, 10**18), st.integers(0, 10**18), st.integers(2, 40))
@example(1, 511, 40)
@example(1, 10**18 - 1, 40)
@example(1, 0, 2)
@example(10**18, 0, 7)
@example(2**53 - 1, 2, 9)
def test_geometric_spacing_agrees_with_exact_integer_roots(start, width, num):
    stop = start + width
    expected = sorted({nearest_root(start, stop, k, num - 1) for k in range(num)})
    assert geometric(start, stop, num) == expected


@pytest.mark.parametrize(
    ("start", "stop", "num", "expected"),
    [
        (1, 1_000, 4, [1, 10, 100, 1_000]),
        (2, 32, 5, [2, 4, 8, 16, 32]),
        (1, 8, 7, [1, 2, 3, 4, 6, 8]),  # 1.41 -> 1 is dropped, 2.83 -> 3, 5.66 -> 6
        (5, 5, 9, [5]),
        (1, 2, 3, [1, 2]),  # 1.41
        (3, 4, 2, [3, 4]),
        (10**18 - 1, 10**18, 3, [10**18 - 1, 10**18]),  # the middle is just below the half, by 10^-19
    ],
)
def test_geometric_spacing_by_hand(start, stop, num, expected):
    assert geometric(start, stop, num) == expected


def test_geometric_spacing_of_a_hundred_thousand_points_ends_where_it_should():
    points = geometric(1, 10**18, 10**5 + 1)
    assert (points[0], points[-1], 10**9 in points) == (1, 10**18, True)  # 10^9 is the exact middle
    assert all(before < after for before, after in pairwise(points))


@given(st.integers(0, 10**18), st.integers(0, 10**6), st.integers(2, 60))
def test_linear_spacing_is_the_nearest_integer_halves_up(start, width, num):
    half = Fraction(1, 2)
    exact = [start + Fraction(k * width, num - 1) for k in range(num)]
    expected = sorted({(value + half).__floor__() for value in exact})
    assert list(linear(start, start + width, num)) == expected


def test_linear_spacing_rounds_halves_up():
    assert list(linear(0, 5, 3)) == [0, 3, 5]


@pytest.mark.parametrize(
    ("start", "stop", "step", "expected"), [(1, 10, 3, [1, 4, 7, 10]), (1, 9, 3, [1, 4, 7]), (5, 5, 9, [5])]
)
def test_stop_is_included_when_a_step_hits_it(start, stop, step, expected):
    assert list(by_step(start, stop, step)) == expected


def test_four_equally_spaced_values_are_a_range_and_three_are_not():
    assert normal([1, 3, 5, 7]) == range(1, 8, 2)
    assert isinstance(normal(range(1, 8, 2)), range)
    assert normal([1, 3, 5]) == (1, 3, 5)
    assert normal(range(1, 6, 2)) == (1, 3, 5)
    assert normal([1, 3, 5, 8]) == (1, 3, 5, 8)
    assert normal([1, 2, 3, 7]) == (1, 2, 3, 7)


def test_a_long_range_is_never_materialised():
    values = normal(by_step(1, 10**15, 10**8))
    assert isinstance(values, range)
    assert len(values) == 10**7
