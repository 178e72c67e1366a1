"""`sweep rollout`: one decision per stage of a rollout, from a state file that a pipeline can be killed beside."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sweep.cli.options import json_option
from sweep.cli.output import write_json, write_page
from sweep.cli.writing import write_text
from sweep.errors import AskedForFailure, NotEnoughData, UsageFault

if TYPE_CHECKING:
    from fractions import Fraction

    from sweep.operate.rollout import Observation, Rollout

FILE = click.Path(path_type=Path, readable=False)


@click.group(short_help="A staged rollout: advance, halt or roll back, stage by stage.")
def rollout() -> None:
    """Decide a staged rollout: advance, halt, roll back, or not enough data; one decision per stage.

    `start` writes a state file with the plan, `observe` decides a stage and updates the file, `status` shows it. The
    file is replaced as a whole, so a kill leaves the old state or the new one; observing a decided stage again with the
    same numbers repeats the answer. A file that was altered is refused. Each command has --json.

    \b
    Exit codes of observe, for a pipeline:
      0  advance, or the last stage is passed
      1  halt (a guardrail) or roll back (a regression)
      6  not enough data: observe the stage again, later
      2, 3, 4  wrong usage, observation, state file

    \b
    Examples:
      sweep rollout start -o state.json --stages 1%,10%,50%,100% \\
          --error-guardrail 1% --latency-guardrail-ms 500 \\
          --old-p99-ms 420 --tolerance 10% --min-samples 200
      sweep rollout observe state.json --stage 1 stage1.json
      sweep rollout observe state.json --stage 2 \\
          --requests 900 --errors 2 --p99-ms 431.5
      sweep rollout status state.json --json
    """


@rollout.command(short_help="Plan a rollout and write its state file.")
@click.option("-o", "--output", required=True, metavar="STATE", type=FILE, help="The state file.")
@click.option("--stages", required=True, metavar="SHARES", help="Of the traffic, rising to 100%: 1%,10%,50%,100%.")
@click.option("--error-guardrail", required=True, metavar="SHARE", help="The largest error rate of a stage: 1%.")
@click.option("--latency-guardrail-ms", required=True, metavar="MS", help="The largest p99 latency of a stage.")
@click.option("--old-p99-ms", required=True, metavar="MS", help="The p99 latency before the rollout.")
@click.option("--tolerance", required=True, metavar="SHARE", help="The tolerated rise of it: 10%.")
@click.option(
    "--min-samples", required=True, metavar="N", type=click.IntRange(1, 10**15), help="Requests that a stage needs."
)
@click.option("--manifest", metavar="FILE", type=FILE, help="The new manifest; one that does not start is refused.")
@click.option("--old-manifest", metavar="FILE", type=FILE, help="The manifest to roll back to.")
@click.option("--force", is_flag=True, help="Replace the file that is there.")
@json_option
def start(
    output: Path,
    stages: str,
    error_guardrail: str,
    latency_guardrail_ms: str,
    old_p99_ms: str,
    tolerance: str,
    min_samples: int,
    manifest: Path | None,
    old_manifest: Path | None,
    force: bool,
    as_json: bool,
) -> None:
    """Plan a rollout and write its state file. Numbers are exact decimals; shares may be per cent.

    \b
    Examples:
      sweep rollout start -o state.json --stages 1%,10%,50%,100% \\
          --error-guardrail 1% --latency-guardrail-ms 500 \\
          --old-p99-ms 420 --tolerance 10% --min-samples 200 \\
          --manifest new.manifest.json --old-manifest old.manifest.json
    """
    from sweep.operate.rollout_plan import start_rollout
    from sweep.operate.rollout_state import state_text

    faults = list[str]()
    shares = [_decimal("--stages", text, True, faults) for text in stages.split(",")]
    numbers = (
        _decimal("--error-guardrail", error_guardrail, True, faults),
        _decimal("--latency-guardrail-ms", latency_guardrail_ms, False, faults),
        _decimal("--old-p99-ms", old_p99_ms, False, faults),
        _decimal("--tolerance", tolerance, True, faults),
    )
    if faults:
        raise UsageFault(faults)
    new, old = _digests(manifest, old_manifest)
    state = start_rollout(shares, *numbers, min_samples, new, old)
    write_text(output, state_text(state), force, [path for path in (manifest, old_manifest) if path is not None])
    _show(state, None, as_json)


@rollout.command(short_help="Decide a stage by what it showed.")
@click.argument("state", metavar="STATE", type=FILE)
@click.argument("file", metavar="[OBSERVATION]", required=False, type=FILE)
@click.option("--stage", required=True, metavar="N", type=click.IntRange(1, 100), help="The stage observed, from 1.")
@click.option("--requests", metavar="N", type=click.IntRange(0, 10**15), help="Requests that finished.")
@click.option("--errors", metavar="N", type=click.IntRange(0, 10**15), help="Those of them that failed.")
@click.option("--p99-ms", metavar="MS", help="Their p99 latency.")
@json_option
def observe(
    state: Path,
    file: Path | None,
    stage: int,
    requests: int | None,
    errors: int | None,
    p99_ms: str | None,
    as_json: bool,
) -> None:
    """Decide a stage by all of its requests so far, and update the state file.

    OBSERVATION is JSON with requests, errors and p99_latency_ms, or give the three as options. --stage names the stage
    that they are of, so that a pipeline which is run again never decides the next stage by the numbers of this one.

    Exit codes: 0 advance, 1 halt or roll back, 6 not enough data.

    \b
    Examples:
      sweep rollout observe state.json --stage 1 stage1.json
      sweep rollout observe state.json --stage 2 \\
          --requests 900 --errors 2 --p99-ms 431.5 --json
    """
    from sweep.operate.rollout import HALT, NOT_ENOUGH_DATA, ROLLBACK
    from sweep.operate.rollout_state import read_state, state_text

    seen = _seen(file, requests, errors, p99_ms)
    with _alone(state):
        before = read_state(state)
        after = before.observe(stage, seen)
        if after != before:
            write_text(state, state_text(after), True, [] if file is None else [file])
    _show(after, stage, as_json)
    action = after.decisions[stage - 1].action
    if action in (HALT, ROLLBACK):
        raise AskedForFailure(f"{state}: stage {stage}: {'roll back' if action == ROLLBACK else 'halt'}.")
    if action == NOT_ENOUGH_DATA:
        raise NotEnoughData(f"{state}: stage {stage}: not enough data; observe it again, later.")


@rollout.command(short_help="Where a rollout is.")
@click.argument("state", metavar="STATE", type=FILE)
@json_option
def status(state: Path, as_json: bool) -> None:
    """Show where a rollout is, and what every stage showed.

    \b
    Examples:
      sweep rollout status state.json
      sweep rollout status state.json --json | jq -r .status
    """
    from sweep.operate.rollout_state import read_state

    _show(read_state(state), None, as_json)


def _show(found: Rollout, stage: int | None, as_json: bool) -> None:
    from sweep.report.rollout import rollout_page

    if as_json:
        write_json(found.as_json(stage))
    else:
        write_page(rollout_page(found, stage))


def _decimal(option: str, text: str, share: bool, faults: list[str]) -> Fraction:
    """An exact decimal of an option, a share also in per cent."""
    from fractions import Fraction

    from sweep.units import exact_decimal, parse_decimal

    plain = text.strip()
    digits = plain.removesuffix("%").strip() if share else plain
    number = exact_decimal(parse_decimal(digits)) if digits.isascii() else None
    if number is None or number < 0:
        example = "0.01, or 1%" if share else "431.5"
        faults.append(f"{option} {text}: wanted a decimal from 0 on such as {example}; correct it.")
        return Fraction(0)
    return number / 100 if plain.endswith("%") else number


def _digests(manifest: Path | None, old: Path | None) -> tuple[str | None, str | None]:
    """The digests of two manifests.

    Raises:
        AskedForFailure: the new one cannot start.
        UsageFault: they are the same unit.
    """
    from sweep.operate.manifest_check import check_manifest
    from sweep.operate.manifest_read import read_manifest

    new_one = None if manifest is None else read_manifest(manifest)
    old_one = None if old is None else read_manifest(old)
    if new_one is not None:
        refused = check_manifest(new_one).refusals
        if refused:
            raise AskedForFailure([f"{manifest}: cannot start: {sentence}" for sentence in refused])
        if old_one is not None and new_one.digest == old_one.digest:
            raise UsageFault("--old-manifest: is the same unit as --manifest; there is nothing to roll out.")
    return None if new_one is None else new_one.digest, None if old_one is None else old_one.digest


def _seen(file: Path | None, requests: int | None, errors: int | None, p99_ms: str | None) -> Observation:
    from sweep.operate.rollout_state import observation, read_observation

    given = {"--requests": requests, "--errors": errors, "--p99-ms": p99_ms}
    if file is not None:
        twice = [f"{name}: the observation is a file already; leave one out." for name, value in given.items() if value]
        if twice:
            raise UsageFault(twice)
        return read_observation(file)
    missing = [f"{name}: missing; give it, or an observation file." for name, value in given.items() if value is None]
    if requests is None or errors is None or p99_ms is None:
        raise UsageFault(missing)
    faults = list[str]()
    p99 = _decimal("--p99-ms", p99_ms, False, faults)
    if faults:
        raise UsageFault(faults)
    return observation(requests, errors, p99)


@contextlib.contextmanager
def _alone(state: Path) -> Iterator[None]:
    """Nobody else updates a state file meanwhile; the lock of its folder ends with the process, however that ends."""
    try:
        import fcntl

        folder = os.open(state.parent, os.O_RDONLY)
    except (ImportError, OSError, ValueError):  # no such system, no such folder: reading the state says what is wrong
        yield
        return
    try:
        with contextlib.suppress(OSError):  # a file system without locks
            fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)
