"""A replica's memory as the tables of a grid: the same bytes per token, pool and blocks there, or a refusal."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sweep
from sweep.errors import InputFault, SweepError, UsageFault
from sweep.hardware import Cache, CacheLayer, StageMemory, State, memory_ledger, uniform_layers, width_of
from sweep.hardware.gridtables import grid_rows
from sweep.report.hardware import grid_text

BASE = """
[sweep]
name = "tables"
[contract]
max_total_utilization_permille = 900
max_prefill_utilization_permille = 900
max_decode_utilization_permille = 900
max_queue_delay_ms = 500
max_ttft_ms = 500
max_tpot_ms = 500
max_starvation_ms = 500
{contract}
[scheduler]
scheduler_id = "s"
token_capacity_per_second = 20_000
prefill_share_permille = 500
max_prefill_chunk_tokens = {chunk}
max_active_sequences = 8
iteration_time_ms = 100
max_consecutive_priority_iterations = 1
[[class]]
class_id = "c"
priority = 1
arrival_millirps = 1
prompt_tokens = 1
output_tokens = 1
peak_concurrency = 1
"""


def cell_of(rows, chunk=128):
    """The only cell of a grid with these rows."""
    tables, _, contract = grid_text(rows, {"weight_bytes": "--weights"}).partition("[contract]\n")
    return sweep.explain_grid(sweep.parse_grid(tables + BASE.format(contract=contract, chunk=chunk)))


def assert_same(ledger, memory, longest=None, chunk=128):
    cell = cell_of(grid_rows(ledger, memory, longest), chunk)
    cache = ledger.cache.stage_caches[0]
    per_token = sum([cache.growing_bytes_per_token, *(group.bytes_per_token for group in cache.bounded)])
    assert cell.scheduler["kv_bytes_per_token"] == per_token
    if ledger.blocks is not None:
        assert cell.blocks["available"] == ledger.blocks
    return cell


@st.composite
def replicas(draw):
    """A memory in which something is left, an engine, a share in per mille, GPUs that divide the weights."""
    gpus = draw(st.integers(1, 4))
    others = [draw(st.integers(0, 10**6)) for _ in range(3)]
    memory = StageMemory(draw(st.integers(10**8, 10**9)), gpus * draw(st.integers(0, 10**6)), others[0], 3, *others[1:])
    share = Fraction(draw(st.integers(500, 1_000)), 1_000)
    return memory, draw(st.sampled_from(["vllm", "sglang", "tensorrt-llm"])), share, gpus


@given(replicas(), st.sampled_from(["2", "1", "int4", "17/32", "q8_0"]), st.integers(1, 9), st.integers(0, 20))
def test_a_grid_has_the_same_pool_whatever_the_engine(replica, width, heads, reserved):
    memory, engine, share, gpus = replica
    wide = width_of(width)
    cache = Cache((uniform_layers(3, heads, 32),), wide, wide, gpus, 16, 128)
    ledger = memory_ledger(cache, [memory], share, engine, reserved_blocks=reserved)

    if not ledger.fits:  # what stands outside of SGLang's share has no room
        with pytest.raises(InputFault, match="does not fit"):
            grid_rows(ledger, memory, None)
        return
    cell = assert_same(ledger, memory)
    assert cell.bound("max_kv_bytes") == ledger.kv_pool_bytes - ledger.stages[0].held_back_bytes


@given(st.integers(1, 40), st.integers(1, 700), st.integers(1, 8), st.sampled_from(["2", "1", "17/32"]))
def test_a_latent_cache_is_a_key_and_a_value_of_half_of_it(layers, latent, gpus, width):
    wide = width_of(width)
    cache = Cache(((CacheLayer("full", 1, latent, 0),) * layers,), wide, wide, gpus)
    memory = StageMemory(10**9, 0)
    rows = {row.key: row for row in grid_rows(memory_ledger(cache, [memory], Fraction(1)), memory, None)}

    assert_same(memory_ledger(cache, [memory], Fraction(1)), memory)
    assert rows["kv_heads"].value == 1
    assert rows["head_dim"].value == (latent // 2 if latent % 2 == 0 else latent)


def test_keys_and_values_of_different_widths_and_sizes():
    memory = StageMemory(10**9, 0)
    for cache in (
        Cache((uniform_layers(3, 2, 128, 64),), width_of("2"), width_of("2")),
        Cache((uniform_layers(3, 2, 128),), width_of("q8_0"), width_of("q4_0")),
        Cache((uniform_layers(3, 2, 128),), width_of("int8+4"), width_of("int8+4")),
    ):
        assert_same(memory_ledger(cache, [memory], Fraction(1)), memory)


def test_a_window_that_never_binds_is_no_window():
    layers = (CacheLayer("sliding", 1, 4, 4, 1_000), CacheLayer("full", 1, 4, 4))
    two, memory = width_of("2"), StageMemory(10**9, 0)
    ledger = memory_ledger(Cache((layers,), two, two, chunk_tokens=128), [memory], Fraction(1))

    assert_same(ledger, memory, longest=1_100)
    with pytest.raises(InputFault, match="stop growing"):
        grid_rows(ledger, memory, 2_000)
    with pytest.raises(InputFault, match="stop growing"):
        grid_rows(ledger, memory, None)


def test_a_measured_pool_is_a_number_in_the_contract():
    two = width_of("2")
    ledger = memory_ledger(Cache((uniform_layers(3, 2, 64),), two, two), pool_bytes=[10**7])
    cell = cell_of(grid_rows(ledger, None, None))

    assert cell.bound("max_kv_bytes") == ledger.blocks * ledger.cache.stage_caches[0].block_bytes


def test_a_limit_in_tokens_is_held_back_in_bytes():
    two, memory = width_of("2"), StageMemory(10**9, 0)
    assert_same(
        memory_ledger(Cache((uniform_layers(3, 2, 64),), two, two), [memory], Fraction(1), max_cache_tokens=999), memory
    )


def test_what_a_grid_cannot_say_is_refused():
    two, memory = width_of("2"), StageMemory(10**9, 0)
    whole = Fraction(1)

    def refusal(cache, share=whole, engine="vllm", of=memory):
        stages = [of] * len(cache.stages)
        with pytest.raises(SweepError) as caught:
            grid_rows(memory_ledger(cache, stages, share, engine), of, None)
        return "\n".join(caught.value.faults)

    full = uniform_layers(2, 2, 64)
    assert "no pipeline stages" in refusal(Cache((full[:1], full[1:]), two, two))
    state = (CacheLayer("none", state=State(4, 1, 1, 1)), *full)
    assert "fixed cost" in refusal(Cache((state,), two, two, 1, 16, None, whole, whole))
    assert "fixed cost" in refusal(Cache((full,), two, two, state_blocks=3))
    mixed = (*full, CacheLayer("full", 1, 64, 64))
    assert "one kind of layer" in refusal(Cache((mixed,), two, two))
    assert "no ratio of parts up to 1 024" in refusal(
        Cache((uniform_layers(2, 2, 1_025, 1_024),), width_of("1023/1024"), width_of("1024/1023"))
    )
    assert "no whole number of per mille" in refusal(Cache((full,), two, two), Fraction(15, 16))
    assert "does not fit" in refusal(Cache((full,), two, two), of=StageMemory(10, 11))
    assert "is no multiple of the GPUs" in refusal(
        Cache((full,), two, two, 2), Fraction(1, 2), "tensorrt-llm", StageMemory(10**9, 1)
    )


def test_a_share_that_is_asked_for_is_usage_and_beside_a_window_both_are_said():
    two, memory, share = width_of("2"), StageMemory(10**9, 0), Fraction(15, 16)
    window = (CacheLayer("sliding", 2, 64, 64, 128),)
    with pytest.raises(UsageFault, match="per mille"):
        grid_rows(memory_ledger(Cache((uniform_layers(2, 2, 64),), two, two), [memory], share), memory, None)
    with pytest.raises(InputFault) as caught:
        grid_rows(memory_ledger(Cache((window,), two, two, chunk_tokens=1), [memory], share), memory, 9_000)
    assert ["stop growing" in fault for fault in caught.value.faults] == [True, False]
    assert "per mille" in caught.value.faults[1]


def test_layers_without_a_cache_are_left_out():
    layers = (*uniform_layers(2, 2, 64), CacheLayer("none"))
    two, memory = width_of("2"), StageMemory(10**9, 0)
    ledger = memory_ledger(Cache((layers,), two, two), [memory], Fraction(1))

    assert_same(ledger, memory)
    assert next(row for row in grid_rows(ledger, memory, None) if row.key == "layers").note.startswith("1 more")
