"""What a page is made of: sections of paragraphs and tables, before anybody knows where it is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from sweep.records.wording import CLAIM_SENTENCE

Tone = Literal["plain", "good", "bad", "note", "mark"]
"""What a text is to its reader; a terminal shows it as a colour, plain text not at all."""


@dataclass(frozen=True)
class Paragraph:
    """A text, wrapped where it is shown; `\\n` is a forced break."""

    text: str
    tone: Tone = "plain"
    keep: bool = False
    """Never wrapped: a path or a command that people copy."""


@dataclass(frozen=True)
class Column:
    """A column of a table."""

    head: str
    right: bool = False
    """Aligned to the right, as numbers are."""


@dataclass(frozen=True)
class Table:
    """Rows of texts, one per column."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    alerts: frozenset[int] = frozenset()
    """Rows that a terminal shows as bad news."""


@dataclass(frozen=True)
class Picture:
    """Lines that are shown as they are, each of pieces with a tone of their own; as wide as its maker made them."""

    lines: tuple[tuple[tuple[str, Tone], ...], ...]


@dataclass(frozen=True)
class Section:
    """Blocks under a title; an empty title is not shown."""

    title: str
    blocks: tuple[Paragraph | Table | Picture, ...]


def table(
    heads: Sequence[str], rows: Iterable[Sequence[str]], right: Iterable[int] = (), alerts: Iterable[int] = ()
) -> Table:
    """A table from its heads and rows; `right` are the indices of the columns of numbers."""
    numbers = frozenset(right)
    columns = tuple(Column(head, at in numbers) for at, head in enumerate(heads))
    return Table(columns, tuple(tuple(row) for row in rows), frozenset(alerts))


def mapped(sections: Iterable[Section], change: Callable[[str], str]) -> list[Section]:
    """The same page with every text changed."""
    return [
        Section(change(section.title), tuple(_mapped(block, change) for block in section.blocks))
        for section in sections
    ]


def _mapped(block: Paragraph | Table | Picture, change: Callable[[str], str]) -> Paragraph | Table | Picture:
    if isinstance(block, Paragraph):
        return replace(block, text=change(block.text))
    if isinstance(block, Picture):
        return Picture(tuple(tuple((change(text), tone) for text, tone in line) for line in block.lines))
    columns = tuple(replace(column, head=change(column.head)) for column in block.columns)
    return replace(block, columns=columns, rows=tuple(tuple(change(text) for text in row) for row in block.rows))


CLAIM = Section("", (Paragraph(CLAIM_SENTENCE, "note"),))
"""The claim in plain words, the last section of every page."""
