"""Sweeps of simulations: many operating points in processes, with a journal from which a killed sweep goes on."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import lru_cache
from multiprocessing import get_context, parent_process
from pathlib import Path
from threading import Thread
from typing import Any, Final

from sweep.errors import ResultFault
from sweep.grid import Grid, grid_from_effective
from sweep.query.cell import cell_at
from sweep.records.digest import digest
from sweep.simulate.asked import Arrivals, Serving, simulated
from sweep.simulate.latency import Spread
from sweep.simulate.verdict import Comparison

AGREEMENTS: Final = ("both", "audit-only", "simulation-only", "neither", "invalid")
"""Who finds a point within all bounds; an invalid point has no server."""

BINDS: Final = ("nothing", "slots", "blocks", "prefill")
SPREADS: Final = ("queue_delay_ns", "ttft_ns", "tpot_ns", "itl_ns")
RANKS: Final = ("p50", "p90", "p99", "max")
NOTHING_SEEN: Final = -1
"""A figure of a point that served nothing, or is invalid."""

COUNTS: Final = ("arrived", "finished", "refused", "good", "preemptions", "peak_running", "peak_blocks", "span_ns")
NAMES: Final = ("agreement", "binds", *COUNTS, *(f"{name[:-3]}_{rank}_ns" for name in SPREADS for rank in RANKS))

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Spot:
    """One operating point of a sweep."""

    index: tuple[int, ...]
    """Per axis of the grid, in its order; along traffic 0 where the scale is off its axis."""
    scale_permille: int


@dataclass(frozen=True)
class Ask:
    """A sweep of simulations."""

    effective: str
    """The grid, as canonical JSON."""
    spots: tuple[Spot, ...]
    arrivals: Arrivals
    serving: Serving

    @property
    def sha256(self) -> str:
        """What the answers depend on."""
        spots: list[Any] = [[list(spot.index), spot.scale_permille] for spot in self.spots]
        told = {"arrivals": self.arrivals.as_json(), "serving": self.serving.as_json()}
        return digest({"grid": json.loads(self.effective), "spots": spots, **told})


def figures_of(comparison: Comparison) -> dict[str, int]:
    """What a sweep keeps of one simulation, all int64; a ratio of ns is rounded up."""
    summary = comparison.summary
    latencies, counters = summary.latencies, summary.counters
    counts = (latencies.arrived, latencies.finished, latencies.refused, latencies.good or 0)
    totals = (counters.preemptions, counters.peak_running, counters.peak_blocks, summary.span_ns)
    found = {"agreement": AGREEMENTS.index(comparison.agreement), "binds": BINDS.index(summary.binds)}
    found |= dict(zip(COUNTS, (*counts, *totals), strict=True))
    spreads = (latencies.queue_delay_ns, latencies.ttft_ns, latencies.tpot_ns, summary.itl_ns)
    for name, spread in zip(SPREADS, spreads, strict=True):
        for rank in RANKS:
            found[f"{name[:-3]}_{rank}_ns"] = _whole(spread, rank)
    return found


def _whole(spread: Spread[Any] | None, rank: str) -> int:
    if spread is None:
        return NOTHING_SEEN
    value = spread.at(rank)
    return value if isinstance(value, int) else -(-value.numerator // value.denominator)


def simulate_spot(effective: str, spot: Spot, arrivals: Arrivals, serving: Serving) -> dict[str, int]:
    """The figures of one operating point; a top-level function, so that processes can be given it."""
    grid = _grid(effective)
    cell = cell_at(grid, spot.index, spot.scale_permille)
    if cell.verdict.invalid_reason:
        return {name: AGREEMENTS.index("invalid") if name == "agreement" else NOTHING_SEEN for name in NAMES}
    return figures_of(simulated(cell, arrivals, serving)[1])


@lru_cache(maxsize=1)
def _grid(effective: str) -> Grid:
    return grid_from_effective(effective)


def run_sweep(ask: Ask, journal: Path, resume: bool, processes: int, progress: Progress) -> list[dict[str, int]]:
    """The figures of every spot, in order; each is on the disk, in the journal, before the next is waited for.

    Args:
        ask: what to simulate.
        journal: JSON lines: what was asked, then one line for each spot that is done. The caller removes it.
        resume: go on where the journal of the same ask ends.
        processes: how many run at once.
        progress: called with the spots done and all spots.

    Raises:
        ResultFault: a journal is there and was not asked for, is of another ask, or cannot be written.
        UsageFault, InputFault: what a simulation refuses.
    """
    done = _resumed(ask, journal) if resume else {}
    if not resume and _is_there(journal):
        raise ResultFault(
            f"{journal}: a sweep was cut short and left it; --resume goes on with it, --force starts anew without it."
        )
    todo = [number for number in range(len(ask.spots)) if number not in done]
    progress(len(done), len(ask.spots))
    try:
        with journal.open("w", encoding="utf-8") as stream:
            _keep(stream, {"ask": ask.sha256, "spots": len(ask.spots)})
            for number, figures in done.items():
                _keep(stream, {"spot": number, "figures": figures})
            for number, figures in _worked(ask, todo, processes):
                _keep(stream, {"spot": number, "figures": figures})
                done[number] = figures
                progress(len(done), len(ask.spots))
    except OSError as error:
        raise ResultFault(f"{journal}: cannot be written ({error.strerror}); choose another file with -o.") from error
    return [done[number] for number in range(len(ask.spots))]


def _is_there(journal: Path) -> bool:
    try:
        return journal.exists()
    except OSError as error:  # a name that is too long
        raise ResultFault(f"{journal}: cannot be written ({error.strerror}); name another file with -o.") from error


def _worked(ask: Ask, todo: Sequence[int], processes: int) -> Iterator[tuple[int, dict[str, int]]]:
    if processes == 1 or len(todo) < 2:
        for number in todo:
            yield number, simulate_spot(ask.effective, ask.spots[number], ask.arrivals, ask.serving)
        return
    with ProcessPoolExecutor(
        min(processes, len(todo)), mp_context=get_context("spawn"), initializer=_end_with_parent
    ) as pool:
        given = (ask.arrivals, ask.serving)
        futures = {pool.submit(simulate_spot, ask.effective, ask.spots[number], *given): number for number in todo}
        try:
            for future in as_completed(futures):
                yield futures[future], future.result()
        finally:
            for future in futures:
                future.cancel()


def _end_with_parent() -> None:
    """A worker whose parent was killed ends too: it would wait for ever, since it holds its own end of the queue."""
    parent = parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    Thread(target=watch, daemon=True).start()


def _keep(stream: Any, line: Mapping[str, Any]) -> None:
    stream.write(json.dumps(line, separators=(",", ":")) + "\n")
    stream.flush()
    os.fsync(stream.fileno())


def _resumed(ask: Ask, journal: Path) -> dict[int, dict[str, int]]:
    """The spots that the journal holds; a last line that a kill cut short counts as not done."""
    try:
        lines = journal.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeError) as error:
        raise ResultFault(f"{journal}: cannot be read ({error}); --force starts anew without it.") from error
    found: dict[int, dict[str, int]] = {}
    for at, line in enumerate(lines):
        try:
            entry = json.loads(line)
            if at == 0:
                same = entry["ask"] == ask.sha256
            else:
                found[int(entry["spot"])] = {name: int(entry["figures"][name]) for name in NAMES}
        except (ValueError, KeyError, TypeError) as error:
            if at == len(lines) - 1:  # a kill cut it short; of the first one that is nothing done yet
                break
            raise ResultFault(f"{journal}: line {at + 1} is no entry; --force starts anew without it.") from error
        if at == 0 and not same:
            raise ResultFault(f"{journal}: is of another sweep; --force starts anew without it.")
    return found


def four_way(figures: Sequence[Mapping[str, int]]) -> dict[str, int]:
    """How many points each of audit and simulation finds within all bounds."""
    counts = Counter(AGREEMENTS[one["agreement"]] for one in figures)
    return {name: counts[name] for name in AGREEMENTS}
