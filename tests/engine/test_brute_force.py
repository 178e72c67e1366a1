"""Every cell of every variable of drawn grids equals the scalar reference: in memory, and through the file."""

from collections import Counter

import pytest
from brute import CAPACITY, INVALID, LIMITING, MASK, assert_equal, engine_table, evaluation_of, reference_table
from brute_file import table_of_netcdf4, table_of_xarray
from declared import BOUNDS, STANDING
from drafts import Draft, Source, draw_base, text_of, values
from hypothesis import event, given, settings
from hypothesis import strategies as st
from strategies import grids, open_fields, seeded_text

from sweep.engine.plan import make_plan
from sweep.engine.run import execute
from sweep.grid import parse_grid


@settings(max_examples=150)
@given(grids())
def test_every_cell_of_every_variable_equals_the_reference(grid):
    wanted = reference_table(grid)
    event(f"feasible cells: {bool((wanted.values[MASK] == 0).any())}")
    event(f"invalid cells: {bool((wanted.values[MASK] == INVALID).any())}")
    event(f"limbs: {'limbs' in wanted.dtypes.values()}")
    assert_equal(grid, engine_table(grid), wanted)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(40))
def test_every_cell_of_many_more_grids_equals_the_reference(block):
    for seed in range(100 * block, 100 * (block + 1)):
        grid = parse_grid(seeded_text(seed, cells=500))
        assert_equal(grid, engine_table(grid), reference_table(grid))


def test_drawn_grids_have_feasible_cells_every_bit_every_reason_and_limbs():
    """What the drawing is worth: the first 300 seeds reach every outcome that the definition has."""
    counts = Counter()
    for seed in range(300):
        table = engine_table(parse_grid(seeded_text(seed, cells=100)))
        masks = {int(mask) for mask in table.values[MASK].flat}
        counts["feasible"] += 0 in masks
        counts["frontier inside"] += 0 in masks and len(masks) > 1
        counts["limbs"] += "limbs" in table.dtypes.values()
        counts.update(f"bit {bit}" for bit in range(10) if any(mask >> bit & 1 for mask in masks))
        counts.update(f"reason {int(reason)}" for reason in set(table.values["invalid_reason"].flat))
        counts.update(f"limit {int(mask):#x}" for mask in set(table.values[LIMITING].flat))
        counts["capacity above 2^32"] += bool((table.values[CAPACITY] > 2**32).any())
    floors = {"feasible": 60, "frontier inside": 25, "limbs": 5, "limit 0x8000": 10, "capacity above 2^32": 2}
    floors |= dict.fromkeys([f"bit {bit}" for bit in range(10)] + [f"reason {i}" for i in range(10)], 2)
    assert {name: (counts[name], least) for name, least in floors.items() if counts[name] < least} == {}


def assert_file(grid, folder, store):
    """Every variable of the written file, read twice, is the reference's."""
    ev = evaluation_of(grid)
    execute(grid, ev, make_plan(grid, ev, store, "always"), folder / "drawn.nc", False, lambda done, cells: None)
    wanted = reference_table(grid)
    assert_equal(grid, table_of_netcdf4(grid, folder / "drawn.nc"), wanted)
    assert_equal(grid, table_of_xarray(grid, folder / "drawn.nc"), wanted)
    return wanted


@settings(max_examples=25)
@given(grids(cells=120), st.sampled_from(["all", "small"]))
def test_every_value_of_the_written_file_equals_the_reference(tmp_path_factory, grid, store):
    assert_file(grid, tmp_path_factory.mktemp("run"), store)


def test_sixty_four_classes_at_their_bounds_are_exact_in_the_file(tmp_path):
    """Work of 1.28·10^21, 1.28·10^27 bytes and a utilisation of 6.4·10^20 ‰: the largest that the definition has."""
    draft = Draft(class_ids=[f"c{i}" for i in range(64)])
    draft.base = {path: upper for path, (_, upper) in BOUNDS.items() if path.startswith(("contract.", "scheduler."))}
    draft.base |= {"scheduler.scheduler_id": "s", "scheduler.token_capacity_per_second": 2}
    for class_id in draft.class_ids:
        for key in ("priority", "arrival_millirps", "prompt_tokens", "output_tokens", "peak_concurrency"):
            draft.base[f"class.{class_id}.{key}"] = BOUNDS[f"class.{key}"][1]
    draft.axes = [("traffic.scale_permille", [1, 1000]), ("scheduler.prefill_share_permille", [500, 999])]

    wanted = assert_file(parse_grid(text_of(draft)), tmp_path, "all")

    assert wanted.values["peak_kv_bytes"].max() == 128 * 10**25
    assert wanted.values["total_utilization_permille"].max() == 64 * 10**19
    assert wanted.values["prefill_utilization_permille"].max() == 64 * 10**19
    assert wanted.dtypes["peak_kv_bytes"] == "limbs"


def test_a_grid_with_as_many_axes_as_the_format_has_is_exact_in_the_file(tmp_path):
    """31 axes, five of them longer than 1; HDF5 has 32 dimensions, and one may be needed for limbs."""
    drafts = (seeded_draft(seed) for seed in range(1_000))
    draft = next(one for one in drafts if len(open_fields(one)) >= 31)
    paths = sorted(open_fields(draft), key=lambda path: path not in STANDING)[:31]
    lengths = [2 if i in (0, 3, 5, 9, 20) else 1 for i in range(31)]
    draft.axes = [(path, values(Source(n), draft, path, n)) for path, n in zip(paths, lengths, strict=True)]
    grid = parse_grid(text_of(draft))

    assert len(grid.axes) == 31
    assert_file(grid, tmp_path, "all")


def seeded_draft(seed):
    draft = Draft()
    draw_base(Source(seed), draft)
    return draft
