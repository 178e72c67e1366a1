"""Prefix sharing: which blocks of which prompts an unbounded cache would have had.

Equal hashes stand for equal prefixes, so a request hits the leading blocks whose hashes all came in requests before
it; behind the first miss nothing can be reused. A hit on a last, partial block counts its own tokens.
"""

from dataclasses import dataclass

import numpy as np

from sweep.traffic.rows import BLOCK_TOKENS, BoolArray, IntArray

_DENSE = 2**26
"""Hashes below it are a bit each (as a byte, 64 MB at most): Mooncake numbers blocks as they first appear."""


@dataclass(frozen=True)
class PrefixFacts:
    """What requests share.

    Attributes:
        block_tokens: tokens of a whole block.
        blocks: of all prompts.
        hit_blocks: leading blocks that requests before had too.
        hit_partial_blocks: those of them that are a prompt's last, partial block.
        hit_tokens: tokens in `hit_blocks`.
        hit_requests: requests with at least one of them.
    """

    block_tokens: int
    blocks: int
    hit_blocks: int
    hit_partial_blocks: int
    hit_tokens: int
    hit_requests: int


class PrefixCount:
    """Counts hits block by block of the trace. Memory: by distinct hashes, one byte each, or eight where sparse."""

    def __init__(self) -> None:
        self._seen = SeenIds()
        self._sums = np.zeros(5, np.int64)

    def add(self, prompts: IntArray, ids: IntArray, counts: IntArray) -> None:
        """Requests in the order of the trace.

        Args:
            prompts: tokens, shape (requests,).
            ids: the hashes of all of them in a row.
            counts: how many each request has, ⌈prompt / 512⌉.
        """
        hit = self._before(ids, np.repeat(np.arange(len(counts)), counts))
        some = counts > 0
        ends = np.cumsum(counts)
        starts = (ends - counts)[some]
        place = np.arange(len(ids)) - np.repeat(starts, counts[some])
        misses = np.where(hit, len(ids), place)
        leading = np.zeros(len(counts), np.int64)
        if len(ids):
            leading[some] = np.minimum(np.minimum.reduceat(misses, starts), counts[some])
        tokens = np.minimum(leading * BLOCK_TOKENS, prompts)
        partial = (leading == counts) & some & (prompts % BLOCK_TOKENS > 0)
        self._sums += [len(ids), leading.sum(), partial.sum(), tokens.sum(), np.count_nonzero(leading)]

    def _before(self, ids: IntArray, request: IntArray) -> BoolArray:
        """Whether each hash came in a request before its own."""
        order = np.argsort(ids, kind="stable")
        ordered, owners = ids[order], request[order]
        new = np.concatenate(([True], ordered[1:] != ordered[:-1]))[: len(ids)]
        first = np.flatnonzero(new)
        group = np.cumsum(new) - 1
        known = self._seen.add(ordered[first])
        hit = np.empty(len(ids), np.bool_)
        hit[order] = known[group] | (owners > owners[first][group])
        return hit

    def facts(self) -> PrefixFacts:
        """What was counted."""
        return PrefixFacts(BLOCK_TOKENS, *(int(part) for part in self._sums))


class SeenIds:
    """A set of int64, asked and added to in sorted batches."""

    def __init__(self) -> None:
        self._dense = np.zeros(2**12, np.bool_)
        self._runs: list[IntArray] = []

    def add(self, ids: IntArray) -> BoolArray:
        """Whether each was there; afterwards all are.

        Args:
            ids: distinct and increasing.
        """
        low, high = np.searchsorted(ids, [0, _DENSE])
        known = np.zeros(len(ids), np.bool_)
        if high > low:
            dense = ids[low:high]
            if int(dense[-1]) >= len(self._dense):
                longer = min(max(2 * len(self._dense), int(dense[-1]) + 1), _DENSE)
                self._dense = np.concatenate([self._dense, np.zeros(longer - len(self._dense), np.bool_)])
            known[low:high] = self._dense[dense]
            self._dense[dense] = True
        sparse = np.concatenate([np.arange(low), np.arange(high, len(ids))])
        known[sparse] = self._in_runs(ids[sparse])
        fresh = ids[sparse[~known[sparse]]]
        if len(fresh):
            self._runs.append(fresh)
        # runs at least halve from one to the next, so there are few, and each id is moved a few times only
        while len(self._runs) > 1 and 2 * len(self._runs[-1]) > len(self._runs[-2]):
            self._runs[-2:] = [np.sort(np.concatenate(self._runs[-2:]), kind="stable")]
        return known

    def _in_runs(self, ids: IntArray) -> BoolArray:
        found = np.zeros(len(ids), np.bool_)
        for run in self._runs:
            at = np.minimum(np.searchsorted(run, ids), len(run) - 1)
            found |= run[at] == ids
        return found
