"""The search over boxes gives the points that a walk over every configuration gives."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import grids, seeded_text

from sweep.engine import search as searching
from sweep.engine.boxes import Boxes, CapacityBounds, Column
from sweep.engine.largest import Point, capacity_blocks, largest_point
from sweep.engine.run import evaluation_of
from sweep.engine.search import search, search_largest
from sweep.errors import RefusedSize
from sweep.grid import load_grid, parse_grid

LARGE = "grids/large.toml"


def walked(ev, scale_of=lambda scale: scale):
    """Every feasible configuration in the default order, from the capacities of all of them."""
    points = []
    for region, capacity in capacity_blocks(ev):
        scales = scale_of(capacity)
        for at in np.argwhere(scales[..., 0] >= 1).tolist():
            index = tuple(i + (s.start or 0) for i, s in zip(at, region, strict=False))
            points.append(Point(index, int(scales[..., 0][tuple(at)])))
    return sorted(points, key=lambda point: point.key)


@pytest.fixture(params=[(2, 4), (2**10, 2**14)], ids=["few boxes at once", "many"])
def _batches(request, monkeypatch):
    monkeypatch.setattr(searching, "FIRST_BATCH", request.param[0])
    monkeypatch.setattr(searching, "BATCH", request.param[1])


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.usefixtures("_batches")
def test_the_search_is_the_walk(seed):
    ev = evaluation_of(parse_grid(seeded_text(seed, cells=400)))
    wanted = walked(ev)
    assert search_largest(ev) == (wanted[0] if wanted else None)
    assert search(ev, 3) == wanted[:3]
    assert search(ev, len(wanted) + 1) == wanted


@settings(max_examples=40)
@given(grid=grids(cells=200), top=st.integers(1, 4), data=st.data())
def test_the_search_is_the_walk_at_scales_below_the_capacity(grid, top, data):
    ev = evaluation_of(grid)
    exact = [point.scale_permille for point in walked(ev)] or [1]
    steps = sorted(data.draw(st.sets(st.sampled_from([*exact, *(s - 1 for s in exact if s > 1)]), min_size=1)))
    axis = np.array(steps, dtype=np.int64)

    def floored(capacity):
        return np.concatenate(([0], axis))[np.searchsorted(axis, capacity, side="right")]

    assert search(ev, top, floored) == walked(ev, floored)[:top]


def test_a_part_of_a_grid_is_searched_in_its_own_indices():
    ev = evaluation_of(load_grid("grids/h100.toml"))
    part = ev.tile((slice(10, 40), slice(1, 4), slice(3, 50), slice(0, 100)))
    assert search(part, 5) == walked(part)[:5]


@pytest.mark.parametrize("seed", range(100, 130))
def test_every_box_holds_the_capacities_of_its_configurations(seed):
    ev = evaluation_of(parse_grid(seeded_text(seed, cells=300)))
    capacity = np.concatenate([block.reshape(-1) for _, block in capacity_blocks(ev)]).reshape(ev.lengths[:-1])
    draw = np.random.default_rng(seed)
    ends = np.sort(draw.integers(0, np.array(ev.lengths[:-1]).reshape(-1, 1, 1), (capacity.ndim, 50, 2)), axis=-1)
    boxes = Boxes(ends[..., 0], ends[..., 1])
    least, most = CapacityBounds(ev).of(boxes)
    for number in range(50):
        inside = capacity[tuple(slice(a, b + 1) for a, b in ends[:, number])]
        assert least[number] <= inside.min(), number
        assert inside.max() <= most[number], number
        if boxes.single[number]:
            assert least[number] == most[number], number


@given(values=st.lists(st.integers(-9, 9), min_size=1, max_size=20), data=st.data())
def test_a_column_knows_its_extremes_between_any_two_indices(values, data):
    first = data.draw(st.integers(0, len(values) - 1))
    last = data.draw(st.integers(first, len(values) - 1))
    found = Column(np.array(values)).between(np.array([first]), np.array([last]), first == last)
    assert (found.lo[0], found.hi[0]) == (min(values[first : last + 1]), max(values[first : last + 1]))


def test_a_declared_grid_of_a_million_million_cells_is_decided_by_few_boxes():
    axes = ["share=1:999:1", "slots=1:1000:1", "chunk=1:1000:1", "traffic=1:1000:1"]
    ev = evaluation_of(load_grid(LARGE, [("axis", axis) for axis in axes]))
    state = searching._Search(ev, 1, lambda scale: scale)
    (point,) = state.run()
    assert state.bounded < 10**6
    box = tuple(slice(max(i - 6, 0), i + 7) for i in point.index)
    nearby = largest_point(ev.tile((*box, slice(0, 1))))
    assert nearby == Point(tuple(i - s.start for i, s in zip(point.index, box, strict=True)), point.scale_permille)


def test_a_search_that_bounds_too_many_boxes_is_refused_with_what_to_do(monkeypatch):
    monkeypatch.setattr(searching, "MAX_BOXES", 10)
    with pytest.raises(RefusedSize, match="fix an axis with --at"):
        search_largest(evaluation_of(load_grid(LARGE)))
