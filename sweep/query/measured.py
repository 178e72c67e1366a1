"""Where a grid leaves the range in which its step time was measured."""

from __future__ import annotations

from sweep.grid.fields import span_ends
from sweep.grid.model import Grid
from sweep.grid.paths import CHUNK, SLOTS
from sweep.units import grouped

RANGES = {SLOTS: "step_time.measured_slots", CHUNK: "step_time.measured_chunk_tokens"}
"""Axis -> the field that says in which range of it the coefficients of `[step_time]` were measured."""

_UNIT = {SLOTS: "batch slots", CHUNK: "tokens"}


def beyond_measured(grid: Grid) -> list[str]:
    """One clause per axis that leaves the measured range of `[step_time]`; none where no range is stated."""
    found = []
    for name, path in RANGES.items():
        if path not in grid.base:
            continue
        low, high = span_ends(str(grid.base[path]))
        values = grid.axis(name).values
        outside = [
            grouped(value) for value, out in ((values[0], values[0] < low), (values[-1], values[-1] > high)) if out
        ]
        if outside:
            reaches = " and ".join(dict.fromkeys(outside))
            found.append(
                f"{name} reaches {reaches}, outside the {grouped(low)} to {grouped(high)} {_UNIT[name]} in which "
                f"[step_time] was measured; its step times there are extrapolated, measure them or narrow the axis"
            )
    return found
