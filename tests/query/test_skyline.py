"""The Pareto set of rows and the shadow that thins them out, against comparing every row with every other."""

import time
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sweep.query import shadow, skyline
from sweep.query.shadow import MOST_COLUMNS, TABLE_VALUES, Shadow
from sweep.query.skyline import pareto_rows

LEAST, MOST = -(2**63), 2**63 - 1


def dominates(one, other):
    """Per row of `other` whether `one` is nowhere worse and somewhere better."""
    return (one <= other).all(axis=1) & (one < other).any(axis=1)


def naive(rows):
    kept = np.ones(rows.shape[0], dtype=bool)
    for row in rows:
        kept &= ~dominates(row, rows)
    return kept


@st.composite
def some_rows(draw, most=60, columns=6):
    count, width = draw(st.integers(0, most)), draw(st.integers(1, columns))
    few = st.integers(0, draw(st.sampled_from([0, 1, 2, 5])))
    wide = st.one_of(st.integers(LEAST, MOST), st.sampled_from([LEAST, LEAST + 1, -1, 0, 2**53, 2**53 + 1, MOST]))
    values = draw(st.sampled_from([few, few, wide]))
    cells = draw(st.lists(values, min_size=count * width, max_size=count * width))
    return np.array(cells, dtype=np.int64).reshape(count, width)


@given(some_rows())
@settings(max_examples=150)
def test_rows_with_many_ties_and_of_any_size(rows):
    assert (pareto_rows(rows) == naive(rows)).all()


@given(some_rows(), st.integers(1, 5))
@settings(max_examples=100)
def test_boxes_and_samples_of_a_few_rows(rows, size):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(skyline, "BOX_ROWS", size)
        patch.setattr(skyline, "PAIR_VALUES", 4 * size)
        patch.setattr(skyline, "COARSE_FROM", 4)
        patch.setattr(skyline, "SAMPLED", 2)
        assert (pareto_rows(rows) == naive(rows)).all()


@given(some_rows(), some_rows(), st.sampled_from([1, 9, 27, 125, TABLE_VALUES]), st.booleans())
@settings(max_examples=150)
def test_a_shadow_covers_only_what_is_dominated(front, others, table, lookups):
    width = min(front.shape[1], others.shape[1])
    front, others = front[:, :width], others[:, :width]
    if front.shape[0] == 0:
        return
    dominated = np.zeros(others.shape[0], dtype=bool)
    for row in front:
        dominated |= dominates(row, others)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shadow, "TABLE_VALUES", table)
        if not lookups:
            patch.setattr(shadow, "LOOKUP_VALUES", 0)
        covered = Shadow(front).covers(list(others.T))
    assert not (covered & ~dominated).any()


@given(some_rows(most=12, columns=4), some_rows(most=40, columns=4))
@settings(max_examples=100)
def test_a_shadow_of_a_few_rows_covers_all_that_is_dominated(front, others):
    width = min(front.shape[1], others.shape[1])
    front, others = front[:, :width] // 4, others[:, :width] // 4  # the table says nothing of the two largest integers
    if front.shape[0] == 0:
        return
    dominated = np.zeros(others.shape[0], dtype=bool)
    for row in front:
        dominated |= dominates(row, others)
    assert (Shadow(front).covers(list(others.T)) == dominated).all()


def test_a_shadow_takes_open_arrays():
    rng = np.random.default_rng(1)
    front = rng.integers(0, 50, (20, 3))
    one, two, three = rng.integers(0, 60, (4, 1, 1)), rng.integers(0, 60, (1, 5, 1)), rng.integers(0, 60, (4, 5, 6))
    closed = [np.broadcast_to(part, (4, 5, 6)).reshape(-1) for part in (one, two, three)]
    found = Shadow(front)
    assert (found.covers([one, two, three]).reshape(-1) == found.covers(closed)).all()


@pytest.mark.parametrize("columns", range(1, MOST_COLUMNS + 1))
def test_the_table_keeps_to_its_size(columns):
    rows = np.random.default_rng(columns).integers(0, 1_000, (300, columns))
    found = Shadow(rows)
    assert found._table.size <= max(TABLE_VALUES, 3 ** (columns - 1))
    assert not found.covers(list(rows[pareto_rows(rows)].T)).any()


def antichain(count, columns, seed=0):
    rows = np.random.default_rng(seed).integers(0, 10**9, (count, columns))
    rows[:, -1] = -rows[:, :-1].sum(axis=1)
    return rows


@pytest.mark.parametrize("columns", [2, 3, 4, 5])
def test_large_antichains_are_kept_whole(columns):
    assert pareto_rows(antichain(20_000, columns)).all()


@pytest.mark.slow
def test_an_antichain_of_a_hundred_thousand_rows_takes_seconds():
    rows = antichain(100_000, 4)
    start = time.process_time()
    assert pareto_rows(rows).all()
    assert time.process_time() - start < 10


@pytest.mark.parametrize("columns", [1, 2, 3, 4, 5, 9, MOST_COLUMNS + 2])
@pytest.mark.parametrize("span", [3, 40, 10**6])
def test_large_sets_of_rows(columns, span, monkeypatch):
    monkeypatch.setattr(skyline, "COARSE_FROM", 512)  # so that fewer rows, and a shorter naive check, reach it
    rows = np.random.default_rng(span + columns).integers(0, span, (2_500, columns))
    rows[::3, -1] = -rows[::3, :-1].sum(axis=1) // columns
    assert (pareto_rows(rows) == naive(rows)).all()


def test_equal_rows_stand_or_fall_together():
    rows = np.array([[1, 1, 1, 1]] * 5_000 + [[2, 2, 2, 2]] * 5_000)
    assert (pareto_rows(rows) == (rows[:, 0] == 1)).all()


@pytest.mark.parametrize("columns", [1, 2, 3, 4, 5])
def test_the_paretoset_library_says_the_same(columns):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        library = pytest.importorskip("paretoset", reason="an oracle of the development extra")
    rng = np.random.default_rng(columns)
    for span in (2, 10, 1_000, 2**62):
        rows = rng.integers(-span, span, (2_000, columns))
        # Only "min": for "max" the library negates, which wraps at the least integer.
        wanted = library.paretoset(rows, sense=["min"] * columns, distinct=False, use_numba=False)
        assert (pareto_rows(rows) == wanted).all()


def test_no_rows():
    assert pareto_rows(np.zeros((0, 3), dtype=np.int64)).size == 0
