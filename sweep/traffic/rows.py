"""A block of requests as arrays, the form in which a trace streams."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]
ByteArray = npt.NDArray[np.uint8]
BoolArray = npt.NDArray[np.bool_]

MAX_TOKENS: Final = 10**7
"""The longest prompt or output that is read: what a request class may have (`audit.md`)."""

MAX_TIME_NS: Final = 2**63 - 1
"""The latest time: int64 nanoseconds, 292 years after the zero of the clock."""

BLOCK_TOKENS: Final = 512
"""Tokens of a prompt's block, of which each has a hash in a Mooncake trace; the last block may be partial."""


@dataclass(frozen=True, eq=False)
class Requests:
    """Consecutive rows of a trace, in its order; failed ones (0 output tokens) are among them.

    Attributes:
        time_ns: arrivals in ns from the trace's own zero; of dates from 1970 (UTC, or the trace's wall clock). Shape
            (rows,), ≥ 0.
        prompt_tokens: shape (rows,), 0 to 10^7.
        output_tokens: shape (rows,), 0 to 10^7.
        hash_ids: the hashes of all prompts' blocks in a row; ids from 2^63 on are shown 2^64 lower. None where the
            trace has none.
        hash_counts: how many of them each request has, shape (rows,); None with them.
        times_cut: how many times were finer than 1 ns and cut to it.
    """

    time_ns: IntArray
    prompt_tokens: IntArray
    output_tokens: IntArray
    hash_ids: IntArray | None = None
    hash_counts: IntArray | None = None
    times_cut: int = 0

    def __len__(self) -> int:
        return len(self.time_ns)
