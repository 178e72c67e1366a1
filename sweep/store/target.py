"""Under which name a result may appear, and how: a hidden partial file beside it, then one rename.

A partial file is `.{name}.partial-{pid}`, or with `.1`, `.2`, … after it where this process writes several at
once. Of a name that leaves no room for that, the head and a digest stand for the name.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import re
import shutil
import stat
from pathlib import Path

import netCDF4

from sweep.errors import ResultFault, UsageFault
from sweep.store.seal import append_seal, has_seal
from sweep.store.seed import EMPTY_FILE

HDF5_MAGIC = b"\x89HDF\r\n\x1a\n"
_PROBE_BYTES = 2**20
_NAME_BYTES = 255
"""Longest name of a file on every file system in use."""
_ENDING_BYTES = 32
"""Room for `.partial-`, a pid and a number."""


def grid_digest_of(path: Path) -> str | None:
    """`grid_sha256` of the sealed result file at `path`; None where it is anything else. Reads no values."""
    try:
        with path.open("rb") as stream:
            if stream.read(len(HDF5_MAGIC)) != HDF5_MAGIC or not has_seal(path):
                return None
        with netCDF4.Dataset(path, "r") as dataset:
            value = getattr(dataset, "grid_sha256", None)
    except (OSError, RuntimeError, UnicodeError, AttributeError):
        return None
    return value if isinstance(value, str) else None


def check_target(target: Path, grid_sha256: str, force: bool) -> Path:
    """The real path (links resolved) that a result of this grid may be written to.

    Cheap: call it before anything is computed.

    Raises:
        ResultFault: the folder is missing, the target is no file, or a file that only `force` may replace.
    """
    real = Path(os.path.realpath(target))
    if not real.parent.is_dir():
        what = "is not a folder" if os.path.lexists(real.parent) else "does not exist"
        raise ResultFault(f"{target}: the folder {real.parent} {what}; create it, or choose another file with -o.")
    try:
        mode = real.stat().st_mode
    except FileNotFoundError:
        return real
    except OSError as error:
        raise ResultFault(f"{target}: cannot be looked at ({error.strerror}); choose another file with -o.") from error
    if stat.S_ISDIR(mode):
        raise ResultFault(f"{target}: is a folder, a file is wanted; give a file name in it with -o.")
    if not stat.S_ISREG(mode):
        raise ResultFault(f"{target}: is a device or a pipe, a regular file is wanted; give another name with -o.")
    if not force:
        found = grid_digest_of(real)
        if found is None:
            raise ResultFault(
                f"{target}: exists and is not a complete sweep result; --force replaces it, -o chooses another file."
            )
        if found != grid_sha256:
            raise ResultFault(
                f"{target}: holds the result of another grid (grid_sha256 {found[:12]}…, this grid is"
                f" {grid_sha256[:12]}…); --force replaces it, -o chooses another file."
            )
    return real


def refuse_grid_as_target(grid: Path, target: Path) -> None:
    """Refuse to write the result over the grid file that it is computed from, by whatever name.

    Raises:
        UsageFault: both are one file.
    """
    try:
        same = os.path.samefile(grid, target)
    except (OSError, ValueError):  # one of them does not exist; ValueError: a NUL in the path
        return
    if same:
        raise UsageFault(f"{target}: is the grid file itself; choose another file with -o.")


def _stem(target: Path) -> str:
    """What the names of a target's partial files begin with."""
    most = _NAME_BYTES - _ENDING_BYTES
    head = f".{target.name}"
    if len(os.fsencode(head)) > most:
        digest = hashlib.sha256(os.fsencode(target.name)).hexdigest()[:16]
        while len(os.fsencode(head)) + 1 + len(digest) > most:  # by characters: a half one is no name everywhere
            head = head[:-1]
        head = f"{head}~{digest}"
    return f"{head}.partial-"


def _alive(path: Path, pid: int) -> bool:
    """Whether some process still writes this partial file.

    HDF5 holds an flock on a file that it writes. The lock decides, since a pid may be reused or belong to
    another container; but a pid that runs and is not ours keeps its file too, as locks may be off
    (HDF5_USE_FILE_LOCKING).
    """
    if pid != os.getpid():
        with contextlib.suppress(ProcessLookupError):
            with contextlib.suppress(PermissionError):
                os.kill(pid, 0)
            return True
    try:
        with path.open("rb") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    return False


def remove_dead_partials(target: Path) -> None:
    """Remove what killed runs left beside `target`. Files of running processes stay; failures are ignored."""
    pattern = re.compile(re.escape(_stem(target)) + r"(\d{1,9})(\.\d+)?")
    for path in target.parent.iterdir():
        match = pattern.fullmatch(path.name)
        if match and not _alive(path, int(match[1])):
            with contextlib.suppress(OSError):
                path.unlink()


def create_partial(target: Path) -> Path:
    """Create the partial file of `target`, an empty HDF5 file, under a name of its own. Raises OSError."""
    number = 0
    while True:
        path = target.with_name(f"{_stem(target)}{os.getpid()}" + (f".{number}" if number else ""))
        try:
            with path.open("xb") as stream:
                stream.write(EMPTY_FILE)
        except FileExistsError:
            number += 1
            continue
        except OSError:
            path.unlink(missing_ok=True)
            raise
        return path


def commit_partial(partial: Path, target: Path, grid_sha256: str, force: bool) -> None:
    """Seal the closed partial file, flush it to the disk, and give it its name.

    Raises:
        ResultFault: meanwhile something is there that only `force` may replace.
        OSError: the disk refuses.
    """
    append_seal(partial)
    with partial.open("rb") as stream:
        os.fsync(stream.fileno())
    if check_target(target, grid_sha256, force) != target and not force:
        raise ResultFault(f"{target}: became a link during the run; --force replaces it, -o chooses another file.")
    partial.replace(target)
    folder = os.open(target.parent, os.O_RDONLY)
    try:
        # Some file systems have no fsync for folders (EINVAL); the rename itself is done.
        with contextlib.suppress(OSError):
            os.fsync(folder)
    finally:
        os.close(folder)


_LESS = "store less with --store none or --materialize never"
_ANY_ADVICE = f"free some room or mend the permissions, choose another file with -o, or {_LESS}"
_FULL = f"free some room, choose another file with -o, or {_LESS}"
_PERMISSIONS = "mend the permissions, or choose another file with -o"
_ADVICE = {
    errno.ENAMETOOLONG: "choose a shorter name with -o",
    errno.EFBIG: f"raise the limit of a file's size (ulimit -f), choose another file system with -o, or {_LESS}",
    errno.EROFS: "that file system is read-only, choose a file on another one with -o",
    errno.ENOSPC: _FULL,
    errno.EDQUOT: _FULL,
    errno.EACCES: _PERMISSIONS,
    errno.EPERM: _PERMISSIONS,
}
"""What helps, per errno."""


def disk_sentence(target: Path, partial: Path | None, error: Exception) -> str:
    """Why writing failed, how much room the disk has, and what to do.

    HDF5 hides the system's reason ("NetCDF: HDF error"), so writing another MiB to the partial file asks for
    it again.
    """
    number = error.errno or 0 if isinstance(error, OSError) else 0
    reason = (error.strerror if isinstance(error, OSError) and number > 0 else None) or str(error)
    written = ""
    if partial is not None and partial.exists():
        written = f" after {partial.stat().st_size:,} bytes".replace(",", " ")
        if number <= 0:
            try:
                with partial.open("ab", buffering=0) as stream:
                    stream.write(bytes(_PROBE_BYTES))
                    stream.write(b"\0")
            except OSError as probed:
                number, reason = probed.errno or 0, probed.strerror or reason
    try:
        room = f"{shutil.disk_usage(target.parent).free:,} bytes are free on that disk".replace(",", " ")
    except OSError:
        room = "how much room that disk has is unknown"
    advice = _ADVICE.get(number, _ANY_ADVICE)
    return f"{target}: cannot be written{written}: {reason}; {room}; nothing was left there: {advice}."
