"""A frontier drawn: a panel for each objective after the first, with the SLO as lines and the largest point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sweep.report.pictures.draw_map import heads, star
from sweep.report.pictures.frontier import FrontierScene, Objective
from sweep.report.pictures.lettering import font, line_height, width, wrapped
from sweep.report.pictures.scale import Labels, Span, labels
from sweep.report.pictures.sheet import GREY, INK, LABEL, NOTE, PAD, TICK, Item, Sheet, marker_style
from sweep.units import grouped

BLUE, VERMILION = "#0072B2", "#D55E00"
_MOST_VECTORS = 2_000
"""Points of a panel that stay vectors in SVG and PDF; more of them are one image."""

_LOG_FROM = 100
"""How many times the smallest value the largest is before an axis is logarithmic."""

_REACH = 4
"""How many times the largest value a bound may be to be on the axis; one beyond is said in words."""

_MARGIN = 0.06
"""Of an axis, free on each side."""

_WIDE = 5
"""Inches from which on two panels stand side by side."""

_BETWEEN = 0.14
BOUND = TICK - 0.4
"""Size of the names of bounds."""


@dataclass(frozen=True)
class Ruler:
    """An axis of a panel: what it spans, its ticks, and whether the bound is on it."""

    span: Span
    ticks: tuple[int, ...]
    labels: Labels
    limit: int | None
    """The bound, where it is on the axis."""

    def place(self, value: int) -> float:
        """Where a value is, from 0 to 1 between the ends."""
        return self.span.place(value)


def ruler(objective: Objective, values: list[int], most: int) -> Ruler:
    """The axis of an objective over some values, with at most so many ticks."""
    if not values:
        return Ruler(Span(0, 1), (), Labels(()), None)
    low, high = min(values), max(values)
    limit = objective.limit if objective.bound else None
    if limit is not None and limit > _REACH * high:
        limit = None
    high = high if limit is None else max(high, limit)
    if low == high:
        return Ruler(Span(low - 1, low + 1), (low,), labels([low]), limit)
    span = Span(low, high, log=low > 0 and high >= _LOG_FROM * low)
    ticks = tuple(span.ticks(most))
    return Ruler(span, ticks, labels(ticks), limit)


@dataclass(frozen=True)
class Box:
    """Where the axes of a panel are on the sheet, in inches."""

    left: float
    top: float
    across: float
    tall: float

    def x(self, one: Ruler, value: int) -> float:
        """Where a value of the axis across is on the sheet."""
        return self.left + self.across * (one.place(value) + _MARGIN) / (1 + 2 * _MARGIN)

    def y(self, one: Ruler, value: int) -> float:
        """Where a value of the axis up is on the sheet."""
        return self.top + self.tall * (1 - (one.place(value) + _MARGIN) / (1 + 2 * _MARGIN))


def draw_frontier(scene: FrontierScene, inches: float) -> Figure:
    """The figure of a frontier, of a width in inches."""
    sheet = Sheet(inches)
    heads(sheet, scene.title, scene.notes)
    rulers = _rulers(scene)
    margin = max((width(text, TICK) for one in rulers[1:] for text in one.labels.texts), default=0) + 0.05
    beside = 2 if inches >= _WIDE and len(rulers) > 2 else 1
    whole = (sheet.inner - _BETWEEN * (beside - 1)) / beside
    for first in range(1, len(rulers), beside):
        sheet.y += 0.05
        top = bottom = sheet.y
        for at in range(first, min(first + beside, len(rulers))):
            sheet.y = top
            left = PAD + (at - first) * (whole + _BETWEEN)
            _panel(sheet, scene, at, rulers, (left, margin, whole), lowest=at + beside >= len(rulers))
            bottom = max(bottom, sheet.y)
        sheet.y = bottom
    _legend(sheet, scene, rulers)
    for remark in scene.remarks:
        sheet.paragraph(remark, NOTE)
    sheet.footer()
    return sheet.figure()


def _rulers(scene: FrontierScene) -> list[Ruler]:
    """One per objective, over the points and the largest one."""
    shown = [*scene.values, *([] if scene.chosen is None else [scene.chosen])]
    return [ruler(one, [point[at] for point in shown], 7) for at, one in enumerate(scene.objectives)]


def _titled(objective: Objective, one: Ruler) -> str:
    return f"{objective.title.text(one.labels)}, {'more' if objective.maximized else 'less'} is better"


def _panel(
    sheet: Sheet, scene: FrontierScene, at: int, rulers: list[Ruler], sides: tuple[float, float, float], lowest: bool
) -> None:
    """One panel with its titles; `sides` are where it begins, the room of its labels, and its whole width."""
    left, margin, whole = sides
    x, y = rulers[0], rulers[at]
    for line in wrapped(f"↑ {_titled(scene.objectives[at], y)}", LABEL, whole, 2):
        sheet.text((left, sheet.y + line_height(LABEL) / 2), line, LABEL)
        sheet.y += line_height(LABEL)
    box = Box(left + margin, sheet.y + 0.06, whole - margin - 0.1, 1.15 if sheet.width < _WIDE else 1.7)
    sheet.axes((box.left, box.top, box.across, box.tall), lambda axes: _draw(axes, scene, at, x, y))
    for tick, text in zip(y.ticks, y.labels.texts, strict=True):
        sheet.text((box.left - 0.05, box.y(y, tick)), text, TICK, ha="right")
    _bound_labels(sheet, box, (scene.objectives[0], x), (scene.objectives[at], y))
    sheet.y = box.top + box.tall
    if lowest:
        _across(sheet, box, scene.objectives[0], x, whole)


def _bound_labels(sheet: Sheet, box: Box, across: tuple[Objective, Ruler], up: tuple[Objective, Ruler]) -> None:
    """The name of a bound at its line, on the side where no feasible point can be."""
    style: dict[str, Any] = {"colour": VERMILION}
    for objective, one in (across, up):
        if one.limit is None:
            continue
        text = f"{objective.bound} = {grouped(one.limit)}"
        if one is up[1]:
            sheet.text((box.left + 0.04, box.y(one, one.limit) - line_height(TICK) / 2 - 0.012), text, BOUND, **style)
        else:
            place = (box.x(one, one.limit) + 0.015, box.top + 0.03)
            sheet.text(place, text, BOUND, rotation=90, ha="left", va="top", **style)


def _across(sheet: Sheet, box: Box, objective: Objective, x: Ruler, whole: float) -> None:
    """Tick labels and title below a panel."""
    end = 0.0
    for tick, text in zip(x.ticks, x.labels.texts, strict=True):
        wide = width(text, TICK)
        begin = min(box.x(x, tick) - wide / 2, sheet.width - PAD - wide)
        if begin < end:
            continue
        sheet.text((begin, sheet.y + 0.05 + line_height(TICK) / 2), text, TICK)
        end = begin + wide + 0.07
    sheet.y += 0.06 + line_height(TICK)
    for line in wrapped(f"{_titled(objective, x)} →", LABEL, whole, 2):
        sheet.text((box.left + box.across, sheet.y + line_height(LABEL) / 2), line, LABEL, ha="right")
        sheet.y += line_height(LABEL)


def _draw(axes: Axes, scene: FrontierScene, at: int, x: Ruler, y: Ruler) -> None:
    axes.set_xlim(-_MARGIN, 1 + _MARGIN)
    axes.set_ylim(-_MARGIN, 1 + _MARGIN)
    axes.set_xticks([x.place(tick) for tick in x.ticks])
    axes.set_yticks([y.place(tick) for tick in y.ticks])
    for spine in ("top", "right"):
        axes.spines[spine].set_visible(False)
    for one, line in ((x, axes.axvline), (y, axes.axhline)):
        if one.limit is not None:
            line(one.place(one.limit), color=VERMILION, linewidth=0.9, linestyle=(0, (4, 2)), zorder=1)
    if not scene.values:
        axes.text(0.5, 0.5, "nothing is feasible", ha="center", va="center", fontproperties=font(LABEL))
        return
    spots = np.array([(x.place(point[0]), y.place(point[at])) for point in scene.values])
    kept = scene.unbeaten[at - 1]
    many = len(spots) > _MOST_VECTORS
    best = spots[kept][np.lexsort((spots[kept][:, 1], spots[kept][:, 0]))]
    step = "steps-pre" if scene.objectives[0].maximized else "steps-post"
    axes.plot(best[:, 0], best[:, 1], drawstyle=step, color=BLUE, linewidth=0.8, zorder=2)
    for chosen, shape in ((~kept, other_points()), (kept, unbeaten_points())):
        axes.plot(spots[chosen][:, 0], spots[chosen][:, 1], zorder=3, rasterized=many, **shape)
    if scene.chosen is not None:
        place = [x.place(scene.chosen[0])], [y.place(scene.chosen[at])]
        axes.plot(*place, zorder=6, clip_on=False, **star(filled=True))


def unbeaten_points() -> dict[str, Any]:
    """How a point that is unbeaten in its panel is drawn."""
    return marker_style("o", BLUE, BLUE)


def other_points() -> dict[str, Any]:
    """How a point is drawn that is on the frontier by another objective."""
    return marker_style("o", "white", "#7A7A7A")


def _legend(sheet: Sheet, scene: FrontierScene, rulers: list[Ruler]) -> None:
    items = []
    if scene.values:
        items.append(Item("unbeaten in the two objectives of the panel", marker="o", colour=BLUE, face=BLUE))
        if not all(kept.all() for kept in scene.unbeaten):
            items.append(Item("on the frontier by another objective", marker="o", colour="#7A7A7A", face="white"))
    if any(one.limit is not None for one in rulers):
        items.append(Item("bound of the SLO", line="--", colour=VERMILION))
    sheet.legend(items)
    if scene.chosen is not None:
        sheet.legend([Item(scene.chosen_text, marker="*", face=INK, colour="white")])
    for objective, one in zip(scene.objectives, rulers, strict=True):
        if objective.bound and one.limit is None and scene.values:
            sheet.paragraph(f"Beyond the axis: {objective.bound} = {grouped(objective.limit)}.", NOTE, GREY)
