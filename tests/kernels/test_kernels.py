"""Each kernel on its three kinds of number: Python ints as defined, int64 wherever proven, intervals around both."""

import inspect
from math import prod
from types import FunctionType

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from kernel_table import FLAG, KERNELS
from watched import Hull, object_array, watched_array

from sweep.exact.interval import INT64_MAX, INT64_MIN, Interval, Proof, Truth
from sweep.kernels import derive, figures, rules, thresholds

PER_KERNEL = 12
TURNS = [n + d for n in (0, 1, 1000, 2**31, 2**53, 2**62, 2**63, 10**18) for d in (-1, 0, 1)]


def test_every_kernel_is_in_the_table():
    named = {case.kernel.__name__ for case in KERNELS.values()} | {"scale_for_peaks", "outside"}
    for module in (derive, figures, rules, thresholds):
        for name, function in inspect.getmembers(module, lambda value: isinstance(value, FunctionType)):
            assert function.__module__ != module.__name__ or name in named, f"{module.__name__}.{name}"


def numbers(lower, upper):
    """Any magnitude inside the bounds, turns of the machine's integers and both ends often."""
    edges = sorted({edge for edge in (*TURNS, lower, lower + 1, upper - 1, upper) if lower <= edge <= upper})
    sizes = st.integers(0, max(abs(lower), upper).bit_length())
    inside = sizes.flatmap(lambda bits: st.integers(max(lower, -(2**bits)), max(lower, min(upper, 2**bits))))
    return st.one_of(st.sampled_from(edges), inside)


@st.composite
def boxes(draw, ranges, points):
    """A box of arguments: per argument its range (outcomes for a flag) and some points inside, ends often."""
    spans, columns = [], []
    for limits in ranges:
        if limits == FLAG:
            span = draw(st.sampled_from([(True,), (False, True), (True,), (False,)]))
            column = draw(st.lists(st.sampled_from(span), min_size=points, max_size=points))
        else:
            lo, hi = sorted((draw(numbers(*limits)), draw(numbers(*limits))))
            span = (lo, hi) if draw(st.integers(0, 2)) else (lo, lo)
            inside = st.one_of(st.sampled_from(span), st.integers(*span))
            column = draw(st.lists(inside, min_size=points, max_size=points))
        spans.append(span)
        columns.append(column)
    return spans, columns


def on_intervals(case, spans):
    """The kernel's range and its proof over a box."""
    proof, args = Proof(), []
    for limits, span in zip(case.ranges, spans, strict=True):
        if limits == FLAG:
            args.append(Truth(True in span, False in span))
        else:
            proof.note(*span)
            args.append(Interval(*span, proof))
    return case.kernel(*args), proof


def on_arrays(case, columns, make):
    flags = [limits == FLAG for limits in case.ranges]
    args = [np.array(c, dtype=bool) if flag else make(c) for flag, c in zip(flags, columns, strict=True)]
    return np.asarray(case.kernel(*args))


def int64(column):
    return np.array(column, dtype=np.int64)


def assert_definition_and_range(case, spans, columns):
    """On Python ints the kernel is the plain formula; its range holds every result, its proof every intermediate."""
    hull = Hull()
    known, proof = on_intervals(case, spans)
    concrete = on_arrays(case, columns, lambda column: watched_array(column, hull))
    for row, value in zip(zip(*columns, strict=True), concrete, strict=True):
        assert value == case.plain(*row), row
        if isinstance(known, Truth):
            assert known.can_be_true if value else known.can_be_false, row
        else:
            assert known.lo <= value <= known.hi, row
    assert proof.lo <= hull.lo
    assert hull.hi <= proof.hi


@pytest.mark.parametrize("name", KERNELS)
@settings(max_examples=PER_KERNEL)
@given(data=st.data())
def test_a_kernel_is_its_definition_inside_its_range_and_every_intermediate_inside_its_proof(name, data):
    assert_definition_and_range(KERNELS[name], *data.draw(boxes(KERNELS[name].ranges, points=3)))


@pytest.mark.slow
@pytest.mark.parametrize("name", KERNELS)
@settings(max_examples=8 * PER_KERNEL)
@given(data=st.data())
def test_so_it_is_on_many_more_arguments(name, data):
    assert_definition_and_range(KERNELS[name], *data.draw(boxes(KERNELS[name].ranges, points=4)))


def proven_box(case, spans):
    """The box, made smaller towards the lower bounds of its arguments until int64 is proven; None if it never is."""
    for _ in range(130):
        if on_intervals(case, spans)[1].holds_int64:
            return spans
        pairs = list(zip(case.ranges, spans, strict=True))
        spans = [s if r == FLAG else (_nearer(r[0], s[0]), _nearer(r[0], s[1])) for r, s in pairs]
    return None


def _nearer(lower, value):
    """Half way to the lower bound, or to 0 where that is negative."""
    target = max(lower, 0)
    return target + (value - target) // 2 if value >= target else -(-value // 2)


def last_proven(case, spans, position, upper):
    """The box with one argument's upper end moved to the last value at which int64 is still proven."""

    def moved(end):
        return [(span[0], end) if i == position else span for i, span in enumerate(spans)]

    low, high = spans[position][0], upper
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if on_intervals(case, moved(middle))[1].holds_int64 else (low, middle - 1)
    return moved(low), low


def corners(spans, inside):
    """Every corner of a box (about 64 of them where there are more), and a point inside; as columns."""
    ends = [sorted(set(span)) for span in spans]
    count = prod([len(end) for end in ends])
    rows = [[end[-1] for end in ends], inside]
    for number in range(0, count, max(1, count // 64)):
        row, rest = [], number
        for end in ends:
            rest, at = divmod(rest, len(end))
            row.append(end[at])
        rows.append(row)
    return [list(column) for column in zip(*rows, strict=True)]


def assert_edge_of_proof(case, spans, position, extra):
    """int64 is the exact result wherever the proof holds; the box ends where one step more would lose the proof."""
    spans = proven_box(case, spans)
    if spans is None:
        return
    if case.ranges[position] != FLAG:
        upper = min(case.ranges[position][1], INT64_MAX)
        spans, end = last_proven(case, spans, position, max(upper, spans[position][0]))
        event(f"stopped by its proof: {end < upper}")
    known, proof = on_intervals(case, spans)
    inside = [span[at % len(span)] for span, at in zip(spans, extra, strict=True)]
    columns = corners(spans, inside)
    found = on_arrays(case, columns, int64)
    exact = on_arrays(case, columns, object_array)

    assert proof.holds_int64
    assert found.dtype == (bool if isinstance(known, Truth) else np.int64)
    for row, value, wanted in zip(zip(*columns, strict=True), found.tolist(), exact.tolist(), strict=True):
        assert value == wanted, row
        assert isinstance(known, Truth) or INT64_MIN <= known.lo <= value <= known.hi <= INT64_MAX, row


@st.composite
def edges(draw, ranges):
    spans, columns = draw(boxes(ranges, points=1))
    position = draw(st.integers(0, len(ranges) - 1))
    return spans, position, [int(column[0]) for column in columns]


@pytest.mark.parametrize("name", KERNELS)
@settings(max_examples=PER_KERNEL)
@given(data=st.data())
def test_int64_never_wraps_where_the_proof_holds_even_at_its_last_value(name, data):
    assert_edge_of_proof(KERNELS[name], *data.draw(edges(KERNELS[name].ranges)))


@pytest.mark.slow
@pytest.mark.parametrize("name", KERNELS)
@settings(max_examples=8 * PER_KERNEL)
@given(data=st.data())
def test_nor_on_many_more_boxes(name, data):
    assert_edge_of_proof(KERNELS[name], *data.draw(edges(KERNELS[name].ranges)))
