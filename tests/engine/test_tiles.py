"""However a grid is cut, the same bytes come out; counting and folding lose nothing."""

import numpy as np
import pytest
from brute import INVALID, cells_of, reference_table
from hypothesis import event, given, settings
from hypothesis import strategies as st
from strategies import cuts, grids, seeded_text, whole

from sweep.engine import evaluate, verdict
from sweep.engine.catalogue import quantities
from sweep.engine.evaluate import narrowed
from sweep.engine.largest import capacity_blocks, largest_point, limiting_masks
from sweep.engine.run import evaluation_of
from sweep.engine.tally import Tally, histogram
from sweep.engine.verdict import MaskMaker, fold, reason_array, reported_rules
from sweep.grid import parse_grid
from sweep.kernels.nodes import RULES
from sweep.records.codes import VIOLATION_CODES
from sweep.store.layout import chunk_shape, slab_shape

LIMITS = (0, 1, 3, 10, 2**20)
"""Values up to which a node is shared between tiles: none, a few, all."""


def untiled(grid):
    """Mask, reasons, capacities and limiting masks of a whole grid at once, everything shared."""
    ev = evaluation_of(grid)
    reported = reported_rules(ev)
    mask = MaskMaker(ev, reported, grid.admission_control_enabled).make(whole(grid.shape))
    ((_, capacity),) = capacity_blocks(ev)
    limiting = limiting_masks(ev, capacity, grid.admission_control_enabled)
    return mask, reason_array(ev, reported), np.array(capacity), limiting, largest_point(ev)


@settings(max_examples=50)
@given(grids(cells=200), st.sampled_from(LIMITS), st.data())
def test_tiles_of_any_cut_are_the_parts_of_the_whole_mask(grid, shared, data):
    mask = untiled(grid)[0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluate, "SHARED_VALUES", shared)
        patch.setattr(verdict, "SHARED_VALUES", shared)
        ev = evaluation_of(grid)
        reported = reported_rules(ev)
        maker = MaskMaker(ev, reported, grid.admission_control_enabled)
        event(f"large nodes: {bool(maker._large)}")
        for region in data.draw(cuts(grid.shape)):
            tile = maker.make(region)
            filled = np.full(tile.shape, 0x7777, dtype=np.uint16)

            assert tile.dtype == np.uint16
            assert tile.tobytes() == np.ascontiguousarray(mask[region]).tobytes(), region
            assert maker.make(region, out=filled) is filled
            assert filled.tobytes() == tile.tobytes()


@settings(max_examples=30)
@given(grids(cells=100), st.sampled_from(LIMITS), st.data())
def test_a_quantity_of_a_tile_is_the_part_of_the_quantity(grid, shared, data):
    """A tile may have a tighter proof than the grid, so the arithmetic may differ; the integers may not."""
    whole_grid = evaluation_of(grid)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluate, "SHARED_VALUES", shared)
        ev = evaluation_of(grid)
        for region in data.draw(cuts(grid.shape)):
            part = ev.tile(region)
            for quantity in quantities(whole_grid):
                wanted = np.broadcast_to(whole_grid.get(quantity.node), grid.shape)[region]
                found = np.broadcast_to(part.get(quantity.node), wanted.shape)
                assert found.astype(object).tolist() == wanted.astype(object).tolist(), (quantity.name, region)
                assert narrowed(found).dtype == (np.int64 if narrowed(wanted).dtype == np.int64 else object)


@settings(max_examples=50)
@given(grids(cells=200), st.integers(1, 40), st.sampled_from(LIMITS))
def test_reasons_capacities_and_the_largest_point_do_not_depend_on_blocks(grid, values, shared):
    _, reasons, capacity, limiting, best = untiled(grid)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluate, "SHARED_VALUES", shared)
        patch.setattr(verdict, "slab_shape", lambda shape, _: slab_shape(shape, values, chunk_shape(shape, values)))
        ev = evaluation_of(grid)
        blocks = list(capacity_blocks(ev))
        event(f"more than one block: {len(blocks) > 1}")
        for region, block in blocks:
            part = ev.tile(region)
            above = limiting_masks(part, block, grid.admission_control_enabled)
            assert block.tolist() == capacity[region].tolist()
            assert above.tobytes() == np.ascontiguousarray(limiting[region]).tobytes()
        assert np.concatenate([block.reshape(-1) for _, block in blocks]).tolist() == capacity.reshape(-1).tolist()
        assert reason_array(ev, reported_rules(ev)).tolist() == reasons.tolist()
        assert largest_point(ev) == best


@settings(max_examples=50)
@given(grids(cells=150))
def test_the_largest_point_is_the_first_of_the_default_order(grid):
    """Highest scale, then most slots, largest chunk, lowest share, then the lowest index on each other axis."""
    capacity = reference_table(grid).values["max_traffic_scale_permille"]
    ranked = []
    for cell in cells_of(grid.shape[:-1]):
        share, chunk, slots, *others = cell
        ranked.append((-capacity[cell], -slots, -chunk, share, *others, cell))
    first = min(ranked)
    found = largest_point(evaluation_of(grid))
    event(f"feasible: {first[0] < 0}")
    event(f"ties: {sum(row[0] == first[0] for row in ranked) > 1}")
    if first[0] == 0:
        assert found is None
    else:
        assert (found.scale_permille, found.index) == (-first[0], first[-1])


def test_a_rule_that_a_lower_one_hides_everywhere_is_not_reported():
    """A capacity out of range in every cell hides what else is wrong; dropping it later brings that out."""
    hidden = 0
    for seed in range(150):
        grid = parse_grid(seeded_text(seed, cells=60))
        wanted = sorted({int(code) for code in reference_table(grid).values["invalid_reason"].flat} - {0})
        ev = evaluation_of(grid)
        assert list(reported_rules(ev)) == [f"reason.{code}" for code in wanted], seed
        hidden += any(name not in reported_rules(ev) and ev.get(name).any() for name in RULES if name in ev.graph)
    assert hidden > 5


@given(st.lists(st.tuples(st.integers(0, 2**16 - 1), st.integers(1, 60)), max_size=30), st.integers(1, 3))
def test_the_histogram_of_masks_is_the_bincount(runs, rows):
    """Long runs take one path, noise the other; an empty tile, one cell and a tile of several rows too."""
    flat = np.concatenate([np.zeros(0, np.uint16), *[np.full(n, mask, np.uint16) for mask, n in runs]])
    flat = flat[: flat.size // rows * rows]
    for masks in (flat, flat.reshape(rows, -1), flat.reshape(rows, -1)[:, ::2]):
        counts = histogram(masks)
        assert counts.dtype == np.int64
        assert counts.tolist() == np.bincount(masks.reshape(-1), minlength=2**16).tolist()


def test_the_histogram_of_noise_is_the_bincount():
    masks = np.random.default_rng(7).integers(0, 2**16, 5_000).astype(np.uint16)
    assert histogram(masks).tolist() == np.bincount(masks, minlength=2**16).tolist()


@given(
    st.lists(st.lists(st.sampled_from([0, 1, 2, 3, 0x200, 0x3FF, INVALID]), max_size=20), max_size=5),
    st.integers(1, 10**30),
)
def test_a_tally_counts_every_cell_once_and_at_any_number_of_cells(tiles, times):
    tally = Tally()
    for tile in tiles:
        tally.add(histogram(np.array(tile, dtype=np.uint16)), times)
    masks = [mask for tile in tiles for mask in tile]

    assert tally.total == len(masks) * times
    assert tally.within == masks.count(0) * times
    assert tally.invalid == masks.count(INVALID) * times
    assert tally.rejected == tally.total - tally.within - tally.invalid
    for bit, code in enumerate(VIOLATION_CODES):
        assert tally.hits()[code] == sum(mask >> bit & 1 for mask in masks if mask != INVALID) * times
        assert tally.alone()[code] == masks.count(1 << bit) * times


@st.composite
def open_masks(draw):
    """Open uint16 masks over a small shape, each over some axes only."""
    shape = draw(st.lists(st.integers(1, 4), min_size=2, max_size=4))
    masks = []
    for _ in range(draw(st.integers(0, 6))):
        lengths = [n if draw(st.booleans()) else 1 for n in shape]
        size = int(np.prod(lengths))
        bits = draw(st.lists(st.sampled_from([0, 0, 1, 2, 64, 0x8000]), min_size=size, max_size=size))
        masks.append(np.array(bits, dtype=np.uint16).reshape(lengths))
    return shape, masks


@given(open_masks(), st.sampled_from([0, 8, 32, 200, 2**20]))
def test_folding_masks_keeps_their_or(drawn, limit):
    shape, masks = drawn

    def together(pieces):
        whole_mask = np.zeros(shape, dtype=np.uint16)
        for piece in pieces:
            whole_mask |= piece
        return whole_mask.tolist()

    pieces = fold(masks, limit)
    largest = max([mask.size for mask in masks], default=0)
    assert together(pieces) == together(masks)
    assert all(piece.size <= max(limit // 8, largest) for piece in pieces)
    assert len(pieces) <= len(masks)
