"""CSV traces -> blocks of requests: whole columns at once where a block is plain, row by row where it is not."""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from sweep.traffic import columns, fields
from sweep.traffic.formats import CLOCK, UNITS, Layout
from sweep.traffic.lines import LineFault
from sweep.traffic.parts import in_parts
from sweep.traffic.rows import MAX_TOKENS, BoolArray, ByteArray, IntArray, Requests
from sweep.traffic.source import Chunk, Source, last_break
from sweep.units import grouped

_COMMA, _BREAK, _RETURN, _QUOTE, _SPACE = (np.uint8(ord(char)) for char in ',\n\r" ')

MOST_BLANK_LINES = 10_000
"""Blank lines are skipped; a file with more is not what it was taken for (or was made to keep a reader busy)."""


def csv_requests(source: Source, layout: Layout) -> Iterator[Requests]:
    """The rows behind the header, block by block.

    Raises:
        InputFault: with every faulty line, as `LineFaults` counts them.
    """
    reader = _Reader(source, layout)
    for chunk in source.chunks(whole_records):
        yield from in_parts(chunk, whole_records, reader.plain, reader.row_by_row)
    source.faults.raise_if_any()


def whole_records(data: bytes) -> int:
    """How many bytes are whole records: up to the last line break that no quotes hold.

    A quote inside quotes is doubled, so quotes are closed where their number is even.
    """
    if b'"' not in data:
        return last_break(data)
    array = np.frombuffer(data, np.uint8)
    breaks = np.flatnonzero(array == _BREAK)
    closed = breaks[np.searchsorted(np.flatnonzero(array == _QUOTE), breaks) % 2 == 0]
    return int(closed[-1]) + 1 if len(closed) else 0


Ends = tuple[IntArray, IntArray]
"""Where the fields of a column begin and have ended."""


class _Reader:
    """Reads blocks of one trace; remembers what rows before have shown."""

    def __init__(self, source: Source, layout: Layout) -> None:
        self.faults, self.layout = source.faults, layout
        self.zoned: bool | None = None
        self.blank_lines = 0

    def plain(self, data: bytes) -> Requests | None:
        """A block whose rows all have every column, with quotes around whole fields only; None for any other."""
        array = np.frombuffer(data, np.uint8)
        width = self.layout.width
        marks = np.flatnonzero((array == _COMMA) | (array == _BREAK))
        if len(marks) % width:
            return None
        ends = marks.reshape(-1, width)
        breaks = array[ends] == _BREAK
        if bool(breaks[:, :-1].any()) or not bool(breaks[:, -1].all()):
            return None
        if b"\r" in data:
            returns = array[ends[:, -1] - 1] == _RETURN  # a first byte that is a break looks at the last, a break
            if int(np.count_nonzero(returns)) != data.count(b"\r"):
                return None
        else:
            returns = np.zeros(1, np.bool_)
        found = _fields(ends, returns, self.layout.positions)
        if b'"' in data:
            if not _quotes_whole_fields(array, _fields(ends, returns, range(width))):
                return None
            found = [_unquoted(array, *field) for field in found]
        block = self._columns(array, found)
        if block is None and b" " in data:
            block = self._columns(array, [_stripped(array, *field) for field in found])
        return block

    def _columns(self, data: ByteArray, found: Sequence[Ends]) -> Requests | None:
        times = self._times(data, *found[0])
        prompt, output = (columns.whole_numbers(data, *field) for field in found[1:])
        if times is None or prompt is None or output is None:
            return None
        if max(int(prompt.max()), int(output.max())) > MAX_TOKENS:
            return None
        return Requests(times[0], prompt, output, times_cut=times[1])

    def _times(self, data: ByteArray, start: IntArray, end: IntArray) -> tuple[IntArray, int] | None:
        """The arrivals in ns and how many were cut to it."""
        if self.layout.unit != CLOCK:
            return columns.decimals_ns(data, start, end, UNITS[self.layout.unit])
        clocks = columns.clocks_ns(data, start, end)
        if clocks is None or self.zoned not in (None, clocks[1]):
            return None
        self.zoned = clocks[1]
        return clocks[0], 0

    def row_by_row(self, chunk: Chunk) -> Requests:
        """The rows of a block that are sound; the others are faults."""
        text = chunk.data.decode("utf-8", "replace")  # a replaced character in a field that counts is a fault of it
        rows = csv.reader(io.StringIO(text, newline="\n"), strict=True)
        sound: list[list[int]] = []
        cut = 0
        while True:
            line = chunk.line + rows.line_num
            try:
                row = next(rows, None)
                if row is None:
                    break
                if "".join(row).strip() or len(row) > 1:
                    *request, finer = self._row(row)
                    sound.append(request)
                    cut += finer
                else:
                    self._blank(line)
            except csv.Error as error:
                self.faults.stop(line, f"is no CSV ({error}); check quotes and line breaks")
            except LineFault as fault:
                self.faults.add(line, fault)
        table = np.array(sound, np.int64).reshape(-1, 3)
        return Requests(table[:, 0], table[:, 1], table[:, 2], times_cut=cut)

    def _row(self, row: list[str]) -> tuple[int, int, int, bool]:
        width = self.layout.width
        if len(row) != width:
            if len(row) < width:
                raise LineFault(f"got {len(row)} of {width} columns; the file may be cut short here")
            raise LineFault(f"got {len(row)} columns, wanted {width} as in the header; correct or remove the row")
        (at, name), *lengths = zip(self.layout.positions, self.layout.names, strict=True)
        arrival, finer = self._time(row[at], name)
        prompt, output = (fields.tokens(row[position], field) for position, field in lengths)
        return arrival, prompt, output, finer

    def _time(self, text: str, name: str) -> tuple[int, bool]:
        if self.layout.unit != CLOCK:
            return fields.time_ns(text, name, self.layout.unit)
        arrival, zoned = fields.clock_ns(text, name)
        if self.zoned not in (None, zoned):
            kinds = ("with", "without") if zoned else ("without", "with")
            got = f"got a time {kinds[0]} an offset after times {kinds[1]} one"
            raise LineFault(f"{name}: {got}, wanted all alike; write all of them in UTC")
        self.zoned = zoned
        return arrival, False

    def _blank(self, line: int) -> None:
        self.blank_lines += 1
        if self.blank_lines > MOST_BLANK_LINES:
            self.faults.stop(line, f"is blank as {grouped(MOST_BLANK_LINES)} lines before it are; remove them")


def _fields(ends: IntArray, returns: BoolArray, columns: Iterable[int]) -> list[Ends]:
    """Where the fields of some columns are.

    Args:
        ends: the comma or line break behind each field, shape (rows, columns).
        returns: whether a carriage return stands before the line break, shape (rows,) or (1,).
        columns: which, from 0.
    """
    last = ends.shape[1] - 1
    starts = (ends[:, k - 1] + 1 if k else np.concatenate(([0], ends[:-1, last] + 1)) for k in columns)
    stops = (ends[:, k] - returns if k == last else np.ascontiguousarray(ends[:, k]) for k in columns)
    return list(zip(starts, stops, strict=True))


def _stripped(data: ByteArray, starts: IntArray, ends: IntArray) -> Ends:
    """A column without the spaces around its fields."""
    while bool((spaces := (data[starts] == _SPACE) & (starts < ends)).any()):
        starts = starts + spaces
    while bool((spaces := (data[ends - 1] == _SPACE) & (starts < ends)).any()):
        ends = ends - spaces
    return starts, ends


def _quoted(data: ByteArray, starts: IntArray, ends: IntArray) -> tuple[BoolArray, BoolArray]:
    """Whether each field begins, and whether it ends with a quote, where it is long enough for two."""
    longer = ends - starts >= 2
    return (data[np.minimum(starts, len(data) - 1)] == _QUOTE) & longer, (data[ends - 1] == _QUOTE) & longer


def _quotes_whole_fields(data: ByteArray, found: Iterable[Ends]) -> bool:
    """Whether all quotes stand at both ends of fields: then no comma and no line break is inside of any."""
    pairs = 0
    for starts, ends in found:
        opened, closed = _quoted(data, starts, ends)
        if bool((opened != closed).any()):
            return False
        pairs += int(np.count_nonzero(opened))
    return 2 * pairs == int(np.count_nonzero(data == _QUOTE))


def _unquoted(data: ByteArray, starts: IntArray, ends: IntArray) -> Ends:
    """A column without the quotes at both ends of its fields."""
    opened, closed = _quoted(data, starts, ends)
    return starts + opened, ends - closed
