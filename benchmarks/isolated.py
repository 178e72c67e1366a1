"""Processes of their own: for a case, so that none disturbs another, and for its peak memory."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.outcome import Outcome, not_measured, outcome_of
from benchmarks.registry import Case, NotAvailable, Scale

ROOT = Path(__file__).resolve().parents[1]


def measured(case: Case, scale: Scale, rounds: int) -> Outcome:
    """A row, measured by a child; a child that fails or takes too long gives a reason instead of a time."""
    command = [sys.executable, "-m", "benchmarks.child", case.key, scale, str(rounds)]
    # A session of its own: what the child started ends with it.
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as child:
        try:
            printed, complaints = child.communicate(timeout=case.patience_seconds)
        except BaseException as error:
            os.killpg(child.pid, signal.SIGKILL)
            child.communicate()
            if isinstance(error, subprocess.TimeoutExpired):
                return not_measured(case, f"not done after {case.patience_seconds} s", scale == "full")
            raise
    if child.returncode:
        last = next((line for line in reversed(complaints.splitlines()) if line.strip()), "no message")
        return not_measured(case, f"the process ended with {child.returncode}: {last}", scale == "full")
    return outcome_of(json.loads(printed.splitlines()[-1]))


def peak_bytes(module_and_arguments: Sequence[str]) -> int:
    """The peak memory of a Python process that runs a module once, in bytes. Raises NotAvailable where it fails."""
    with TemporaryDirectory() as folder:
        target = Path(folder) / "peak"
        run_python(["-m", "benchmarks.peak", str(target), *module_and_arguments])
        return int(target.read_text())


def run_python(arguments: Sequence[str]) -> None:
    """A Python process at the top of the checkout, its output thrown away.

    Raises:
        NotAvailable: it failed; with the last line of what it complained.
    """
    command = [sys.executable, *arguments]
    ended = subprocess.run(command, cwd=ROOT, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if ended.returncode:
        complaints = ended.stderr.strip().splitlines() or ["no message"]
        raise NotAvailable(f"exit {ended.returncode}: {complaints[-1]}")
