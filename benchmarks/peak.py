"""`python -m benchmarks.peak FILE MODULE [ARG …]`: run a module as a program, then write its peak memory to FILE.

Only the standard library is imported here, so that the peak is the module's own.
"""

from __future__ import annotations

import contextlib
import resource
import runpy
import sys
from pathlib import Path

_STATUS = Path("/proc/self/status")


def peak_resident_bytes() -> int:
    """The most resident memory of this process so far, in bytes.

    Linux hands `ru_maxrss` of the process that started this one on to it, so a large parent would show in a small
    child; the high-water mark of the address space begins anew with each program.
    """
    if _STATUS.exists():
        marks = [line.split() for line in _STATUS.read_text().splitlines() if line.startswith("VmHWM:")]
        if marks:
            return int(marks[0][1]) * 1024
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def main(arguments: list[str]) -> None:
    """Run the module; its failure is ours."""
    target, module, *rest = arguments
    sys.argv = [module, *rest]
    ended: SystemExit | None = None
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as exit_:
        ended = exit_
    with contextlib.suppress(BrokenPipeError):
        sys.stdout.flush()
    Path(target).write_text(str(peak_resident_bytes()))
    if ended is not None:
        raise ended


if __name__ == "__main__":
    main(sys.argv[1:])
