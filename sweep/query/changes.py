"""What differs between two grids, field by field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sweep.grid.fields import Value
from sweep.grid.model import Axis, Choice, Grid
from sweep.units import decimal_text


@dataclass(frozen=True)
class FieldChange:
    """A field of the grid, or a part of an axis, that is not the same in both."""

    path: str
    """The field's full path; `class` for the list of classes, `axes` for the order of axes, the name of a choice
    axis for its list of choices."""
    old: Any
    """An integer, a text, a truth value, a list of names, the values of an axis (`{"values": […]}` or
    `{"start", "stop", "step"}`), or None where the field is not given."""
    new: Any
    choice: str | None = None
    """`axis=choice` where the field is what this choice sets."""

    def as_json(self) -> dict[str, Any]:
        """With stable keys; `choice` only where there is one."""
        found = {"path": self.path, "old": self.old, "new": self.new}
        return found if self.choice is None else {"path": self.path, "choice": self.choice, **found}


def field_changes(old: Grid, new: Grid) -> tuple[FieldChange, ...]:
    """Every field, axis and choice that differs between two grids after overrides, with units resolved.

    A field that an axis sets has the axis' values in place of its base's, which no cell reads; an axis of one value is
    that value, listed or not.
    """
    mine, theirs = _fields(old), _fields(new)
    found = [
        FieldChange(path, mine.get(path), theirs.get(path))
        for path in dict.fromkeys([*mine, *theirs])
        if mine.get(path) != theirs.get(path)
    ]
    return (*found, *_choice_changes(old, new), *_order_change(old, new))


def _fields(grid: Grid) -> dict[str, Any]:
    found: dict[str, Any] = {"sweep.name": grid.name, "class": list(grid.class_ids)}
    found |= {path: _plain(value) for path, value in grid.base.items()}
    return found | {axis.path: _values(axis) for axis in grid.axes if not axis.is_choice}


def _values(axis: Axis) -> Any:
    values = axis.values
    if len(values) == 1:
        return values[0]
    if isinstance(values, range):
        return {"start": values[0], "stop": values[-1], "step": values.step}
    return {"values": list(values)}


def _plain(value: Value) -> int | str | bool:
    return f"{value.numerator}/{value.denominator}" if isinstance(value, Fraction) else value


def _choice_changes(old: Grid, new: Grid) -> list[FieldChange]:
    """Choices that only one grid has, then what a choice of both sets otherwise."""
    mine, theirs = _choices(old), _choices(new)
    found = []
    for axis in dict.fromkeys([*mine, *theirs]):
        before, after = mine.get(axis, {}), theirs.get(axis, {})
        if list(before) != list(after):
            found.append(FieldChange(axis, list(before) or None, list(after) or None))
        for name in (name for name in before if name in after):
            paths = dict.fromkeys([*before[name], *after[name]])
            found += [
                FieldChange(path, before[name].get(path), after[name].get(path), f"{axis}={name}")
                for path in paths
                if before[name].get(path) != after[name].get(path)
            ]
    return found


def _choices(grid: Grid) -> dict[str, dict[str, Mapping[str, Any]]]:
    """Choice axis -> choice -> field -> value."""
    return {
        axis.name: {choice.name: _of_choice(choice) for choice in axis.choices} for axis in grid.axes if axis.is_choice
    }


def _of_choice(choice: Choice) -> dict[str, Any]:
    found: dict[str, Any] = {path: _plain(value) for path, value in choice.sets.items()}
    if choice.quality_delta is not None:
        found["quality_delta"] = decimal_text(choice.quality_delta)
    return found


def _order_change(old: Grid, new: Grid) -> list[FieldChange]:
    """The order of the axes that both have, which ranks points that are equal otherwise."""
    names = [[axis.name for axis in grid.axes] for grid in (old, new)]
    both = [[name for name in names[i] if name in names[1 - i]] for i in (0, 1)]
    return [] if both[0] == both[1] else [FieldChange("axes", both[0], both[1])]
