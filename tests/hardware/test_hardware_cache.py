"""The arithmetic of a cache: laws over drawn models, and small cases by hand."""

from fractions import Fraction
from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sweep.errors import RecordFault
from sweep.hardware import Cache, CacheLayer, State, stage_counts, staged, uniform_layers, width_of

WIDTHS = ["2", "1", "int4", "mxfp4", "q8_0", "17/32", "int8+4", "nvfp4"]


@st.composite
def layers(draw, most=6):
    """Some layers of one shape, each full, sliding, chunked or without a cache."""
    heads, keys, values = draw(st.tuples(*[st.integers(1, 12)] * 3))
    kinds = st.sampled_from(["full", "sliding", "chunked", "none"])
    chosen = draw(st.lists(st.tuples(kinds, st.integers(1, 60)), min_size=1, max_size=most))
    return tuple(
        CacheLayer("none") if kind == "none" else CacheLayer(kind, heads, keys, values, 0 if kind == "full" else window)
        for kind, window in chosen
    )


@st.composite
def caches(draw):
    widths = st.sampled_from(WIDTHS).map(width_of)
    return Cache(
        (draw(layers()),),
        draw(widths),
        draw(widths),
        tensor_parallel=draw(st.integers(1, 9)),
        block_tokens=draw(st.integers(1, 40)),
        chunk_tokens=draw(st.integers(1, 90)),
    )


@given(caches(), st.integers(1, 500))
def test_a_longer_request_never_takes_less(cache, tokens):
    stage = cache.stage_caches[0]

    assert stage.request_bytes(tokens) <= stage.request_bytes(tokens + 1)
    whole = -(-tokens // cache.block_tokens) * cache.block_tokens
    assert stage.request_bytes(tokens) == stage.request_bytes(whole)  # in whole blocks


@given(caches(), st.integers(1, 500))
def test_a_window_never_costs_more_than_keeping_everything(cache, tokens):
    full = tuple(
        CacheLayer("full", layer.heads, layer.key_values, layer.value_values) if layer.window_tokens else layer
        for layer in cache.stages[0]
    )
    grown = Cache((full,), cache.key, cache.value, cache.tensor_parallel, cache.block_tokens)
    kinds = 1 + len(cache.stage_caches[0].bounded)  # each kind of layer rounds its own bytes up
    rounding = kinds * cache.block_tokens * -(-tokens // cache.block_tokens)

    assert cache.stage_caches[0].request_bytes(tokens) <= grown.stage_caches[0].request_bytes(tokens) + rounding


@given(st.integers(1, 60), st.integers(1, 90), st.integers(1, 40), st.integers(1, 400), st.data())
def test_a_sliding_layer_holds_what_a_simulated_request_ever_touches(window, chunk, block, length, data):
    """Step by step: a chunk is computed, then what no later token sees is freed in whole blocks."""
    layer = CacheLayer("sliding", 1, 1, 1, window)
    computed, most = 0, 0
    while computed < length:
        new = min(data.draw(st.integers(1, chunk)), length - computed)
        first = max(0, computed - (window - 1))  # the oldest token that the first new one attends to
        held = (computed + new - 1) // block - first // block + 1
        most, computed = max(most, held), computed + new

    assert most <= min(layer.most_blocks(block, chunk), -(-length // block))


def test_the_published_number_of_blocks_of_a_window():
    assert CacheLayer("sliding", 8, 64, 64, 128).most_blocks(16, 1024) == 73
    assert CacheLayer("sliding", 8, 64, 64, 1).most_blocks(16, 1) == 2  # a window smaller than a block
    assert CacheLayer("sliding", 8, 64, 64, 128).most_blocks(16, 1000) == 72  # 1 127 tokens
    assert CacheLayer("chunked", 8, 64, 64, 8192).most_blocks(16, 1024) == 576
    assert CacheLayer("chunked", 8, 64, 64, 100).most_blocks(16, 28) == 9  # begins anywhere in a block


@given(st.integers(1, 40), st.integers(1, 40), st.integers(1, 40))
def test_heads_are_replicated_where_they_are_fewer_than_gpus(heads, dim, gpus):
    two = width_of("2")
    stage = Cache(((CacheLayer("full", heads, dim, dim),),), two, two, gpus).stage_caches[0]

    each = max(1, ceil(Fraction(heads, gpus)))  # what one GPU keeps
    assert stage.growing_bytes_per_token == 2 * gpus * each * dim * 2
    if heads % gpus == 0:
        assert stage.growing_bytes_per_token == 2 * heads * dim * 2
    if gpus >= heads:
        assert each == 1


@given(st.integers(1, 30), st.integers(1, 600), st.integers(1, 16))
def test_a_latent_is_kept_by_every_gpu(count, latent, gpus):
    two = width_of("2")
    stage = Cache(((CacheLayer("full", 1, latent, 0),) * count,), two, two, gpus).stage_caches[0]

    assert stage.growing_bytes_per_token == gpus * count * latent * 2


@given(caches(), st.integers(0, 10**6))
def test_the_longest_sequence_fits_and_one_block_more_does_not(cache, pool):
    stage = cache.stage_caches[0]
    longest = stage.longest_tokens(pool)

    if longest is None:
        assert stage.request_bytes(10**9) <= pool
        return
    assert longest % cache.block_tokens == 0
    assert longest == 0 or stage.request_bytes(longest) <= pool
    assert stage.request_bytes(longest + 1) > pool


@given(caches(), st.integers(1, 300))
def test_keys_and_values_add_up_to_the_request(cache, tokens):
    keys, values = cache.key_value_bytes(tokens)
    stage = cache.stage_caches[0]
    kinds = bool(stage.growing_layers) + len(stage.bounded)

    assert keys + values - 1 <= stage.request_bytes(tokens)
    # whole bytes per token and kind of layer, rounded up, against keys and values rounded once
    assert stage.request_bytes(tokens) - (keys + values) < kinds * (tokens + cache.block_tokens) + 1


@pytest.mark.parametrize("name", WIDTHS)
def test_widths_are_exact_and_rounded_up_once_per_token(name):
    width = width_of(name)
    stage = Cache((uniform_layers(3, 5, 7),), width, width).stage_caches[0]

    assert stage.growing_bytes_per_token == ceil(2 * 3 * 5 * (7 * width.bytes_per_value + width.scale_bytes))


def test_published_widths():
    assert width_of("int4").bytes_per_value == Fraction(1, 2)
    assert width_of("mxfp4").bytes_per_value == Fraction(17, 32)
    assert width_of("q8_0").bytes_per_value == Fraction(34, 32)
    assert width_of("q4_0").bytes_per_value == Fraction(18, 32)
    assert width_of("nvfp4").row_bytes(128) == 64 + 8  # a byte of scale per 16 values
    assert width_of("int8_per_token_head").row_bytes(128) == 132
    assert width_of("41/36").row_bytes(576) == 656  # the fp8 latent of 512 + 16 + 128 bytes


def test_keys_and_values_of_different_types():
    cache = Cache((uniform_layers(2, 4, 64),), width_of("q8_0"), width_of("q4_0"), block_tokens=1)

    assert cache.key_value_bytes(10) == (2 * 4 * 64 * 10 * 34 // 32, 2 * 4 * 64 * 10 * 18 // 32)


def test_a_state_is_paid_once_per_request():
    state = State(conv_channels=10, conv_steps=3, heads=4, head_values=6)
    layers = (CacheLayer("full", 2, 8, 8), CacheLayer("none", state=state))
    two = width_of("2")
    stage = Cache((layers,), two, two, 2, 16, None, Fraction(2), Fraction(4)).stage_caches[0]

    assert stage.state_bytes == 10 * 3 * 2 + 4 * 6 * 4
    assert stage.request_bytes(16) - stage.request_bytes(17) == -16 * 2 * 2 * 8 * 2
    assert stage.request_bytes(1) == 16 * 2 * 2 * 8 * 2 + stage.state_bytes
    assert stage.block_bytes is None  # blocks and states share the pool
    given_bytes = Cache((layers,), two, two, state_bytes=(1_000,)).stage_caches[0]
    assert given_bytes.request_bytes(1) == 16 * 2 * 2 * 8 * 2 + 1_000


def test_a_state_that_gpus_do_not_divide_is_asked_for():
    state = State(conv_channels=10, conv_steps=3, heads=4, head_values=6)
    two = width_of("2")

    with pytest.raises(RecordFault, match="do not divide the recurrent state"):
        Cache(((CacheLayer("none", state=state),),), two, two, 3, 16, None, Fraction(2), Fraction(4))
    with pytest.raises(RecordFault, match="state_bytes_per_value: missing"):
        Cache(((CacheLayer("none", state=state),),), two, two)


@given(st.integers(1, 200), st.integers(1, 20))
def test_stages_hold_every_layer_once_and_differ_by_one_at_most(count, stages):
    if stages > count:
        return
    counts = stage_counts(count, stages, "vllm")

    assert counts is not None
    assert sum(counts) == count
    assert max(counts) - min(counts) <= 1
    assert (stage_counts(count, stages, "sglang") is None) == (count % stages != 0)


@given(caches(), st.data())
def test_stages_add_up_to_the_whole(cache, data):
    layers = cache.stages[0]
    cut = data.draw(st.integers(0, len(layers)))
    if not 0 < cut < len(layers):
        return
    parts = staged(layers, (cut, len(layers) - cut))
    whole = {"key": width_of("2"), "value": width_of("1"), "chunk_tokens": 9}
    together, apart = Cache((layers,), **whole), Cache(parts, **whole)

    assert sum(s.request_bytes(100) for s in apart.stage_caches) == together.stage_caches[0].request_bytes(100)


def test_every_fault_of_a_cache_at_once():
    with pytest.raises(RecordFault) as caught:
        Cache((), width_of("2"), width_of("2"), tensor_parallel=0, block_tokens=True, chunk_tokens=-1)
    assert len(caught.value.faults) == 4
    with pytest.raises(RecordFault, match="chunk_tokens: missing"):
        Cache(((CacheLayer("sliding", 1, 1, 1, 5),),), width_of("2"), width_of("2"))
    mixed = (CacheLayer("sliding", 1, 1, 1, 5), CacheLayer("full", 1, 1, 1))
    with pytest.raises(RecordFault, match="state_blocks: blocks are not all alike"):
        Cache((mixed,), width_of("2"), width_of("2"), chunk_tokens=1, state_blocks=1)
    with pytest.raises(RecordFault, match="want the model's 3"):
        staged(uniform_layers(3, 1, 1), (1, 1))
    with pytest.raises(RecordFault):
        CacheLayer("sliding", 1, 1, 1)
    with pytest.raises(RecordFault):
        CacheLayer("odd", 1, 1, 1)
