"""The rule chain, the signals of real snapshots, what they prove, and which knob of the grid restores the point."""

import json
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from served import small_grid, small_manifest, snapshot

import sweep
from sweep.engine.run import evaluation_of
from sweep.errors import InputFault, RecordFault, UsageFault
from sweep.operate.diagnose import HEALTHY, UNDETERMINED, rule_chain
from sweep.operate.diagnose_knob import knob_changes, nearest_bound
from sweep.operate.diagnose_proof import diagnosis
from sweep.operate.diagnose_snapshot import Signals, read_signals
from sweep.operate.manifest_point import cell_of

GOLDEN = Path(__file__).parents[3] / "shared" / "golden" / "capstone.json"


def test_the_golden_rule_chain():
    if not GOLDEN.exists():
        pytest.skip("the course's right answers are not beside the project")
    cases = json.loads(GOLDEN.read_text(), parse_float=Decimal)["diagnose"]
    assert len(cases) == 10
    for case in cases:
        expected = case.pop("expect")
        assert sweep.diagnose(**case) == expected, case


def test_thresholds_are_strict_and_exact():
    tiny = Fraction(1, 10**50)
    assert sweep.diagnose(0, 1, 0, "0.3") == "healthy"
    assert sweep.diagnose(0, 1, 0, Fraction(3, 10) + tiny) == "cache_pressure"
    assert sweep.diagnose(16, Fraction(1, 2) - tiny, 0, 0) == "undersized_replica_count"
    assert sweep.diagnose(0, 1, 40 + tiny, 0) == "oversized_batch"
    assert sweep.diagnose(0, 1, 40.1, 0.3) == "oversized_batch"  # the decimals that were typed


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), -1, "x", True])
def test_a_signal_that_is_no_number_is_refused(wrong):
    with pytest.raises(RecordFault, match="itl_p50_ms: got"):
        sweep.diagnose(0, 0, wrong, 0)


AROUND = st.sampled_from([Fraction(text) for text in ("0", "0.3", "0.31", "0.49", "0.5", "1", "15", "16", "40", "41")])


@given(st.tuples(AROUND, AROUND, AROUND, AROUND), st.sets(st.integers(0, 3)))
def test_missing_is_not_zero_the_verdict_holds_whatever_is_missing(signals, missing):
    """What is possible contains the verdict of the whole, and a determined verdict is that of every filling."""
    partial = rule_chain(*(None if at in missing else value for at, value in enumerate(signals)))
    whole = rule_chain(*signals)

    assert whole.name in partial.possible
    assert (partial.name == UNDETERMINED) == (len(partial.possible) > 1)
    if partial.name != UNDETERMINED:
        assert partial.name == whole.name


@given(st.sets(st.integers(0, 3)))
def test_every_possible_verdict_can_come_true(missing):
    partial = rule_chain(*(None if at in missing else Fraction(0) for at in range(4)))
    values = [Fraction(text) for text in ("0", "1", "20", "50")]
    seen = set()
    for a in values if 0 in missing else [Fraction(0)]:
        for b in values if 1 in missing else [Fraction(0)]:
            for c in values if 2 in missing else [Fraction(0)]:
                for d in values if 3 in missing else [Fraction(0)]:
                    seen.add(rule_chain(a, b, c, d).name)
    assert seen == set(partial.possible)


def files(tmp_path, *texts):
    paths = [tmp_path / f"{at}.prom" for at in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
    return paths


def test_signals_between_two_snapshots_by_hand(tmp_path):
    before = snapshot(running=10, waiting=1, preempted=5, finished=100, itl=(0, 10, 0, 0, 0, 0))
    after = snapshot(running=50, waiting=3, usage="0.25", preempted=8, finished=112, itl=(1, 13, 4, 0, 0, 0))
    signals = read_signals(files(tmp_path, before, after), Fraction(2), slots=100)

    assert (signals.queue_depth, signals.batch_occupancy, signals.kv_cache_usage) == (3, Fraction(1, 2), Fraction(1, 4))
    assert signals.preemption_rate == Fraction(3, 12)
    assert signals.arrival_rps == Fraction(12 + 40 + 2, 2)
    # 8 entries: 1 up to 10 ms, 3 up to 25, 4 up to 50. The 4th is the last of its bucket.
    assert (signals.itl_p50_ms, signals.itl_between_ms) == (25, (10, 25))


def test_the_median_is_interpolated_and_its_bucket_kept(tmp_path):
    paths = files(tmp_path, snapshot(), snapshot(itl=(0, 0, 100, 0, 0, 0)))
    signals = read_signals(paths)
    assert (signals.itl_p50_ms, signals.itl_between_ms) == (Fraction(75, 2), (25, 50))
    assert any("do not prove on which side of 40 ms" in note for note in signals.notes)
    endless = read_signals(files(tmp_path, snapshot(), snapshot(itl=(0, 0, 0, 0, 0, 9))))
    assert (endless.itl_p50_ms, endless.itl_between_ms) == (100, (100, None))
    assert read_signals(files(tmp_path, snapshot(), snapshot())).itl_p50_ms is None


def test_one_snapshot_has_no_rates_but_none_at_all_is_proven(tmp_path):
    signals = read_signals(files(tmp_path, snapshot(running=5, preempted=0, itl=(9, 0, 0, 0, 0, 0))), slots=10)
    assert (signals.preemption_rate, signals.itl_p50_ms, signals.arrival_rps) == (0, None, None)
    assert read_signals(files(tmp_path, snapshot(preempted=1))).preemption_rate is None


def test_preemptions_without_a_finished_request_have_no_rate(tmp_path):
    signals = read_signals(files(tmp_path, snapshot(), snapshot(preempted=2)))
    assert (signals.preemption_rate, signals.preemptions) == (None, 2)
    assert any("take the snapshots further apart" in note for note in signals.notes)


def test_several_engines_share_the_slots(tmp_path):
    both = snapshot(running=30) + snapshot(running=50, usage="0.9", engine=1)
    signals = read_signals(files(tmp_path, both), slots=50)
    assert (signals.engines, signals.batch_occupancy, signals.kv_cache_usage) == (2, Fraction(4, 5), Fraction(9, 10))


def test_old_names_are_read(tmp_path):
    old = snapshot(usage="0.5").replace("kv_cache_usage_perc", "gpu_cache_usage_perc")
    new = snapshot(itl=(0, 0, 9, 0, 0, 0)).replace("inter_token_latency", "time_per_output_token")
    assert read_signals(files(tmp_path, old)).kv_cache_usage == Fraction(1, 2)
    zero = snapshot().replace("inter_token_latency", "time_per_output_token")
    assert read_signals(files(tmp_path, zero, new)).itl_between_ms == (25, 50)


GOOD = snapshot(finished=5)


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        ([""], "is empty"),
        (["hello\n"], "has no metric of vLLM"),
        (["<html>\n"], "has no metric of vLLM"),
        ([GOOD[:-1]], "its last line has no end"),
        ([GOOD[: GOOD.rindex('"m"')] + "\n"], "wanted a sample"),
        ([GOOD.replace("5.0", "NaN")], 'got "NaN"'),
        ([GOOD.replace("5.0", "-5.0")], 'got "-5.0"'),
        ([GOOD + GOOD], "comes twice"),
        ([GOOD + snapshot().replace('"m"', '"other"')], "metrics of 2 models"),
        ([GOOD.replace("perc{", 'perc{x="1",').replace(" 0.1\n", " 1.5\n")], "used to more than 1"),
        ([GOOD, snapshot(finished=4)], "falls from the first to the second"),
        ([snapshot(itl=(9, 0, 0, 0, 0, 0)), snapshot(itl=(0, 9, 0, 0, 0, 0))], "do not grow up to +Inf"),
        ([GOOD, GOOD.replace('le="0.05"', 'le="x"')], "wanted the upper edge of a bucket"),
        (["{}"], "has no signal"),
        (["[1]"], "holds a list of 1"),
        (['{"queue_depth": 1, "queue_depth": 2}'], 'has the key "queue_depth" twice'),
        (['{"queue_depth": NaN}'], "queue_depth: got NaN"),
        (['{"queue_depth": "1"}'], 'queue_depth: got "1"'),
        (['{"queue_depth": -1}'], "queue_depth: got -1"),
        (['{"queue_depth": 1e999999999}'], "queue_depth: got 1e999999999"),
        (['{"batch_occupancy": 1.01}'], "batch_occupancy: got 1.01, wanted a number from 0 to 1"),
        (['{"queue_deph": 1, "itl_p50_ms": 1}'], "the nearest known one is queue_depth"),
        (['{"queue_depth": 1'], "is not JSON"),
    ],
)
def test_a_wrong_file_is_one_sentence(tmp_path, texts, said):
    with pytest.raises(InputFault) as fault:
        read_signals(files(tmp_path, *texts))
    assert said in fault.value.faults[0]
    assert all(sentence.isprintable() for sentence in fault.value.faults)


def test_files_that_do_not_go_together(tmp_path):
    one, two = files(tmp_path, '{"queue_depth": 1}', GOOD)
    with pytest.raises(UsageFault, match="give it alone"):
        read_signals([one, two])
    with pytest.raises(UsageFault, match="goes with two snapshots"):
        read_signals([two], Fraction(1))
    with pytest.raises(UsageFault, match="goes with two snapshots"):
        read_signals([one], Fraction(1))
    with pytest.raises(UsageFault, match="wanted one file"):
        read_signals([two, two, two])


def here():
    return cell_of(small_manifest(), small_grid())


def proven(**signals):
    answer = diagnosis(Signals("here", **signals), small_grid(), here(), small_manifest())
    return {one.name: one.holds for one in answer.findings}, answer


def test_slot_bound():
    found, answer = proven(queue_depth=Fraction(3), running=Fraction(100), preemptions=Fraction(0))
    assert found["slot_bound"] is True
    assert found["prefill_bound"] is False
    assert answer.healthy is None  # the time between tokens is missing


def test_kv_bound_by_preemptions_and_by_a_full_cache():
    assert proven(preemptions=Fraction(1))[0]["kv_bound"] is True
    full, _ = proven(queue_depth=Fraction(1), kv_cache_usage=Fraction(999, 1_000), preemptions=Fraction(0))
    assert full["kv_bound"] is True  # 27 of 27 507 blocks, a prompt of 1 155 tokens takes 73
    between, _ = proven(queue_depth=Fraction(1), kv_cache_usage=Fraction(996, 1_000), preemptions=Fraction(0))
    assert between["kv_bound"] is None  # 110 blocks: 73 for one class, 128 for the other
    free, _ = proven(queue_depth=Fraction(1), kv_cache_usage=Fraction(1, 2), preemptions=Fraction(0))
    assert free["kv_bound"] is False


def test_prefill_bound_is_what_is_left():
    waits = {"queue_depth": Fraction(1), "running": Fraction(50), "kv_cache_usage": Fraction(1, 2)}
    found, _ = proven(**waits, preemptions=Fraction(0))
    assert (found["kv_bound"], found["slot_bound"], found["prefill_bound"]) == (False, False, True)
    assert proven(**waits)[0]["prefill_bound"] is None  # whether requests were preempted is missing


def test_under_replicated_by_the_exact_capacity():
    capacity = sum(here().traffic_millirps.values())
    assert capacity == 11_760
    at, _ = proven(arrival_rps=Fraction(capacity, 1_000))
    over, answer = proven(arrival_rps=Fraction(capacity + 1, 1_000))
    assert (at["under_replicated"], over["under_replicated"]) == (False, True)
    assert answer.capacity_millirps == capacity


def test_healthy_only_where_nothing_is_missing():
    idle = {"queue_depth": Fraction(0), "running": Fraction(9), "preemptions": Fraction(0), "arrival_rps": Fraction(4)}
    assert proven(**idle)[0][HEALTHY] is True
    for name in idle:
        if name != "running":
            assert proven(**{**idle, name: None})[0][HEALTHY] is None, name


def test_the_measured_traffic_moves_the_point_and_one_knob_restores_it():
    _, answer = proven(arrival_rps=Fraction(12))
    assert (answer.cell.status, answer.measured_traffic) == ("rejected", True)
    assert answer.nearest.bound == "max_queue_delay_ms"
    assert answer.nearest.slack < 0
    assert [(change.knob, change.now, change.to) for change in answer.changes] == [("replicas", 1, 2)]


def brute(grid, cell):
    """Every single value of every axis, judged by the reference; the nearest that is within."""
    found = {}
    for axis in grid.axes[:-1]:
        now = axis.index(cell.point[axis.name])
        for index in range(len(axis)):
            at = {**cell.point, axis.name: axis.label(index)}
            if index != now and sweep.explain_grid(grid, at).status == "within":
                steps = abs(index - now)
                found[axis.name] = min(found.get(axis.name, steps), steps)
    return found


@pytest.mark.parametrize("slots", [64, 80, 96, 100, 128])
@pytest.mark.parametrize("traffic", [700, 1_000, 1_300])
def test_the_knobs_are_those_of_a_search_by_hand(slots, traffic):
    grid = small_grid(("axis", "replicas=1:4:1"))
    cell = sweep.explain_grid(grid, {"slots": slots, "chunk": 512, "share": 850, "replicas": 1, "traffic": traffic})
    found = knob_changes(grid, evaluation_of(grid), cell)

    assert {change.knob: change.steps for change in found} == brute(grid, cell)
    assert [change.steps for change in found] == sorted(change.steps for change in found)


def test_the_fewest_replicas_without_an_axis_of_them():
    cell = sweep.explain_grid(small_grid(), {"slots": 100, "chunk": 1_024, "share": 900, "traffic": 10_000})
    (change,) = knob_changes(small_grid(), evaluation_of(small_grid()), cell)
    on = [
        sweep.explain_grid(small_grid(("set", f"traffic.replicas={n}")), dict(cell.point))
        for n in (change.to - 1, change.to)
    ]

    assert change.knob == "replicas"
    assert [one.status for one in on] == ["rejected", "within"]


def test_the_nearest_bound_has_the_least_slack_relative_to_it():
    cell = here()
    near = nearest_bound(cell)
    ratios = {name: Fraction(left, cell.bound(name)) for name, left in cell.slack.items()}
    assert ratios[near.bound] == min(ratios.values())
    assert (near.bound, near.value, near.limit) == ("max_queue_delay_ms", 200, 200)


def test_an_answer_without_a_result_is_the_rule_chain_alone():
    answer = diagnosis(
        Signals("x", queue_depth=Fraction(16), batch_occupancy=Fraction(1, 3), preemption_rate=Fraction(0))
    )
    assert answer.verdict.name == "undersized_replica_count"
    assert answer.as_json()["point"] is None
    assert answer.as_json()["signals"]["batch_occupancy"] == "1/3"
    assert answer.healthy is False
