"""Where nothing is feasible: what stands in the way, counted at the lowest traffic of the selection.

More traffic never makes a configuration feasible, so what blocks all of them at the lowest scale blocks them at every
other one too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sweep.engine.evaluate import Evaluation, narrowed
from sweep.engine.opening import Array
from sweep.engine.tally import Tally, histogram
from sweep.engine.verdict import INVALID, reason_array, reported_rules
from sweep.grid.model import Grid
from sweep.kernels import domain
from sweep.kernels.nodes import BOUND_OF_BIT, FIGURE_OF_BIT
from sweep.query.advice import invalid_inequality
from sweep.query.cell import Cell, cell_at
from sweep.query.nearest import mask_of
from sweep.query.rank import ranked
from sweep.query.select import Selection, configurations_at, free_traffic
from sweep.records.codes import INVALID_REASONS, VIOLATION_CODES

_KV = 9


@dataclass(frozen=True)
class Obstacle:
    """One violation over all configurations of a selection at one traffic scale."""

    violation: str
    bound: str | None
    """The field of the bound; None for `admission-control-disabled`."""
    hit: int
    """Configurations that it hits."""
    alone: int
    """Configurations that nothing else blocks."""
    least: int | None
    """The smallest figure of a valid configuration: no lower bound admits any. None where no configuration is valid."""
    loosest: int | None
    """The largest value of the bound in a valid configuration."""

    def as_json(self) -> dict[str, Any]:
        """With stable keys."""
        return {
            "violation": self.violation,
            "bound": self.bound,
            "hit": self.hit,
            "alone": self.alone,
            "least_figure": self.least,
            "largest_bound": self.loosest,
        }


@dataclass(frozen=True)
class Obstacles:
    """Why a selection has no feasible operating point."""

    scale_permille: int
    """The lowest traffic scale of the selection, at which everything here is counted."""
    configurations: int
    invalid_reasons: Mapping[str, int]
    """Per invalid reason the configurations that have it, the commonest first."""
    nearest_invalid: Cell | None
    """Where every configuration is invalid: of those with the commonest reason the one that is the least short."""
    inequality: str | None
    """What a configuration must satisfy not to be invalid for the commonest reason, where there is a short text."""
    within: int
    """Configurations that are feasible at that scale: none."""
    violations: tuple[Obstacle, ...]
    """Those that hit a configuration, in the order of their bits."""
    carried: Cell | None
    """Where the traffic was fixed, or to be one of its axis' own values: the largest point that the selection has at
    any other traffic."""

    @property
    def all_invalid(self) -> bool:
        """Whether no configuration has a verdict."""
        return sum(self.invalid_reasons.values()) == self.configurations

    def as_json(self) -> dict[str, Any]:
        """With stable keys."""
        nearest = self.nearest_invalid
        return {
            "traffic_scale_permille": self.scale_permille,
            "configurations": self.configurations,
            "invalid_reasons": dict(self.invalid_reasons),
            "nearest_invalid": None if nearest is None else dict(nearest.point),
            "within": self.within,
            "violations": [obstacle.as_json() for obstacle in self.violations],
            "carried": None if self.carried is None else dict(self.carried.point),
        }


def obstacles(grid: Grid, ev: Evaluation, selection: Selection) -> Obstacles:
    """What blocks the configurations of a selection without a feasible operating point."""
    scale = selection.lowest_scale(grid)
    tally = Tally()
    reasons = np.zeros(len(INVALID_REASONS), dtype=np.int64)
    least: dict[int, int] = {}
    loosest: dict[int, int] = {}
    for point, _ in configurations_at(ev, selection, scale):
        mask = mask_of(grid, point)
        tally.add(histogram(mask))
        codes = np.broadcast_to(reason_array(point, reported_rules(point)), point.lengths)
        reasons += np.bincount(codes.reshape(-1), minlength=len(INVALID_REASONS))
        valid = mask != INVALID
        if valid.any():
            _extremes(point, valid, least, loosest)
    hits, alone = tally.hits(), tally.alone()
    found = tuple(
        Obstacle(code, _bound_name(bit), hits[code], alone[code], least.get(bit), loosest.get(bit))
        for bit, code in enumerate(VIOLATION_CODES)
        if hits[code]
    )
    order = sorted(range(1, len(INVALID_REASONS)), key=lambda reason: -reasons[reason])
    counts = {INVALID_REASONS[reason]: int(reasons[reason]) for reason in order if reasons[reason]}
    nearest = _least_short(grid, ev, selection, scale, order[0]) if tally.invalid == tally.total else None
    return Obstacles(
        scale_permille=scale,
        configurations=tally.total,
        invalid_reasons=counts,
        nearest_invalid=nearest,
        inequality=invalid_inequality(grid, next(iter(counts))) if counts else None,
        within=tally.within,
        violations=found,
        carried=_carried(grid, ev, selection),
    )


def _bound_name(bit: int) -> str | None:
    path = BOUND_OF_BIT[bit]
    return None if path is None else path.rpartition(".")[2]


def _extremes(point: Evaluation, valid: Array, least: dict[int, int], loosest: dict[int, int]) -> None:
    """Lower each bit's smallest figure and raise its largest bound by the valid configurations of a block."""
    for bit in range(1, len(BOUND_OF_BIT)):
        figure = narrowed(point.get(str(FIGURE_OF_BIT[bit])))
        bound = narrowed(point.get("bound_max_kv_bytes" if bit == _KV else str(BOUND_OF_BIT[bit])))
        smallest = int(np.broadcast_to(figure, valid.shape)[valid].min())
        largest = int(np.broadcast_to(bound, valid.shape)[valid].max())
        least[bit] = min(least.get(bit, smallest), smallest)
        loosest[bit] = max(loosest.get(bit, largest), largest)


def _least_short(grid: Grid, ev: Evaluation, selection: Selection, scale: int, reason: int) -> Cell:
    """The configuration that is invalid for a reason by the least, the first of equal ones."""
    best: tuple[int, tuple[int, ...]] | None = None
    for point, offset in configurations_at(ev, selection, scale):
        codes = np.broadcast_to(reason_array(point, reported_rules(point)), point.lengths)
        places = np.flatnonzero(codes == reason)
        if not places.size:
            continue
        short = np.broadcast_to(_shortage(point, reason), point.lengths).reshape(-1)[places]
        at = int(short.argmin())
        place = np.unravel_index(places[at], point.lengths)
        index = tuple(int(i) + start for i, start in zip(place, offset, strict=True))
        if best is None or int(short[at]) < best[0]:
            best = int(short[at]), (*index[:-1], 0)
    assert best is not None  # the caller has counted such a configuration
    return cell_at(grid, best[1], scale)


def _shortage(point: Evaluation, reason: int) -> Array:
    """How far a figure is from its range, per configuration; what it is and its unit depend on the reason."""
    outside = {
        2: ("bound_max_kv_bytes", domain.KV_BYTES),
        3: ("token_capacity_per_second", domain.CAPACITY),
        4: ("iteration_time_ms", domain.ITERATION_MS),
        5: ("kv_bytes_per_token", domain.KV_BYTES_PER_TOKEN),
    }
    if reason == 1:
        return np.asarray(1 - narrowed(point.get("bound_max_kv_bytes")))
    if reason == 6:
        return np.asarray(1 - point.get("service_tokens"))
    if reason == 7:
        return np.asarray(point.get("scheduler.max_prefill_chunk_tokens") - point.get("service_tokens"))
    if reason in outside:
        name, (lower, upper) = outside[reason]
        value = point.get(name).astype(object)
        return np.asarray(np.maximum(lower - value, value - upper))
    of_class, upper = (".arrival", domain.ARRIVAL_MILLIRPS[1]) if reason == 8 else (".peak", domain.PEAK_CONCURRENCY[1])
    largest = np.array(0, dtype=object)
    for name in point.graph:
        if name.startswith("class.") and name.endswith(of_class):
            largest = np.maximum(largest, point.get(name).astype(object))
    return np.asarray(largest - upper)


def _carried(grid: Grid, ev: Evaluation, selection: Selection) -> Cell | None:
    """The largest point of a selection whose traffic is set free."""
    if selection.scale_permille is None:
        return None
    found = ranked(grid, ev, free_traffic(grid, selection))
    return cell_at(grid, found[0].index, found[0].scale_permille) if found else None
