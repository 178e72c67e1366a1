"""How much memory a run may take, and how it is shared out."""

from __future__ import annotations

from dataclasses import dataclass

from sweep.errors import RefusedSize
from sweep.units import grouped

THREADS = 2
"""Computing threads."""

AHEAD = 4
"""Tiles in flight between the computing threads and the one writer."""

PROCESS_BYTES = 100 * 2**20
"""The interpreter, the libraries, and what HDF5 keeps (measured: 61 to 70 MiB with small grids)."""

LEAST_ARRAY_BYTES = 48 * 2**20
"""Below this for all arrays tiles would be so small that a run takes hours instead of seconds."""

DEFAULT_MEMORY_BYTES = 2**30


@dataclass(frozen=True)
class Budget:
    """The memory of the whole process that a run may take."""

    memory_bytes: int = DEFAULT_MEMORY_BYTES

    @property
    def array_bytes(self) -> int:
        """What is left for arrays."""
        return max(self.memory_bytes - PROCESS_BYTES, LEAST_ARRAY_BYTES)

    @property
    def shared_bytes(self) -> int:
        """For nodes that are computed once for all tiles, with what is made from them."""
        return self.array_bytes * 2 // 5

    @property
    def tile_bytes(self) -> int:
        """For the nodes of one tile, temporaries included; each computing thread has one at a time."""
        return self.array_bytes * 2 // 5 // THREADS

    @property
    def flight_bytes(self) -> int:
        """For masks between the computing threads and the writer."""
        return self.array_bytes // 5


def budget_of(memory_bytes: int | None) -> Budget:
    """The budget of a run that may take so much memory (None: the default).

    Raises:
        RefusedSize: too little for any run.
    """
    if memory_bytes is None:
        return Budget()
    least = PROCESS_BYTES + LEAST_ARRAY_BYTES
    if memory_bytes < least:
        raise RefusedSize(
            f"--memory {grouped(memory_bytes)} bytes: a run takes {grouped(least)} bytes at the least, of which "
            f"{grouped(PROCESS_BYTES)} are the program itself; give more."
        )
    return Budget(memory_bytes)
