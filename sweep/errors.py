"""One family of errors; the exit code sits on the class.

A fault is one sentence that says where, what came, what is wanted and what to do next. An error carries all the
faults that its input has, so that a user repairs a file once. What is not in this family is a bug of ours and
keeps its traceback.
"""

from collections.abc import Iterable


class SweepError(Exception):
    """A failure that the user can act on.

    Attributes:
        faults: every fault found, one sentence each, in the order of the input.
        exit_code: what the command line exits with.
    """

    exit_code = 1

    def __init__(self, faults: str | Iterable[str]) -> None:
        self.faults: tuple[str, ...] = (faults,) if isinstance(faults, str) else tuple(faults)
        super().__init__("\n".join(self.faults))


class AskedForFailure(SweepError):
    """The user asked for a failure (`verify`, `--require`) and the condition came true."""

    exit_code = 1


class UsageFault(SweepError):
    """The command, option or argument makes no sense for this input (unknown axis, no common cell)."""

    exit_code = 2


class RecordFault(SweepError, ValueError):
    """A record's field breaks its type, bound, identity or digest rule (`audit.md`, "Records").

    It is a `ValueError` too, so that plain Python callers need not know this family.
    """

    exit_code = 3


class InputFault(SweepError):
    """A grid file or another input is wrong."""

    exit_code = 3


class RefusedSize(InputFault):
    """The input is valid, but what it asks for would not fit: refused before anything is allocated."""


class ResultFault(SweepError):
    """A result file is missing, damaged, foreign or cannot be written (disk, permissions)."""

    exit_code = 4


class SelfCheckFault(SweepError):
    """The kernels and the scalar reference disagree: a bug of ours, reported with the cell and both values."""

    exit_code = 5


class NotEnoughData(SweepError):
    """The input is valid, but what it says does not decide the question: no pass, and no failure either."""

    exit_code = 6
