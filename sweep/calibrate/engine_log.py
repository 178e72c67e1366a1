"""vLLM's start-up log: the lines about memory, KV cache and scheduling, among whatever else a log has.

A figure that is printed with decimals is known to half of its last digit only: it becomes a closed interval. Where vLLM
says GiB it means 2^30 bytes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from sweep.calibrate.fields import Faults
from sweep.calibrate.measured import Measured, Pool, ceiling
from sweep.units import grouped

LOG: Final = "vLLM start-up log"

_DECIMAL = r"(-?[0-9]{1,12}(?:\.[0-9]{1,6})?)"
_COUNT = r"([0-9]{1,3}(?:,[0-9]{3}){1,4}|[0-9]{1,15})"
_AVAILABLE: Final = (
    re.compile(rf"Available KV cache memory: {_DECIMAL} GiB"),
    re.compile(rf"the rest of the memory reserved for KV Cache is {_DECIMAL} ?GiB"),
    re.compile(rf"available KV cache memory \({_DECIMAL} GiB\)"),
)
_TOKENS: Final = (
    re.compile(rf"GPU KV cache size: {_COUNT} tokens"),
    re.compile(rf"maximum number of tokens that can be stored in KV cache \({_COUNT}\)"),
)
_BLOCKS: Final = re.compile(rf"# (?:GPU|CUDA) blocks: {_COUNT}")
_CONCURRENCY: Final = re.compile(rf"Maximum concurrency for {_COUNT} tokens per request: {_DECIMAL}x")
_CHUNK: Final = re.compile(r"max_num_batched_tokens[=:] ?([0-9]{1,9})")
_WEIGHTS: Final = re.compile(rf"(?:Model loading took|model weights take) {_DECIMAL} ?GiB")

SIGNS: Final = (*_AVAILABLE, *_TOKENS, _BLOCKS, _CONCURRENCY)
"""A text that has none of these is no start-up log."""


def is_log(text: str) -> bool:
    """Whether a text has a line of the KV cache."""
    return any(sign.search(text) for sign in SIGNS)


def interval(text: str) -> tuple[Fraction, Fraction]:
    """What a printed decimal stands for: all numbers within half of its last digit, ends included.

    >>> interval("10.55")
    (Fraction(2109, 200), Fraction(2111, 200))
    """
    half = Fraction(1, 2 * 10 ** len(text.partition(".")[2])) if "." in text else Fraction(1, 2)
    return Fraction(text) - half, Fraction(text) + half


def read_log(name: str, text: str) -> Measured:
    """The KV pool that a log states; of several GPUs the smallest.

    Raises:
        InputFault: the lines contradict each other, or there is no memory for a KV cache.
    """
    faults = Faults(name)
    memory = sorted({found for pattern in _AVAILABLE for found in pattern.findall(text)}, key=Fraction)
    tokens = [_whole(found) for pattern in _TOKENS for found in pattern.findall(text)]
    blocks = [_whole(found) for found in _BLOCKS.findall(text)]
    flags = []
    if len(memory) > 1 or len(set(tokens)) > 1 or len(set(blocks)) > 1:
        flags.append(
            f"{name}: states several sizes of the KV cache (several GPUs, or several starts); the smallest is taken"
        )
    low = high = None
    if memory:
        low, high = _bytes(memory[0])
        if high < 0:
            short = grouped(-high)
            faults.add(
                "", f"no memory is left for a KV cache, at least {short} bytes are short; free them, then start again"
            )
    if 0 in tokens or 0 in blocks:
        faults.add("", "the KV cache holds 0 tokens, so this engine serves nothing; free memory, then start again")
    faults.raise_if_any()
    longest, concurrency = _longest(text)
    pool = Pool(
        name,
        min(tokens, default=None),
        min(blocks, default=None),
        None,
        None if low is None else max(low, 0),
        high,
        longest,
        concurrency,
    )
    facts = [("weights on one GPU", f"{found} GiB") for found in list(dict.fromkeys(_WEIGHTS.findall(text)))[:1]]
    missing = []
    if pool.tokens is None and pool.blocks is None:
        missing.append(f'{name}: has no line "GPU KV cache size", so how many tokens fit is not known')
    chunks = {int(found) for found in _CHUNK.findall(text)}
    chunk = chunks.pop() if len(chunks) == 1 else None
    return Measured(
        name,
        LOG,
        pools=(pool,),
        chunk_tokens=chunk or None,
        facts=facts,
        flags=flags,
        missing=missing,
        engines=((name, "vllm"),),
    )


def _whole(text: str) -> int:
    return int(text.replace(",", ""))


def _bytes(gib: str) -> tuple[int, int]:
    """The smallest and largest whole number of bytes that a printed number of GiB stands for."""
    low, high = (end * 2**30 for end in interval(gib))
    return ceiling(low), -ceiling(-high)


def _longest(text: str) -> tuple[int | None, tuple[Fraction, Fraction] | None]:
    """The longest sequence and how many of it fit, by the smallest of the lines that say so."""
    found: Sequence[tuple[str, str]] = _CONCURRENCY.findall(text)
    if not found:
        return None, None
    tokens, times = min(found, key=lambda one: Fraction(one[1]))
    return _whole(tokens), interval(times)
