"""Where output goes: pages, JSON and lines to stdout, a progress bar to a terminal's stderr."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from sweep.cli.encoding import fitted
from sweep.cli.program import discard, stdout_sentence
from sweep.errors import ResultFault

if TYPE_CHECKING:
    from sweep.report.blocks import Section

Progress = Callable[[int, int], None]

PIPE_LINES = 60
"""Lines that a map may take where nobody has a terminal."""


def write(text: str) -> None:
    """Text to stdout, at once and complete.

    Raises:
        BrokenPipeError: nobody reads any more.
        ResultFault: stdout is a file on a full disk, or the like.
    """
    if sys.stdout is None:  # closed by whoever started us
        return
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        discard(sys.stdout)
        raise ResultFault(stdout_sentence(error)) from error


def write_json(answer: Any) -> None:
    """One JSON document, ASCII, with integers as they are."""
    write(json.dumps(answer, indent=2) + "\n")


def page_size() -> tuple[int, int]:
    """Columns and lines of the terminal, or of a page in a pipe."""
    from sweep.report import plain

    size = shutil.get_terminal_size()
    return (size.columns, size.lines) if _is_terminal(sys.stdout) else (plain.WIDTH, PIPE_LINES)


def write_page(sections: Sequence[Section], width: int | None = None) -> None:
    """A page for a person: with rules and colours on a terminal, plain in a pipe or a file.

    Signs that the encoding of stdout has not are replaced before lines and columns are measured.

    Args:
        sections: the page.
        width: columns; default: those of the terminal, at most 80.
    """
    from sweep.report import plain
    from sweep.report.blocks import mapped

    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    sections = mapped(sections, lambda text: fitted(text, encoding))
    if not _is_terminal(sys.stdout):
        write(plain.text_of(sections, width or plain.WIDTH))
        return
    from sweep.report import terminal

    write(terminal.text_of(sections, colour(), width or min(shutil.get_terminal_size().columns, plain.WIDTH)))


def colour() -> bool:
    """Whether a terminal may get escape sequences (https://no-color.org)."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


@contextmanager
def progress(what: str, silent: bool, unit: str = "cells") -> Iterator[Progress | None]:
    """A progress bar where a person sees one: stderr is a terminal and nobody asked for silence; else None.

    Args:
        what: the word before the bar.
        silent: whether silence was asked for.
        unit: what the bar counts.
    """
    if silent or not _is_terminal(sys.stderr) or os.environ.get("TERM") == "dumb":
        yield None
        return
    from sweep.report.progress import progress_bar

    with progress_bar(sys.stderr, colour(), what, unit) as step:
        yield step


def _is_terminal(stream: Any) -> bool:
    return stream is not None and bool(stream.isatty())
