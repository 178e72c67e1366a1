"""Blocks that hold a few odd rows: the odd ones are found by halving, and all others are read as columns."""

from collections.abc import Callable, Iterator
from typing import Final

from sweep.traffic.rows import Requests
from sweep.traffic.source import Chunk

FEWEST_BYTES: Final = 2_000
"""A smaller part is read row by row: some fifty rows, which cost as much as another two halves."""


def in_parts(
    chunk: Chunk,
    whole: Callable[[bytes], int],
    plain: Callable[[bytes], Requests | None],
    row_by_row: Callable[[Chunk], Requests],
) -> Iterator[Requests]:
    """The requests of a chunk, in its order.

    Args:
        chunk: whole records.
        whole: how many of some bytes are whole records.
        plain: reads a block of plain rows at once; None for any other.
        row_by_row: reads every block, and tells its faults.
    """
    block = plain(chunk.data)
    if block is not None:
        yield block
        return
    cut = whole(chunk.data[: len(chunk.data) // 2]) if len(chunk.data) > FEWEST_BYTES else 0
    if not cut:
        yield row_by_row(chunk)
        return
    halves = (chunk.data[:cut], chunk.line), (chunk.data[cut:], chunk.line + chunk.data.count(b"\n", 0, cut))
    for data, line in halves:
        yield from in_parts(Chunk(data, line), whole, plain, row_by_row)
