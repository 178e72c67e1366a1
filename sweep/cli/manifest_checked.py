"""What `sweep manifest check` says of a manifest, of a launch line, or of both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sweep.cli.asked import asked
from sweep.cli.files import is_result
from sweep.errors import InputFault, UsageFault
from sweep.operate.flags import launch_flags
from sweep.operate.flags_read import Flags, check_flags, parse_flags
from sweep.operate.manifest_check import Start, check_manifest
from sweep.operate.manifest_point import evidence_faults, manifest_of_cell
from sweep.operate.manifest_read import read_manifest
from sweep.report.manifest import check_page
from sweep.units import printable

if TYPE_CHECKING:
    from sweep.grid.model import Grid
    from sweep.operate.manifest import Manifest
    from sweep.report.blocks import Section


def checked(
    file: Path | None, line: str | None, against: Path | None, at: Mapping[str, int | str], slo: Sequence[str] = ()
) -> tuple[dict[str, Any], list[Section]]:
    """The answer as JSON and as a page.

    Raises:
        UsageFault: neither a manifest nor a line, or `at` without the result that it is of.
        InputFault, ResultFault: a file is wrong.
    """
    if file is None and line is None:
        raise UsageFault("manifest check: got neither a manifest nor --flags, wanted one of them; give one.")
    if at and (against is None or file is not None):
        raise UsageFault("--at: goes with --flags and --against and without a manifest; leave it out.")
    if slo and against is None:
        raise UsageFault("--slo: goes with --against; leave it out.")
    if file is not None and is_result(file):
        raise InputFault(f"{file}: is a result and a manifest is wanted; give the result with --against.")
    flags = None if line is None else parse_flags(line)
    given = None if file is None else read_manifest(file)
    grid = None if against is None else asked(against, [], slo).grid
    base = given if given is not None or grid is None else _of_point(grid, at)
    start = _start(base, flags)
    notes = [] if flags is None else _notes(flags, given)
    if given is not None and grid is not None:
        faults = evidence_faults(given, grid)
        start = replace(start, refusals=(*start.refusals, *faults))
        if not faults:
            notes.append("Evidence: a new audit of its operating point gives the same unit.")
    if given is not None and given.evidence is None:
        notes.append("No evidence: nobody has judged its operating point.")
    answer: dict[str, Any] = {**start.as_json(), "digest": None if given is None else given.digest, "notes": notes}
    answer["unread"] = [] if flags is None else list(flags.unread)
    what = "Launch line" if file is None else f"Manifest {given.digest if given else ''}"
    if flags is not None and file is not None:
        what = f"Launch line, on the memory of {printable(str(file), 160)}"
    return answer, check_page(start, what, notes)


def _start(base: Manifest | None, flags: Flags | None) -> Start:
    if flags is not None:
        return check_flags(flags, base)
    assert base is not None  # a manifest, where there are no flags
    return check_manifest(base)


def _of_point(grid: Grid, at: Mapping[str, int | str]) -> Manifest:
    """The memory and requests of a result's point; its names and its slots are the launch line's to say."""
    from sweep.query.result import explain_grid

    cell = explain_grid(grid, at)
    if cell.invalid_reason is not None:
        raise UsageFault(f"--against: its point is invalid by {cell.invalid_reason}; fix another with --at.")
    return manifest_of_cell(grid, cell, "model", "v0", "vllm==0")


def _notes(flags: Flags, given: Manifest | None) -> list[str]:
    notes = []
    if flags.unread:
        more = "" if len(flags.unread) <= 12 else ", …"
        notes.append(f"Not read: {', '.join(flags.unread[:12])}{more}.")
    if given is None:
        return notes
    own = parse_flags(launch_flags(given, flags.engine).line)
    differs = [name for name in own.values if name in flags.values and flags.values[name] != own.values[name]]
    differs += ["model"] if flags.model is not None and flags.model != own.model else []
    if differs:
        notes.append(f"The line and the manifest differ in {', '.join(differs)}.")
    return notes
