"""What an evaluation may hold at once, and axes whose values span more than a float can count."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sweep
from sweep.engine.evaluate import SHARED_VALUES, TILE_VALUES
from sweep.engine.opening import int64_values
from sweep.engine.run import evaluation_of
from sweep.grid import Grid

GRIDS = Path(__file__).resolve().parents[2] / "grids"
CLASS = """
[[class]]
class_id = "extreme-{0}"
priority = 1
arrival_millirps = 1_000_000_000_000
prompt_tokens = 10_000_000
output_tokens = 10_000_000
peak_concurrency = 1_000_000
"""


def with_classes(count: int, *overrides: tuple[str, str]) -> "Grid":
    text = (GRIDS / "illustrative.toml").read_text(encoding="utf-8")
    return sweep.parse_grid(text + "".join(CLASS.format(i) for i in range(count)), overrides)


@given(st.integers(0, 10**18), st.integers(1, 40), st.integers(1, 10**17))
def test_a_range_as_int64_has_the_values_of_the_range(start, count, step):
    values = range(start, start + (count - 1) * step + 1, step)
    if values[-1] > 10**18:
        values = values[:1]
    assert int64_values(values).tolist() == list(values)


def test_an_axis_that_spans_more_than_2_to_the_53_runs(tmp_path):
    axis = ("axis", "contract.max_kv_bytes=1:1000000000000000000:333333333333333333")
    sweep.run(with_classes(0, axis), tmp_path / "wide.nc")

    with sweep.open_result(tmp_path / "wide.nc") as result:
        stored = result.dataset["contract__max_kv_bytes"].values.tolist()
        assert result.verify(all_cells=True).differences == ()

    assert stored == [1, 333333333333333334, 666666666666666667, 10**18]


@pytest.mark.parametrize("classes", [0, 10, 60])
@pytest.mark.parametrize("traffic", ["1:1000000:1", "1:10000000:1"])
def test_shared_nodes_and_tiles_stay_within_their_bytes(classes, traffic):
    ev = evaluation_of(with_classes(classes, ("axis", f"traffic={traffic}")))

    shared = sum(ev.size(name) * ev.width_bytes(name) for name in ev.graph if ev.shares(name))

    assert shared <= ev.budget.shared_bytes
    assert ev.tile_bytes_per_cell * ev.tile_values <= ev.budget.tile_bytes
    assert ev.block_bytes_per_configuration * ev.block_values <= ev.budget.tile_bytes
    assert 0 <= ev.share_limit <= SHARED_VALUES
    assert 1 <= ev.tile_values <= TILE_VALUES


def test_many_wide_classes_share_less_and_make_smaller_tiles():
    few = evaluation_of(with_classes(0, ("axis", "traffic=1:1000000:1")))
    many = evaluation_of(with_classes(60, ("axis", "traffic=1:1000000:1")))

    assert many.share_limit < few.share_limit == SHARED_VALUES
    assert many.tile_values < few.tile_values == TILE_VALUES
