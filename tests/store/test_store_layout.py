"""Chunks, slabs and regions: pure functions of ints."""

import itertools
import math

import numpy as np
import pytest
from store_cases import small_grid

from sweep.store import SLAB_VALUES, Variable, chunk_shape, slab_shape, slabs
from sweep.store.layout import CHUNK_VALUES, axis_attributes, check_variable, flat_span


@pytest.mark.parametrize(
    ("shape", "target", "lengths"),
    [
        ((), 100, ()),  # a scalar
        ((7,), 100, (7,)),  # fits whole
        ((3, 5, 7), 35, (1, 5, 7)),  # trailing dimensions fit exactly
        ((3, 5, 7), 34, (1, 3, 7)),  # 4 rows would fit, but 3 + 2 wastes less than 4 + 1
        ((3, 5, 7), 6, (1, 1, 4)),  # even the last dimension is cut: 4 + 3
        ((3, 5, 7), 1, (1, 1, 1)),
        ((10**7,), 2**15, (32680,)),  # a traffic axis of ten million: 306 chunks
        ((91, 12, 100, 1000), 2**15, (1, 1, 25, 1000)),
    ],
)
def test_chunk_is_a_block_in_c_order_cut_evenly(shape, target, lengths):
    assert chunk_shape(shape, target) == lengths


@pytest.mark.parametrize(
    ("shape", "target", "chunks", "lengths"),
    [
        ((91, 12, 100, 1000), 2**20, None, (1, 6, 100, 1000)),  # 10 of 12 would fit; 6 + 6 is even
        ((91, 12, 100, 1000), 30_000, None, (1, 1, 25, 1000)),  # never less than a chunk
        ((8, 10), 40, (1, 3), (4, 10)),  # whole rows
        ((8, 10), 7, (1, 3), (1, 6)),  # whole chunks within a row: 6 + 4
        ((8, 10), 7, (2, 3), (2, 10)),  # chunks that are no block: rows are as many as they need
        ((), 7, None, ()),
    ],
)
def test_slab_is_whole_chunks(shape, target, chunks, lengths):
    assert slab_shape(shape, target, chunks) == lengths


def test_slabs_of_every_small_shape_tile_it_in_c_order_by_whole_chunks():
    for shape in itertools.product(range(1, 6), repeat=3):
        for chunk_target, slab_target in [(1, 1), (2, 7), (4, 9), (10, 30), (200, 200)]:
            chunks = chunk_shape(shape, chunk_target)
            end = 0
            for region in slabs(shape, slab_shape(shape, slab_target, chunks)):
                start, stop = flat_span(region, shape, chunks)
                assert start == end
                end = stop
                assert stop - start <= max(slab_target, math.prod(chunks))
            assert end == math.prod(shape)


def test_the_defaults_keep_to_their_targets():
    for shape in [(80, 5, 61, 100), (2, 10**7), (10**6,), (3, 3, 3)]:
        assert math.prod(chunk_shape(shape)) <= CHUNK_VALUES
        assert math.prod(slab_shape(shape)) <= SLAB_VALUES


@pytest.mark.parametrize(
    "region",
    [
        (slice(0, 2), slice(0, 3)),  # two half rows: not one block
        (slice(0, 1), slice(1, 6)),  # begins inside a chunk
        (slice(0, 1), slice(0, 4)),  # ends inside a chunk
        (slice(0, 1), slice(3, 3)),  # nothing
        (slice(0, 2, 2), slice(0, 6)),  # a stride
        (slice(0, 1),),
    ],
)
def test_other_regions_are_a_bug_of_the_caller(region):
    with pytest.raises(ValueError, match="region"):
        flat_span(region, (4, 6), (1, 3))


@pytest.mark.parametrize(
    "variable",
    [
        Variable("x", "f8", ()),
        Variable("x", "u2", (), limbs=True),
        Variable("x", "i8", (), {"_FillValue": np.int64(-1)}),
        Variable("x", "i8", (), {"scale_factor": 2}),
        Variable("x", "i8", (), {"units": "seconds"}),
        Variable("x", "i8", (), {"units": "ms since 1970-01-01"}),
        Variable("x", "i8", ("limb",)),
    ],
)
def test_a_variable_that_readers_would_decode_is_refused(variable):
    with pytest.raises(ValueError, match="x: "):
        check_variable(variable)


def test_every_axis_says_what_it_is():
    found = {axis.dim: axis_attributes(axis) for axis in small_grid().axes}
    assert found["prefill_share_permille"]["units"] == "1e-3"
    assert found["class__chat__v1__prompt_tokens"] == {
        "long_name": "prompt tokens (class chat.v1)",
        "units": "1",
        "path": "class.chat.v1.prompt_tokens",
    }
    assert found["precision"]["path"] == "precision"
    assert "units" not in found["precision"]
