"""The byte ledger of one pipeline stage: where the memory of its GPUs goes, and what is left for the cache."""

from dataclasses import dataclass, fields, replace
from fractions import Fraction

from sweep.hardware.amounts import Amount
from sweep.hardware.cache import Cache, StageCache
from sweep.hardware.share import StageBytes

Given = int | Amount
"""A number of bytes, exact or as a log prints it."""


@dataclass(frozen=True)
class StageMemory:
    """The memory of one pipeline stage before the cache. Every amount but the weights is of one GPU, in bytes.

    Attributes:
        memory_bytes: the whole memory, as the driver or the runtime reports it.
        weight_bytes: of the stage, on all its GPUs.
        activation_bytes: the peak of a step.
        activation_bytes_per_chunk_token: what this peak grows by per token of the prefill chunk.
        framework_overhead_bytes: context, graphs, communication buffers.
        reserved_bytes: kept free of everything.
    """

    memory_bytes: Given
    weight_bytes: Given
    activation_bytes: Given = 0
    activation_bytes_per_chunk_token: Given = 0
    framework_overhead_bytes: Given = 0
    reserved_bytes: Given = 0

    @property
    def rounded(self) -> bool:
        """Whether a log has rounded one of the amounts."""
        return any(isinstance(given, Amount) and given.rounded for given in self._given().values())

    def plain(self) -> "StageMemory":
        """The same in integers, each as it was given."""
        return replace(self, **{name: number(given) for name, given in self._given().items()})

    def at_best(self, best: bool) -> "StageMemory":
        """The same in integers, each rounded amount at its best or at its worst for the cache."""
        return replace(
            self,
            **{
                name: (given.high if (name == "memory_bytes") == best else given.low)
                if isinstance(given, Amount)
                else given
                for name, given in self._given().items()
            },
        )

    def _given(self) -> dict[str, Given]:
        return {field.name: getattr(self, field.name) for field in fields(self)}


def number(given: Given) -> int:
    """An amount as a plain integer."""
    return given.value if isinstance(given, Amount) else given


@dataclass(frozen=True)
class Account:
    """Bytes of a stage on all its GPUs together.

    Attributes:
        memory_bytes: all their memory.
        budget_bytes: what the engine's share of it is; None where the share is of something else.
        weight_bytes: the weights of the stage.
        activation_bytes: with the part that grows with the chunk.
        framework_overhead_bytes: context, graphs, communication buffers.
        reserved_bytes: kept free.
        free_bytes: what is left after loading, negative where it does not fit.
        unused_bytes: what stays free beside the pool and everything else; 0 where the share is exhausted.
    """

    memory_bytes: int
    budget_bytes: int | None
    weight_bytes: int
    activation_bytes: int
    framework_overhead_bytes: int
    reserved_bytes: int
    free_bytes: int
    unused_bytes: int


@dataclass(frozen=True)
class Measured:
    """What is known of a stage whose pool was measured: bytes on all its GPUs together.

    Attributes:
        memory_bytes: all their memory.
        budget_bytes: what the engine's share of it is.
        not_kv_bytes: what of the share is not cache: weights, activations, overhead.
    """

    memory_bytes: int
    budget_bytes: int
    not_kv_bytes: int


@dataclass(frozen=True)
class StageLedger:
    """The ledger of one pipeline stage, all its GPUs together.

    Attributes:
        gpus: its GPUs.
        account: where its memory goes; None where only the pool is known.
        kv_pool_bytes: what the cache may use; 0 where the rest does not fit.
        short_by_bytes: what is missing for the rest to fit; 0 where it does.
        cache: the cache of the stage.
        blocks: whole blocks of the pool that requests can hold; None where blocks are not all alike.
    """

    gpus: int
    account: Account | Measured | None
    kv_pool_bytes: int
    short_by_bytes: int
    cache: StageCache
    blocks: int | None

    @property
    def usable_bytes(self) -> int:
        """Bytes of the pool that requests can hold: whole blocks where blocks are alike."""
        block = self.cache.block_bytes
        return self.kv_pool_bytes if self.blocks is None or block is None else self.blocks * block

    @property
    def held_back_bytes(self) -> int:
        """Bytes of whole blocks that no request gets: reserved ones, and those beyond a limit in tokens."""
        block = self.cache.block_bytes
        return 0 if self.blocks is None or block is None else (self.kv_pool_bytes // block - self.blocks) * block

    def ratio(self, tokens: int) -> Fraction | None:
        """How many requests of some tokens the stage carries, exactly; None where a request takes nothing of it."""
        held = self.cache.request_bytes(tokens)
        return Fraction(self.usable_bytes, held) if held else None


@dataclass(frozen=True)
class Limits:
    """What the engine was told of its cache in blocks or tokens.

    Attributes:
        reserved_blocks: blocks of every stage that no request gets.
        max_cache_tokens: the most tokens that the cache may hold; None without such a limit.
    """

    reserved_blocks: int = 0
    max_cache_tokens: int | None = None

    def blocks(self, cache: StageCache, pool_bytes: int) -> int | None:
        """Whole blocks of a pool that requests can hold; None where blocks are not all alike."""
        if cache.block_bytes is None:
            return None
        blocks = pool_bytes // cache.block_bytes
        if self.max_cache_tokens is not None:
            blocks = min(blocks, self.max_cache_tokens // cache.block_tokens)
        return max(0, blocks - self.reserved_blocks)


def stage_ledger(
    cache: Cache, at: int, memory: StageMemory, engine: str, share: Fraction, limits: Limits
) -> StageLedger:
    """The ledger of a stage from its memory, in plain integers.

    Args:
        cache: the cache of the replica.
        at: which stage.
        memory: its memory.
        engine: whose share it is.
        share: of the memory.
        limits: of the cache.
    """
    gpus, one = cache.tensor_parallel, memory.plain()
    memory_bytes, weights = number(one.memory_bytes), number(one.weight_bytes)
    activations = number(one.activation_bytes)
    activations += number(one.activation_bytes_per_chunk_token) * (cache.chunk_tokens or 0)
    overhead, reserved = number(one.framework_overhead_bytes), number(one.reserved_bytes)
    stage = StageBytes(gpus, memory_bytes, weights, activations + overhead + reserved)
    remainder = stage.remainder_bytes(engine, share)
    short = max(0, -remainder) + stage.outside_short_bytes(engine, share)
    free = gpus * (memory_bytes - activations - overhead - reserved) - weights
    pool = max(0, remainder)
    account = Account(
        memory_bytes=gpus * memory_bytes,
        budget_bytes=stage.budget_bytes(engine, share),
        weight_bytes=weights,
        activation_bytes=gpus * activations,
        framework_overhead_bytes=gpus * overhead,
        reserved_bytes=gpus * reserved,
        free_bytes=free,
        unused_bytes=max(0, free - pool),
    )
    kept = cache.stage_caches[at]
    return StageLedger(gpus, account, pool, short, kept, limits.blocks(kept, 0 if short else pool))


def pool_ledger(cache: Cache, at: int, pool_bytes: int, budget: tuple[int, int] | None, limits: Limits) -> StageLedger:
    """The ledger of a stage whose pool was measured.

    Args:
        cache: the cache of the replica.
        at: which stage.
        pool_bytes: the pool on all its GPUs.
        budget: the memory of all its GPUs and the engine's share of it, in bytes, where they are known.
        limits: of the cache.
    """
    kept = cache.stage_caches[at]
    account = None if budget is None else Measured(*budget, budget[1] - pool_bytes)
    return StageLedger(cache.tensor_parallel, account, pool_bytes, 0, kept, limits.blocks(kept, pool_bytes))
