"""A measured loss of quality from scores per item: exact means, intervals that are never too narrow."""

import json
from decimal import Decimal, getcontext
from fractions import Fraction
from math import isqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sweep.calibrate.scores import paired_delta, read_scores, root_up
from sweep.errors import InputFault

CSV = "item,base,candidate\na,1,1\nb,1,0\nc,0,0\nd,1,1\n"


def faults(path, **options):
    with pytest.raises(InputFault) as caught:
        read_scores(path, "fp8", **options)
    return caught.value.faults


def test_a_case_by_hand(saved):
    """Differences 0, 1, 0, 0: mean 1/4, s² = (3·1/16 + 9/16)/3 = 1/4, half width 1.96·√(1/16) = 0.49."""
    found = read_scores(saved("s.csv", CSV), "fp8")
    assert (found.items, found.delta, found.differing) == (4, Fraction(1, 4), 1)
    assert found.half_width == Fraction(49, 100)
    assert found.interval == (Fraction(-6, 25), Fraction(37, 50))
    assert "with 4 items the normal approximation is rough" in found.doubts[0]


def test_json_lines_names_of_models_and_booleans(saved):
    rows = [{"id": at, "bf16": at % 2 == 0, "fp8": at % 4 == 0} for at in range(40)]
    path = saved("s.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    found = read_scores(path, "fp8", base="bf16")
    assert (found.items, found.delta) == (40, Fraction(10, 40))
    assert found.doubts == ()


def test_where_lower_is_better_the_loss_is_the_rise(saved):
    path = saved("s.csv", "item,base,candidate\na,5.25,5.5\nb,1e-1,0.1\n")
    assert read_scores(path, "fp8", lower_is_better=True).delta == Fraction(1, 8)
    assert read_scores(path, "fp8").delta == Fraction(-1, 8)


def test_the_columns_of_a_candidate_of_an_odd_name(saved):
    """A candidate called like the item or the base is read from the column `candidate`."""
    for name in ("item", "base"):
        assert read_scores(saved("s.csv", CSV), name).delta == Fraction(1, 4)


def test_one_item_has_no_interval_and_equal_scores_no_width(saved):
    one = read_scores(saved("s.csv", "item,base,candidate\na,1,0\n"), "fp8")
    assert (one.delta, one.interval) == (1, None)
    assert "one item is no measurement of an interval" in one.doubts[0]
    equal = read_scores(saved("s.csv", "item,base,candidate\n" + "".join(f"{at},1,1\n" for at in range(100))), "fp8")
    assert equal.interval == (0, 0)
    assert "up to about 30 ‰ of all items change" in equal.doubts[0]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("item,base,candidate\n", "has no row below its head"),
        ("name,base,candidate\na,1,1\n", "has no column of the item, wanted one called item, item_id, id"),
        ("item,base,other\na,1,1\n", "has no column of the candidate score, wanted one called fp8, candidate"),
        ("item,bf16,fp8\na,1,1\n", "has no column of the base score, wanted one called base, base_score"),
        ("item,base,candidate\na,nan,1\n", 'line 2: base: got "nan"'),
        ("item,base,candidate\na,1,inf\n", 'line 2: candidate: got "inf"'),
        ("item,base,candidate\na,1,1e400\n", 'got "1e400"'),
        ("item,base,candidate\na,1,\n", 'got ""'),
        ("item,base,candidate\na,1,2000000\n", 'got "2000000"'),
        ("item,base,candidate\na,1\n", "got 2 values, wanted 3"),
        ("item,base,candidate\na,1,1\na,1,1\n", 'item "a" comes again (first on line 2)'),
        ("item,base,candidate\n,1,1\n", "wanted the item's id"),
        ("item,base,base\na,1,1\n", 'has the column "base" twice'),
        ('{"id": 1, "base": 1, "candidate": null}', "candidate: got None"),
        ('{"id": null, "base": 1, "candidate": 1}', "wanted the item's id"),
        ('{"id": 1, "base": NaN, "candidate": 1}', "base: got NaN"),
        ("[]", "has no row"),
        ("", "is empty"),
    ],
)
def test_odd_files(saved, text, words):
    assert words in faults(saved("s.csv", text))[0]


def test_every_fault_of_a_file_comes_at_once(saved):
    assert len(faults(saved("s.csv", "item,base,candidate\na,x,y\na,1,z\n"))) == 4


def test_a_missing_file_and_a_folder(tmp_path):
    assert "there is no such file" in faults(tmp_path / "none.csv")[0]
    assert "is a folder" in faults(tmp_path)[0]


@given(st.fractions(min_value=0, max_value=10**6, max_denominator=10**6))
def test_a_root_is_rounded_up_and_no_further(square):
    root = root_up(square)
    assert root * root >= square
    below = root - Fraction(1, 10**9)
    assert below < 0 or below * below < square


@given(st.lists(st.integers(-3, 3), min_size=2, max_size=40))
def test_the_interval_is_that_of_decimals_with_fifty_digits(values):
    getcontext().prec = 50
    found = paired_delta([Fraction(value) for value in values], "x")
    mean = Decimal(sum(values)) / len(values)
    spread = sum((Decimal(value) - mean) ** 2 for value in values) / (len(values) - 1)
    half = Decimal("1.96") * (spread / len(values)).sqrt()
    assert found.delta == Fraction(sum(values), len(values))
    assert 0 <= Decimal(found.half_width.numerator) / found.half_width.denominator - half < Decimal("2e-9")


def test_integer_square_roots_are_of_python():
    assert isqrt(10**40) == 10**20
