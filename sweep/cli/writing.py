"""Small files that a command writes: complete or not at all, and never over another file unasked."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path

from sweep.cli.program import mark_written
from sweep.errors import ResultFault, UsageFault


def refuse_target(path: Path, force: bool, inputs: Sequence[Path] = ()) -> None:
    """Say why a file may not be written, before any work is done for it.

    Args:
        path: the file.
        force: replace a file that is there.
        inputs: files that the text is made from, which it never replaces.

    Raises:
        UsageFault: the file is one of the inputs.
        ResultFault: it is there and may not be replaced, or its name is none.
    """
    if any(_same(path, other) for other in inputs):
        raise UsageFault(f"{path}: is what the output is made from; name another file with -o.")
    try:
        there, regular = path.exists(), path.is_file()
    except OSError as error:  # a name that is too long, a folder that may not be looked into
        raise ResultFault(f"{path}: cannot be written ({error.strerror}); name another file with -o.") from error
    if there and not regular:
        raise ResultFault(f"{path}: is a folder or a device, a file name is wanted; give the name of a file.")
    if there and not force:
        raise ResultFault(f"{path}: exists already; give --force to replace it, or another name with -o.")


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
    _write(path, text, force, inputs)


def write_bytes(path: Path, data: bytes, force: bool, inputs: Sequence[Path] = ()) -> None:
    """Write bytes to a file as `write_text` writes a text."""
    _write(path, data, force, inputs)


def _write(path: Path, content: str | bytes, force: bool, inputs: Sequence[Path]) -> None:
    import tempfile  # with random and hashlib, for this command only

    refuse_target(path, force, inputs)
    beside = ""
    try:
        descriptor, beside = tempfile.mkstemp(prefix=f".{path.name[:100]}.", dir=path.parent)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode("utf-8"))
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
