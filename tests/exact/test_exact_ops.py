"""`exact.ops` means the same on int64, on Python ints and on intervals, at every edge of the machine's integers."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from watched import Hull, object_array, watched_array

from sweep.exact import ops
from sweep.exact.interval import INT64_MAX, INT64_MIN, Interval, Proof, Truth

TURNS = [2**31, 2**53, 2**62, 2**63, 10**18, 2**64, 10**27]
EDGES = sorted({sign * (turn + d) for turn in [0, 1, 7, 1000, *TURNS] for d in (-1, 0, 1) for sign in (-1, 1)})
DIVISORS = [edge for edge in EDGES if edge >= 1]

# name: (operation, sorts of its arguments, the same in plain Python); n: any number, d: a divisor (≥ 1), f: a flag
OPERATIONS = {
    "add": (lambda a, b: a + b, "nn", lambda a, b: a + b),
    "radd": (lambda a: 7 + a, "n", lambda a: 7 + a),
    "subtract": (lambda a, b: a - b, "nn", lambda a, b: a - b),
    "rsubtract": (lambda a: 1000 - a, "n", lambda a: 1000 - a),
    "multiply": (lambda a, b: a * b, "nn", lambda a, b: a * b),
    "rmultiply": (lambda a: 1000 * a, "n", lambda a: 1000 * a),
    "negate": (lambda a: -a, "n", lambda a: -a),
    "floor_div": (ops.floor_div, "nd", lambda a, b: a // b),
    "ceil_div": (ops.ceil_div, "nd", lambda a, b: a // b + (a % b > 0)),
    "ceil_div of a constant": (lambda b: ops.ceil_div(10**18, b), "d", lambda b: 10**18 // b + (10**18 % b > 0)),
    "maximum": (ops.maximum, "nn", max),
    "maximum of a constant": (lambda a: ops.maximum(1, a), "n", lambda a: max(1, a)),
    "minimum": (ops.minimum, "nn", min),
    "minimum with a constant": (lambda a: ops.minimum(a, 999), "n", lambda a: min(a, 999)),
    "clamp": (lambda a: ops.clamp(a, 1, 10**12), "n", lambda a: sorted((1, a, 10**12))[1]),
    "within": (lambda a: ops.within(a, -3, 2**53), "n", lambda a: -3 <= a <= 2**53),
    "select": (ops.select, "fnn", lambda f, a, b: a if f else b),
    "select constant": (lambda f, a: ops.select(f, a, -1), "fn", lambda f, a: a if f else -1),
    "select by comparison": (lambda a, b: ops.select(a <= b, a, b), "nn", lambda a, b: a if a <= b else b),
    "<": (lambda a, b: a < b, "nn", lambda a, b: a < b),
    "<=": (lambda a, b: a <= b, "nn", lambda a, b: a <= b),
    ">": (lambda a, b: a > b, "nn", lambda a, b: a > b),
    ">=": (lambda a, b: a >= b, "nn", lambda a, b: a >= b),
    "and": (lambda f, g: f & g, "ff", lambda f, g: f and g),
    "or": (lambda f, g: f | g, "ff", lambda f, g: f or g),
    "not": (lambda f: ~f, "f", lambda f: not f),
}
CHOICES = {"n": EDGES, "d": DIVISORS, "f": [False, True]}


def arrays_of(sorts, rows, make):
    columns = list(zip(*rows, strict=True))
    return [
        np.array(column, dtype=bool) if sort == "f" else make(column)
        for sort, column in zip(sorts, columns, strict=True)
    ]


def point(sort, value, proof):
    if sort == "f":
        return Truth(value, not value)
    proof.note(value, value)
    return Interval(value, value, proof)


@pytest.mark.parametrize("name", OPERATIONS)
def test_python_ints_give_the_plain_result_at_every_pair_of_edges(name):
    operation, sorts, plain = OPERATIONS[name]
    rows = list(product(*[CHOICES[sort] for sort in sorts]))
    found = operation(*arrays_of(sorts, rows, object_array))
    assert list(found) == [plain(*row) for row in rows]


@pytest.mark.parametrize("name", OPERATIONS)
def test_int64_gives_the_plain_result_wherever_the_proof_of_the_point_holds(name):
    operation, sorts, plain = OPERATIONS[name]
    rows = []
    for row in product(*[CHOICES[sort] for sort in sorts]):
        proof = Proof()
        known = operation(*[point(sort, value, proof) for sort, value in zip(sorts, row, strict=True)])
        wanted = plain(*row)
        if isinstance(known, Truth):
            assert known == Truth(wanted, not wanted), row
        else:
            assert (known.lo, known.hi) == (wanted, wanted), row
        inside = all(INT64_MIN <= value <= INT64_MAX for value in row)
        assert inside or not proof.holds_int64, row
        if proof.holds_int64:
            rows.append(row)
    assert rows
    found = operation(*arrays_of(sorts, rows, lambda column: np.array(column, dtype=np.int64)))
    assert found.dtype == (bool if isinstance(plain(*rows[0]), bool) else np.int64)
    assert found.tolist() == [plain(*row) for row in rows]


@pytest.mark.parametrize("name", OPERATIONS)
def test_the_proof_of_a_point_is_the_hull_of_its_intermediates(name):
    """No value is forgotten, which would let a wrap through, and none is made up, which would make int64 rare."""
    operation, sorts, _ = OPERATIONS[name]
    for row in product(*[CHOICES[sort][:: 1 if len(sorts) == 1 else 3] for sort in sorts]):
        proof, hull = Proof(), Hull()
        operation(*[point(sort, value, proof) for sort, value in zip(sorts, row, strict=True)])
        operation(*arrays_of(sorts, [row], lambda column, hull=hull: watched_array(column, hull)))
        constants = name in ("ceil_div of a constant", "clamp", "within", "maximum of a constant")
        constants = constants or name in ("minimum with a constant", "select constant")
        if constants:
            assert (proof.lo <= hull.lo, proof.hi >= hull.hi) == (True, True), row
        else:
            assert (proof.lo, proof.hi) == (hull.lo, hull.hi), row


@st.composite
def spans(draw, sort):
    """A range with points in it, ends often."""
    if sort == "f":
        outcomes = draw(st.sampled_from([(False,), (True,), (False, True)]))
        return outcomes, draw(st.lists(st.sampled_from(outcomes), min_size=6, max_size=6))
    numbers = st.one_of(st.sampled_from(CHOICES[sort]), st.integers(1 if sort == "d" else -(10**28), 10**28))
    lo, hi = sorted((draw(numbers), draw(numbers)))
    inside = st.one_of(st.sampled_from([lo, hi]), st.integers(lo, hi))
    return (lo, hi), draw(st.lists(inside, min_size=6, max_size=6))


@pytest.mark.parametrize("name", OPERATIONS)
@settings(max_examples=20)
@given(data=st.data())
def test_an_interval_contains_every_result_and_its_proof_every_intermediate(name, data):
    operation, sorts, _ = OPERATIONS[name]
    drawn = [data.draw(spans(sort)) for sort in sorts]
    proof, hull = Proof(), Hull()
    args = []
    for sort, (known, _points) in zip(sorts, drawn, strict=True):
        if sort == "f":
            args.append(Truth(True in known, False in known))
        else:
            proof.note(*known)
            args.append(Interval(*known, proof))
    result = operation(*args)
    rows = list(zip(*[points for _, points in drawn], strict=True))
    concrete = operation(*arrays_of(sorts, rows, lambda column: watched_array(column, hull)))
    for row, value in zip(rows, concrete, strict=True):
        if isinstance(result, Truth):
            assert result.can_be_true if value else result.can_be_false, row
        else:
            assert result.lo <= value <= result.hi, row
    assert proof.lo <= hull.lo
    assert hull.hi <= proof.hi


def test_dividing_by_an_interval_that_may_be_below_one_is_refused():
    for divisor in (0, -1, Interval(0, 5), Interval(-2, 7)):
        with pytest.raises(AssertionError, match="must be clamped to 1 or more"):
            ops.floor_div(Interval(1, 2), divisor)


def linear_scan(table, limit, lo, hi):
    """The largest x of [lo, hi] whose value is within the limit; lo where hi is below it."""
    return max([x for x in range(lo, hi + 1) if table[x] <= limit], default=lo)


@given(st.lists(st.integers(0, 5), min_size=2, max_size=40), st.data())
def test_largest_within_is_the_linear_scan(steps, data):
    """For nondecreasing functions that hold at the lower bracket, element by element, on both kinds of array."""
    table = np.cumsum(steps).tolist()
    last = len(table) - 1
    rows = []
    for _ in range(8):
        lo = data.draw(st.integers(0, last))
        rows.append((lo, data.draw(st.integers(0, last)), data.draw(st.integers(table[lo], table[-1] + 1))))
    low, high, limit = zip(*rows, strict=True)
    wanted = [linear_scan(table, top, lo, hi) for lo, hi, top in rows]
    for dtype in (np.int64, object):

        def value_at(x, dtype=dtype):
            return np.array(table, dtype=dtype)[x.astype(np.int64)]

        args = [np.array(column, dtype=dtype) for column in (limit, low, high)]
        assert ops.largest_within(value_at, *args).tolist() == wanted


@given(st.integers(1, 2**62), st.integers(0, 2**80), st.integers(0, 2**62), st.integers(0, 2**62))
def test_largest_within_finds_the_quotient_at_any_size(slope, limit, lo, width):
    """value = slope·x: the answer is ⌊limit / slope⌋ inside the bracket, and the proof covers every intermediate."""
    lo = min(lo, limit // slope)
    hull = Hull()
    args = [watched_array([value], hull) for value in (limit, lo, lo + width)]
    found = ops.largest_within(lambda x: slope * x, *args)
    proof = Proof()
    known = [Interval(value, value, proof) for value in (limit, lo, lo + width)]
    for interval in known:
        proof.note(interval.lo, interval.hi)
    result = ops.largest_within(lambda x: slope * x, *known)

    assert found.tolist() == [min(limit // slope, lo + width)]
    assert result.lo <= found[0] <= result.hi
    assert proof.lo <= hull.lo
    assert hull.hi <= proof.hi


def test_largest_within_broadcasts_open_arrays_and_takes_empty_ones():
    limit = np.array([10, 20, 30]).reshape(3, 1)
    high = np.array([4, 100]).reshape(1, 2)

    found = ops.largest_within(lambda x: 3 * x, limit, np.array([[0]]), high)
    empty = ops.largest_within(lambda x: x, np.zeros((0, 2), np.int64), np.array([[0]]), high)

    assert found.tolist() == [[3, 3], [4, 6], [4, 10]]
    assert empty.shape == (0, 2)
