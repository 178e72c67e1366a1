"""A progress bar of cells on a terminal: how many, how fast, how long yet."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

from sweep.report.words import short_count


class _Cells(ProgressColumn):
    """Cells done of all."""

    def render(self, task: Task) -> Text:
        return Text(f"{short_count(int(task.completed))} of {short_count(int(task.total or 0))} cells", no_wrap=True)


class _Rate(ProgressColumn):
    """Cells per second."""

    def render(self, task: Task) -> Text:
        return Text(f"{short_count(int(task.speed or 0))}/s", no_wrap=True)


@contextmanager
def progress_bar(file: TextIO, colour: bool, what: str) -> Iterator[Callable[[int, int], None]]:
    """A bar that vanishes at the end.

    Args:
        file: the terminal.
        colour: whether colours may be used.
        what: the word before the bar.

    Yields:
        A function of the cells done and all cells.
    """
    console = Console(file=file, color_system="auto" if colour else None, highlight=False, markup=False)
    columns = (TextColumn(what), BarColumn(bar_width=20), _Cells(), _Rate(), TimeRemainingColumn(compact=True))
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(what, total=None)

        def step(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        yield step
