"""The certificate of `best`: what decided every configuration.

`causes` counts, for each configuration of a selection, the one thing that sets its capacity. The capacity is the least
of a few thresholds (`sweep.kernels.thresholds`), so a configuration that carries less than the best point is
eliminated by the threshold that is its least, and one that carries nothing whatever the traffic by an invalid reason
or by a bound that no traffic touches.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from sweep.engine.evaluate import Evaluation, narrowed
from sweep.engine.largest import configuration_dims
from sweep.engine.opening import Array
from sweep.engine.verdict import dims_regions, open_shape
from sweep.grid.model import Grid
from sweep.kernels.nodes import STATIC_RULES
from sweep.query.best import BestAnswer
from sweep.query.declared import is_counted
from sweep.query.select import Selection, restricted
from sweep.records.codes import INVALID_REASONS, VIOLATION_CODES

OUT_OF_RANGE = "out-of-range"
"""The cause of a configuration whose arrivals or concurrency leave their range before it breaks a bound."""

_BLOCKED_BITS = (0, 7, 8)
_LIMIT_BITS = (1, 2, 3, 4, 5, 6, 7, 9)
_INVALID, _BLOCKED, _RANGE = 16, 32, 15
"""Codes in a block: a limiting bit as it is, 15 for the range, 16 + an invalid reason, 32 + a blocking bit."""


@dataclass(frozen=True)
class Causes:
    """How many configurations each cause decides; every configuration has exactly one."""

    invalid: Mapping[str, int]
    """Invalid reason that no traffic changes -> configurations; the lowest reason counts."""
    blocked: Mapping[str, int]
    """Violation that no traffic changes -> valid configurations: admission control is off, the iteration alone is
    longer than the TPOT bound, the starvation bound; the first in bit order counts."""
    limited: Mapping[str, int]
    """What sets the capacity of the others -> configurations: a violation, or `out-of-range` where the next scale is
    invalid. Of thresholds that are equal the first in bit order counts. Total utilisation, queue delay and TTFT share
    one threshold, and so do slots and TPOT: there the least limit counts, the first in bit order of equal ones."""

    @property
    def configurations(self) -> int:
        """All of them."""
        return sum(sum(counts.values()) for counts in (self.invalid, self.blocked, self.limited))

    def as_json(self) -> dict[str, dict[str, int]]:
        """With stable keys; a cause that decides nothing is there with 0."""
        return {"invalid": dict(self.invalid), "blocked": dict(self.blocked), "limited": dict(self.limited)}


def causes(grid: Grid, ev: Evaluation, selection: Selection) -> Causes:
    """What decides each configuration of a selection, enumerated block by block; the traffic axis does not matter."""
    part = restricted(ev, selection)
    dims = configuration_dims(part)
    counts = np.zeros(_BLOCKED + len(VIOLATION_CODES), dtype=np.int64)
    for region in dims_regions(part.lengths, dims, part.tile_values):
        tile = part.tile(region)
        codes = np.full(open_shape(tile.lengths, dims), _RANGE, dtype=np.uint8)
        _set_limits(tile, codes)
        _set_blocks(tile, codes, grid.admission_control_enabled)
        counts += np.bincount(codes.reshape(-1), minlength=counts.size)
    static = range(1, len(STATIC_RULES) + 1)
    return Causes(
        invalid={INVALID_REASONS[reason]: int(counts[_INVALID + reason]) for reason in static},
        blocked={VIOLATION_CODES[bit]: int(counts[_BLOCKED + bit]) for bit in _BLOCKED_BITS},
        limited={**{VIOLATION_CODES[bit]: int(counts[bit]) for bit in _LIMIT_BITS}, OUT_OF_RANGE: int(counts[_RANGE])},
    )


def _set_limits(tile: Evaluation, codes: Array) -> None:
    """Write the limiting bit of each configuration, from the last in bit order to the first; then the range."""
    scales = {name: narrowed(tile.get(f"scale.{name}")) for name in ("total", "prefill", "decode", "sequences", "kv")}
    cap = narrowed(tile.get("scale_cap"))
    least = np.minimum.reduce(np.broadcast_arrays(*scales.values()))
    limit = {name: tile.get(f"{name}_utilization_limit") for name in ("queue", "ttft")}
    own = tile.get("contract.max_total_utilization_permille")
    by_slots = tile.get("scheduler.max_active_sequences") <= tile.get("tpot_sequences_limit")
    by_total = (own <= limit["queue"]) & (own <= limit["ttft"])
    by_queue = ~by_total & (limit["queue"] <= limit["ttft"])
    first = {name: values == least for name, values in scales.items()}
    for bit, flags in (
        (9, (first["kv"],)),
        (7, (first["sequences"], ~by_slots)),
        (6, (first["total"], ~by_total, ~by_queue)),
        (5, (first["total"], by_queue)),
        (4, (first["decode"],)),
        (3, (first["prefill"],)),
        (2, (first["total"], by_total)),
        (1, (first["sequences"], by_slots)),
    ):
        _write(codes, bit, *flags)
    # Every threshold stops at the range's own; there the next scale is invalid, whatever else it breaks.
    _write(codes, _RANGE, least == cap)


def _set_blocks(tile: Evaluation, codes: Array, admission_control: bool) -> None:
    """Write over that what no traffic changes, the first to count last."""
    _write(codes, _BLOCKED + 8, tile.get("bit.8"))
    _write(codes, _BLOCKED + 7, tile.get("iteration_over_tpot"))
    if not admission_control:
        codes.fill(_BLOCKED)
    for reason in range(len(STATIC_RULES), 0, -1):
        if f"reason.{reason}" in tile.graph:
            _write(codes, _INVALID + reason, tile.get(f"reason.{reason}"))


def _write(codes: Array, code: int, *flags: Array) -> None:
    where = flags[0]
    for flag in flags[1:]:
        where = where & flag
    if where.any():
        np.copyto(codes, np.uint8(code), where=where)


def certified(grid: Grid, ev: Evaluation, answer: BestAnswer) -> BestAnswer:
    """The answer with what decided each of its configurations; as it is where they are too many to be counted."""
    if not is_counted(answer.selection):
        return answer
    return replace(answer, causes=causes(grid, ev, answer.selection).as_json())
