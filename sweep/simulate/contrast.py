"""Static against continuous batching, contiguous against paged cache: what each of the four makes of one memory."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from heapq import heappop, heappush
from typing import Literal

from sweep.errors import InputFault
from sweep.records.checks import integer_faults
from sweep.simulate.batching import BLOCK_TOKENS, MOST_FAULTS, check_integer


@dataclass(frozen=True)
class Layout:
    """One way to run the requests.

    Attributes:
        batching: `static`: a batch takes requests only when it is empty; `continuous`: before every step.
        cache: `contiguous`: a slab of the longest sequence for each; `paged`: blocks, shared prefixes once.
        steps: until all are done, one token per active request and step.
        peak_concurrency: most requests at one time.
        tokens: of all requests.
        unservable: requests that never fit, from 0 in the order given; they are left out.
    """

    batching: Literal["static", "continuous"]
    cache: Literal["contiguous", "paged"]
    steps: int
    peak_concurrency: int
    tokens: int
    unservable: tuple[int, ...]

    @property
    def mean_concurrency(self) -> Fraction:
        """Tokens per step."""
        return Fraction(self.tokens, self.steps) if self.steps else Fraction(0)


@dataclass(frozen=True)
class Layouts:
    """The four ways, worst expected first: static over contiguous to continuous over paged."""

    static_contiguous: Layout
    static_paged: Layout
    continuous_contiguous: Layout
    continuous_paged: Layout

    @property
    def speedup(self) -> Fraction | None:
        """Steps of static over contiguous per step of continuous over paged; None where one of them serves none."""
        if not self.static_contiguous.steps or not self.continuous_paged.steps:
            return None
        return Fraction(self.static_contiguous.steps, self.continuous_paged.steps)


def compare_layouts(
    requests: Sequence[Sequence[int]],
    bytes_per_token: int,
    max_seq_len: int,
    cache_budget_bytes: int,
    max_batch_slots: int,
) -> Layouts:
    """Run requests in order by all four combinations on one memory; none preempts, a head that does not fit waits.

    Args:
        requests: (shared prefix in tokens, 0 to 10^7; output in tokens, 1 to 10^7) of each, in the order of the queue.
        bytes_per_token: 1 to 10^12.
        max_seq_len: tokens of a slab, prefix and output; 1 to 2·10^7.
        cache_budget_bytes: the memory, 0 to 10^18.
        max_batch_slots: at least 1.

    In the paged cache the blocks of every distinct prefix stand once, from the first step on.

    Raises:
        InputFault: an argument out of bounds; the first faults are named.
    """
    _check(requests, bytes_per_token, max_seq_len)
    check_integer("cache_budget_bytes", cache_budget_bytes, (0, 10**18))
    check_integer("max_batch_slots", max_batch_slots, (1, 10**9))
    slabs = [1 if prefix + output <= max_seq_len else 2**63 for prefix, output in requests]
    slab_budget = cache_budget_bytes // (max_seq_len * bytes_per_token)
    blocks = [-(-output // BLOCK_TOKENS) for _, output in requests]
    block_budget = cache_budget_bytes // (BLOCK_TOKENS * bytes_per_token)
    block_budget -= sum(-(-prefix // BLOCK_TOKENS) for prefix in {prefix for prefix, _ in requests})
    outputs = [output for _, output in requests]
    return Layouts(
        _static("contiguous", outputs, slabs, max_batch_slots, slab_budget),
        _static("paged", outputs, blocks, max_batch_slots, block_budget),
        _continuous("contiguous", outputs, slabs, max_batch_slots, slab_budget),
        _continuous("paged", outputs, blocks, max_batch_slots, block_budget),
    )


def _check(requests: Sequence[Sequence[int]], bytes_per_token: int, max_seq_len: int) -> None:
    faults = []
    for at, pair in enumerate(requests):
        if len(pair) != 2:
            faults.append(f"requests[{at}]: wanted a pair of prefix and output.")
            continue
        faults += integer_faults(f"requests[{at}] prefix", pair[0], (0, 10**7))
        faults += integer_faults(f"requests[{at}] output", pair[1], (1, 10**7))
    faults += integer_faults("bytes_per_token", bytes_per_token, (1, 10**12))
    faults += integer_faults("max_seq_len", max_seq_len, (1, 2 * 10**7))
    if faults:
        raise InputFault(faults[:MOST_FAULTS])


def _served(needs: Sequence[int], budget: int) -> tuple[list[int], tuple[int, ...]]:
    """The requests that fit alone, and those that never do."""
    fitting = [at for at, need in enumerate(needs) if need <= budget]
    return fitting, tuple(at for at, need in enumerate(needs) if need > budget)


def _static(
    cache: Literal["contiguous", "paged"], outputs: Sequence[int], needs: Sequence[int], slots: int, budget: int
) -> Layout:
    fitting, unservable = _served(needs, budget)
    steps = peak = batch = held = longest = 0
    for at in fitting:
        if batch == slots or held + needs[at] > budget:
            steps += longest
            batch = held = longest = 0
        batch += 1
        held += needs[at]
        longest = max(longest, outputs[at])
        peak = max(peak, batch)
    return Layout("static", cache, steps + longest, peak, sum(outputs[at] for at in fitting), unservable)


def _continuous(
    cache: Literal["contiguous", "paged"], outputs: Sequence[int], needs: Sequence[int], slots: int, budget: int
) -> Layout:
    fitting, unservable = _served(needs, budget)
    running: list[tuple[int, int]] = []  # heap of (step at whose end it leaves, what it holds)
    now = held = peak = 0
    for at in fitting:
        while len(running) == slots or held + needs[at] > budget:  # it fits alone, so running is not empty
            now, freed = heappop(running)
            held -= freed
        heappush(running, (now + outputs[at], needs[at]))
        held += needs[at]
        # others that leave at this step's end may still be counted: there were no fewer before the one that left
        peak = max(peak, len(running))
    steps = max(running, default=(0, 0))[0]
    return Layout("continuous", cache, steps, peak, sum(outputs[at] for at in fitting), unservable)
