"""How often each integer came: sorted arrays that grow with the distinct integers, never with the requests."""

from itertools import pairwise

import numpy as np

from sweep.traffic.rows import IntArray

_FEWEST_WAITING = 2**16


class Tally:
    """Counts int64 values. Memory: 16 bytes per distinct value, three times that while blocks are merged."""

    def __init__(self) -> None:
        self._waiting: list[tuple[IntArray, IntArray]] = []
        self._number_waiting = 0  # values behind the first part, which is what was merged

    def add(self, values: IntArray) -> None:
        """Counts every element."""
        if not len(values):
            return
        distinct, counts = np.unique(values, return_counts=True)
        if self._waiting and self._waiting[-1][0][-1] == distinct[0]:
            self._waiting[-1][1][-1] += counts[0]  # a second that two blocks share
            distinct, counts = distinct[1:], counts[1:]
        if len(distinct):
            self._waiting.append((distinct, counts.astype(np.int64)))
        self._number_waiting += len(distinct)
        # merging costs what both sides hold; doubling keeps the sum of it linear in what came
        if self._number_waiting > max(_FEWEST_WAITING, len(self._waiting[0][0])):
            self._merge()

    def counted(self) -> tuple[IntArray, IntArray]:
        """The distinct values in increasing order, and how often each came."""
        self._merge()
        return self._waiting[0] if self._waiting else (np.empty(0, np.int64), np.empty(0, np.int64))

    def _merge(self) -> None:
        """All that waits as one part."""
        parts, self._number_waiting = self._waiting, 0
        if len(parts) < 2:
            return
        values = np.concatenate([part for part, _ in parts])
        counts = np.concatenate([part for _, part in parts])
        increasing = all(before[-1] < after[0] for (before, _), (after, _) in pairwise(parts))  # as seconds are
        self._waiting = [(values, counts) if increasing else summed(values, counts)]


def summed(keys: IntArray, amounts: IntArray) -> tuple[IntArray, IntArray]:
    """The distinct keys in increasing order, and for each the sum of its amounts; sums stay below 2^63."""
    if not len(keys):
        return keys, amounts
    if bool((keys[1:] < keys[:-1]).any()):  # most traces are in order, and so are the parts of a tally
        order = np.argsort(keys, kind="stable")
        keys, amounts = keys[order], amounts[order]
    first = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1])))
    return keys[first], np.add.reduceat(amounts, first)


def nearest_rank(values: IntArray, counts: IntArray, percent: int) -> int:
    """A percentile by nearest rank: the smallest value whose rank is at least ⌈percent·n/100⌉.

    Args:
        values, counts: as `Tally.counted` gives them, n = Σ counts ≥ 1.
        percent: 1 to 100.
    """
    ranks = np.cumsum(counts)
    rank = -(-int(ranks[-1]) * percent // 100)
    return int(values[np.searchsorted(ranks, rank)])
