"""The serving mode beside a SimPy model of the same system: request by request, and every sum of every replica."""

from dataclasses import fields
from random import Random

import pytest
from simpy_model import run
from simulate_cases import draw_point, draw_requests

from sweep.simulate.counters import Counters
from sweep.simulate.policies import POLICIES
from sweep.simulate.request import NEVER
from sweep.simulate.serve import simulate


def assert_same(point, requests, policy="priority", router="least-outstanding", batching="continuous", unit=0):
    found = simulate(point, requests, policy, router, batching, unit)
    jobs, placed, servers = run(point, requests, POLICIES[policy], batching == "static", unit, router == "round-robin")

    assert [row.replica for row in found.rows] == placed
    for row, job in zip(found.rows, jobs, strict=True):
        if job is None:
            assert row.refusal
            continue
        assert (row.let_in_ns, row.first_token_ns, row.finish_ns) == (job.let_in, job.first, job.finish), row
        assert (row.preemptions, row.prefix_hit_tokens, row.passed_ns) == (job.preemptions, job.hit, job.passed), row
    gaps = {}
    for at, server in enumerate(servers):
        seen = found.replicas[at] if at < len(found.replicas) else Counters()
        for field in fields(Counters):
            if field.name != "in_system_ns":
                assert getattr(seen, field.name) == server.seen[field.name], (at, field.name)
        for gap, times in server.gaps.items():
            gaps[gap] = gaps.get(gap, 0) + times
    assert found.gaps == gaps
    return found


@pytest.mark.parametrize("seed", range(8))
def test_without_preemption_every_request_agrees_with_simpy(seed):
    random = Random(seed)
    for _ in range(40):
        point = draw_point(random, admission_control=True)
        found = assert_same(point, draw_requests(random, point, 0), random.choice(list(POLICIES)))

        assert all(row.preemptions == 0 for row in found.rows)


@pytest.mark.parametrize("seed", range(8))
def test_with_preemption_and_prefix_sharing_every_request_agrees_with_simpy(seed):
    random, preempted, hit, evicted = Random(1_000 + seed), 0, 0, 0
    for _ in range(60):
        point = draw_point(random)
        unit = random.choice([0, 1, 2]) * point.block_tokens
        found = assert_same(
            point,
            draw_requests(random, point, unit),
            random.choice(list(POLICIES)),
            random.choice(["least-outstanding", "round-robin"]),
            random.choice(["continuous", "continuous", "static"]),
            unit,
        )
        preempted += found.total.preemptions
        hit += found.total.hit_tokens
        evicted += found.total.evicted_blocks

    assert preempted > 0
    assert hit > 0
    assert evicted > 0


def test_a_refused_request_has_no_replica_and_no_instants():
    random = Random(3)
    point = draw_point(random, kv_blocks=0)
    found = assert_same(point, draw_requests(random, point, 0))

    assert {(row.replica, row.let_in_ns, row.first_token_ns, row.finish_ns) for row in found.rows} == {(NEVER,) * 4}
