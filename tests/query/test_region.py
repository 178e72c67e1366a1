"""A slice equals what the scalar reference says of each of its cells."""

import json
import random

import numpy as np
import pytest
from hand_grids import axes_grid, base_grid, models_grid
from naive import OVER, SLOTS, TRAFFIC, Naive, Spot
from strategies import seeded_text

import sweep
from sweep.engine.run import evaluation_of
from sweep.errors import RefusedSize, UsageFault
from sweep.grid import parse_grid
from sweep.query import region
from sweep.query.region import VERDICTS, find_region
from sweep.records.wording import CLAIM

SHARE, CHUNK = "prefill_share_permille", "max_prefill_chunk_tokens"
BOUNDS = [bound for bound, _ in OVER.values()]
QUANTITIES = ("estimated_worst_ttft_ms", "peak_kv_bytes", "token_capacity_per_second", "active_sequences")
SHOWS = (
    "verdict",
    "limit",
    "capacity",
    "violations",
    "invalid_reason",
    "limiting_violations",
    "max_traffic_scale_permille",
    *QUANTITIES,
    *(f"slack:{bound}" for bound in BOUNDS),
)
OF_CONFIGURATION = ("capacity", "max_traffic_scale_permille", "limiting_violations")


def spot_of(naive: Naive, point, scale):
    axes = naive.grid.axes[:-1]
    return Spot(tuple(list(axis.labels).index(point[axis.name]) for axis in axes), scale)


def status_of(verdict):
    return "invalid" if verdict.invalid_reason else "rejected" if verdict.violations else "within"


def wanted_value(naive: Naive, spot: Spot, show: str):
    """What the reference says of a cell; None where it says nothing."""
    verdict = naive.verdict(spot)
    capacity = naive.capacity(spot.configuration)
    limiting = naive.verdict(Spot(spot.configuration, capacity + 1)).violations
    if show in ("capacity", "max_traffic_scale_permille"):
        return capacity
    if show == "limiting_violations":
        return limiting
    if show == "verdict":
        return VERDICTS.index(status_of(verdict))
    if show == "violations":
        return verdict.violations
    if show == "invalid_reason":
        return verdict.invalid_reason
    if show == "limit":
        return verdict.violations or limiting
    if verdict.invalid_reason:
        return None
    if show.startswith("slack:"):
        bound = show.removeprefix("slack:")
        figure = next(figure for name, figure in OVER.values() if name == bound)
        return naive.bound(spot, bound) - verdict.figures[figure]
    return naive.value(spot, show)


def assert_answer(naive: Naive, x: str, y: str, at, show: str):
    grid = naive.grid
    answer = find_region(grid, evaluation_of(grid), x, y, at, show)
    x_axis, y_axis = grid.axis(x), grid.axis(y)
    assert answer.values.shape == answer.verdict.shape == (len(y_axis), len(x_axis))
    rows = answer.as_json()["values"]
    for row, y_label in enumerate(y_axis.labels):
        for column, x_label in enumerate(x_axis.labels):
            point = {**answer.at, x_axis.name: x_label, y_axis.name: y_label}
            scale = point.get(TRAFFIC, 1)
            spot = spot_of(naive, point, scale)
            if show in OF_CONFIGURATION:
                spot = Spot(spot.configuration, max(1, naive.capacity(spot.configuration)))
            wanted = wanted_value(naive, spot, show)
            assert rows[row][column] == (VERDICTS[wanted] if show == "verdict" else wanted), (show, point, grid.text)
            assert VERDICTS[answer.verdict[row, column]] == status_of(naive.verdict(spot))
            assert answer.reason[row, column] == naive.verdict(spot).invalid_reason
    return answer


@pytest.mark.parametrize("make", [axes_grid, models_grid])
@pytest.mark.parametrize("show", SHOWS)
def test_hand_made_grids(make, show):
    naive = Naive(make())
    assert_answer(naive, "slots", "share", None, show)
    assert_answer(naive, "share", "slots", {"chunk": naive.grid.axis("chunk").label(0)}, show)
    if show not in OF_CONFIGURATION:
        assert_answer(naive, "traffic", "chunk", None, show)
        assert_answer(naive, "slots", "traffic", None, show)
        assert_answer(naive, "slots", "share", {"traffic": 777}, show)


@pytest.mark.parametrize("block", range(6))
def test_drawn_grids(block):
    for seed in range(5_000 + block, 5_060, 6):
        naive, rng = Naive(parse_grid(seeded_text(seed, cells=60))), random.Random(seed)
        x, y = rng.sample(list(naive.grid.axes), 2)
        show = rng.choice(SHOWS)
        if show in OF_CONFIGURATION and TRAFFIC in (x.name, y.name):
            show = "limit"
        at = {} if TRAFFIC in (x.name, y.name) or show in OF_CONFIGURATION or rng.random() < 0.5 else {TRAFFIC: 1_000}
        assert_answer(naive, x.name, y.name, at, show)


def test_open_axes_take_the_values_of_the_largest_feasible_point():
    naive = Naive(axes_grid())
    best = naive.point(naive.points()[0])
    answer = assert_answer(naive, "slots", "share", None, "verdict")
    assert answer.at == {name: value for name, value in best.items() if name not in (SLOTS, SHARE)}
    assert dict(answer.largest.point) == best
    assert answer.filled == "largest-point"
    assert answer.mark == (
        naive.grid.axis("share").index(best[SHARE]),
        naive.grid.axis("slots").index(best[SLOTS]),
    )


def test_along_traffic_the_mark_is_on_the_last_value_that_the_point_carries():
    naive = Naive(axes_grid())
    scale = naive.points()[0].scale
    own = list(naive.grid.axes[-1].values)
    assert scale not in own
    answer = assert_answer(naive, "traffic", "slots", None, "verdict")
    row, column = answer.mark
    assert own[column] < scale < own[column + 1]
    assert VERDICTS[answer.verdict[row, column]] == "within"
    far = Naive(axes_grid(("axis", "traffic=[20_000, 30_000]")))
    assert assert_answer(far, "traffic", "slots", None, "verdict").mark is None


@pytest.mark.parametrize("show", ["verdict", "limit", "capacity", "slack:max_tpot_ms", "peak_kv_bytes"])
def test_nothing_feasible_is_an_answer(show):
    answer = assert_answer(Naive(axes_grid(("set", "contract.max_tpot_ms=1"))), "slots", "share", None, show)
    assert (answer.largest, answer.mark, answer.filled) == (None, None, "first-values")
    at_once = assert_answer(Naive(axes_grid()), "slots", "share", {"traffic": 20_000}, "verdict")
    assert (at_once.largest, at_once.filled) == (None, "largest-capacity")


def test_a_grid_of_one_cell_and_axes_of_one_value():
    naive = Naive(base_grid())
    for show in SHOWS:
        assert assert_answer(naive, "slots", "share", None, show).values.shape == (1, 1)


def test_choices_are_an_axis():
    naive = Naive(axes_grid())
    for show in ("verdict", "limit", "capacity", "slack:max_ttft_ms"):
        assert_answer(naive, "precision", "class.code.v2.prompt_tokens", None, show)


@pytest.mark.parametrize("show", ["peak_kv_bytes", "slack:max_kv_bytes"])
def test_integers_beyond_int64_stay_exact(show):
    grid = base_grid(
        ("axis", f"class.chat.prompt_tokens=[1_000, {10**7}]"),
        ("axis", "slots=[8, 64]"),
        ("set", "class.chat.peak_concurrency=1_000_000"),
        ("set", f"scheduler.kv_bytes_per_token={10**12}"),
    )
    answer = assert_answer(Naive(grid), "class.chat.prompt_tokens", "slots", {"traffic": 1_000}, show)
    assert answer.values.dtype == object
    assert max(abs(answer.values.reshape(-1))) > 2**63


@pytest.mark.parametrize(
    ("question", "sentences"),
    [
        ({"x": "slots", "y": "max_active_sequences"}, ["one axis as both"]),
        ({"x": "slotz", "y": "nowhere"}, ["--x slotz", "--y nowhere"]),
        ({"x": "slots", "y": "share", "at": {"slots": 8}}, ["--at slots"]),
        ({"x": "slots", "y": "share", "at": {"nowhere": 8}}, ["nowhere"]),
        ({"x": "slots", "y": "traffic", "show": "capacity"}, ["leave the traffic out"]),
        ({"x": "slots", "y": "share", "at": {"traffic": 8}, "show": "capacity"}, ["leave the traffic out"]),
        ({"x": "slots", "y": "share", "at": {"rps": "8"}, "show": "limiting_violations"}, ["leave the traffic out"]),
        ({"x": "slots", "y": "share", "show": "slack"}, ["slack:BOUND"]),
        ({"x": "slots", "y": "share", "show": "slack:max_tftt_ms"}, ["max_ttft_ms"]),
        ({"x": "slots", "y": "share", "show": "estimated_tpot"}, ["estimated_tpot_ms"]),
    ],
)
def test_wrong_questions_are_refused(question, sentences):
    grid = axes_grid()
    with pytest.raises(UsageFault) as refused:
        find_region(grid, evaluation_of(grid), **question)
    for sentence in sentences:
        assert sentence in str(refused.value)


def test_a_slice_of_too_many_cells_is_refused_before_anything_is_computed():
    huge = axes_grid(("axis", "traffic=1:1_000_000:1"), ("axis", "slots=1:1_000_000:1"))
    with pytest.raises(RefusedSize, match="1 000 000 by 1 000 000"):
        find_region(huge, evaluation_of(huge), "traffic", "slots")


def test_tiles_of_any_size_give_the_same(monkeypatch):
    grid = axes_grid()
    wanted = json.dumps(find_region(grid, evaluation_of(grid), "traffic", "share", None, "limit").as_json())
    monkeypatch.setattr(region, "slab_shape", lambda lengths: tuple(min(2, n) for n in lengths))
    found = json.dumps(find_region(grid, evaluation_of(grid), "traffic", "share", None, "limit").as_json())
    assert found == wanted


def test_json_has_the_keys_that_the_help_names():
    grid = axes_grid()
    ev = evaluation_of(grid)
    keys = ["show", "x", "y", "at", "filled", "labels", "values"]
    verdict = find_region(grid, ev, "slots", "share").as_json()
    assert list(verdict) == [*keys, "invalid_reason", "largest", "claim"]
    limit = find_region(grid, ev, "slots", "share", {"traffic": 1_000}, "limit").as_json()
    assert list(limit) == [*keys, "verdict", "invalid_reason", "codes", "largest", "claim"]
    assert limit["labels"] == {SLOTS: [8, 32, 64], SHARE: [300, 500, 600, 620]}
    assert limit["claim"] == CLAIM
    assert list(find_region(grid, ev, "slots", "share", None, "capacity").as_json()) == [
        *keys,
        "verdict",
        "largest",
        "claim",
    ]


@pytest.mark.parametrize("store", ["all", "none"])
def test_the_array_has_labels_and_exact_types_stored_or_not(tmp_path, store):
    naive = Naive(axes_grid())
    sweep.run(naive.grid, tmp_path / "r.nc", store, "always" if store == "all" else "never")
    with sweep.open_result(tmp_path / "r.nc") as result:
        types = {"verdict": "u1", "limit": "u2", "capacity": "i8", "slack:max_ttft_ms": "i8", "peak_kv_bytes": "i8"}
        for show, dtype in types.items():
            found = result.region("slots", "share", show=show)
            assert found.dims == (SHARE, SLOTS)
            assert found.dtype == np.dtype(dtype)
            assert list(found[SLOTS].values) == [8, 32, 64]
            assert found.attrs["claim"] == CLAIM
            answer = find_region(naive.grid, evaluation_of(naive.grid), "slots", "share", None, show)
            assert (found.values == answer.values).all()
            assert (found["verdict"].values == answer.verdict).all()
        limit = result.region(x="precision", y="traffic", at={"slots": 32}, show="limit")
        assert limit.attrs["flag_masks"].dtype == np.uint16
        assert int(limit[SLOTS]) == 32
        assert limit["precision"].values.tolist() == ["bf16", "fp8"]
        assert int(limit.sel(precision="fp8", traffic_scale_permille=20_000)) > 0
