"""What a planner is warned about, and that nothing is warned about without cause."""

from pathlib import Path

import pytest
from hand_grids import axes_grid, base_grid, models_grid

from sweep.engine.largest import largest_point
from sweep.engine.run import evaluation_of
from sweep.grid import load_grid
from sweep.query.advice import ineffective_sets, invalid_inequality, invalid_numbers, rounding, warnings
from sweep.query.cell import cell_at, codes_of
from sweep.records import INVALID_REASONS

GRIDS = Path(__file__).parents[2] / "grids"
WHOLE = (("set", "step_time.base_ns=1_000_000"), ("set", "step_time.per_sequence_ns=1_000_000"))


def test_a_single_cell_without_models_needs_no_warning():
    assert warnings(base_grid()) == []


def test_an_iteration_time_that_ignores_slots_or_chunk_makes_the_largest_look_best():
    found = warnings(axes_grid())
    assert len(found) == 2
    assert "does not depend on max_active_sequences" in found[0]
    assert "per_sequence_ns" in found[0]
    assert "does not depend on max_prefill_chunk_tokens" in found[1]
    assert "per_prefill_token_ns" in found[1]


def test_no_such_warning_where_the_step_time_depends_on_it():
    found = warnings(models_grid())
    assert not [one for one in found if "does not depend" in one]
    half = warnings(models_grid(("set", "step_time.per_sequence_ns=0")))
    assert [one for one in half if "max_active_sequences" in one]
    assert not [one for one in half if "max_prefill_chunk_tokens" in one]


def test_no_such_warning_where_the_coefficient_is_an_axis_or_the_axis_has_one_value():
    as_axis = models_grid(("axis", "step_time.per_sequence_ns=[0, 74_000]"))
    assert not [one for one in warnings(as_axis) if "does not depend" in one]
    one_value = models_grid(("set", "step_time.per_sequence_ns=0"), ("axis", "slots=[64]"))
    assert not [one for one in warnings(one_value) if "does not depend" in one]


def test_rounding_to_whole_milliseconds_is_named_with_both_times():
    """7 ms + 16·0.074 ms + 256·0.033 ms in the first cell."""
    found = [one for one in warnings(models_grid()) if "whole milliseconds" in one]
    assert len(found) == 1
    assert "in the first cell" in found[0]
    assert "16.632 ms" in found[0]
    assert "17 ms" in found[0]
    grid = models_grid()
    best = largest_point(evaluation_of(grid))
    assert any("at the largest point" in one for one in warnings(grid, best))


def test_a_step_of_whole_milliseconds_is_not_rounded():
    grid = models_grid(*WHOLE, ("set", "step_time.per_prefill_token_ns=1_000_000"))
    assert warnings(grid) == []


@pytest.mark.parametrize("path", ["contract.max_ttft_ms", "scheduler.max_active_sequences", "traffic.scale_permille"])
def test_a_set_on_an_axis_changes_nothing_and_says_so(path):
    found = warnings(models_grid(("axis", "contract.max_ttft_ms=[200, 300]"), ("set", f"{path}=100")))
    told = [one for one in found if "changes no cell" in one]
    assert len(told) == 1
    assert f"--set {path}=100" in told[0]


def test_a_set_that_reaches_cells_is_not_warned_about():
    found = warnings(models_grid(("set", "contract.max_ttft_ms=100"), ("axis", "contract.max_tpot_ms=[1, 2]")))
    assert not [one for one in found if "changes no cell" in one]


def test_every_reason_of_an_invalid_cell_has_its_inequality_but_a_given_bound():
    grid = models_grid()
    for reason in INVALID_REASONS[1:]:
        told = invalid_inequality(grid, reason)
        assert (told is None) == (reason == "kv-bound-out-of-range"), reason
    assert invalid_inequality(grid, "valid") is None


def test_the_chunk_s_inequality_names_the_share_only_with_capacity_from_step_time():
    reason = "chunk-exceeds-iteration-service"
    assert "chunk/(slots + chunk)" in invalid_inequality(models_grid(), reason)
    assert "chunk/(slots + chunk)" not in invalid_inequality(base_grid(), reason)


def test_the_grids_of_the_project_warn_as_their_comments_say():
    assert any("whole milliseconds" in one for one in warnings(load_grid(GRIDS / "h100.toml")))
    assert warnings(load_grid(GRIDS / "capstone.toml")) == []


@pytest.mark.parametrize(
    "option",
    ["slots=48", "max_active_sequences=48", "scheduler.max_active_sequences=48", " slots = 48 "],
)
def test_a_set_on_an_axis_is_found_in_every_spelling(option):
    told = [one for one in warnings(models_grid(("set", option))) if "changes no cell" in one]
    assert len(told) == 1
    assert "use --axis max_active_sequences=48 instead" in told[0]


@pytest.mark.parametrize(
    "option",
    ["class.conversation.prompt_tokens=5", "class.conversation.arrival_rps=5"],
)
def test_a_set_of_a_class_field_on_an_axis_is_found(option):
    axes = [("axis", f"class.conversation.{key}=[1, 2]") for key in ("prompt_tokens", "arrival_millirps")]
    assert len(ineffective_sets(models_grid(*axes, ("set", option)))) == 1


def test_a_set_of_a_field_that_every_choice_sets_changes_no_cell():
    (told,) = ineffective_sets(axes_grid(("set", "kv_bytes_per_token=5")))
    assert told.endswith("precision is an axis: every choice of it sets scheduler.kv_bytes_per_token")
    assert ineffective_sets(axes_grid(("set", "max_ttft_ms=240"))) == []  # one choice leaves it to the base


def test_rounding_below_two_percent_is_named_only_where_a_time_decides():
    grid = models_grid(("set", "step_time.base_ns=7_360_000"))  # the first cell's step: 16.992 ms, counted as 17
    assert not [one for one in warnings(grid) if "whole milliseconds" in one]
    best = largest_point(evaluation_of(grid))
    stopped = cell_at(grid, (*best.index, 0), best.scale_permille + 1)
    assert rounding(grid, best) == [] or set(codes_of(stopped.verdict.violations)) & {
        "queue-delay",
        "time-to-first-token",
        "time-per-output-token",
    }


def test_the_numbers_of_an_invalid_cell():
    def numbers(*overrides):
        return invalid_numbers(cell_at(base_grid(*overrides), (0, 0, 0, 0)))

    assert numbers() == ""
    assert numbers(("set", "chunk=481")) == "⌊40 000·600/1000⌋·20/1000 = 480 < 481"
    assert numbers(("set", "token_capacity_per_second=1")) == "⌊1·600/1000⌋·20/1000 = 0 < 1"
