"""Sections as plain aligned text: no escape sequence, no box, no line wider than asked for."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

from sweep.report.blocks import Column, Paragraph, Picture, Section, Table

WIDTH = 80
"""Columns of a page in a pipe, and the most on a terminal."""

_GAP = "  "
_NARROWEST = 6
_GROUP_SPACE = re.compile(r"(?<=[0-9]) (?=[0-9]{3}(?![0-9]))")
_GLUE = "\N{NO-BREAK SPACE}"
_JOINTS = "_.-/=" + _GLUE


def text_of(sections: Iterable[Section], width: int = WIDTH) -> str:
    """A page as text that ends in a line break; one empty line stands between sections."""
    return "\n".join("".join(f"{line}\n" for line in _lines(section, width)) for section in sections)


def _lines(section: Section, width: int) -> list[str]:
    lines = fold(section.title, width) if section.title else []
    for block in section.blocks:
        lines += _block_lines(block, width)
    return lines


def _block_lines(block: Paragraph | Table | Picture, width: int) -> list[str]:
    if isinstance(block, Picture):
        return ["".join(text for text, _ in line).rstrip() for line in block.lines]
    return table_lines(block, width) if isinstance(block, Table) else paragraph_lines(block, width)


def paragraph_lines(paragraph: Paragraph, width: int) -> list[str]:
    """The lines of a paragraph."""
    if paragraph.keep:
        return [paragraph.text]
    return [line for part in paragraph.text.split("\n") for line in fold(part, width)]


def columns_of(text: str) -> int:
    """How many columns of a terminal a printable text takes."""
    if text.isascii():
        return len(text)
    return sum(_char_columns(char) for char in text)


def _char_columns(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def fold(text: str, width: int) -> list[str]:
    """A text in lines of at most `width` columns, broken at spaces where possible, never inside `86 400 000`."""
    lines: list[str] = []
    line = ""
    for word in _GROUP_SPACE.sub(_GLUE, text).split(" "):
        longer = f"{line} {word}" if line else word
        if columns_of(longer) <= width:
            line = longer
            continue
        if line:
            lines.append(line)
        *full, line = _cut(word, width)
        lines += full
    return [part.replace(_GLUE, " ").rstrip(" ") for part in [*lines, line]]


def _cut(word: str, width: int) -> list[str]:
    """A word in pieces of at most `width` columns, cut after a joint of the name where one is near the end."""
    pieces, piece = [], ""
    for char in word:
        if piece and columns_of(piece + char) > width:
            joint = max(piece.rfind(mark) for mark in _JOINTS) + 1
            at = joint if 2 * joint > len(piece) else len(piece)
            pieces.append(piece[:at])
            piece = piece[at:]
        piece += char
    return [*pieces, piece]


def table_lines(table: Table, width: int) -> list[str]:
    """The lines of a table; a cell that is too wide for its column continues below."""
    heads = tuple(column.head for column in table.columns)
    widths = fitted([max(columns_of(text) for text in texts) for texts in zip(heads, *table.rows, strict=True)], width)
    return [line for row in (heads, *table.rows) for line in _row_lines(row, table.columns, widths)]


def fitted(widths: Sequence[int], width: int) -> list[int]:
    """Column widths that fit a line: the widest give way first, none below a few columns."""
    fit = list(widths)
    room = max(width - len(_GAP) * (len(fit) - 1), 0)
    while sum(fit) > room and max(fit) > _NARROWEST:
        fit[fit.index(max(fit))] -= 1
    return fit


def _row_lines(row: Sequence[str], columns: Sequence[Column], widths: Sequence[int]) -> list[str]:
    cells = [fold(text, width) for text, width in zip(row, widths, strict=True)]
    lines = []
    for at in range(max(len(cell) for cell in cells)):
        parts = [
            _padded(cell[at] if at < len(cell) else "", width, column.right)
            for cell, width, column in zip(cells, widths, columns, strict=True)
        ]
        lines.append(_GAP.join(parts).rstrip())
    return lines


def _padded(text: str, width: int, right: bool) -> str:
    space = " " * (width - columns_of(text))
    return space + text if right else text + space
