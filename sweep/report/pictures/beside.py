"""The picture of a simulation: for each bound the audit's figure and what was seen, as shares of the bound."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sweep.query.cell import Cell
from sweep.report.pictures.draw_map import heads
from sweep.report.pictures.lettering import drawable, elided, line_height, width
from sweep.report.pictures.maps import NO_BREAK, point_text
from sweep.report.pictures.sheet import GREY, INK, LABEL, NOTE, PAD, TICK, Item, Sheet, marker_style
from sweep.report.simulate import number
from sweep.simulate.verdict import Comparison
from sweep.units import grouped

BLUE, GREEN, VERMILION = "#0072B2", "#009E73", "#D55E00"

MOST_PERMILLE = 3_000
"""Where the scale ends: what is further over its bound stands at its end, and its number says how far."""

_ROW = 0.3
"""Inches of a bound: its name and numbers, and its marks below."""


@dataclass(frozen=True)
class Mark:
    """One bound.

    Attributes:
        bound: its name.
        audited, observed: the audit's figure and what was seen, in ‰ of the bound, exact; None where nothing was.
        broken: whether what was seen is over it.
        text: the figures and the bound.
    """

    bound: str
    audited: Fraction
    observed: Fraction | None
    broken: bool
    text: str


@dataclass(frozen=True)
class BesideScene:
    """All that the picture shows."""

    title: str
    notes: tuple[str, ...]
    marks: tuple[Mark, ...]
    at: str
    remark: str

    @property
    def end_permille(self) -> int:
        """Where the scale ends: at 1200 ‰, or further on where a figure is."""
        shown = [mark.audited for mark in self.marks] + [mark.observed or Fraction(0) for mark in self.marks]
        return min(max(1_200, int(max(shown)) + 50), MOST_PERMILLE)


def beside_scene(cell: Cell, comparison: Comparison, notes: Sequence[str] = ()) -> BesideScene:
    """The picture of an operating point and its simulation.

    Args:
        cell: the operating point.
        comparison: its simulation beside its audit.
        notes: texts from a grid file, under the title.
    """
    marks = []
    for check in comparison.checks:
        seen = None if check.observed is None else check.observed * 1_000 / check.limit
        text = f"{grouped(check.audited)} · {number(check.observed)} of {grouped(check.limit)}"
        audited = Fraction(check.audited * 1_000, check.limit)
        marks.append(Mark(check.bound, audited, seen, check.verdict == "broken", text))
    held = "every bound was held" if comparison.simulated_within else "not every bound was held"
    requests = comparison.summary.latencies.arrived
    return BesideScene(
        title=f"Audit and simulation: {held} for {grouped(requests).replace(' ', NO_BREAK)} requests",
        notes=(*notes, point_text(cell)),
        marks=tuple(marks),
        at=comparison.at,
        remark="Numbers: the audit's figure · what was seen, of the bound.",
    )


def draw_beside(scene: BesideScene, inches: float) -> Figure:
    """The figure of a simulation beside its audit, of a width in inches."""
    sheet = Sheet(inches)
    heads(sheet, scene.title, scene.notes)
    sheet.y += 0.06
    top, tall = sheet.y, _ROW * len(scene.marks)
    for at, mark in enumerate(scene.marks):
        y = top + at * _ROW + line_height(TICK) / 2
        name = elided(drawable(mark.bound), TICK, sheet.inner * 0.52)
        sheet.text((PAD, y), name, TICK)
        right = elided(mark.text, TICK, sheet.inner - width(name, TICK) - 0.08)
        sheet.text((inches - PAD, y), right, TICK, ha="right", colour=VERMILION if mark.broken else INK)
    sheet.axes((PAD, top, sheet.inner, tall), lambda axes: _draw(axes, scene))
    sheet.y = top + tall
    for share in range(0, scene.end_permille + 1, 500):
        place = PAD + sheet.inner * share / scene.end_permille
        edge = "left" if share == 0 else "right" if scene.end_permille - share < 100 else "center"
        sheet.text((place, sheet.y + 0.05 + line_height(TICK) / 2), grouped(share), TICK, ha=edge)
    sheet.y += 0.06 + line_height(TICK)
    sheet.text((inches - PAD, sheet.y + line_height(LABEL) / 2), "‰ of the bound →", LABEL, ha="right")
    sheet.y += line_height(LABEL)
    sheet.legend(
        [
            Item("audit", marker="s", colour=BLUE, face="white"),
            Item(f"seen ({scene.at}), held", marker="o", colour=GREEN, face=GREEN),
            Item(f"seen ({scene.at}), broken", marker="D", colour=VERMILION, face=VERMILION),
            Item("the bound", line="--", colour=INK),
        ]
    )
    sheet.paragraph(scene.remark, NOTE, GREY)
    sheet.footer()
    return sheet.figure()


def _draw(axes: Axes, scene: BesideScene) -> None:
    rows, end = len(scene.marks), scene.end_permille
    axes.set_xlim(0, end)
    axes.set_ylim(rows, 0)
    axes.set_yticks([])
    axes.set_xticks(range(0, end + 1, 500))
    for spine in ("top", "right", "left"):
        axes.spines[spine].set_visible(False)
    for at, mark in enumerate(scene.marks):
        y = at + 0.72
        axes.plot([0, end], [y, y], color="#DDDDDD", linewidth=0.5, zorder=1)
        axes.plot([1_000, 1_000], [y - 0.16, y + 0.16], color=INK, linewidth=0.9, linestyle=(0, (3, 1.5)), zorder=2)
        if mark.observed is not None:
            shape: dict[str, Any] = marker_style(
                "D" if mark.broken else "o", *(2 * [VERMILION if mark.broken else GREEN])
            )
            axes.plot([float(min(mark.observed, Fraction(end)))], [y], zorder=4, clip_on=False, **shape)
        axes.plot(
            [float(min(mark.audited, Fraction(end)))], [y], zorder=3, clip_on=False, **marker_style("s", "white", BLUE)
        )
