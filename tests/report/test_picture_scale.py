"""Ticks, labels and places of pictures are made of exact integers; texts are measured before they are placed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sweep.report.pictures.scale import Span, chosen_ticks, labels

pytest.importorskip("matplotlib", reason="pip install -e '.[plot]'")

from sweep.report.pictures.lettering import drawable, elided, names_apart, width, wrapped

INTEGERS = st.one_of(
    st.integers(-(10**40), 10**40),
    st.integers(0, 2000),
    st.sampled_from([2**53, 2**53 + 1, 2**63 - 1, 2**63, 10**18 - 1, 10**18]),
)


@given(st.lists(INTEGERS, min_size=1, max_size=12, unique=True))
def test_different_values_never_get_one_text(values):
    found = labels(sorted(values))
    assert len(set(found.texts)) == len(values)


@pytest.mark.parametrize(
    ("values", "texts", "title"),
    [
        ([50, 1_000, 86_400], ("50", "1 000", "86 400"), "name (ms)"),
        ([85_520_809_984], ("85 520 809 984",), "name (ms)"),  # one value is shown whole
        ([10_000_000, 25_000_000], ("10", "25"), "name (10⁶ ms)"),
        ([10**9, 15 * 10**8], ("1.0", "1.5"), "name (10⁹ ms)"),
        ([10**18 - 1, 10**18], ("0", "1"), "name beyond 999 999 999 999 999 999 (ms)"),
        ([1, 10**15], ("1", "1·10¹⁵"), "name (ms)"),
        ([0, 999_999, 10**12], ("0", "1·10⁶", "1·10¹²"), "name (ms)"),
        ([5, 10**12 - 1, 10**12], ("5", "999 999 999 999", "1 000 000 000 000"), "name (ms)"),
        ([-(10**9), 0, 10**9], ("-1", "0", "1"), "name (10⁹ ms)"),
    ],
)
def test_labels(values, texts, title):
    found = labels(values)
    assert found.texts == texts
    assert found.title("name", "ms") == title


@given(INTEGERS, INTEGERS, st.booleans())
def test_places_of_an_array_are_those_of_its_values(one, other, as_object):
    low, high = min(one, other), max(one, other)
    values = [low, high, (low + high) // 2]
    small = all(-(2**63) <= value < 2**63 for value in values)
    array = np.array(values, dtype=object if as_object or not small else np.int64)
    span = Span(low, high)
    assert span.places(array).tolist() == pytest.approx([span.place(value) for value in values])
    ticks = span.ticks(7)
    assert all(low <= tick <= high for tick in ticks)
    assert 1 <= len(ticks) <= 7


def test_neighbours_beyond_2_to_the_53_have_places_of_their_own():
    values = np.array([2**60, 2**60 + 1, 2**60 + 2])
    assert Span(2**60, 2**60 + 2).places(values).tolist() == [0, 0.5, 1]
    ends = np.array([-(2**63), 2**63 - 1])
    assert Span(-(2**63), 2**63 - 1).places(ends).tolist() == [0, 1]
    assert Span(0, 10**6, log=True).places(np.array([0, 10**6])).tolist() == [0, 1]


@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=300, unique=True), st.integers(1, 50))
def test_ticks_are_places_of_the_axis_that_fit(values, most):
    values = sorted(values)
    places = chosen_ticks(values, lambda found: len(found) <= most)
    assert list(places) == sorted(set(places))
    assert places[0] >= 0
    assert places[-1] < len(values)
    assert len(places) <= max(most, 1)


def test_ticks_of_regular_axes_are_round():
    slots, traffic = list(range(16, 257, 4)), list(range(50, 5001, 50))
    assert [slots[at] for at in chosen_ticks(slots, lambda found: len(found) <= 9)] == [32 * n for n in range(1, 9)]
    assert [traffic[at] for at in chosen_ticks(traffic, lambda found: len(found) <= 11)] == [
        500 * n for n in range(1, 11)
    ]


@given(st.text(max_size=120), st.floats(0.4, 3))
def test_lines_and_shortened_texts_fit(text, inches):
    shown = drawable(text)
    assert all(char.isprintable() or char == "\N{NO-BREAK SPACE}" for char in shown)
    assert width(elided(shown, 6.2, inches), 6.2) <= inches
    lines = wrapped(shown, 6.2, inches, most=4)
    assert len(lines) <= 4
    assert all(width(line, 6.2) <= inches for line in lines)


def test_what_the_font_has_not_is_escaped():
    assert drawable("名 a\u202eb\n$x_1^2$ <b>\u00a0é ‰ ≤ ⌈") == "\\u540d a\\u202eb\\n$x_1^2$ <b>\u00a0é ‰ ≤ ⌈"


@given(st.integers(2, 30), st.floats(0.3, 2))
def test_shortened_names_stay_different(count, inches):
    names = [f"a common beginning {number} and a common end" for number in range(count)]
    found = names_apart(names, 6.2, inches)
    assert len(set(found)) == count
    assert all(width(name, 6.2) <= inches for name in found)
