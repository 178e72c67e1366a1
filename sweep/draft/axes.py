"""The four standing axes of a drafted grid: wide enough to inform, small enough for a run of seconds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sweep.draft.parts import Memory, Slo, Steps, Traffic
from sweep.draft.text import entry, listed, paragraphs
from sweep.grid.paths import CHUNK, SHARE, SLOTS, TRAFFIC
from sweep.records.bounds import SCHEDULER_BOUNDS
from sweep.units import grouped

MOST_CELLS: Final = 5_000_000
"""A run of so many takes one or two seconds."""

MOST_SLOT_VALUES: Final = 64
MOST_CHUNKS: Final = 7
FEWEST_CHUNKS: Final = 3
LEAST_CHUNK: Final = 128
MOST_CHUNK: Final = 8_192
"""Engines cut prompts into powers of two, by default within these."""

SCALE_VALUES: Final = 100
_SCALE_STEPS: Final = (10, 20, 50, 100, 200, 250, 500, 1_000)
"""In permille of the declared traffic; each has 1000 among its multiples."""

_MOST_SHARE: Final = 995
_SHARE_STEPS: Final = (5, 10, 15, 20, 25)
_NS: Final = 10**6


@dataclass(frozen=True)
class Axes:
    """The axes, and why they are so.

    Attributes:
        shares: in permille.
        chunks: in tokens.
        slots: batch slots.
        scales: in permille of the declared traffic.
        chunks_why, slots_why, scales_why: what ends them, clauses.
        notes: where nothing can be feasible, sentences.
    """

    shares: range
    chunks: Sequence[int]
    slots: range
    scales: range
    chunks_why: str
    slots_why: str
    scales_why: str
    notes: tuple[str, ...]

    @property
    def cells(self) -> int:
        """How many operating points they make."""
        return len(self.shares) * len(self.chunks) * len(self.slots) * len(self.scales)

    def lines(self) -> list[str]:
        """The table `[axes]`, without a break at the end."""
        counts = " * ".join(str(len(axis)) for axis in (self.shares, self.chunks, self.slots, self.scales))
        head = (
            "The axes: a list, or a range whose stop is included when it is hit. The largest point is an exact integer"
            f" of traffic, on the axis or beyond it. {counts} = {grouped(self.cells)} cells, a run of seconds.",
        )
        least = f"a chunk of {grouped(self.chunks[0])} tokens beside {grouped(self.slots[-1])} slots needs that share"
        return [
            *paragraphs(head),
            "[axes]",
            *entry(SHARE, _range(self.shares), f"from {grouped(self.shares.start)}: {least} of a step"),
            *entry(CHUNK, listed(self.chunks), self.chunks_why),
            *entry(SLOTS, _range(self.slots), self.slots_why),
            *entry(TRAFFIC, _range(self.scales), "1000 permille is the traffic above", self.scales_why),
        ]


def _range(values: range) -> str:
    if len(values) == 1:
        return listed(values)
    return f"{{ start = {values[0]:_}, stop = {values[-1]:_}, step = {values.step:_} }}"


def axes_of(memory: Memory, traffic: Traffic, steps: Steps, slo: Slo) -> Axes:
    """The axes that the figures of a grid suggest.

    Args:
        memory: its pool says how many sequences there can be.
        traffic: its typical length.
        steps: its coefficients say how long a step takes, and its range where they were measured.
        slo: no step may take longer than a token may.
    """
    tpot_ns, notes = slo.tpot_ms * _NS, []
    low, top = (1, 0) if steps.slots is None else (max(1, steps.slots[0]), max(1, steps.slots[1]))
    chunks, chunks_why = _chunks(steps, low, tpot_ns)
    if steps.step_ns(low, chunks[0]) > tpot_ns:
        shortest = -(-steps.step_ns(low, chunks[0]) // _NS)
        notes.append(
            f"The shortest step of these axes takes {grouped(shortest)} ms and a token may take {grouped(slo.tpot_ms)},"
            " so nothing is feasible: take more or faster GPUs, smaller weights, or a looser --tpot."
        )
    ends = [(_most_by_time(steps, chunks[0], tpot_ns), f"with more a step takes longer than {grouped(slo.tpot_ms)} ms")]
    typical = traffic.typical_tokens
    held = memory.kv_pool_bytes // (memory.kv_bytes_per_token * typical)
    ends.append((held, f"the KV pool holds {grouped(held)} requests of {grouped(typical)} tokens, prompt and output"))
    if held < 1:
        notes.append(
            f"The KV pool of {grouped(memory.kv_pool_bytes)} bytes holds no request of {grouped(typical)} tokens, so"
            " nothing is feasible: take more or larger GPUs, or smaller weights."
        )
    ends.append((SCHEDULER_BOUNDS[SLOTS][1], "a grid has no more"))
    if top:
        ends.append((top, f"measured up to {grouped(top)}"))
    most, why = min(ends, key=lambda end: end[0])
    slots = _slots(low, max(low, most))
    scales, scales_why = _scales(traffic, steps, chunks, slots)
    shares = _shares(chunks, slots)
    slots_why = f"to {grouped(slots[-1])}: {why}"
    return Axes(shares, chunks, slots, scales, chunks_why, slots_why, scales_why, tuple(notes))


def _most_by_time(steps: Steps, chunk: int, tpot_ns: int) -> int:
    """The most slots with which a step of a chunk takes no longer than a token may."""
    if not steps.per_sequence_ns:
        return SCHEDULER_BOUNDS[SLOTS][1]
    return (tpot_ns - steps.step_ns(0, chunk)) // steps.per_sequence_ns


def _chunks(steps: Steps, slots: int, tpot_ns: int) -> tuple[Sequence[int], str]:
    """Powers of two, as many as a step has time for, and at least a few of them."""
    low, high = (LEAST_CHUNK, MOST_CHUNK) if steps.chunk_tokens is None else steps.chunk_tokens
    powers = [2**power for power in range(24) if low <= 2**power <= min(high, SCHEDULER_BOUNDS[CHUNK][1])]
    measured = "" if steps.chunk_tokens is None else f"measured from {grouped(low)} to {grouped(high)}"
    if not powers:
        return sorted({max(1, low), max(1, high)}), measured
    fits = [chunk for chunk in powers if steps.step_ns(slots, chunk) <= tpot_ns]
    usual = [chunk for chunk in fits if chunk >= LEAST_CHUNK]
    fits = usual if len(usual) >= FEWEST_CHUNKS else fits
    chosen = fits[-MOST_CHUNKS:] if len(fits) >= FEWEST_CHUNKS else powers[:FEWEST_CHUNKS]
    if chosen[-1] < powers[-1]:
        return chosen, "a larger one makes a step longer than a token may take"
    return chosen, measured or "larger ones are rare"


def _slots(low: int, high: int) -> range:
    """At most 64 values, at multiples of a power of two; the last value where there is none."""
    step = 1
    while (high - low) // step >= MOST_SLOT_VALUES:
        step *= 2
    first, last = -(-low // step) * step, high // step * step
    return range(first, last + 1, step) if first <= last else range(high, high + 1)


def _scales(traffic: Traffic, steps: Steps, chunks: Sequence[int], slots: range) -> tuple[range, str]:
    """Around the declared traffic, and as far as any of these steps has tokens for."""
    corners = [(sequences, chunk) for sequences in (slots[0], slots[-1]) for chunk in (chunks[0], chunks[-1])]
    most = max(sum(corner) * 10**9 // max(1, steps.step_ns(*corner)) for corner in corners)
    load = sum(one.arrival_millirps * (one.prompt_tokens + one.output_tokens) for one in traffic.classes)
    bound = most * 10**6 // load  # tokens/s over 1/1000 tokens/s, in permille
    step = next((step for step in _SCALE_STEPS if step * SCALE_VALUES >= bound), _SCALE_STEPS[-1])
    return range(step, step * SCALE_VALUES + 1, step), f"{grouped(bound)} would take every token of the fastest step"


def _shares(chunks: Sequence[int], slots: range) -> range:
    """From the least share that any of these steps can do with; as fine as the number of cells allows."""
    least = chunks[0] * 1_000 // (slots[-1] + chunks[0])
    others = len(chunks) * len(slots) * SCALE_VALUES
    for step in _SHARE_STEPS:
        start = min(max(step, least // step * step), _MOST_SHARE - step)
        start += (_MOST_SHARE - start) % step
        shares = range(start, _MOST_SHARE + 1, step)
        if len(shares) * others <= MOST_CELLS:
            break
    return shares
