"""The serving mode written once more, the slow way, as SimPy processes: one Python step per token and sequence.

It shares only `Request` and `OperatingPoint` with the product. KV blocks are single objects in lists; every sequence
takes its block and preempts by itself; nothing is skipped, no counter stands for several sequences.
"""

from collections import Counter

import simpy

ENDS, ARRIVES, STARTS = 0, 1, 2
"""Which of several events at one instant comes first."""


def at(env, delay, priority):
    """An event after `delay` ns, ordered by `priority` among those of its instant."""
    event = simpy.Event(env)
    event._ok, event._value = True, None
    env.schedule(event, priority=priority, delay=delay)
    return event


class Job:
    def __init__(self, request, number):
        self.request, self.number = request, number
        self.emitted = 0
        self.preemptions = 0
        self.let_in = self.first = self.finish = self.last_token = None
        self.hit = 0
        self.passed = self.passed_now = 0
        self.reset()

    def reset(self):
        self.target = self.request.prompt_tokens + self.emitted
        self.kv = 0
        self.table = []  # its blocks, in order; shared ones are in several tables
        self.reached = 0
        self.promise = 0
        self.decodes = False


class Server:
    def __init__(self, env, point, key, static, unit):
        self.env, self.point, self.key, self.static, self.unit = env, point, key, static, unit
        self.waiting, self.running = [], []  # running: in the order in which they were let in
        self.decoders = []  # in the order in which their prefill ended
        self.units = {}  # hash -> its blocks
        self.used = []  # hashes, least recently let go first
        self.wake = None
        self.passes = 0
        self.fresh = 0
        self.seen = Counter()
        self.gaps = Counter()
        self.idle = True

    # blocks

    def blocks(self, tokens):
        return -(-tokens // self.point.block_tokens)

    def held(self):
        return {block for job in self.running for block in job.table}

    def available(self):
        return self.point.kv_blocks - len(self.held()) - sum(self.owed(job) for job in self.running)

    def owed(self, job):
        return max(0, job.promise - len(job.table))

    def take(self, job):
        """One new block; if the pool is full of unused units, the least recently used one goes."""
        if len(self.held()) + sum(len(self.units[one]) for one in self.used) >= self.point.kv_blocks:
            self.seen["evicted_blocks"] += len(self.units.pop(self.used.pop(0)))
        self.fresh += 1
        self.seen["blocks_taken"] += 1
        job.table.append(self.fresh)

    def drop(self, job):
        """It leaves; of its units those that nobody else holds are cached, the deepest as the least recently used."""
        before = len(self.held())
        self.running.remove(job)
        if job in self.decoders:
            self.decoders.remove(job)
        for one in reversed(job.request.prefix_hashes):
            mine = self.units.get(one)
            if mine and set(mine) <= set(job.table) and not set(mine) & self.held():
                self.used.append(one)
        self.seen["blocks_returned"] += before - len(self.held())
        self.seen["stay_ns"] += self.env.now - job.let_in_now

    # one iteration

    def preempt(self):
        job = self.running[-1]
        self.seen["preemptions"] += 1
        self.seen["discarded_tokens"] += job.kv
        if job.decodes:
            job.last_token = self.env.now
        self.drop(job)
        job.preemptions += 1
        job.reset()
        self.waiting.append(job)
        self.seen["peak_waiting"] = max(self.seen["peak_waiting"], len(self.waiting))

    def feed(self):
        """Each sequence that decodes takes room for its last token. Whether any was preempted.

        Where nothing is shared each preempts for itself when its turn comes, which must end with the same sequences.
        With cached units that would evict some before a preemption makes room, so room is made first.
        """
        preempted, size = False, self.point.block_tokens
        for job in list(self.running):
            while job in self.running and not self.point.admission_control and job.decodes and job.kv % size == 0:
                needed = 1 if not self.unit else sum(one.decodes and one.kv % size == 0 for one in self.running)
                if self.available() >= needed:
                    break
                self.preempt()
                preempted = True
            if self.unit:
                continue
            self.step(job)
        for job in list(self.running) if self.unit else []:
            self.step(job)
        return preempted

    def step(self, job):
        if job in self.running and job.decodes:
            if job.kv % self.point.block_tokens == 0:
                self.take(job)
            job.kv += 1

    def promise(self, job):
        request = job.request
        whole = request.prompt_tokens + request.output_tokens
        return self.blocks(whole if self.point.admission_control else job.target)

    def admit(self, job):
        if len(self.running) >= self.point.slots:
            return "slots"
        hits = []
        if self.unit:
            usable = min(job.request.prompt_tokens // self.unit, (job.target - 1) // self.unit)
            for one in job.request.prefix_hashes[:usable]:
                if one not in self.units:
                    break
                hits.append(one)
        table = [block for one in hits for block in self.units[one]]
        if self.promise(job) - len(set(table) & self.held()) > self.available():
            return "blocks"
        before = len(self.held())
        self.waiting.remove(job)
        job.table, job.kv, job.promise = table, len(hits) * self.unit, self.promise(job)
        job.reached = len(hits)
        self.running.append(job)
        self.seen["blocks_taken"] += len(self.held()) - before
        for one in hits:
            if one in self.used:
                self.used.remove(one)
        job.let_in_now = self.env.now
        if job.let_in is None:
            job.let_in, job.hit = self.env.now, job.kv
        self.seen["hit_tokens"] += job.kv
        self.seen["peak_running"] = max(self.seen["peak_running"], len(self.running))
        return ""

    def prefill(self, preempted):
        """(job, tokens) of the chunk; what keeps the rest waiting; the oldest where it is passed over."""
        budget = self.point.chunk_tokens
        by_age = self.passes >= self.point.priority_iterations
        closed = self.static and bool(self.running)
        lacking = "blocks" if preempted else "slots" if closed else ""
        waited = list(self.waiting)
        jobs = [job for job in self.running if not job.decodes] + waited
        oldest = min(jobs, key=lambda job: job.number, default=None)
        jobs.sort(key=lambda job: (0 if by_age else self.key(job.request), job.number))
        grants = []
        for job in jobs:
            if job in self.waiting:
                if lacking or (not budget and not self.static):
                    continue
                lacking = self.admit(job)
                if lacking:
                    continue
            if budget:
                tokens = min(budget, job.target - job.kv)
                budget -= tokens
                for _ in range(tokens):
                    if job.kv % self.point.block_tokens == 0:
                        self.take(job)
                    job.kv += 1
                grants.append((job, tokens))
        more = any(not job.decodes and job.kv < job.target for job in self.running)
        cause = ""
        if not budget and more:
            cause = "prefill"
        elif self.waiting:
            full = len(self.running) >= self.point.slots
            cause = lacking or ("slots" if full else "prefill")
        passed = None
        if oldest in [job for job, _ in grants] or (oldest in waited and oldest in self.running):
            self.passes = oldest.passed_now = 0
        elif grants and not by_age:
            passed = oldest
            self.passes += 1
            self.seen["most_passes"] = max(self.seen["most_passes"], self.passes)
        return grants, ("blocks" if preempted else cause), passed

    def iterations(self):
        point, env = self.point, self.env
        while True:
            if not self.running and not self.waiting:
                self.idle = True
                self.wake = simpy.Event(env)
                yield self.wake
                self.idle = False
            yield at(env, 0, STARTS)
            preempted = self.feed()
            batch = list(self.decoders)
            grants, cause, passed = self.prefill(preempted)
            chunk = sum(tokens for _, tokens in grants)
            took = point.base_ns + point.per_sequence_ns * len(batch) + point.per_prefill_token_ns * chunk
            self.count(took, batch, chunk, cause)
            yield at(env, took, ENDS)
            if passed is not None:
                passed.passed_now += took
                passed.passed = max(passed.passed, passed.passed_now)
            for job, _ in grants:
                self.share(job)
                if job.kv == job.target:
                    job.decodes = True
                    self.decoders.append(job)
                    if job.first is None:
                        job.first = env.now
                    else:
                        self.gaps[env.now - job.last_token] += 1
                    self.emit(job)
            for job in batch:
                self.gaps[took] += 1
                self.emit(job)

    def count(self, took, batch, chunk, cause):
        seen = self.seen
        seen["iterations"] += 1
        seen["busy_ns"] += took
        seen["decode_tokens"] += len(batch)
        seen["prefill_tokens"] += chunk
        seen["running_ns"] += took * len(self.running)
        seen["peak_blocks"] = max(seen["peak_blocks"], len(self.held()))
        seen["held_block_ns"] += took * len(self.held())
        seen["full_chunk_iterations"] += chunk == self.point.chunk_tokens
        if cause:
            seen[f"{cause}_iterations"] += 1
            seen[f"{cause}_wait_ns"] += took

    def share(self, job):
        """Whole units of its prompt that it has computed stand for their hashes, if no other does."""
        if not self.unit:
            return
        size = self.unit // self.point.block_tokens
        end = min(job.kv, job.request.prompt_tokens) // self.unit
        for i in range(job.reached, min(end, len(job.request.prefix_hashes))):
            self.units.setdefault(job.request.prefix_hashes[i], job.table[i * size : (i + 1) * size])
        job.reached = max(job.reached, end)

    def emit(self, job):
        job.emitted += 1
        if job.emitted == job.request.output_tokens:
            job.finish = self.env.now
            self.drop(job)
            self.seen["finished"] += 1


def run(point, requests, key, static=False, unit=0, round_robin=False):
    """The jobs in the order of arrival (None for a refused one), the replica of each, and the servers."""
    env = simpy.Environment(initial_time=0)
    servers = [Server(env, point, key, static, unit) for _ in range(point.replicas)]
    jobs, placed = [], []

    def source():
        for request in requests:
            yield at(env, request.arrival_ns - env.now, ARRIVES)
            whole = request.prompt_tokens + request.output_tokens
            if -(-whole // point.block_tokens) > point.kv_blocks:
                jobs.append(None)
                placed.append(-1)
                continue
            loads = [len(server.waiting) + len(server.running) for server in servers]
            routed = sum(job is not None for job in jobs)
            index = routed % len(servers) if round_robin else loads.index(min(loads))
            server, job = servers[index], Job(request, len(jobs))
            jobs.append(job)
            placed.append(index)
            server.waiting.append(job)
            server.seen["arrived"] += 1
            server.seen["peak_waiting"] = max(server.seen["peak_waiting"], len(server.waiting))
            if server.idle and not server.wake.triggered:
                server.wake.succeed()

    for server in servers:
        env.process(server.iterations())
    env.process(source())
    env.run()
    return jobs, placed, servers
