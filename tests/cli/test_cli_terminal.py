"""On a terminal: rules, colours unless NO_COLOR is set, a progress bar on stderr."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pty = pytest.importorskip("pty", reason="no pseudo-terminals on this system")

ROOT = Path(__file__).parents[2]


def on_terminal(*args, env=None, cwd=None):
    """What the command prints on a terminal of 80 columns, stdout and stderr together."""
    ours, theirs = pty.openpty()
    surroundings = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "FORCE_COLOR")}
    surroundings |= {"PYTHONPATH": str(ROOT), "TERM": "xterm-256color", "COLUMNS": "80", **(env or {})}
    command = [sys.executable, "-m", "sweep", *map(str, args)]
    with subprocess.Popen(command, stdout=theirs, stderr=theirs, stdin=theirs, env=surroundings, cwd=cwd) as child:
        os.close(theirs)
        chunks = []
        while True:
            try:
                chunk = os.read(ours, 65_536)
            except OSError:  # Linux says EIO where the other side has closed
                break
            if not chunk:
                break
            chunks.append(chunk)
    os.close(ours)
    assert child.returncode == 0
    return b"".join(chunks).decode().replace("\r\n", "\n")


def test_colours_and_rules(tiny_nc):
    shown = on_terminal("best", tiny_nc)
    assert "\x1b[" in shown
    assert "───" in shown


@pytest.mark.parametrize("env", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_no_escape_sequence_where_none_is_wanted(tiny_nc, env):
    shown = on_terminal("explain", tiny_nc, env=env)
    assert "\x1b" not in shown
    assert "───" in shown


def test_the_words_are_those_of_a_pipe(tiny_nc, process):
    shown = re.sub(r"\x1b\[[0-9;]*m|─", "", on_terminal("best", tiny_nc))
    assert shown.split() == process("best", tiny_nc).stdout.split()


def test_json_on_a_terminal_is_json_alone(tiny_nc, process):
    assert on_terminal("best", tiny_nc, "--json") == process("best", tiny_nc, "--json").stdout


def test_lines_fit_a_narrow_terminal(tiny_nc):
    shown = on_terminal("best", tiny_nc, env={"COLUMNS": "60", "NO_COLOR": "1"})
    assert max(map(len, shown.splitlines())) <= 60


def test_progress_bar_unless_quiet(tiny):
    assert "cells" in on_terminal("run", tiny, "-o", "a.nc", cwd=tiny.parent).partition("Result")[0]
    assert "judging" in on_terminal("run", tiny, "-o", "b.nc", cwd=tiny.parent)
    assert "judging" not in on_terminal("run", tiny, "-q", "-o", "c.nc", cwd=tiny.parent)
