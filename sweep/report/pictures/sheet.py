"""A sheet of a given width that texts, swatches and axes are put on from the top; its height follows from them.

All places are in inches from the top left corner, and every text is measured before it is placed, so that nothing
overlaps whatever a grid file calls its axes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from sweep.records.wording import CLAIM_SENTENCE
from sweep.report.pictures.classes import Look
from sweep.report.pictures.lettering import POINTS, drawable, font, line_height, width, wrapped

PAD = 0.05
"""Inches around everything."""

HEAD, LABEL, TICK, NOTE, FOOT = 7.5, 6.8, 6.2, 6.2, 5.4
"""Sizes in points of the title, the axis titles, tick labels and legends, notes, and the claim."""

INK, GREY = "#111111", "#595959"
_MIDDLE = 0.36
"""How far the middle of capital letters is above their baseline, in font sizes."""

SWATCH, GAP = 0.2, 0.05
"""Width of a swatch and room beside it."""

Job = Callable[[Figure, float], None]
Place = tuple[float, float]


@dataclass(frozen=True)
class Item:
    """A line of a legend: a swatch or a marker, and its text."""

    text: str
    look: Look | None = None
    marker: str = ""
    colour: str = INK
    face: str = INK
    line: str = ""
    """A line's style, drawn across the swatch."""


class Sheet:
    """What is on the sheet, and how far down it goes (`y`)."""

    def __init__(self, inches: float) -> None:
        self.width = inches
        self.y = PAD
        self._jobs: list[Job] = []

    @property
    def inner(self) -> float:
        """Inches between the margins."""
        return self.width - 2 * PAD

    def text(self, place: Place, text: str, size: float, **style: Any) -> None:
        """One line, its middle at a place; `style` may have `colour`, `bold`, `ha`, `va`, `rotation`, `bbox`."""
        colour, bold = style.pop("colour", INK), style.pop("bold", False)
        # By the baseline: matplotlib's own middle is that of the ink, so that `ace` would stand higher than `age`.
        down = 0 if "va" in style else size * _MIDDLE / POINTS

        def draw(figure: Figure, height: float) -> None:
            figure.text(
                place[0],
                height - place[1] - down,
                text,
                color=colour,
                fontproperties=font(size, bold),
                transform=figure.dpi_scale_trans,
                parse_math=False,
                **{"va": "baseline", **style},
            )

        self._jobs.append(draw)

    def paragraph(self, text: str, size: float, colour: str = INK, bold: bool = False, most: int = 6) -> None:
        """A text in lines over the whole width, below what is there."""
        for line in wrapped(drawable(text), size, self.inner, most, bold):
            self.text((PAD, self.y + line_height(size) / 2), line, size, colour=colour, bold=bold)
            self.y += line_height(size)

    def axes(self, box: tuple[float, float, float, float], draw: Callable[[Axes], None]) -> None:
        """Axes in a box of left, top, width, height, without tick labels of their own."""
        left, top, across, down = box

        def make(figure: Figure, height: float) -> None:
            axes = figure.add_axes(
                (left / self.width, (height - top - down) / height, across / self.width, down / height)
            )
            axes.tick_params(labelbottom=False, labelleft=False, length=2, width=0.5, color=INK)
            for spine in axes.spines.values():
                spine.set_linewidth(0.5)
            draw(axes)

        self._jobs.append(make)

    def legend(self, items: Sequence[Item]) -> None:
        """Swatches with texts, in as many columns as all of them fit; long ones are broken."""
        if not items:
            return
        self.y += 0.03
        indent = SWATCH + GAP
        widest = max(width(item.text, TICK) for item in items) + indent + 0.1
        columns = max(1, min(len(items), int(self.inner / widest)))
        across = self.inner / columns
        rows = -(-len(items) // columns)
        broken = [wrapped(item.text, TICK, across - indent, 5) for item in items]
        for row in range(rows):
            inside = range(row, len(items), rows)  # column by column, as people read lists
            for column, at in enumerate(inside):
                self._item(PAD + column * across, items[at], broken[at], indent)
            self.y += max(len(broken[at]) for at in inside) * line_height(TICK) + 0.025

    def _item(self, left: float, item: Item, lines: Sequence[str], indent: float) -> None:
        middle = self.y + line_height(TICK) / 2 + 0.01
        self._swatch(left, middle, item)
        for number, line in enumerate(lines):
            self.text((left + indent, middle + number * line_height(TICK)), line, TICK)

    def _swatch(self, left: float, middle: float, item: Item) -> None:
        tall = 0.105
        look = item.look

        def draw(figure: Figure, height: float) -> None:
            place: Any = {"transform": figure.dpi_scale_trans}
            if look is not None:
                corner = (left, height - middle - tall / 2)
                for patch in swatch_patches(corner, SWATCH, tall, look):
                    patch.set_transform(figure.dpi_scale_trans)
                    figure.add_artist(patch)
            if item.line:
                shape = {"color": item.colour, "linewidth": 1, "linestyle": item.line, **place}
                figure.add_artist(Line2D([left, left + SWATCH], [height - middle] * 2, **shape))
            if item.marker:
                shape = marker_style(item.marker, item.face, item.colour)
                figure.add_artist(Line2D([left + SWATCH / 2], [height - middle], **shape, **place))

        self._jobs.append(draw)
        if look is not None and look.letter:
            self.text((left + SWATCH / 2, middle), look.letter, TICK, bold=True, ha="center", bbox=letter_box())

    def footer(self) -> None:
        """The claim, last."""
        self.y += 0.05
        self.paragraph(" ".join(CLAIM_SENTENCE.split()), FOOT, GREY)

    def figure(self) -> Figure:
        """The sheet as a figure."""
        height = self.y + PAD
        figure = Figure(figsize=(self.width, height), facecolor="white")
        for job in self._jobs:
            job(figure, height)
        return figure


def swatch_patches(corner: Place, across: float, tall: float, look: Look) -> list[Rectangle]:
    """A rectangle in a class' colour, and one with its hatch and a thin frame."""
    filled = Rectangle(corner, across, tall, facecolor=look.colour, edgecolor="none", linewidth=0)
    hatched = Rectangle(
        corner, across, tall, fill=False, hatch=look.hatch or None, edgecolor=look.hatch_colour, linewidth=0
    )
    frame = Rectangle(corner, across, tall, fill=False, edgecolor="#444444", linewidth=0.4)
    return [filled, hatched, frame]


def letter_box() -> dict[str, Any]:
    """What a letter stands on: white, so that it is read on any colour."""
    return {"boxstyle": "round,pad=0.12", "facecolor": "white", "edgecolor": "none", "alpha": 0.88}


def marker_style(marker: str, face: str, edge: str) -> dict[str, Any]:
    """Of the largest point a star with an edge, that is seen on any colour; of any other a small sign."""
    star = marker == "*"
    return {
        "marker": marker,
        "markersize": 8.5 if star else 3.6,
        "markerfacecolor": face,
        "markeredgecolor": edge,
        "markeredgewidth": 0.7,
        "linestyle": "none",
        "color": edge,
    }
