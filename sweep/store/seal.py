"""The seal: the last 48 bytes of a result file, 16 of magic and the raw SHA-256 of every byte before them.

HDF5 records its own end of file and ignores what comes after, so netCDF4 and xarray open a sealed file. A
file that was cut short has no seal; one that was altered has the wrong one; one that another program changed
has lost it, since HDF5 cuts a file at its own end when it closes it.
"""

import errno
import hashlib
import io
import os
from pathlib import Path

SEAL_MAGIC = b"\x00sweep-seal-v1\r\n"
SEAL_BYTES = len(SEAL_MAGIC) + 32
SEAL_FORMAT = (
    "v1: after the end of the HDF5 data, 16 bytes (00, sweep-seal-v1, CR, LF) and the 32 bytes of the SHA-256"
    " of all bytes before them"
)
_BUFFER_BYTES = 2**20


def _sha256_of_first(stream: io.RawIOBase, length: int) -> bytes:
    """SHA-256 of the first `length` bytes (fewer where the stream is shorter), in bounded memory."""
    total = hashlib.sha256()
    stream.seek(0)
    buffer = memoryview(bytearray(_BUFFER_BYTES))
    while length > 0 and (got := stream.readinto(buffer[: min(length, _BUFFER_BYTES)])):
        total.update(buffer[:got])
        length -= got
    return total.digest()


def append_seal(path: Path) -> None:
    """Append the seal to a closed HDF5 file (not flushed). Raises OSError."""
    with io.FileIO(path, "r+") as stream:
        length = stream.seek(0, 2)
        digest = _sha256_of_first(stream, length)
        stream.seek(length)
        if stream.write(SEAL_MAGIC + digest) != SEAL_BYTES:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def has_seal(path: Path) -> bool:
    """Whether the file ends in a seal, right or wrong. Raises OSError."""
    with io.FileIO(path) as stream:
        length = stream.seek(0, 2)
        stream.seek(max(0, length - SEAL_BYTES))
        return length >= SEAL_BYTES and stream.read(len(SEAL_MAGIC)) == SEAL_MAGIC


def seal_holds(path: Path) -> bool:
    """Whether the file ends in a seal that fits all bytes before it; reads the whole file. Raises OSError."""
    with io.FileIO(path) as stream:
        length = stream.seek(0, 2) - SEAL_BYTES
        if length < 0:
            return False
        stream.seek(length)
        return stream.read(SEAL_BYTES) == SEAL_MAGIC + _sha256_of_first(stream, length)
