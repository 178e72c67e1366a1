"""One replica: iterations over running sequences, chunked prefill, paged KV, preemption by recompute.

**An iteration** carries one token of every sequence that decodes, and up to `chunk_tokens` of prefill. It takes
base_ns + per_sequence_ns·b + per_prefill_token_ns·c with the b sequences that decode in it and the c prefill tokens in
it (calibration measures the two likewise). Its tokens are there at its end: the next token of each of the b, and the
first token (after a preemption the next one) of each whose prefill it ends. What arrives during it waits for its end.

**Before it**, in this order:

1. Sequences that decode take the block that their next token needs. Where blocks run short, the sequence that was let
   in last is preempted until the rest fits: it gives its blocks back and waits again, at its old place. Tokens emitted
   stay emitted; its prefill is then the prompt and these (*recompute*).
2. Prefill, to the running sequences whose prefill has not ended and to waiting requests, in one order: the policy's. A
   waiting request is let in when it is its turn, a slot is free and its blocks fit; if not, none behind it is let in
   (no overtaking, so a large one does not wait for ever), while running ones go on. An iteration that preempted lets
   none in. With admission control the blocks are those of prompt and output, without it those of its prefill; they are
   promised to it and taken as it grows. A static batch lets in, all at once, only when nothing runs.
3. *Starvation bound*: an iteration passes over the oldest of those that wait or prefill where it serves younger ones
   only. After `priority_iterations` of these in a row the order is by age until the oldest has been served. It then
   comes first, and where it lacks a slot or blocks nobody is let in before it: what is running ends, and frees them.

**Every run ends.** Tokens emitted are never taken back, and there are finitely many to emit. So it is enough that
between two emissions there are finitely many iterations. In an iteration without emission every sequence that decoded
has been preempted before it; from then on, up to the next emission, running sequences only prefill. They grow into what
they were promised, so none is preempted, and each iteration prefills at least one token: of a running sequence if there
is one, else the pool is empty and the first waiting request fits (others were refused at arrival). Prefill left is
finite and no longer grows; when some sequence's prefill ends, it emits. With admission control blocks are never short:
promises are kept inside the pool, and no sequence outgrows its own.

**Iterations that repeat** are run as one: nothing changes from one to the next but that each sequence that decodes
moves on by a token and one sequence by a whole chunk. See `_repeats`.
"""

from heapq import heappop, heappush

from sweep.errors import SelfCheckFault
from sweep.simulate.counters import BLOCKS, PREFILL, SLOTS
from sweep.simulate.fill import NOTHING, fill, number_of
from sweep.simulate.growth import block_iterations, blocks_within, most_iterations
from sweep.simulate.point import OperatingPoint
from sweep.simulate.policies import Policy
from sweep.simulate.request import NEVER, Request
from sweep.simulate.sequence import Sequence
from sweep.simulate.state import Done, State


class Replica(State):
    """One server: `start` an iteration (or several that repeat), `end` it, and `add` an arrival at any time."""

    def __init__(self, point: OperatingPoint, policy: Policy, static: bool, hash_tokens: int, done: Done) -> None:
        super().__init__(point, policy, static, hash_tokens, done)
        self.busy = False
        self.started_ns = self.duration_ns = self.repeats = self.batch = 0
        self.filled = NOTHING

    def add(self, request: Request, number: int, now: int) -> int:
        """A request arrives. When the iterations under way now end, where that is earlier by it; else NEVER.

        A run of iterations that repeat ends with the one under way, since the next may serve the newcomer. Not so where
        no slot is free and others wait already: one more changes nothing that is decided or counted.
        """
        self.came_or_went(now, 1)
        crowded = len(self.running) == self.point.slots and len(self.waiting) > 0
        self.wait(Sequence(request, number, self.policy(request)))
        self.counters.arrived += 1
        if not self.busy or not self.repeats or crowded:
            return NEVER
        # iterations that have begun; none takes 0 ns, or the run would have ended before anything else came
        begun = -(-(now - self.started_ns) // self.duration_ns)
        if begun > self.repeats:
            return NEVER
        self.repeats = begun - 1
        return self.started_ns + begun * self.duration_ns

    def start(self, now: int) -> int:
        """Begin an iteration, and as many more as repeat it. When they end."""
        point, pool = self.point, self.pool
        phase = (self.step + 1) % point.block_tokens
        taken = self.phases.get(phase, 0)
        preempted = False
        if taken:
            # One by one, each sequence in turn taking its block and preempting the latest where there is none, ends
            # with the same sequences: the latest goes exactly as long as what those before it need is not there.
            while not point.admission_control and taken > pool.available:
                preempted = True
                self.preempt_latest(now)
                taken = self.phases.get(phase, 0)
            pool.grow(taken, point.admission_control)
        self.filled = fill(self, now, preempted) if self.prefilling or len(self.waiting) else NOTHING
        if preempted:
            self.filled = self.filled._replace(cause=BLOCKS)
        self.batch = self.decoding
        assert self.batch or self.filled.tokens  # see the proof above
        self.duration_ns = (
            point.base_ns + point.per_sequence_ns * self.batch + point.per_prefill_token_ns * self.filled.tokens
        )
        self.repeats = 0 if preempted else self._repeats()
        self.started_ns, self.busy = now, True
        return now + self.duration_ns * (1 + self.repeats)

    def _repeats(self) -> int:
        """How many iterations after the one that begins are the same to the token, if no request arrives.

        They have the same sequences that decode up to the first one's last token. Where the chunk is empty, whatever
        waits lacks a slot or blocks: until a sequence leaves, slots stay taken and blocks do not become more. Where one
        sequence has the whole chunk, and comes first both by the policy and by age, it has the next whole chunks too.
        Without admission control the blocks must suffice, or some iteration would preempt.
        """
        step, order = self.step + 1, self.due_order
        grants = self.filled.grants
        count = -1
        if grants:
            if len(grants) > 1 or self.filled.tokens < self.point.chunk_tokens:
                return 0
            count = self._whole_chunks(grants[0])
        while order and not self.due[order[0]]:
            del self.due[heappop(order)]
        if order:
            count = order[0] - step if count < 0 else min(count, order[0] - step)
        if count > 0 and not self.point.admission_control:
            count = most_iterations(self.phases, step, count, self.point.block_tokens, self.pool.available)
        return max(count, 0)

    def _whole_chunks(self, sequence: Sequence) -> int:
        """Whole chunks that the only sequence of this chunk has alone in the next iterations, and more after them."""
        first, oldest = self.waiting.first(), self.waiting.oldest()
        if first is not None and first.order < sequence.order:
            return 0
        if oldest is not None and oldest.number < sequence.number:
            return 0
        if self.prefilling[0] is not sequence or min(self.prefilling, key=number_of) is not sequence:
            return 0
        return max(0, sequence.target - sequence.prefilled - 1) // self.point.chunk_tokens

    def end(self, now: int) -> None:
        """End what `start` began: tokens come out, sequences leave."""
        counters, filled = self.counters, self.filled
        times = 1 + self.repeats
        took_ns = self.duration_ns * times
        counters.held_block_ns += took_ns * self.pool.held
        if self.repeats:
            self._repeat()
        self.step += times
        self.busy = False
        counters.iterations += times
        counters.busy_ns += took_ns
        counters.running_ns += took_ns * len(self.running)
        counters.decode_tokens += times * self.batch
        counters.prefill_tokens += times * filled.tokens
        if self.batch:
            self.gaps[self.duration_ns] = self.gaps.get(self.duration_ns, 0) + times * self.batch
        if filled.tokens == self.point.chunk_tokens:
            counters.full_chunk_iterations += times
        if filled.cause:
            self._waited(times, took_ns)
        if filled.passed is not None:
            filled.passed.passed_run_ns += took_ns
            filled.passed.passed_ns = max(filled.passed.passed_ns, filled.passed.passed_run_ns)
        finished = counters.finished
        for sequence in filled.grants:
            self._register(sequence)
            if sequence.prefilled == sequence.target:
                self._prefill_ended(sequence, now)
        if self.due_order and self.due_order[0] == self.step:
            for sequence in self.due.pop(heappop(self.due_order)):
                self._finish(sequence, now)
        if counters.finished > finished:
            lost = counters.arrived - counters.finished - len(self.waiting) - len(self.running)
            if lost:
                raise SelfCheckFault(f"simulate: {lost} requests were lost up to {now} ns; report this as a bug.")

    def _waited(self, times: int, took_ns: int) -> None:
        counters, cause = self.counters, self.filled.cause
        if cause == SLOTS:
            counters.slots_iterations += times
            counters.slots_wait_ns += took_ns
        elif cause == BLOCKS:
            counters.blocks_iterations += times
            counters.blocks_wait_ns += took_ns
        elif cause == PREFILL:
            counters.prefill_iterations += times
            counters.prefill_wait_ns += took_ns

    def _repeat(self) -> None:
        """The iterations after the first: what they take of the pool, and for how long."""
        point, pool, base = self.point, self.pool, self.step + 1
        promised, held = point.admission_control, pool.held
        if not self.filled.grants:
            pool.grow(blocks_within(self.phases, base, self.repeats, point.block_tokens), promised)
            more = block_iterations(self.phases, base, self.repeats, point.block_tokens)
            self.counters.held_block_ns += more * self.duration_ns
            return
        # one by one: a unit may be computed, and a cached one like it evicted, in any of them, and their order counts
        sequence, more = self.filled.grants[0], 0
        blocks = point.blocks(sequence.prefilled)
        for step in range(base + 1, base + 1 + self.repeats):
            self._register(sequence)
            sequence.prefilled += point.chunk_tokens
            after = point.blocks(sequence.prefilled)
            pool.grow(self.phases.get(step % point.block_tokens, 0), promised)
            pool.grow(after - blocks, True)
            blocks = after
            more += pool.held - held
        self.counters.held_block_ns += more * self.duration_ns

    def _register(self, sequence: Sequence) -> None:
        """Whole units of its prompt that its prefill has reached can be shared from now on."""
        hashes, size = sequence.request.prefix_hashes, self.hash_tokens
        if not hashes or not size:
            return
        reached = min(sequence.prefilled, sequence.request.prompt_tokens) // size
        for one in hashes[sequence.units : reached]:
            if self.pool.register(one):
                sequence.hashes.append(one)
        sequence.units = max(sequence.units, min(reached, len(hashes)))

    def _prefill_ended(self, sequence: Sequence, now: int) -> None:
        """Its next token is there; it decodes from now on, or has finished."""
        self.prefilling.remove(sequence)
        if not sequence.emitted:
            sequence.first_token_ns = now
        else:
            gap = now - sequence.last_token_ns
            self.gaps[gap] = self.gaps.get(gap, 0) + 1
        sequence.emitted += 1
        left = sequence.request.output_tokens - sequence.emitted
        if not left:
            self._finish(sequence, now)
            return
        self.decoding += 1
        sequence.prefilled_at, sequence.due = self.step, self.step + left
        # its KV has `target` tokens; the iteration after next but k makes it target + k, which needs a new block where
        # that is 1 modulo the tokens of a block
        sequence.phase = (self.step + 1 - sequence.target) % self.point.block_tokens
        self.phases[sequence.phase] = self.phases.get(sequence.phase, 0) + 1
        if sequence.due in self.due:
            self.due[sequence.due].append(sequence)
        else:
            self.due[sequence.due] = [sequence]
            heappush(self.due_order, sequence.due)

    def _finish(self, sequence: Sequence, now: int) -> None:
        self.came_or_went(now, -1)
        self.leave(sequence, now)
        self.counters.finished += 1
        self.done(sequence, now)
