"""What a grid says of measurements: the range of its step time, and the quality delta of a choice."""

from fractions import Fraction

import pytest
from grid_texts import MODELS, axis_faults, faults_of, with_axes

from sweep.grid import grid_from_effective, parse_grid
from sweep.query.changes import field_changes
from sweep.query.measured import beyond_measured

RANGE = MODELS.replace(
    "[step_time]\n",
    '[step_time]\nmeasured_slots = [1, 64]\nmeasured_chunk_tokens = [0, 512]\nsource = "bench.json"\n',
)
DELTAS = """
[[axes.precision]]
name = "bf16"
set = { "model.kv_bytes_per_value" = 2 }
quality_delta = 0
[[axes.precision]]
name = "fp8"
set = { "model.kv_bytes_per_value" = 1 }
quality_delta = 0.0040
[[axes.precision]]
name = "fp4"
set = { "model.kv_bytes_per_value" = "17/32" }
"""


def test_the_measured_range_stays_in_the_canonical_text_and_changes_the_digest():
    grid = parse_grid(RANGE)
    assert grid.base["step_time.measured_slots"] == "1..64"
    assert '"measured_chunk_tokens":"0..512"' in grid.effective
    assert '"source":"bench.json"' in grid.effective
    assert grid_from_effective(grid.effective, grid.text) == grid
    assert grid.sha256 != parse_grid(MODELS).sha256


def test_a_range_may_be_written_as_its_canonical_text_and_be_set():
    other = parse_grid(MODELS, [("set", 'step_time.measured_slots="01..64"')])
    assert other.base["step_time.measured_slots"] == "1..64"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("[64, 1]", 'got "[64, 1]"'),
        ("[1]", "got a list of 1"),
        ("[1, 2, 3]", "got a list of 3"),
        ("64", "got 64"),
        ("[1, 1000001]", "got 1 000 001"),
        ("[-1, 4]", "got -1"),
        ("[true, 4]", "got a list of 2"),
        ("[1.0, 4]", "got a list of 2"),
        ('"1..x"', 'got "1..x"'),
        ("{}", "got a table"),
    ],
)
def test_a_range_is_two_integers_in_order(value, words):
    (fault,) = faults_of(RANGE.replace("measured_slots = [1, 64]", f"measured_slots = {value}"))
    assert fault.startswith(f"step_time.measured_slots: {words}, wanted two whole numbers [from, to]")


def test_a_range_is_no_axis_and_no_choice():
    (fault,) = axis_faults('"step_time.measured_slots" = [1]', RANGE)
    assert "this field holds two whole numbers" in fault
    (fault,) = axis_faults('[[axes.a]]\nname = "x"\nset = { "step_time.measured_slots" = [1, 2] }', RANGE)
    assert "a choice sets integers, ratios and identities" in fault


def test_an_axis_that_leaves_the_range_is_named_with_the_values_that_do():
    grid = with_axes("max_active_sequences = [1, 64]\nmax_prefill_chunk_tokens = [512]", RANGE)
    assert beyond_measured(grid) == []
    grid = with_axes("max_active_sequences = [1, 64, 65]\nmax_prefill_chunk_tokens = [1, 513, 9_000]", RANGE)
    first, second = beyond_measured(grid)
    assert first.startswith("max_active_sequences reaches 65, outside the 1 to 64 batch slots in which [step_time]")
    assert second.startswith("max_prefill_chunk_tokens reaches 9 000, outside the 0 to 512 tokens")
    low = with_axes("max_active_sequences = [1, 80]", RANGE.replace("[1, 64]", "[8, 64]"))
    assert "reaches 1 and 80, outside the 8 to 64" in beyond_measured(low)[0]
    assert beyond_measured(parse_grid(MODELS)) == []


def test_a_choice_keeps_its_measured_delta_exactly():
    grid = with_axes(DELTAS, MODELS)
    assert [choice.quality_delta for choice in grid.axis("precision").choices] == [0, Fraction(1, 250), None]
    assert '"quality_delta":"0.004"' in grid.effective
    again = grid_from_effective(grid.effective, grid.text)
    assert again == grid
    assert again.axis("precision").choices[1].quality_delta == Fraction(1, 250)


def test_a_delta_changes_no_cell_but_the_digest_and_shows_in_a_diff():
    grid, other = with_axes(DELTAS, MODELS), with_axes(DELTAS.replace("0.0040", "-0.1"), MODELS)
    assert grid.sha256 != other.sha256
    (change,) = field_changes(grid, other)
    assert (change.path, change.old, change.new, change.choice) == ("quality_delta", "0.004", "-0.1", "precision=fp8")


@pytest.mark.parametrize("value", ["nan", "inf", "1e300", "1000000.5", '"1/250"', "true", "[]", '"a"', "-2e6"])
def test_a_delta_is_an_exact_decimal_within_bounds(value):
    (fault,) = axis_faults(DELTAS.replace("0.0040", value), MODELS)
    assert fault.startswith("axes.precision.fp8.quality_delta: got ")
    assert "wanted a decimal from -1 000 000 to 1 000 000" in fault
