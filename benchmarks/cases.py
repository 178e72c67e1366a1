"""The registry of cases: each measures one thing and what it is compared with, in turn, and keeps the medians."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import netCDF4
import numpy as np

import sweep

GRIDS = Path(__file__).resolve().parents[1] / "grids"
Timed = Callable[[], object]


@dataclass(frozen=True)
class Outcome:
    """The medians of one case."""

    case: str
    seconds: float
    against: str
    against_seconds: float
    limit: str
    """What the ratio is wanted to be."""
    cells: int = 0

    @property
    def ratio(self) -> float:
        """Time of the case over time of what it is compared with."""
        return self.seconds / self.against_seconds


def interleaved(first: Timed, second: Timed, rounds: int) -> tuple[float, float]:
    """Median seconds of two actions run in turn, so that a drift of the machine's speed hits both."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        for kept, action in zip(times, (first, second), strict=True):
            start = time.perf_counter()
            action()
            kept.append(time.perf_counter() - start)
    return statistics.median(times[0]), statistics.median(times[1])


def _python(*arguments: str) -> Timed:
    return lambda: subprocess.run([sys.executable, *arguments], check=True, capture_output=True)


def start_up(rounds: int) -> Outcome:
    """`sweep --help` against importing click."""
    ours, theirs = interleaved(_python("-m", "sweep", "--help"), _python("-c", "import click"), rounds)
    return Outcome("sweep --help", ours, "import click", theirs, "<= 4")


def main_job(rounds: int) -> Outcome:
    """`sweep run grids/h100.toml`, whole process, against importing what it stands on."""
    with tempfile.TemporaryDirectory() as folder:
        target = str(Path(folder) / "h100.nc")
        ours, theirs = interleaved(
            _python("-m", "sweep", "run", str(GRIDS / "h100.toml"), "-o", target, "-q"),
            _python("-c", "import numpy, xarray, netCDF4"),
            rounds,
        )
    cells = sweep.load_grid(GRIDS / "h100.toml").cells
    return Outcome("sweep run h100.toml", ours, "import numpy, xarray, netCDF4", theirs, "<= 6", cells)


def stored_mask(rounds: int) -> Outcome:
    """A run of large.toml with its mask stored, against writing that mask, ready in memory, with netCDF4 alone."""
    grid = sweep.load_grid(GRIDS / "large.toml")
    with tempfile.TemporaryDirectory() as folder:
        target, plain = Path(folder) / "large.nc", Path(folder) / "plain.nc"
        sweep.run(grid, target)
        with netCDF4.Dataset(target) as stored:
            stored.set_auto_maskandscale(False)
            mask, chunks = stored["violations"][:], stored["violations"].chunking()
        ours, theirs = interleaved(lambda: sweep.run(grid, target), lambda: write_plainly(plain, mask, chunks), rounds)
    return Outcome("run of large.toml, mask stored", ours, "netCDF4 writes that mask", theirs, "<= 1.8", grid.cells)


def write_plainly(path: Path, mask: np.ndarray, chunks: list[int]) -> None:
    """The mask with the settings of a result: zlib 1, shuffle, checksums, the same chunks."""
    with netCDF4.Dataset(path, "w") as target:
        dims = [f"d{i}" for i in range(mask.ndim)]
        for dim, length in zip(dims, mask.shape, strict=True):
            target.createDimension(dim, length)
        variable = target.createVariable(
            "mask",
            "u2",
            dims,
            zlib=True,
            complevel=1,
            shuffle=True,
            fletcher32=True,
            chunksizes=chunks,
            fill_value=False,
        )
        variable.set_auto_maskandscale(False)
        for i in range(mask.shape[0]):
            variable[i] = mask[i]


CASES: dict[str, Callable[[int], Outcome]] = {
    "start-up": start_up,
    "main-job": main_job,
    "stored-mask": stored_mask,
}
