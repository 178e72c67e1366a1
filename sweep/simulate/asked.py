"""What is asked of a simulation besides the operating point: what arrives, who is served first, and by what."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal

from sweep.errors import UsageFault
from sweep.query.cell import Cell
from sweep.simulate.arrivals import HASHED_TOKENS, gamma_requests, requests_of_trace
from sweep.simulate.point import OperatingPoint, contiguous, operating_point_of
from sweep.simulate.request import Request
from sweep.simulate.serve import Simulation, simulate
from sweep.simulate.verdict import STRICT_PERMILLE, Comparison, compare
from sweep.traffic.formats import columns_of
from sweep.traffic.read import read_trace
from sweep.units import grouped

DEFAULT_REQUESTS: Final = 2_000
"""Requests of a drawn process where neither their number nor a duration is given."""


@dataclass(frozen=True)
class Arrivals:
    """What arrives: a trace, or a seeded process over the classes of the operating point.

    Attributes:
        trace: the file of a trace; None for a process.
        format, columns, unit: how to read it (`sweep.traffic.read.read_trace`).
        shape: of a Gamma process, as text; "1" is Poisson.
        seed: of the process; the same seed gives the same requests.
        count: requests; None: no limit but the duration.
        duration_ns: ns of arrivals; None: no limit but the count.
    """

    trace: str | None = None
    format: str | None = None
    columns: tuple[str, ...] | None = None
    unit: str | None = None
    shape: str = "1"
    seed: int = 1
    count: int | None = DEFAULT_REQUESTS
    duration_ns: int | None = None

    def requests(self, point: OperatingPoint, scale_permille: int) -> Iterable[Request]:
        """The requests at an operating point; a trace comes faster by the point's traffic scale.

        Raises:
            UsageFault, InputFault: what does not fit together, or a faulty trace.
        """
        if self.trace is None:
            return gamma_requests(point, self.seed, self.shape, self.count, self.duration_ns)
        named = columns_of(self.columns) if self.columns is not None else None
        found = requests_of_trace(read_trace(self.trace, self.format, named, self.unit), scale_permille=scale_permille)
        wanted = found if self.duration_ns is None else [one for one in found if one.arrival_ns <= self.duration_ns]
        return wanted if self.count is None else wanted[: self.count]

    def as_json(self) -> dict[str, Any]:
        """With keys that stay; a trace by its name and its content, since where it lies changes nothing."""
        found = asdict(self)
        found["trace"] = None if self.trace is None else Path(self.trace).name
        found["trace_sha256"] = None if self.trace is None else _sha256_of(Path(self.trace))
        found["columns"] = None if self.columns is None else list(self.columns)
        return found


def _sha256_of(path: Path) -> str | None:
    """Of a file's bytes; None where it is no regular file, or cannot be read: whoever reads the trace says why."""
    try:
        if not path.is_file():
            return None
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError:
        return None


@dataclass(frozen=True)
class Serving:
    """How requests are served.

    Attributes:
        policy, router: by name (`sweep.simulate.policies`).
        batching: `continuous`, or `static`: a batch takes requests only when it is empty.
        cache: `paged`, or `contiguous`: a slab of `max_sequence_tokens` for each request.
        max_sequence_tokens: of a slab; None: the longest request of the classes.
        admission_control: None: as the grid says.
        at: which percentile of the requests the bounds on latencies are judged by: `p50`, `p90`, `p99`, `max`.
        strict_permille: below this share of the audit's figure it is far too strict.
    """

    policy: str = "priority"
    router: str = "least-outstanding"
    batching: Literal["continuous", "static"] = "continuous"
    cache: Literal["paged", "contiguous"] = "paged"
    max_sequence_tokens: int | None = None
    admission_control: bool | None = None
    at: str = "max"
    strict_permille: int = STRICT_PERMILLE

    def as_json(self) -> dict[str, Any]:
        """With keys that stay."""
        return asdict(self)


def server_of(cell: Cell, serving: Serving, requests: Iterable[Request] | None = None) -> OperatingPoint:
    """The server of a cell, with the admission control and the cache that were asked for.

    Args:
        cell: the operating point.
        serving: what was asked for.
        requests: of which the longest gives the slab of a contiguous cache where none was stated; default: the
            classes'.

    Raises:
        UsageFault: the cell is invalid.
    """
    point = operating_point_of(cell)
    if serving.admission_control is not None:
        point = replace(point, admission_control=serving.admission_control)
    if serving.cache == "paged":
        return point
    longest = serving.max_sequence_tokens
    if longest is None:
        some = point.classes if requests is None else requests
        longest = max((one.prompt_tokens + one.output_tokens for one in some), default=1)
    return contiguous(point, longest)


def simulated(cell: Cell, arrivals: Arrivals, serving: Serving | None = None) -> tuple[Simulation, Comparison]:
    """Simulate one operating point, and put it beside its audit.

    Raises:
        UsageFault: an invalid cell, or options that do not fit together. InputFault: a faulty trace.
    """
    serving = serving or Serving()
    scale = int(cell.fields["traffic.scale_permille"])
    requests: Iterable[Request] = arrivals.requests(operating_point_of(cell), scale)
    if serving.cache == "contiguous" and serving.max_sequence_tokens is None:
        requests = list(requests)
        point = server_of(cell, serving, requests)
    else:
        point = server_of(cell, serving)
    # Hashes of a trace stand for 512 tokens: where blocks do not divide them, nothing is shared, nor is a slab.
    shares = arrivals.trace is not None and serving.cache == "paged" and HASHED_TOKENS % point.block_tokens == 0
    unit = HASHED_TOKENS if shares else 0
    if serving.cache == "contiguous":
        requests = list(_within_slabs(requests, point.block_tokens))
    found = simulate(point, requests, serving.policy, serving.router, serving.batching, unit)
    return found, compare(found, cell, serving.at, serving.strict_permille)


def _within_slabs(requests: Iterable[Request], slab_tokens: int) -> Iterator[Request]:
    """The requests, each known to fit into one slab.

    Raises:
        UsageFault: one is longer; the message says what slab would hold it.
    """
    for one in requests:
        tokens = one.prompt_tokens + one.output_tokens
        if tokens > slab_tokens:
            raise UsageFault(
                f"--max-sequence {grouped(slab_tokens)}: a request of {grouped(tokens)} tokens is longer; "
                "give the length of the longest one, or leave it out."
            )
        yield one


FOUR_WAYS: Final[tuple[tuple[Literal["continuous", "static"], Literal["paged", "contiguous"]], ...]] = (
    ("static", "contiguous"),
    ("static", "paged"),
    ("continuous", "contiguous"),
    ("continuous", "paged"),
)
"""The comparison of the seeds: how requests join a batch, and how its cache is kept."""
