"""What `--help` costs, counted in modules, and what every help says."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from sweep._version import __version__

ROOT = Path(__file__).parents[2]
COMMANDS = ("init", "run", "best", "explain", "verify", "info", "completion")
HEAVY = {"numpy", "xarray", "netCDF4", "pandas", "pydantic", "rich"}


def _modules(code):
    """The modules that are loaded after some code, in a fresh interpreter."""
    script = f"{code}\nimport sys, json\njson.dump(sorted(sys.modules), sys.stderr)"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(json.loads(done.stderr))


HELP = """
import sys
sys.argv = ["sweep", {arguments}]
from sweep.cli.main import main
try:
    main()
except SystemExit as stop:
    assert stop.code == 0
"""


@pytest.mark.parametrize(
    "arguments", ['"--help"', '"run", "--help"', '"init", "--help"', '"--version"', '"completion", "zsh"']
)
def test_help_imports_click_the_command_line_and_little_else(arguments):
    added = _modules(HELP.format(arguments=arguments)) - _modules("import click, json")
    ours = {name for name in added if name.partition(".")[0] == "sweep"}
    assert not {name.partition(".")[0] for name in added} & HEAVY
    assert all(name.startswith("sweep.cli") or name in ("sweep", "sweep._version", "sweep.errors") for name in ours)
    assert len(added - ours) <= 14  # of the standard library: shutil and what it imports, dataclasses, signal


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(invoke, command):
    code, out, _ = invoke(command, "--help")
    assert code == 0
    assert f"  Examples:\n    {'eval' if command == 'completion' else 'sweep'}" in out
    assert "--json" in out
    assert len(out.split("Examples:")[0]) > 200  # what it does and why, in a paragraph


def test_help_lists_the_commands_and_the_exit_codes(invoke):
    _, out, _ = invoke("--help")
    assert all(f"\n  {command} " in out for command in COMMANDS)
    assert "130  interrupted" in out
    assert "not a device benchmark" in " ".join(out.split())


def test_version(invoke):
    assert invoke("--version")[1] == f"sweep {__version__}\n"
