"""Step times that somebody measured himself: CSV with batch, prefill tokens and time; its unit is named or stated."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Final

from sweep.calibrate.fields import NS, Faults
from sweep.calibrate.measured import Measured, StepPoint
from sweep.calibrate.series import number_in, table_rows
from sweep.errors import UsageFault
from sweep.units import grouped, printable

STEPS: Final = "table of step times"

BATCH: Final = ("batch", "slots", "sequences", "batch_size", "num_seqs")
CHUNK: Final = ("chunk", "chunk_tokens", "prefill_tokens", "prefill")
_TIME = ("step", "step_time", "time", "latency", "itl", "iteration_time")
TIME: Final = {f"{word}_{unit}": unit for word in _TIME for unit in NS} | dict.fromkeys(_TIME, "")
"""Name of a column -> the unit of time that it states, "" where it states none."""


def is_steps(columns: Iterable[str]) -> bool:
    """Whether a CSV has a column of batches and one of times."""
    names = [column.strip() for column in columns]
    return any(name in BATCH for name in names) and any(name in TIME for name in names)


def read_steps(name: str, text: str, unit: str | None) -> Measured:
    """The steps of a table.

    Args:
        name: how messages call the file.
        text: CSV with a head.
        unit: of the times where the column does not say it; None where the user did not state one.

    Raises:
        UsageFault: neither the column nor the user states the unit.
        InputFault: two columns of one meaning, values that are no numbers, no row; every fault at once.
    """
    faults = Faults(name)
    head = [column.strip() for column in text.splitlines()[0].split(",")]
    batch, time = (_one(head, names, faults) for names in (BATCH, TIME))
    chunk = _one(head, CHUNK, faults) if any(column in CHUNK for column in head) else None
    stated = TIME.get(time or "", "") or unit
    faults.raise_if_any()
    if stated is None:
        raise UsageFault(
            f"{name}: column {time}: has no unit of time; state it with --unit {'|'.join(NS)}, or write {time}_ms."
        )
    assert batch is not None  # faults otherwise
    assert time is not None
    points = []
    for line, row in table_rows(name, text, faults):
        values = [number_in(row, column, line, faults) for column in (batch, time, chunk) if column is not None]
        if any(value is None for value in values):
            continue
        sequences, step, *rest = (value for value in values if value is not None)
        tokens = rest[0] if rest else Fraction(0)
        if step == 0 or sequences + tokens == 0:
            what = "a step of 0 sequences and 0 prefill tokens, or of no time; remove the row"
            faults.add(f"line {grouped(line)}", what)
            continue
        where = f"{name} line {grouped(line)}"
        points.append(StepPoint(where, "stated", sequences, tokens, step * NS[stated]))
    if not points and not len(faults):
        faults.add("", "has no row below its head; give the steps that were measured")
    faults.raise_if_any()
    missing = [] if chunk else [f"{name}: has no column of prefill tokens, so its steps are taken to hold none"]
    return Measured(name, f"{STEPS}, {time} in {stated}", (), points, missing=missing, unit=stated)


def _one(head: list[str], names: Iterable[str], faults: Faults) -> str | None:
    """The one column that has a meaning, None after a fault."""
    found = [column for column in head if column in names]
    if len(found) == 1:
        return found[0]
    wanted = ", ".join(names)
    got = f"has the columns {', '.join(printable(column, 40) for column in found)}" if found else "has no such column"
    faults.add("line 1", f"{got}, wanted one of {wanted}; keep or add one")
    return None
