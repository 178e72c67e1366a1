"""The picture of `growth`: time and peak memory against cells, log-log, as SVG of a paper's column width."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from benchmarks.growth import Growth, Run
from sweep.records.wording import CLAIM_SENTENCE

WIDTH_INCHES, HEIGHT_INCHES = 3.4, 4.3
BLUE, VERMILION, GREY = "#0072B2", "#D55E00", "#6e6e6e"
"""Two of Okabe and Ito's colours, which colour-blind readers tell apart; markers and labels differ too."""

_STYLE: Any = {
    "font.size": 8,
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Arial", "Helvetica"],
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "svg.fonttype": "path",
    "svg.hashsalt": "sweep",
}
Measure = Callable[[Run], float]


def draw(growth: Growth, target: Path) -> None:
    """Draw both panels; the ending of the file's name says the format."""
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(WIDTH_INCHES, HEIGHT_INCHES))
        above, below = figure.subplots(2, 1, sharex=True)
        _panel(above, growth, "seconds, whole process", lambda run: run.seconds, growth.floor_seconds)
        _panel(below, growth, "peak memory, MB", lambda run: run.peak_bytes / 1e6, growth.floor_peak_bytes / 1e6)
        below.set_xlabel("cells of the grid")
        below.xaxis.set_major_locator(FixedLocator([run.cells for run in growth.of(True)]))
        below.xaxis.set_minor_locator(NullLocator())
        figure.text(0.02, 0.012, _wrapped(CLAIM_SENTENCE), fontsize=5.5, color=GREY, va="bottom")
        figure.subplots_adjust(left=0.14, right=0.97, top=0.955, bottom=0.155, hspace=0.14)
        # No date in the file: the same measurement gives the same bytes.
        figure.savefig(target, metadata={"Date": None} if target.suffix == ".svg" else None, dpi=200)


def _panel(axes: Any, growth: Growth, what: str, measure: Measure, floor: float) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.grid(axis="y", color="#dddddd", linewidth=0.5)
    axes.set_title(what, fontsize=8, loc="left", pad=3)
    axes.axhline(floor, color=GREY, linewidth=0.7, linestyle=(0, (4, 3)))
    stored, bare = growth.of(True), growth.of(False)
    for runs, colour, marker, filled, place, text in (
        (bare, BLUE, "s", "white", "top", "mask\nnot stored"),
        (stored, VERMILION, "o", VERMILION, "bottom", "mask\nstored"),
    ):
        values = [measure(run) for run in runs]
        axes.plot(
            [run.cells for run in runs],
            values,
            color=colour,
            marker=marker,
            markerfacecolor=filled,
            markersize=4.5 if filled == "white" else 3,
            linewidth=1.3,
        )
        _label(axes, runs[-1].cells, values[-1], text, colour, place)
    axes.set_xlim(right=runs[-1].cells * 25)
    _limits(axes, [floor, *[measure(run) for run in growth.runs]])
    axes.annotate(
        "a process that only imports netCDF4",
        (growth.runs[0].cells, floor),
        xytext=(0, -8),
        textcoords="offset points",
        fontsize=6,
        color=GREY,
    )


def _limits(axes: Any, values: Sequence[float]) -> None:
    """Room below for the floor's label; ticks at 1, 2 and 5 of each power that is in sight."""
    low, high = min(values) / 1.9, max(values) * 1.5
    axes.set_ylim(low, high)
    steps = (1, 10) if high / low > 300 else (1, 2, 5)
    axes.set_yticks([s * 10.0**p for p in range(-3, 7) for s in steps if low <= s * 10.0**p <= high])


def _label(axes: Any, cells: int, value: float, text: str, colour: str, place: str) -> None:
    """The line's name to the right of its end, above the other's where both lines end together."""
    axes.annotate(
        text,
        (cells, value),
        xytext=(6, 1 if place == "bottom" else -1),
        textcoords="offset points",
        va=place,
        fontsize=7,
        color=colour,
        fontweight="bold",
    )


def _wrapped(sentence: str) -> str:
    """In two lines of about equal length."""
    words = sentence.split()
    middle = next(n for n in range(len(words)) if len(" ".join(words[:n])) >= len(sentence) / 2)
    return " ".join(words[:middle]) + "\n" + " ".join(words[middle:])
