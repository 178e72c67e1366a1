"""The memory ledger of a replica: its stages, and how many requests its cache carries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from sweep.hardware.amounts import Amount
from sweep.hardware.cache import Cache
from sweep.hardware.checks import BYTES, TOKENS, floor_of, raise_if_any
from sweep.hardware.ledger import Given, Limits, Measured, StageLedger, StageMemory, number, pool_ledger, stage_ledger
from sweep.hardware.share import ENGINES, StageBytes
from sweep.records.checks import integer_faults, shown
from sweep.units import grouped


@dataclass(frozen=True)
class Concurrency:
    """How many requests of one length a replica's cache carries at once.

    Attributes:
        sequence_tokens: the length of every request, prompt and output.
        bytes_per_request: what one holds, in whole blocks, over all stages.
        blocks_per_request: the same in blocks of a stage; None where blocks are not all alike.
        requests: whole requests that fit.
        ratio: the same before rounding down, exactly.
        stage: the stage that decides, from 0.
    """

    sequence_tokens: int
    bytes_per_request: int
    blocks_per_request: int | None
    requests: int
    ratio: Fraction
    stage: int

    @property
    def cache_tokens(self) -> int:
        """Tokens that the cache holds in requests of this length: ⌊ratio · length⌋."""
        return floor_of(self.ratio * self.sequence_tokens)


@dataclass(frozen=True)
class MemoryLedger:
    """The byte ledger of a replica.

    Attributes:
        cache: how the replica keeps the cache.
        engine: whose share of memory it is.
        share: of the memory; None where the pool was measured and no share is known.
        stages: the ledger of each pipeline stage.
        worst_case: the concurrency with every request at the longest sequence; None where no length was given.
        typical: the concurrency with every request at the typical length; None where no length was given.
        lowest: the same with every rounded amount at its worst; None where all amounts are exact.
        highest: the same with every rounded amount at its best; None likewise.
    """

    cache: Cache
    engine: str
    share: Fraction | None
    stages: tuple[StageLedger, ...]
    worst_case: Concurrency | None
    typical: Concurrency | None
    lowest: MemoryLedger | None = None
    highest: MemoryLedger | None = None

    @property
    def fits(self) -> bool:
        """Whether weights, activations and overhead fit in every stage."""
        return self.short_by_bytes == 0

    @property
    def short_by_bytes(self) -> int:
        """What is missing for them to fit, over all stages; 0 where they do."""
        return sum(stage.short_by_bytes for stage in self.stages)

    @property
    def kv_pool_bytes(self) -> int:
        """Bytes that the cache may use, over all stages."""
        return sum(stage.kv_pool_bytes for stage in self.stages)

    @property
    def kv_bytes_per_token(self) -> int:
        """Bytes by which the cache grows with a token, over all stages."""
        return sum(stage.cache.growing_bytes_per_token for stage in self.stages)

    @property
    def blocks(self) -> int | None:
        """Blocks that requests can hold: those of the stage that has the fewest; None where blocks differ."""
        found = [stage.blocks for stage in self.stages]
        known = [blocks for blocks in found if blocks is not None]
        return min(known) if len(known) == len(found) else None

    @property
    def cache_tokens(self) -> int | None:
        """Tokens of those blocks; None where blocks differ."""
        return None if self.blocks is None else self.blocks * self.cache.block_tokens

    @property
    def longest_sequence_tokens(self) -> int | None:
        """The longest sequence that one request can have, the smallest stage deciding; None where any length fits."""
        if not self.fits:
            return 0
        found = [stage.cache.longest_tokens(stage.usable_bytes) for stage in self.stages]
        return min((tokens for tokens in found if tokens is not None), default=None)

    def concurrency(self, tokens: int) -> Concurrency:
        """How many requests of some tokens fit; 0 where the weights do not.

        Raises:
            RecordFault: the length is no number of tokens.
        """
        raise_if_any(integer_faults("tokens", tokens, TOKENS))
        return _concurrency(self.cache, self.stages, tokens)


def memory_ledger(
    cache: Cache,
    memory: Sequence[StageMemory] = (),
    share: Fraction | None = None,
    engine: str = "vllm",
    *,
    pool_bytes: Sequence[Given] | None = None,
    reserved_blocks: int = 0,
    max_cache_tokens: int | None = None,
    longest_tokens: int | None = None,
    typical_tokens: int | None = None,
) -> MemoryLedger:
    """The byte ledger of a replica.

    Args:
        cache: how it keeps the cache.
        memory: the memory of each pipeline stage; where `pool_bytes` is given only its total counts.
        share: of the memory, an exact fraction; what it is a share of depends on the engine (`ENGINES`).
        engine: `vllm`, `sglang` or `tensorrt-llm`.
        pool_bytes: the measured pool of each stage, on all its GPUs, in place of what the share would leave.
        reserved_blocks: blocks of every stage that no request gets.
        max_cache_tokens: the most tokens that the cache may hold.
        longest_tokens: the longest sequence, for `worst_case`.
        typical_tokens: the typical length, for `typical`.

    Raises:
        RecordFault: an argument is missing or no number of its kind; all faults at once.
    """
    limits = Limits(reserved_blocks, max_cache_tokens)
    faults = _limit_faults(cache, limits)
    faults += _memory_faults(cache, memory, share, engine, pool_bytes)
    for name, tokens in (("longest_tokens", longest_tokens), ("typical_tokens", typical_tokens)):
        faults += integer_faults(name, tokens, TOKENS) if tokens is not None else []
    if not any(stage.request_bytes(1) for stage in cache.stage_caches):
        faults.append("cache: no layer keeps anything of a request, so there is no cache to reckon; check the layers.")
    raise_if_any(faults)
    lengths = (longest_tokens, typical_tokens)

    def ledger(best: bool | None) -> MemoryLedger:
        pools = None if pool_bytes is None else [_chosen(given, best) for given in pool_bytes]
        chosen = [stage.plain() if best is None else stage.at_best(best) for stage in memory]
        stages = _stages(cache, chosen, share, engine, pools, limits)
        worst, typical = (None if tokens is None else _concurrency(cache, stages, tokens) for tokens in lengths)
        return MemoryLedger(cache, engine, share, stages, worst, typical)

    middle = ledger(None)
    raise_if_any(_overdrawn(middle))
    if not any(stage.rounded for stage in memory) and not any(map(_is_rounded, pool_bytes or ())):
        return middle
    return MemoryLedger(
        cache, engine, share, middle.stages, middle.worst_case, middle.typical, ledger(False), ledger(True)
    )


def _stages(
    cache: Cache,
    memory: Sequence[StageMemory],
    share: Fraction | None,
    engine: str,
    pools: Sequence[int] | None,
    limits: Limits,
) -> tuple[StageLedger, ...]:
    if pools is None:
        assert share is not None  # checked before
        return tuple(stage_ledger(cache, at, stage, engine, share, limits) for at, stage in enumerate(memory))
    budgets: list[tuple[int, int] | None] = [None] * len(pools)
    if share is not None:
        for at, stage in enumerate(memory):
            total = number(stage.memory_bytes)
            budget = StageBytes(cache.tensor_parallel, total, 0, 0).budget_bytes(engine, share)
            budgets[at] = None if budget is None else (cache.tensor_parallel * total, budget)
    return tuple(
        pool_ledger(cache, at, pool, budget, limits)
        for at, (pool, budget) in enumerate(zip(pools, budgets, strict=True))
    )


def _concurrency(cache: Cache, stages: Sequence[StageLedger], tokens: int) -> Concurrency:
    ratios = [(stage.ratio(tokens), at) for at, stage in enumerate(stages)]
    ratio, at = min((ratio, at) for ratio, at in ratios if ratio is not None)
    if any(stage.short_by_bytes for stage in stages):
        ratio = Fraction(0)
    held = sum(stage.cache.request_bytes(tokens) for stage in stages)
    return Concurrency(tokens, held, stages[at].cache.request_blocks(tokens), floor_of(ratio), ratio, at)


def _overdrawn(ledger: MemoryLedger) -> list[str]:
    """Faults of measured pools that are larger than the engine's share of the memory."""
    return [
        f"pool_bytes[{at}]: got {grouped(stage.kv_pool_bytes)}, which is {grouped(-stage.account.not_kv_bytes)} bytes "
        "more than the engine's share of the memory; correct the one or the other."
        for at, stage in enumerate(ledger.stages)
        if isinstance(stage.account, Measured) and stage.account.not_kv_bytes < 0
    ]


def _chosen(given: Given, best: bool | None) -> int:
    if isinstance(given, Amount) and best is not None:
        return given.high if best else given.low
    return number(given)


def _is_rounded(given: Given) -> bool:
    return isinstance(given, Amount) and given.rounded


def _limit_faults(cache: Cache, limits: Limits) -> list[str]:
    faults = integer_faults("reserved_blocks", limits.reserved_blocks, (0, TOKENS[1]))
    if limits.max_cache_tokens is not None:
        faults += integer_faults("max_cache_tokens", limits.max_cache_tokens, TOKENS)
    if any(stage.block_bytes is None for stage in cache.stage_caches):
        given = {"reserved_blocks": limits.reserved_blocks, "max_cache_tokens": limits.max_cache_tokens}
        for name in (name for name, value in given.items() if value):
            faults.append(f"{name}: blocks are not all alike in this model; leave it out, or reserve bytes.")
    return faults


def _memory_faults(
    cache: Cache,
    memory: Sequence[StageMemory],
    share: Fraction | None,
    engine: str,
    pool_bytes: Sequence[Given] | None,
) -> list[str]:
    faults = [] if engine in ENGINES else [f"engine: got {shown(engine)}, want one of {', '.join(ENGINES)}."]
    if share is None:
        faults += [] if pool_bytes is not None else ["share: missing, want an exact Fraction of the memory; give it."]
    elif type(share) not in (Fraction, int) or not 0 < share <= 1:
        faults.append(f"share: got {shown(share)}, want an exact Fraction above 0 and at most 1; a float is not exact.")
    wanted = len(cache.stages)
    if len(memory) != wanted and not (pool_bytes is not None and not memory):
        faults.append(f"memory: got {len(memory)}, want the memory of each of {wanted} pipeline stages.")
    if pool_bytes is not None:
        if len(pool_bytes) != wanted:
            faults.append(f"pool_bytes: got {len(pool_bytes)}, want the pool of each of {wanted} pipeline stages.")
        for at, given in enumerate(pool_bytes):
            faults += integer_faults(f"pool_bytes[{at}]", number(given), BYTES)
    for at, stage in enumerate(memory):
        for name, value in vars(stage.plain()).items():
            faults += integer_faults(f"memory[{at}].{name}", value, BYTES)
    return faults
