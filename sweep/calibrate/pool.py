"""The KV cache of an engine, from everything that files say of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sweep.calibrate.measured import Pool
from sweep.units import grouped


@dataclass(frozen=True)
class KvPool:
    """A KV pool; bytes are of one GPU.

    Attributes:
        where: the files that say something of it.
        tokens: that fit at once.
        blocks, block_tokens: blocks, and tokens of each.
        bytes_low, bytes_high: its memory, inclusive ends; equal where it is known exactly.
        token_bytes_low, token_bytes_high: memory of one token, inclusive ends.
        longest_tokens: the longest sequence that the engine was started for.
    """

    where: tuple[str, ...]
    tokens: int | None
    blocks: int | None
    block_tokens: int | None
    bytes_low: int | None
    bytes_high: int | None
    token_bytes_low: int | None
    token_bytes_high: int | None
    longest_tokens: int | None

    @property
    def longest_fit(self) -> Fraction | None:
        """How many sequences of the longest length fit, exactly."""
        if self.tokens is None or not self.longest_tokens:
            return None
        return Fraction(self.tokens, self.longest_tokens)

    def as_json(self) -> dict[str, Any]:
        """With stable keys; what is not known is null."""
        fit = self.longest_fit
        return {
            "files": list(self.where),
            "tokens": self.tokens,
            "blocks": self.blocks,
            "block_tokens": self.block_tokens,
            "bytes": _ends(self.bytes_low, self.bytes_high),
            "bytes_per_token": _ends(self.token_bytes_low, self.token_bytes_high),
            "longest_tokens": self.longest_tokens,
            "longest_that_fit": None if fit is None else f"{fit.numerator}/{fit.denominator}",
        }


def _ends(low: int | None, high: int | None) -> dict[str, int | None] | None:
    return None if low is None and high is None else {"low": low, "high": high}


def pool_of(
    pools: Sequence[Pool], kv_bytes_per_token: int | None = None, block_tokens: int | None = None
) -> tuple[KvPool | None, list[str]]:
    """The pool that all files together describe, and what of it is doubtful.

    Args:
        pools: what the files say.
        kv_bytes_per_token: of one GPU, where the user knows it: then bytes are exact.
        block_tokens: tokens of a block, where the user knows it.
    """
    flags: list[str] = []
    if not pools:
        return None, flags
    tokens = _least(pools, "tokens", flags)
    blocks = _least(pools, "blocks", flags)
    size = block_tokens or _least(pools, "block_tokens", flags)
    longest = _least(pools, "longest_tokens", flags)
    if tokens is None and blocks is not None and size is not None:
        tokens = blocks * size
    if blocks is None and tokens is not None and size is not None and tokens % size == 0:
        blocks = tokens // size
    lows = [pool.bytes_low for pool in pools if pool.bytes_low is not None]
    highs = [pool.bytes_high for pool in pools if pool.bytes_high is not None]
    low, high = min(lows, default=None), min(highs, default=None)
    token_low = token_high = kv_bytes_per_token
    if kv_bytes_per_token is None and tokens and high is not None:
        token_high = high // tokens
        if size is not None and low is not None:  # less than one block of the memory is left over
            token_low = low // (tokens + size) + 1
    elif kv_bytes_per_token is not None and tokens is not None:
        used = tokens * kv_bytes_per_token
        if (high is not None and used > high) or (low is not None and size and used + size * kv_bytes_per_token <= low):
            flags.append(
                f"{grouped(tokens)} tokens of {grouped(kv_bytes_per_token)} bytes are {grouped(used)} bytes, but the "
                f"log has {grouped(low or 0)} to {grouped(high or 0)} on one GPU; check the bytes of a token, and "
                f"whether several GPUs share them"
            )
        low = high = used
    flags += _concurrency(pools, tokens)
    where = tuple(dict.fromkeys(pool.where for pool in pools))
    return KvPool(where, tokens, blocks, size, low, high, token_low, token_high, longest), flags


def _least(pools: Sequence[Pool], what: str, flags: list[str]) -> int | None:
    """The smallest of what the files say; a flag where they differ."""
    values = sorted({value for pool in pools if (value := getattr(pool, what)) is not None})
    if len(values) > 1:
        numbers = ", ".join(grouped(value) for value in values)
        flags.append(
            f"the files have different {what.replace('_', ' ')} of the KV cache, {numbers}; the smallest is taken"
        )
    return values[0] if values else None


def _concurrency(pools: Sequence[Pool], tokens: int | None) -> list[str]:
    """A log's own "Maximum concurrency" against its tokens."""
    found = []
    for pool in pools:
        if pool.concurrency is None or not pool.longest_tokens or tokens is None:
            continue
        low, high = pool.concurrency
        if not low <= Fraction(tokens, pool.longest_tokens) <= high:
            found.append(
                f"{pool.where}: {grouped(tokens)} tokens over {grouped(pool.longest_tokens)} are not the maximum "
                f"concurrency that it prints; its layers do not all keep every token, or the lines are of two starts"
            )
    return found
