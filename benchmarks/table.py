"""Rows as text: one table for the terminal, one for the README."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from benchmarks.outcome import Outcome
from sweep.units import grouped

HEAD = ("case", "cells", "time", "per second", "compared in the same run", "peak", "wanted")


def plain(rows: Sequence[Outcome]) -> str:
    """Aligned columns; what was left out and why stands below."""
    cells = [HEAD, *[_columns(row, str) for row in rows]]
    widths = [max(len(line[i]) for line in cells) for i in range(len(HEAD))]
    lines = ["  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip() for line in cells]
    return "\n".join(lines + notes(rows))


def markdown(rows: Sequence[Outcome]) -> str:
    """The same as a Markdown table."""
    lines = [f"| {' | '.join(HEAD)} |", f"| --- {'| ---: ' * 3}| --- | ---: | --- |"]
    for row in rows:
        name, *rest = _columns(row, lambda key: f"`{key}`")
        lines.append(f"| {' | '.join([f'{name}: {row.about}' if row.about else name, *rest])} |")
    return "\n".join(lines)


def notes(rows: Sequence[Outcome]) -> list[str]:
    """Why a case, a peer or a yardstick is not there."""
    said = [f"{row.key}: not measured: {row.reason}" for row in rows if row.reason is not None]
    for row in rows:
        said += [f"{row.key}: {name} left out: {why}" for name, why in row.skipped.items()]
    return said


def _columns(row: Outcome, named: Callable[[str], str]) -> tuple[str, ...]:
    if row.reason is not None:
        return (named(row.key), "", "", "", "not measured", "", _wanted(row))
    return (
        named(row.key),
        count(row.cells) if row.cells else "",
        duration(row.seconds),
        _rate(row),
        "; ".join(_ratio(name, value, row.reads.get(name, "times")) for name, value in row.ratios.items()),
        "" if row.peak_bytes is None else f"{grouped(round(row.peak_bytes / 1e6))} MB",
        _wanted(row),
    )


def _wanted(row: Outcome) -> str:
    words = {True: "reached", False: "missed", None: "open"}
    return "; ".join(f"{target['text']}: {words[target['reached']]}" for target in row.targets)


def _rate(row: Outcome) -> str:
    """How many cells, or what the verb counts; nothing for what does not look at each."""
    if row.verb in ("capacity", "audit") and row.configurations_per_second:
        what = "configurations" if row.verb == "capacity" else "points"
        return f"{_amount(row.configurations_per_second)} {what}"
    counted = row.verb in ("mask", "largest", "run")
    return f"{_amount(row.cells_per_second)} cells" if row.cells_per_second and counted else ""


def _ratio(name: str, value: float, reads: str) -> str:
    if reads == "time":
        return f"{1 / value:.2f} × the time of {name}"
    return f"{_digits(value)} {'of' if reads == 'of' else '×'} {name}"


def _digits(value: float) -> str:
    """Two significant digits, without an exponent."""
    if value >= 10:
        return grouped(round(value))
    return f"{value:.1f}" if value >= 1 else f"{value:.2g}" if value >= 1e-4 else f"{value:.1e}"


def _amount(value: float) -> str:
    for power, letter in ((12, "T"), (9, "G"), (6, "M"), (3, "k")):
        if value >= 10**power:
            return (
                f"{value / 10**power:.3g} {letter}"
                if value < 999.5 * 10**power
                else f"{value / 10**power:.0f} {letter}"
            )
    return f"{value:.3g}"


def count(number: int) -> str:
    """A number of cells: a power of ten as one, else in groups of three."""
    power = len(str(number)) - 1
    return f"10^{power}" if number == 10**power and power > 3 else grouped(number)


def duration(seconds: float | None) -> str:
    """Seconds or milliseconds with three digits."""
    if seconds is None:
        return ""
    return f"{seconds * 1000:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"
