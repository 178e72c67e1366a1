"""What one replica counts while it runs; everything an integer, so that figures of replicas add up exactly."""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Final

SLOTS: Final = "slots"
BLOCKS: Final = "blocks"
PREFILL: Final = "prefill"

CAUSES: Final = (SLOTS, BLOCKS, PREFILL)
"""What may keep work waiting in an iteration."""


@dataclass(slots=True)
class Counters:
    """Sums over the iterations of a replica. `…_ns` of something is that times the time for which it was so."""

    arrived: int = 0
    finished: int = 0
    preemptions: int = 0
    discarded_tokens: int = 0
    """KV tokens that preemption threw away."""
    hit_tokens: int = 0
    """Prompt tokens that stood in the pool already, at every admission."""
    iterations: int = 0
    busy_ns: int = 0
    """Time in iterations; the rest is idle."""
    decode_tokens: int = 0
    """Tokens emitted by iterations after the prefill; the first of each prefill is not among them."""
    prefill_tokens: int = 0
    full_chunk_iterations: int = 0
    """Iterations whose prefill filled the chunk."""
    slots_iterations: int = 0
    """Iterations in which a request waited and every slot was taken (of a static batch: no slot was open)."""
    slots_wait_ns: int = 0
    blocks_iterations: int = 0
    """Iterations in which the next request was refused for want of blocks, or a sequence was preempted."""
    blocks_wait_ns: int = 0
    prefill_iterations: int = 0
    """Iterations whose chunk was full while there was more to prefill that had, or could have had, a slot."""
    prefill_wait_ns: int = 0
    running_ns: int = 0
    """Sequences with a slot, times ns."""
    stay_ns: int = 0
    """The same from the sequences' side: the time that each had a slot."""
    in_system_ns: int = 0
    """Requests waiting or running, times ns."""
    held_block_ns: int = 0
    """Blocks held, times ns."""
    blocks_taken: int = 0
    blocks_returned: int = 0
    evicted_blocks: int = 0
    peak_running: int = 0
    peak_waiting: int = 0
    peak_blocks: int = 0
    most_passes: int = 0
    """Most iterations in a row that served younger requests and not the oldest one, as the policy wanted."""


_PEAKS: Final = ("peak_running", "peak_waiting", "peak_blocks", "most_passes")


def together(counters: Iterable[Counters]) -> Counters:
    """All replicas as one: sums, and of peaks the largest of any replica."""
    found = Counters()
    for one in counters:
        for field in fields(one):
            mine, more = getattr(found, field.name), getattr(one, field.name)
            setattr(found, field.name, max(mine, more) if field.name in _PEAKS else mine + more)
    return found
