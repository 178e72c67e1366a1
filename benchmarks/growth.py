"""`python -m benchmarks growth`: time and memory of whole `sweep run` processes against cells, mask stored and not."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.isolated import ROOT, run_python
from benchmarks.machine import facts, sentence
from benchmarks.readme import GROWTH, rewrite
from benchmarks.registry import NotAvailable
from benchmarks.results import BadFile
from benchmarks.specs import STEP_TIME
from benchmarks.table import count, duration
from sweep.units import grouped

PICTURE = ROOT / "benchmarks" / "growth.svg"
FORMAT = "sweep-growth-1"

# Share, chunk, slots and traffic grow together, so that configurations grow as well as rows.
_LENGTHS = {
    10**4: (5, 4, 10, 50),
    10**5: (10, 5, 20, 100),
    10**6: (20, 5, 50, 200),
    10**7: (25, 8, 100, 500),
    10**8: (50, 10, 200, 1000),
    10**9: (100, 10, 1000, 1000),
}
SMOKE_CELLS = 10**5


@dataclass(frozen=True)
class Run:
    """One size, one way."""

    cells: int
    configurations: int
    mask_stored: bool
    seconds: float
    """Of the whole process, best of the rounds."""
    peak_bytes: int
    """Most resident memory of the process, the largest of the rounds."""
    file_bytes: int


@dataclass(frozen=True)
class Growth:
    """Every size both ways, and what a process costs that only imports netCDF4."""

    machine: Mapping[str, Any]
    rounds: int
    floor_seconds: float
    floor_peak_bytes: int
    runs: Sequence[Run]

    def of(self, mask_stored: bool) -> list[Run]:
        """The runs of one way, by cells."""
        return [run for run in self.runs if run.mask_stored == mask_stored]


def axes(cells: int) -> list[str]:
    """The `--axis` texts of a size: always over the same ranges, so that the grids differ in density only."""
    shares, chunks, slots, scales = _LENGTHS[cells]
    return [
        f'share={{ start = 5, stop = 995, num = {shares}, spacing = "linear" }}',
        f'chunk={{ start = 16, stop = 2_048, num = {chunks}, spacing = "geometric" }}',
        f'slots={{ start = 1, stop = 1_000, num = {slots}, spacing = "linear" }}',
        f'traffic={{ start = 10, stop = 10_000, num = {scales}, spacing = "linear" }}',
    ]


def measure(most_cells: int, rounds: int, said: Callable[[str], None]) -> Growth:
    """Run every size up to `most_cells`, mask stored and not."""
    floor = [_process(["benchmarks.importing"]) for _ in range(rounds)]
    runs = []
    for cells, (shares, chunks, slots, _) in _LENGTHS.items():
        for stored in (True, False) if cells <= most_cells else ():
            said(f"{count(cells)} cells, mask {'stored' if stored else 'not stored'}")
            found = [_run(cells, stored) for _ in range(rounds)]
            least = min(seconds for seconds, _, _ in found)
            most = max(peak for _, peak, _ in found)
            runs.append(Run(cells, shares * chunks * slots, stored, least, most, found[0][2]))
    return Growth(facts(), rounds, min(s for s, _ in floor), max(p for _, p in floor), runs)


def _run(cells: int, stored: bool) -> tuple[float, int, int]:
    """Seconds, peak bytes and file bytes of one whole `sweep run`."""
    with TemporaryDirectory() as folder:
        target = Path(folder) / "result.nc"
        given = [part for text in axes(cells) for part in ("--axis", text)]
        way = "always" if stored else "never"
        arguments = ["run", str(STEP_TIME), *given, "-o", str(target), "-q", "--materialize", way]
        return *_process(["sweep", *arguments]), target.stat().st_size


def _process(module: list[str]) -> tuple[float, int]:
    """Seconds and peak bytes of a Python process that runs a module with arguments."""
    with TemporaryDirectory() as folder:
        target = Path(folder) / "peak"
        start = time.perf_counter()
        run_python(["-m", "benchmarks.peak", str(target), *module])
        return time.perf_counter() - start, int(target.read_text())


def write(growth: Growth, path: Path) -> None:
    """Every figure, with stable keys."""
    path.write_text(json.dumps({"format": FORMAT, **asdict(growth)}, indent=1, ensure_ascii=False) + "\n", "utf-8")


def read(path: Path) -> Growth:
    """A file that `write` made. Raises BadFile."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content.pop("format") != FORMAT:
            raise BadFile(f"{path.name}: another format than {FORMAT}; measure anew.")
        return Growth(**{**content, "runs": [Run(**run) for run in content["runs"]]})
    except OSError as error:
        raise BadFile(f"{path.name}: cannot be read ({error.strerror}); give a file that --json wrote.") from error
    except (ValueError, KeyError, TypeError) as error:
        raise BadFile(f"{path.name}: holds no growth; give a file that growth --json wrote.") from error


def table(growth: Growth) -> str:
    """Markdown: a row per size, both ways."""
    lines = [
        "| cells | configurations | mask stored: time | peak | file | not stored: time | peak |",
        "| ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for stored, bare in zip(growth.of(True), growth.of(False), strict=True):
        columns = (
            count(stored.cells),
            grouped(stored.configurations),
            duration(stored.seconds),
            _megabytes(stored.peak_bytes),
            _megabytes(stored.file_bytes),
            duration(bare.seconds),
            _megabytes(bare.peak_bytes),
        )
        lines.append(f"| {' | '.join(columns)} |")
    return "\n".join(lines)


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.2g} MB" if size < 10**7 else f"{grouped(round(size / 1e6))} MB"


def block(growth: Growth) -> str:
    """The README's block: picture, table, and what it was measured on."""
    floor = f"{duration(growth.floor_seconds)} and {_megabytes(growth.floor_peak_bytes)}"
    return "\n".join(
        [
            "![Time and peak memory of `sweep run` against cells](benchmarks/growth.svg)",
            "",
            table(growth),
            "",
            f"Whole processes; one that only imports netCDF4 takes {floor}. "
            f"{sentence(growth.machine)}; best time and largest peak of {growth.rounds} rounds.",
        ]
    )


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main(arguments: Sequence[str]) -> int:
    """Measure, or read an earlier measurement; print the table, write what was asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks growth", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="how often each is timed (3)")
    parser.add_argument("--scale", choices=("smoke", "full"), default="full", help="smoke: the two smallest sizes")
    parser.add_argument("--from", dest="earlier", type=Path, metavar="FILE", help="measure nothing, take this file")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every figure")
    parser.add_argument("--picture", type=Path, nargs="?", const=PICTURE, metavar="FILE", help="draw it (extra `plot`)")
    parser.add_argument("--readme", action="store_true", help="rewrite the block of README.md")
    options = parser.parse_args(arguments)
    try:
        most = SMOKE_CELLS if options.scale == "smoke" else max(_LENGTHS)
        growth = read(options.earlier) if options.earlier else measure(most, options.rounds, _say)
        print(table(growth))
        if options.json:
            write(growth, options.json)
        if options.picture:
            from benchmarks.picture import draw

            draw(growth, options.picture)
        if options.readme:
            rewrite({GROWTH: block(growth)})
    except (BadFile, NotAvailable) as fault:
        parser.error(str(fault))
    except ModuleNotFoundError as fault:
        parser.error(f"{fault.name} is not installed: pip install -e '.[plot]', or leave --picture out")
    return 0
