"""Joint buckets of prompt × output lengths: four per doubling inside, one per doubling for people.

A length below 8 is a bucket of its own; above, each doubling [2^k, 2^(k+1)) is cut into four of equal width. So at
most 92 × 92 buckets exist, however many requests, and each keeps exact totals of its requests and tokens.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from sweep.traffic.rows import MAX_TOKENS, IntArray


def _edges() -> list[int]:
    """The first length of every bucket, and one length beyond the last bucket."""
    edges = list(range(8))
    doubling = 8
    while edges[-1] <= MAX_TOKENS:
        edges += [doubling + part * doubling // 4 for part in range(4)]
        doubling *= 2
    return edges[: next(at for at, edge in enumerate(edges) if edge > MAX_TOKENS) + 1]


EDGES = tuple(_edges())
"""Bucket k holds lengths from EDGES[k] to EDGES[k + 1] − 1 tokens."""

_WIDTH = len(EDGES) - 1
_INNER = np.array(EDGES[1:-1], np.int64)
_SHORT = np.searchsorted(_INNER, np.arange(2**15), "right").astype(np.int64)


def _buckets(lengths: IntArray) -> IntArray:
    """The bucket of each length; most traces have short ones, for which a table is five times as fast."""
    if int(lengths.max()) < len(_SHORT):
        return _SHORT[lengths]
    return np.searchsorted(_INNER, lengths, "right").astype(np.int64)


@dataclass(frozen=True)
class Cell:
    """The requests of one joint bucket.

    Attributes:
        prompt_from, prompt_to: their prompts' tokens, both ends included.
        output_from, output_to: their outputs' tokens, both ends included.
        requests: how many.
        prompt_tokens, output_tokens: of all of them together.
    """

    prompt_from: int
    prompt_to: int
    output_from: int
    output_to: int
    requests: int
    prompt_tokens: int
    output_tokens: int


class JointCount:
    """Counts requests and their tokens per joint bucket, block by block."""

    def __init__(self) -> None:
        self._sums = np.zeros((3, _WIDTH * _WIDTH), np.int64)  # 10^7 tokens · 9·10^11 requests stay below 2^63

    def add(self, prompts: IntArray, outputs: IntArray) -> None:
        """Requests by their lengths in tokens."""
        key = _buckets(prompts) * _WIDTH + _buckets(outputs)
        self._sums[0] += np.bincount(key, minlength=_WIDTH * _WIDTH)
        np.add.at(self._sums[1], key, prompts)  # bincount's weights would be floats
        np.add.at(self._sums[2], key, outputs)

    def cells(self) -> tuple[Cell, ...]:
        """The buckets that have requests, by prompt and then output."""
        return tuple(self._cells())

    def _cells(self) -> Iterator[Cell]:
        for key in np.flatnonzero(self._sums[0]).tolist():
            prompt, output = divmod(key, _WIDTH)
            sums = (int(part[key]) for part in self._sums)
            yield Cell(EDGES[prompt], EDGES[prompt + 1] - 1, EDGES[output], EDGES[output + 1] - 1, *sums)


def doublings(cells: Iterable[Cell]) -> tuple[Cell, ...]:
    """The same requests in one bucket per doubling: 0, 1, 2–3, 4–7, …"""
    merged: dict[tuple[int, int, int, int], list[int]] = {}
    for cell in cells:
        place = (*doubling(cell.prompt_from), *doubling(cell.output_from))
        sums = merged.setdefault(place, [0, 0, 0])
        for at, amount in enumerate((cell.requests, cell.prompt_tokens, cell.output_tokens)):
            sums[at] += amount
    return tuple(Cell(*place, *sums) for place, sums in sorted(merged.items()))


def doubling(length: int) -> tuple[int, int]:
    """The first and last length of the doubling that a length is in.

    >>> doubling(0), doubling(1), doubling(700)
    ((0, 0), (1, 1), (512, 1023))
    """
    if length == 0:
        return 0, 0
    low: int = 1 << (length.bit_length() - 1)
    return low, 2 * low - 1
