"""A trace as a stream of whole lines: plain or gzip, of any size, with bounded memory.

The file is a stranger's: its kind, its first bytes and the length of its lines are looked at before anything is kept.
"""

import gzip
import io
import os
import stat
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from sweep.errors import InputFault
from sweep.traffic.lines import LineFaults
from sweep.units import grouped

PIECE_BYTES: Final = 2**20
"""Read at once: the arrays of a block of this size stay in the processor's cache."""

LONGEST_LINE_BYTES: Final = 2**22
"""A request of 10^7 tokens in blocks of 512 has about 200 kB of hashes; a longer line is no trace."""

Progress = Callable[[int, int], None]
"""Called with the bytes read and the bytes of the file."""

_BINARY = {
    b"PAR1": "a Parquet file",
    b"ARROW1": "an Arrow file",
    b"PK\x03\x04": "a zip archive or a spreadsheet",
    b"\x28\xb5\x2f\xfd": "compressed with zstd",
    b"\xfd7zXZ\x00": "compressed with xz",
    b"BZh": "compressed with bzip2",
    b"\x89HDF": "an HDF5 or netCDF file",
    b"CDF\x01": "a netCDF file",
    b"SQLite format 3": "an SQLite database",
    b"\xff\xfe": "UTF-16 text",
    b"\xfe\xff": "UTF-16 text",
}
_GZIP = b"\x1f\x8b"
_BOM = b"\xef\xbb\xbf"
_BREAK = np.uint8(ord("\n"))


@dataclass(frozen=True)
class Chunk:
    """Whole lines of a trace.

    Attributes:
        data: their bytes, ending in a line break.
        line: the number of the first, from 1.
    """

    data: bytes
    line: int


def last_break(data: bytes) -> int:
    """How many of these bytes are whole lines."""
    return data.rfind(b"\n") + 1


class Source:
    """The bytes of an open trace.

    Attributes:
        faults: where its faults go.
        rereadable: whether the file can be opened again, which a pipe cannot.
    """

    def __init__(self, path: Path, progress: Progress | None = None) -> None:
        self.faults = LineFaults(path)
        self._progress = progress
        self._file, self._size, self.rereadable = _opened(path, self.faults.name)
        self._stream: io.BufferedReader | gzip.GzipFile = self._file
        self._rest = b""
        self._line = 1
        try:
            self._begin()
        except BaseException:
            self._file.close()
            raise

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _begin(self) -> None:
        if self._file.peek(len(_GZIP)).startswith(_GZIP):
            self._stream = gzip.GzipFile(fileobj=self._file)
        self._rest = self._read()
        name = self.faults.name
        if not self._rest:
            raise InputFault(f"{name}: is empty, wanted a trace of at least one request; check the path.")
        kind = next((kind for magic, kind in _BINARY.items() if self._rest.startswith(magic)), None)
        if kind:
            raise InputFault(f"{name}: is {kind}, which is not read; save it as CSV or JSON lines, plain or gzip.")
        self._rest = self._rest.removeprefix(_BOM)

    def _read(self) -> bytes:
        try:
            piece = self._stream.read(PIECE_BYTES)
        except EOFError:
            self.faults.stop(
                self._line, "about here the gzip data ends, it is cut short or damaged; get the whole file again"
            )
        except (gzip.BadGzipFile, zlib.error):
            self.faults.stop(self._line, "from about here on the gzip data is damaged; get the file again")
        except OSError as error:
            self.faults.stop(
                self._line, f"from about here on it cannot be read ({error.strerror or error}); check the disk"
            )
        if self._progress is not None and self._size:
            self._progress(min(self._file.tell(), self._size), self._size)
        return piece

    def first_line(self) -> bytes:
        """The first line that is not blank, without its line break; it stays to be read, the blank ones do not."""
        while True:
            blank = self._rest.rfind(b"\n", 0, len(self._rest) - len(self._rest.lstrip())) + 1
            self._line += self._rest.count(b"\n", 0, blank)
            self._rest = self._rest[blank:]
            self._check(self._rest)
            end = self._rest.find(b"\n")
            piece = self._read() if end < 0 else b""
            if not piece:
                return (self._rest if end < 0 else self._rest[:end]).rstrip(b"\r")
            self._rest += piece

    def skip_line(self) -> None:
        """Go behind the first line, which was a header."""
        self._rest = self._rest[self._rest.find(b"\n") + 1 or len(self._rest) :]
        self._line += 1

    def chunks(self, whole: Callable[[bytes], int] = last_break) -> Iterator[Chunk]:
        """The rest of the trace, once.

        Args:
            whole: how many of some bytes are whole records; those of CSV may have line breaks inside quotes.

        Raises:
            InputFault: a NUL byte, a line without end, damaged gzip data.
        """
        rest = self._rest
        while True:
            self._check(rest)
            end = whole(rest)
            if end:
                yield Chunk(rest[:end], self._line)
                # five times as fast as bytes.count, which stops at each of them
                self._line += int(np.count_nonzero(np.frombuffer(rest, np.uint8, end) == _BREAK))
            piece = self._read()
            rest = rest[end:] + piece
            if not piece:
                break
        if rest:
            yield Chunk(rest + b"\n", self._line)

    def _check(self, rest: bytes) -> None:
        at = rest.find(b"\0")
        if at >= 0:
            line = self._line + rest.count(b"\n", 0, at)
            self.faults.stop(line, "has a NUL byte, wanted text; this is no trace, or one that is damaged")
        if len(rest) > LONGEST_LINE_BYTES + PIECE_BYTES:
            most = grouped(LONGEST_LINE_BYTES)
            self.faults.stop(self._line, f"has no end within {most} bytes; check line breaks and quotes")


def _opened(path: Path, name: str) -> tuple[io.BufferedReader, int, bool]:
    """The file, its size in bytes (0 where unknown) and whether it can be opened again."""
    try:
        found = path.stat()
        regular = stat.S_ISREG(found.st_mode)
        if not regular and not _is_stdin_pipe(found):
            raise InputFault(
                f"{name}: is a folder, a device or a pipe, a regular file is wanted; give the path of a trace, or"
                " /dev/stdin with a pipe."
            )
        return path.open("rb"), found.st_size if regular else 0, regular
    except FileNotFoundError:
        raise InputFault(f"{name}: there is no such file; check the path of the trace.") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        reason = getattr(error, "strerror", None) or str(error)
        raise InputFault(f"{name}: cannot be read ({reason}); check that it is a readable trace.") from None


def _is_stdin_pipe(found: os.stat_result) -> bool:
    """Whether it is the pipe of standard input: another one may wait for ever, a device never ends."""
    try:
        return stat.S_ISFIFO(found.st_mode) and os.path.samestat(found, os.fstat(0))
    except OSError:  # closed
        return False
