"""Curves from files: CSV or JSON of stated units, and the bins of a request trace.

CSV has a head with `rps` and one column of times that names its unit: `time_ns`, `time_us`, `time_ms`, `time_s`,
`time_min` or `time_h` (or `time`, with the unit given beside). JSON says the same as
`{"unit": "h", "curve": [{"time": 0, "rps": 1.5}, …], "end": 24}`. Numbers are exact decimals.

Each rate holds until the next row. Where the rows stand at equal distances the last one lasts as long as the others;
else the end is stated: a last row with an empty `rps`, or `end`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np

from sweep.calibrate.documents import objects_of
from sweep.calibrate.fields import Faults
from sweep.calibrate.series import table_rows
from sweep.calibrate.source import name_of, read_text
from sweep.errors import InputFault, RefusedSize, UsageFault
from sweep.operate.curve import MAX_RPS, MAX_STEPS, MAX_TIME_NS, SECOND_NS, Curve, curve_of
from sweep.traffic.count import trace_facts
from sweep.traffic.facts import TraceFacts
from sweep.traffic.read import Trace
from sweep.units import exact_decimal, grouped, parse_decimal, shown

UNITS_NS: Final[Mapping[str, int]] = {
    "ns": 1,
    "us": 10**3,
    "ms": 10**6,
    "s": SECOND_NS,
    "min": 60 * SECOND_NS,
    "h": 3_600 * SECOND_NS,
}
"""Unit of time -> how many ns it is."""

_COLUMNS: Final = {f"time_{unit}": unit for unit in UNITS_NS}

Row = tuple[str, object, object]
"""Where it stands, its time and its rate, as they came; an end has the rate None."""


def read_curve(path: str | Path, unit: str | None = None) -> Curve:
    """A traffic curve from a CSV or JSON file; the docstring of this module defines both.

    Args:
        path: the file.
        unit: of times that name none: `ns`, `us`, `ms`, `s`, `min` or `h`.

    Raises:
        InputFault: no such file, another form, times that do not increase, no unit; every fault at once.
        UsageFault: an unknown unit, or one beside a file that states its own.
        RefusedSize: more than 10^5 steps.
    """
    if unit is not None and unit not in UNITS_NS:
        raise UsageFault(f"--unit {unit}: wanted one of {', '.join(UNITS_NS)}; write one of them.")
    name, text = name_of(path), read_text(path)
    faults = Faults(name)
    is_json = text.lstrip()[:1] in ("{", "[")
    own, rows = _json_rows(name, text, faults) if is_json else _csv_rows(name, text, faults)
    if own is not None and unit is not None and own != unit:
        raise UsageFault(f"--unit {unit}: {name} says that its times are in {own}; leave --unit out.")
    in_unit = own or unit
    if in_unit is None and not len(faults):
        wanted = '"unit": "s"' if is_json else "the column time_s, say"
        faults.add("", f"does not say the unit of its times, wanted {wanted}; add it, or give --unit")
    faults.raise_if_any()
    assert in_unit is not None  # was a fault
    return _curve(str(path), rows, UNITS_NS[in_unit], faults)


def _csv_rows(name: str, text: str, faults: Faults) -> tuple[str | None, list[Row]]:
    rows: list[Row] = []
    unit: str | None = None
    column = ""
    for line, row in table_rows(name, text, faults):
        if not column:
            columns = [head for head in row if head in _COLUMNS or head == "time"]
            if len(columns) != 1 or "rps" not in row:
                wanted = f"rps and one of {', '.join(_COLUMNS)}, or time with --unit"
                faults.add("line 1", f"has the columns {', '.join(map(shown, list(row)[:8]))}, wanted {wanted}; rename")
                return None, []
            column = columns[0]
            unit = _COLUMNS.get(column)
        rate = row["rps"].strip()
        rows.append((f"line {grouped(line)}", row[column].strip(), rate or None))
    if not rows and not len(faults):
        faults.add("", "has no row below its head; give a row per step of the curve")
    return unit, rows


def _json_rows(name: str, text: str, faults: Faults) -> tuple[str | None, list[Row]]:
    objects = objects_of(text, name)
    raw = objects[0].raw if len(objects) == 1 else {}
    unit, steps = raw.get("unit"), raw.get("curve")
    if not isinstance(steps, list) or not steps or not all(isinstance(step, dict) for step in steps):
        example = '{"unit": "h", "curve": [{"time": 0, "rps": 1.5}], "end": 24}'
        faults.add("", f"is no curve, wanted one object such as {example}; write it so")
        return None, []
    if unit is not None and (not isinstance(unit, str) or unit not in UNITS_NS):
        faults.add("unit", f"got {shown(unit)}, wanted one of {', '.join(UNITS_NS)}; write one of them")
        return None, []
    for key in raw:
        if key not in ("unit", "curve", "end"):
            faults.add(shown(key), "unknown key, wanted unit, curve and end; remove it")
    rows: list[Row] = [(f"curve[{at}]", step.get("time"), _given(step)) for at, step in enumerate(steps)]
    if "end" in raw:
        rows.append(("end", raw["end"], None))
    return unit, rows


def _given(step: Mapping[str, Any]) -> object:
    """The rate of a JSON step; a missing one is a fault and no end."""
    return step["rps"] if step.get("rps") is not None else "nothing"


def _curve(name: str, rows: Sequence[Row], unit_ns: int, faults: Faults) -> Curve:
    times, rates = list[int](), list[Fraction]()
    end: int | None = None
    most_time, before = Fraction(MAX_TIME_NS, unit_ns), -1
    for at, (place, time, rate) in enumerate(rows):
        number = _number(time, f"{place}: time", most_time, faults)
        own = None if number is None else number * unit_ns
        if own is not None and own.denominator != 1:
            faults.add(f"{place}: time", f"got {shown(time)}, wanted a whole number of ns; round it")
        elif own is not None and own <= before:
            faults.add(f"{place}: time", f"got {shown(time)}, which is not after the one before; sort the rows")
        elif own is not None:
            before = own.numerator
        if rate is None and (at + 1 < len(rows) or at == 0):
            faults.add(f"{place}: rps", "is empty, and only a last row, the end of the curve, may be; add the rate")
        elif rate is None:
            end = before
        else:
            found = _number(rate, f"{place}: rps", Fraction(MAX_RPS), faults)
            times.append(before)
            rates.append(found or Fraction(0))
    faults.raise_if_any()
    return curve_of(times, rates, _end(times, faults) if end is None else end, name)


def _end(times: Sequence[int], faults: Faults) -> int:
    """The end of steps of one length; anything else must be stated."""
    lengths = {after - before for before, after in pairwise(times)}
    if len(lengths) != 1:
        why = "its steps differ in length" if lengths else "it has one step"
        faults.add("", f"{why}, so it does not say when it ends; add a last row with its end and an empty rps, or end")
        faults.raise_if_any()
    return times[-1] + lengths.pop()


def _number(value: object, place: str, most: Fraction, faults: Faults) -> Fraction | None:
    """A number of at least 0, exactly; None after a fault."""
    readable = parse_decimal(value) if isinstance(value, str) and value.isascii() else value
    number = exact_decimal(readable)
    if number is None or not 0 <= number <= most:
        top = grouped(most.numerator // most.denominator)
        faults.add(place, f"got {shown(value)}, wanted a number from 0 to {top}; correct it")
        return None
    return number


def trace_curve(
    path: str | Path,
    bin_ns: int,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    unit: str | None = None,
) -> tuple[TraceFacts, Curve]:
    """The facts of a request trace and its curve: the requests of each bin over its length.

    Bins follow each other from the earliest request on, as those of `trace_facts`; the last one counts as a whole one.
    Failed rows (0 output tokens) are in no figure. The trace is read twice.

    Args:
        path, format, columns, unit: as in `sweep.read_trace`.
        bin_ns: the length of a bin, at least 1 ns.

    Raises:
        InputFault, UsageFault: as in `sweep.trace_facts`; also a pipe, which cannot be read twice.
        RefusedSize: more than 10^5 bins.
    """
    if bin_ns < 1:
        raise UsageFault(f"--bin: got {grouped(bin_ns)} ns, wanted at least 1; give a length such as 60 s.")
    with Trace(Path(path), format, columns, unit) as trace:
        if not trace.source.rereadable:
            raise InputFault(f"{trace.source.faults.name}: is a pipe, and a curve reads a trace twice; give a file.")
    facts = trace_facts(path, format, columns, unit)
    bins = facts.span_ns // bin_ns + 1
    if bins > MAX_STEPS:
        what = f"bins of {grouped(bin_ns)} ns make {grouped(bins)} steps, at most {grouped(MAX_STEPS)}"
        raise RefusedSize(f"{name_of(path)}: {what}; widen --bin.")
    counts = np.zeros(bins, dtype=np.int64)
    with Trace(Path(path), format, columns, unit) as trace:
        for block in trace:
            times = block.time_ns[block.output_tokens > 0]
            counts += np.bincount((times - facts.first_ns) // bin_ns, minlength=bins)[:bins]
    rates = [Fraction(int(count) * SECOND_NS, bin_ns) for count in counts]
    return facts, curve_of([at * bin_ns for at in range(bins)], rates, bins * bin_ns, str(path))
