"""Request classes: nothing is lost, every class is within the audit's bounds, and a grid takes the tables."""

import json
import subprocess
import sys
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trace_texts import AZURE_2023, SHARED

import sweep
from sweep.errors import InputFault, RefusedSize, UsageFault
from sweep.records.bounds import CLASS_BOUNDS
from sweep.traffic.joint import EDGES, doubling
from sweep.traffic.lengths import LONG_TAILED, shares
from sweep.traffic.tables import class_tables

LEVELS = ("mean", "minute", "ten-seconds", "second")
GOLDEN = SHARED / "golden" / "capstone.json"
GRID = (Path(__file__).parents[2] / "grids" / "h100.toml").read_text(encoding="utf-8")
WITHOUT_CLASSES = GRID[: GRID.index("[[class]]")] + GRID[GRID.index("[axes]") :]


def facts_of(folder, rows, unit="s"):
    path = folder / "trace.csv"
    path.write_text("t,p,o\n" + "".join(f"{at},{p},{o}\n" for at, p, o in rows))
    return sweep.trace_facts(path, columns={"time": "t", "prompt": "p", "output": "o"}, unit=unit)


def test_two_classes_by_hand(tmp_path):
    """Three short requests and two long ones in 10 s; in the busiest second two."""
    facts = facts_of(tmp_path, [(0, 10, 5), (1, 10, 5), (1.5, 11, 5), (4, 900, 70), (10, 901, 70)])
    short, long = sweep.traffic_classes(facts, 2, "mean")
    assert (short.class_id, short.requests, short.prompt_tokens, short.output_tokens) == ("traffic-1", 3, 11, 5)
    assert (long.class_id, long.requests, long.prompt_tokens, long.output_tokens) == ("traffic-2", 2, 901, 70)
    assert (short.arrival_rps, short.arrival_millirps) == (Fraction(3, 10), 300)
    assert (long.arrival_rps, long.arrival_millirps) == (Fraction(1, 5), 200)
    assert (short.prompt_span, long.prompt_span, long.output_span) == ((10, 11), (896, 1023), (64, 79))
    rates = {level: [one.arrival_millirps for one in sweep.traffic_classes(facts, 2, level)] for level in LEVELS}
    assert rates == {
        "mean": [300, 200],
        "minute": [50, 34],  # 5 in 60 s
        "ten-seconds": [240, 160],  # 4 in 10 s
        "second": [1200, 800],  # 2 in 1 s
    }


lengths = st.integers(0, 30) | st.integers(0, 5_000) | st.sampled_from([10**7, 2**20, 4095, 4096])
requests = st.tuples(st.integers(0, 500), lengths, lengths.map(lambda n: max(n, 1)))


@given(st.lists(requests, min_size=1, max_size=50), st.integers(1, 64), st.sampled_from(LEVELS[1:]))
def test_nothing_is_lost_and_every_class_is_valid(tmp_path_factory, rows, count, level):
    facts = facts_of(tmp_path_factory.mktemp("drawn"), rows)
    classes = sweep.traffic_classes(facts, count, level)
    assert len(classes) == min(count, len(facts.cells))
    assert sum(one.requests for one in classes) == facts.requests
    assert sum(one.total_prompt_tokens for one in classes) == facts.prompt.total_tokens
    assert sum(one.total_output_tokens for one in classes) == facts.output.total_tokens
    assert sum(one.arrival_rps for one in classes) == facts.rate(level)
    for one in classes:
        assert 0 <= one.arrival_millirps - one.arrival_rps * 1000 < 1
        assert one.prompt_tokens == max(1, -(-one.total_prompt_tokens // one.requests))
        assert one.output_tokens == -(-one.total_output_tokens // one.requests)
        for field in ("arrival_millirps", "prompt_tokens", "output_tokens"):
            low, high = CLASS_BOUNDS[field]
            assert low <= getattr(one, field) <= high
    spans = [(one.prompt_span, one.output_span) for one in classes]
    for at, (prompt, output) in enumerate(spans):  # rectangles of lengths that do not meet
        for others in spans[at + 1 :]:
            assert any(a[1] < b[0] or b[1] < a[0] for a, b in zip((prompt, output), others, strict=True))


@given(st.lists(requests, min_size=1, max_size=50))
def test_more_classes_refine_fewer(tmp_path_factory, rows):
    facts = facts_of(tmp_path_factory.mktemp("drawn"), rows)
    for count in range(1, 6):
        few, more = (
            {one.prompt_span + one.output_span for one in sweep.traffic_classes(facts, n, "second")}
            for n in (count, count + 1)
        )
        assert len(few - more) <= 1


def squares(groups, sides):
    """Within groups of (prompt, output), the squares around the mean, each side relative to its total."""
    total = Fraction(0)
    for side, scale in enumerate(sides):
        for group in groups:
            values = [pair[side] for pair in group]
            mean = Fraction(sum(values), len(values))
            total += sum((value - mean) ** 2 for value in values) / scale
    return total


@given(st.lists(st.tuples(st.integers(1, 7), st.integers(1, 7)), min_size=3, max_size=14))
def test_the_first_cut_is_the_best_of_all_cuts(tmp_path_factory, pairs):
    """Lengths below 8 are buckets of their own, so every cut can be tried by hand."""
    sides = [sum((v - Fraction(sum(vs), len(vs))) ** 2 for v in vs) for vs in zip(*pairs, strict=True)]
    if not all(sides):
        return
    facts = facts_of(tmp_path_factory.mktemp("drawn"), [(at, *pair) for at, pair in enumerate(pairs)])
    spans = [(one.prompt_span, one.output_span) for one in sweep.traffic_classes(facts, 2, "second")]
    found = [
        [p for p in pairs if all(low <= v <= high for v, (low, high) in zip(p, span, strict=True))] for span in spans
    ]
    cuts = [
        ([p for p in pairs if p[side] <= at], [p for p in pairs if p[side] > at])
        for side in (0, 1)
        for at in range(1, 7)
        if 0 < sum(p[side] <= at for p in pairs) < len(pairs)
    ]
    assert squares(found, sides) == min(squares(cut, sides) for cut in cuts)


def test_less_than_a_millirps_is_rounded_up_and_said(tmp_path):
    facts = facts_of(tmp_path, [(0, 5, 5), (10**7, 900, 900)])
    classes = sweep.traffic_classes(facts, 2, "mean")
    assert [one.arrival_millirps for one in classes] == [1, 1]
    assert "# Note: less than 1 millirps, rounded up to 1: traffic-1, traffic-2." in class_tables(
        facts, classes, "mean"
    )


def test_more_than_the_bound_is_refused(tmp_path):
    facts = facts_of(tmp_path, [(0, 5, 5), (1, 5, 5)], unit="ns")
    with pytest.raises(UsageFault, match="wanted at most 10\\^12; take level second"):
        sweep.traffic_classes(facts, 1, "mean")


def test_prompts_of_no_tokens_become_one(tmp_path):
    facts = facts_of(tmp_path, [(0, 0, 5), (1, 0, 5)])
    (one,) = sweep.traffic_classes(facts, 3, "second")
    assert one.prompt_tokens == 1
    assert "taken as 1: traffic-1" in class_tables(facts, [one], "second")


def test_a_busiest_minute_below_the_mean_is_said(tmp_path):
    facts = facts_of(tmp_path, [(0, 5, 5), (61, 5, 5)])
    assert "lower rate than the mean" in class_tables(facts, sweep.traffic_classes(facts, 1, "minute"), "minute")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, "mean"), "wanted 1 to 64"),
        ((65, "mean"), "wanted 1 to 64"),
        ((True, "mean"), "wanted 1 to 64"),
        ((2, "hour"), "wanted one of mean, minute, ten-seconds, second"),
        ((2, "mean", "a b"), "class name: got"),
        ((2, "mean", "x" * 126), "class name: got"),
    ],
)
def test_arguments_out_of_bounds(tmp_path, arguments, message):
    with pytest.raises(UsageFault, match=message):
        sweep.traffic_classes(facts_of(tmp_path, [(0, 5, 5), (1, 5, 5)]), *arguments)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("count", [1, 2, 64])
def test_a_grid_takes_the_tables_as_they_are(tmp_path, level, count):
    path = tmp_path / "azure\nfoo = 1.csv"  # a name that would write a key of its own
    path.write_text(AZURE_2023)
    facts = sweep.trace_facts(path)
    classes = sweep.traffic_classes(facts, count, level, "chat")
    text = class_tables(facts, classes, level)
    grid = sweep.parse_grid(WITHOUT_CLASSES + "\n" + text)
    assert grid.class_ids == tuple(one.class_id for one in classes)
    for one in classes:
        for field in ("arrival_millirps", "prompt_tokens", "output_tokens"):
            assert grid.base[f"class.{one.class_id}.{field}"] == getattr(one, field)
        assert grid.from_slo(one.class_id)
    assert "Left out: 1 failed rows" in text
    assert max(map(len, text.splitlines())) <= 80


def test_buckets_hold_every_length_once():
    assert EDGES[0] == 0
    assert all(before < after for before, after in pairwise(EDGES))
    assert EDGES[-2] <= 10**7 < EDGES[-1]
    assert all(4 * (after - before) <= before or after - before == 1 for before, after in pairwise(EDGES))
    assert all(doubling(low)[0] <= low <= high - 1 <= doubling(low)[1] for low, high in pairwise(EDGES))


def test_the_long_tailed_distribution():
    found = sweep.expand_to_workload(LONG_TAILED)
    assert (len(found), sum(found)) == (100, 36_500)
    assert found[:41] == (50,) * 40 + (200,)


def test_the_golden_distribution():
    if not GOLDEN.exists():
        pytest.skip(f"needs {GOLDEN.parent.name}/{GOLDEN.name}")
    golden = json.loads(GOLDEN.read_text())["expand_to_workload"]
    found = sweep.expand_to_workload(golden["buckets"])
    assert {"count": len(found), "total": sum(found)} == golden["expect"]


@pytest.mark.parametrize(
    "buckets",
    [[], [(1,)], [(1, 2, 3)], [(0, 1)], [(1, 0)], [(1.0, 1)], [(1, True)], [(10**7 + 1, 1)], [(1, 10**9 + 1)], ["ab"]],
)
def test_buckets_that_are_none(buckets):
    with pytest.raises(InputFault):
        sweep.expand_to_workload(buckets)


def test_too_many_requests_are_refused_before_they_are_made():
    with pytest.raises(RefusedSize):
        sweep.expand_to_workload([(1, 10**9)] * 5)


@given(st.integers(0, 10**12), st.lists(st.integers(1, 10**9), min_size=1, max_size=64))
def test_shares_lose_nothing(total, weights):
    found = shares(total, weights)
    assert total <= sum(found) < total + len(weights)
    assert all(
        0 <= part - Fraction(total * weight, sum(weights)) < 1 for part, weight in zip(found, weights, strict=True)
    )


def test_lengths_cost_a_grid_no_numpy():
    """`sweep.grid` takes the shares from this room; reading a grid must not load what reads traces."""
    code = "import sys, sweep.traffic.lengths; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, cwd=Path(__file__).parents[2]).returncode == 0
