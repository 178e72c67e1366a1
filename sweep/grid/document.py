"""A grid file as text -> the parsed, not yet validated document; the only place that calls `tomllib`.

The text is a stranger's: it is measured before it is parsed, and whatever tomllib cannot take becomes a
sentence.
"""

import os
import re
import stat
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sweep.errors import InputFault, RefusedSize
from sweep.grid.faults import Faults
from sweep.grid.fields import TABLES
from sweep.records.bounds import MAX_CLASSES
from sweep.units import grouped, parse_decimal, printable, shown

MAX_FILE_BYTES = 4 * 2**20
"""Half a million values in lists; a longer axis is a range."""
MAX_DEPTH = 64
"""Deepest nesting of tables; tomllib needs quadratic time for dotted keys and recursion for inline tables."""

MAX_AXES = 31
"""HDF5 holds variables of at most 32 dimensions, and a result may need one for `limb`."""

RANGE_KEYS = ("start", "stop", "step", "num", "spacing")

# A key, MAX_DEPTH times with its dot; anchored, so that a long word is scanned once.
_KEY = r"""(?:[A-Za-z0-9_-]{1,200}|"[^"\n]{0,200}"|'[^'\n]{0,200}')"""
_DOTTED = re.compile(rf"(?<![\w-])(?:{_KEY}[ \t]{{0,20}}\.[ \t]{{0,20}}){{{MAX_DEPTH}}}")


@dataclass
class RawAxis:
    """One entry of `[axes]` as parsed.

    Attributes:
        key: its dotted path, quoted or nested.
        spec: a list, a range table, or whatever else stands there.
    """

    key: str
    spec: object


@dataclass
class Document:
    """A grid file, table by table, before validation; overrides change it, everything later only reads it.

    Attributes:
        tables: the tables that are there, but `class` and `axes`.
        classes: the `[[class]]` tables.
        axes: the axes in file order.
        broken: tables that are no tables, already reported, so that their keys are not missed too.
        origins: place -> command line option that gave it.
        overrides: the options as text, in order.
    """

    tables: dict[str, dict[str, object]] = field(default_factory=dict)
    classes: list[dict[str, object]] = field(default_factory=list)
    axes: list[RawAxis] = field(default_factory=list)
    broken: set[str] = field(default_factory=set)
    origins: dict[str, str] = field(default_factory=dict)
    overrides: list[str] = field(default_factory=list)

    @property
    def class_ids(self) -> list[str]:
        """The ids that are texts, in file order."""
        return [raw["class_id"] for raw in self.classes if isinstance(raw.get("class_id"), str)]  # type: ignore[misc]

    def class_table(self, class_id: str) -> dict[str, object] | None:
        """The first class table of an id."""
        return next((raw for raw in self.classes if raw.get("class_id") == class_id), None)

    def class_place(self, index: int) -> str:
        """How messages call a class: by its id where that is one, else by its number in the file."""
        class_id = self.classes[index].get("class_id")
        unique = isinstance(class_id, str) and self.class_ids.count(class_id) == 1
        return f"class.{class_id}" if unique else f"class number {index + 1}"


def read_text(path: Path) -> str:
    """The text of a grid file.

    Raises:
        InputFault: missing, unreadable, neither a regular file nor the pipe of standard input, too large, or not
        UTF-8.
    """
    name = printable(str(path), 160)
    try:
        if not _is_readable_kind(path.stat()):
            raise InputFault(
                f"{name}: is a folder, a device or a pipe, a regular file is wanted; give the path of a grid file, or"
                " /dev/stdin with a pipe."
            )
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except FileNotFoundError:
        raise InputFault(f"{name}: there is no such file; check the path of the grid file.") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        reason = getattr(error, "strerror", None) or str(error)
        raise InputFault(f"{name}: cannot be read ({reason}); check that it is a readable grid file.") from None
    if len(data) > MAX_FILE_BYTES:
        limit = grouped(MAX_FILE_BYTES)
        raise RefusedSize(f"{name}: larger than {limit} bytes; give long axes as a range with start and stop.")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise InputFault(f"{name}: line {line} is not UTF-8; save the grid file as UTF-8 text.") from None


def _is_readable_kind(found: os.stat_result) -> bool:
    """Whether a grid may be read from it: a named pipe may wait for ever, a device never ends."""
    if not stat.S_ISFIFO(found.st_mode):
        return stat.S_ISREG(found.st_mode)
    try:
        return os.path.samestat(found, os.fstat(0))
    except OSError:  # closed
        return False


def parse_toml(text: str, where: str) -> dict[str, object]:
    """TOML 1.0 with exact decimals.

    Raises:
        InputFault: a syntax error, with the line that tomllib gives, or numbers and nesting beyond its
        limits.
    """
    where = printable(where, 160)
    if len(text) > MAX_FILE_BYTES:
        raise RefusedSize(f"{where}: larger than {grouped(MAX_FILE_BYTES)} bytes; give long axes as a range.")
    deep = _DOTTED.search(text)
    if deep:
        line = text.count("\n", 0, deep.start()) + 1
        raise InputFault(f"{where}: line {line} has a key of more than {MAX_DEPTH} parts; a grid needs at most 4.")
    try:
        return tomllib.loads(text, parse_float=parse_decimal)
    except tomllib.TOMLDecodeError as error:
        raise InputFault(f"{where}: not TOML 1.0, {printable(str(error), 200)}; correct that line.") from None
    except RecursionError:
        raise InputFault(f"{where}: tables or lists nested too deep; a grid needs at most 4 levels.") from None
    except ValueError:  # int() of more than 4300 digits
        raise InputFault(f"{where}: an integer of more than 4 300 digits; the largest bound has 19.") from None


def document_of(raw: Mapping[str, object], faults: Faults, document: Document) -> None:
    """Sorts the parsed text into a document's tables; reports what is no table and unknown tables."""
    known = (*TABLES, "axes")
    for table, content in raw.items():
        if table not in known:
            faults.unknown(table, table, known, "table")
        elif table == "class":
            _classes(content, faults, document)
        elif not isinstance(content, dict):
            faults.add(table, f"got {shown(content)}, wanted a table; write [{table}].")
            document.broken.add(table)
        elif table == "axes":
            _axes(content, faults, document)
        else:
            document.tables[table] = dict(content)


def _classes(content: object, faults: Faults, document: Document) -> None:
    if isinstance(content, list) and all(isinstance(item, dict) for item in content):
        if len(content) > MAX_CLASSES:
            got = f"got {grouped(len(content))} classes, wanted 1 to {MAX_CLASSES}"
            faults.add("class", f"{got}; merge some.")
        document.classes = [dict(item) for item in content[:MAX_CLASSES]]
    else:
        got = "one table" if isinstance(content, dict) else shown(content)
        faults.add("class", f"got {got}, wanted a list of tables; write [[class]] for each class, not [class].")
        document.broken.add("class")


def _axes(content: Mapping[str, object], faults: Faults, document: Document) -> None:
    document.axes = [RawAxis(key, spec) for key, spec in flat_axes(content, faults)]
    if len(document.axes) > MAX_AXES:
        got = f"got {grouped(len(document.axes))} axes, wanted at most {MAX_AXES}"
        faults.add("axes", f"{got}; merge some into axes of choices.")
        del document.axes[MAX_AXES:]


def flat_axes(axes: Mapping[str, object], faults: Faults) -> Iterator[tuple[str, object]]:
    """The entries of `[axes]`, depth first: a quoted path and nested tables mean the same.

    A table with a plain value under `start` (or another key of a range) is a range, any other table a step of
    the path.
    """
    stack: list[tuple[str, object, int]] = [(key, spec, 1) for key, spec in reversed(list(axes.items()))]
    while stack:
        key, spec, depth = stack.pop()
        if not isinstance(spec, dict) or is_range(spec):
            yield key, spec
        elif not spec or depth > MAX_DEPTH:
            faults.add(f"axes.{key}", "got a table without values, wanted a list or a range; add it or remove it.")
        else:
            stack += [(f"{key}.{part}", below, depth + 1) for part, below in reversed(list(spec.items()))]


def is_range(spec: Mapping[str, object]) -> bool:
    """Whether a table of `[axes]` is a range: it has a plain value under a key of a range."""
    return any(key in spec and not isinstance(spec[key], dict | list) for key in RANGE_KEYS)
