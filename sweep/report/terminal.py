"""Sections on a terminal, with rich: the same words as in a pipe, with rules under heads and a few colours."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator

from rich import box
from rich.console import Console, RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from sweep.report.blocks import Picture, Section, Table, Tone
from sweep.report.plain import WIDTH, fold, paragraph_lines

_STYLES: dict[Tone, str] = {"plain": "", "good": "green", "bad": "red", "note": "dim", "mark": "bold reverse"}


def text_of(sections: Iterable[Section], colour: bool, width: int = WIDTH) -> str:
    """A page as text for a terminal, ending in a line break.

    Args:
        sections: the page.
        colour: whether escape sequences may be used.
        width: columns.
    """
    # rich takes "auto" to mean "what the terminal can"; None switches every escape sequence off.
    console = Console(
        file=io.StringIO(),
        force_terminal=True,
        color_system="auto" if colour else None,
        width=width,
        highlight=False,
        markup=False,
        emoji=False,
    )
    with console.capture() as page:
        for at, section in enumerate(sections):
            if at:
                console.print()
            for item in renderables(section, width):
                console.print(item, soft_wrap=isinstance(item, Text))  # a line is as long as it is
    return page.get()


def renderables(section: Section, width: int) -> Iterator[RenderableType]:
    """What rich prints for a section."""
    if section.title:
        for line in fold(section.title, width):
            yield Text(line, style="bold")
    for block in section.blocks:
        if isinstance(block, Table):
            yield _table(block)
        elif isinstance(block, Picture):
            for pieces in block.lines:
                yield Text.assemble(*[(text, _STYLES[tone]) for text, tone in pieces])
        else:
            for line in paragraph_lines(block, width):
                yield Text(line, style=_STYLES[block.tone])


def _table(table: Table) -> RichTable:
    shown = RichTable(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold")
    for column in table.columns:
        shown.add_column(Text(column.head), justify="right" if column.right else "left", overflow="fold")
    for at, row in enumerate(table.rows):
        shown.add_row(*map(Text, row), style=_STYLES["bad"] if at in table.alerts else None)
    return shown
