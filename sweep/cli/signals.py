"""How the command is stopped: a signal takes the way of a Ctrl-C, and a second one does not disturb the first."""

from __future__ import annotations

import signal
import threading
import time
from types import FrameType

CLEANING_SECONDS = 10
"""So long after a signal no other one interrupts what cleans up; then one may, should the first have been lost."""

_WORDS = {"SIGINT": "interrupted", "SIGTERM": "terminated", "SIGHUP": "hung up"}
_first: list[tuple[float, int]] = []


class Stopped(KeyboardInterrupt):
    """A signal asked the command to end; it takes the way of a Ctrl-C."""

    def __init__(self, number: int) -> None:
        self.number = number
        super().__init__(number)


def catch_signals() -> None:
    """Let SIGINT, SIGTERM and SIGHUP raise `Stopped`, unless whoever started us ignores them (nohup)."""
    if threading.current_thread() is not threading.main_thread():
        return
    for name in _WORDS:
        number = getattr(signal, name, None)  # Windows knows no SIGHUP
        if number is not None and signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, _stop)


def raise_lost() -> None:
    """Raise a signal again whose exception a library has swallowed; call it where work goes on."""
    if _first:
        raise Stopped(_first[0][1])


def stop_code(error: BaseException) -> int:
    """The exit code after an interrupt, 128 and the number of the signal; from now on no other one changes it.

    Python gives signals back to the system while it ends; only ignored ones stay so.
    """
    if isinstance(error, Stopped):
        for name in _WORDS:
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), signal.SIG_IGN)
    return 128 + (error.number if isinstance(error, Stopped) else signal.SIGINT)


def stop_word(error: BaseException) -> str:
    """What an interrupt was."""
    return _WORDS[signal.Signals(error.number).name] if isinstance(error, Stopped) else _WORDS["SIGINT"]


def _stop(number: int, frame: FrameType | None) -> None:
    now = time.monotonic()
    if _first and now - _first[0][0] < CLEANING_SECONDS:
        return
    _first[:] = [(now, number)]
    raise Stopped(number)
