"""The one font of pictures: what it cannot draw, how wide texts are, and how they are broken into lines.

Only matplotlib's own DejaVu Sans is used: the same text then looks the same on every machine.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.font_manager import FontProperties, get_font
from matplotlib.textpath import text_to_path

from sweep.report.pictures.maps import NO_BREAK

LINE = 1.22
"""Height of a line in font sizes."""

POINTS = 72
"""In an inch."""

_ELLIPSIS = "…"
_BREAKS = re.compile(r"(?<=[ _./:\-,])")
"""Where a long text may be broken: after these."""


@cache
def _file(bold: bool) -> Path:
    return Path(mpl.get_data_path()) / "fonts" / "ttf" / ("DejaVuSans-Bold.ttf" if bold else "DejaVuSans.ttf")


@cache
def font(size: float, bold: bool = False) -> FontProperties:
    """The font in a size of points."""
    return FontProperties(fname=str(_file(bold)), size=size)


def drawable(text: str) -> str:
    """A text from a file as it can be drawn: what is not printable, or not in the font, is escaped."""
    known = get_font(str(_file(False)))
    return "".join(_drawable(char, known) for char in text)


def _drawable(char: str, known: Any) -> str:
    if unicodedata.category(char) == "Zs":  # spaces of any kind are drawn as one, but are no printable characters
        return char if char == NO_BREAK else " "
    return char if char.isprintable() and known.get_char_index(ord(char)) else ascii(char)[1:-1]


@lru_cache(maxsize=4096)
def width(text: str, size: float, bold: bool = False) -> float:
    """Inches that a text takes."""
    if not text:
        return 0.0
    across, _, _ = text_to_path.get_text_width_height_descent(text, font(size, bold), ismath=False)
    return float(across) / POINTS


def line_height(size: float) -> float:
    """Inches from one line to the next."""
    return size * LINE / POINTS


def elided(text: str, size: float, inches: float, bold: bool = False) -> str:
    """A text that fits, with its middle cut out where it is too long."""
    if width(text, size, bold) <= inches:
        return text
    kept = len(text) - 1
    while kept > 1:
        head = (kept + 1) // 2
        shorter = f"{text[:head]}{_ELLIPSIS}{text[len(text) - (kept - head) :]}"
        if width(shorter, size, bold) <= inches:
            return shorter
        kept -= max(1, kept // 12)
    return _ELLIPSIS


def names_apart(names: Sequence[str], size: float, inches: float) -> list[str]:
    """Names that fit, none like another: what all begin and end with goes first, then they are numbered.

    Args:
        names: all different.
        size: of the letters, in points.
        inches: what each may take.
    """
    short = [elided(name, size, inches) for name in names]
    if len(set(short)) == len(names):
        return short
    head = _alike(names)
    tail = _alike([name[head:][::-1] for name in names])
    inner = [f"{_ELLIPSIS * (head > 1)}{name[head : len(name) - tail]}{_ELLIPSIS * (tail > 1)}" for name in names]
    short = [elided(name, size, inches) for name in inner]
    if len(set(short)) == len(names):
        return short
    return [elided(f"{number}: {name}", size, inches) for number, name in enumerate(names, start=1)]


def _alike(names: Sequence[str]) -> int:
    """How many characters all names begin with."""
    least, most = min(names), max(names)
    return next((at for at, char in enumerate(least) if most[at : at + 1] != char), len(least))


def wrapped(text: str, size: float, inches: float, most: int = 6, bold: bool = False) -> list[str]:
    """A text in lines that fit, at most so many: the rest of a longer one is an ellipsis."""
    lines = [""]
    for piece in _pieces(text, size, inches, bold):
        if width((lines[-1] + piece).rstrip(), size, bold) <= inches:
            lines[-1] += piece
        else:
            lines.append(piece)
    lines = [line.strip() for line in lines if line.strip()]
    if len(lines) > most:
        lines = [*lines[: most - 1], elided(f"{lines[most - 1]}{_ELLIPSIS}", size, inches, bold)]
    return lines or [""]


def _pieces(text: str, size: float, inches: float, bold: bool) -> list[str]:
    """What a line may begin with: words, and parts of a word that fits no line."""
    found = []
    for word in re.split(r"(?<= )", text):
        if width(word.rstrip(), size, bold) <= inches:
            found.append(word)
            continue
        for part in _BREAKS.split(word):
            piece = part
            while width(piece.rstrip(), size, bold) > inches and len(piece) > 1:
                head = next((n for n in range(len(piece) - 1, 1, -1) if width(piece[:n], size, bold) <= inches), 1)
                found.append(piece[:head])
                piece = piece[head:]
            found.append(piece)
    return found
