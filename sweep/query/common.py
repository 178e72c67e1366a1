"""The common part of two grids: cells with the same coordinates, as two grids of one shape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import gcd, lcm

from sweep.engine.evaluate import Evaluation
from sweep.engine.plan import MAX_CONFIGURATIONS
from sweep.engine.run import evaluation_of
from sweep.errors import RefusedSize, UsageFault
from sweep.grid.fields import Value
from sweep.grid.model import Axis, Choice, Grid
from sweep.query.select import RATE, At, Selection, select
from sweep.units import grouped

Key = tuple[bool, str]
"""What makes two axes one: choices match by the axis' name, integers by the field's full path."""


@dataclass(frozen=True)
class Side:
    """One of two results."""

    label: str
    """What messages call it: its file."""
    grid: Grid
    evaluation: Evaluation


@dataclass(frozen=True)
class CommonSide:
    """A side's share of the common part: a grid whose axes are those of both, in the order of the new grid."""

    side: Side
    grid: Grid
    """The common cells; the values of an axis that only this side has are in its base."""
    evaluation: Evaluation
    selection: Selection
    """What `at` leaves of the side's own grid."""
    fixed: Mapping[str, int | str]
    """The axes that only this side has, each at its one value."""

    def point(self, index: Sequence[int], scale_permille: int) -> dict[str, int | str]:
        """A point of the common part with every axis of the side's own grid, in its order."""
        found = {axis.name: axis.label(i) for axis, i in zip(self.grid.axes, index, strict=True)}
        found |= {**self.fixed, self.grid.axes[-1].name: scale_permille}
        return {axis.name: found[axis.name] for axis in self.side.grid.axes}


def common_part(old: Side, new: Side, at: At | None = None) -> tuple[CommonSide, CommonSide]:
    """The cells that both grids have, matched by coordinate on every axis.

    Args:
        old: one result.
        new: the other; the axes come in its order.
        at: axes to fix, name -> value, each on whichever side has it; the traffic scale may be off both axes.

    Raises:
        UsageFault: an unknown axis or value, an axis without a common value, or an axis of one side only that has
            several values; all faults at once.
        RefusedSize: too many common configurations.
    """
    chosen_old, chosen_new = _selections(old, new, at)
    mine, theirs = _cut(old.grid, chosen_old), _cut(new.grid, chosen_new)
    faults: list[str] = []
    pairs = {key: _intersection(mine[key], theirs[key]) for key in theirs if key in mine}
    for key, (kept, _) in pairs.items():
        if not len(kept):
            faults.append(_disjoint(old, mine[key], new, theirs[key]))
    for side, axes, others in ((old, mine, theirs), (new, theirs, mine)):
        faults += [_one_sided(side, axis) for key, axis in axes.items() if key not in others and len(axis) > 1]
    if faults:
        raise UsageFault(faults)
    parts = (
        _common_side(old, chosen_old, mine, [kept for kept, _ in pairs.values()]),
        _common_side(new, chosen_new, theirs, [kept for _, kept in pairs.values()]),
    )
    if parts[1].grid.configurations > MAX_CONFIGURATIONS:
        raise RefusedSize(
            f"the common part spans {grouped(parts[1].grid.configurations)} configurations, more than the "
            f"{grouped(MAX_CONFIGURATIONS)} that a question walks; fix an axis with --at or thin one out."
        )
    return parts


def _key(axis: Axis) -> Key:
    return axis.is_choice, axis.path


def _selections(old: Side, new: Side, at: At | None) -> tuple[Selection, Selection]:
    """What `at` leaves on each side; an axis is fixed where it is."""
    given: dict[str, dict[str, int | str]] = {"old": {}, "new": {}}
    faults: list[str] = []
    for name, label in (at or {}).items():
        axes = {which: _found(side.grid, name) for which, side in (("old", old), ("new", new))}
        found = {which: axis for which, axis in axes.items() if axis is not None}
        if not found:
            faults.append(f"--at {name}={label}: {new.grid.no_axis(name)}")
        elif len({_key(axis) for axis in found.values()}) > 1:
            paths = " and ".join(axis.path for axis in found.values())
            faults.append(f"--at {name}={label}: means {paths}, one on each side; write the full path.")
        for which in found:
            given[which][name] = label
    selections = []
    for which, side in (("old", old), ("new", new)):
        try:
            selections.append(select(side.grid, given[which]))
        except UsageFault as fault:
            faults += [f"{side.label}: {sentence}" for sentence in fault.faults]
    if faults:
        raise UsageFault(dict.fromkeys(faults))
    return selections[0], selections[1]


def _found(grid: Grid, name: str) -> Axis | None:
    try:
        return grid.axes[-1] if name == RATE and RATE not in [axis.name for axis in grid.axes] else grid.axis(name)
    except UsageFault:
        return None


def _cut(grid: Grid, selection: Selection) -> dict[Key, Axis]:
    """The axes with the values that a selection leaves; a traffic scale off its axis becomes its only value."""
    axes = {}
    for axis, part in zip(grid.axes, selection.region, strict=True):
        if part.stop - part.start < len(axis):
            axis = replace(axis, choices=axis.choices[part], values=axis.values[part])
        axes[_key(axis)] = axis
    if selection.scale_permille is not None:
        axes[_key(grid.axes[-1])] = replace(grid.axes[-1], values=(selection.scale_permille,))
    return axes


def _intersection(old: Axis, new: Axis) -> tuple[Axis, Axis]:
    """Both axes with the labels that both have, in the new one's order; an axis that keeps all stays itself."""
    if new.is_choice:
        mine = {choice.name: choice for choice in old.choices}
        both = [(mine[choice.name], choice) for choice in new.choices if choice.name in mine]
        return _with_choices(old, [one for one, _ in both]), _with_choices(new, [one for _, one in both])
    values = common_values(old.values, new.values)
    kept = [axis if values == axis.values else replace(axis, values=values) for axis in (old, new)]
    return kept[0], kept[1]


def _with_choices(axis: Axis, choices: Sequence[Choice]) -> Axis:
    return axis if axis.choices == tuple(choices) else replace(axis, choices=tuple(choices))


def common_values(old: Sequence[int], new: Sequence[int]) -> tuple[int, ...] | range:
    """What two strictly increasing sequences share; of two ranges again a range, without walking them.

    x = a + i·s = b + j·t needs g = gcd(s, t) | b − a, and then i ≡ (b − a)/g · (s/g)^(−1) (mod t/g): the smallest
    such i ≥ 0 gives the first member of both progressions from a on; from there every lcm(s, t) is one.
    """
    if not isinstance(old, range) or not isinstance(new, range):
        few, many = (old, new) if isinstance(new, range) else (new, old)
        known = many if isinstance(many, range) else frozenset(many)
        return tuple(value for value in few if value in known)
    g = gcd(old.step, new.step)
    if (new.start - old.start) % g:
        return range(0)
    turn = new.step // g
    i = (new.start - old.start) // g * pow(old.step // g, -1, turn) % turn
    step = lcm(old.step, new.step)
    first = old.start + i * old.step
    first += max(0, -((first - max(old.start, new.start)) // step)) * step
    return range(first, min(old[-1], new[-1]) + 1, step)


def _disjoint(old: Side, mine: Axis, new: Side, theirs: Axis) -> str:
    advice = "run one of them again with values of the other"
    if _key(mine) == _key(old.grid.axes[-1]):
        advice = f"fix it with --at {mine.name}=…, on its axis or not"
    spans = f"{old.label} has {_span(mine)}, {new.label} has {_span(theirs)}"
    return f"axis {mine.name}: no common value, {spans}; {advice}."


def _span(axis: Axis) -> str:
    if axis.is_choice:
        return ", ".join(choice.name for choice in axis.choices[:4]) + (", …" if len(axis) > 4 else "")
    first, last = grouped(axis.values[0]), grouped(axis.values[-1])
    return first if len(axis) == 1 else f"{first} to {last} ({grouped(len(axis))} values)"


def _one_sided(side: Side, axis: Axis) -> str:
    return (
        f"axis {axis.name}: only {side.label} has it, with {grouped(len(axis))} values, and a cell must have one "
        f"counterpart; fix it with --at {axis.name}={axis.label(0)} or another of its values."
    )


def _common_side(side: Side, selection: Selection, axes: Mapping[Key, Axis], kept: Sequence[Axis]) -> CommonSide:
    matched = {_key(axis) for axis in kept}
    alone = [axis for key, axis in axes.items() if key not in matched]
    fixed: dict[str, Value] = {}
    for axis in alone:
        fixed |= axis.setting(0)
    if not alone and all(mine is own for mine, own in zip(kept, side.grid.axes, strict=False)):
        grid, evaluation = side.grid, side.evaluation
    else:
        # Only `fields`, `axes` and the switches of the base are read of this grid: it is none that a file could have.
        grid = replace(side.grid, base={**side.grid.base, **fixed}, axes=tuple(kept))
        evaluation = evaluation_of(grid)
    return CommonSide(side, grid, evaluation, selection, {axis.name: axis.label(0) for axis in alone})
