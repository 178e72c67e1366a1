"""Limbs bring back every integer that two of them hold, and are asked for exactly when a value leaves int64."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from watched import object_array

from sweep.exact.limbs import LIMB_BASE, decode, encode, needs_limbs

LOWEST, HIGHEST = -(2**63) * 10**18, (2**63 - 1) * 10**18 + 10**18 - 1
NEAR = [0, 1, 10**18, 2 * 10**18, 2**63, 2**64, 10**27, -LOWEST // 2]
EDGES = sorted({sign * value + d for value in NEAR for sign in (-1, 1) for d in (-1, 0, 1)})
EDGES += [LOWEST, LOWEST + 1, HIGHEST - 1, HIGHEST]


@given(st.lists(st.one_of(st.sampled_from(EDGES), st.integers(LOWEST, HIGHEST)), min_size=1, max_size=20))
def test_encoding_and_decoding_gives_every_value_back(values):
    limbs = encode(object_array(values))

    assert limbs.dtype == np.int64
    assert limbs.shape == (len(values), 2)
    assert all(0 <= lo < LIMB_BASE for lo in limbs[:, 1].tolist())
    assert [hi * 10**18 + lo for hi, lo in limbs.tolist()] == values
    assert decode(limbs).tolist() == values
    assert all(type(value) is int for value in decode(limbs))


def test_a_value_beyond_two_limbs_is_an_overflow_never_a_wrap():
    for value in (LOWEST - 1, HIGHEST + 1, 10**40, -(10**40)):
        with pytest.raises(OverflowError):
            encode(object_array([value]))


def test_int64_and_small_unsigned_arrays_can_be_taken_apart_too():
    values = np.array([[-(2**63), -1], [2**63 - 1, 10**18]])

    assert decode(encode(values)).tolist() == values.tolist()
    assert decode(encode(np.array([0, 65535], dtype=np.uint16))).tolist() == [0, 65535]


def test_the_order_of_limbs_is_the_order_of_values():
    limbs = encode(object_array(EDGES))
    assert sorted(limbs.tolist()) == limbs[np.argsort(object_array(EDGES))].tolist()


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        ([2**63 - 1, -(2**63)], False),  # exactly the ends of int64
        ([0, 2**63], True),
        ([-(2**63) - 1, 0], True),
        ([-1], False),  # a fallback path with small values
        ([10**27, 5, 6], True),
        ([], False),
    ],
)
def test_limbs_are_needed_exactly_where_a_value_is_outside_int64(values, wanted):
    assert needs_limbs(object_array(values)) is wanted
    assert needs_limbs(object_array(values).reshape(1, -1)) is wanted


def test_arrays_of_machine_integers_never_need_limbs():
    for dtype in (np.int64, np.uint16, np.uint8):
        assert not needs_limbs(np.array([0, np.iinfo(dtype).max], dtype=dtype))
