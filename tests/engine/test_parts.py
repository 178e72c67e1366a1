"""A wild corner takes Python ints, the rest of the grid stays on int64, and every integer is the same."""

from math import prod

import numpy as np
import pytest
from brute import cells_of, reference_table
from brute_file import table_of_netcdf4
from strategies import seeded_text, whole

from sweep.api import run
from sweep.engine import evaluate, parts
from sweep.engine.largest import CAPACITY, configuration_dims
from sweep.engine.parts import assembled
from sweep.engine.run import evaluation_of
from sweep.engine.verdict import MaskMaker, reported_rules
from sweep.grid import load_grid, parse_grid
from sweep.reference import judge

WILD_CORNER = [
    ("axis", "class.chat.arrival_millirps=[1000, 1200, 1500, 1000000000000]"),
    ("axis", "class.chat.prompt_tokens=[200, 300, 400, 10000000]"),
    ("axis", "class.chat.output_tokens=[100, 200, 300, 10000000]"),
    ("axis", "share=300:700:10"),
    ("axis", "slots=200:290:10"),
    ("axis", "max_prefill_chunk_tokens=[128, 256]"),
    ("axis", "traffic=[500, 1000, 1000000, 900000000000000]"),
]
"""Half the values of work are beyond int64 only with all of the last values together."""


class Counted:
    """Counts the values that kernels computed in each arithmetic."""

    def __init__(self, monkeypatch):
        self.values = {"int64": 0, "object": 0}
        real = evaluate.Evaluation._fetch

        def fetch(ev, name):
            values = real(ev, name)
            if name in ev.graph and values.dtype != bool:
                self.values["object" if values.dtype == object else "int64"] += values.size
            return values

        monkeypatch.setattr(evaluate.Evaluation, "_fetch", fetch)


@pytest.fixture
def wild():
    return load_grid("grids/large.toml", WILD_CORNER)


def test_only_the_wild_corner_takes_python_ints(wild, monkeypatch):
    ev = evaluation_of(wild)
    assert not ev.proven([CAPACITY])
    counted = Counted(monkeypatch)
    capacity = assembled(ev, whole(wild.shape), CAPACITY, configuration_dims(ev))
    assert capacity.dtype == np.int64
    assert counted.values["object"] < counted.values["int64"] // 4, counted.values


def test_without_cuts_the_whole_tile_takes_them_and_says_the_same(wild, monkeypatch):
    region, dims = whole(wild.shape), configuration_dims(evaluation_of(wild))
    cut = assembled(evaluation_of(wild), region, CAPACITY, dims)
    monkeypatch.setattr(parts, "MAX_CUTS", 0)
    counted = Counted(monkeypatch)
    uncut = assembled(evaluation_of(wild), region, CAPACITY, dims)
    assert counted.values["object"] > counted.values["int64"] // 4
    assert cut.dtype == uncut.dtype
    assert (cut == uncut).all()


def test_the_masks_of_a_grid_with_a_wild_corner_are_the_references(wild):
    ev = evaluation_of(wild)
    mask = MaskMaker(ev, reported_rules(ev), True).make(whole(wild.shape))
    draw = np.random.default_rng(1)
    last = tuple(n - 1 for n in wild.shape)
    cells = [tuple(int(draw.integers(0, n)) for n in wild.shape) for _ in range(300)]
    for cell in [*cells, last, (*last[:-1], 0), (*last[:-1], 2)]:
        assert mask[cell] == judge(wild.fields(cell), wild.class_ids).violations, cell


def test_parts_fill_a_region_without_gap_or_overlap(wild):
    ev = evaluation_of(wild)
    region = (slice(3, 30), slice(0, 2), slice(1, 9), *[slice(0, 4)] * 4)
    found = parts.parts(ev, region, [CAPACITY])
    assert len(found) > 1
    times = np.zeros(wild.shape, dtype=np.int64)
    for here, part in found:
        assert part.lengths == tuple(s.stop - s.start for s in here)
        times[here] += 1
    assert (times[region] == 1).all()
    assert times.sum() == prod(s.stop - s.start for s in region)


def test_a_region_without_a_tame_cell_is_left_whole():
    grid = load_grid(
        "grids/large.toml",
        [
            ("set", "class.chat.arrival_millirps=1000000000000"),
            ("set", "class.chat.prompt_tokens=10000000"),
            ("set", "class.chat.output_tokens=10000000"),
        ],
    )
    ev = evaluation_of(grid)
    region = (slice(0, 91), slice(0, 12), slice(0, 10), slice(1500, 2000))
    assert len(parts.parts(ev, region, [CAPACITY])) == 1


@pytest.mark.parametrize("seed", range(30))
def test_drawn_grids_cut_to_the_smallest_parts_write_what_the_reference_says(tmp_path, monkeypatch, seed):
    monkeypatch.setattr(parts, "LEAST_PART_CELLS", 2)
    monkeypatch.setattr(evaluate, "SHARED_OBJECTS", 0)
    grid = parse_grid(seeded_text(500 + seed, cells=120))
    run(grid, tmp_path / "r.nc", "all", "always")
    found, wanted = table_of_netcdf4(grid, tmp_path / "r.nc"), reference_table(grid)
    for name, values in wanted.values.items():
        for cell in cells_of(values.shape):
            assert found.values[name][cell] == values[cell], (name, cell)
