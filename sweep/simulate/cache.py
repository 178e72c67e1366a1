"""Bytes of a KV cache that is handed out in blocks with shared prefixes, and of one that is handed out in slabs."""

from collections.abc import Sequence
from dataclasses import dataclass

from sweep.errors import InputFault
from sweep.records.checks import integer_faults
from sweep.simulate.batching import BLOCK_TOKENS, MOST_FAULTS


@dataclass(frozen=True)
class CacheBytes:
    """What a set of requests takes, in bytes.

    Attributes:
        paged: in blocks; a prefix that several have is there once.
        contiguous: one slab of the longest sequence for each.
    """

    paged: int
    contiguous: int


def cache_bytes(
    requests: Sequence[Sequence[int]], bytes_per_token: int, max_seq_len: int, block_tokens: int = BLOCK_TOKENS
) -> CacheBytes:
    """Cache bytes of requests that are there at one time.

    Paged: blocks of the distinct prefix lengths > 0, each once (equal lengths stand for equal prefixes), and blocks of
    all outputs, each rounded up to whole blocks. Contiguous: max_seq_len tokens for each.

    Args:
        requests: (shared prefix in tokens, output in tokens) of each, 0 to 10^7.
        bytes_per_token: 1 to 10^12.
        max_seq_len: tokens of a slab, 1 to 2·10^7.
        block_tokens: tokens of a block, 1 to 2·10^7.

    Raises:
        InputFault: an argument out of bounds; the first faults are named.

    >>> cache_bytes([(512, 687)], 1_024, 1_024)
    CacheBytes(paged=1228800, contiguous=1048576)
    """
    pairs = [tuple(request) for request in requests]
    faults = [f"requests[{at}]: wanted a pair of prefix and output." for at, one in enumerate(pairs) if len(one) != 2]
    for at, pair in enumerate(pairs):
        for name, tokens in zip(("prefix", "output"), pair, strict=False):
            faults += integer_faults(f"requests[{at}] {name}", tokens, (0, 10**7))
    faults += integer_faults("bytes_per_token", bytes_per_token, (1, 10**12))
    faults += integer_faults("max_seq_len", max_seq_len, (1, 2 * 10**7))
    faults += integer_faults("block_tokens", block_tokens, (1, 2 * 10**7))
    if faults:
        raise InputFault(faults[:MOST_FAULTS])
    prefixes = {prefix for prefix, _ in pairs}  # a prefix of 0 has 0 blocks
    blocks = sum(-(-tokens // block_tokens) for tokens in (*prefixes, *(output for _, output in pairs)))
    return CacheBytes(blocks * block_tokens * bytes_per_token, len(pairs) * max_seq_len * bytes_per_token)
