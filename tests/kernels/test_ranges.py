"""Every kernel on `Ranges`: each box's range holds every concrete result, and a box of one point gives that result."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_table import FLAG, KERNELS
from test_kernels import boxes, on_arrays, on_intervals
from watched import object_array

from sweep.exact.ranges import Ranges, Truths


def on_ranges(case, list_of_spans, make):
    """The kernel's ranges over several boxes at once."""
    args = []
    for limits, spans in zip(case.ranges, zip(*list_of_spans, strict=True), strict=True):
        if limits == FLAG:
            args.append(Truths(np.array([True in s for s in spans]), np.array([False in s for s in spans])))
        else:
            args.append(Ranges(make([s[0] for s in spans]), make([s[-1] for s in spans])))
    return case.kernel(*args)


def assert_inside(known, number, value):
    if isinstance(known, Truths):
        assert known.can_be_true[number] if value else known.can_be_false[number]
    else:
        assert known.lo[number] <= value <= known.hi[number]


@pytest.mark.parametrize("name", KERNELS)
@settings(max_examples=12)
@given(data=st.data())
def test_a_range_holds_every_result_of_its_box(name, data):
    case = KERNELS[name]
    drawn = [data.draw(boxes(case.ranges, points=3)) for _ in range(2)]
    known = on_ranges(case, [spans for spans, _ in drawn], object_array)
    for number, (_, columns) in enumerate(drawn):
        for value in on_arrays(case, columns, object_array).tolist():
            assert_inside(known, number, value)


@pytest.mark.parametrize("name", KERNELS)
@settings(max_examples=12)
@given(data=st.data())
def test_a_box_of_one_point_is_its_result_in_both_arithmetics(name, data):
    case = KERNELS[name]
    _, columns = data.draw(boxes(case.ranges, points=1))
    spans = [
        (column[0],) if limits == FLAG else (column[0], column[0])
        for limits, column in zip(case.ranges, columns, strict=True)
    ]
    wanted = on_arrays(case, columns, object_array).tolist()[0]
    kinds = [object_array]
    if on_intervals(case, spans)[1].holds_int64:
        kinds.append(lambda values: np.array(values, dtype=np.int64))
    for make in kinds:
        known = on_ranges(case, [spans], make)
        if isinstance(known, Truths):
            assert (known.can_be_true.tolist(), known.can_be_false.tolist()) == ([wanted], [not wanted])
        else:
            assert known.lo.tolist() == known.hi.tolist() == [wanted]
