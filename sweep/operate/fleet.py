"""The fewest replicas that carry a stated traffic within the SLO, from the grid's own cells.

All replicas run one operating point. The audit sees the busiest one: of x arrivals (or concurrent sequences) it gets
⌈⌈x⌉/n⌉ (`grid.md`, "Traffic scale and replicas"), so n replicas may carry a little more than n times what one does,
never less: ⌈⌈n·y⌉/n⌉ = ⌈y⌉ for whole n, class by class. More replicas never raise an arrival or a concurrency, and
every figure grows with both, so what n replicas carry n + 1 carry too: the fewest are found by bisection, and the
answer is proved by two cells of the scalar reference, n within all bounds and n − 1 not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil
from typing import Final

from sweep.engine.run import evaluation_of
from sweep.errors import RefusedSize, SelfCheckFault, UsageFault
from sweep.grid.fields import FIELDS
from sweep.grid.model import Grid
from sweep.grid.paths import STANDING, TRAFFIC
from sweep.kernels.domain import SCALE_MAX_PERMILLE
from sweep.query.cell import Cell, cell_at
from sweep.query.rank import Ranked, ranked
from sweep.query.select import RATE, At, select
from sweep.reference.judge import judge
from sweep.units import grouped

REPLICAS: Final = "traffic.replicas"
SCALE: Final = STANDING[TRAFFIC]
PARALLEL: Final = "gpu.tensor_parallel"
MAX_REPLICAS: Final = FIELDS["traffic", "replicas"].upper


@dataclass(frozen=True)
class Sizing:
    """The fewest replicas of one grid that carry a traffic.

    Attributes:
        wanted_millirps: the traffic, of all classes together, 1/1000 requests per second.
        scale_permille: the least traffic scale that reaches it.
        imbalance: how far the busiest replica is above the mean, as a ratio; 0 is an even share.
        replicas: the fewest; None where not even 10^6 carry it.
        cell: the busiest replica's operating point, within all bounds; None without replicas. Of all configurations
            it is the one that carries the most with as many replicas, then the first in the default order.
        carried_permille: the largest traffic scale that they carry, evenly shared; 0 without replicas.
        fewer: the same of one replica fewer, with a bound broken; None for one replica. It is the configuration that
            carries the most there, so no other carries the traffic either.
        fewer_carried_permille: the largest traffic scale that one replica fewer carries; 0 where none.
    """

    wanted_millirps: int
    scale_permille: int
    imbalance: Fraction
    replicas: int | None
    cell: Cell | None
    carried_permille: int
    fewer: Cell | None
    fewer_carried_permille: int

    @property
    def gpus_per_replica(self) -> int:
        """GPUs of one replica: its tensor_parallel, 1 where the grid has none."""
        return 1 if self.cell is None else int(self.cell.fields.get(PARALLEL, 1))


def with_replicas(grid: Grid, replicas: int) -> Grid:
    """The grid with one number of replicas in all its cells; an axis of replicas is gone.

    Only `fields`, the axes and the switches of the base are read of it: it is none that a file could have.
    """
    axes = tuple(axis for axis in grid.axes if REPLICAS not in axis.fields)
    return replace(grid, base={**grid.base, REPLICAS: replicas}, axes=axes)


def find_fleet(
    grid: Grid,
    millirps: int,
    at: At | None = None,
    imbalance: Fraction = Fraction(0),
) -> Sizing:
    """The fewest replicas that carry a traffic within the SLO, over every configuration that `at` leaves.

    Args:
        grid: the grid; its own replicas, base or axis, are not looked at.
        millirps: the traffic of all classes and replicas together, 1/1000 requests per second, at least 1.
        at: axes to fix, name -> value; neither the traffic nor the replicas.
        imbalance: the busiest replica gets (1 + imbalance)/n of the traffic, at most all of it.

    Raises:
        UsageFault: an unknown axis or value, traffic or replicas among them, or choices that set the replicas.
        RefusedSize: a traffic beyond the largest scale, 10^15 ‰.
        SelfCheckFault: kernels and scalar reference disagree.
    """
    _check(grid, at, imbalance)
    search = _Search(grid, millirps, at or {}, imbalance)
    replicas = search.fewest()
    if replicas is None:
        return Sizing(millirps, search.scale, imbalance, None, None, 0, None, 0)
    found = search.largest(replicas)
    assert found is not None  # it carries the traffic
    cell = search.cell(replicas, found)
    if cell.status != "within":
        raise SelfCheckFault(f"fleet: kernels carry the traffic on {replicas} replicas, the reference does not.")
    if replicas == 1:
        return Sizing(millirps, search.scale, imbalance, 1, cell, found.scale_permille, None, 0)
    below = search.largest(replicas - 1)
    fewer = search.cell(replicas - 1, below or found)
    if fewer.status == "within":
        raise SelfCheckFault(f"fleet: the reference carries it on {replicas - 1} replicas, the kernels do not.")
    least = 0 if below is None else below.scale_permille
    return Sizing(millirps, search.scale, imbalance, replicas, cell, found.scale_permille, fewer, least)


def _check(grid: Grid, at: At | None, imbalance: Fraction) -> None:
    faults = []
    for axis in grid.axes:
        if axis.is_choice and REPLICAS in axis.fields:
            faults.append(f"axis {axis.name}: its choices set {REPLICAS}, which a fleet finds; take it out of them.")
    for name in at or {}:
        if name in (TRAFFIC, "traffic", "traffic.scale_permille", RATE):
            faults.append(f"--at {name}: a fleet is asked for a traffic already; leave it out, or change that.")
        elif name in ("replicas", REPLICAS):
            faults.append(f"--at {name}: the replicas are what a fleet finds; leave it out.")
    if not 0 <= imbalance <= MAX_REPLICAS:
        faults.append("imbalance: wanted from 0 to 10^6; 10% means that the busiest replica gets 1.1 times the mean.")
    if faults:
        raise UsageFault(faults)


class _Search:
    """The largest operating point per number of replicas, each computed once."""

    def __init__(self, grid: Grid, millirps: int, at: At, imbalance: Fraction) -> None:
        self.grid, self.at, self.imbalance = grid, at, imbalance
        text = f"{millirps // 1000}.{millirps % 1000:03}"
        scale = select(with_replicas(grid, 1), {**at, RATE: text}).scale_permille
        assert scale is not None  # the rate fixes it
        self.scale = scale
        if ceil(scale * (1 + imbalance)) > SCALE_MAX_PERMILLE:
            raise RefusedSize(f"fleet: {grouped(millirps)} millirps is beyond a traffic scale of 10^15 ‰; split it.")
        self._known: dict[int, Ranked | None] = {}

    def busiest(self, replicas: int) -> int:
        """The traffic scale that, evenly shared, gives every replica what the busiest one gets."""
        return ceil(self.scale * min(Fraction(replicas), 1 + self.imbalance))

    def largest(self, replicas: int) -> Ranked | None:
        """The configuration that carries the most on so many replicas, with its exact scale; None where none does."""
        if replicas not in self._known:
            grid = with_replicas(self.grid, replicas)
            points = ranked(grid, evaluation_of(grid), select(grid, self.at))
            self._known[replicas] = points[0] if points else None
        return self._known[replicas]

    def carries(self, replicas: int) -> bool:
        """Whether so many replicas carry the traffic."""
        point = self.largest(replicas)
        return point is not None and point.scale_permille >= self.busiest(replicas)

    def cell(self, replicas: int, point: Ranked) -> Cell:
        """The point at the traffic, by the reference."""
        return cell_at(with_replicas(self.grid, replicas), point.index, self.busiest(replicas))

    def fewest(self) -> int | None:
        """The fewest that carry it. What one replica carries, times n, is carried by n, so few are looked at."""
        if self.carries(1):
            return 1
        one = self.largest(1)
        whole = ceil(self.scale * (1 + self.imbalance))
        enough = MAX_REPLICAS if one is None else min(-(-whole // one.scale_permille), MAX_REPLICAS)
        if not self.carries(enough):
            return None
        while True:  # one configuration alone costs microseconds; mostly no other carries it on one replica fewer
            enough = self._fewest_of(enough)
            if enough == 1 or not self.carries(enough - 1):
                return enough
            enough -= 1

    def _fewest_of(self, enough: int) -> int:
        """The fewest replicas of the configuration that carries the most on `enough` of them, by the reference."""
        point = self.largest(enough)
        assert point is not None  # it carries the traffic
        fields = self.cell(enough, point).fields
        low = 0
        while enough - low > 1:
            middle = (low + enough) // 2
            cell = {**fields, REPLICAS: middle, SCALE: self.busiest(middle)}
            low, enough = (middle, enough) if judge(cell, self.grid.class_ids).violations else (low, middle)
        return enough


def scale_for(arrivals_millirps: Sequence[int], millirps: int) -> int:
    """The least traffic scale at which classes of these declared arrivals together reach a rate, at least 1 ‰.

    Args:
        arrivals_millirps: declared, per class.
        millirps: the rate, 1/1000 requests per second.

    >>> scale_for([4_000, 500], 9_000), scale_for([1, 1], 3)
    (2000, 1001)
    """
    low, high = 0, max(1, -(-millirps * 1000 // sum(arrivals_millirps)))
    while high - low > 1:
        middle = (low + high) // 2
        reached = sum(-(-arrival * middle // 1000) for arrival in arrivals_millirps) >= millirps
        low, high = (low, middle) if reached else (middle, high)
    return high


def declared_arrivals(fields: Mapping[str, object], class_ids: Sequence[str]) -> list[int]:
    """The declared arrivals of a cell's classes, 1/1000 requests per second."""
    return [int(str(fields[f"class.{class_id}.arrival_millirps"])) for class_id in class_ids]
