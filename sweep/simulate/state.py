"""The state of one replica between two iterations: who waits, who runs, what they hold; how one leaves its slot."""

from collections.abc import Callable

from sweep.simulate.counters import Counters
from sweep.simulate.point import OperatingPoint
from sweep.simulate.policies import Policy
from sweep.simulate.pool import KvPool
from sweep.simulate.request import NEVER
from sweep.simulate.sequence import Sequence
from sweep.simulate.waiting import Waiting

Done = Callable[[Sequence, int], None]
"""Called with a finished sequence and the ns of its last token."""


class State:
    """One server with its sequences.

    Attributes:
        point: the server.
        policy: the order of prefill and admission.
        static: whether a batch takes requests only when nothing runs.
        hash_tokens: tokens of a prefix hash, a multiple of the tokens of a block; 0 shares nothing.
        done: what becomes of finished sequences.
        pool: its KV blocks.
        waiting: requests without a slot.
        running: sequences with a slot by number, in the order in which they were let in.
        prefilling: those of them whose prefill has not ended, in the policy's order.
        decoding: how many the others are.
        phases: those by the phase of their blocks; see `growth`.
        due: iteration -> those whose last token it brings.
        due_order: a heap of the keys of `due`; preemption may have left a list of it empty.
        step: iterations that have ended.
        passes: how many of them in a row have passed over the oldest request.
        unfinished: requests that have come and not gone: those that wait or run.
        gaps: ns between two tokens of a request -> how often.
        counters: sums.
    """

    def __init__(self, point: OperatingPoint, policy: Policy, static: bool, hash_tokens: int, done: Done) -> None:
        self.point, self.policy, self.static, self.done = point, policy, static, done
        self.hash_tokens = hash_tokens
        self.pool = KvPool(point.kv_blocks, hash_tokens // point.block_tokens)
        self.waiting = Waiting()
        self.running: dict[int, Sequence] = {}
        self.prefilling: list[Sequence] = []
        self.decoding = self.step = self.passes = 0
        self.phases: dict[int, int] = {}
        self.due: dict[int, list[Sequence]] = {}
        self.due_order: list[int] = []
        self.gaps: dict[int, int] = {}
        self.counters = Counters()
        self.unfinished = 0
        self._changed_ns = 0  # when a request last came or went

    def wait(self, sequence: Sequence) -> None:
        """It waits, for the first time or again."""
        self.waiting.push(sequence)
        if len(self.waiting) > self.counters.peak_waiting:
            self.counters.peak_waiting = len(self.waiting)

    def came_or_went(self, now: int, change: int) -> None:
        """One more request is unfinished, or one less."""
        self.counters.in_system_ns += self.unfinished * (now - self._changed_ns)
        self.unfinished += change
        self._changed_ns = now

    def preempt_latest(self, now: int) -> None:
        """The sequence that was let in last gives back its slot and its blocks, and waits at its old place.

        Tokens emitted stay emitted; it will prefill the prompt and these.
        """
        sequence = next(reversed(self.running.values()))
        self.counters.preemptions += 1
        self.counters.discarded_tokens += sequence.kv_tokens(self.step)
        if sequence.prefilled_at == NEVER:
            self.prefilling.remove(sequence)
        else:
            # the iteration before ended now: a replica on which anything runs does not pause
            sequence.last_token_ns = now
            sequence.emitted = sequence.request.output_tokens - (sequence.due - self.step)
            self.due[sequence.due].remove(sequence)
        self.leave(sequence, now)
        sequence.preemptions += 1
        sequence.target = sequence.request.prompt_tokens + sequence.emitted
        sequence.prefilled, sequence.prefilled_at, sequence.units, sequence.hashes = 0, NEVER, 0, []
        self.wait(sequence)

    def leave(self, sequence: Sequence, now: int) -> None:
        """A sequence gives back its slot, its blocks, and what it was promised."""
        del self.running[sequence.number]
        self.counters.stay_ns += now - sequence.let_in_ns
        if sequence.prefilled_at != NEVER:
            self.decoding -= 1
            left = self.phases[sequence.phase] - 1
            if left:
                self.phases[sequence.phase] = left
            else:
                del self.phases[sequence.phase]
        blocks = self.point.blocks(sequence.kv_tokens(self.step))
        shared = len(sequence.hashes) * self.pool.unit_blocks
        self.pool.release(sequence.hashes, blocks - shared, max(0, sequence.promise - blocks))
