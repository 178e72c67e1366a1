"""Measured files -> what they teach: step time, token capacity, KV pool, request classes; and what they do not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sweep.calibrate.classes import LengthClass, length_classes
from sweep.calibrate.fields import NS
from sweep.calibrate.formats import read_file
from sweep.calibrate.measured import Measured, Run, StepPoint
from sweep.calibrate.origin import check_one_engine, check_unit
from sweep.calibrate.points import steps_of
from sweep.calibrate.pool import KvPool, pool_of
from sweep.calibrate.step_time import StepTime, doubts_of, step_time_of, why_not
from sweep.errors import InputFault, RefusedSize, UsageFault
from sweep.records.wording import CLAIM
from sweep.units import grouped, printable

MAX_CLASSES = 64
"""As many request classes as a grid takes."""

SOURCE_LENGTH = 60
"""Characters of a source, so that its line in a grid file fits a page."""


@dataclass(frozen=True)
class Calibration:
    """What measured files teach.

    Attributes:
        files: what each file says, in the order given.
        step_time: None where no file has a step.
        tokens_per_s: the most prompt and output tokens per second that were seen, rounded down, and where; None where
            no file says. The engine can do at least that much, on that mix of lengths.
        pool: None where no file says anything of the KV cache.
        classes: the requests of the measurements by length; empty where no file has lengths.
        chunk_tokens: tokens that the engine put in a step at most; None where not known.
        flags: what makes figures doubtful, as clauses.
        notes: what was assumed, as clauses.
        missing: what could not be learnt and why, as clauses.
    """

    files: tuple[Measured, ...]
    step_time: StepTime | None
    tokens_per_s: tuple[int, str] | None
    pool: KvPool | None
    classes: tuple[LengthClass, ...]
    chunk_tokens: int | None
    flags: tuple[str, ...]
    notes: tuple[str, ...]
    missing: tuple[str, ...]

    @property
    def runs(self) -> tuple[Run, ...]:
        """The load tests of all files."""
        return tuple(run for file in self.files for run in file.runs)

    @property
    def measured(self) -> tuple[Measured, ...]:
        """The files that the step time comes from."""
        fit = None if self.step_time is None else self.step_time.fit
        places = () if fit is None else tuple(point.where for point in (*fit.used, *fit.left_out))
        return tuple(file for file in self.files if any(f"{place} ".startswith(f"{file.name} ") for place in places))

    @property
    def source(self) -> str:
        """The names of the files that the step time comes from, in one short line."""
        names = [printable(Path(file.name).name, SOURCE_LENGTH) for file in self.measured]
        for count in range(len(names), 0, -1):
            more = len(names) - count
            text = ", ".join(names[:count]) + (f" and {more} more" if more else "")
            if len(text) <= SOURCE_LENGTH:
                return text
        return f"{len(names)} files"

    def as_json(self) -> dict[str, Any]:
        """With stable keys; what is not known is null."""
        capacity = self.tokens_per_s
        return {
            "files": [{"file": file.name, "format": file.format, "facts": dict(file.facts)} for file in self.files],
            "step_time": None if self.step_time is None else self.step_time.as_json(),
            "token_capacity_per_second": None if capacity is None else {"at_least": capacity[0], "where": capacity[1]},
            "kv_pool": None if self.pool is None else self.pool.as_json(),
            "classes": [one.as_json() for one in self.classes],
            "max_num_batched_tokens": self.chunk_tokens,
            "flagged": list(self.flags),
            "assumed": list(self.notes),
            "not_learned": list(self.missing),
            "claim": CLAIM,
        }


def calibration(
    paths: Sequence[str | Path],
    unit: str | None = None,
    chunk_tokens: int | None = None,
    classes: int = 1,
    kv_bytes_per_token: int | None = None,
    block_tokens: int | None = None,
    per_prefill_token_ns: int | None = None,
) -> Calibration:
    """What measured files teach: step-time coefficients, token capacity, KV pool, request classes.

    Args:
        paths: load tests, engine logs, snapshots, step times, in any format that `sweep calibrate --help` names; of one
            engine in one set-up.
        unit: of times where a format does not fix it: "ns", "us", "ms" or "s".
        chunk_tokens: tokens that the engine put in a step at most, where no file says it.
        classes: how many request classes to make, 1 to 64.
        kv_bytes_per_token: KV bytes of a token on one GPU, to have the pool in bytes exactly.
        block_tokens: tokens of a KV block, where no file says it.
        per_prefill_token_ns: what a prefill token takes, where the files cannot tell it from decoding.

    Raises:
        UsageFault: no file, an unknown unit, one that is missing or contradicts the files, a number out of bounds.
        InputFault: files that cannot be read, in formats that are not read, that are no result, or that were measured
            on different models or engines; every fault of every file at once.
    """
    _check(paths, unit, classes, chunk_tokens, kv_bytes_per_token, block_tokens, per_prefill_token_ns)
    files = _read(paths, unit)
    flags = [flag for file in files for flag in file.flags]
    notes: list[str] = []
    chunk = chunk_tokens or _chunk(files, flags)
    points = _points(files, chunk, flags, notes)
    step_time = step_time_of(points, per_prefill_token_ns) if points else None
    if step_time is not None and step_time.stated:
        notes.append(f"a prefill token takes {grouped(per_prefill_token_ns or 0)} ns, as stated; it was not measured")
    flags += [] if step_time is None else doubts_of(step_time)
    pool, doubts = pool_of([pool for file in files for pool in file.pools], kv_bytes_per_token, block_tokens)
    made, fewer = length_classes([one for file in files for one in file.lengths], classes)
    capacity = _capacity(files)
    missing = [clause for file in files for clause in file.missing] + fewer
    missing += _absent(step_time, capacity, pool, made)
    return Calibration(
        tuple(files),
        step_time,
        capacity,
        pool,
        made,
        chunk,
        (*flags, *doubts),
        tuple(notes),
        tuple(missing),
    )


def _read(paths: Sequence[str | Path], unit: str | None) -> list[Measured]:
    """Every file, once they are sound and of one engine."""
    files, faults, sizes = [], list[str](), True
    for path in paths:
        try:
            files.append(read_file(path, unit))
        except InputFault as fault:
            faults += fault.faults
            sizes = sizes and isinstance(fault, RefusedSize)
    if faults:
        raise (RefusedSize if sizes else InputFault)(faults)
    check_unit(files, unit)
    check_one_engine(files)
    return files


def _check(paths: Sequence[str | Path], unit: str | None, classes: int, *numbers: int | None) -> None:
    faults = []
    if not paths:
        faults.append("no file is given; give at least one.")
    texts = [str(path) for path in paths]
    faults += [
        f"{printable(text, 160)}: given {texts.count(text)} times, which would count its points as often; give it once."
        for text in dict.fromkeys(texts)
        if texts.count(text) > 1
    ]
    if unit is not None and unit not in NS:
        faults.append(f"unit: got {unit!r}, wanted one of {', '.join(NS)}; give one of them.")
    if not 1 <= classes <= MAX_CLASSES:
        faults.append(f"classes: got {grouped(classes)}, wanted 1 to {MAX_CLASSES}; give such a number.")
    names = ("chunk_tokens", "kv_bytes_per_token", "block_tokens", "per_prefill_token_ns")
    faults += [
        f"{name}: got {grouped(number)}, wanted 1 to 10^12; give such a number."
        for name, number in zip(names, numbers, strict=True)
        if number is not None and not 1 <= number <= 10**12
    ]
    if faults:
        raise UsageFault(faults)


def _chunk(files: Sequence[Measured], flags: list[str]) -> int | None:
    """The token budget of the engine, where all files that have one agree."""
    found = sorted({file.chunk_tokens for file in files if file.chunk_tokens is not None})
    if len(found) > 1:
        numbers = ", ".join(grouped(number) for number in found)
        flags.append(
            f"the files have different max_num_batched_tokens, {numbers}; none is taken, give one set-up at a time"
        )
    return found[0] if len(found) == 1 else None


def _points(files: Sequence[Measured], chunk: int | None, flags: list[str], notes: list[str]) -> list[StepPoint]:
    """The steps of all files, in their order; those that break the engine's token budget are left out and counted."""
    points, beyond = list[StepPoint](), 0
    for file in files:
        for run in file.runs:
            steps = steps_of(run, chunk)
            points += steps.points
            flags += steps.flags
            notes += steps.notes
        fit = [point for point in file.points if chunk is None or point.chunk <= chunk]
        beyond += len(file.points) - len(fit)
        points += fit
    if beyond:
        notes.append(
            f"{grouped(beyond)} points have more prefill per step than the engine's {grouped(chunk or 0)} tokens, so "
            f"their steps were miscounted; they are left out"
        )
    kinds = {point.kind for point in points}
    if kinds - {"stated"}:
        notes.append("prompts are taken to share no prefix that the engine had cached")
    return points


def _capacity(files: Sequence[Measured]) -> tuple[int, str] | None:
    """The most tokens per second that were seen, rounded down, and where."""
    seen = [(run.tokens_per_s, run.where) for file in files for run in file.runs]
    seen += [(file.tokens_per_s, file.name) for file in files if file.tokens_per_s is not None]
    if not seen:
        return None
    most, where = max(seen, key=lambda one: one[0])
    return int(most), where


def _absent(
    step_time: StepTime | None,
    capacity: tuple[int, str] | None,
    pool: KvPool | None,
    classes: Sequence[LengthClass],
) -> list[str]:
    """What no file says at all."""
    found = ["step time: no file has steps; add a load test or a series"] if step_time is None else why_not(step_time)
    if capacity is None:
        found.append("token capacity: no file has a throughput; add a load test")
    if pool is None:
        found.append("KV pool: no file has one; add the engine's start-up log or a metrics snapshot")
    if not classes:
        found.append("request classes: no file has lengths; add a load test")
    return found
