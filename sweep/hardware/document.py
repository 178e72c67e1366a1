"""A stranger's JSON file -> a parsed object, or one sentence; nothing in it is trusted, no number becomes a float."""

import json
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from sweep.errors import InputFault, RefusedSize
from sweep.units import Unreadable, grouped, parse_decimal, printable, shown

MAX_CONFIG_BYTES: Final = 4 * 2**20
"""A model's config has a few kilobytes; one of 10^5 layers with a kind for each has two megabytes."""
MAX_INDEX_BYTES: Final = 64 * 2**20
"""An index names every tensor: 10 megabytes for the largest models there are."""


class _Hostile(ValueError):
    """Something that JSON parsers let pass and this one does not; the message is the middle of a sentence."""


def read_object(path: Path, most_bytes: int, what: str) -> dict[str, Any]:
    """The object that a JSON file holds; decimals are exact.

    Args:
        path: a regular file in UTF-8.
        most_bytes: a larger one is refused before it is read.
        what: what the file is, for a message.

    Raises:
        InputFault: missing, unreadable, no regular file, too large, no JSON object, or a key twice.
    """
    return parse_object(_text(path, most_bytes, what), printable(str(path), 160), what)


def parse_object(text: str, where: str, what: str) -> dict[str, Any]:
    """The object that a JSON text holds; see `read_object`."""
    text = text.removeprefix("\N{BYTE ORDER MARK}")
    if not text.strip():
        raise InputFault(f"{where}: is empty, {what} is wanted; give a complete file.")
    try:
        found = json.loads(
            text,
            parse_float=parse_decimal,
            parse_constant=Unreadable,  # published configs hold Infinity where nothing is read; elsewhere it is refused
            object_pairs_hook=_no_key_twice,
        )
    except json.JSONDecodeError as error:
        place = f"line {grouped(error.lineno)}, column {grouped(error.colno)}"
        raise InputFault(
            f"{where}: {place} is not JSON ({error.msg}); give a complete file, {what} is wanted."
        ) from None
    except _Hostile as error:
        raise InputFault(f"{where}: {error}; correct it.") from None
    except RecursionError:
        raise InputFault(f"{where}: nested too deep to be {what}; give another file.") from None
    except ValueError:  # int() of more than 4300 digits
        raise InputFault(f"{where}: has an integer of more than 4 300 digits; correct it.") from None
    if not isinstance(found, dict):
        came = "null" if found is None else shown(found)
        raise InputFault(f"{where}: holds {came}, {what} is wanted, a JSON object; give another file.")
    return found


def _text(path: Path, most_bytes: int, what: str) -> str:
    name = printable(str(path), 160)
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # a named pipe may wait for ever, and a device never ends
            raise InputFault(f"{name}: is a folder, a device or a pipe, a file with {what} is wanted; give its path.")
        with path.open("rb") as file:
            data = file.read(most_bytes + 1)
    except FileNotFoundError:
        raise InputFault(f"{name}: there is no such file; check the path of {what}.") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        reason = getattr(error, "strerror", None) or str(error)
        raise InputFault(f"{name}: cannot be read ({reason}); check that it is {what}.") from None
    if len(data) > most_bytes:
        raise RefusedSize(f"{name}: larger than {grouped(most_bytes)} bytes, too large for {what}; give another file.")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise InputFault(f"{name}: line {line} is not UTF-8, so it is not {what}; give another file.") from None


def _no_key_twice(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise _Hostile(f"has the key {shown(twice)} twice in one object")
    return found


def weight_bytes_of_index(path: Path) -> int:
    """Bytes of all tensors of a model, as its `model.safetensors.index.json` states them in `metadata.total_size`.

    Raises:
        InputFault: the file is wrong, or states no such number.
    """
    index = read_object(path, MAX_INDEX_BYTES, "a safetensors index (model.safetensors.index.json)")
    metadata = index.get("metadata")
    size = metadata.get("total_size") if isinstance(metadata, Mapping) else None
    if isinstance(size, bool) or not isinstance(size, int) or not 0 <= size <= 10**18:
        got = "nothing" if size is None else shown(size)
        wanted = "wanted a whole number of bytes from 0 to 10^18"
        name = printable(str(path), 160)
        raise InputFault(f"{name}: metadata.total_size: got {got}, {wanted}; give the bytes with --weights.")
    return size
