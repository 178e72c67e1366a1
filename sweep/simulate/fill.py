"""The prefill of one iteration: whose tokens go into the chunk, who is let in, and what kept the rest waiting."""

from bisect import insort
from typing import NamedTuple

from sweep.simulate.counters import BLOCKS, PREFILL, SLOTS
from sweep.simulate.request import NEVER
from sweep.simulate.sequence import Sequence
from sweep.simulate.state import State


class Filled(NamedTuple):
    """What an iteration prefills.

    Attributes:
        grants: the sequences that prefill in it.
        tokens: of all of them.
        cause: what kept further work waiting, empty where there was none.
        passed: the oldest request where it was passed over.
    """

    grants: list[Sequence]
    tokens: int
    cause: str
    passed: Sequence | None


NOTHING = Filled([], 0, "", None)
"""An iteration without prefill and without anything that waits for it."""


def order_of(sequence: Sequence) -> tuple[int, int]:
    """The policy's order, of equal keys by age."""
    return sequence.order


def number_of(sequence: Sequence) -> int:
    """The order by age."""
    return sequence.number


def fill(state: State, now: int, preempted: bool) -> Filled:
    """Grant the chunk of the next iteration, letting in waiting requests on the way; see `replica` for the rules.

    Args:
        state: the replica; something waits or prefills.
        now: when the iteration begins.
        preempted: whether a sequence lost its slot for it; then none is let in.
    """
    waiting, size = state.waiting, state.point.chunk_tokens
    budget = size
    by_age = state.passes >= state.point.priority_iterations
    queue = sorted(state.prefilling, key=number_of) if by_age else list(state.prefilling)
    oldest = _oldest(state)
    ran = oldest.number in state.running
    closed = state.static and len(state.running) > 0
    blocked = BLOCKS if preempted else SLOTS if closed else ""
    grants: list[Sequence] = []
    at = 0
    while budget:
        head = None if blocked else waiting.oldest() if by_age else waiting.first()
        sequence = queue[at] if at < len(queue) else None
        if head is not None and (sequence is None or _before(head, sequence, by_age)):
            blocked = _let_in(state, head, now)
            if blocked:
                continue
            sequence = head
        elif sequence is None:
            break
        else:
            at += 1
        budget -= _grant(state, sequence, budget)
        grants.append(sequence)
    if state.static:
        while not blocked and (head := waiting.oldest() if by_age else waiting.first()) is not None:
            blocked = _let_in(state, head, now)
    cause = ""
    if not budget and any(one.prefilled < one.target for one in state.prefilling):
        cause = PREFILL
    elif len(waiting):
        cause = blocked or (SLOTS if len(state.running) >= state.point.slots else PREFILL)
    served = oldest in grants or (not ran and oldest.number in state.running)
    return Filled(grants, size - budget, cause, _passed(state, oldest, served, len(grants) > 0 and not by_age))


def _before(head: Sequence, sequence: Sequence, by_age: bool) -> bool:
    return head.number < sequence.number if by_age else head.order < sequence.order


def _oldest(state: State) -> Sequence:
    """The oldest of those that wait or prefill."""
    waiting = state.waiting.oldest()
    if not state.prefilling:
        assert waiting is not None
        return waiting
    prefilling = min(state.prefilling, key=number_of)
    return prefilling if waiting is None or prefilling.number < waiting.number else waiting


def _let_in(state: State, head: Sequence, now: int) -> str:
    """Give a waiting request a slot, and promise it its blocks; what it lacks, empty where it got them."""
    point, pool = state.point, state.pool
    if len(state.running) >= point.slots:
        return SLOTS
    promise = _promise(state, head)
    hashes = _usable(state, head)
    found, free = pool.hits(hashes) if hashes else (0, 0)
    # units that nobody holds count as available, so to hold them takes as much as to compute them
    if promise - (found - free) * pool.unit_blocks > pool.available:
        return BLOCKS
    head.hashes = list(hashes[:found])
    pool.let_in(head.hashes, promise - found * pool.unit_blocks)
    head.promise, head.units, head.prefilled = promise, found, found * state.hash_tokens
    head.let_in_ns = now
    if head.first_let_in_ns == NEVER:
        head.first_let_in_ns, head.hit_tokens = now, head.prefilled
    state.waiting.take(head)
    state.running[head.number] = head
    insort(state.prefilling, head, key=order_of)
    counters = state.counters
    counters.hit_tokens += head.prefilled
    counters.peak_running = max(counters.peak_running, len(state.running))
    return ""


def _promise(state: State, sequence: Sequence) -> int:
    """Blocks that must be free to let it in, without prefix hits: to finish, or to prefill."""
    request = sequence.request
    whole = request.prompt_tokens + request.output_tokens
    return state.point.blocks(whole if state.point.admission_control else sequence.target)


def _usable(state: State, sequence: Sequence) -> tuple[int, ...]:
    """The hashes that it may hit: of whole units of its prompt, and a token must be left to prefill."""
    hashes = sequence.request.prefix_hashes
    if not hashes or not state.hash_tokens:
        return ()
    return hashes[: min(sequence.request.prompt_tokens, sequence.target - 1) // state.hash_tokens]


def _grant(state: State, sequence: Sequence, budget: int) -> int:
    """Prefill tokens of a sequence in this iteration; their blocks were promised to it."""
    tokens = min(budget, sequence.target - sequence.prefilled)
    blocks = state.point.blocks
    more = blocks(sequence.prefilled + tokens) - blocks(sequence.prefilled)
    sequence.prefilled += tokens
    if more:
        state.pool.grow(more, True)
    return tokens


def _passed(state: State, oldest: Sequence, served: bool, by_policy: bool) -> Sequence | None:
    """Count an iteration that serves others, as the policy wants, and not the oldest; the oldest where it does."""
    if served:
        state.passes, oldest.passed_run_ns = 0, 0
        return None
    if not by_policy:
        return None
    state.passes += 1
    state.counters.most_passes = max(state.counters.most_passes, state.passes)
    return oldest
