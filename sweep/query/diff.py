"""Two results against each other: what became feasible or infeasible, the largest point, the capacity, the fields."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sweep.grid.paths import TRAFFIC
from sweep.query.changes import FieldChange, field_changes
from sweep.query.common import CommonSide, Side, common_part
from sweep.query.matched import CapacityStep, Flipped, Point, Walk
from sweep.query.rank import Ranked, ranked
from sweep.query.select import At
from sweep.records.wording import CLAIM


@dataclass(frozen=True)
class CapacityChange:
    """The capacity of the matched configurations; ties for the largest step fall to the default order."""

    grew: int
    shrank: int
    stayed: int
    largest_gain: CapacityStep | None
    largest_loss: CapacityStep | None

    def as_json(self) -> dict[str, Any]:
        """With stable keys."""
        gain, loss = (None if s is None else s.as_json() for s in (self.largest_gain, self.largest_loss))
        counts = {"grew": self.grew, "shrank": self.shrank, "stayed": self.stayed}
        return {**counts, "largest_gain": gain, "largest_loss": loss}


@dataclass(frozen=True)
class BestChange:
    """Largest points with their exact traffic scale; None where nothing is feasible."""

    old: Point | None
    new: Point | None
    common_old: Point | None
    """The old result's largest point on the common part, among configurations at any traffic scale."""
    common_new: Point | None

    def as_json(self) -> dict[str, Any]:
        """With stable keys."""
        return {name: None if point is None else dict(point) for name, point in vars(self).items()}


@dataclass(frozen=True)
class DiffAnswer:
    """The answer of `diff`."""

    became_feasible: Flipped
    became_infeasible: Flipped
    rejected_to_invalid: int
    invalid_to_rejected: int
    best: BestChange
    capacity: CapacityChange
    fields: tuple[FieldChange, ...]
    cells: int
    """Cells of the common part."""
    configurations: int
    feasible_old: int
    """How many of the common cells are feasible in the old result."""
    feasible_new: int
    only_old: Point
    """Axes that only the old result has, at their one value."""
    only_new: Point

    @property
    def changed(self) -> bool:
        """Whether anything that `diff` compares is different."""
        moved = self.capacity.grew or self.capacity.shrank or self.rejected_to_invalid or self.invalid_to_rejected
        flipped = self.became_feasible.count or self.became_infeasible.count
        return bool(moved or flipped or self.fields or self.best.old != self.best.new)

    @property
    def best_shrank(self) -> bool:
        """Whether the largest point of the common part carries less traffic, or is gone."""
        before, after = (p and p[TRAFFIC] for p in (self.best.common_old, self.best.common_new))
        return int(after or 0) < int(before or 0)

    @property
    def regression(self) -> bool:
        """Whether a cell became infeasible, or the largest point of the common part shrank."""
        return self.became_infeasible.count > 0 or self.best_shrank

    def as_json(self) -> dict[str, Any]:
        """With stable keys."""
        return {
            "became_feasible": self.became_feasible.as_json(),
            "became_infeasible": self.became_infeasible.as_json(),
            "rejected_to_invalid": self.rejected_to_invalid,
            "invalid_to_rejected": self.invalid_to_rejected,
            "best": self.best.as_json(),
            "capacity": self.capacity.as_json(),
            "fields": [change.as_json() for change in self.fields],
            "common": {
                "cells": self.cells,
                "configurations": self.configurations,
                "feasible_old": self.feasible_old,
                "feasible_new": self.feasible_new,
                "only_old": dict(self.only_old),
                "only_new": dict(self.only_new),
            },
            "regression": self.regression,
            "claim": CLAIM,
        }


def find_diff(old: Side, new: Side, at: At | None = None) -> DiffAnswer:
    """What changed from one result to another, on the cells that both have.

    A configuration is feasible at a scale exactly up to its capacity, so cells are counted on the traffic axis by
    searching capacities, and none is made. The same holds for validity: what makes a cell invalid either does not
    depend on traffic or begins at one scale and stays.

    Args:
        old: the one.
        new: the other; its grid's order is the order of the answer.
        at: axes to fix; see `common_part`.

    Raises:
        UsageFault, RefusedSize: as `common_part` and `best`.
    """
    mine, theirs = common_part(old, new, at)
    walk = Walk(mine, theirs)
    walk.run()
    gain, loss = (walk.step_at(found) for found in (walk.gain, walk.loss))
    return DiffAnswer(
        became_feasible=walk.flipped(walk.became_feasible, walk.risen, rising=True),
        became_infeasible=walk.flipped(walk.became_infeasible, walk.fallen, rising=False),
        rejected_to_invalid=walk.rejected_to_invalid,
        invalid_to_rejected=walk.invalid_to_rejected,
        best=BestChange(
            _best(mine), _best(theirs), *(_point(side, best) for side, best in ((mine, walk.old), (theirs, walk.new)))
        ),
        capacity=CapacityChange(walk.grew, walk.shrank, walk.configurations - walk.grew - walk.shrank, gain, loss),
        fields=field_changes(old.grid, new.grid),
        cells=theirs.grid.cells,
        configurations=walk.configurations,
        feasible_old=walk.feasible_old,
        feasible_new=walk.feasible_new,
        only_old=mine.fixed,
        only_new=theirs.fixed,
    )


def _best(part: CommonSide) -> Point | None:
    """The largest point of a side's own grid, or of what `at` leaves of it."""
    found = ranked(part.side.grid, part.side.evaluation, part.selection)
    if not found:
        return None
    point = {axis.name: axis.label(i) for axis, i in zip(part.side.grid.axes, found[0].index, strict=True)}
    return point | {part.side.grid.axes[-1].name: found[0].scale_permille}


def _point(part: CommonSide, found: list[Ranked]) -> Point | None:
    return part.point(found[0].index, found[0].scale_permille) if found else None
