"""Whether a replica can start: weights, the longest sequence and the batch slots against its bytes of memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sweep.hardware.checks import ceil_div
from sweep.hardware.share import ENGINES, StageBytes
from sweep.operate.manifest import Manifest, Memory, Requests
from sweep.records.wording import CLAIM
from sweep.units import grouped


@dataclass(frozen=True)
class Facts:
    """What is known of a replica whatever it is launched with.

    Attributes:
        tensor_parallel: its GPUs.
        kv_bytes_per_token: of all of them.
        block_tokens: tokens of a KV block.
        memory: before the cache; None where only the pool is known.
        kv_pool_bytes: the stated pool; None where it follows from the memory.
        requests: the mix that the slots are counted in.
    """

    tensor_parallel: int
    kv_bytes_per_token: int
    block_tokens: int
    memory: Memory | None
    kv_pool_bytes: int | None
    requests: tuple[Requests, ...]

    @property
    def stage(self) -> StageBytes | None:
        """Its memory, all GPUs together; None where only the pool is known."""
        one = self.memory
        if one is None:
            return None
        other = one.activation_bytes + one.framework_overhead_bytes + one.reserved_bytes
        return StageBytes(self.tensor_parallel, one.memory_bytes, one.weight_bytes, other)

    @property
    def block_bytes(self) -> int:
        """Bytes of a KV block."""
        return self.block_tokens * self.kv_bytes_per_token

    def blocks_of(self, tokens: int) -> int:
        """Blocks that a request of some tokens holds."""
        return ceil_div(tokens, self.block_tokens)


@dataclass(frozen=True)
class Launch:
    """What a replica is launched with; None where it is not known.

    Attributes:
        engine: whose share it is, a key of `ENGINES`.
        share: of the memory, as that engine means it.
        batch_slots: sequences at once.
        longest_sequence_tokens: the longest request that is accepted.
        tokens_per_step: chunk and slots together.
        blocks: blocks of the pool, where the launch states them itself.
    """

    engine: str
    share: Fraction | None
    batch_slots: int | None
    longest_sequence_tokens: int | None
    tokens_per_step: int | None = None
    blocks: int | None = None


@dataclass(frozen=True)
class Start:
    """Whether a replica starts.

    Attributes:
        pool_bytes: of the KV cache; None where it is not known, 0 where the weights do not fit.
        blocks: whole blocks of the pool.
        longest_fitting_tokens: the longest sequence that fits alone.
        batch_slots: as launched.
        effective_slots: how many sequences of the declared mix the pool admits at once.
        refusals: why it does not start, one sentence each.
        unknown: what was not judged, and what to give for it.
    """

    pool_bytes: int | None
    blocks: int | None
    longest_fitting_tokens: int | None
    batch_slots: int | None
    effective_slots: int | None
    refusals: tuple[str, ...]
    unknown: tuple[str, ...]

    @property
    def starts(self) -> bool | None:
        """True, False, or None where too little is known: an unknown is not a pass."""
        if self.refusals:
            return False
        return None if self.unknown else True

    def as_json(self) -> dict[str, Any]:
        """With stable keys."""
        return {
            "starts": self.starts,
            "refusals": list(self.refusals),
            "unknown": list(self.unknown),
            "kv_pool_bytes": self.pool_bytes,
            "kv_blocks": self.blocks,
            "longest_fitting_tokens": self.longest_fitting_tokens,
            "batch_slots": self.batch_slots,
            "effective_slots": self.effective_slots,
            "claim": CLAIM,
        }


def facts_of(manifest: Manifest) -> Facts:
    """What a manifest says of its replica."""
    return Facts(
        manifest.tensor_parallel,
        manifest.kv_bytes_per_token,
        manifest.block_tokens,
        manifest.memory,
        manifest.kv_pool_bytes,
        manifest.requests,
    )


def launch_of(manifest: Manifest) -> Launch:
    """What a manifest launches, by the share that its memory is accounted with (vLLM's)."""
    share = None if manifest.memory is None else Fraction(manifest.memory.memory_utilization_permille, 1_000)
    return Launch("vllm", share, manifest.batch_slots, manifest.longest_sequence_tokens, manifest.tokens_per_step)


def check_manifest(manifest: Manifest) -> Start:
    """Whether a manifest can start: its weights fit, and the pool admits the longest sequence and every slot.

    The slots are counted in the manifest's mix of requests: with b blocks, p requests at the peak and n blocks that
    they hold, ⌊b·p/n⌋ run at once. A manifest without a mix leaves the slots unknown.
    """
    return judge_launch(launch_of(manifest), facts_of(manifest))


def judge_launch(launch: Launch, facts: Facts | None) -> Start:
    """Whether a replica starts, as far as it is known.

    Args:
        launch: what it is launched with.
        facts: what is known of it; None where nothing is.
    """
    refusals, unknown = list[str](), list[str]()
    steps, slots = launch.tokens_per_step, launch.batch_slots
    if steps is not None and slots is not None and steps < slots:
        refusals.append(
            f"tokens per step {grouped(steps)}: fewer than the {grouped(slots)} batch slots, one decode token of each "
            f"does not fit into a step; raise them to at least {grouped(slots)}."
        )
    pool = _pool(launch, facts, refusals, unknown)
    held = [launch.blocks] if launch.blocks is not None else []
    held += [pool // facts.block_bytes] if facts is not None and pool is not None else []
    if facts is None or not held:
        return Start(pool, launch.blocks, None, slots, None, tuple(refusals), tuple(unknown))
    blocks = min(held)
    fitting = blocks * facts.block_tokens
    admitted = _effective(blocks, facts)
    if blocks:
        _judge_longest(launch, facts, blocks, refusals, unknown)
        _judge_slots(slots, admitted, blocks, refusals, unknown)
    elif not refusals:
        refusals.append(
            f"KV pool: its {grouped(pool or 0)} bytes hold not one block of {grouped(facts.block_bytes)} bytes; give "
            "the cache more memory."
        )
    return Start(pool, blocks, fitting, slots, admitted, tuple(refusals), tuple(unknown))


def _pool(launch: Launch, facts: Facts | None, refusals: list[str], unknown: list[str]) -> int | None:
    """The KV pool in bytes, None where it is not known; says where the weights do not fit."""
    if facts is None:
        unknown.append("memory: the GPUs, the weights and the KV cache of a token are not known; give them.")
        return None
    stage = facts.stage
    if stage is None:
        return facts.kv_pool_bytes
    if launch.share is None:
        unknown.append(
            f"memory share: {ENGINES[launch.engine].flag} is not given, and the engine's own default depends on its "
            "version; give it."
        )
        return None
    remainder = stage.remainder_bytes(launch.engine, launch.share)
    short = max(0, -remainder) + stage.outside_short_bytes(launch.engine, launch.share)
    if short or remainder < 1:
        refusals.append(
            f"weights: with activations and overhead they do not fit, short by {grouped(max(short, 1))} bytes on "
            f"{grouped(facts.tensor_parallel)} GPU{'' if facts.tensor_parallel == 1 else 's'}; raise the memory share, "
            "or take more GPUs or a smaller form of the model."
        )
        return 0
    return remainder


def _effective(blocks: int, facts: Facts) -> int | None:
    """How many sequences of the declared mix some blocks hold, None without a mix."""
    peak = sum(one.peak_concurrency for one in facts.requests)
    held = sum(one.peak_concurrency * facts.blocks_of(one.tokens) for one in facts.requests)
    return blocks * peak // held if peak else None


def _judge_longest(launch: Launch, facts: Facts, blocks: int, refusals: list[str], unknown: list[str]) -> None:
    longest = launch.longest_sequence_tokens
    if longest is None:
        unknown.append("longest sequence: it is not given, and the engine takes the model's own; give it.")
        return
    needed = facts.blocks_of(longest)
    if needed > blocks:
        refusals.append(
            f"longest sequence {grouped(longest)}: it takes {grouped(needed)} blocks of {grouped(facts.block_tokens)} "
            f"tokens and the KV pool has {grouped(blocks)}; lower it to at most {grouped(blocks * facts.block_tokens)} "
            "tokens, or give the cache more memory."
        )
    too_long = [one for one in facts.requests if one.tokens > longest]
    for one in sorted(too_long, key=lambda one: -one.tokens)[:1]:
        refusals.append(
            f"longest sequence {grouped(longest)}: class {one.class_id} has requests of {grouped(one.tokens)} tokens, "
            "which the engine would refuse; raise it."
        )


def _judge_slots(slots: int | None, admitted: int | None, blocks: int, refusals: list[str], unknown: list[str]) -> None:
    if slots is None:
        unknown.append("batch slots: they are not given, and the engine's own default depends on its version; give it.")
    elif admitted is None:
        unknown.append("batch slots: no mix of requests is known to count them in; give requests.")
    elif slots > admitted:
        refusals.append(
            f"slots {grouped(slots)}, effective {grouped(admitted)}: the KV pool of {grouped(blocks)} blocks holds no "
            f"more requests of the declared mix at once; lower the slots to {grouped(admitted)}, or give the cache "
            "more memory."
        )


def sentences(start: Start) -> Sequence[str]:
    """Why a replica does not start, or what is not known of it."""
    return start.refusals or start.unknown
