"""How often each integer came: sorted arrays that grow with the distinct integers, never with the requests."""

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from sweep.traffic.rows import IntArray

_FEWEST_WAITING = 2**16
_SMALL = 2**31 - 1
_SHORT = 2**16

Part = tuple[npt.NDArray[Any], npt.NDArray[Any]]
"""Distinct values in increasing order and how often each came; int32 where they fit, else int64."""


class Tally:
    """Counts int64 values. Memory: 8 bytes per distinct value (16 from 2^31 on), four times that while merging."""

    def __init__(self) -> None:
        self._waiting: list[Part] = []
        self._number_waiting = 0  # values behind the first part, which is what was merged
        self._total = 0

    def add(self, values: IntArray) -> None:
        """Counts every element."""
        if not len(values):
            return
        self._total += len(values)
        distinct, counts = _distinct(values)
        kinds = (np.int32 if distinct[0] > -_SMALL and distinct[-1] < _SMALL else np.int64), self._count_kind()
        part: Part = distinct.astype(kinds[0]), counts.astype(kinds[1])
        last = self._waiting[-1] if self._waiting else part
        if last is not part and last[0][-1] == distinct[0] and last[1].dtype == kinds[1]:
            last[1][-1] += counts[0]  # a second that two blocks share
            part = part[0][1:], part[1][1:]
        if len(part[0]):
            self._waiting.append(part)
        self._number_waiting += len(part[0])
        # merging costs what both sides hold; doubling keeps the sum of it linear in what came
        if self._number_waiting > max(_FEWEST_WAITING, len(self._waiting[0][0])):
            self._merge()

    def counted(self) -> Part:
        """The distinct values in increasing order, and how often each came; int32 or int64, at least one was added."""
        self._merge()
        return self._waiting[0]

    def _count_kind(self) -> type[np.int32] | type[np.int64]:
        """No count and no sum of counts is above what came in all."""
        return np.int32 if self._total < _SMALL else np.int64

    def _merge(self) -> None:
        """All that waits as one part."""
        self._number_waiting = 0
        if len(self._waiting) < 2:
            return
        increasing = all(before[-1] < after[0] for (before, _), (after, _) in pairwise(self._waiting))  # as seconds are
        both = [np.concatenate(parts) for parts in zip(*self._waiting, strict=True)]
        self._waiting.clear()
        if increasing:
            self._waiting.append((both[0], both[1]))
            return
        order = np.argsort(both[0], kind="stable")
        both[0] = both[0][order]  # one after the other, so that few copies are there at once
        both[1] = both[1][order].astype(self._count_kind(), copy=False)
        del order
        self._waiting.append(summed(both[0], both[1]))


def _distinct(values: IntArray) -> tuple[IntArray, IntArray]:
    """The distinct values in increasing order, and how often each came; sorted as little as the values allow."""
    if bool((values[1:] >= values[:-1]).all()):  # seconds of a trace in order
        first = np.flatnonzero(np.concatenate(([True], values[1:] != values[:-1])))
        return values[first], np.diff(np.append(first, len(values)))
    if int(values.min()) >= 0 and int(values.max()) < _SHORT:  # lengths of most traces
        counts = np.bincount(values)
        distinct = np.flatnonzero(counts)
        return distinct, counts[distinct]
    return np.unique(values, return_counts=True)


def summed(keys: npt.NDArray[Any], amounts: npt.NDArray[Any]) -> Part:
    """The distinct keys, and for each the sum of its amounts, in the type of the amounts.

    Args:
        keys: never decreasing, at least one.
        amounts: whose sum the type can hold.
    """
    first = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1])))
    return keys[first], np.add.reduceat(amounts, first, dtype=amounts.dtype)


def nearest_rank(values: npt.NDArray[Any], counts: npt.NDArray[Any], percent: int) -> int:
    """A percentile by nearest rank: the smallest value whose rank is at least ⌈percent·n/100⌉.

    Args:
        values, counts: as `Tally.counted` gives them, n = Σ counts ≥ 1.
        percent: 1 to 100.
    """
    ranks = np.cumsum(counts, dtype=np.int64)
    rank = -(-int(ranks[-1]) * percent // 100)
    return int(values[np.searchsorted(ranks, rank)])
