"""The waiting requests of a replica, by the policy's order and by age at the same time."""

from heapq import heappop, heappush

from sweep.simulate.sequence import Sequence


class Waiting:
    """Two heaps over the same sequences; what was taken through one stays in the other until it comes up there."""

    __slots__ = ("_by_age", "_by_order", "_there")

    def __init__(self) -> None:
        self._there: dict[int, Sequence] = {}
        self._by_order: list[tuple[int, int]] = []
        self._by_age: list[int] = []

    def __len__(self) -> int:
        return len(self._there)

    def push(self, sequence: Sequence) -> None:
        """A sequence waits, for the first time or after a preemption; its place is that of its arrival."""
        self._there[sequence.number] = sequence
        heappush(self._by_order, sequence.order)
        heappush(self._by_age, sequence.number)

    def take(self, sequence: Sequence) -> None:
        """It waits no longer."""
        del self._there[sequence.number]

    def first(self) -> Sequence | None:
        """The next one by the policy."""
        heap, there = self._by_order, self._there
        while heap:
            if heap[0][1] in there:
                return there[heap[0][1]]
            heappop(heap)
        return None

    def oldest(self) -> Sequence | None:
        """The one that arrived first."""
        heap, there = self._by_age, self._there
        while heap:
            if heap[0] in there:
                return there[heap[0]]
            heappop(heap)
        return None
