"""A measured file as text. It is a stranger's: its kind, size and bytes are looked at before anything is parsed."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

from sweep.errors import InputFault, RefusedSize
from sweep.units import grouped, printable

MAX_BYTES: Final = 64 * 2**20
"""About three million numbers, which take some 300 MB once they are exact decimals."""

_BINARY: Final = {
    b"\x1f\x8b": "is compressed (gzip); unpack it first",
    b"PK\x03\x04": "is a zip archive or a spreadsheet; unpack it, or save it as text",
    b"\x89HDF": "is an HDF5 or netCDF file, and a measurement is wanted; ask a result of `sweep run` with `sweep best`",
    b"PAR1": "is a Parquet file; write it as JSON or CSV",
    b"\xff\xfe": "is UTF-16 text; save it as UTF-8",
    b"\xfe\xff": "is UTF-16 text; save it as UTF-8",
}


def name_of(path: str | Path) -> str:
    """How messages call a file."""
    return printable(str(path), 160)


def read_text(path: str | Path) -> str:
    """The text of a measured file.

    Raises:
        InputFault: missing, unreadable, a folder or a device, empty, or not UTF-8 text.
        RefusedSize: larger than `MAX_BYTES`.
    """
    name = name_of(path)
    try:
        if not _is_readable_kind(os.stat(path)):
            raise InputFault(
                f"{name}: is a folder, a device or a pipe, a regular file is wanted; give the path of one."
            )
        with open(path, "rb") as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise InputFault(f"{name}: there is no such file; check the path.") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        reason = getattr(error, "strerror", None) or str(error)
        raise InputFault(f"{name}: cannot be read ({reason}); check that it is a readable file.") from None
    if len(data) > MAX_BYTES:
        raise RefusedSize(
            f"{name}: larger than 64 MiB ({grouped(MAX_BYTES)} bytes), the limit of a measured file; "
            f"save the run without per-token details, or cut the log."
        )
    return _decoded(name, data)


def _is_readable_kind(found: os.stat_result) -> bool:
    """Whether a measurement may be read from it: a named pipe may wait for ever, a device never ends."""
    if not stat.S_ISFIFO(found.st_mode):
        return stat.S_ISREG(found.st_mode)
    try:
        return os.path.samestat(found, os.fstat(0))
    except OSError:  # closed
        return False


def _decoded(name: str, data: bytes) -> str:
    known = next((what for magic, what in _BINARY.items() if data.startswith(magic)), None)
    if known is not None:
        raise InputFault(f"{name}: {known}.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise InputFault(f"{name}: line {grouped(line)} is not UTF-8, so it is no text; give the saved text.") from None
    if "\0" in text:
        raise InputFault(f"{name}: has NUL bytes, so it is no text; give the saved text.")
    if not text.strip():
        raise InputFault(f"{name}: is empty; give the file that the load test or the engine wrote.")
    return text
