"""Which format a trace has: recognised from its first line or named by the user; units are known, never guessed."""

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sweep.errors import InputFault, UsageFault
from sweep.traffic.lines import LineFaults
from sweep.units import parse_decimal, printable

UNITS: Final[Mapping[str, int]] = {"s": 9, "ms": 6, "us": 3, "ns": 0}
"""Unit of a time column -> the power of ten of nanoseconds that one of it is."""

CLOCK: Final = "clock"
"""The unit of a column of wall-clock texts, `2023-11-16 18:17:03.9799600`, with or without an offset."""

ROLES: Final = ("time", "prompt", "output")
"""What the three columns of a request are called in `--columns`."""


@dataclass(frozen=True)
class Format:
    """A trace format.

    Attributes:
        name: as in `--format`.
        title: as people know it.
        fields: the names of its time, prompt and output fields; empty where the user names them.
        unit: of its times, in `UNITS` or `CLOCK`; "" where the user states it.
        how: how a list of formats describes it.
    """

    name: str
    title: str
    fields: tuple[str, ...]
    unit: str
    how: str


FORMATS: Final[Mapping[str, Format]] = {
    format_.name: format_
    for format_ in (
        Format(
            "azure",
            "Azure LLM inference trace",
            ("TIMESTAMP", "ContextTokens", "GeneratedTokens"),
            CLOCK,
            "azure (CSV with TIMESTAMP, ContextTokens, GeneratedTokens)",
        ),
        Format(
            "burstgpt",
            "BurstGPT trace",
            ("Timestamp", "Request tokens", "Response tokens"),
            "s",
            "burstgpt (CSV with Timestamp, Request tokens, Response tokens)",
        ),
        Format(
            "mooncake",
            "Mooncake trace",
            ("timestamp", "input_length", "output_length"),
            "ms",
            "mooncake (JSON lines with timestamp, input_length, output_length)",
        ),
        Format("csv", "CSV trace", (), "", "csv (any other CSV, with --columns and --unit)"),
    )
}
"""Every format that is read, by name."""

SUPPORTED: Final = "; ".join(format_.how for format_ in FORMATS.values())
"""What is read, for a message about what is not."""

_FOREIGN = (
    ({"chat_id", "parent_chat_id"}, "a Qwen-Bailian usage trace, whose times are seconds and whose blocks are smaller"),
    ({"ttfts"}, "a benchmark result"),
    ({"request_throughput"}, "a benchmark result"),
    ({"benchmarks"}, "a benchmark report"),
    ({"conversations"}, "a ShareGPT data set, which has no arrival times"),
    ({"conversation"}, "a data set of conversations, which has no arrival times"),
    ({"messages"}, "a data set of prompts, which has no arrival times"),
    ({"prompt"}, "a data set of prompts, which has no arrival times"),
)
"""Keys of JSON formats that people have and that are not read -> what they are."""


@dataclass(frozen=True)
class Layout:
    """How the rows of one trace are read.

    Attributes:
        format: one of `FORMATS`.
        unit: of its times, in `UNITS` or `CLOCK`.
        names: the time, prompt and output fields.
        positions: where these columns stand, from 0; empty for JSON lines.
        width: how many columns a row has; 0 for JSON lines.
        hashed: whether requests carry the hashes of their prompt's blocks.
    """

    format: Format
    unit: str
    names: tuple[str, ...]
    positions: tuple[int, ...] = ()
    width: int = 0
    hashed: bool = False


def asked_format(format_: str | None, columns: Mapping[str, str] | None, unit: str | None) -> Format | None:
    """The format that the options name; None where the file is to show it.

    Args:
        format_: a key of `FORMATS`, or None.
        columns: role -> column, for a CSV of any other kind.
        unit: of its times, a key of `UNITS` or `CLOCK`.

    Raises:
        UsageFault: options that contradict each other, or an unknown one.
    """
    if format_ is not None and format_ not in FORMATS:
        raise UsageFault(f"--format {printable(format_)}: wanted one of {', '.join(FORMATS)}; write one of them.")
    if unit is not None and unit not in (*UNITS, CLOCK):
        raise UsageFault(f"--unit {printable(unit)}: wanted one of {', '.join((*UNITS, CLOCK))}; write one of them.")
    asked = FORMATS[format_] if format_ else FORMATS["csv"] if columns else None
    if columns is not None:
        _check_roles(columns)
    if asked is not None and asked.fields and columns:
        raise UsageFault(f"--columns: the format {asked.name} has its own columns; remove the one or the other.")
    if asked is not None and asked.name == "csv" and not columns:
        raise UsageFault(f"--format csv: needs its columns; add --columns {_EXAMPLE}.")
    if asked is not None and asked.name == "csv" and unit is None:
        units = ", ".join((*UNITS, CLOCK))
        raise UsageFault(f"--columns: a CSV does not say the unit of its times; add --unit, one of {units}.")
    return asked


_EXAMPLE = "time=…,prompt=…,output=…"


def _check_roles(columns: Mapping[str, str]) -> None:
    wrong = [role for role in columns if role not in ROLES] + [role for role in ROLES if not columns.get(role)]
    if wrong:
        what = "unknown" if wrong[0] in columns and wrong[0] not in ROLES else "missing"
        raise UsageFault(f"--columns: {printable(wrong[0])} is {what}, wanted {_EXAMPLE}; give these three.")
    names = list(columns.values())
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        roles = " and ".join(role for role in ROLES if columns[role] == twice)
        raise UsageFault(f"--columns: {printable(twice)} is given for {roles}; name a column of its own for each.")


def layout_of(
    first: bytes, asked: Format | None, columns: Mapping[str, str] | None, unit: str | None, faults: LineFaults
) -> Layout:
    """How to read a trace with this first line.

    Args:
        first: the first line of the file, without its line break.
        asked: what `asked_format` found.
        columns, unit: as there.
        faults: knows the name of the file.

    Raises:
        InputFault: a format that is not read, or one that is not the one asked for.
        UsageFault: a unit that contradicts the format's.
    """
    try:
        line = first.decode("utf-8").strip()
    except UnicodeDecodeError:
        raise _unread("no UTF-8 text", faults) from None
    if not line:
        raise InputFault(f"{faults.name}: is empty, wanted a trace of at least one request; check the path.")
    found = _json_layout(line, asked, faults) if line[0] in "{[" else _csv_layout(line, asked, columns, unit, faults)
    if unit is not None and found.format.unit not in ("", unit):
        own = "dates" if found.format.unit == CLOCK else f"in {found.format.unit}"
        raise UsageFault(f"--unit {unit}: the times of {found.format.name} are {own}; remove --unit.")
    return found


def _json_layout(line: str, asked: Format | None, faults: LineFaults) -> Layout:
    mooncake = FORMATS["mooncake"]
    if asked is not None and asked != mooncake:
        raise InputFault(f"{faults.name}: its first line is JSON, wanted the header of {asked.how}; correct --format.")
    try:
        first = json.loads(line, parse_float=parse_decimal)
    except (ValueError, RecursionError):
        raise _unread("no complete JSON object", faults) from None
    if not isinstance(first, dict):
        raise _unread("a JSON list", faults)
    foreign = next((kind for keys, kind in _FOREIGN if keys <= first.keys()), None) if asked is None else None
    missing = [name for name in mooncake.fields if name not in first]
    if foreign or missing:
        raise _unread(foreign or f"a JSON object without {missing[0]}", faults)
    return Layout(mooncake, mooncake.unit, mooncake.fields, hashed="hash_ids" in first)


def _unread(what: str, faults: LineFaults) -> InputFault:
    return InputFault(f"{faults.name}: its first line is {what}, which is not read; read are {SUPPORTED}.")


def _csv_layout(
    line: str, asked: Format | None, columns: Mapping[str, str] | None, unit: str | None, faults: LineFaults
) -> Layout:
    if asked is not None and asked.name == "mooncake":
        raise InputFault(f"{faults.name}: its first line is no JSON object, wanted {asked.how}; correct --format.")
    try:
        header = [name.strip() for name in next(csv.reader([line], strict=True))]
    except (csv.Error, StopIteration):
        header = []
    shown = printable(", ".join(header) or line, 120)
    for format_ in FORMATS.values() if asked is None else (asked,):
        names = tuple(columns[role] for role in ROLES) if columns else format_.fields
        if names and all(name in header for name in names):
            twice = next((name for name in names if header.count(name) > 1), None)
            if twice:
                raise InputFault(f"{faults.name}: its header has {printable(twice)} twice; rename one of the two.")
            positions = tuple(header.index(name) for name in names)
            return Layout(format_, format_.unit or unit or "", names, positions, len(header))
    if asked is None:
        what = f"a header that is not known ({shown})"
        others = "; ".join(format_.how for format_ in FORMATS.values() if format_.fields)
        advice = f"name its columns with --columns {_EXAMPLE} and --unit"
        raise InputFault(f"{faults.name}: its first line is {what}, wanted that of {others}; {advice}.")
    missing = next(name for name in names if name not in header)
    raise InputFault(
        f"{faults.name}: its header has no column {printable(missing)}, it has {shown}; correct the name or the file."
    )


def columns_of(texts: Sequence[str]) -> dict[str, str]:
    """`["time=arrived", …]` as role -> column.

    Raises:
        UsageFault: a text without an equals sign, or a role twice.
    """
    found: dict[str, str] = {}
    for text in texts:
        role, equals, name = (part.strip() for part in text.partition("="))
        if not equals or role in found:
            raise UsageFault(f"--columns {printable(text)}: wanted {_EXAMPLE}, each once; correct it.")
        found[role] = name
    return found
