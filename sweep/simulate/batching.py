"""Continuous batching over a paged cache by the reference policy, step by step and to the end, whatever the end is.

The policy is "evict the largest, requeue last" (`models.md`, "Schedule"). It often never finishes: it comes back to a
state that it had before, for ever. The serving mode (`replica`) preempts in a way that provably goes on.

What makes it fast:

* The active list is in the order of admission, and every active request emits one token per step. So tokens emitted
  never increase along the list, and the request to preempt (most tokens, the earliest on a tie) is always the first.
  Tokens emitted are the steps since admission; none is counted one by one.
* Where admission stops because the queue is empty or no slot is free, nothing changes until a request retires: the
  steps up to that are one. Where it stops because the head does not fit, the next step preempts: steps are single.
* Where even the requests with most blocks fit together, admission never looks at blocks: slots alone decide.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush, heapreplace
from itertools import islice, repeat
from typing import Final, Literal

from sweep.errors import InputFault
from sweep.records.checks import integer_faults

BLOCK_TOKENS: Final = 16
"""Tokens of a block in the reference policy."""

MOST_FAULTS: Final = 20
"""Faulty lengths that a message names."""

_EAGER: Final = 64
"""States are compared from this share of the requests in flight on: copying a state then costs less than its steps."""

Outcome = Literal["completed", "livelock", "unservable"]


@dataclass(frozen=True)
class Batching:
    """How a batch of requests ended.

    Attributes:
        outcome: `completed`: all have retired. `livelock`: a state came again, so it comes for ever. `unservable`: some
            request has more blocks than the budget, and would block the queue for ever; nothing was run.
        steps: that were run; of a livelock up to the end of its first period.
        preemptions: in these steps.
        occupancy_runs: (steps, active requests): the occupancy of these steps, in runs.
        first_recurring_state_at_step: steps finished when the recurring state first stood; None without a livelock.
        period: steps until it stands again; None without a livelock.
        unservable: the requests that do not fit, from 0 in the order given.
    """

    outcome: Outcome
    steps: int
    preemptions: int
    occupancy_runs: tuple[tuple[int, int], ...]
    first_recurring_state_at_step: int | None = None
    period: int | None = None
    unservable: tuple[int, ...] = ()

    @property
    def occupancy(self) -> list[int]:
        """The active requests of each step, one by one: as long as the run."""
        return [active for steps, active in self.occupancy_runs for _ in repeat(None, steps)]

    @property
    def tokens(self) -> int:
        """Tokens emitted, those that preemption threw away too: the sum of the occupancy."""
        return sum(steps * active for steps, active in self.occupancy_runs)


def continuous_batching(output_tokens: Sequence[int], max_batch_slots: int, cache_budget_blocks: int) -> Batching:
    """Run requests through S slots and B blocks by the reference policy.

    Args:
        output_tokens: of each request in the order of the queue, 1 to 10^7; it holds ⌈tokens/16⌉ blocks throughout.
        max_batch_slots: S, at least 1.
        cache_budget_blocks: B, at least 0.

    Raises:
        InputFault: an argument out of bounds.

    Time grows with requests and preemptions, memory with the requests. A livelock is found by Brent's algorithm on
    exact states: one is kept, and compared. It ends always, since there are finitely many states.

    >>> continuous_batching([60, 23, 17, 6], 2, 5).steps
    84
    >>> end = continuous_batching([9, 5, 24, 13], 8, 3)
    >>> end.outcome, end.first_recurring_state_at_step, end.period
    ('livelock', 1, 2)
    """
    check_lengths("output_tokens", output_tokens)
    check_integer("max_batch_slots", max_batch_slots, (1, 10**9))
    check_integer("cache_budget_blocks", cache_budget_blocks, (0, 10**18))
    blocks = [-(-tokens // BLOCK_TOKENS) for tokens in output_tokens]
    if blocks and max(blocks) > cache_budget_blocks:
        unservable = tuple(at for at, needed in enumerate(blocks) if needed > cache_budget_blocks)
        return Batching("unservable", 0, 0, (), unservable=unservable)
    if sum(sorted(blocks)[-max_batch_slots:]) <= cache_budget_blocks:
        runs = _roomy_runs(output_tokens, max_batch_slots)
        return Batching("completed", sum(steps for steps, _ in runs), 0, runs)
    batcher = _Batcher(output_tokens, blocks, max_batch_slots, cache_budget_blocks)
    period, since = _run(batcher)
    if not period:
        return Batching("completed", batcher.steps, batcher.preemptions, tuple(batcher.runs))
    batcher = _Batcher(output_tokens, blocks, max_batch_slots, cache_budget_blocks)
    first = _first_recurring(batcher, since, period)
    return Batching("livelock", batcher.steps, batcher.preemptions, tuple(batcher.runs), first, period)


def check_integer(name: str, value: int, bounds: tuple[int, int]) -> None:
    """Raise InputFault unless it is a plain int within the bounds."""
    faults = integer_faults(name, value, bounds)
    if faults:
        raise InputFault(faults)


def check_lengths(name: str, lengths: Sequence[int]) -> None:
    """Raise InputFault unless all are plain ints from 1 to 10^7; the first faults are named."""
    if not lengths or (set(map(type, lengths)) == {int} and min(lengths) >= 1 and max(lengths) <= 10**7):
        return
    faults = [fault for at, one in enumerate(lengths) for fault in integer_faults(f"{name}[{at}]", one, (1, 10**7))]
    raise InputFault(faults[:MOST_FAULTS])


def slots_free_at(lengths: Sequence[int], max_batch_slots: int) -> list[int]:
    """When each slot has done its last request, in steps, where only slots decide; in no order.

    A slot is refilled in the step after it became free, so each request takes the slot that is free first.
    """
    free_at = list(lengths[:max_batch_slots])
    heapify(free_at)
    for length in islice(lengths, max_batch_slots, None):
        heapreplace(free_at, free_at[0] + length)
    return free_at


def _roomy_runs(lengths: Sequence[int], max_batch_slots: int) -> tuple[tuple[int, int], ...]:
    """Occupancy in runs where only slots decide: all slots are taken until the first that nobody takes again."""
    free_at = sorted(slots_free_at(lengths, max_batch_slots))
    starts = [0, *free_at]
    left = range(len(free_at), 0, -1)
    return tuple((until - at, active) for at, until, active in zip(starts, free_at, left, strict=False) if until > at)


def _run(batcher: "_Batcher") -> tuple[int, int]:
    """To the end. The period of a livelock, 0 where there is none, and the steps when a request last retired.

    A request that has retired never comes back, so no state before a retirement recurs after it: the search begins
    anew there. Brent: keep a state, compare the next `power` ones with it, keep the last of them, double `power`.
    """
    kept, power, walked, since = None, 1, 0, 0
    while batcher.queue or batcher.active:
        if batcher.advance():
            kept, walked, since = None, 0, batcher.steps
            power = max(1, (len(batcher.active) + len(batcher.queue)) // _EAGER)
            continue
        walked += 1
        if kept is not None and batcher.stands_as(kept):
            return walked, since
        if walked >= power:
            kept, power, walked = batcher.state(), power * 2, 0
    return 0, since


def _first_recurring(batcher: "_Batcher", since: int, period: int) -> int:
    """The steps finished when a state of the cycle first stood; the batcher, fresh, is left one period later.

    That a state stands again a period later stays true once it is true. So two runs, one a period behind the other,
    meet exactly at the first such state.
    """
    behind = batcher.fresh()
    for one, until in ((batcher, since + period), (behind, since)):
        while one.steps < until:  # up to `since` retirements end each advance, from there on steps are single
            one.advance()
    while not batcher.stands_as(behind.state()):
        batcher.advance()
        behind.advance()
    return behind.steps


_State = tuple[tuple[tuple[int, int], ...], tuple[int, ...]]
"""The active requests with their tokens emitted, and the queue, both in order."""


class _Batcher:
    """The state between two steps, and the way to the next one."""

    def __init__(self, outputs: Sequence[int], blocks: Sequence[int], slots: int, budget: int) -> None:
        self.outputs, self.blocks, self.slots, self.budget = outputs, blocks, slots, budget
        self.queue = deque(range(len(outputs)))
        self.active: dict[int, int] = {}  # request -> steps finished when it was admitted, in the order of admission
        self.due: dict[int, list[int]] = {}  # steps finished when they retire -> active requests
        self.order: list[int] = []  # heap of the keys of `due`; a list of it may be empty after preemptions
        self.held = self.steps = self.preemptions = 0
        self.runs: list[tuple[int, int]] = []

    def fresh(self) -> "_Batcher":
        """The same requests before their first step."""
        return _Batcher(self.outputs, self.blocks, self.slots, self.budget)

    def state(self) -> _State:
        """What the next steps depend on."""
        return tuple([(one, self.steps - at) for one, at in self.active.items()]), tuple(self.queue)

    def stands_as(self, state: _State) -> bool:
        """Whether this is the state; the first difference mostly shows at once."""
        active, queue = state
        if len(active) != len(self.active) or len(queue) != len(self.queue):
            return False
        if queue and queue[0] != self.queue[0]:
            return False
        if active:
            first, at = next(iter(self.active.items()))
            if (first, self.steps - at) != active[0]:
                return False
        return self.state() == state

    def advance(self) -> bool:
        """One admission and the steps up to the next one that may do anything. Whether requests have retired."""
        pressed = self._admit()
        due, order = self.due, self.order
        while not due[order[0]]:  # all that would have retired then were preempted
            del due[heappop(order)]
        until = self.steps + 1 if pressed else order[0]
        steps, occupancy = until - self.steps, len(self.active)
        runs = self.runs
        if runs and runs[-1][1] == occupancy:
            runs[-1] = (runs[-1][0] + steps, occupancy)
        else:
            runs.append((steps, occupancy))
        self.steps = until
        if order[0] != until:
            return False
        for one in due.pop(heappop(order)):
            del self.active[one]
            self.held -= self.blocks[one]
        return True

    def _admit(self) -> bool:
        """Admission before a step. Whether it stopped at a head that does not fit beside those of this step."""
        queue, active, blocks, due = self.queue, self.active, self.blocks, self.due
        steps, held, budget = self.steps, self.held, self.budget
        allowance = len(active)
        free = self.slots - allowance
        pressed = False
        while queue and free:
            head = queue[0]
            if held + blocks[head] <= budget:
                queue.popleft()
                active[head] = steps
                held += blocks[head]
                free -= 1
                end = steps + self.outputs[head]
                if end in due:
                    due[end].append(head)
                else:
                    due[end] = [head]
                    heappush(self.order, end)
            elif allowance:  # it is > 0 only while some are active
                victim, admitted = next(iter(active.items()))
                del active[victim]
                due[admitted + self.outputs[victim]].remove(victim)
                held -= blocks[victim]
                free += 1
                queue.append(victim)
                allowance -= 1
                self.preemptions += 1
            else:
                pressed = True
                break
        self.held = held
        return pressed
