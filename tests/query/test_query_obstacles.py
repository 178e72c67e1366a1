"""Where nothing is feasible: what blocks, against the reference cell by cell; where open axes come from; rates."""

import pytest
from hand_grids import axes_grid, base_grid, models_grid
from strategies import seeded_text

from sweep.api import best_of_grid
from sweep.engine.run import evaluation_of
from sweep.errors import UsageFault
from sweep.grid import parse_grid
from sweep.query.cell import FIGURE_OF_BOUND, cell_at, codes_of
from sweep.query.explain import locate
from sweep.query.select import select
from sweep.records import VIOLATION_CODES

TRAFFIC = "traffic_scale_permille"


def configurations(grid, at=None):
    """Every configuration of a selection at its lowest traffic, by the reference."""
    selection = select(grid, at)
    spots = [()]
    for part in selection.region[:-1]:
        spots = [(*spot, i) for spot in spots for i in range(part.start, part.stop)]
    return [cell_at(grid, (*spot, 0), selection.lowest_scale(grid)) for spot in spots]


def assert_obstacles(grid, at=None):
    """What the kernels count is what the reference counts."""
    found = best_of_grid(grid, at).obstacles
    cells = configurations(grid, at)
    valid = [cell for cell in cells if cell.invalid_reason is None]
    broken = [codes_of(cell.verdict.violations) for cell in valid]
    assert found.configurations == len(cells)
    assert found.scale_permille == select(grid, at).lowest_scale(grid)
    reasons = [cell.invalid_reason for cell in cells if cell.invalid_reason]
    assert dict(found.invalid_reasons) == {reason: reasons.count(reason) for reason in set(reasons)}
    counts = list(found.invalid_reasons.values())
    assert counts == sorted(counts, reverse=True)
    hit = [code for code in VIOLATION_CODES if any(code in codes for codes in broken)]
    assert [obstacle.violation for obstacle in found.violations] == hit
    for obstacle in found.violations:
        assert obstacle.hit == sum(obstacle.violation in codes for codes in broken)
        assert obstacle.alone == broken.count([obstacle.violation])
        if obstacle.bound is not None:
            assert obstacle.least == min(cell.verdict.figures[FIGURE_OF_BOUND[obstacle.bound]] for cell in valid)
            assert obstacle.loosest == max(cell.bound(obstacle.bound) for cell in valid)
    assert found.all_invalid == (not valid) == (found.nearest_invalid is not None)
    return found


def test_drawn_grids_where_nothing_is_feasible():
    seen = 0
    for seed in range(400, 470):
        grid = parse_grid(seeded_text(seed, cells=30))
        if not best_of_grid(grid).feasible:
            assert_obstacles(grid)
            seen += 1
    assert seen >= 10


def test_two_bounds_stand_in_the_way():
    grid = axes_grid(("set", "contract.max_tpot_ms=1"), ("set", "contract.max_starvation_ms=1"))
    found = assert_obstacles(grid)
    by_bound = {obstacle.bound: obstacle for obstacle in found.violations}
    assert (by_bound["max_tpot_ms"].least, by_bound["max_tpot_ms"].loosest) == (20, 1)
    assert by_bound["max_starvation_ms"].least == 80
    assert by_bound["max_tpot_ms"].alone == 0
    told = best_of_grid(grid).as_json()["obstacles"]
    assert list(told) == [
        "traffic_scale_permille",
        "configurations",
        "invalid_reasons",
        "nearest_invalid",
        "within",
        "violations",
        "carried",
    ]
    assert "obstacles" not in best_of_grid(axes_grid()).as_json()


def test_weights_that_do_not_fit_name_the_cell_with_the_most_memory():
    axis = ("axis", "gpu.memory_bytes=[10_000_000_000, 20_000_000_000]")
    grid = models_grid(("axis", "traffic=[5, 50]"), axis)
    found = assert_obstacles(grid)
    assert list(found.invalid_reasons) == ["weights-do-not-fit"]
    assert found.all_invalid
    assert found.nearest_invalid.point["gpu.memory_bytes"] == 20_000_000_000
    # 18 000 000 000 - 2 GiB - 1 GiB - 16 060 522 496 of weights
    assert found.nearest_invalid.verdict.max_kv_bytes == 18_000_000_000 - 3 * 2**30 - 16_060_522_496
    assert found.violations == ()


@pytest.mark.parametrize(
    ("overrides", "reason", "axis", "value"),
    [
        ([("axis", "chunk=[481, 700]")], "chunk-exceeds-iteration-service", "max_prefill_chunk_tokens", 481),
        (
            [("set", "token_capacity_per_second=1"), ("axis", "chunk=[1, 2]")],
            "no-prefill-token-per-iteration",
            "max_prefill_chunk_tokens",
            1,
        ),
        (
            [("set", "class.chat.peak_concurrency=1_000_000"), ("axis", "traffic=[2_000, 3_000]")],
            "peak-concurrency-out-of-range",
            TRAFFIC,
            2_000,
        ),
        (
            [
                ("set", "class.chat.arrival_millirps=1_000_000_000_000"),
                ("set", "traffic.scale_concurrency=false"),
                ("axis", "traffic=[2_000]"),
                ("axis", "replicas=[1]"),
            ],
            "arrival-out-of-range",
            TRAFFIC,
            2_000,
        ),
    ],
)
def test_the_least_short_cell_of_other_reasons(overrides, reason, axis, value):
    grid = base_grid(*overrides)
    at = {"traffic": grid.axes[-1].values[0]}
    found = assert_obstacles(grid, at)
    assert next(iter(found.invalid_reasons)) == reason
    assert found.nearest_invalid.point[axis] == value


@pytest.mark.parametrize(
    ("overrides", "reason"),
    [
        ([("set", "step_time.base_ns=1_000_000_000_000_000"), ("set", "step_time.per_sequence_ns=1")], 4),
        ([("set", "model.head_dim=100_000"), ("set", "model.layers=100_000"), ("set", "model.kv_heads=100_000")], 5),
        ([("set", "gpu.memory_bytes=1_000_000_000_000_000_000"), ("set", "gpu.tensor_parallel=10_000")], 2),
        ([("set", "step_time.base_ns=1_000_000_000_000_000")], 3),
    ],
)
def test_derived_fields_out_of_their_range(overrides, reason):
    found = assert_obstacles(models_grid(*overrides))
    assert found.all_invalid
    assert found.nearest_invalid.verdict.invalid_reason in (reason, 3, 4)


def test_a_traffic_that_is_too_high_names_what_is_carried_instead():
    at = {"traffic": 999_999, "slots": 64}
    found = assert_obstacles(axes_grid(), at)
    assert found.carried.point == best_of_grid(axes_grid(), {"slots": 64}).cell.point
    nothing = axes_grid(("set", "contract.max_tpot_ms=1"))
    assert best_of_grid(nothing, at).obstacles.carried is None
    assert best_of_grid(nothing).obstacles.carried is None


@pytest.mark.parametrize(
    ("overrides", "at", "filled", "names"),
    [
        ((), {}, "largest-point", 6),
        ((), {"traffic": 250, "slots": 64}, "largest-point", 4),
        ((), {"traffic": 999_999}, "largest-capacity", 5),
        ((("set", "contract.max_tpot_ms=1"),), {"traffic": 250}, "first-values", 5),
        ((("set", "contract.max_tpot_ms=1"),), {}, "first-values", 6),
    ],
)
def test_how_open_axes_were_filled(overrides, at, filled, names):
    grid = axes_grid(*overrides)
    found = locate(grid, evaluation_of(grid), at)
    assert (found.filled, len(found.open_axes)) == (filled, names)
    assert (found.carried_permille > 0) == (filled == "largest-capacity")


def test_nothing_is_open_in_a_grid_of_one_cell():
    grid = base_grid()
    assert locate(grid, evaluation_of(grid), {"traffic": 7}).filled == "nothing"


@pytest.mark.parametrize(
    ("rate", "scale"), [("4.5", 999), (9, 1_999), ("0.001", 1), ("0.003", 1), ("4.501", 1_001), ("1_000", 222_222)]
)
def test_a_rate_is_the_least_scale_that_reaches_it(rate, scale):
    """4 000 and 500 millirps: at 999 permille 3 996 and, rounded up, 500; at 1 998 permille 7 992 and 999."""
    grid = base_grid()
    selection = select(grid, {"rps": rate})
    wanted = selection.wanted_millirps

    def total(permille):
        return sum(-(-arrival * permille // 1000) for arrival in (4_000, 500))

    least = next(s for s in range(1, 10**6) if total(s) >= wanted)
    assert selection.scale_permille == least
    assert abs(least - scale) <= 1


def test_a_rate_follows_an_arrival_that_is_fixed_and_refuses_one_that_varies():
    grid = base_grid(("axis", "class.chat.arrival_millirps=[4_000, 8_000]"), ("axis", "traffic=[500, 1_000]"))
    at = {"class.chat.arrival_millirps": 8_000, "rps": "8.5"}
    selection = select(grid, at)
    assert selection.scale_permille == 1_000
    assert selection.region[-1] == slice(1, 2)
    with pytest.raises(UsageFault, match=r"vary along the axis class.chat.arrival_millirps"):
        select(grid, {"rps": 8})


@pytest.mark.parametrize("rate", ["0", "-1", "1.2345", "many", "", "1e3", "9" * 40])
def test_a_wrong_rate_is_refused(rate):
    with pytest.raises(UsageFault, match="requests per second"):
        select(base_grid(), {"rps": rate})


def test_rate_and_traffic_are_one_axis():
    with pytest.raises(UsageFault, match="fixed twice"):
        select(base_grid(), {"rps": 1, "traffic": 1_000})
