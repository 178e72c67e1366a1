"""Lines of a grid file: a value with the comment that says where it came from, beside it or above it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from sweep.units import printable

WIDTH: Final = 116
"""The longest line; longer ones only where a single word is."""

COLUMN: Final = 40
"""Where a comment begins beside a short value."""

_LONGEST: Final = 400
"""Characters of a comment: a stranger's names may be in it."""

_GROUP_SPACE = re.compile(r"(?<=[0-9]) (?=[0-9]{3}(?![0-9]))")
_GLUE = "\N{NO-BREAK SPACE}"


def quoted(text: str) -> str:
    """A text as a TOML string on one line.

    >>> print(quoted('the "8b" of C:' + chr(92) + chr(10)))
    "the \\"8b\\" of C:\\\\\\u000a"
    """
    plain = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(char if char.isprintable() else _escape(char) for char in plain) + '"'


def _escape(char: str) -> str:
    return f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}"


def comment(text: str) -> list[str]:
    """A text as lines of a comment; what is not printable is escaped, numbers in groups are not broken."""
    words = _GROUP_SPACE.sub(_GLUE, printable(text, _LONGEST)).split(" ")
    lines, line = [], "#"
    for word in words:
        if len(line) + 1 + len(word) > WIDTH and line != "#":
            lines.append(line)
            line = "#"
        line = f"{line} {word}"
    return [part.replace(_GLUE, " ").rstrip() for part in [*lines, line]]


def entry(key: str, value: str, *sources: str) -> list[str]:
    """A key with its value and where it came from, beside it where there is room, else above.

    Args:
        key: of a table.
        value: as TOML.
        sources: clauses; empty ones are left out.
    """
    line, said = f"{key} = {value}", "; ".join(filter(None, sources))
    if not said:
        return [line]
    beside = comment(said)
    start = max(COLUMN, len(line) + 2)
    if len(beside) == 1 and start + len(beside[0]) <= WIDTH:
        return [f"{line:{start}}{beside[0]}"]
    return [*beside, line]


def paragraphs(texts: Iterable[str]) -> list[str]:
    """Several comments under each other."""
    return [line for text in texts for line in comment(text)]


def listed(numbers: Iterable[int]) -> str:
    """Integers as a TOML list."""
    return f"[{', '.join(f'{number:_}' for number in numbers)}]"
