"""`sweep diagnose`: what is wrong with a running service, from its metrics and the result it was launched from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from sweep.cli.asked import asked
from sweep.cli.options import InOrder, at_option, fixed, json_option, slo_option
from sweep.cli.output import write_json, write_page
from sweep.errors import AskedForFailure, NotEnoughData, UsageFault

if TYPE_CHECKING:
    from fractions import Fraction

    from sweep.grid.model import Grid
    from sweep.operate.manifest import Manifest
    from sweep.query.cell import Cell

FILE = click.Path(path_type=Path, readable=False)


@click.command(cls=InOrder, short_help="What is wrong with a running service, by its metrics.")
@click.argument("files", metavar="SIGNALS [LATER]", nargs=-1, required=True, type=FILE)
@click.option("--against", metavar="GRID.toml|FILE.nc", type=FILE, help="The result that the service was planned with.")
@click.option("--manifest", metavar="FILE", type=FILE, help="The manifest that it was launched with.")
@at_option
@slo_option
@click.option("--seconds", metavar="S", help="Between the two snapshots: arrivals per second follow.")
@click.option(
    "--slots", metavar="N", type=click.IntRange(1, 10**6), help="Batch slots of an engine, if not launched so."
)
@json_option
@click.option("--require", is_flag=True, help="Exit with 1 where it is not healthy, with 6 where that is not known.")
def diagnose(
    files: tuple[Path, ...],
    against: Path | None,
    manifest: Path | None,
    at: tuple[str, ...],
    slo: tuple[str, ...],
    seconds: str | None,
    slots: int | None,
    as_json: bool,
    require: bool,
) -> None:
    """Tell the incidents of a service apart: cache pressure, too few replicas, too large a batch, or none.

    SIGNALS is a snapshot of vLLM's /metrics; counters need two, the earlier first. Or it is JSON with queue_depth,
    batch_occupancy, itl_p50_ms and preemption_rate (per finished request), as far as they are known: a signal that is
    missing is not zero, and where it decides the verdict is undetermined.

    With --against a result, and the manifest or --at for the operating point (default: the largest), it also says what
    the numbers prove (slot-bound, KV-bound, prefill-bound, under-replicated), which bound is nearest, and the smallest
    change of one knob, from the grid, that keeps every bound.

    \b
    Examples:
      sweep diagnose signals.json
      sweep diagnose before.prom after.prom --seconds 60 \\
          --against h100.nc --manifest h100.manifest.json
      sweep diagnose now.prom --against h100.nc --at traffic=1000 --json
      sweep diagnose signals.json --require
    """
    from sweep.operate.diagnose_proof import diagnosis
    from sweep.operate.diagnose_snapshot import read_signals
    from sweep.operate.manifest_read import read_manifest
    from sweep.report.diagnose import diagnose_page

    places = fixed(at)
    _check_options(places, slo, against, manifest)
    unit = None if manifest is None else read_manifest(manifest)
    signals = read_signals(files, None if seconds is None else _seconds(seconds), slots)
    question = None if against is None else asked(against, [], slo)
    cell = None if question is None else _cell(question.grid, unit, places)
    answer = diagnosis(signals, None if question is None else question.grid, cell, unit)
    if as_json:
        write_json(question.json(answer.as_json()) if question else answer.as_json())
    else:
        page = diagnose_page(answer)
        write_page(question.page(page) if question else page)
    if require and answer.healthy is False:
        raise AskedForFailure(f"{files[0]}: not healthy; --require makes this a failure.")
    if require and answer.healthy is None:
        raise NotEnoughData(f"{files[0]}: not known to be healthy; give the signals that are missing.")


def _check_options(at: dict[str, int | str], slo: tuple[str, ...], against: Path | None, manifest: Path | None) -> None:
    faults = []
    if against is None:
        faults += ["--at: goes with --against; leave it out, or give a result."] if at else []
        faults += ["--slo: goes with --against; leave it out, or give a result."] if slo else []
    if at and manifest is not None:
        faults.append("--at: the manifest has an operating point already; leave one of them out.")
    if faults:
        raise UsageFault(faults)


def _seconds(text: str) -> Fraction:
    from sweep.units import exact_decimal, parse_decimal

    number = exact_decimal(parse_decimal(text.strip())) if text.isascii() else None
    if number is None or number <= 0:
        raise UsageFault(f"--seconds {text}: wanted a decimal above 0, such as 60; correct it.")
    return number


def _cell(grid: Grid, manifest: Manifest | None, at: dict[str, int | str]) -> Cell:
    from sweep.operate.manifest_point import cell_of
    from sweep.query.result import explain_grid

    cell = explain_grid(grid, at) if manifest is None or manifest.evidence is None else cell_of(manifest, grid)
    if cell.invalid_reason is not None:
        raise UsageFault(f"--against: its point is invalid by {cell.invalid_reason}; fix another with --at.")
    return cell
