"""Summaries, what binds, and verdicts: by hand, and beside the audit of a grid's point."""

import json
from dataclasses import fields, replace
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sweep.api import explain_grid, load_grid
from sweep.errors import UsageFault
from sweep.query.cell import cell_at
from sweep.simulate.arrivals import poisson_requests
from sweep.simulate.latency import Spread, nearest_rank, spread_of, spread_of_counts, spread_of_ratios
from sweep.simulate.point import ArrivalClass, OperatingPoint, contiguous, operating_point_of
from sweep.simulate.request import Request
from sweep.simulate.serve import simulate
from sweep.simulate.summary import Summary, summarize
from sweep.simulate.verdict import compare

GRIDS = Path(__file__).parents[2] / "grids"
MS = 10**6
STEADY = OperatingPoint(2, 100, 10 * MS, 0, 0, 3, 100)


@pytest.fixture(scope="module")
def h100():
    return load_grid(GRIDS / "h100.toml")


def cell_of(grid, **at):
    return explain_grid(grid, {"share": 900, "chunk": 1_024, "slots": 100, "traffic": 1_452} | at)


@given(st.lists(st.integers(0, 50), min_size=1), st.integers(1, 100))
def test_nearest_rank_is_the_smallest_value_with_the_rank(values, percent):
    ordered = sorted(values)
    wanted = min(one for one in ordered if sum(other <= one for other in ordered) * 100 >= percent * len(ordered))

    assert nearest_rank(ordered, percent) == wanted


@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(1, 10**7 - 1)), min_size=1))
def test_spreads_of_values_ratios_and_counts_are_one(pairs):
    whole = [over for over, _ in pairs]
    ratios = [Fraction(*pair) for pair in pairs]
    counts = {one: whole.count(one) for one in whole}

    assert spread_of_ratios(pairs) == spread_of(ratios)
    assert spread_of_counts(counts) == spread_of(whole)


def test_ratios_that_differ_in_the_fourteenth_place_are_in_order():
    low, high = (9_999_999, 9_999_998), (9_999_998, 9_999_997)
    assert spread_of_ratios([high, low]) == Spread(2, Fraction(*low), *[Fraction(*high)] * 3)
    assert spread_of([]) is spread_of_ratios([]) is spread_of_counts({}) is None


def test_a_summary_by_hand():
    """Two slots, 10 ms an iteration: 0 and 1 at once, 2 waits for a slot, 3 does not fit."""
    requests = [
        Request(0, 0, "a", 1, 50, 3),
        Request(1, 0, "b", 1, 50, 2),
        Request(2, 5 * MS, "a", 1, 16, 1),
        Request(3, 6 * MS, "b", 1, 1_600, 1),
    ]
    run = simulate(STEADY, requests)
    bounds = {"max_ttft_ms": 20, "max_tpot_ms": 10}
    found = summarize(run, bounds)

    assert [(row.let_in_ns, row.first_token_ns, row.finish_ns) for row in run.rows] == [
        (0, 10 * MS, 30 * MS),
        (0, 10 * MS, 20 * MS),
        (20 * MS, 30 * MS, 30 * MS),
        (-1, -1, -1),
    ]
    whole = found.latencies
    assert (whole.arrived, whole.finished, whole.refused, whole.good) == (4, 3, 1, 2)
    assert whole.goodput == Fraction(1, 2)
    assert whole.queue_delay_ns == Spread(3, 0, 15 * MS, 15 * MS, 15 * MS)
    assert whole.ttft_ns == Spread(3, 10 * MS, 25 * MS, 25 * MS, 25 * MS)
    assert whole.tpot_ns == Spread(3, 10 * MS, 10 * MS, 10 * MS, 10 * MS)
    assert found.itl_ns == Spread(3, 10 * MS, 10 * MS, 10 * MS, 10 * MS)
    assert {name: (one.arrived, one.good) for name, one in found.classes.items()} == {"a": (2, 1), "b": (2, 1)}
    assert (found.span_ns, found.busy) == (30 * MS, 1)
    assert (found.requests_per_second, found.good_per_second) == (100, Fraction(200, 3))
    assert (found.output_tokens_per_second, found.prompt_tokens_per_second) == (200, Fraction(116_000, 30))
    assert found.occupancy == 2
    assert found.kv_blocks_held == Fraction(4 + 4 + 4 + 4 + 4 + 1, 3)  # blocks of 50 and 51 tokens, of 16, of 51, 52
    assert found.kv_share == found.kv_blocks_held / 100
    assert found.waits == {"slots": Fraction(1, 3), "blocks": 0, "prefill": 0}
    assert found.binds == "slots"
    assert json.loads(json.dumps(found.as_json()))["goodput"] == "1/2"


def test_goodput_counts_what_was_passed_over_too_long():
    point = replace(STEADY, slots=9, chunk_tokens=50, priority_iterations=2)
    urgent = [Request(at, at * 10 * MS, "a", 1, 50, 1) for at in range(6)]
    run = simulate(point, [urgent[0], Request(9, 0, "b", 2, 50, 1), *urgent[1:]])

    assert run.rows[1].passed_ns == 20 * MS
    assert summarize(run, {"max_starvation_ms": 20}).latencies.good == 7
    assert summarize(run, {"max_starvation_ms": 19}).latencies.good == 6


def test_a_summary_of_nothing_has_no_figures():
    found = summarize(simulate(STEADY, []), {"max_ttft_ms": 1})
    names = [field.name for field in fields(Summary) if getattr(found, field.name) is None]

    assert names == [
        "itl_ns",
        "requests_per_second",
        "good_per_second",
        "output_tokens_per_second",
        "prompt_tokens_per_second",
        "occupancy",
        "kv_blocks_held",
        "kv_share",
        "busy",
    ]
    assert found.latencies.goodput is None
    assert found.binds == "nothing"


def crowd(prompt, output):
    return [Request(at, at * MS, "a", 1, prompt, output) for at in range(40)]


def test_slots_blocks_and_prefill_bind_apart():
    """The same kind of crowd, with one of the three scarce at a time."""
    ample = OperatingPoint(40, 4_000, 10 * MS, 0, 0, 3, 40 * 20)

    def binds(point, requests):
        return summarize(simulate(point, requests)).binds

    assert binds(ample, crowd(100, 100)) == "nothing"
    assert binds(replace(ample, slots=4), crowd(100, 100)) == "slots"
    assert binds(replace(ample, kv_blocks=60), crowd(100, 100)) == "blocks"
    assert binds(replace(ample, kv_blocks=60, admission_control=False), crowd(100, 100)) == "blocks"
    assert binds(replace(ample, chunk_tokens=20), crowd(100, 100)) == "prefill"
    freer = summarize(simulate(replace(ample, slots=5), crowd(100, 100)))
    assert freer.waits["slots"] < summarize(simulate(replace(ample, slots=4), crowd(100, 100))).waits["slots"]


def test_the_point_of_a_cell_is_its_server(h100):
    cell = cell_of(h100)

    assert operating_point_of(cell) == OperatingPoint(
        slots=100,
        chunk_tokens=1_024,
        base_ns=7_000_000,
        per_sequence_ns=74_000,
        per_prefill_token_ns=33_000,
        priority_iterations=3,
        kv_blocks=cell.blocks["available"],
        block_tokens=16,
        kv_bytes_per_token=131_072,
        replicas=1,
        admission_control=True,
        classes=(ArrivalClass("conversation", 1, 8_032, 1_155, 212), ArrivalClass("code", 2, 3_728, 2_048, 28)),
    )


def test_a_given_iteration_time_is_what_every_iteration_takes():
    cell = cell_at(load_grid(GRIDS / "illustrative.toml"), (0, 0, 0, 0))
    point = operating_point_of(cell)

    assert (point.base_ns, point.per_sequence_ns, point.per_prefill_token_ns) == (
        cell.verdict.iteration_time_ms * MS,
        0,
        0,
    )
    assert point.kv_blocks == cell.verdict.max_kv_bytes // (16 * cell.verdict.kv_bytes_per_token)


def test_an_invalid_cell_has_no_server(h100):
    invalid = cell_of(h100, share=600)
    assert invalid.invalid_reason

    with pytest.raises(UsageFault, match="invalid by chunk-exceeds-iteration-service"):
        operating_point_of(invalid)
    with pytest.raises(UsageFault, match="invalid by"):
        compare(simulate(STEADY, []), invalid)


def test_slabs_are_the_same_memory():
    slabs = contiguous(STEADY, 160)

    assert (slabs.block_tokens, slabs.kv_blocks) == (160, 10)
    run = simulate(slabs, [Request(0, 0, "a", 1, 100, 60), Request(1, 0, "a", 1, 100, 61)])
    assert run.total.peak_blocks == 2


def test_verdicts_beside_the_audit(h100):
    """Little traffic at the largest point: all bounds hold, and most figures are far above what is seen."""
    cell = cell_of(h100, traffic=200)
    found = compare(simulate(operating_point_of(cell), poisson_requests(operating_point_of(cell), 1, 300)), cell, "p50")

    checks = {check.bound: check for check in found.checks}
    assert list(checks) == [
        "max_active_sequences",
        "max_total_utilization_permille",
        "max_prefill_utilization_permille",
        "max_decode_utilization_permille",
        "max_queue_delay_ms",
        "max_ttft_ms",
        "max_tpot_ms",
        "max_starvation_ms",
        "max_kv_bytes",
    ]
    assert found.agreement == "both"
    for check in found.checks:
        assert check.audited == cell.verdict.figures[check.figure]
        assert check.verdict == ("far-too-strict" if check.observed * 1_000 < check.audited * 500 else "held")
    assert checks["max_tpot_ms"].verdict == "far-too-strict"
    assert checks["max_total_utilization_permille"].verdict == "held"
    assert json.loads(json.dumps(found.as_json()))["checks"][0]["bound"] == "max_active_sequences"


@pytest.mark.parametrize(("strict", "verdict"), [(1_000, "held"), (1_001, "far-too-strict")])
def test_what_is_just_the_stated_share_of_the_figure_is_held(h100, strict, verdict):
    cell = cell_of(h100)
    burst = [Request(at, 0, "code", 2, 16, 200) for at in range(cell.verdict.figures["active_sequences"])]
    check = compare(simulate(operating_point_of(cell), burst), cell, strict_permille=strict).checks[0]

    assert (check.observed, check.verdict) == (check.audited, verdict)


def test_a_broken_bound_names_its_requests_and_when(h100):
    cell = cell_of(h100)
    point = operating_point_of(cell)
    burst = [Request(at, 0, "conversation", 1, 1_155, 212) for at in range(120)]
    found = compare(simulate(point, burst), cell)
    checks = {check.bound: check for check in found.checks}

    ttft = checks["max_ttft_ms"]
    late = [row for row in simulate(point, burst).rows if row.ttft_ns > 500 * MS]
    assert ttft.verdict == "broken"
    assert ttft.audit_holds
    assert ttft.broken_requests == len(late)
    assert len(ttft.broken) == 20
    assert [(one.request_id, one.at_ns, one.value * MS) for one in ttft.broken] == [
        (row.request_id, row.first_token_ns, row.ttft_ns) for row in late[:20]
    ]
    assert checks["max_active_sequences"].observed == 100
    assert checks["max_active_sequences"].verdict == "held"
    assert (found.audit_within, found.simulated_within, found.agreement) == (True, False, "audit-only")
    assert compare(simulate(point, burst[:2]), cell).agreement == "both"


def test_who_finds_a_point_within_its_bounds(h100):
    """The audit rejects what it knows from averages; few requests break nothing; none at all are no evidence."""
    rejected = cell_of(h100, traffic=1_500)
    few = simulate(operating_point_of(rejected), [Request(0, 0, "code", 2, 2_048, 28)])
    too_long = simulate(operating_point_of(rejected), [Request(0, 0, "code", 2, 10**6, 28)])

    assert rejected.status == "rejected"
    assert compare(few, rejected).agreement == "simulation-only"
    assert compare(too_long, rejected).agreement == "neither"
    assert {check.verdict for check in compare(too_long, rejected).checks} == {"unseen"}
    with pytest.raises(UsageFault, match="at 'p95': wanted one of p50, p90, p99, max"):
        compare(few, rejected, "p95")
