"""The equivalences behind the thresholds, exhausted where everything is small, and the prefix along traffic."""

from itertools import product

import numpy as np
import pytest
from brute import labels, largest_scale
from hypothesis import given, settings
from hypothesis import strategies as st
from plain import DAY, per_replica, queue_ms, up
from strategies import grids, seeded_text

from sweep.grid import parse_grid
from sweep.kernels import figures, rules, thresholds
from sweep.reference import judge

UTILIZATIONS = np.arange(0, 1004)


def column(values):
    return np.array(list(values), dtype=np.int64).reshape(-1, 1)


def test_every_utilisation_up_to_the_waiting_limit_waits_at_most_that_long_and_no_other():
    """u ≤ ⌊1000·X/(it + X)⌋ ⇔ ⌈it·u/(1000 − u)⌉ ≤ X, for every u below 1000 and all small it and X, negative too."""
    waits = column([*range(-2, 130), 998, 999, 1000, 1001, 24_975, 24_976, DAY - 1, DAY])
    below = UTILIZATIONS[UTILIZATIONS < 1000].reshape(1, -1)
    for iteration in (*range(1, 27), 999, 1000, 1001, DAY - 1, DAY):
        limit = thresholds.waiting_limit(waits, np.array([[iteration]]))
        delay = -(-iteration * below // (1000 - below))
        wrong = np.argwhere((below <= limit) != (delay <= waits))
        assert wrong.size == 0, (iteration, [(int(waits[i, 0]), int(below[0, j])) for i, j in wrong[:5]])
        assert limit.max() <= 999


def test_bit_5_is_the_delay_over_its_bound_and_clear_from_1000_on_under_the_largest_bound():
    """Compared as work: every utilisation by its least and its largest work, at capacities that divide and do not."""
    bounds = column([1, 2, 5, 50, 999, 10**6, DAY - 1, DAY])
    for capacity, iteration in product((1, 7, 1000), (1, 2, 19, 999, 10**6, DAY // 999, DAY // 999 + 1, DAY - 1, DAY)):
        rate, step = np.array([[capacity]]), np.array([[iteration]])
        u = UTILIZATIONS[1:].reshape(1, -1)
        delay = figures.queue_delay_ms(u, step, np.array([[True]]))
        limit = thresholds.capacity_work_limit(thresholds.waiting_limit(bounds, step), rate)
        saturation = thresholds.saturation_work(rate)

        assert delay.tolist()[0] == [queue_ms(int(one), iteration) for one in u[0]]
        for work in (capacity * (u - 1) + 1, capacity * u):
            wrong = np.argwhere(rules.queue_over(work, limit, saturation, bounds) != (delay > bounds))
            assert wrong.size == 0, (capacity, iteration, [(int(bounds[i, 0]), int(u[0, j])) for i, j in wrong[:5]])


def test_the_ttft_limit_is_the_ttft_itself():
    most, service = column(range(1, 60)), np.arange(0, 70).reshape(1, -1)
    for iteration, u in product((1, 2, 3, 7, 50, 51), (1, 2, 499, 500, 501, 900, 998, 999)):
        found = u <= thresholds.ttft_limit(most, service, np.array([[iteration]]))
        assert (found == (queue_ms(u, iteration) + service <= most)).all(), (iteration, u)


def test_work_and_sequences_compare_as_their_figures_do():
    """⌈W/C⌉ > u ⇔ W > u·C, and max(it, ⌈1000·S/D⌉) > X ⇔ S > the limit of the TPOT bound."""
    work, rate = column(range(1, 90)), np.arange(1, 30).reshape(1, -1)
    for u in range(1, 12):
        assert ((-(-work // rate) > u) == (work > thresholds.work_limit(u, rate))).all(), u
    active, decode = column(range(1, 60)), np.array([[1, 2, 3, 7, 999, 1000, 1001, 2500, 30_000]])
    for iteration, most in product((1, 2, 5, 20), (1, 2, 3, 5, 19, 20, 21, 500, 1000, 20_000)):
        over = np.full((1, 1), iteration > most)
        found = active > thresholds.tpot_sequences_limit(most, decode, over)
        assert (found == (np.maximum(iteration, -(-1000 * active // decode)) > most)).all(), (iteration, most)


def test_the_scale_for_work_is_the_linear_scan_for_all_small_loads():
    """Declared arrivals in the hundreds of 1/1000 make one step of the scale move the ceiling or not."""
    cap = 12
    limits = np.arange(-3, 40).reshape(-1, 1)
    for a, b, w, v, replicas in product((1, 90, 999, 1000, 1001, 2500), (1, 700), (1, 3), (1, 2), (1, 2)):
        args = (np.array([[value]]) for value in (cap, replicas, a, w, b, v))
        found = thresholds.scale_for_work(limits, *args)[:, 0].tolist()
        loads = [per_replica(a, x, replicas) * w + per_replica(b, x, replicas) * v for x in range(1, cap + 1)]
        assert found == [sum(load <= limit for load in loads) for limit in limits[:, 0]], (a, b, w, v, replicas)


def test_the_scale_for_peaks_is_the_linear_scan_for_all_small_loads():
    """One class that grows with the scale, one by Little's law, with stays around the unit 10^9."""
    cap = 12
    limits = np.arange(-3, 40).reshape(-1, 1)
    stays = (2, 10**8, 10**9 - 1, 10**9, 10**9 + 1, 3 * 10**9)
    for n, a, stay, v, z, replicas in product((1, 90, 999, 1000, 2500), (1, 700, 1000), stays, (1, 3), (1, 2), (1, 3)):
        args = (np.array([[value]]) for value in (v, n, z, a, stay))
        found = thresholds.scale_for_peaks(limits, np.array([[cap]]), np.array([[replicas]]), 1, *args)
        loads = [
            v * per_replica(n, x, replicas) + z * up(per_replica(a, x, replicas) * stay, 10**9)
            for x in range(1, cap + 1)
        ]
        wanted = [sum(load <= limit for load in loads) for limit in limits[:, 0]]
        assert found[:, 0].tolist() == wanted, (n, a, stay, v, z, replicas)


def assert_prefix(grid, scales):
    """Along traffic the feasible scales are 1…T by the reference, wherever one looks."""
    for configuration in product(*[range(n) for n in grid.shape[:-1]]):
        largest = largest_scale(grid, configuration)
        fields = grid.fields((*configuration, 0))
        near = {largest + d for d in (-2, -1, 0, 1, 2, 3)} | {2 * largest, 3 * largest + 1}
        for scale in sorted(scale for scale in near | scales if 1 <= scale <= 10**15 + 1):
            mask = judge({**fields, "traffic.scale_permille": scale}, grid.class_ids).violations
            assert (mask == 0) == (scale <= largest), f"{labels(grid, configuration)}, traffic {scale}: {mask:#06x}"


@settings(max_examples=40)
@given(grids(cells=12), st.sets(st.integers(1, 10**15 + 1), max_size=8))
def test_more_traffic_never_makes_an_infeasible_cell_feasible(grid, scales):
    assert_prefix(grid, scales | {2**power for power in range(0, 50, 3)})


@pytest.mark.slow
def test_nor_in_a_thousand_grids_more():
    for seed in range(1_000):
        assert_prefix(
            parse_grid(seeded_text(seed, cells=24)), {2**power + near for power in range(50) for near in (0, 1)}
        )
