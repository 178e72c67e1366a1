"""JSON-lines traces (Mooncake) -> blocks of requests, with the hashes of their prompts' blocks."""

import json
from array import array
from collections.abc import Iterator
from itertools import chain
from typing import Any, Final

import numpy as np

from sweep.traffic import fields
from sweep.traffic.csv_rows import MOST_BLANK_LINES
from sweep.traffic.formats import UNITS, Layout
from sweep.traffic.json_columns import Columns, alike_rows
from sweep.traffic.lines import LineFault
from sweep.traffic.parts import in_parts
from sweep.traffic.rows import BLOCK_TOKENS, MAX_TIME_NS, MAX_TOKENS, Requests
from sweep.traffic.source import Chunk, Source, last_break
from sweep.units import grouped, parse_decimal, printable, shown

MAX_HASH: Final = 2**64 - 1

_decode = json.JSONDecoder(parse_float=parse_decimal).raw_decode


def json_requests(source: Source, layout: Layout) -> Iterator[Requests]:
    """The rows, one object per line, block by block.

    Raises:
        InputFault: with every faulty line, as `LineFaults` counts them.
    """
    reader = _Reader(source, layout)
    for chunk in source.chunks():
        yield from in_parts(chunk, last_break, reader.plain, reader.row_by_row)
    source.faults.raise_if_any()


class _Reader:
    def __init__(self, source: Source, layout: Layout) -> None:
        self.faults, self.layout = source.faults, layout
        self.power = UNITS[layout.unit]
        self.blank_lines = 0

    def plain(self, data: bytes) -> Requests | None:
        """A block whose lines are all objects of integers within bounds; None for any other."""
        read = alike_rows(data) or self._decoded(data)
        if read is None:
            return None
        times, prompts, outputs, ids, counts = read
        least = min(int(some.min()) for some in (times, prompts, outputs))
        lengths = np.maximum(prompts, outputs)
        if least < 0 or int(lengths.max()) > MAX_TOKENS or int(times.max()) > MAX_TIME_NS // 10**self.power:
            return None
        if bool((counts != (-(-prompts // BLOCK_TOKENS) if self.layout.hashed else 0)).any()):
            return None
        times = times * 10**self.power
        return (
            Requests(times, prompts, outputs, ids, counts) if self.layout.hashed else Requests(times, prompts, outputs)
        )

    def _decoded(self, data: bytes) -> Columns | None:
        """The numbers of lines in any order of keys; None where any is no integer."""
        if b"true" in data or b"false" in data:  # Python takes them for integers
            return None
        try:
            rows = [_object(line) for line in data.decode("utf-8").splitlines()]
            times, prompts, outputs = (_integers([row[name] for row in rows]) for name in self.layout.names)
            if not self.layout.hashed and any("hash_ids" in row for row in rows):
                return None
            hashes = [row["hash_ids"] if self.layout.hashed else () for row in rows]
            ids = np.frombuffer(array("Q", chain.from_iterable(hashes)), np.uint64).astype(np.int64)
            counts = np.array([len(some) for some in hashes], np.int64)
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
            return None
        return times, prompts, outputs, ids, counts

    def row_by_row(self, chunk: Chunk) -> Requests:
        """The lines of a block that are sound; the others are faults."""
        sound: list[tuple[int, int, int]] = []
        hashes: list[list[int]] = []
        cut = 0
        for line, text in enumerate(chunk.data.split(b"\n")[:-1], start=chunk.line):
            if not text.strip():
                self._blank(line)
                continue
            try:
                row = self._row(text)
            except LineFault as fault:
                self.faults.add(line, fault)
                continue
            sound.append(row[:3])
            hashes.append(row[3])
            cut += row[4]
        table = np.array(sound, np.int64).reshape(-1, 3)
        if not self.layout.hashed:
            return Requests(table[:, 0], table[:, 1], table[:, 2], times_cut=cut)
        ids = np.array(list(chain.from_iterable(hashes)), np.uint64).view(np.int64)
        counts = np.array([len(some) for some in hashes], np.int64)
        return Requests(table[:, 0], table[:, 1], table[:, 2], ids, counts, cut)

    def _row(self, text: bytes) -> tuple[int, int, int, list[int], bool]:
        try:
            row = _object(text.decode("utf-8"))
        except UnicodeDecodeError:
            raise LineFault("is not UTF-8, wanted one JSON object; correct or remove the row") from None
        except (ValueError, TypeError, RecursionError):
            what = printable(text[:200].decode("utf-8", "replace"), 60)
            raise LineFault(f"got {what}, wanted one JSON object; the file may be cut short or damaged here") from None
        for name in (*self.layout.names, *(("hash_ids",) if self.layout.hashed else ())):
            if name not in row:
                raise LineFault(f"has no {name}, wanted it in every row; correct or remove the row")
        time, prompt, output = self.layout.names
        arrival, finer = fields.time_ns(_number(row, time), time, self.layout.unit)
        lengths = tuple(fields.tokens(_number(row, name), name) for name in (prompt, output))
        return arrival, lengths[0], lengths[1], self._hashes(row, lengths[0]), finer

    def _hashes(self, row: dict[str, Any], prompt: int) -> list[int]:
        if not self.layout.hashed:
            if "hash_ids" in row:
                raise LineFault("has hash_ids after rows without, wanted all or none; remove or complete them")
            return []
        ids = row["hash_ids"]
        wanted = -(-prompt // BLOCK_TOKENS)
        if not isinstance(ids, list) or len(ids) != wanted:
            got = grouped(len(ids)) if isinstance(ids, list) else _shown(ids)
            blocks = f"{grouped(wanted)}, one per block of {BLOCK_TOKENS} of {grouped(prompt)} tokens"
            raise LineFault(f"hash_ids: got {got}, wanted {blocks}; correct or remove the row")
        for one in ids:
            if type(one) is not int or not 0 <= one <= MAX_HASH:
                raise LineFault(
                    f"hash_ids: got {_shown(one)}, wanted whole numbers from 0 to 2^64 - 1; correct the row"
                )
        return ids

    def _blank(self, line: int) -> None:
        self.blank_lines += 1
        if self.blank_lines > MOST_BLANK_LINES:
            self.faults.stop(line, f"is blank as {grouped(MOST_BLANK_LINES)} lines before it are; remove them")


def _object(line: str) -> dict[str, Any]:
    """The object of a line. Raises ValueError, TypeError or RecursionError where the line is no single one."""
    text = line.strip()
    found, end = _decode(text)
    if end != len(text):
        raise ValueError("more than one value")
    if not isinstance(found, dict):
        raise TypeError("no object")
    return found


def _number(row: dict[str, Any], name: str) -> object:
    """A field of a row; a text is no number in JSON, though it may read like one."""
    value = row[name]
    if value is None or isinstance(value, str):
        raise LineFault(f"{name}: got {_shown(value)}, wanted a number without quotes; correct or remove the row")
    return value


def _shown(value: object) -> str:
    return "null" if value is None else shown(value)


def _integers(values: list[Any]) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Integers as an array. Raises TypeError for any other number, OverflowError beyond int64."""
    return np.frombuffer(array("q", values), np.int64).copy()
