"""A progress bar on a terminal: how many, how fast, how long yet."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

from sweep.report.words import short_count


class _Done(ProgressColumn):
    """How much is done of all, in the unit of the work."""

    def __init__(self, unit: str) -> None:
        super().__init__()
        self.unit = unit

    def render(self, task: Task) -> Text:
        done, total = short_count(int(task.completed)), short_count(int(task.total or 0))
        return Text(f"{done} of {total} {self.unit}", no_wrap=True)


class _Rate(ProgressColumn):
    """How much per second."""

    def render(self, task: Task) -> Text:
        return Text(f"{short_count(int(task.speed or 0))}/s", no_wrap=True)


@contextmanager
def progress_bar(file: TextIO, colour: bool, what: str, unit: str) -> Iterator[Callable[[int, int], None]]:
    """A bar that vanishes at the end.

    Args:
        file: the terminal.
        colour: whether colours may be used.
        what: the word before the bar.
        unit: what is counted.

    Yields:
        A function of what is done and all there is, in that unit.
    """
    console = Console(file=file, color_system="auto" if colour else None, highlight=False, markup=False)
    columns = (TextColumn(what), BarColumn(bar_width=20), _Done(unit), _Rate(), TimeRemainingColumn(compact=True))
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(what, total=None)

        def step(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        yield step
