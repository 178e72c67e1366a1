"""What is handed to the drawing of pictures is exactly the answer; what is drawn does not overlap."""

import re

import numpy as np
import pytest
from hand_grids import axes_grid, base_grid, models_grid

from sweep.engine.run import evaluation_of
from sweep.query.frontier import find_frontier
from sweep.query.region import VERDICTS, find_region
from sweep.report.pictures.choose import sides_of, stopping_bound
from sweep.report.pictures.classes import BOUND_COLOURS, CLASSED, class_map
from sweep.report.pictures.frontier import frontier_scene
from sweep.report.pictures.maps import map_scene, place_on
from sweep.report.pictures.shades import shades
from sweep.report.region import LETTERS, _letter

pytest.importorskip("matplotlib", reason="pip install -e '.[plot]'")

from pictures_checks import drawn, faults

from sweep.report.pictures.draw_frontier import draw_frontier
from sweep.report.pictures.draw_map import blocks, draw_map, runs
from sweep.report.pictures.spots import letter_spots

SHARE, CHUNK, SLOTS = "prefill_share_permille", "max_prefill_chunk_tokens", "max_active_sequences"
TRAFFIC = "traffic_scale_permille"
GRIDS = {"axes": axes_grid, "models": models_grid}
WIDTHS = (2.5, 3.3, 7.0)
LOADED = ("axis", "traffic=[50, 200, 400, 1_000, 4_000]")
"""A traffic axis that goes beyond what is feasible."""


def region(grid, x, y, show, at=None):
    return find_region(grid, evaluation_of(grid), x, y, at or {}, show)


@pytest.mark.parametrize("grid", GRIDS.values(), ids=list(GRIDS))
@pytest.mark.parametrize(("x", "y"), [("slots", "traffic"), ("chunk", "share")])
def test_each_cell_of_a_map_of_limits_has_the_letter_of_sweep_region(grid, x, y):
    answer = region(grid(), x, y, "limit")
    found = class_map(answer, feasible_apart=True)
    letters = [[found.entries[code].look.letter for code in row] for row in found.codes]
    wanted = [
        [_letter(int(mask), VERDICTS[verdict], int(reason)) for mask, verdict, reason in zip(*row, strict=True)]
        for row in zip(answer.values, answer.verdict, answer.reason, strict=True)
    ]
    assert letters == wanted
    assert sum(entry.count for entry in found.entries) == answer.values.size


@pytest.mark.parametrize("grid", GRIDS.values(), ids=list(GRIDS))
def test_a_region_is_one_class_and_its_line_goes_around_it(grid):
    answer = region(grid(), "slots", "traffic", "limit")
    found = class_map(answer, feasible_apart=False)
    within = [number for number, entry in enumerate(found.entries) if entry.text == "within all bounds"]
    assert np.array_equal(np.isin(found.codes, within), answer.verdict == 0)
    assert np.array_equal(found.within, answer.verdict == 0)


@pytest.mark.parametrize("show", ["verdict", "violations", "invalid_reason", "limiting_violations"])
def test_every_map_of_classes_counts_each_cell_once(show):
    answer = region(models_grid(), "slots", "share", show)
    found = class_map(answer, feasible_apart=True)
    counts = np.bincount(found.codes.reshape(-1), minlength=len(found.entries))
    assert show in CLASSED
    assert counts.tolist() == [entry.count for entry in found.entries]
    assert len({entry.text for entry in found.entries}) == len(found.entries)


@pytest.mark.parametrize("show", ["capacity", "estimated_worst_ttft_ms", "peak_kv_bytes", "slack:max_ttft_ms"])
def test_a_map_of_numbers_has_the_integers_of_the_answer(show):
    answer = region(models_grid(), "slots", "share", show, {"chunk": 512})
    found = shades(answer, reach=900)
    assert found.values is answer.values
    if answer.undefined is not None:
        assert np.array_equal(found.shown, ~answer.undefined)
    else:
        assert np.array_equal(found.shown, (answer.values > 0) & (answer.verdict != 2))
    numbers, places = found.values[found.shown], found.places[found.shown]
    order = np.argsort(numbers, kind="stable")
    assert np.all(np.diff(places[order]) >= 0)
    assert 0 <= places.min() <= places.max() <= 1
    assert sum(entry.count for _, entry in found.empty) + numbers.size == answer.values.size


def test_slacks_have_zero_in_the_middle_and_end_at_the_bound():
    answer = region(models_grid(LOADED), "slots", "traffic", "slack:max_queue_delay_ms")
    found = shades(answer, reach=200)
    numbers, places = found.values[found.shown], found.places[found.shown]
    assert np.array_equal(numbers >= 0, places >= 0.5)
    assert np.array_equal(found.edge, found.shown & (answer.values >= 0))
    assert numbers.min() < -200
    assert [text for _, text in found.ticks] == ["≤ -200", "-100", "0", "100", "200"]


def test_beyond_int64_the_places_are_exact_until_they_are_floats():
    grid = base_grid(
        ("set", "class.chat.peak_concurrency=1_000_000"),
        ("axis", "scheduler.kv_bytes_per_token=[1, 999_999_999_999, 1_000_000_000_000]"),
    )
    answer = region(grid, "kv_bytes_per_token", "traffic", "peak_kv_bytes")
    found = shades(answer)
    assert answer.values.dtype == object
    assert int(answer.values[0, 2]) > 2**63
    assert found.places[0, 1] < found.places[0, 2]
    assert faults(drawn(lambda inches: draw_map(map_scene(answer), inches), 3.3)) == ([], [])


def test_the_largest_point_is_marked_at_its_exact_traffic():
    grid = models_grid(LOADED)
    answer = region(grid, "slots", "traffic", "limit")
    (mark,) = map_scene(answer).marks
    scale = answer.largest.point[TRAFFIC]
    below = max(value for value in grid.axes[-1].values if value <= scale)
    above = min(value for value in grid.axes[-1].values if value > scale)
    row = list(grid.axes[-1].values).index(below)
    assert mark.row == row + (scale - below) / (above - below)
    assert mark.column == list(grid.axis(SLOTS).values).index(answer.largest.point[SLOTS])
    assert f"{scale:,}".replace(",", " ") in mark.text.replace("\N{NO-BREAK SPACE}", " ")


def test_places_beyond_an_axis_are_at_the_edge_of_its_cells():
    axis = models_grid().axes[-1]
    assert [place_on(axis, value) for value in (1, 50, 125, 200, 300, 1_000, 9_999)] == [-0.5, 0, 0.5, 1, 1.5, 3, 3.5]


def test_the_largest_of_the_whole_grid_is_marked_where_its_configuration_is_on_the_slice():
    grid = models_grid()
    ev = evaluation_of(grid)
    overall = find_region(grid, ev, "slots", "traffic", {}, "limit").largest
    answer = find_region(grid, ev, "slots", "share", {"traffic": 50, "chunk": overall.point[CHUNK]}, "limit")
    scene = map_scene(answer, largest=answer.largest, overall=overall)
    assert [mark.filled for mark in scene.marks] == [True, False]
    assert "whole grid" in scene.marks[1].text
    other = next(value for value in grid.axis(CHUNK).values if value != overall.point[CHUNK])
    elsewhere = find_region(grid, ev, "slots", "share", {"traffic": 50, "chunk": other}, "limit")
    assert len(map_scene(elsewhere, overall=overall).marks) <= 1


def test_the_points_of_a_frontier_are_those_of_the_answer():
    grid = axes_grid()
    answer = find_frontier(grid, evaluation_of(grid))
    scene = frontier_scene(grid, answer, None)
    assert scene.values == tuple(point.values for point in answer.points)
    for panel, kept in enumerate(scene.unbeaten, start=1):
        pairs = [(-point.values[0], point.values[panel]) for point in answer.points]
        wanted = [not any(a <= x and b <= y and (a, b) != (x, y) for a, b in pairs) for x, y in pairs]
        assert kept.tolist() == wanted
    bounds = {one.bound for one in scene.objectives}
    assert "max_tpot_ms" in bounds
    assert "max_ttft_ms" not in bounds or len({p.cell.bound("max_ttft_ms") for p in answer.points}) == 1


def test_axes_that_nobody_named_are_the_preferred_ones_with_several_values():
    grid = axes_grid()
    assert sides_of(grid, (None, None), {}, (SLOTS, TRAFFIC), "limit") == [SLOTS, TRAFFIC]
    assert sides_of(grid, (None, None), {"traffic": 900}, (SLOTS, TRAFFIC), "limit") == [SLOTS, SHARE]
    assert sides_of(grid, ("traffic", None), {}, (SLOTS, TRAFFIC), "limit") == ["traffic", SLOTS]
    assert sides_of(grid, (None, None), {"slots": 8, "rps": 3}, (SLOTS, TRAFFIC), "limit") == [SHARE, CHUNK]
    one = base_grid()
    assert sides_of(one, (None, None), {}, (SLOTS, CHUNK), "capacity") == [SLOTS, CHUNK]
    assert stopping_bound(grid, evaluation_of(grid), {}) in {f"max_{name}" for name in ("active_sequences", "ttft_ms")}


CHOICES = """
[[axes.format]]
name = "format {0} of the cache, with a name that fits in no column"
set = {{ "scheduler.kv_bytes_per_token" = {1} }}
"""


def scenes():
    """Pictures of all kinds: choices of long names, huge integers, single values, nothing feasible."""
    tight = ("set", "contract.max_tpot_ms=1")
    maps = [
        region(axes_grid(), "slots", "traffic", "limit"),
        region(axes_grid(), "precision", "slots", "limit"),
        region(axes_grid(), "slots", "precision", "capacity"),
        region(axes_grid(), "class.code.v2.prompt_tokens", "chunk", "limiting_violations"),
        region(axes_grid(tight), "slots", "share", "capacity"),
        region(axes_grid(tight), "slots", "traffic", "slack:max_tpot_ms"),
        region(base_grid(), "slots", "traffic", "verdict"),
        region(models_grid(("axis", "traffic=1:5000:1")), "traffic", "chunk", "estimated_queue_delay_ms"),
    ]
    text = "".join(CHOICES.format(number, number + 1) for number in range(12))
    maps.append(region(base_grid_with(text), "format", "traffic", "limit"))
    maps.append(region(base_grid_with(text), "traffic", "format", "peak_kv_bytes"))
    wide = ("axis", "max_kv_bytes=[999_999_999_999_999_998, 999_999_999_999_999_999]")
    far = ("axis", "traffic=[1, 1_000, 1_000_000, 1_000_000_000_000_000]")
    maps.append(region(base_grid(wide, far), "max_kv_bytes", "traffic", "limit"))
    return maps


def base_grid_with(text):
    from hand_grids import BASE

    from sweep.grid import parse_grid

    return parse_grid(BASE + text)


def test_no_text_of_a_map_is_over_another_at_any_width():
    wrong = {}
    for number, answer in enumerate(scenes()):
        scene = map_scene(answer, ["a $grid_1$ of <b>hostile</b> names \u540d and \u202e marks, " * 2])
        for inches in (WIDTHS[0], WIDTHS[-1]):
            found = faults(drawn(lambda width, scene=scene: draw_map(scene, width), inches))
            if found != ([], []):
                wrong[number, answer.show, inches] = found
    assert wrong == {}


@pytest.mark.parametrize("inches", WIDTHS)
@pytest.mark.parametrize(
    ("grid", "objectives"),
    [
        (axes_grid, ()),
        (models_grid, (("maximize", "traffic_scale_permille"), ("minimize", "peak_kv_bytes"))),
        (base_grid, ()),
        (lambda: axes_grid(("set", "contract.max_tpot_ms=1")), ()),
    ],
)
def test_no_text_of_a_frontier_is_over_another_at_any_width(grid, objectives, inches):
    grid = grid()
    answer = find_frontier(grid, evaluation_of(grid), {}, objectives)
    scene = frontier_scene(grid, answer, answer.points[0].cell if answer.points else None, [grid.name])
    figure = drawn(lambda width: draw_frontier(scene, width), inches)
    assert faults(figure) == ([], [])
    shown = " ".join(text.get_text() for text in [*figure.texts, *(t for axes in figure.axes for t in axes.texts)])
    assert ("nothing is feasible" in shown) == (not answer.points)


def test_every_picture_has_units_and_the_claim():
    answer = region(models_grid(), "slots", "traffic", "limit")
    figure = drawn(lambda inches: draw_map(map_scene(answer), inches), 3.3)
    shown = " ".join(text.get_text() for text in figure.texts)
    assert "batch slots (sequences) →" in shown
    assert "↑ traffic (‰ of the declared)" in shown
    assert "not a queueing analysis and not a device benchmark" in shown


def test_the_blocks_and_runs_of_a_hatch_cover_its_cells_once():
    rng = np.random.default_rng(7)
    for shape in ((1, 1), (1, 9), (9, 1), (17, 23)):
        for part in (0, 0.3, 0.9, 1):
            cells = rng.random(shape) < part
            painted = np.zeros(shape, dtype=int)
            for first, after, start, stop in zip(*blocks(cells), strict=True):
                painted[first:after, start:stop] += 1
            assert np.array_equal(painted, cells.astype(int))
            again = np.zeros(shape, dtype=int)
            for row, start, stop in zip(*runs(cells), strict=True):
                again[row, start:stop] += 1
            assert np.array_equal(again, cells.astype(int))


def test_a_letter_stands_on_its_own_class_and_not_on_a_mark():
    codes = np.zeros((20, 30), dtype=np.uint8)
    codes[:, 20:] = 1
    codes[0, 0] = 2
    spots = letter_spots(codes, 3, (3.0, 2.0), [(25.0, 10.0)], 0.115)
    assert spots[2] is None
    for code, (column, row) in enumerate(spots[:2]):
        assert codes[round(row), round(column)] == code
    assert max(abs(spots[1][0] - 25), abs(spots[1][1] - 10)) > 0.5


# Machado, Oliveira and Fernandes (2009): full protanopia, deuteranopia and tritanopia, on linear RGB.
SIGHTS = {
    "normal": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


@pytest.mark.parametrize("sight", SIGHTS)
def test_colour_blind_readers_tell_the_bounds_apart(sight):
    """CIE 1976 difference of 15 or more; a difference of 2 is just noticeable."""
    rgb = np.array([[int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)] for colour in BOUND_COLOURS])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    seen = np.clip(linear @ np.array(SIGHTS[sight]).T, 0, 1)
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    xyz = seen @ to_xyz.T / np.array([0.9505, 1, 1.089])
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    lab = np.stack([116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])], axis=1)
    apart = np.linalg.norm(lab[:, None] - lab[None, :], axis=2) + 100 * np.eye(len(lab))
    assert apart.min() >= 15
    assert len(BOUND_COLOURS) == len(LETTERS)
    assert all(re.fullmatch("#[0-9A-F]{6}", colour) for colour in BOUND_COLOURS)


def test_texts_over_each_other_would_be_seen():
    """The check of the pictures above is none that always passes."""
    from matplotlib.figure import Figure

    def wrong(inches):
        figure = Figure(figsize=(inches, 1))
        for x, text in ((0.1, "one text"), (0.15, "another"), (0.95, "too far right")):
            figure.text(x, 0.5, text)
        return figure

    outside, over = faults(drawn(wrong, 3.3))
    assert outside == ["too far right"]
    assert over == [("one text", "another")]
