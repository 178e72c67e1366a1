"""JSON as people have it: one object, several in a row, or one per line; with exact decimals and no key twice."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from sweep.errors import InputFault
from sweep.units import MAX_DIGITS, Unreadable, grouped, parse_decimal, shown

MAX_OBJECTS: Final = 10**6
"""Most objects of one file."""

_SPACE = re.compile(r"[ \t\n\r,]*")


@dataclass(frozen=True)
class Item:
    """One object of a file.

    Attributes:
        raw: the parsed object: integers as int, decimals as Decimal, what is too long as Unreadable.
        line: where it begins, from 1.
    """

    raw: Mapping[str, Any]
    line: int


class _KeyTwice(ValueError):
    """An object has a key twice."""


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise _KeyTwice(key)
            seen.add(key)
    return found


def _integer(text: str) -> int | Unreadable:
    return int(text) if len(text) <= MAX_DIGITS else Unreadable(text)


def _decimal(text: str) -> Decimal | Unreadable:
    return parse_decimal(text)


_DECODER = json.JSONDecoder(
    object_pairs_hook=_no_key_twice, parse_float=_decimal, parse_int=_integer, parse_constant=Unreadable
)


def objects_of(text: str, name: str) -> list[Item]:
    """The JSON objects of a text, however they follow each other; a list of objects is taken apart.

    Args:
        text: begins with `{` or `[` after white space.
        name: how messages call the file.

    Raises:
        InputFault: not JSON, cut short, nested too deep, a key twice, something else than an object, too many.
    """
    found: list[Item] = []
    at, line, counted = 0, 1, 0
    while True:
        space = _SPACE.match(text, at)
        assert space is not None  # the pattern matches nothing too
        at = space.end()
        if at == len(text):
            return found
        line, counted = line + text.count("\n", counted, at), at
        value, at = _decoded(text, at, name, line)
        values = value if isinstance(value, list) else [value]
        for one in values:
            if not isinstance(one, dict):
                what = f"got {shown(one)}, wanted a JSON object; give the file as it was saved"
                raise InputFault(f"{name}: line {grouped(line)}: {what}.")
            found.append(Item(one, line))
        if len(found) > MAX_OBJECTS:
            raise InputFault(f"{name}: more than {grouped(MAX_OBJECTS)} objects; split the file.")


def _decoded(text: str, at: int, name: str, line: int) -> tuple[Any, int]:
    try:
        return _DECODER.raw_decode(text, at)
    except json.JSONDecodeError as error:
        ended = not text[error.pos :].strip() or error.msg.startswith("Unterminated string")
        what = "the JSON ends in the middle, it is cut short" if ended else f"not JSON ({error.msg})"
        raise InputFault(f"{name}: line {grouped(error.lineno)}: {what}; give the file as it was saved.") from None
    except RecursionError:
        raise InputFault(f"{name}: line {grouped(line)}: nested too deep for any report; give another file.") from None
    except _KeyTwice as error:
        what = f"the object that begins here has the key {shown(str(error))} twice; remove one"
        raise InputFault(f"{name}: line {grouped(line)}: {what}.") from None


def value_at(raw: object, path: Sequence[str]) -> object:
    """What stands under nested keys, None where anything on the way is missing."""
    for key in path:
        if not isinstance(raw, Mapping):
            return None
        raw = raw.get(key)
    return raw
