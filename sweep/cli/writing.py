"""Small text files that a command writes: complete or not at all, and never over another file unasked."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path

from sweep.cli.program import mark_written
from sweep.errors import ResultFault, UsageFault


def write_text(path: Path, text: str, force: bool, inputs: Sequence[Path] = ()) -> None:
    """Write a text to a file, under its name only once it is complete.

    Args:
        path: the file.
        text: what it shall hold.
        force: replace a file that is there.
        inputs: files that the text was made from, which it never replaces.

    Raises:
        UsageFault: the file is one of the inputs.
        ResultFault: it is there and may not be replaced, or cannot be written.
    """
    import tempfile  # with random and hashlib, for this command only

    if any(_same(path, other) for other in inputs):
        raise UsageFault(f"{path}: is what the output is made from; name another file with -o.")
    if path.is_dir() or (path.exists() and not path.is_file()):
        raise ResultFault(f"{path}: is a folder or a device, a file name is wanted; give the name of a file.")
    if path.exists() and not force:
        raise ResultFault(f"{path}: exists already; give --force to replace it, or another name with -o.")
    beside = ""
    try:
        descriptor, beside = tempfile.mkstemp(prefix=f".{path.name[:100]}.", dir=path.parent)
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(beside, 0o666 & ~_umask())  # mkstemp keeps a file to its owner
        os.replace(beside, path)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        reason = getattr(error, "strerror", None) or str(error)
        raise ResultFault(f"{path}: cannot be written ({reason}); name another file with -o.") from error
    finally:
        if beside:
            with contextlib.suppress(OSError):
                os.unlink(beside)  # gone under this name where it was completed
    mark_written(str(path))


def _same(one: Path, other: Path) -> bool:
    try:
        return os.path.samefile(one, other)
    except (OSError, ValueError):
        return False


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
