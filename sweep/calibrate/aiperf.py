"""AIPerf's `profile_export_aiperf.json` (and GenAI-Perf's of the same form): one block per metric, with its unit."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final

from sweep.calibrate.bench import lengths_of
from sweep.calibrate.documents import Item, value_at
from sweep.calibrate.fields import Faults, Fields
from sweep.calibrate.measured import Measured, Run
from sweep.calibrate.origin import stated
from sweep.units import grouped, shown

AIPERF: Final = "AIPerf export"

_TIMES: Final = {"ns": "ns", "us": "us", "ms": "ms", "s": "s", "sec": "s", "seconds": "s"}
_RATES: Final = ("requests/sec", "requests/s", "req/s", "req/sec")
_CORE = ("request_throughput", "input_sequence_length", "output_sequence_length")


def is_aiperf(raw: Mapping[str, Any]) -> bool:
    """Whether an object has one block per metric, each with a unit."""
    return isinstance(value_at(raw, ("request_throughput", "unit")), str)


def read_aiperf(name: str, items: list[Item]) -> Measured:
    """Every profile of a file.

    Raises:
        InputFault: missing or impossible figures, unknown units, a profile in which no request succeeded; every fault
            at once.
    """
    faults = Faults(name)
    runs: list[Run] = []
    flags: list[str] = []
    missing: list[str] = []
    models: list[tuple[str, str]] = []
    for at, item in enumerate(items, start=1):
        where = name if len(items) == 1 else f"{name} #{at}"
        run = _run(Fields(item.raw, faults, "" if len(items) == 1 else f"object {at}"), where)
        if run is None:
            continue
        runs.append(run)
        models += stated(where, _model(item.raw))
        if run.failed:
            flags.append(f"{where}: {grouped(run.failed)} requests failed; its figures are of the others only")
        if item.raw.get("was_cancelled") is True:
            flags.append(f"{where}: the profile was cancelled before its end")
        if run.itl_ns is None:
            missing.append(f"{where}: no time between tokens was measured, so it gives no step of a decoding engine")
    faults.raise_if_any()
    lengths = tuple(lengths_of(run) for run in runs)
    return Measured(
        name, AIPERF, tuple(runs), lengths=lengths, flags=tuple(flags), missing=tuple(missing), models=models
    )


def _model(raw: Mapping[str, Any]) -> object:
    """The model that a profile was asked for, where the file repeats its options."""
    for path in (("input_config", "endpoint", "model_names"), ("input_config", "model_names")):
        names = value_at(raw, path)
        if isinstance(names, list) and len(names) == 1:
            return names[0]
    return None


def _run(fields: Fields, where: str) -> Run | None:
    before = len(fields.faults)
    completed, failed = fields.count("request_count.avg"), fields.count("error_request_count.avg")
    if completed == 0:
        fields.refuse("request_count", "got 0: no request succeeded, so its figures are no result; run the test again")
        return None
    rate, prompt, output = (fields.amount(f"{key}.avg", required=True) for key in _CORE)
    unit = value_at(fields.raw, ("request_throughput", "unit"))
    if unit not in _RATES:
        fields.refuse("request_throughput.unit", f'got {shown(unit)}, wanted "requests/sec"; give the file as saved')
    ttft, itl = _time(fields, "time_to_first_token"), _time(fields, "inter_token_latency")
    latency = _time(fields, "request_latency")
    limit = _limit(fields)
    if rate == 0:
        fields.refuse("request_throughput.avg", "got 0: no request succeeded, so this is no result; run it again")
    if rate is None or prompt is None or output is None or len(fields.faults) > before:
        return None
    decode = latency - ttft if latency is not None and ttft is not None and latency > ttft else None
    return Run(
        where=where,
        requests_per_s=rate,
        prompt_tokens_per_s=rate * prompt,
        output_tokens_per_s=rate * output,
        ttft_ns=ttft or None,
        itl_ns=itl or None,
        decode_ns_per_request=decode,
        max_concurrency=limit,
        all_at_once=limit is not None and not _has_rate(fields.raw),
        completed=completed,
        failed=failed,
    )


def _time(fields: Fields, metric: str) -> Fraction | None:
    """The mean of a metric in ns, by its own unit; None where it is missing, and after a fault."""
    if metric not in fields.raw:
        return None
    unit = value_at(fields.raw, (metric, "unit"))
    if not isinstance(unit, str) or unit not in _TIMES:
        fields.refuse(f"{metric}.unit", f"got {shown(unit)}, wanted one of {', '.join(_TIMES)}; correct it")
        return None
    return fields.amount(f"{metric}.avg", _TIMES[unit])


_LOADGEN = (("input_config", "loadgen"), ("input_config",), ("input_config", "perf_analyzer", "stimulus"))


def _limit(fields: Fields) -> int | None:
    """The concurrency that the profile was asked for, where the file repeats its options."""
    for path in _LOADGEN:
        place = ".".join((*path, "concurrency"))
        value = value_at(fields.raw, (*path, "concurrency"))
        if isinstance(value, int) and not isinstance(value, bool):
            return fields.count(place, least=1)
    return None


def _has_rate(raw: Mapping[str, Any]) -> bool:
    return any(value_at(raw, (*path, "request_rate")) is not None for path in _LOADGEN)
