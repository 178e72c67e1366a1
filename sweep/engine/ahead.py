"""Work on tiles ahead of the one that uses them; NumPy lets other threads run while it computes on large arrays."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from sweep.engine.budget import AHEAD, THREADS

Given = TypeVar("Given")
Found = TypeVar("Found")


def ordered(work: Callable[[Given], Found], todo: Iterable[Given]) -> Iterator[Found]:
    """Results in order, computed ahead of their use by a bounded number of tiles."""
    pending: deque[Future[Found]] = deque()
    with ThreadPoolExecutor(THREADS) as pool:
        try:
            for given in todo:
                pending.append(pool.submit(work, given))
                if len(pending) >= AHEAD:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            for future in pending:
                future.cancel()
