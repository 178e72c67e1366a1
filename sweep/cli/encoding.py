"""Signs that a stream's encoding has not: in their place ASCII that means the same, else the character's number."""

from __future__ import annotations

import codecs

HANDLER = "sweep.plain"
"""The name under which Python's encoders know this rule."""

_PLAIN = {
    "⌈": "ceil(",
    "⌉": ")",
    "⌊": "floor(",
    "⌋": ")",
    "·": "*",
    "×": "x",
    "÷": "/",
    "−": "-",
    "≤": "<=",
    "≥": ">=",
    "≠": "!=",
    "‰": "permille",
    "…": "...",
    "–": "-",
    "—": "-",
    "→": "->",
    "∞": "infinity",
    "²": "^2",
    "µ": "u",
    "μ": "u",
    "─": "-",
    "━": "-",
    "│": "|",
    "\u00a0": " ",
    "\u202f": " ",
}


def fitted(text: str, encoding: str) -> str:
    """The text with nothing in it that the encoding has not."""
    return text.encode(encoding, HANDLER).decode(encoding)


def _plain(error: UnicodeError) -> tuple[str | bytes, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    wrong = error.object[error.start : error.end]
    return "".join(_PLAIN.get(char) or char.encode("ascii", "backslashreplace").decode() for char in wrong), error.end


codecs.register_error(HANDLER, _plain)
