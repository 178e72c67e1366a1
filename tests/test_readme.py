"""The README's examples run, and print what it shows."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[1]
README = PROJECT / "README.md"
_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(language: str) -> list[str]:
    return [body for kind, body in _FENCE.findall(README.read_text(encoding="utf-8")) if kind == language]


def examples(block: str) -> list[tuple[str, str]]:
    """Commands of a console block, each with the output that follows it."""
    parts = re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
    return [(command, output) for command, _, output in (part.partition("\n") for part in parts)]


def run(command: str, folder: Path) -> str:
    """What a command of the README prints, stderr after stdout."""
    words = shlex.split(command)
    assert words[0] == "sweep", f"the README shows sweep commands only, not {command!r}"
    done = subprocess.run(
        [sys.executable, "-m", "sweep", *words[1:]],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that has the README's `grids/`, and keeps the files that its commands write."""
    place = tmp_path_factory.mktemp("readme")
    (place / "grids").symlink_to(PROJECT / "grids")
    return place


def test_each_command_prints_what_the_readme_shows(folder: Path) -> None:
    """All in order, since later ones read the files of earlier ones."""
    differences = []
    for block in blocks("console"):
        for command, shown in examples(block):
            printed = run(command, folder)
            if printed.rstrip() != shown.rstrip():
                differences.append(f"$ {command}\n--- README\n{shown}\n--- now\n{printed}")

    assert not differences, "\n".join(differences) + "\nrefresh with: python tests/test_readme.py"


def test_each_python_example_runs(folder: Path) -> None:
    run("sweep run grids/h100.toml --force", folder)
    assert blocks("python")
    for body in blocks("python"):
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", body],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, f"{body}\n{done.stderr}"


def test_the_readme_names_every_command() -> None:
    shown = subprocess.run([sys.executable, "-m", "sweep", "--help"], capture_output=True, text=True, check=True).stdout
    commands = re.findall(r"^  ([a-z]+)  ", shown.partition("Commands:")[2], flags=re.MULTILINE)

    assert commands
    assert [name for name in commands if f"`sweep {name}" not in README.read_text(encoding="utf-8")] == []


def _refresh() -> None:
    """Write the present output of every command into the README."""
    import tempfile

    text = README.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        (place / "grids").symlink_to(PROJECT / "grids")
        for block in blocks("console"):
            fresh = "".join(f"$ {command}\n{run(command, place)}" for command, _ in examples(block))
            text = text.replace(f"```console\n{block}```", f"```console\n{fresh.rstrip()}\n```", 1)
    README.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    _refresh()
