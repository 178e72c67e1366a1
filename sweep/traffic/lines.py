"""The faults of a trace: one sentence per faulty line, the first few in words and the others counted."""

from typing import Final, NoReturn

from sweep.errors import InputFault
from sweep.units import grouped, printable

MOST_SHOWN: Final = 10
"""Faulty lines that are described."""

MOST_COUNTED: Final = 1_000
"""Faulty lines at which reading stops: the file is another one than it was taken for."""


class LineFault(ValueError):
    """What is wrong with one row: what came, what is wanted, what to do next, without the full stop."""


class LineFaults:
    """Collects the faults of one trace.

    Attributes:
        name: the trace as messages call it.
    """

    def __init__(self, path: object) -> None:
        self.name = printable(str(path), 160)
        self._sentences: list[str] = []
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, line: int, fault: object) -> None:
        """One faulty line; raises all once there are too many."""
        self._count += 1
        if self._count <= MOST_SHOWN:
            self._sentences.append(f"{self.name}: line {grouped(line)}: {fault}.")
        if self._count >= MOST_COUNTED:
            more = grouped(self._count - MOST_SHOWN)
            raise InputFault([*self._sentences, f"{self.name}: and {more} more faulty lines; reading stopped there."])

    def stop(self, line: int, fault: object) -> NoReturn:
        """A fault behind which nothing can be read: raises all so far."""
        self.add(line, fault)
        self.raise_if_any()
        raise AssertionError("a fault was added")

    def raise_if_any(self) -> None:
        """Raises the faults together.

        Raises:
            InputFault: where there are any.
        """
        if not self._count:
            return
        sentences = list(self._sentences)
        if self._count > MOST_SHOWN:
            more = grouped(self._count - MOST_SHOWN)
            sentences.append(f"{self.name}: and {more} more faulty lines; repair these first.")
        raise InputFault(sentences)
