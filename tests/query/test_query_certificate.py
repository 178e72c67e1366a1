"""The certificate of `best`: causes against a classification by the reference, and replays that must find a lie."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hand_grids import axes_grid, base_grid, little_grid, models_grid
from naive import Naive, Spot
from strategies import seeded_text

from sweep.api import best_of_grid, open_result, run
from sweep.engine import evaluate
from sweep.engine.run import evaluation_of
from sweep.errors import ResultFault
from sweep.grid import parse_grid
from sweep.query.best import find_best
from sweep.query.cell import cell_at
from sweep.query.certificate import OUT_OF_RANGE, causes
from sweep.query.replay import replay
from sweep.query.select import select
from sweep.query.summary import run_as_json
from sweep.records.codes import INVALID_REASONS, VIOLATION_CODES
from sweep.records.wording import CLAIM

KINDS = ["invalid", "blocked", "limited"]


def cause_of(naive, configuration):
    """What decides one configuration: (kind, code), by the reference and plain searches."""
    grid, scale = naive.grid, naive.capacity(configuration)
    first = naive.verdict(Spot(configuration, 1))
    if 1 <= first.invalid_reason <= 7:
        return "invalid", INVALID_REASONS[first.invalid_reason]
    fields = naive.fields(Spot(configuration, 1))
    iteration = first.iteration_time_ms
    if not grid.admission_control_enabled:
        return "blocked", VIOLATION_CODES[0]
    if iteration > fields["contract.max_tpot_ms"]:
        return "blocked", VIOLATION_CODES[7]
    if (fields["scheduler.max_consecutive_priority_iterations"] + 1) * iteration > fields["contract.max_starvation_ms"]:
        return "blocked", VIOLATION_CODES[8]
    beyond = naive.verdict(Spot(configuration, scale + 1))
    if beyond.invalid_reason:
        return "limited", OUT_OF_RANGE
    broken = {bit for bit in range(1, 10) if beyond.violations >> bit & 1}
    found = broken & {3, 4, 9}
    if broken & {2, 5, 6}:
        found.add(least_utilization(fields, first))
    if broken & {1, 7}:
        found.add(least_sequences(fields, first))
    return "limited", VIOLATION_CODES[min(found)]


def least_utilization(fields, verdict):
    """Which of total utilisation, queue delay and TTFT allows the least utilisation."""

    def largest(bound):
        delays = {u: -(-verdict.iteration_time_ms * u // (1000 - u)) for u in range(1000)}
        return max((u for u, delay in delays.items() if delay <= bound), default=-1)

    service = verdict.figures["worst_prefill_service_ms"]
    limits = {
        2: fields["contract.max_total_utilization_permille"],
        5: largest(fields["contract.max_queue_delay_ms"]),
        6: largest(fields["contract.max_ttft_ms"] - service),
    }
    return min(limits, key=lambda bit: (limits[bit], bit))


def least_sequences(fields, verdict):
    """Which of slots and TPOT allows the fewest sequences."""
    prefill = verdict.token_capacity_per_second * fields["scheduler.prefill_share_permille"] // 1000
    decode = verdict.token_capacity_per_second - prefill
    return 1 if fields["scheduler.max_active_sequences"] <= fields["contract.max_tpot_ms"] * decode // 1000 else 7


def assert_answer(grid, at=None):
    """Every count is the reference's; the causes that occur."""
    naive = Naive(grid)
    wanted = Counter(cause_of(naive, configuration) for configuration in naive.configurations(at or {}))
    found = causes(grid, evaluation_of(grid), select(grid, at))
    counts = {(kind, code): n for kind, codes in found.as_json().items() for code, n in codes.items() if n}
    assert counts == dict(wanted), grid.text
    assert found.configurations == sum(wanted.values())
    return set(wanted)


def test_causes_of_drawn_grids():
    seen = set()
    for seed in range(120):
        seen |= assert_answer(parse_grid(seeded_text(seed, cells=40)))
    assert {kind for kind, _ in seen} == set(KINDS)
    assert len(seen) >= 14, sorted(seen)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(10))
def test_causes_of_many_more_drawn_grids(block):
    for seed in range(20_000 + block, 23_000, 10):
        assert_answer(parse_grid(seeded_text(seed, cells=80)))


@pytest.mark.parametrize("make", [axes_grid, models_grid, base_grid, little_grid])
def test_causes_of_hand_made_grids(make):
    assert assert_answer(make())


def test_causes_of_a_part():
    assert_answer(axes_grid(), {"precision": "bf16", "max_active_sequences": 32})


def test_causes_in_many_blocks(monkeypatch):
    monkeypatch.setattr(evaluate, "SHARED_VALUES", 4)
    monkeypatch.setattr("sweep.engine.verdict.slab_shape", lambda shape, _: tuple(min(n, 2) for n in shape))
    assert assert_answer(axes_grid())


def test_best_has_them_and_run_has_not(tmp_path):
    grid = axes_grid()
    decided = best_of_grid(grid).as_json()["decided"]
    assert list(decided) == ["cells", "configurations", "by"]
    assert list(decided["by"]) == KINDS
    assert sum(sum(codes.values()) for codes in decided["by"].values()) == decided["configurations"]
    assert list(decided["by"]["limited"])[-1] == OUT_OF_RANGE
    summary = run(grid, tmp_path / "result.nc")
    assert list(run_as_json(summary)["best"]["decided"]) == ["cells", "configurations"]
    with open_result(tmp_path / "result.nc") as result:
        assert result.best().as_json()["decided"] == decided


def answered(grid):
    return find_best(grid, evaluation_of(grid))


@pytest.mark.parametrize("make", [axes_grid, models_grid, base_grid, little_grid])
def test_a_true_certificate_replays(make):
    grid = make()
    found = replay(grid, answered(grid))
    assert found.differences == ()
    assert found.judged == found.configurations == grid.configurations
    assert found.checked > grid.configurations


def test_certificates_of_drawn_grids_replay():
    for seed in range(30):
        grid = parse_grid(seeded_text(seed, cells=60))
        assert replay(grid, answered(grid)).differences == (), grid.text


def differing(grid, answer):
    return {difference["variable"] for difference in replay(grid, answer).differences}


def other(grid, answer, **changed):
    """The same answer with another cell as the point."""
    index = [axis.index(answer.cell.point[axis.name]) for axis in grid.axes[:-1]]
    scale = answer.cell.point["traffic_scale_permille"]
    for name, value in changed.items():
        if name == "scale":
            scale = value
        else:
            index[grid.position(name)] = value
    cell = cell_at(grid, (*index, 0), scale)
    return replace(answer, cell=cell, limiting=cell_at(grid, (*index, 0), scale + 1))


def test_a_point_that_carries_less_or_more_is_found_out():
    grid = axes_grid()
    answer = answered(grid)
    scale = answer.cell.point["traffic_scale_permille"]
    assert "best" in differing(grid, other(grid, answer, scale=scale - 1))
    assert "best" in differing(grid, other(grid, answer, scale=scale + 1))


def test_a_point_that_another_one_precedes_is_found_out():
    grid = base_grid(("axis", "share=[590, 600]"), ("axis", "class.chat.priority=[1, 2]"))
    answer = answered(grid)
    assert differing(grid, answer) == set()
    assert "best" in differing(grid, other(grid, answer, **{"class.chat.priority": 1}))


def test_wrong_neighbours_holes_and_limits_are_found_out():
    grid = axes_grid()
    answer = answered(grid)
    names = [axis.name for axis in grid.axes]
    fewer = tuple(replace(neighbour, cell=answer.cell) for neighbour in answer.neighbours)
    found = differing(grid, replace(answer, neighbours=fewer))
    assert found == {f"neighbours.{name}" for name in names}
    lies = {name: [1] for name in names[:-1]}
    assert differing(grid, replace(answer, holes=lies)) == {f"holes.{name}" for name in names[:-1]}
    assert differing(grid, replace(answer, limiting=answer.cell)) == {"limiting_violations"}


def test_nothing_feasible_is_replayed_too():
    none = base_grid(("set", "contract.max_tpot_ms=19"), ("axis", "share=[500, 600]"))
    found = replay(none, answered(none))
    assert (found.differences, found.checked, found.judged) == ((), 2, 2)
    some = base_grid(("axis", "share=[500, 600]"))
    assert "best" in differing(some, answered(none))


def test_beyond_the_sample_distinct_configurations_are_drawn():
    grid = axes_grid()
    answer = answered(grid)
    found = replay(grid, answer, sample=100)
    assert (found.judged, found.configurations) == (100, 144)
    assert replay(grid, answer, True, sample=100).judged == 144
    steps = []
    assert replay(grid, answer, sample=143, progress=lambda done, total: steps.append((done, total))).judged == 143
    assert steps[-1] == (143, 143)


def test_a_file_whose_largest_capacity_is_another_is_found_out(tmp_path):
    run(axes_grid(), tmp_path / "result.nc")
    with open_result(tmp_path / "result.nc") as result:
        found = result.verify_best()
        assert found.differences == ()
        assert found.as_json() == {
            "checked": found.checked,
            "differences": [],
            "configurations": {"judged": 144, "all": 144},
            "claim": CLAIM,
        }
    answer = answered(axes_grid())
    wrong = replay(axes_grid(), answer, stored=np.array([5, 7]))
    assert [difference["variable"] for difference in wrong.differences] == ["max_traffic_scale_permille"]


def test_an_altered_file_is_refused(tmp_path):
    path = tmp_path / "result.nc"
    run(base_grid(), path)
    path.write_bytes(path.read_bytes()[:-1] + b"\0")
    with pytest.raises(ResultFault), open_result(path) as result:
        result.verify_best()
