"""The ledger of a replica: laws over drawn memories, the three engines, and what does not fit."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sweep.errors import RecordFault
from sweep.hardware import ENGINES, Cache, CacheLayer, StageMemory, amount_of, memory_ledger, uniform_layers, width_of
from sweep.hardware.figures import ledger_figures, same_pool

TWO = width_of("2")
SHARES = st.fractions(min_value=Fraction(1, 100), max_value=1, max_denominator=1_000)
AMOUNTS = st.integers(0, 3_000)


def cache(layers=2, heads=2, dim=2, **more):
    return Cache((uniform_layers(layers, heads, dim),), TWO, TWO, **more)


@st.composite
def memories(draw):
    others = [draw(AMOUNTS) for _ in range(3)]
    return StageMemory(draw(st.integers(1, 60_000)), draw(st.integers(0, 20_000)), others[0], 0, *others[1:])


@given(memories(), SHARES, st.sampled_from(list(ENGINES)), st.integers(1, 5), st.integers(1, 40))
def test_blocks_fill_the_pool_but_for_less_than_one(memory, share, engine, gpus, block):
    ledger = memory_ledger(cache(tensor_parallel=gpus, block_tokens=block), [memory], share, engine)
    size = ledger.cache.stage_caches[0].block_bytes

    if ledger.fits:
        assert ledger.blocks * size <= ledger.kv_pool_bytes < (ledger.blocks + 1) * size
    else:
        assert ledger.blocks == ledger.cache_tokens == ledger.longest_sequence_tokens == 0
    assert ledger.kv_pool_bytes >= 0


@given(memories(), SHARES, st.sampled_from(list(ENGINES)), st.integers(1, 10_000), st.integers(1, 5))
def test_more_memory_never_gives_fewer_blocks(memory, share, engine, more, gpus):
    kept = cache(tensor_parallel=gpus)
    larger = StageMemory(memory.memory_bytes + more, memory.weight_bytes, memory.activation_bytes)
    before = StageMemory(memory.memory_bytes, memory.weight_bytes, memory.activation_bytes)

    assert memory_ledger(kept, [before], share, engine).blocks <= memory_ledger(kept, [larger], share, engine).blocks


@given(memories(), SHARES, st.integers(1, 5))
def test_vllm_is_the_formula_of_a_grid(memory, share, gpus):
    """`grid.md`: GPUs · (⌊memory · utilisation⌋ − activations − overhead − reserved) − weights."""
    ledger = memory_ledger(cache(tensor_parallel=gpus), [memory], share)
    one = memory.memory_bytes * share.numerator // share.denominator
    one -= memory.activation_bytes + memory.framework_overhead_bytes + memory.reserved_bytes
    remainder = gpus * one - memory.weight_bytes

    assert ledger.kv_pool_bytes == max(0, remainder)
    assert ledger.short_by_bytes == max(0, -remainder)


def test_the_three_denominators():
    memory = StageMemory(1_000, 300, 50, 0, 30, 20)
    pools = {engine: memory_ledger(cache(), [memory], Fraction(9, 10), engine).kv_pool_bytes for engine in ENGINES}

    assert pools == {
        "vllm": 900 - 300 - 100,  # of total, for everything
        "sglang": 900 - 300,  # of total, for weights and KV; the other 100 stand in the rest
        "tensorrt-llm": (1_000 - 300 - 100) * 9 // 10,  # of what is free after loading
    }


@given(memories(), SHARES, st.sampled_from(list(ENGINES)), st.integers(1, 4))
def test_shares_are_converted_through_bytes(memory, share, engine, gpus):
    ledger = memory_ledger(cache(tensor_parallel=gpus), [memory], share, engine)

    for other, converted in same_pool(ledger).items():
        if converted is not None:
            again = memory_ledger(cache(tensor_parallel=gpus), [memory], converted, other)
            assert ledger.kv_pool_bytes - gpus < again.kv_pool_bytes <= ledger.kv_pool_bytes  # whole bytes per GPU
    if ledger.fits and ledger.kv_pool_bytes:
        assert same_pool(ledger)[engine] is not None


def test_sglang_needs_room_outside_of_its_share():
    memory = StageMemory(1_000, 300, 150)
    ledger = memory_ledger(cache(), [memory], Fraction(9, 10), "sglang")

    assert ledger.short_by_bytes == 50
    assert not ledger.fits
    assert ledger.concurrency(1).requests == 0


def test_does_not_fit_is_an_answer_with_the_bytes_that_are_missing():
    ledger = memory_ledger(cache(), [StageMemory(1_000, 2_000, 7)], Fraction(1, 2), longest_tokens=10, typical_tokens=1)

    assert ledger.short_by_bytes == 2_000 + 7 - 500
    assert (ledger.kv_pool_bytes, ledger.blocks, ledger.cache_tokens) == (0, 0, 0)
    assert ledger.worst_case.requests == ledger.typical.requests == 0
    assert ledger_figures(ledger)["worst_case"]["concurrency"] == 0


def test_exactly_fitting_is_no_shortage():
    ledger = memory_ledger(cache(), [StageMemory(1_000, 500)], Fraction(1, 2))

    assert ledger.fits
    assert ledger.kv_pool_bytes == ledger.blocks == 0


@given(memories(), SHARES, st.integers(1, 300), st.integers(1, 300))
def test_concurrency_is_where_one_request_more_does_not_fit(memory, share, tokens, chunk):
    layers = (CacheLayer("full", 1, 2, 2), CacheLayer("sliding", 1, 2, 2, 20))
    kept = Cache((layers,), TWO, TWO, chunk_tokens=chunk)
    found = memory_ledger(kept, [memory], share, typical_tokens=tokens).typical
    pool = memory_ledger(kept, [memory], share).kv_pool_bytes

    assert found.requests * found.bytes_per_request <= pool < (found.requests + 1) * found.bytes_per_request
    assert found.requests == found.ratio.numerator // found.ratio.denominator


@given(st.integers(0, 3_000), st.integers(1, 100), st.integers(0, 30), st.integers(1, 40))
def test_blocks_that_are_held_back(blocks, tokens, reserved, block):
    kept = cache(block_tokens=block)
    size = kept.stage_caches[0].block_bytes
    ledger = memory_ledger(kept, pool_bytes=[blocks * size + size - 1], reserved_blocks=reserved, longest_tokens=tokens)
    limited = memory_ledger(kept, pool_bytes=[blocks * size], max_cache_tokens=tokens)

    assert ledger.blocks == max(0, blocks - reserved)
    assert ledger.worst_case.requests == ledger.blocks // -(-tokens // block)
    assert ledger.stages[0].held_back_bytes == (blocks - ledger.blocks) * size
    assert limited.blocks == min(blocks, tokens // block)


def test_the_smallest_stage_decides():
    layers = uniform_layers(6, 1, 1)
    kept = Cache((layers[:2], layers[2:]), TWO, TWO, block_tokens=1)  # 8 and 16 bytes per token
    memory = [StageMemory(1_000, 200), StageMemory(1_000, 200)]
    ledger = memory_ledger(kept, memory, Fraction(1), longest_tokens=10)

    assert [stage.blocks for stage in ledger.stages] == [100, 50]
    assert (ledger.blocks, ledger.cache_tokens, ledger.longest_sequence_tokens) == (50, 50, 50)
    assert (ledger.worst_case.requests, ledger.worst_case.stage) == (5, 1)
    assert ledger.kv_bytes_per_token == 24
    assert ledger.worst_case.bytes_per_request == 240


def test_one_stage_that_does_not_fit_stops_all():
    layers = uniform_layers(2, 1, 1)
    kept = Cache((layers[:1], layers[1:]), TWO, TWO)
    ledger = memory_ledger(kept, [StageMemory(1_000, 0), StageMemory(1_000, 1_001)], Fraction(1), longest_tokens=1)

    assert ledger.short_by_bytes == 1
    assert ledger.worst_case.requests == ledger.longest_sequence_tokens == 0


def test_activations_grow_with_the_chunk():
    kept = cache(chunk_tokens=100)
    ledger = memory_ledger(kept, [StageMemory(10_000, 0, 1_000, 7)], Fraction(1))

    assert ledger.kv_pool_bytes == 10_000 - 1_000 - 700


def test_rounded_amounts_give_the_range_that_they_leave_open():
    kept = cache()
    exact = [StageMemory(10**9, 10**8)]
    rounded = [StageMemory(amount_of("~0.93 GiB", "log"), amount_of("~0.09 GiB", "log"))]
    ledger = memory_ledger(kept, rounded, Fraction(1))

    assert memory_ledger(kept, exact, Fraction(1)).lowest is None
    assert ledger.lowest.kv_pool_bytes < ledger.kv_pool_bytes < ledger.highest.kv_pool_bytes
    truth = memory_ledger(kept, exact, Fraction(1)).blocks
    assert ledger.lowest.blocks <= truth <= ledger.highest.blocks


def test_a_measured_pool_says_what_is_not_cache():
    measured = memory_ledger(cache(), [StageMemory(1_000, 0)], Fraction(9, 10), pool_bytes=[300])

    assert measured.stages[0].account.not_kv_bytes == 600
    with pytest.raises(RecordFault, match="1 bytes more than the engine's share"):
        memory_ledger(cache(), [StageMemory(1_000, 0)], Fraction(9, 10), pool_bytes=[901])


def test_every_fault_of_a_ledger_at_once():
    with pytest.raises(RecordFault) as caught:
        memory_ledger(cache(), [StageMemory(-1, 10**19)], Fraction(3, 2), "other", reserved_blocks=-1, longest_tokens=0)
    assert len(caught.value.faults) == 6
    with pytest.raises(RecordFault, match="a float is not exact"):
        memory_ledger(cache(), [StageMemory(1, 1)], 0.9)
    with pytest.raises(RecordFault, match="share: missing"):
        memory_ledger(cache(), [StageMemory(1, 1)])
    with pytest.raises(RecordFault, match="want the memory of each of 1 pipeline stages"):
        memory_ledger(cache(), [], Fraction(1))
    with pytest.raises(RecordFault, match="no layer keeps anything"):
        memory_ledger(Cache(((CacheLayer("none"),),), TWO, TWO), pool_bytes=[5])
    mixed = Cache(((CacheLayer("full", 1, 1, 1), CacheLayer("sliding", 1, 1, 1, 5)),), TWO, TWO, chunk_tokens=1)
    with pytest.raises(RecordFault, match="reserved_blocks: blocks are not all alike"):
        memory_ledger(mixed, pool_bytes=[5], reserved_blocks=1)
