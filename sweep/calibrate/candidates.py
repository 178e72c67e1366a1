"""Quantized forms of a model, from the choices of a grid: memory, KV width, measured loss, largest operating point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final

from sweep.calibrate.scores import PairedDelta
from sweep.engine.run import evaluation_of
from sweep.errors import UsageFault
from sweep.grid.faults import listed, near
from sweep.grid.model import Axis, Grid
from sweep.query.best import find_best
from sweep.query.cell import Cell, cell_at
from sweep.units import decimal_text, grouped, shown

WEIGHTS: Final = "model.weight_bytes"
WIDTH: Final = "model.kv_bytes_per_value"
_TELLING: Final = (WEIGHTS, WIDTH, "scheduler.kv_bytes_per_token")
"""An axis of choices that sets one of these is one of quantizations."""


@dataclass(frozen=True)
class Candidate:
    """One quantized form of a model.

    Attributes:
        name: as the grid or the user calls it.
        weight_bytes: of the whole model.
        kv_bytes_per_value: width of a value in the KV cache; None where not stated.
        kv_bytes_per_token: KV bytes of a token of a replica; None where no grid gives them.
        quality_delta: the measured loss of quality; None where nobody measured it.
        measured: where the delta comes from.
        scores: what a file of scores gave; None where the delta was stated.
        point: its largest operating point; None without a grid, and where nothing is feasible.
    """

    name: str
    weight_bytes: int
    kv_bytes_per_value: int | Fraction | None = None
    kv_bytes_per_token: int | None = None
    quality_delta: Fraction | None = None
    measured: str = ""
    scores: PairedDelta | None = None
    point: Cell | None = None

    def judged(self, cautious: bool) -> Fraction | None:
        """The delta that is compared with the tolerance: of scores the upper end of the interval, if so asked."""
        if cautious and self.scores is not None:
            return None if self.scores.interval is None else self.scores.interval[1]
        return self.quality_delta

    def as_json(self, cautious: bool) -> dict[str, Any]:
        """With stable keys; deltas as exact texts, `p/q` where they are no decimals."""
        width, scores = self.kv_bytes_per_value, self.scores
        judged = self.judged(cautious)
        return {
            "name": self.name,
            "weight_bytes": self.weight_bytes,
            "kv_bytes_per_value": None if width is None else str(width),
            "kv_bytes_per_token": self.kv_bytes_per_token,
            "quality_delta": None if self.quality_delta is None else exact_text(self.quality_delta),
            "measured": self.measured or None,
            "items": None if scores is None else scores.items,
            "interval": None
            if scores is None or scores.interval is None
            else [exact_text(end) for end in scores.interval],
            "judged_delta": None if judged is None else exact_text(judged),
            "point": None if self.point is None else dict(self.point.point),
            "traffic_millirps": None if self.point is None else self.point.traffic_millirps,
        }


def exact_text(number: Fraction) -> str:
    """A number as a decimal where it is one, else as `p/q`."""
    try:
        return decimal_text(number)
    except ValueError:
        return f"{number.numerator}/{number.denominator}"


def candidates_of(grid: Grid, axis_name: str | None = None) -> tuple[str, list[Candidate]]:
    """The choices of a grid as candidates, each with its largest operating point; and the name of their axis.

    Args:
        grid: the grid.
        axis_name: the axis of choices; None for the one that sets weights or KV width.

    Raises:
        UsageFault: no such axis, several that would do, or choices without weight bytes.
    """
    axis = _axis(grid, axis_name)
    position = grid.axes.index(axis)
    evaluation = evaluation_of(grid)
    found = []
    for at, choice in enumerate(axis.choices):
        index = tuple(at if one == position else 0 for one in range(len(grid.axes)))
        fields = grid.fields(index)
        weights = fields.get(WEIGHTS)
        if not isinstance(weights, int):
            raise UsageFault(
                f"axis {axis.name}: the grid has no {WEIGHTS}, so the memory of its choices is not known; add [model], "
                f"or state them with --candidate NAME=WEIGHTS."
            )
        width = fields.get(WIDTH)
        per_token = cell_at(grid, index).verdict.kv_bytes_per_token
        best = find_best(grid, evaluation, {axis.name: choice.name})
        found.append(
            Candidate(
                choice.name,
                weights,
                width if isinstance(width, int | Fraction) else None,
                per_token,
                choice.quality_delta,
                "" if choice.quality_delta is None else "quality_delta of the grid",
                None,
                best.cell,
            )
        )
    return axis.name, found


def _axis(grid: Grid, name: str | None) -> Axis:
    """The axis of quantizations."""
    choices = [axis for axis in grid.axes if axis.is_choice]
    if name is not None:
        axis = grid.axis(name)
        if not axis.is_choice:
            raise UsageFault(f"--by {name}: that axis holds numbers; name an axis of choices, [[axes.NAME]].")
        return axis
    telling = [axis for axis in choices if any(path in axis.fields for path in _TELLING)]
    if len(telling) == 1:
        return telling[0]
    names = ", ".join(axis.name for axis in telling or choices)
    if not telling:
        had = f"its axes of choices are {names}" if names else "it has no axis of choices"
        raise UsageFault(
            f"the grid has no axis that sets weights or KV width ({had}); add [[axes.precision]] or name --by."
        )
    raise UsageFault(f"the grid has several axes that set weights or KV width, {names}; name one with --by.")


def with_measurements(
    candidates: Sequence[Candidate], stated: Mapping[str, Fraction], scored: Mapping[str, PairedDelta]
) -> list[Candidate]:
    """The candidates with deltas that the user states or measured, which replace those of the grid.

    Raises:
        UsageFault: a name that is no candidate, or one that is given both ways; all at once.
    """
    names = [one.name for one in candidates]
    faults = []
    for option, given in (("--delta", stated), ("--scores", scored)):
        for name in given:
            if name not in names:
                close = near(name, names)
                hint = f", the nearest is {close}" if close else ""
                faults.append(f"{option} {name}: no candidate {shown(name)}{hint}; take one of {listed(names)}.")
    faults += [
        f"--scores {name}: its delta is stated with --delta too; give one of the two."
        for name in scored
        if name in stated
    ]
    if faults:
        raise UsageFault(faults)
    found = []
    for one in candidates:
        if one.name in stated:
            one = replace(one, quality_delta=stated[one.name], measured="--delta", scores=None)
        elif one.name in scored:
            scores = scored[one.name]
            measured = f"{scores.where}, {grouped(scores.items)} items"
            one = replace(one, quality_delta=scores.delta, measured=measured, scores=scores)
        found.append(one)
    return found
