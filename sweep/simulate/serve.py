"""The serving mode: requests through a router and replicas, on one integer clock, to the last token of the last one.

Events are ordered by (time in ns, priority, sequence): at one instant iterations end first, so that slots and blocks
are free; then requests arrive; then iterations start. An iteration whose end is the next event is not put on the heap.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from heapq import heappop, heappush
from typing import Final, Literal, NamedTuple

from sweep.errors import InputFault, RefusedSize, SelfCheckFault, UsageFault
from sweep.simulate.counters import Counters, together
from sweep.simulate.point import OperatingPoint
from sweep.simulate.policies import POLICIES, ROUTERS, Policy, Router, named
from sweep.simulate.replica import Replica
from sweep.simulate.request import NEVER, Request, checked
from sweep.simulate.sequence import Sequence
from sweep.units import grouped

MAX_REPLICAS: Final = 10_000
"""The router looks at every replica for every request."""

LONGER_THAN_POOL: Final = "longer-than-kv-pool"
"""Refused at arrival: prompt and output have more blocks than the pool, so the request could never finish."""

_END, _ARRIVAL, _START = 0, 1, 2


class Row(NamedTuple):
    """One request from arrival to finish; an instant that did not come, and what belongs to it, is −1.

    Attributes:
        request_id, class_id, arrival_ns, prompt_tokens, output_tokens: as they arrived.
        replica: which served it, from 0; −1 for a refused one.
        let_in_ns: when it first got a slot.
        first_token_ns, finish_ns: its first and its last token.
        preemptions: how often it lost its slot.
        prefix_hit_tokens: of its prompt, that stood in the pool when it first got a slot.
        passed_ns: the longest that it, the oldest then, was passed over in a row: iterations that served younger ones.
        refusal: why it was refused, empty where it was served.
    """

    request_id: int
    class_id: str
    replica: int
    arrival_ns: int
    let_in_ns: int
    first_token_ns: int
    finish_ns: int
    prompt_tokens: int
    output_tokens: int
    preemptions: int
    prefix_hit_tokens: int
    passed_ns: int
    refusal: str

    @property
    def queue_delay_ns(self) -> int:
        """From arrival to the first slot."""
        return self.let_in_ns - self.arrival_ns

    @property
    def ttft_ns(self) -> int:
        """From arrival to the first token."""
        return self.first_token_ns - self.arrival_ns

    @property
    def tpot_ns(self) -> Fraction:
        """Mean ns between two tokens; 0 where there is only one."""
        return Fraction(self.finish_ns - self.first_token_ns, max(self.output_tokens - 1, 1))


@dataclass(frozen=True)
class Simulation:
    """What a run was, and everything that it found.

    Attributes:
        point: the server.
        policy, router: by name.
        batching: `continuous`, or `static`: a batch takes requests only when it is empty.
        rows: of all requests, in the order of arrival.
        replicas: what each replica counted; one that no request came to is left out at the end of the tuple.
        gaps: ns between two tokens of a request -> how often, over all replicas.
        first_ns: the first arrival; 0 where none came.
        last_ns: the last token; `first_ns` where there is none.
    """

    point: OperatingPoint
    policy: str
    router: str
    batching: str
    rows: tuple[Row, ...] = field(repr=False)
    replicas: tuple[Counters, ...] = field(repr=False)
    gaps: Mapping[int, int] = field(repr=False)
    first_ns: int
    last_ns: int

    @property
    def total(self) -> Counters:
        """All replicas together."""
        return together(self.replicas)


def simulate(
    point: OperatingPoint,
    requests: Iterable[Request],
    policy: str | Policy = "priority",
    router: str | Router = "least-outstanding",
    batching: Literal["continuous", "static"] = "continuous",
    hash_tokens: int | None = None,
) -> Simulation:
    """Serve requests until all are finished or refused; see `replica` for what an iteration does and why it ends.

    Args:
        point: the server and how many there are.
        requests: in the order of their arrivals; taken one by one, so that a stream need not be kept.
        policy: a name of `POLICIES`, or a function like them.
        router: a name of `ROUTERS`, or a function like them.
        batching: `static` lets requests in only when nothing runs on the replica.
        hash_tokens: tokens that a prefix hash stands for, a multiple of the point's tokens of a block; default: those.
            0 ignores hashes.

    Raises:
        UsageFault: an unknown policy, router or batching.
        InputFault: a faulty request, or hash_tokens that are no whole number of blocks.
        RefusedSize: more than 10 000 replicas.
        SelfCheckFault: requests or blocks got lost, a bug of ours.
    """
    if batching not in ("continuous", "static"):
        raise UsageFault(f"batching {batching!r}: wanted continuous or static; write one of them.")
    if point.replicas > MAX_REPLICAS:
        most = f"at most {grouped(MAX_REPLICAS)} replicas are simulated"
        raise RefusedSize(f"simulate: got {grouped(point.replicas)} replicas, {most}; lower both replicas and traffic.")
    unit = point.block_tokens if hash_tokens is None else hash_tokens
    if type(unit) is not int or unit < 0 or unit % point.block_tokens:
        wanted = f"0 or a multiple of the {point.block_tokens} tokens of a block"
        raise InputFault(f"hash_tokens: got {unit}, wanted {wanted}; correct it.")
    policy_name, order = named("policy", policy, POLICIES)
    router_name, route = named("router", router, ROUTERS)
    run = _Run(point, order, route, batching == "static", unit)
    run.through(checked(requests))
    counters = tuple(run.closed())
    gaps: dict[int, int] = {}
    for replica in run.replicas:
        for gap, times in replica.gaps.items():
            gaps[gap] = gaps.get(gap, 0) + times
    rows = tuple(run.rows)
    first = rows[0].arrival_ns if rows else 0
    return Simulation(point, policy_name, router_name, batching, rows, counters, gaps, first, max(first, run.last_ns))


class _Run:
    """The heap of events, the replicas, and the rows so far."""

    def __init__(self, point: OperatingPoint, policy: Policy, route: Router, static: bool, unit: int) -> None:
        self.point, self.policy, self.route, self.static, self.unit = point, policy, route, static, unit
        self.replicas: list[Replica] = []  # up to the last one that a request came to
        self.unfinished = [0] * point.replicas
        self.versions: list[int] = []  # of each replica: an event of an earlier one is void
        self.rows: list[Row] = []
        self.routed = 0
        self.events: list[tuple[int, int, int, int, int]] = []  # time, priority, sequence, replica, version
        self.sequence = 0
        self.last_ns = NEVER

    def through(self, requests: Iterator[Request]) -> None:
        """All requests, and all that follows from them."""
        events = self.events
        coming = next(requests, None)
        if coming is not None:
            heappush(events, (coming.arrival_ns, _ARRIVAL, 0, 0, 0))
        while events:
            now, kind, _, index, version = heappop(events)
            if kind == _ARRIVAL:
                assert coming is not None
                arrived, coming = coming, next(requests, None)
                if coming is not None:
                    heappush(events, (coming.arrival_ns, _ARRIVAL, 0, 0, 0))
                self._arrive(arrived, now)
            elif version == self.versions[index]:
                self._go_on(index, now, kind)

    def _push(self, now: int, kind: int, index: int) -> None:
        self.sequence += 1
        self.versions[index] += 1
        heappush(self.events, (now, kind, self.sequence, index, self.versions[index]))

    def _arrive(self, request: Request, now: int) -> None:
        point, number = self.point, len(self.rows)
        tokens = request.prompt_tokens + request.output_tokens
        refusal = LONGER_THAN_POOL if point.blocks(tokens) > point.kv_blocks else ""
        index = NEVER if refusal else self.route(self.unfinished, self.routed)
        id_, class_id, prompt, output = request[0], request[2], request.prompt_tokens, request.output_tokens
        self.rows.append(Row(id_, class_id, index, now, NEVER, NEVER, NEVER, prompt, output, 0, 0, 0, refusal))
        if refusal:
            return
        self.routed += 1
        self.unfinished[index] += 1
        while index >= len(self.replicas):
            self.replicas.append(Replica(point, self.policy, self.static, self.unit, self._done))
            self.versions.append(0)
        replica = self.replicas[index]
        idle = not replica.unfinished
        earlier = replica.add(request, number, now)
        if idle:  # else an iteration is under way, or starts now
            self._push(now, _START, index)
        elif earlier != NEVER:
            self._push(earlier, _END, index)

    def _go_on(self, index: int, now: int, kind: int) -> None:
        """End and start iterations of a replica up to the next event of anything else."""
        replica, events = self.replicas[index], self.events
        while True:
            if kind == _END:
                replica.end(now)
                if not replica.unfinished:
                    return
                if events and events[0][0] == now:  # what arrives now comes before what starts now
                    self._push(now, _START, index)
                    return
            end = replica.start(now)
            if events and events[0][:2] < (end, _START):
                self._push(end, _END, index)
                return
            now, kind = end, _END

    def _done(self, sequence: Sequence, now: int) -> None:
        row = self.rows[sequence.number]
        self.unfinished[row.replica] -= 1
        self.last_ns = max(self.last_ns, now)
        self.rows[sequence.number] = row._replace(
            let_in_ns=sequence.first_let_in_ns,
            first_token_ns=sequence.first_token_ns,
            finish_ns=now,
            preemptions=sequence.preemptions,
            prefix_hit_tokens=sequence.hit_tokens,
            passed_ns=sequence.passed_ns,
        )

    def closed(self) -> Iterator[Counters]:
        """The counters of each replica, once it is sure that nothing was lost.

        Raises:
            SelfCheckFault: requests, blocks or time got lost; a bug of ours.
        """
        stays = [0] * len(self.replicas)
        for row in self.rows:
            if not row.refusal:
                stays[row.replica] += row.finish_ns - row.arrival_ns
        for replica, stay in zip(self.replicas, stays, strict=True):
            counters, pool = replica.counters, replica.pool
            counters.blocks_taken, counters.blocks_returned = pool.taken, pool.returned
            counters.evicted_blocks, counters.peak_blocks = pool.evicted, pool.peak
            sums = {
                "requests that arrived, and finished": (counters.arrived, counters.finished),
                "blocks taken, and returned": (pool.taken, pool.returned),
                "blocks held or promised at the end, and none": (pool.held + pool.promised, 0),
                # Little's law, exactly: the integral of the number in the system is the sum of the stays
                "ns in the system, and ns that requests stayed": (counters.in_system_ns, stay),
                "ns on slots, and ns that sequences had slots": (counters.running_ns, counters.stay_ns),
            }
            for what, (left, right) in sums.items():
                if left != right:
                    raise SelfCheckFault(f"simulate: {what}: {left} is not {right}; report this as a bug.")
            yield counters
