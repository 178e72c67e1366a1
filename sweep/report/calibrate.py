"""What measured files teach, in words and tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from sweep.calibrate.calibration import Calibration
from sweep.calibrate.fit import NAMES
from sweep.calibrate.measured import MILLI, Measured, Run, StepPoint, rounded
from sweep.calibrate.pool import KvPool
from sweep.calibrate.step_time import StepTime, milliseconds
from sweep.calibrate.tables import step_time_table
from sweep.report.blocks import CLAIM, Paragraph, Picture, Section, Table, Tone, table
from sweep.report.words import bytes_text, counted, permille_as_factor, rate, safe
from sweep.units import grouped

_POINTS_SHOWN = 12


def calibrate_page(calibration: Calibration) -> list[Section]:
    """The page of `calibrate`."""
    calibration = _without_folders(calibration)
    page = [Section(f"Calibration from {counted(len(calibration.files), 'file')}", (_files(calibration.files),))]
    if calibration.runs:
        page.append(Section("", (_runs(calibration.runs),)))
    if calibration.step_time is not None:
        page += _step_time(calibration.step_time)
    page += _others(calibration)
    spoken: tuple[tuple[str, Sequence[str], Tone], ...] = (
        ("Doubtful", calibration.flags, "bad"),
        ("Assumed", calibration.notes, "note"),
        ("Not learnt", calibration.missing, "plain"),
    )
    for title, clauses, tone in spoken:
        if clauses:
            page.append(Section(title, tuple(Paragraph(safe(f"- {clause}."), tone) for clause in clauses)))
    if calibration.step_time is not None and any(value is not None for value in calibration.step_time.coefficients):
        lines = step_time_table(calibration).splitlines()
        picture = Picture(tuple(((safe(line), "plain"),) for line in lines))
        page.append(Section("For the grid file (--toml prints this alone, -o writes it)", (picture,)))
    return [*page, CLAIM]


def _without_folders(calibration: Calibration) -> Calibration:
    """The same with files called by their last names in tables, where these are distinct; clauses keep the paths."""
    names = {file.name: Path(file.name).name for file in calibration.files}
    if len(set(names.values())) < len(names):
        return calibration

    def short(where: str) -> str:
        folder = next((name for name in names if where.startswith(name)), None)
        return where if folder is None else names[folder] + where[len(folder) :]

    files = tuple(
        replace(file, name=names[file.name], runs=[replace(run, where=short(run.where)) for run in file.runs])
        for file in calibration.files
    )
    capacity = calibration.tokens_per_s
    step_time = calibration.step_time
    if step_time is not None:
        fit = step_time.fit
        used, left_out = (
            tuple(replace(point, where=short(point.where)) for point in points) for points in (fit.used, fit.left_out)
        )
        step_time = replace(step_time, fit=replace(fit, used=used, left_out=left_out))
    return replace(
        calibration,
        files=files,
        step_time=step_time,
        tokens_per_s=None if capacity is None else (capacity[0], short(capacity[1])),
    )


def _files(files: Sequence[Measured]) -> Table:
    rows = []
    for file in files:
        rows.append((safe(file.name), safe(file.format)))
        rows += [("", safe(f"{what}: {value}")) for what, value in file.facts]
    return table(("file", "read as"), rows)


def _runs(runs: Sequence[Run]) -> Table:
    """The load tests: means, as the files state them."""
    rows = []
    for run in runs:
        limit = "-" if run.max_concurrency is None else grouped(run.max_concurrency)
        failed = "?" if run.failed is None else grouped(run.failed)
        done = "-" if run.completed is None else grouped(run.completed)
        times = [_ms(run.ttft_ns), _ms(run.itl_ns)]
        rows.append((safe(run.where), limit, done, failed, _thousandths(run.requests_per_s), *times, _whole(run)))
    heads = ("load test", "limit", "done", "failed", "req/s", "TTFT ms", "ITL ms", "tokens/s")
    return table(heads, rows, right=range(1, 8), alerts=(at for at, run in enumerate(runs) if run.failed))


def _whole(run: Run) -> str:
    return grouped(int(run.tokens_per_s))


def _ms(ns: Fraction | None) -> str:
    return "-" if ns is None else milliseconds(rounded(ns))


def _thousandths(number: Fraction) -> str:
    return permille_as_factor(rounded(number * 1_000))


def _step_time(step_time: StepTime) -> list[Section]:
    fit = step_time.fit
    values = [
        (name, "not learnt" if value is None else grouped(value))
        for name, value in zip(NAMES, step_time.coefficients, strict=True)
    ]
    values += [
        (what, f"{grouped(low)} to {grouped(high)}")
        for what, (low, high) in (
            ("measured slots", step_time.measured_slots),
            ("measured chunk tokens", step_time.measured_chunk_tokens),
        )
    ]
    blocks: list[Paragraph | Table] = [table(("step time", "ns, rounded up"), values, right=(1,))]
    if step_time.combination is not None:
        blocks.append(Paragraph(f"What the points do say, on average: {step_time.combination}."))
    if fit.line is not None:
        at_rest, each = (milliseconds(rounded(part)) for part in fit.line)
        text = f"At their mix of lengths, prompts included: {at_rest} ms + {each} ms per sequence."
        blocks.append(Paragraph(text))
    left_out = f"; {counted(len(fit.left_out), 'point')} of a stalled engine left out" if fit.left_out else ""
    rule = (
        f"Non-negative least squares over {counted(len(fit.used), 'point')}{left_out}. Batch is decoding sequences and "
        f"chunk prefill tokens of a mean step; residual is measured minus modelled."
    )
    return [Section("", tuple(blocks)), Section("", (*_points(step_time), Paragraph(rule, "note")))]


def _points(step_time: StepTime) -> list[Table | Paragraph]:
    """The points with the largest residuals; all where they are few."""
    used = step_time.fit.used
    shown = sorted(used, key=lambda point: -abs(step_time.residual_ns(point) or 0))[:_POINTS_SHOWN]
    kept = set(map(id, shown))
    rows = [_point(step_time, point) for point in used if id(point) in kept]
    found: list[Table | Paragraph] = [
        table(("point", "kind", "batch", "chunk", "step ms", "residual ms"), rows, right=range(2, 6))
    ]
    if len(used) > len(rows):
        more = grouped(len(used) - len(rows))
        which = "more points fit better than these" if step_time.complete else "more points"
        found.append(Paragraph(f"{more} {which}; --json lists all.", "note"))
    return found


def _point(step_time: StepTime, point: StepPoint) -> tuple[str, ...]:
    residual = step_time.residual_ns(point)
    return (
        safe(point.where),
        point.kind,
        _fixed(point.batch_milli),
        _fixed(point.chunk_milli),
        milliseconds(point.step_ns),
        "-" if residual is None else milliseconds(residual),
    )


def _fixed(thousandths: int) -> str:
    return f"{grouped(thousandths // MILLI)}.{thousandths % MILLI:03}"


def _others(calibration: Calibration) -> list[Section]:
    """Token capacity, KV pool, request classes."""
    page = []
    if calibration.tokens_per_s is not None:
        most, where = calibration.tokens_per_s
        text = f"Token capacity: at least {grouped(most)} tokens/s, prompt and output, as seen in {safe(where)}."
        page.append(Section("", (Paragraph(text),)))
    if calibration.pool is not None:
        page.append(Section("", (_pool(calibration.pool),)))
    if calibration.classes:
        rows = [
            (
                one.class_id,
                "-" if one.requests is None else grouped(one.requests),
                grouped(one.prompt_tokens),
                grouped(one.output_tokens),
                "-" if one.arrival_millirps is None else rate(one.arrival_millirps),
            )
            for one in calibration.classes
        ]
        heads = ("request class", "requests", "prompt tokens", "output tokens", "req/s")
        note = Paragraph("Means rounded up; of these measurements, not of your traffic.", "note")
        page.append(Section("", (table(heads, rows, right=range(1, 5)), note)))
    return page


def _pool(pool: KvPool) -> Table:
    rows = []
    if pool.tokens is not None:
        rows.append(("tokens that fit", grouped(pool.tokens)))
    if pool.blocks is not None:
        of = "" if pool.block_tokens is None else f" of {counted(pool.block_tokens, 'token')}"
        rows.append(("blocks", f"{grouped(pool.blocks)}{of}"))
    if pool.bytes_low is not None and pool.bytes_high is not None:
        rows.append(("bytes on one GPU", _range(pool.bytes_low, pool.bytes_high)))
    if pool.token_bytes_high is not None:
        exact = _range(pool.token_bytes_low, pool.token_bytes_high)
        rows.append(("bytes of a token on one GPU", exact))
    if pool.longest_tokens is not None and pool.longest_fit is not None:
        fit = permille_as_factor(int(pool.longest_fit * 1_000))
        rows.append((f"sequences of {grouped(pool.longest_tokens)} tokens that fit", fit))
    return table(("KV pool", ""), rows)


def _range(low: int | None, high: int) -> str:
    if low is None:
        return f"at most {grouped(high)}"
    return bytes_text(low) if low == high else f"{grouped(low)} to {grouped(high)}"
