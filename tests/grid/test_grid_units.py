"""Texts with units and decimals become exact integers, or a reason."""

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sweep.units import (
    SUFFIXES,
    UnitError,
    Unreadable,
    from_text,
    grouped,
    millirps_of_rps,
    parse_decimal,
    printable,
    shown,
    whole,
)


@pytest.mark.parametrize(
    ("text", "unit", "expected"),
    [
        ("80 GB", "byte", 80 * 10**9),
        ("80GB", "byte", 80 * 10**9),
        ("1.5 kB", "byte", 1_500),
        ("3 MB", "byte", 3_000_000),
        ("2 TB", "byte", 2 * 10**12),
        ("1 KiB", "byte", 1_024),
        ("0.5 MiB", "byte", 524_288),
        ("80 GiB", "byte", 85_899_345_920),
        ("1 TiB", "byte", 1_099_511_627_776),
        ("7 B", "byte", 7),
        ("1.5 s", "ms", 1_500),
        ("1_000 ms", "ms", 1_000),
        ("2 min", "ms", 120_000),
        ("1 h", "ms", 3_600_000),
        ("3000 us", "ms", 3),
        ("5000000 ns", "ms", 5),
        ("1.5 ms", "ns", 1_500_000),
        ("74 us", "ns", 74_000),
        ("0.25 us", "ns", 250),
        ("60 %", "permille", 600),
        ("12.5 %", "permille", 125),
        ("600 ‰", "permille", 600),
        ("-1 ms", "ms", -1),
        ("+1 ms", "ms", 1),
    ],
)
def test_a_text_with_a_unit_is_the_exact_integer(text, unit, expected):
    assert from_text(text, unit) == expected


@pytest.mark.parametrize(
    ("text", "unit", "reason"),
    [
        ("0.5 ms", "ms", "no whole number of ms"),
        ("1.5 ns", "ns", "no whole number of ns"),
        ("12.55 %", "permille", "no whole number of ‰"),
        ("0.1 B", "byte", "no whole number of bytes"),
        ("80 GB", "ms", "one of ns us ms s min h"),
        ("5 gb", "byte", "one of B kB MB GB TB KiB"),
        ("5", "ms", "without quotes"),
        ("", "ms", "with one of"),
        ("1e3 ms", "ms", "with one of"),
        ("٣ ms", "ms", "with one of"),
        ("1 m s", "ms", "with one of"),
        ("1" * 200 + " ms", "ms", "with one of"),
        ("5 tokens", "tokens", "no unit"),
    ],
)
def test_a_text_that_is_no_whole_number_of_the_unit_says_why(text, unit, reason):
    with pytest.raises(UnitError, match=reason):
        from_text(text, unit)


@given(
    st.integers(0, 10**18),
    st.integers(0, 6),
    st.sampled_from([(u, s) for u in SUFFIXES for s in SUFFIXES[u]]),
)
def test_a_text_agrees_with_exact_fractions(number, places, unit_and_suffix):
    unit, suffix = unit_and_suffix
    digits = str(number).rjust(places + 1, "0")
    text = f"{digits[: len(digits) - places]}.{digits[len(digits) - places :]}" if places else digits
    exact = Fraction(number, 10**places) * SUFFIXES[unit][suffix]
    if exact.denominator == 1:
        assert from_text(f"{text} {suffix}", unit) == exact
    else:
        with pytest.raises(UnitError):
            from_text(f"{text} {suffix}", unit)


@pytest.mark.parametrize("value", [True, False, Decimal("5.0"), None, [], {}, 5.0, Unreadable("1e99")])
def test_only_an_int_or_a_text_is_whole(value):
    with pytest.raises(UnitError):
        whole(value, "ms")


def test_an_int_stays_as_it_is_whatever_its_size():
    assert whole(10**30, "ms") == 10**30


@pytest.mark.parametrize(
    ("value", "expected"),
    [(4, 4_000), (Decimal("4.0"), 4_000), (Decimal("0.001"), 1), (Decimal("5.531"), 5_531)],
)
def test_requests_per_second_become_exact_millirps(value, expected):
    assert millirps_of_rps(value) == expected


@pytest.mark.parametrize("value", [Decimal("0.0001"), Decimal("NaN"), Decimal("Infinity"), True, "4", 4.0])
def test_requests_per_second_finer_than_a_thousandth_or_no_number_are_refused(value):
    with pytest.raises(UnitError):
        millirps_of_rps(value)


@pytest.mark.parametrize("text", ["1e999999999", "1e-999999999", "1" * 300 + ".0", "1e99999999999999999999"])
def test_an_absurd_decimal_is_kept_as_text(text):
    assert parse_decimal(text) == Unreadable(text)


@pytest.mark.parametrize("text", ["0.1", "5.531", "1e3", "-0.0", "1_000.5"])
def test_a_decimal_is_exact(text):
    assert parse_decimal(text) == Decimal(text)


def test_numbers_are_grouped_by_three_and_huge_ones_described():
    assert grouped(86_400_000) == "86 400 000"
    assert grouped(-1_000) == "-1 000"
    assert grouped(10**5_000) == "an integer of 16610 bits"


def test_what_is_shown_is_short_and_printable():
    assert shown("a\x1b[31m\n") == '"a\\u001b[31m\\u000a"'
    assert len(printable("x" * 10_000)) < 100
    assert [shown(True), shown([]), shown([1, 2]), shown({})] == [
        "true",
        "an empty list",
        "a list of 2",
        "a table",
    ]


@pytest.mark.parametrize("suffix", ["us", "\u00b5s", "\u03bcs"])
def test_microseconds_in_every_spelling(suffix):
    assert from_text(f"1500 {suffix}", "ns") == 1_500_000
