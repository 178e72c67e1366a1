"""`[[class.lengths]]`: one class per bucket, nothing lost, every fault told once; the stored grid has the classes."""

import json
from fractions import Fraction

import pytest
from grid_texts import MINIMAL, MODELS, faults_of
from hypothesis import given
from hypothesis import strategies as st

from sweep.grid import Grid, grid_from_effective, grid_with, parse_grid
from sweep.records.bounds import CLASS_BOUNDS

BARE = MINIMAL.replace("prompt_tokens = 1_000\noutput_tokens = 200\n", "")
"""The minimal grid, whose class chat arrives at 4 000 millirps with a concurrency of 24, without lengths."""

LONG_TAILED = ((50, 10, 40), (200, 20, 35), (500, 40, 15), (1_500, 80, 8), (4_000, 160, 2))


def lengths(buckets):
    return "".join(
        f"[[class.lengths]]\nprompt_tokens = {prompt}\noutput_tokens = {output}\nweight = {weight}\n"
        for prompt, output, weight in buckets
    )


def inline(count, class_id):
    """A class with so many equal buckets, in one line."""
    bucket = "{ prompt_tokens = 1, output_tokens = 1, weight = 1 }"
    table = BARE[BARE.index("[[class]]") :].replace("chat", class_id)
    return f"{table}lengths = [{', '.join([bucket] * count)}]\n"


def column(grid: Grid, key):
    return [grid.base[f"class.{class_id}.{key}"] for class_id in grid.class_ids]


def test_a_class_becomes_one_per_bucket():
    grid = parse_grid(BARE + lengths(LONG_TAILED))
    assert grid.class_ids == ("chat:1", "chat:2", "chat:3", "chat:4", "chat:5")
    assert column(grid, "prompt_tokens") == [50, 200, 500, 1_500, 4_000]
    assert column(grid, "output_tokens") == [10, 20, 40, 80, 160]
    assert column(grid, "priority") == [1] * 5
    assert column(grid, "arrival_millirps") == [1_600, 1_400, 600, 320, 80]
    assert column(grid, "peak_concurrency") == [10, 9, 4, 2, 1]  # 9.6, 8.4, 3.6, 1.92, 0.48


def test_sub_tables_and_a_list_of_tables_are_one():
    buckets = ", ".join(f"{{ prompt_tokens = {p}, output_tokens = {o}, weight = {w} }}" for p, o, w in LONG_TAILED)
    assert parse_grid(BARE + f"lengths = [{buckets}]\n").sha256 == parse_grid(BARE + lengths(LONG_TAILED)).sha256


def test_a_concurrency_from_the_slo_stays_so_with_its_burst():
    text = MODELS.replace("prompt_tokens = 1_000\noutput_tokens = 200\n", "burst_permille = 1_200\n")
    grid = parse_grid(text + lengths([(1, 2, 3), (4, 5, 6)]))
    assert column(grid, "peak_concurrency") == ["from-slo"] * 2
    assert column(grid, "burst_permille") == [1_200] * 2


def test_the_canonical_text_holds_the_classes_and_gives_them_back():
    grid = parse_grid(BARE + lengths(LONG_TAILED), [("set", "chat.arrival_rps=12.5")])
    assert [one["class_id"] for one in json.loads(grid.effective)["class"]] == list(grid.class_ids)
    assert "lengths" not in grid.effective
    again = grid_from_effective(grid.effective, grid.text, grid.overrides)
    assert again == grid
    assert grid_with(again, [("set", "max_ttft_ms=300")]).base["class.chat:1.arrival_millirps"] == 5_000


def test_by_hand_written_classes_are_the_same_grid():
    by_hand = MINIMAL[: MINIMAL.index("[[class]]")]
    for at, (prompt, output, arrival, peak) in enumerate([(50, 10, 3_000, 18), (900, 80, 1_000, 6)], start=1):
        by_hand += (
            f'[[class]]\nclass_id = "chat:{at}"\npriority = 1\narrival_millirps = {arrival}\nprompt_tokens = {prompt}\n'
            f"output_tokens = {output}\npeak_concurrency = {peak}\n"
        )
    assert parse_grid(BARE + lengths([(50, 10, 3), (900, 80, 1)])).sha256 == parse_grid(by_hand).sha256


@given(st.integers(1, 10**12), st.integers(1, 10**6), st.lists(st.integers(1, 10**9), min_size=1, max_size=64))
def test_no_load_is_lost_and_every_class_is_within_bounds(arrival, peak, weights):
    text = BARE.replace("concurrency = 24", f"concurrency = {peak}").replace("4_000", str(arrival))
    grid = parse_grid(text + lengths([(1, 1, weight) for weight in weights]))
    for key, whole in (("arrival_millirps", arrival), ("peak_concurrency", peak)):
        low, high = CLASS_BOUNDS[key]
        for part, weight in zip(column(grid, key), weights, strict=True):
            assert 0 <= part - Fraction(whole * weight, sum(weights)) < 1
            assert low <= part <= high


def test_axes_choices_and_overrides_reach_a_bucket_by_its_number():
    axes = """[axes]
"class.chat:2.output_tokens" = [20, 40]
[[axes.tail]]
name = "long"
set = { "class.chat:5.prompt_tokens" = 8_000 }
[[axes.tail]]
name = "short"
set = { class."chat:5".prompt_tokens = 2_000 }
"""
    changes = [("set", "class.chat:1.prompt_tokens=77"), ("axis", "chat:3.arrival_rps=1:3:1")]
    grid = parse_grid(BARE + lengths(LONG_TAILED) + axes, changes)
    assert grid.base["class.chat:1.prompt_tokens"] == 77
    assert [axis.path for axis in grid.axes[3:-1]] == [
        "class.chat:2.output_tokens",
        "tail",
        "class.chat:3.arrival_millirps",
    ]
    assert grid.overrides == ("--set class.chat:1.prompt_tokens=77", "--axis chat:3.arrival_rps=1:3:1")


def test_overrides_of_the_class_spread_over_its_buckets_and_those_of_a_bucket_win():
    changes = [
        ("set", "class.chat:1.arrival_millirps=7"),
        ("set", "class.chat.arrival_rps=8"),
        ("set", "chat.peak_concurrency=100"),
    ]
    grid = parse_grid(BARE + lengths(LONG_TAILED), changes)
    assert column(grid, "arrival_millirps") == [7, 2_800, 1_200, 640, 160]
    assert column(grid, "peak_concurrency") == [40, 35, 15, 8, 2]
    assert grid.overrides == tuple(f"--set {text}" for _, text in changes)


FAULTS = {
    "both lengths and a length": (
        MINIMAL + lengths(LONG_TAILED),
        "class.chat.prompt_tokens: given beside lengths, whose buckets have it; remove the one or the other.",
        "class.chat.output_tokens: given beside lengths, whose buckets have it; remove the one or the other.",
    ),
    "no weight": (
        BARE + lengths(LONG_TAILED).replace("weight = 40\n", ""),
        "class.chat.lengths[0].weight: missing, wanted a whole number of requests from 1 to 1 000 000 000; add it.",
    ),
    "weight 0": (
        BARE + lengths([(1, 1, 0)]),
        "class.chat.lengths[0].weight: got 0, wanted a whole number of requests from 1 to 1 000 000 000; raise it.",
    ),
    "a large weight": (
        BARE + lengths([(1, 1, 10**9 + 1)]),
        "class.chat.lengths[0].weight: got 1 000 000 001, wanted a whole number of requests from 1 to 1 000 000 000;"
        " lower it.",
    ),
    "a share for a weight": (
        BARE + lengths([(1, 1, 0.5)]),
        "class.chat.lengths[0].weight: got 0.5, wanted a whole number of requests from 1 to 1 000 000 000; write an"
        " integer.",
    ),
    "a wrong length": (
        BARE + lengths([(0, 10**7 + 1, 1)]),
        "class.chat.lengths[0].prompt_tokens: got 0, wanted a whole number of tokens from 1 to 10 000 000; raise it.",
        "class.chat.lengths[0].output_tokens: got 10 000 001, wanted a whole number of tokens from 1 to 10 000 000;"
        " lower it.",
    ),
    "an unknown key": (
        BARE + lengths([(1, 1, 1)]) + "weigth = 1\n",
        "class.chat.lengths[0].weigth: unknown key, the nearest known one is weight; correct or remove it.",
    ),
    "no list": (
        BARE + "lengths = 5\n",
        "class.chat.lengths: got 5, wanted a list of tables with prompt_tokens, output_tokens and weight; write"
        " [[class.lengths]] for each bucket.",
    ),
    "an empty list": (
        BARE + "lengths = []\n",
        "class.chat.lengths: got an empty list, wanted a list of tables with prompt_tokens, output_tokens and weight;"
        " write [[class.lengths]] for each bucket.",
    ),
    "one table": (
        BARE + "[class.lengths]\nweight = 1\n",
        "class.chat.lengths: got one table, wanted a list of tables with prompt_tokens, output_tokens and weight; write"
        " [[class.lengths]] for each bucket.",
    ),
    "too many buckets": (
        BARE[: BARE.index("[[class]]")] + inline(65, "chat"),
        "class.chat.lengths: got 65 buckets, wanted 1 to 64; merge some.",
    ),
    "too many classes": (
        BARE[: BARE.index("[[class]]")] + inline(40, "chat") + inline(25, "code"),
        "class: got 65 classes with the buckets of lengths, wanted 1 to 64; merge some buckets.",
    ),
    "an id without room": (
        BARE.replace('"chat"', f'"{"c" * 127}"') + lengths([(1, 1, 1)]),
        f"class.{'c' * 127}.class_id: got 127 characters, wanted at most 126 before :1 to :1; shorten it.",
    ),
    "a wrong id": (
        BARE.replace('"chat"', '"a b"') + lengths(LONG_TAILED),
        'class.a b.class_id: got "a b", wanted a text of letters, digits and _.:/@-, at most 128, the first a letter or'
        " digit; rename it.",
    ),
    "no arrivals": (
        BARE.replace("arrival_millirps = 4_000\n", "") + lengths(LONG_TAILED),
        "class.chat.arrival_millirps: missing, wanted a whole number of 1/1000 requests per second from 1 to"
        " 1 000 000 000 000; add it.",
    ),
    "arrivals twice": (
        BARE.replace("priority = 1", "arrival_rps = 1\npriority = 1") + lengths(LONG_TAILED),
        "class.chat.arrival_rps: given beside arrival_millirps, wanted one of the two; remove one.",
    ),
    "a burst beside an integer": (
        BARE.replace("priority = 1", "burst_permille = 5\npriority = 1") + lengths(LONG_TAILED),
        'class.chat.burst_permille: goes with peak_concurrency = "from-slo" only; remove it or derive the concurrency.',
    ),
    "another class with a bucket's id": (
        BARE + lengths(LONG_TAILED) + MINIMAL[MINIMAL.index("[[class]]") :].replace("chat", "chat:1"),
        "class.chat:1: two classes have this class_id, wanted distinct ones; rename one.",
    ),
}


@pytest.mark.parametrize("case", FAULTS)
def test_each_fault_is_told_once(case):
    text, *sentences = FAULTS[case]
    assert list(faults_of(text)) == sentences


@pytest.mark.parametrize("class_id", ["[1]", "7", "{ a = 1 }"])
def test_an_id_of_another_type(class_id):
    faults = faults_of(BARE.replace('"chat"', class_id) + lengths(LONG_TAILED))
    assert len(faults) == 1
    assert faults[0].startswith("class number 1.class_id: got ")


def test_faults_of_overrides_name_the_option():
    text = BARE + lengths(LONG_TAILED)
    assert faults_of(text, ("set", "chat.arrival_millirps=0"))[0].startswith("--set chat.arrival_millirps=0: got 0, ")
    assert faults_of(text, ("set", "class.chat:1.prompt_tokens=0"))[0].startswith(
        "--set class.chat:1.prompt_tokens=0: got 0"
    )
    (fault,) = faults_of(text, ("axis", "class.chat.prompt_tokens=[1, 2]"))
    assert "chat has lengths, so its classes are its buckets, chat:1 to chat:5; write class.chat:1." in fault
