"""How many KV blocks sequences that decode take over several iterations, without walking through them.

A sequence takes a new block in every iteration that is ≡ its phase modulo the tokens of a block. `phases` counts the
sequences of each phase.
"""

from collections.abc import Mapping


def blocks_within(phases: Mapping[int, int], step: int, count: int, block_tokens: int) -> int:
    """Blocks taken in the iterations step + 1 to step + count."""
    cycles, rest = divmod(count, block_tokens)
    taken = cycles * sum(phases.values())  # any block_tokens iterations in a row meet each phase once
    if rest:
        base = step + 1
        taken += sum([many for phase, many in phases.items() if (phase - base) % block_tokens < rest])
    return taken


def block_iterations(phases: Mapping[int, int], step: int, count: int, block_tokens: int) -> int:
    """Σ over the iterations step + 1 to step + count of the blocks taken from step + 1 up to that one.

    A block taken in the iteration step + j counts count − j + 1 times. Those of a phase are taken at j = o, o + B, …,
    o + (n − 1)·B, with o the first such j ≥ 1: n·(count − o + 1) − B·n·(n − 1)/2 in all.
    """
    base, total = step + 1, 0
    for phase, many in phases.items():
        first = (phase - base) % block_tokens + 1
        if first <= count:
            times = (count - first) // block_tokens + 1
            total += many * (times * (count - first + 1) - block_tokens * (times * (times - 1) // 2))
    return total


def most_iterations(phases: Mapping[int, int], step: int, count: int, block_tokens: int, blocks: int) -> int:
    """The most iterations ≤ count after `step` that together take at most so many blocks, by bisection."""
    if blocks_within(phases, step, count, block_tokens) <= blocks:
        return count
    low, high = 0, count  # `low` of them fit, `high` do not
    while high - low > 1:
        middle = (low + high) // 2
        if blocks_within(phases, step, middle, block_tokens) <= blocks:
            low = middle
        else:
            high = middle
    return low
