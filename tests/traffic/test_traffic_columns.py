"""Whole columns at once and row by row give the same answers, on whatever text; the exact one is `Fraction`'s."""

import json
from datetime import UTC, datetime, timedelta
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sweep.traffic import columns, fields
from sweep.traffic.json_columns import alike_rows
from sweep.traffic.lines import LineFault
from sweep.traffic.rows import MAX_TIME_NS

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def column(texts):
    """The texts as a block with one field per line: bytes, starts, ends."""
    encoded = [text.encode() for text in texts]
    data = np.frombuffer(b"".join(part + b"\n" for part in encoded), np.uint8)
    lengths = np.array([len(part) for part in encoded])
    ends = np.cumsum(lengths + 1) - 1
    return data, ends - lengths, ends


def read(function, *arguments):
    try:
        return function(*arguments)
    except LineFault:
        return None


digits = st.text("0123456789", min_size=1, max_size=21)
decimals = st.one_of(
    digits,
    st.tuples(digits, digits).map(".".join),
    digits.map(lambda text: f".{text}"),
    digits.map(lambda text: f"{text}."),
    st.text("0123456789.", min_size=1, max_size=6),
)
clocks = st.builds(
    lambda moment, places, mark, zone: moment.isoformat(mark) + (f".{places}" if places else "") + zone,
    st.datetimes(datetime(1970, 1, 2), datetime(2261, 12, 30)).map(lambda moment: moment.replace(microsecond=0)),
    st.text("0123456789", max_size=9),
    st.sampled_from(" T"),
    st.sampled_from(["", "Z", "+00:00", "+05:30", "-11:45"]),
)
hostile = st.text(st.characters(exclude_characters="\n\r", exclude_categories=["Cs"]), max_size=30)


@given(st.lists(digits | hostile, min_size=1, max_size=9))
def test_whole_numbers(texts):
    found = columns.whole_numbers(*column(texts))
    if found is not None:
        assert found.tolist() == [int(text) for text in texts]
    plain = all(text.isascii() and text.isdigit() and len(text) <= 8 for text in texts)
    assert (found is not None) == plain


@given(st.lists(decimals | hostile, min_size=1, max_size=9), st.sampled_from(["s", "ms", "us", "ns"]))
def test_decimals(texts, unit):
    power = {"s": 9, "ms": 6, "us": 3, "ns": 0}[unit]
    found = columns.decimals_ns(*column(texts), power)
    slow = [read(fields.time_ns, text, "t", unit) for text in texts]
    if found is not None:
        assert list(zip(found[0].tolist(), strict=True)) == [(value[0],) for value in slow]
        assert found[1] == sum(value[1] for value in slow)
    for text, value in zip(texts, slow, strict=True):
        if value is not None:
            exact = Fraction(text.strip()) * 10**power
            assert value == (exact.numerator // exact.denominator, exact.denominator > 1)


@given(st.lists(clocks | hostile, min_size=1, max_size=9))
def test_clocks(texts):
    found = columns.clocks_ns(*column(texts))
    slow = [read(fields.clock_ns, text, "t") for text in texts]
    if found is not None:
        assert [(at, found[1]) for at in found[0].tolist()] == slow


@given(clocks)
def test_a_clock_is_what_the_standard_library_says(text):
    at, zoned = fields.clock_ns(text, "t")
    whole, _, rest = text.partition(".")
    fraction = rest[: len(rest) - len(rest.lstrip("0123456789"))] if rest else ""
    zone = rest[len(fraction) :] if rest else ""
    moment = datetime.fromisoformat(whole + zone)
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    seconds = (moment - EPOCH) // timedelta(seconds=1)
    assert (at, zoned) == (
        seconds * 10**9 + int(fraction.ljust(9, "0")),
        bool(datetime.fromisoformat(whole + zone).tzinfo),
    )


numbers = st.integers(0, 10**19) | st.sampled_from([0, 1, 2**63, 10**18 - 1, 10**18])
json_rows = st.lists(st.tuples(numbers, numbers, numbers, st.lists(numbers, max_size=4)), min_size=1, max_size=5)


def decoded(data):
    """Every line's numbers by the decoder; None where a line is no object of integers."""
    found = []
    for line in data.decode("utf-8", "replace").split("\n")[:-1]:
        try:
            row = json.loads(line)
            values = [row["timestamp"], row["input_length"], row["output_length"], *row.get("hash_ids", [])]
        except (ValueError, KeyError, TypeError, AttributeError):
            return None
        if set(map(type, values)) != {int} or row.keys() - {"timestamp", "input_length", "output_length", "hash_ids"}:
            return None
        found.append(values)
    return found


@given(json_rows, st.booleans(), st.sampled_from([(", ", ": "), (",", ":"), (" ,\t", " : ")]), st.data())
def test_json_lines_that_are_written_alike(rows, hashed, separators, data):
    """What is read at once is what a decoder reads, also after bytes were put in, taken out or changed."""
    keys = ("timestamp", "input_length", "output_length") + ("hash_ids",) * hashed
    lines = [json.dumps(dict(zip(keys, row, strict=False)), separators=separators) + "\n" for row in rows]
    text = bytearray("".join(lines).encode())
    whole = bytes(text)
    for _ in range(data.draw(st.integers(0, 2))):
        at = data.draw(st.integers(0, len(text)))
        marks = st.sampled_from([b",", b"\n", b'"', b"0", b"-", b".", b"}", b"]", b" ", b"{", b"\r", b"1, 2"])
        text[at : at + data.draw(st.integers(0, 2))] = data.draw(marks)
    text = bytes(text) + b"\n" * (not text.endswith(b"\n"))

    found = alike_rows(text)

    if found is not None:
        times, prompts, outputs, ids, counts = (some.tolist() for some in found)
        ends = np.cumsum(counts).tolist()
        split = [ids[end - count : end] for end, count in zip(ends, counts, strict=True)]
        assert [[*row[:3], *row[3]] for row in zip(times, prompts, outputs, split, strict=True)] == decoded(text)
    small = all(max(row[:3]) < 10**18 and (not hashed or (row[3] and max(row[3]) < 10**18)) for row in rows)
    assert text != whole or (found is not None) == small


def test_every_day_that_is_read():
    """All dates of the years, against the calendar of the standard library."""
    first = datetime(1970, 1, 1).toordinal()
    days = [
        datetime.fromordinal(day).strftime("%Y-%m-%d 00:00:00")
        for day in range(first, datetime(2262, 1, 1).toordinal())
    ]
    found = columns.clocks_ns(*column(days))
    assert found is not None
    assert (np.diff(found[0]) == 86_400 * 10**9).all()
    assert int(found[0][0]) == 0


@pytest.mark.parametrize(
    "text",
    [
        "2023-02-29 00:00:00",
        "2100-02-29 00:00:00",
        "2023-04-31 00:00:00",
        "2023-00-10 00:00:00",
        "2023-13-10 00:00:00",
        "2023-01-00 00:00:00",
        "2023-01-01 24:00:00",
        "2023-01-01 00:60:00",
        "2023-01-01 23:59:60",
        "1969-12-31 23:59:59",
        "2262-01-01 00:00:00",
        "1970-01-01 00:00:00+01:00",
        "2023-01-01 00:00:00+24:00",
        "2023-01-01 00:00:00+00:60",
        "2023-01-01 00:00:00.",
        "2023-01-01 00:00:00.1234567891",
        "2023-01-01_00:00:00",
        "2023-01-01 00:00:00 UTC",
    ],
)
def test_no_such_time(text):
    assert columns.clocks_ns(*column([text])) is None
    assert read(fields.clock_ns, text, "t") is None


@pytest.mark.parametrize(
    ("text", "unit", "ns"),
    [
        (str(MAX_TIME_NS), "ns", MAX_TIME_NS),
        (str(MAX_TIME_NS + 1), "ns", None),
        ("9223372036.854775807", "s", MAX_TIME_NS),
        ("9223372036.854775808", "s", None),
        ("9223372036.8547758079", "s", MAX_TIME_NS),
        ("0.0000000009", "s", 0),
        ("1e999999999", "s", None),
        ("1e-999999999", "s", None),
        ("-0", "s", None),
        ("inf", "s", None),
        ("nan", "s", None),
        ("1_000", "s", None),
        ("٣", "s", None),
        ("1" * 200, "s", None),
        ("", "s", None),
        (".", "s", None),
    ],
)
def test_the_ends_of_times(text, unit, ns):
    found = read(fields.time_ns, text, "t", unit)
    assert (found[0] if found else None) == ns


@pytest.mark.parametrize(("text", "number"), [("10000000", 10**7), (" 7 ", 7), ("10000001", None), ("007", 7)])
def test_the_ends_of_lengths(text, number):
    assert read(fields.tokens, text, "p") == number
