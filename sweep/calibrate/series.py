"""One-second series of an engine: CSV with `t` in s, throughputs in tokens/s, running and waiting requests, KV in %."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Final

from sweep.calibrate.fields import MOST, Faults
from sweep.calibrate.measured import Measured, StepPoint, rounded
from sweep.units import grouped, shown

SERIES: Final = "one-second series"

COLUMNS: Final = ("t", "prompt_throughput", "gen_throughput", "running", "waiting", "kv_cache_pct")
_NEEDED = COLUMNS[:4]
_NUMBER = re.compile(r"[0-9]{1,20}(?:\.[0-9]{1,20})?")

Row = dict[str, Fraction]


def table_rows(name: str, text: str, faults: Faults) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows of a CSV text by the names of their columns, with their lines.

    A row of another length is a fault; a CSV that cannot be read at all ends the rows with one.
    """
    reader = csv.reader(io.StringIO(text), strict=True)
    try:
        head = [column.strip() for column in next(reader)]
        if len(set(head)) < len(head):
            faults.add("line 1", f"has the column {shown(max(head, key=head.count))} twice; rename or remove one")
        for row in reader:
            if not row:
                continue
            if len(row) != len(head):
                what = f"got {grouped(len(row))} values, wanted {grouped(len(head))} as in the first line"
                faults.add(f"line {grouped(reader.line_num)}", f"{what}; the file may be cut short")
                continue
            yield reader.line_num, dict(zip(head, row, strict=True))
    except csv.Error as error:
        faults.add(f"line {grouped(reader.line_num)}", f"no CSV ({error}); give the file as it was saved")


def number_in(row: dict[str, str], column: str, line: int, faults: Faults, wanted: str = "a number") -> Fraction | None:
    """A plain decimal of at least 0, None after a fault."""
    text = row[column].strip()
    if not _NUMBER.fullmatch(text) or Fraction(text) > MOST:
        what = f"got {shown(text)}, wanted {wanted} from 0 to {grouped(MOST)}; correct it, or remove the row"
        faults.add(f"line {grouped(line)}: {column}", what)
        return None
    return Fraction(text)


def read_series(name: str, text: str) -> Measured:
    """The steps of each tick: tokens over mean running requests are steps.

    Raises:
        InputFault: values that are no numbers, times that do not increase, no tick; every fault at once.
    """
    faults = Faults(name)
    rows: list[tuple[int, Row]] = []
    for line, raw in table_rows(name, text, faults):
        row = {key: number_in(raw, key, line, faults) for key in COLUMNS if key in raw}
        if all(value is not None for value in row.values()):
            rows.append((line, {key: value for key, value in row.items() if value is not None}))
    for (_, before), (line, after) in pairwise(rows):
        if after["t"] <= before["t"]:
            faults.add(f"line {grouped(line)}: t", "does not increase; sort the series, or cut it to one run")
    if not rows and not len(faults):
        faults.add("", "has no row below its head; give the series as it was saved")
    faults.raise_if_any()
    points = steps_of_ticks(name, rows)
    missing = [] if points else [f"{name}: no tick has running requests that got tokens, so it gives no step"]
    ticks = [row for _, row in rows]
    capacity = max(row["prompt_throughput"] + row["gen_throughput"] for row in ticks)
    facts = [("most running, waiting", f"{_most(ticks, 'running')}, {_most(ticks, 'waiting')}")]
    if "kv_cache_pct" in ticks[0]:
        facts.append(("fullest KV cache", f"{two_decimals(max(row['kv_cache_pct'] for row in ticks))} %"))
    return Measured(name, SERIES, (), points, tokens_per_s=capacity, facts=facts, missing=missing)


def _most(ticks: Sequence[Row], column: str) -> str:
    values = [row[column] for row in ticks if column in row]
    return grouped(int(max(values))) if values else "-"


def two_decimals(number: Fraction) -> str:
    """A number with at most two decimals, rounded to nearest."""
    hundredths = rounded(number * 100)
    return f"{grouped(hundredths // 100)}.{hundredths % 100:02}".rstrip("0").rstrip(".")


def steps_of_ticks(name: str, rows: Sequence[tuple[int, Row]]) -> list[StepPoint]:
    """One point per tick in which running requests got tokens.

    Each running request gets one token per step, so a tick with G output tokens and b running requests (the mean of its
    two ends) had G/b steps; the prompt tokens of the tick are spread over them. The first tick has no beginning.
    """
    points = []
    for (_, before), (line, row) in pairwise(rows):
        seconds = row["t"] - before["t"]
        output = row["gen_throughput"] * seconds
        batch = (before["running"] + row["running"]) / 2
        if output < 1 or batch < 1:
            continue
        steps = output / batch
        points.append(
            StepPoint(
                f"{name} line {grouped(line)}",
                "second",
                batch,
                row["prompt_throughput"] * seconds / steps,
                seconds * 10**9 / steps,
            )
        )
    return points
