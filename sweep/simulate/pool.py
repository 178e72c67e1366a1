"""The KV pool of one replica: blocks held, blocks promised, and whole blocks of prefixes that requests share.

A *unit* is what one prefix hash stands for, a whole number of blocks. Units are kept by hash: *referenced* by one or
more sequences, or *cached* after the last of them left. Cached units count as free; where blocks run short they are
evicted, the least recently used first (of one sequence the deepest first: a unit is of no use without those before it).
"""

from collections.abc import Sequence


class KvPool:
    """Blocks by count; invariant: held + promised ≤ blocks, and held + cached ≤ blocks.

    Attributes:
        blocks: of the pool.
        unit_blocks: of a unit.
        held: by sequences; a shared unit once.
        promised: to sequences that were let in, beyond what they hold.
        referenced: hash -> sequences that hold its unit.
        cached: the hashes of units that nobody holds, least recently used first.
        peak: most blocks held at one time.
        taken, returned: blocks that came to be held, and that ceased to be, in all.
        evicted: blocks of cached units that were given up.
    """

    __slots__ = (
        "blocks",
        "cached",
        "evicted",
        "held",
        "peak",
        "promised",
        "referenced",
        "returned",
        "taken",
        "unit_blocks",
    )

    def __init__(self, blocks: int, unit_blocks: int) -> None:
        self.blocks, self.unit_blocks = blocks, unit_blocks
        self.held = self.promised = self.peak = self.taken = self.returned = self.evicted = 0
        self.referenced: dict[int, int] = {}
        self.cached: dict[int, None] = {}

    @property
    def available(self) -> int:
        """Blocks that are neither held nor promised; cached units are among them."""
        return self.blocks - self.held - self.promised

    def hits(self, hashes: Sequence[int]) -> tuple[int, int]:
        """How many leading units are there, and how many of those nobody holds."""
        found = free = 0
        for one in hashes:
            if one in self.cached:
                free += 1
            elif one not in self.referenced:
                break
            found += 1
        return found, free

    def let_in(self, hashes: Sequence[int], promise: int) -> None:
        """A sequence comes: it holds these units, all of them there, and is promised so many blocks beside them."""
        for one in hashes:
            if one in self.cached:
                del self.cached[one]
                self.referenced[one] = 1
                self.held += self.unit_blocks  # held + cached stays
                self.taken += self.unit_blocks
            else:
                self.referenced[one] += 1
        self.promised += promise
        if self.held > self.peak:
            self.peak = self.held

    def grow(self, blocks: int, promised: bool) -> None:
        """Sequences take blocks, of what they were promised or of what is available."""
        self.held += blocks
        self.taken += blocks
        if promised:
            self.promised -= blocks
        if self.held > self.peak:
            self.peak = self.held
        while self.cached and self.held + len(self.cached) * self.unit_blocks > self.blocks:
            del self.cached[next(iter(self.cached))]
            self.evicted += self.unit_blocks

    def register(self, one: int) -> bool:
        """A sequence has computed a unit: its blocks stand for the hash from now on. False where others do already."""
        if one in self.referenced or one in self.cached:
            return False
        self.referenced[one] = 1
        return True

    def release(self, hashes: Sequence[int], private: int, promise: int) -> None:
        """A sequence goes, with the units that it holds, its own blocks, and what it was promised beyond both."""
        gone = private
        for one in reversed(hashes):
            left = self.referenced[one] - 1
            if left:
                self.referenced[one] = left
            else:
                del self.referenced[one]
                self.cached[one] = None
                gone += self.unit_blocks
        self.held -= gone
        self.returned += gone
        self.promised -= promise
