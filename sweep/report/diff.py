"""What changed from one result to another."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

from sweep.grid.paths import TRAFFIC
from sweep.query.changes import FieldChange
from sweep.query.diff import DiffAnswer
from sweep.query.matched import CapacityStep, Flipped, Point
from sweep.records.wording import CLAIM as CLAIM_CODE
from sweep.report.blocks import CLAIM, Paragraph, Section, Table, table
from sweep.report.words import (
    coordinates,
    counted,
    label,
    listed,
    permille_as_factor,
    safe,
    sentence,
    short_name,
    signed,
)
from sweep.units import grouped

_VALUES_SHOWN = 6
_NOT_GIVEN = "not given"


def diff_page(old: str, new: str, answer: DiffAnswer) -> list[Section]:
    """The page of `diff`.

    Args:
        old: what to call the one result.
        new: what to call the other.
        answer: the answer.
    """
    page = [Section(f"{safe(old)} to {safe(new)}", tuple(_head(old, new, answer)))]
    if answer.fields:
        page.append(Section("What changed in the grid", (_fields(answer.fields),)))
    page += _best(answer)
    if answer.capacity.grew or answer.capacity.shrank:
        page.append(Section("Capacity: the exact largest feasible traffic scale", tuple(_capacity(answer))))
    for flipped, what, why in (
        (answer.became_infeasible, "became infeasible", "stopped by"),
        (answer.became_feasible, "became feasible", "was stopped by"),
    ):
        if flipped.count:
            page.append(_flipped(flipped, what, why))
    return [*page, CLAIM]


def diff_csv(answer: DiffAnswer, axes: Sequence[str]) -> str:
    """The cells that changed as CSV: a head, then one line per listed cell with its axes and what stops it.

    Args:
        answer: the answer; where no cell changed only the head is left.
        axes: the names of the new grid's axes, in its order.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["change", *axes, "stopped_by", "claim"])
    for change, flipped in (
        ("became_feasible", answer.became_feasible),
        ("became_infeasible", answer.became_infeasible),
    ):
        for cell, codes in zip(flipped.cells, flipped.stopped_by, strict=True):
            writer.writerow([change, *(cell[axis] for axis in axes), " ".join(codes), CLAIM_CODE])
    return text.getvalue()


def regression_sentences(old: str, new: str, answer: DiffAnswer) -> list[str]:
    """Why an answer is a regression, one sentence for each reason."""
    found = []
    if answer.became_infeasible.count:
        first = coordinates(answer.became_infeasible.cells[0])
        found.append(
            f"{new}: {counted(answer.became_infeasible.count, 'cell')} feasible in {old} became infeasible, the first "
            f"at {first}; --fail-on-regression makes this a failure."
        )
    if answer.best_shrank:
        before, after = (_scale(p) for p in (answer.best.common_old, answer.best.common_new))
        found.append(
            f"{new}: the largest point of the common part shrank, {TRAFFIC} from {grouped(before)} to "
            f"{grouped(after) if after else 'nothing feasible'}; --fail-on-regression makes this a failure."
        )
    return found


def _head(old: str, new: str, answer: DiffAnswer) -> list[Paragraph]:
    lost, won = answer.became_infeasible.count, answer.became_feasible.count
    compared = f"{counted(answer.cells, 'cell')} in {counted(answer.configurations, 'configuration')} on both sides"
    feasible = f"feasible {grouped(answer.feasible_old)} before, {grouped(answer.feasible_new)} now"
    if answer.changed:
        text = f"{compared}: {grouped(won)} became feasible, {grouped(lost)} became infeasible ({feasible})."
        blocks = [Paragraph(text, "bad" if answer.regression else "good")]
    else:
        blocks = [Paragraph(f"Nothing changed: {compared}, {feasible}.", "good")]
    for name, fixed in ((old, answer.only_old), (new, answer.only_new)):
        if fixed:
            blocks.append(Paragraph(f"Axes that only {safe(name)} has: {coordinates(fixed)}."))
    for cells, text in (
        (answer.rejected_to_invalid, "rejected became invalid"),
        (answer.invalid_to_rejected, "invalid became rejected"),
    ):
        if cells:
            blocks.append(Paragraph(f"{counted(cells, 'cell')} that {'was' if cells == 1 else 'were'} {text}."))
    return blocks


def _fields(changes: Sequence[FieldChange]) -> Table:
    rows = [
        (safe(f"{one.choice}: {one.path}" if one.choice else one.path), _value(one.old), _value(one.new))
        for one in changes
    ]
    return table(("field", "old", "new"), rows)


def _value(value: Any) -> str:
    """A field's value in words: an axis by its ends, a list by its first entries."""
    match value:
        case None:
            return _NOT_GIVEN
        case bool():
            return "true" if value else "false"
        case int() | str():
            return label(value)
        case {"values": values}:
            return listed([grouped(number) for number in values], _VALUES_SHOWN)
        case {"start": start, "stop": stop, "step": step}:
            count = counted((stop - start) // step + 1, "value")
            return f"{grouped(start)} to {grouped(stop)} by {grouped(step)} ({count})"
        case _:
            return listed([safe(name) for name in value], _VALUES_SHOWN)


def _best(answer: DiffAnswer) -> list[Section]:
    """The change of the largest point, and of that of the common part where it is another."""
    best = answer.best
    title = "Largest SLO-feasible operating point"
    sections = [_largest(title, best.old, best.new)]
    if (best.old, best.new) != (best.common_old, best.common_new):
        sections.append(_largest(f"{title} of the common part", best.common_old, best.common_new))
    return sections


def _largest(title: str, old: Point | None, new: Point | None) -> Section:
    points = (_points(old, new),) if old != new else ()
    return Section(title, (_moved(old, new), *points))


def _moved(old: Point | None, new: Point | None) -> Paragraph:
    """The change of a largest point in one sentence."""
    before, after = _scale(old), _scale(new)
    if not before and not after:
        return Paragraph("Nothing is feasible, before or now.")
    if not before:
        return Paragraph(sentence(f"{_times(after)}; before, nothing was feasible"), "good")
    if not after:
        return Paragraph(f"Nothing is feasible any more; before, {_times(before)}.", "bad")
    if before == after:
        where = "" if old == new else ", at another point"
        return Paragraph(sentence(f"{_times(after)}, as before{where}"))
    change = f"{_times(after)}, {permille_as_factor(before)} before ({signed(after - before)} permille)"
    return Paragraph(sentence(change), "good" if after > before else "bad")


def _times(scale: int) -> str:
    return "the declared traffic" if scale == 1_000 else f"{permille_as_factor(scale)} times the declared traffic"


def _scale(point: Point | None) -> int:
    return 0 if point is None else int(point[TRAFFIC])


def _points(old: Point | None, new: Point | None) -> Table:
    """Two points side by side, every axis of either."""
    axes = dict.fromkeys([TRAFFIC, *(new or {}), *(old or {})])
    rows = [(safe(axis), _at(old, axis), _at(new, axis)) for axis in axes]
    return table(("axis", "old", "new"), rows, right=(1, 2))


def _at(point: Mapping[str, int | str] | None, axis: str) -> str:
    return label(point[axis]) if point and axis in point else "-"


def _capacity(answer: DiffAnswer) -> list[Paragraph]:
    change = answer.capacity
    counts = f"{grouped(change.grew)} grew, {grouped(change.shrank)} shrank, {grouped(change.stayed)} stayed."
    blocks = [Paragraph(f"Of {counted(answer.configurations, 'configuration')} {counts}")]
    for name, step in (("gain", change.largest_gain), ("loss", change.largest_loss)):
        if step is not None:
            blocks.append(Paragraph(_step(name, step), "good" if name == "gain" else "bad"))
    return blocks


def _step(name: str, step: CapacityStep) -> str:
    by = signed(step.new_permille - step.old_permille)
    moved = f"{grouped(step.old_permille)} to {grouped(step.new_permille)}"
    return f"Largest {name}: {by}, {moved}, at {coordinates(step.configuration)}"


def _flipped(flipped: Flipped, what: str, why: str) -> Section:
    """The listed cells, with the axes on which they differ as columns and the others named once."""
    first = flipped.cells[0]
    differ = [axis for axis in first if len({cell[axis] for cell in flipped.cells}) > 1]
    same = {axis: value for axis, value in first.items() if axis not in differ}
    rows = [
        (*(label(cell[axis]) for axis in differ), ", ".join(codes))
        for cell, codes in zip(flipped.cells, flipped.stopped_by, strict=True)
    ]
    shown = "" if flipped.count == len(flipped.cells) else f"; the first {len(flipped.cells)}"
    heads = (*(short_name(axis) for axis in differ), why)
    blocks: list[Paragraph | Table] = [Paragraph(f"All at {coordinates(same)}")] if same else []
    title = f"{counted(flipped.count, 'cell')} {what}{shown}"
    return Section(title, (*blocks, table(heads, rows, right=range(len(differ)))))
