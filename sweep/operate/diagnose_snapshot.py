"""Signals of a running service: from snapshots of vLLM's metrics, or from a JSON object.

Counters and histograms count since the server started, so a rate needs two snapshots. The time between tokens comes in
buckets: the median lies in one of them, which is what the numbers prove; the figure itself is interpolated in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from sweep.calibrate.fields import Faults
from sweep.calibrate.prometheus import SIGN, Samples, samples_of
from sweep.calibrate.source import name_of, read_text
from sweep.errors import InputFault, UsageFault
from sweep.hardware.document import parse_object
from sweep.operate.diagnose import MOST_ITL_MS
from sweep.operate.manifest_fields import Strict
from sweep.units import MAX_DIGITS, exact_decimal, grouped, parse_decimal, shown

_ITL: Final = ("vllm:inter_token_latency_seconds", "vllm:time_per_output_token_seconds")
_USAGE: Final = ("vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc")
_RUNNING, _WAITING = "vllm:num_requests_running", "vllm:num_requests_waiting"
_PREEMPTIONS, _FINISHED = "vllm:num_preemptions_total", "vllm:request_success_total"

WHAT: Final = "a snapshot of vLLM's metrics, or JSON with queue_depth, batch_occupancy, itl_p50_ms, preemption_rate"

Buckets = Sequence[tuple[Fraction | None, Fraction]]
"""(upper edge, entries up to it) of a histogram, in order; the last edge is None, for no end."""


@dataclass(frozen=True)
class Signals:
    """What is known of a service; None where it is missing, which is never taken for zero.

    Attributes:
        source: the files.
        queue_depth: requests that wait.
        running: requests that run.
        batch_occupancy: running requests over batch slots.
        itl_p50_ms: median time between tokens, ms.
        itl_between_ms: the bucket that the median lies in; the upper edge is None where the last bucket has no end.
        preemption_rate: preemptions per finished request.
        preemptions: how many there were.
        kv_cache_usage: the used part of the KV blocks, of the fullest engine.
        arrival_rps: requests that arrived per second.
        engines: how many engines the figures are of.
        notes: what to know of them, in clauses.
    """

    source: str
    queue_depth: Fraction | None = None
    running: Fraction | None = None
    batch_occupancy: Fraction | None = None
    itl_p50_ms: Fraction | None = None
    itl_between_ms: tuple[Fraction, Fraction | None] | None = None
    preemption_rate: Fraction | None = None
    preemptions: Fraction | None = None
    kv_cache_usage: Fraction | None = None
    arrival_rps: Fraction | None = None
    engines: int = 1
    notes: tuple[str, ...] = ()

    def with_slots(self, slots: int | None) -> Signals:
        """The same with the occupancy of so many batch slots per engine, where it is not known yet."""
        if slots is None or self.running is None or self.batch_occupancy is not None:
            return self
        occupancy = self.running / (slots * self.engines)
        note = (
            f"more requests run than the {grouped(slots * self.engines)} slots, so the service was launched with others"
        )
        return replace(self, batch_occupancy=occupancy, notes=(*self.notes, *([note] if occupancy > 1 else [])))


def read_signals(paths: Sequence[str | Path], seconds: Fraction | None = None, slots: int | None = None) -> Signals:
    """The signals of one or two files.

    Args:
        paths: one JSON object, or one or two snapshots of vLLM, the earlier first.
        seconds: between the two snapshots, for the arrivals.
        slots: batch slots of an engine, for the occupancy.

    Raises:
        UsageFault: more files than that, JSON with another file, or seconds without two snapshots.
        InputFault: a file is wrong; every fault of every file at once.
    """
    if not 1 <= len(paths) <= 2:
        raise UsageFault("diagnose: wanted one file, or two snapshots of vLLM, the earlier first; give those.")
    texts = [read_text(path) for path in paths]
    are_json = [text.lstrip().startswith(("{", "[")) for text in texts]
    if any(are_json):
        if len(paths) > 1:
            raise UsageFault("diagnose: got JSON and another file; JSON holds rates already, give it alone.")
        if seconds is not None:
            raise UsageFault("--seconds: goes with two snapshots; leave it out.")
        return _of_json(name_of(paths[0]), texts[0]).with_slots(slots)
    if seconds is not None and len(paths) < 2:
        raise UsageFault("--seconds: goes with two snapshots; leave it out, or give a later one too.")
    found, sentences = [], list[str]()
    for path, text in zip(paths, texts, strict=True):
        try:
            found.append(_snapshot(name_of(path), text))
        except InputFault as fault:
            sentences += fault.faults
    if sentences:
        raise InputFault(sentences)
    names = [name_of(path) for path in paths]
    if len(found) == 1:
        return _single(names[0], found[0]).with_slots(slots)
    return _between(names, found[0], found[1], seconds).with_slots(slots)


def _of_json(name: str, text: str) -> Signals:
    head = Strict(parse_object(text, name, WHAT), name)
    values: dict[str, Any] = {
        key: head.number(key, bounds, optional=True)
        for key, bounds in (
            ("queue_depth", (0, 10**9)),
            ("running", (0, 10**9)),
            ("batch_occupancy", (0, 1)),
            ("itl_p50_ms", (0, 10**9)),
            ("preemption_rate", (0, 10**9)),
            ("kv_cache_usage", (0, 1)),
            ("arrival_rps", (0, 10**9)),
        )
    }
    engines = head.integer("engines", (1, 10**6), optional=True)
    head.done()
    head.raise_if_any()
    if all(value is None for value in values.values()):
        raise InputFault(f"{name}: has no signal, wanted {WHAT}; give what was measured.")
    preemptions = Fraction(0) if values["preemption_rate"] == 0 else None
    return Signals(name, **values, preemptions=preemptions, engines=engines or 1)


def _snapshot(name: str, text: str) -> Samples:
    faults = Faults(name)
    if not SIGN.search(text):
        raise InputFault(f"{name}: has no metric of vLLM, wanted {WHAT}; give one.")
    if not text.endswith("\n"):
        faults.add("", "its last line has no end, so it may be cut short; take the snapshot again")
    samples = samples_of(text, faults)
    models = {labels["model_name"] for labels, _ in samples.by_name.get(_RUNNING, ()) if "model_name" in labels}
    if len(models) > 1:
        faults.add("", f"has the metrics of {len(models)} models; give those of one")
    faults.raise_if_any()
    return samples


def _gauges(name: str, samples: Samples) -> Signals:
    """What is true just now."""
    usages = [value for metric in _USAGE for _, value in samples.by_name.get(metric, ())]
    usage = max(usages, default=None)
    if usage is not None and usage > 1:
        raise InputFault(f"{name}: the KV cache is used to more than 1, wanted 0 to 1; take the snapshot again.")
    return Signals(
        name,
        queue_depth=samples.total(_WAITING),
        running=samples.total(_RUNNING),
        kv_cache_usage=usage,
        engines=max(1, len(samples.by_name.get(_RUNNING, ()))),
    )


def _single(name: str, samples: Samples) -> Signals:
    """One snapshot: gauges, and the one rate that it proves, none at all."""
    signals = _gauges(name, samples)
    note = "one snapshot has no rates: take a second one after some seconds"
    if samples.total(_PREEMPTIONS) == 0:
        return replace(signals, preemption_rate=Fraction(0), preemptions=Fraction(0), notes=(note,))
    return replace(signals, notes=(note,))


def _between(names: Sequence[str], before: Samples, after: Samples, seconds: Fraction | None) -> Signals:
    """Two snapshots: gauges of the later one, rates between them."""
    earlier, later = _gauges(names[0], before), _gauges(names[1], after)
    where, notes = f"{names[0]}, {names[1]}", list[str]()
    preempted, finished = (_grown(where, metric, before, after) for metric in (_PREEMPTIONS, _FINISHED))
    rate = None
    if preempted == 0:
        rate = Fraction(0)
    elif preempted is not None and finished:
        rate = preempted / finished
    elif preempted is not None and finished is not None:
        notes.append("requests were preempted and none finished, so there is no rate: take the snapshots further apart")
    median, bucket = _median(_histogram(where, before, after))
    if bucket is not None and bucket[0] < MOST_ITL_MS and (bucket[1] is None or bucket[1] > MOST_ITL_MS):
        notes.append(f"the buckets do not prove on which side of {MOST_ITL_MS} ms the median is; it is interpolated")
    arrivals = None
    if finished is not None and None not in (earlier.running, later.running, earlier.queue_depth, later.queue_depth):
        assert earlier.running is not None  # as just asked; the checker does not follow `in`
        assert later.running is not None
        assert earlier.queue_depth is not None
        assert later.queue_depth is not None
        arrivals = finished + later.running - earlier.running + later.queue_depth - earlier.queue_depth
    if seconds is None:
        notes.append("without --seconds the arrivals per second are not known")
    elif arrivals is None or arrivals < 0:
        notes.append("the arrivals cannot be told from these snapshots")
    known = seconds is not None and arrivals is not None and arrivals >= 0
    return replace(
        later,
        source=where,
        itl_p50_ms=median,
        itl_between_ms=bucket,
        preemption_rate=rate,
        preemptions=preempted,
        arrival_rps=arrivals / seconds if known and arrivals is not None and seconds is not None else None,
        notes=tuple(notes),
    )


def _grown(where: str, metric: str, before: Samples, after: Samples) -> Fraction | None:
    """By how much a counter grew, None where one of the snapshots has it not.

    Raises:
        InputFault: it fell: the server was started anew in between, or the snapshots are in the wrong order.
    """
    old, new = before.total(metric), after.total(metric)
    if old is None or new is None:
        return None
    if new < old:
        why = "the server was started anew between them, or the later one is given first"
        raise InputFault(f"{where}: {metric} falls from the first to the second: {why}; give two of one run, in order.")
    return new - old


def _histogram(where: str, before: Samples, after: Samples) -> Buckets:
    """The entries between two snapshots of the times between tokens, all engines together; () where there is none."""
    for metric in _ITL:
        old, new = (_buckets(where, samples, f"{metric}_bucket") for samples in (before, after))
        if not new:
            continue
        grown = {edge: count - old.get(edge, Fraction(0)) for edge, count in new.items()}
        edges = sorted(edge for edge in grown if edge is not None)
        counts = [grown[edge] for edge in edges] + ([grown[None]] if None in grown else [])
        if None not in grown or any(a > b for a, b in zip([Fraction(0), *counts], counts, strict=False)):
            raise InputFault(
                f"{where}: {metric}: its buckets do not grow up to +Inf; give two whole snapshots of one run, in order."
            )
        return list(zip([*edges, None], counts, strict=True))
    return ()


def _buckets(where: str, samples: Samples, name: str) -> dict[Fraction | None, Fraction]:
    found: dict[Fraction | None, Fraction] = {}
    for labels, count in samples.by_name.get(name, ()):
        text = labels.get("le", "")
        edge = None if text == "+Inf" or len(text) > MAX_DIGITS else exact_decimal(parse_decimal(text))
        if edge is None and text != "+Inf":
            wanted = "the upper edge of a bucket in seconds, or +Inf"
            raise InputFault(f"{where}: {name}: le: got {shown(text)}, wanted {wanted}; take the snapshot again.")
        found[edge] = found.get(edge, Fraction(0)) + count
    return found


def _median(buckets: Buckets) -> tuple[Fraction | None, tuple[Fraction, Fraction | None] | None]:
    """The median in ms, interpolated as Prometheus does, and the bucket that it lies in."""
    if not buckets or not buckets[-1][1]:
        return None, None
    half, low, below = buckets[-1][1] / 2, Fraction(0), Fraction(0)
    for edge, count in buckets:
        if count >= half:
            break
        low, below = edge if edge is not None else low, count
    if edge is None:
        return low * 1_000, (low * 1_000, None)
    part = (half - below) / (count - below)
    return (low + (edge - low) * part) * 1_000, (low * 1_000, edge * 1_000)
