"""Grids of the command line's tests, their results, and ways to run commands."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from sweep.cli.main import program

TINY = """
[sweep]
name = "tiny [red]名[/red]"
[contract]
max_total_utilization_permille = 800
max_prefill_utilization_permille = 700
max_decode_utilization_permille = 700
max_queue_delay_ms = 50
max_ttft_ms = 250
max_tpot_ms = 30
max_starvation_ms = 100
max_kv_bytes = "10 GB"
[scheduler]
scheduler_id = "fair"
token_capacity_per_second = 40_000
prefill_share_permille = 600
max_active_sequences = 64
max_prefill_chunk_tokens = 480
iteration_time_ms = 20
max_consecutive_priority_iterations = 3
kv_bytes_per_token = 131_072
[[class]]
class_id = "chat"
priority = 1
arrival_rps = 4.0
prompt_tokens = 1_000
output_tokens = 200
peak_concurrency = 24
[axes]
traffic_scale_permille = [500, 1_000, 1_500]
max_active_sequences = [16, 32, 48]
[[axes.precision]]
name = "bf16 [bold]"
set = { "scheduler.kv_bytes_per_token" = 131_072 }
[[axes.precision]]
name = "fp8"
set = { "scheduler.kv_bytes_per_token" = 65_536 }
"""

ROOT = Path(__file__).parents[2]


def run(*args, cwd=None, env=None, **options):
    """The command in a process of its own; stdout and stderr are pipes."""
    command = [sys.executable, "-m", "sweep", *map(str, args)]
    options = {"capture_output": True, "text": True, "timeout": 120, "check": False} | options
    surroundings = {**os.environ, "PYTHONPATH": str(ROOT), **(env or {})}
    return subprocess.run(command, cwd=cwd, env=surroundings, **options)


@pytest.fixture
def process():
    return run


@pytest.fixture
def invoke(tmp_path, monkeypatch):
    """The command inside this process, in an empty folder: (exit code, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)

    def call(*args):
        result = CliRunner().invoke(program, [str(arg) for arg in args], catch_exceptions=False)
        return result.exit_code, result.stdout, result.stderr

    return call


@pytest.fixture
def tiny(tmp_path):
    """The tiny grid's file, in the folder that `invoke` works in."""
    path = tmp_path / "tiny.toml"
    path.write_text(TINY, encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def tiny_nc(tmp_path_factory):
    """A result of the tiny grid; commands that only read share it."""
    folder = tmp_path_factory.mktemp("tiny")
    (folder / "tiny.toml").write_text(TINY, encoding="utf-8")
    assert run("run", "tiny.toml", "-q", cwd=folder).returncode == 0
    return folder / "tiny.nc"


@pytest.fixture(scope="session")
def none_nc(tmp_path_factory):
    """A result in which nothing is feasible: TTFT is 64 ms at the least, 60 ms of them prefill."""
    folder = tmp_path_factory.mktemp("none")
    (folder / "tiny.toml").write_text(TINY, encoding="utf-8")
    done = run("run", "tiny.toml", "-q", "-o", "none.nc", "--set", "contract.max_ttft_ms=50", cwd=folder)
    assert done.returncode == 0
    return folder / "none.nc"


@pytest.fixture(scope="session")
def h100(tmp_path_factory):
    """The folder in which `sweep run h100.toml` was run, and what it printed."""
    folder = tmp_path_factory.mktemp("h100")
    (folder / "h100.toml").write_bytes((ROOT / "grids" / "h100.toml").read_bytes())
    return folder, run("run", "h100.toml", cwd=folder)
