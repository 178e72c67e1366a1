"""Words, wrapping and tables."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sweep.report import plain, terminal
from sweep.report.blocks import Paragraph, Section, table
from sweep.report.words import (
    bytes_text,
    coordinates,
    listed,
    magnitude,
    permille_as_factor,
    safe,
    sentence,
    short_count,
    short_name,
    signed,
)

TEXTS = st.text(st.sampled_from("ab_-.漢é 12 3"), max_size=60)


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (-999_999, "-999 999"),
        (1_000_000, "1.0·10^6"),
        (1_000_001, "1.1·10^6"),  # away from 0, so that the bound holds
        (9_999_999, "1.0·10^7"),
        (-1_234_567, "-1.3·10^6"),
        (2**63, "9.3·10^18"),
    ],
)
def test_magnitude(number, text):
    assert magnitude(number) == text


@pytest.mark.parametrize(
    ("permille", "text"), [(1, "0.001"), (250, "0.25"), (1_000, "1"), (1_452, "1.452"), (10**15, "1 000 000 000 000")]
)
def test_permille_as_factor(permille, text):
    assert permille_as_factor(permille) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [(1, "1 byte"), (999, "999 bytes"), (1_001, "1 001 bytes (1.1 kB)"), (86_400_000, "86 400 000 bytes (86.4 MB)")],
)
def test_bytes_text(number, text):
    assert bytes_text(number) == text


def test_small_words():
    assert safe("a\x1b[1m\n\u202e漢") == "a\\x1b[1m\\n\\u202e漢"
    assert signed(1_000) == "+1 000"
    assert signed(-5) == "-5"
    assert short_name("max_active_sequences") == "slots"
    assert short_name("replicas") == "replicas"
    assert listed(["a", "b", "c"], 2) == "a, b, … (3 in all)"
    assert sentence("a bound") == "A bound."
    assert short_count(999_999) == "999 999"
    assert short_count(17_982_000_000) == "17 982 M"


def test_coordinates_name_the_traffic_first():
    point = {"prefill_share_permille": 600, "precision": "bf16\x07", "traffic_scale_permille": 2_000}
    assert coordinates(point) == "traffic_scale_permille = 2 000, prefill_share_permille = 600, precision = bf16\\x07"


@given(TEXTS, st.integers(2, 30))
def test_folding_keeps_every_character_and_the_width(text, width):
    lines = plain.fold(text, width)
    assert all(plain.columns_of(line) <= width for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")


def test_folding_keeps_a_number_together():
    assert plain.fold("it was 86 400 000 ms", 12) == ["it was", "86 400 000", "ms"]


def test_folding_cuts_a_name_at_its_joints():
    assert plain.fold("prefill_utilization_permille", 22) == ["prefill_utilization_", "permille"]


def test_table_aligns_and_continues_below():
    found = table(("name", "value"), [("a", "1"), ("long_name_of_it", "1 000")], right=(1,))
    assert plain.table_lines(found, 80) == [
        "name             value",
        "a                    1",
        "long_name_of_it  1 000",
    ]
    assert plain.table_lines(found, 17) == ["name        value", "a               1", "long_name_  1 000", "of_it"]


def test_wide_characters_take_two_columns():
    found = table(("name", "value"), [("漢", "1")], right=(1,))
    assert plain.table_lines(found, 80) == ["name  value", "漢        1"]


@given(
    st.lists(st.tuples(TEXTS, TEXTS, st.integers(0, 10**30).map(str)), min_size=1, max_size=4),
    st.integers(30, 80),
)
def test_a_table_never_leaves_the_page(rows, width):
    lines = plain.table_lines(table(("a", "b", "c"), rows, right=(2,)), width)
    assert all(plain.columns_of(line) <= width for line in lines)


PAGE = [
    Section("Title [bold]", (Paragraph("good [red]news[/red]", "good"), table(("a", "b"), [("x", "-1")], (1,), (0,)))),
    Section("", (Paragraph("/a/very/long/path " * 8, keep=True),)),
]


def test_plain_page():
    text = plain.text_of(PAGE)
    assert text.startswith("Title [bold]\ngood [red]news[/red]\na   b\nx  -1\n\n/a/very")
    assert text.splitlines()[-1] == "/a/very/long/path " * 8  # never broken, so that it can be copied


def test_terminal_page_without_colour_has_no_escape_sequence():
    text = terminal.text_of(PAGE, colour=False, width=40)
    assert "\x1b" not in text
    assert "Title [bold]\ngood [red]news[/red]\n" in text
    assert "/a/very/long/path " * 7 in text


def test_terminal_page_with_colour(monkeypatch):
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    text = terminal.text_of(PAGE, colour=True)
    assert "\x1b[1mTitle [bold]\x1b[0m" in text
    assert "\x1b[31m" in text  # the alert row
