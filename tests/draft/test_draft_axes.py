"""The axes that figures suggest, the example in the package, and the lines of a grid's text."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sweep
from sweep.draft import example
from sweep.draft.axes import MOST_CELLS, axes_of
from sweep.draft.parts import Memory, Requests, Slo, Steps, Traffic
from sweep.draft.text import WIDTH, comment, entry, quoted
from sweep.hardware import gpu_of

GRIDS = Path(__file__).parents[2] / "grids"
SLO = Slo(500, 50, "", "")


def memory(pool=10**10, per_token=1_000):
    return Memory((), "", kv_pool_bytes=pool, kv_bytes_per_token=per_token)


def traffic(prompt=800, output=200, millirps=5_000):
    return Traffic((), "", classes=(Requests(millirps, prompt, output),))


def steps(base=10**7, per_sequence=100_000, per_token=30_000, **ranges):
    return Steps((), "", base_ns=base, per_sequence_ns=per_sequence, per_prefill_token_ns=per_token, **ranges)


def test_the_example_in_the_package_is_the_shipped_grid():
    assert example.example_text() == (GRIDS / "h100.toml").read_text(encoding="utf-8")


def test_the_example_is_what_the_code_says_of_it():
    grid = sweep.load_grid(GRIDS / "h100.toml")
    assert gpu_of(example.GPU).memory_bytes == grid.base["gpu.memory_bytes"]
    assert example.MODEL in grid.name
    assert example.parameters() == 8_030_261_248
    assert example.example_memory().kv_pool_bytes == sweep.explain_grid(grid).bound("max_kv_bytes")
    assert example.example_text().count(example.SHIPPED_AS) == 1
    assert [one.prompt_tokens for one in example.example_traffic().classes] == [1_155, 2_048]
    text = "\n".join([*example.section("[model]", "[gpu]"), *example.section("[[class]]")])
    assert {key: len(value) for key, value in tomllib.loads(text).items()} == {"model": 5, "gpu": 4, "class": 2}


def test_slots_reach_as_far_as_the_pool():
    """10^10 bytes hold 10 000 requests of 1 000 tokens of 1 000 bytes; a third of it 3 333, and 210 are 210."""
    assert axes_of(memory(210 * 10**6), traffic(), steps(), SLO).slots == range(4, 209, 4)
    found = axes_of(memory(40 * 10**6), traffic(), steps(), SLO)
    assert found.slots == range(1, 41)
    assert "the KV pool holds 40 requests of 1 000 tokens" in found.slots_why


def test_slots_and_chunks_reach_as_far_as_a_token_may_take():
    """10 ms + 0.1 ms per slot + 30 us per token within 50 ms: 128 tokens leave 361 slots, a slot 1 330 tokens."""
    found = axes_of(memory(), traffic(), steps(), SLO)
    assert found.slots == range(8, 361, 8)
    assert found.chunks == [128, 256, 512, 1_024]
    assert "longer than 50 ms" in found.slots_why
    assert axes_of(memory(), traffic(), steps(per_token=0), SLO).chunks[-1] == 8_192
    assert found.notes == ()


def test_axes_stay_where_the_step_time_was_measured():
    measured = steps(slots=(3, 40), chunk_tokens=(0, 600))
    found = axes_of(memory(), traffic(), measured, SLO)
    assert (found.slots, found.chunks) == (range(3, 41), [128, 256, 512])
    narrow = axes_of(memory(), traffic(), steps(slots=(500, 501), chunk_tokens=(300, 400)), SLO)
    assert (list(narrow.slots), narrow.chunks) == ([500], [300, 400])
    assert axes_of(memory(), traffic(), steps(chunk_tokens=(0, 100)), SLO).chunks == [1, 2, 4, 8, 16, 32, 64]


def test_what_cannot_be_feasible_is_said():
    slow = axes_of(memory(), traffic(), steps(base=6 * 10**7), SLO)
    assert "takes 64 ms and a token may take 50" in slow.notes[0]
    small = axes_of(memory(10**5), traffic(), steps(), SLO)
    assert "holds no request of 1 000 tokens" in small.notes[0]
    assert small.slots == range(1, 2)


def test_traffic_has_the_declared_one_and_what_the_fastest_step_could_take():
    light = axes_of(memory(), traffic(millirps=1), steps(), SLO)
    assert light.scales == range(1_000, 100_001, 1_000)
    heavy = axes_of(memory(), traffic(millirps=10**6), steps(), SLO)
    assert heavy.scales == range(10, 1_001, 10)


sizes = st.integers(1, 10**13)


@given(
    st.builds(memory, sizes, st.integers(1, 10**7)),
    st.builds(traffic, st.integers(1, 10**7), st.integers(1, 10**7), st.integers(1, 10**12)),
    st.builds(
        steps,
        st.integers(1, 10**10),
        st.integers(0, 10**9),
        st.integers(0, 10**9),
        slots=st.none() | st.tuples(st.integers(0, 300), st.integers(300, 10**6)),
        chunk_tokens=st.none() | st.tuples(st.integers(0, 300), st.integers(300, 10**7)),
    ),
    st.builds(Slo, st.integers(1, 86_400_000), st.integers(1, 86_400_000), st.just(""), st.just("")),
)
def test_axes_are_ones_that_a_grid_takes(replica, load, step_time, slo):
    found = axes_of(replica, load, step_time, slo)
    assert found.cells <= MOST_CELLS
    assert 1_000 in found.scales
    assert found.shares[-1] == 995
    assert found.shares[0] >= 1
    assert list(found.chunks) == sorted(set(found.chunks))
    for values, span, most in ((found.slots, step_time.slots, 10**6), (found.chunks, step_time.chunk_tokens, 10**7)):
        assert 1 <= values[0] <= values[-1] <= most
        if span is not None:
            assert max(1, span[0]) <= values[0]
            assert values[-1] <= max(1, span[1])
    axes = tomllib.loads("\n".join(found.lines()))["axes"]
    assert len(axes) == 4


@given(st.text(), st.text())
def test_any_text_is_a_string_and_a_comment_of_toml(text, said):
    valid = text.encode("utf-8", "replace").decode()
    lines = [*comment(said), *entry("name", quoted(valid), said)]
    found = tomllib.loads("\n".join(lines))
    assert list(found) == ["name"]
    assert found["name"] == valid


@pytest.mark.parametrize("words", ["word " * 60, "x" * 300, "12 345 678 " * 20, ""])
def test_comments_are_folded_and_numbers_stay_whole(words):
    lines = comment(words)
    assert all(line.startswith("#") for line in lines)
    assert max(map(len, lines)) <= max(WIDTH, 310)
    assert " ".join(line[1:].strip() for line in lines).split() == words.split()
    assert not any(line.endswith((" 12", " 345")) for line in lines)
