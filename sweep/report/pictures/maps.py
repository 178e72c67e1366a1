"""The picture of a slice over two axes: the data of `sweep region`, and the words around it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from sweep.engine.largest import CAPACITY, LIMITING
from sweep.grid.model import Axis
from sweep.grid.paths import TRAFFIC
from sweep.query.cell import Cell
from sweep.query.region import LIMIT, MASK, REASON, SLACK, VERDICT, RegionAnswer
from sweep.report.pictures.classes import CLASSED, ClassMap, class_map
from sweep.report.pictures.shades import Shades, shades
from sweep.report.pictures.titles import Title, axis_title, quantity_title
from sweep.report.words import label, listed, short_name

NO_BREAK = "\N{NO-BREAK SPACE}"
"""Keeps a name and its value on one line."""


@dataclass(frozen=True)
class Side:
    """One of the two axes of a map; every value has a row or a column of the same size."""

    title: Title
    values: Sequence[int] | Sequence[str]
    is_choice: bool


@dataclass(frozen=True)
class Mark:
    """A point on a map."""

    column: float
    """Counted in columns from the middle of the first; between two where the traffic is between two values."""
    row: float
    text: str
    filled: bool = True


@dataclass(frozen=True)
class MapScene:
    """All that a picture of a slice shows."""

    title: str
    notes: tuple[str, ...]
    """Under the title: the grid's name, where the slice is, under which bounds."""
    x: Side
    y: Side
    body: ClassMap | Shades
    scale_title: Title
    """What the numbers are; of classes empty."""
    marks: tuple[Mark, ...]
    remarks: tuple[str, ...]
    """Under the legend."""


def map_scene(
    answer: RegionAnswer,
    notes: Sequence[str] = (),
    largest: Cell | None = None,
    overall: Cell | None = None,
    feasible_apart: bool = True,
    reach: int | None = None,
) -> MapScene:
    """The picture of a slice.

    Args:
        answer: the slice.
        notes: texts from a grid file, under the title.
        largest: the largest point under the same `at`; the answer's own is at one traffic of the grid where nothing
            was open, which a map of capacities has no use for.
        overall: the largest point of the whole grid, marked where its configuration lies on the slice.
        feasible_apart: of a map of limits, whether feasible cells are told apart by what stops their next permille.
        reach: of a slack, the bound.
    """
    classed = answer.show in CLASSED
    body: ClassMap | Shades = class_map(answer, feasible_apart) if classed else shades(answer, reach)
    marks, remarks = _marks(answer, largest or answer.largest, overall)
    return MapScene(
        title=_title(answer, feasible_apart),
        notes=(*notes, *_slice(answer)),
        x=Side(axis_title(answer.x), answer.x.labels, answer.x.is_choice),
        y=Side(axis_title(answer.y), answer.y.labels, answer.y.is_choice),
        body=body,
        scale_title=Title("") if classed else _scale_title(answer),
        marks=marks,
        remarks=remarks,
    )


def _title(answer: RegionAnswer, feasible_apart: bool) -> str:
    if answer.show.startswith(SLACK):
        return f"Slack of {answer.show[len(SLACK) + 1 :]}: units left, negative over the bound"
    titles = {
        VERDICT: "Within, rejected or invalid",
        LIMIT: "What limits where: the first bound broken, or that stops the next permille"
        if feasible_apart
        else "The feasible region, and the bound that limits it",
        MASK: "The first bound that each point breaks",
        REASON: "Where and why points are invalid",
        LIMITING: "What limits the traffic of each configuration",
        "capacity": "Largest feasible traffic of each configuration",
        CAPACITY: "Largest feasible traffic of each configuration",
    }
    return titles.get(answer.show) or answer.show


def _scale_title(answer: RegionAnswer) -> Title:
    if answer.show in ("capacity", CAPACITY):
        return Title("largest traffic", axis_title_of_traffic())
    if answer.show.startswith(SLACK):
        bound = answer.show[len(SLACK) + 1 :]
        return Title(f"slack of {bound}", quantity_title(bound).unit)
    return quantity_title(answer.show)


def axis_title_of_traffic() -> str:
    """The unit of a traffic scale."""
    return "‰ of the declared"


def _slice(answer: RegionAnswer) -> list[str]:
    """Where the slice is, and where the values that nobody fixed come from."""
    if not answer.at:
        return []
    at = ", ".join(value_text(name, value) for name, value in answer.at.items())
    if not answer.filled_axes:
        return [f"At {at}."]
    source = {
        "largest-point": "as at the largest point",
        "largest-capacity": "as in the configuration that carries most; none carries this traffic",
        "first-values": "the first of the axis, since no configuration carries any traffic",
        "nothing": "",
    }[answer.filled]
    open_axes = [name for name in answer.at if name in answer.filled_axes]
    names = "" if len(open_axes) == len(answer.at) else f"{listed([short_name(name) for name in open_axes])} "
    return [f"At {at} ({names}{source})."]


def _marks(
    answer: RegionAnswer, largest: Cell | None, overall: Cell | None
) -> tuple[tuple[Mark, ...], tuple[str, ...]]:
    """The largest point of the slice, and that of the grid where its configuration is another one on the slice."""
    if largest is None:
        return (), ("Nothing is feasible here, at any value of the axes that were left open.",)
    marks, remarks = [], []
    same = overall is None or overall.point == largest.point
    who = "largest point" if same else "largest point of the slice"
    if answer.mark is None:
        remarks.append(f"The {who} is below the traffic axis: {point_text(largest)}.")
    else:
        marks.append(_mark(answer, largest, f"{who}{_beyond(answer, largest)}: {point_text(largest)}"))
    if overall is not None and not same:
        others = {name: value for name, value in overall.point.items() if name != TRAFFIC}
        on_slice = all(answer.at.get(name, value) == value for name, value in others.items())
        text = f"largest of the whole grid: {point_text(overall)}"
        spot = _mark(answer, overall, f"{text}, in this column and row", filled=False)
        if not on_slice or TRAFFIC in (answer.x.name, answer.y.name):
            remarks.append(f"{text[0].upper()}{text[1:]}.")
        elif any((mark.column, mark.row) == (spot.column, spot.row) for mark in marks):
            remarks.append(f"{text[0].upper()}{text[1:]}, in the same column and row.")
        else:
            marks.append(spot)
    return tuple(marks), tuple(remarks)


def point_text(cell: Cell) -> str:
    """An operating point in short names, the traffic first."""
    names = sorted(cell.point, key=lambda name: name != TRAFFIC)
    return ", ".join(value_text(name, cell.point[name]) for name in names)


def value_text(name: str, value: int | str) -> str:
    """A coordinate, which no line break divides."""
    return f"{short_name(name)} = {label(value)}".replace(" ", NO_BREAK)


def _beyond(answer: RegionAnswer, cell: Cell) -> str:
    for axis in (answer.x, answer.y):
        value = cell.point[axis.name]
        if axis.name == TRAFFIC and isinstance(value, int) and value > axis.values[-1]:
            return " (above the traffic axis)"
    return ""


def _mark(answer: RegionAnswer, cell: Cell, text: str, filled: bool = True) -> Mark:
    return Mark(
        place_on(answer.x, cell.point[answer.x.name]), place_on(answer.y, cell.point[answer.y.name]), text, filled
    )


def place_on(axis: Axis, value: int | str) -> float:
    """Where a value is among an axis' own, counted from the first; beyond the ends at the edge of the last cell."""
    if axis.is_choice or isinstance(value, str):
        return axis.index(value)
    after = bisect_right(axis.values, value)
    before = after - 1
    if before < 0:
        return -0.5
    if after == len(axis.values):
        return before if axis.values[before] == value else before + 0.5
    gap = axis.values[after] - axis.values[before]
    return before + (value - axis.values[before]) / gap
