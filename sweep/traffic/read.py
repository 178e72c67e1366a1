"""A trace file -> its requests, block by block."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from sweep.traffic.csv_rows import csv_requests
from sweep.traffic.formats import Layout, asked_format, layout_of
from sweep.traffic.json_rows import json_requests
from sweep.traffic.rows import Requests
from sweep.traffic.source import Progress, Source


class Trace:
    """An open trace; a context manager, and an iterator over blocks of requests that can be used once.

    Attributes:
        layout: its format, unit and columns.
        source: its bytes.
    """

    def __init__(
        self,
        path: Path,
        format_: str | None = None,
        columns: Mapping[str, str] | None = None,
        unit: str | None = None,
        progress: Progress | None = None,
    ) -> None:
        asked = asked_format(format_, columns, unit)
        self.source = Source(path, progress)
        try:
            self.layout: Layout = layout_of(self.source.first_line(), asked, columns, unit, self.source.faults)
        except BaseException:
            self.source.close()
            raise

    def __enter__(self) -> "Trace":
        return self

    def __exit__(self, *_: object) -> None:
        self.source.close()

    def __iter__(self) -> Iterator[Requests]:
        if not self.layout.width:
            return json_requests(self.source, self.layout)
        self.source.skip_line()
        return csv_requests(self.source, self.layout)


def read_trace(
    path: str | Path,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    unit: str | None = None,
) -> Iterator[Requests]:
    """The requests of a trace in its order, in blocks of about 1 MB of the file, so that any size streams.

    Args:
        path: an Azure (2023 or 2024), BurstGPT, Mooncake or other CSV trace, plain or gzip.
        format: `azure`, `burstgpt`, `mooncake` or `csv`; default: recognised from the first line.
        columns: of any other CSV: {"time": …, "prompt": …, "output": …} -> the names of its columns.
        unit: of its times: `s`, `ms`, `us`, `ns`, or `clock` for dates; needed with `columns`, else fixed.

    Yields:
        `Requests`: arrivals in ns, lengths in tokens, hashes where there are some; failed rows are among them.

    Raises:
        InputFault: no such file, a format that is not read, or faulty rows; one sentence per row, with its line.
        UsageFault: options that contradict each other or the format.
    """
    with Trace(Path(path), format, columns, unit) as trace:
        yield from trace
