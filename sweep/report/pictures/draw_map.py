"""A map drawn: colours as one image, hatches and the lines around what is feasible as paths, letters where they fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import LinearSegmentedColormap, to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from sweep.engine.opening import Array
from sweep.report.pictures.classes import ClassMap, Entry
from sweep.report.pictures.lettering import font, line_height, width
from sweep.report.pictures.maps import MapScene, Mark
from sweep.report.pictures.shades import Shades
from sweep.report.pictures.sheet import GREY, INK, LABEL, NOTE, PAD, TICK, Item, Sheet, letter_box, marker_style
from sweep.report.pictures.sides import AFTER, Across, Down
from sweep.report.pictures.spots import letter_spots
from sweep.units import grouped

_MOST_RUNS = 20_000
"""Pieces of a hatch or a line; of more the colours alone are drawn."""

_SLACK = ("#D55E00", "#F7F7F7", "#0072B2")
"""Over the bound, at it, under it."""

_WIDE = 5
"""Inches from which on a picture is flatter."""

_ROOM = 0.115
"""Inches that a letter needs."""


def draw_map(scene: MapScene, inches: float) -> Figure:
    """The figure of a slice, of a width in inches."""
    sheet = Sheet(inches)
    heads(sheet, scene.title, scene.notes)
    height = min(inches * (0.5 if inches < _WIDE else 0.34), max(0.42, 0.3 * len(scene.y.values)))
    down = Down(scene.y, inches, height)
    across = Across(scene.x, inches - down.margin - 2 * PAD - AFTER)
    sheet.y += 0.03
    sheet.paragraph(f"↑ {scene.y.title.text(down.labels)}", LABEL, most=2)
    top, left = sheet.y + 0.03, PAD + down.margin
    box = (left, top, across.length, height)
    sheet.axes(box, lambda axes: _draw(axes, scene, across, down, (across.length, height)))
    down.write(sheet, left, top)
    across.write(sheet, left, top + height)
    sheet.y = top + height + across.margin
    _right_title(sheet, f"{scene.x.title.text(across.labels)} →", left, across.length)
    _legend(sheet, scene)
    for remark in scene.remarks:
        sheet.paragraph(remark, NOTE)
    sheet.footer()
    return sheet.figure()


def heads(sheet: Sheet, title: str, notes: Sequence[str]) -> None:
    """The title and the lines under it."""
    sheet.paragraph(title, LABEL + 0.7, bold=True)
    for note in notes:
        sheet.paragraph(note, NOTE, GREY)


def _right_title(sheet: Sheet, text: str, left: float, across: float) -> None:
    """The title of the axis across: at its end where it fits there, else over the whole width."""
    if width(text, LABEL) > left + across - PAD:
        sheet.paragraph(text, LABEL, most=2)
        return
    sheet.text((left + across, sheet.y + line_height(LABEL) / 2), text, LABEL, ha="right")
    sheet.y += line_height(LABEL)


def _draw(axes: Axes, scene: MapScene, across: Across, down: Down, inches: tuple[float, float]) -> None:
    rows, columns = len(scene.y.values), len(scene.x.values)
    body = scene.body
    picture = _colours(body)
    axes.imshow(
        picture,
        origin="lower",
        aspect="auto",
        interpolation="nearest",
        extent=(-0.5, columns - 0.5, -0.5, rows - 0.5),
    )
    axes.set_xticks(across.ticks)
    axes.set_yticks(down.ticks)
    marks = [(mark.column, mark.row) for mark in scene.marks]
    if isinstance(body, ClassMap):
        for number, entry in enumerate(body.entries):
            _hatch(axes, body.codes == number, entry)
        _outline(axes, body.within)
        for spot, entry in zip(
            letter_spots(body.codes, len(body.entries), inches, marks, _ROOM), body.entries, strict=True
        ):
            if spot is not None and entry.look.letter:
                _write(axes, spot, entry.look.letter, TICK, INK, bold=True, bbox=letter_box())
    else:
        for cells, entry in body.empty:
            _hatch(axes, cells, entry)
        _outline(axes, body.edge)
        _numbers(axes, body, scene.marks, inches)
    for mark in scene.marks:
        axes.plot([mark.column], [mark.row], clip_on=False, zorder=6, **star(mark.filled))
    axes.set_xlim(-0.5, columns - 0.5)
    axes.set_ylim(-0.5, rows - 0.5)


def star(filled: bool) -> dict[str, Any]:
    """The mark of the largest point; hollow where only its configuration is there."""
    return marker_style("*", INK if filled else "white", "white" if filled else INK)


def _write(axes: Axes, spot: tuple[float, float], text: str, size: float, colour: str, **style: Any) -> None:
    bold = style.pop("bold", False)
    place: Any = {"ha": "center", "va": "center", "zorder": 5, "parse_math": False, **style}
    axes.text(spot[0], spot[1], text, color=colour, fontproperties=font(size, bold), **place)


def _colours(body: ClassMap | Shades) -> Array:
    """The map as red, green and blue bytes."""
    if isinstance(body, ClassMap):
        table = np.array([to_rgb(entry.look.colour) for entry in body.entries])
        return np.asarray((table * 255).round().astype(np.uint8)[body.codes])
    picture = colour_scale(body)(body.places, bytes=True)[..., :3].copy()
    for cells, entry in body.empty:
        picture[cells] = (np.array(to_rgb(entry.look.colour)) * 255).round().astype(np.uint8)
    return np.asarray(picture)


def colour_scale(body: Shades) -> Any:
    """Dark to bright, or around 0 from over to under a bound; colour-blind readers tell both ends apart."""
    if body.diverging:
        return LinearSegmentedColormap.from_list("slack", _SLACK)
    return mpl.colormaps["viridis"]


def _hatch(axes: Axes, cells: Array, entry: Entry) -> None:
    """The hatch of a class over its cells: one path of rectangles."""
    look = entry.look
    if not look.hatch or not entry.count:
        return
    first, after, starts, stops = blocks(cells)
    if first.size > _MOST_RUNS:
        return
    left, right, low, high = starts - 0.5, stops - 0.5, first - 0.5, after - 0.5
    corners = np.stack([left, low, right, low, right, high, left, high, left, low], axis=1).reshape(-1, 2)
    codes = np.tile([Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY], first.size)
    axes.add_patch(
        PathPatch(Path(corners, codes), fill=False, hatch=look.hatch, edgecolor=look.hatch_colour, linewidth=0)
    )


def blocks(cells: Array) -> tuple[Array, Array, Array, Array]:
    """Rectangles that cover the chosen cells: first row and row after the last, first column and column after the last.

    Runs of a row that begin and end alike in the next rows are one.
    """
    rows, starts, stops = runs(cells)
    order = np.lexsort((rows, stops, starts))
    rows, starts, stops = rows[order], starts[order], stops[order]
    alike = (np.diff(starts) == 0) & (np.diff(stops) == 0) & (np.diff(rows) == 1)
    heads = np.flatnonzero(np.r_[rows.size > 0, ~alike][: rows.size])
    tails = np.r_[heads[1:] - 1, rows.size - 1][: heads.size]
    return rows[heads], rows[tails] + 1, starts[heads], stops[heads]


def runs(cells: Array) -> tuple[Array, Array, Array]:
    """Row, first column and column after the last of every run of chosen cells."""
    padded = np.pad(cells.astype(np.int8), ((0, 0), (1, 1)))
    steps = np.diff(padded, axis=1)
    rows, starts = np.nonzero(steps == 1)
    _, stops = np.nonzero(steps == -1)
    return rows, starts, stops


def _outline(axes: Axes, cells: Array) -> None:
    """A line between the chosen cells and the others."""
    segments = []
    for across, mask in ((True, cells), (False, cells.T)):
        lines, starts, stops = runs(mask[1:] != mask[:-1])
        for line, start, stop in zip(lines + 0.5, starts - 0.5, stops - 0.5, strict=True):
            ends = ((start, line), (stop, line))
            segments.append(ends if across else tuple((b, a) for a, b in ends))
        if len(segments) > _MOST_RUNS:
            return
    axes.add_collection(LineCollection(segments, colors=INK, linewidths=0.9, capstyle="round", zorder=4))


def _numbers(axes: Axes, body: Shades, marks: Sequence[Mark], inches: tuple[float, float]) -> None:
    """The integers themselves, where the cells are large enough for all of them."""
    rows, columns = body.values.shape
    if rows * columns > 400:
        return
    texts = {place: grouped(int(body.values[place])) for place in zip(*np.nonzero(body.shown), strict=True)}
    wide = max((width(text, TICK) for text in texts.values()), default=0) + 0.06
    if not texts or wide > inches[0] / columns or line_height(TICK) + 0.03 > inches[1] / rows:
        return
    taken = {(round(mark.row), round(mark.column)) for mark in marks}
    colours = colour_scale(body)
    for (row, column), text in texts.items():
        if (row, column) in taken and 0.3 * inches[1] / rows < 0.1:
            continue
        red, green, blue, _ = colours(body.places[row, column])
        bright = 0.3 * red + 0.59 * green + 0.11 * blue > 0.55
        lower = 0.28 if (row, column) in taken else 0
        _write(axes, (column, row - lower), text, TICK, INK if bright else "white")


def _legend(sheet: Sheet, scene: MapScene) -> None:
    body = scene.body
    stars = [
        Item(mark.text, marker="*", face=INK if mark.filled else "white", colour="white" if mark.filled else INK)
        for mark in scene.marks
    ]
    entries = body.entries if isinstance(body, ClassMap) else tuple(entry for _, entry in body.empty)
    if isinstance(body, Shades) and body.ticks:
        _scale_bar(sheet, body, scene.scale_title.text(body.labels))
    cells = len(scene.x.values) * len(scene.y.values)
    items = [
        Item(f"{entry.text} ({grouped(entry.count)}{f' of {grouped(cells)} cells' if number == 0 else ''})", entry.look)
        for number, entry in enumerate(entries)
    ]
    sheet.legend(items)
    sheet.legend(stars)


def _scale_bar(sheet: Sheet, body: Shades, title: str) -> None:
    """The scale of colours with its title above and exact integers below."""
    sheet.y += 0.06
    sheet.paragraph(title, LABEL, most=2)
    left, across, tall = PAD + 0.12, min(sheet.inner - 0.3, 3.6), 0.09
    top = sheet.y + 0.02
    begins, ends = body.bar
    steps = np.linspace(begins, ends, 256)[None, :]
    ticks = [((place - begins) / (ends - begins), text) for place, text in body.ticks]

    def draw(axes: Axes) -> None:
        axes.imshow(colour_scale(body)(steps), aspect="auto", extent=(0, 1, 0, 1), interpolation="nearest")
        axes.set_xticks([place for place, _ in ticks])
        axes.set_yticks([])

    sheet.axes((left, top, across, tall), draw)
    taken: list[tuple[float, float]] = []
    for place, text in (ticks[0], ticks[-1], *ticks[1:-1]):  # the ends before what is between them
        wide = width(text, TICK)
        begin = min(max(left + place * across - wide / 2, PAD), sheet.width - PAD - wide)
        if all(begin > end + 0.06 or begin + wide < start - 0.06 for start, end in taken):
            sheet.text((begin, top + tall + 0.04 + line_height(TICK) / 2), text, TICK, ha="left")
            taken.append((begin, begin + wide))
    sheet.y = top + tall + 0.05 + line_height(TICK)
