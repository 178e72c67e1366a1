"""A trace in one pass -> its facts; a second pass over the times where the first request is not the earliest."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sweep.errors import InputFault
from sweep.traffic.facts import LEVELS, SECOND_NS, Busiest, Lengths, TraceFacts
from sweep.traffic.joint import JointCount
from sweep.traffic.prefix import PrefixCount
from sweep.traffic.read import Trace
from sweep.traffic.rows import IntArray, Requests
from sweep.traffic.source import Progress
from sweep.traffic.tally import Tally, nearest_rank, summed
from sweep.units import grouped


def trace_facts(
    path: str | Path,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    unit: str | None = None,
    progress: Progress | None = None,
) -> TraceFacts:
    """The facts of a trace of any size, in memory that grows with its distinct lengths, seconds and hashes only.

    Args:
        path, format, columns, unit: as in `read_trace`.
        progress: called with the bytes read and the bytes of the file.

    Raises:
        InputFault, UsageFault: as in `read_trace`; also a trace in which no row has output tokens.
    """
    source = Path(path)
    count = _Count()
    with Trace(source, format, columns, unit, progress) as trace:
        for block in trace:
            count.add(block)
        name, rereadable = trace.source.faults.name, trace.source.rereadable
        if not count.requests:
            what = f"its rows, {grouped(count.failed)}, all failed (0 output tokens)" if count.failed else "has no rows"
            raise InputFault(f"{name}: {what}, wanted at least one request with output tokens; check the file.")
        hashed = trace.layout.hashed
    seconds = count.seconds
    if count.earliest < count.origin:
        if not rereadable:
            raise InputFault(f"{name}: does not begin with its earliest request, and a pipe is read once; give a file.")
        seconds = _seconds_from(count.earliest, count.requests, Trace(source, format, columns, unit, progress), name)
    return count.facts(str(path), trace.layout.format.name, seconds, hashed)


def _seconds_from(origin: int, requests: int, trace: Trace, name: str) -> Tally:
    """The one-second bins of a trace from a known earliest request on."""
    seconds, seen = Tally(), 0
    with trace:
        for block in trace:
            times = block.time_ns[block.output_tokens > 0]
            seen += len(times)
            seconds.add((times - origin) // SECOND_NS)
    if seen != requests or int(seconds.counted()[0][0]) != 0:
        raise InputFault(f"{name}: changed while it was read; try again.")
    return seconds


class _Count:
    """The counting structures of one pass."""

    def __init__(self) -> None:
        self.requests = self.failed = self.failed_prompt = self.times_cut = 0
        self.origin = self.earliest = self.latest = 0
        self.in_order = True
        self.seconds, self.prompts, self.outputs = Tally(), Tally(), Tally()
        self.joint, self.prefix = JointCount(), PrefixCount()
        self._last = 0

    def add(self, block: Requests) -> None:
        """Count the rows of a block."""
        self.times_cut += block.times_cut
        served = block.output_tokens > 0
        failed = len(block) - int(np.count_nonzero(served))
        ids, counts = block.hash_ids, block.hash_counts
        times, prompts, outputs = block.time_ns, block.prompt_tokens, block.output_tokens
        if failed:
            self.failed += failed
            self.failed_prompt += int(prompts[~served].sum())
            if ids is not None and counts is not None:
                ids, counts = ids[np.repeat(served, counts)], counts[served]
            times, prompts, outputs = times[served], prompts[served], outputs[served]
        if not len(times):
            return
        self._add_times(times)
        self.prompts.add(prompts)
        self.outputs.add(outputs)
        self.joint.add(prompts, outputs)
        if ids is not None and counts is not None:
            self.prefix.add(prompts, ids, counts)

    def _add_times(self, times: IntArray) -> None:
        low, high = int(times.min()), int(times.max())
        if not self.requests:
            self.origin = self._last = int(times[0])
            self.earliest = self.latest = self.origin
        self.in_order = self.in_order and self._last <= int(times[0]) and not bool((times[1:] < times[:-1]).any())
        self._last = int(times[-1])
        self.earliest, self.latest = min(self.earliest, low), max(self.latest, high)
        self.requests += len(times)
        if self.earliest == self.origin:  # else bins begin elsewhere, and a second pass counts them
            self.seconds.add((times - self.origin) // SECOND_NS)

    def facts(self, trace: str, format_: str, seconds: Tally, hashed: bool) -> TraceFacts:
        """What was counted, with the bins of `seconds`."""
        at, requests = seconds.counted()
        total = int(at[-1]) + 1
        return TraceFacts(
            trace=trace,
            format=format_,
            requests=self.requests,
            failed_requests=self.failed,
            failed_prompt_tokens=self.failed_prompt,
            first_ns=self.earliest,
            span_ns=self.latest - self.earliest,
            in_order=self.in_order,
            times_cut=self.times_cut,
            busiest={level: _busiest(at, requests, length) for level, length in LEVELS.items()},
            seconds=total,
            empty_seconds=total - len(at),
            prompt=_lengths(self.prompts),
            output=_lengths(self.outputs),
            cells=self.joint.cells(),
            prefix=self.prefix.facts() if hashed else None,
        )


def _busiest(seconds: npt.NDArray[Any], requests: npt.NDArray[Any], length: int) -> Busiest:
    bins, sums = summed(seconds // length, requests) if length > 1 else (seconds, requests)
    most = int(np.argmax(sums))  # the first of several
    return Busiest(int(sums[most]), length, int(bins[most]) * length)


def _lengths(tally: Tally) -> Lengths:
    lengths, counts = tally.counted()
    p50, p90, p99 = (nearest_rank(lengths, counts, percent) for percent in (50, 90, 99))
    total = int((lengths.astype(np.int64) * counts).sum())  # below 2^63: 10^7 tokens in each of 9·10^11 requests
    return Lengths(total, int(counts.sum(dtype=np.int64)), p50, p90, p99, int(lengths[-1]))
