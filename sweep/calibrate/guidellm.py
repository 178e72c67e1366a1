"""GuideLLM's report, version 2: one JSON object with a list of benchmarks.

Its figures are kept apart for successful, errored and incomplete requests; those of the successful ones are read. Its
`time_per_output_token_ms` includes the first token, so the time between tokens is `inter_token_latency_ms`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from sweep.calibrate.bench import lengths_of
from sweep.calibrate.documents import Item, value_at
from sweep.calibrate.fields import Faults, Fields
from sweep.calibrate.measured import Measured, Run
from sweep.calibrate.origin import stated
from sweep.units import grouped, printable, shown

GUIDELLM: Final = "GuideLLM report"

_CLOSED = ("synchronous", "concurrent", "throughput")
"""Strategies whose client waits for nothing but its limit on the requests in flight."""


def is_guidellm(raw: Mapping[str, Any]) -> bool:
    """Whether an object is a report of GuideLLM, of whatever version."""
    return isinstance(raw.get("benchmarks"), list) and ("metadata" in raw or "guidellm_version" in raw or "args" in raw)


def read_guidellm(name: str, items: list[Item]) -> Measured:
    """Every benchmark of a report.

    Raises:
        InputFault: another version, missing or impossible figures, a benchmark in which no request succeeded; every
            fault at once.
    """
    faults = Faults(name)
    runs: list[Run] = []
    flags: list[str] = []
    missing: list[str] = []
    models: list[tuple[str, str]] = []
    for item in items:
        version = value_at(item.raw, ("metadata", "version"))
        if version != 2:
            faults.add(
                "metadata.version", f"got {shown(version)}, wanted 2; save the report with GuideLLM 0.4 or newer"
            )
            continue
        benchmarks = item.raw["benchmarks"]
        if not benchmarks:
            faults.add("benchmarks", "got an empty list, wanted at least one benchmark; run it again")
        for raw in benchmarks:
            number = len(runs) + 1
            if not isinstance(raw, Mapping):
                faults.add("benchmarks", f"got {shown(raw)}, wanted objects; give the report as it was saved")
                continue
            run, said = _run(Fields(raw, faults, f"benchmark {number}"), f"{name} #{number}")
            flags += said
            if run is not None:
                runs.append(run)
                models += stated(run.where, _model(item.raw, raw))
    faults.raise_if_any()
    missing += [
        f"{run.where}: no time between tokens was measured, so it gives no step of a decoding engine"
        for run in runs
        if run.itl_ns is None
    ]
    lengths = tuple(lengths_of(run) for run in runs)
    return Measured(
        name, GUIDELLM, tuple(runs), lengths=lengths, flags=tuple(flags), missing=tuple(missing), models=models
    )


def _model(report: Mapping[str, Any], benchmark: Mapping[str, Any]) -> object:
    """The model of a benchmark, where it or the report's options state it."""
    own = value_at(benchmark, ("config", "backend", "model"))
    return own if isinstance(own, str) else value_at(report, ("args", "model"))


def _run(fields: Fields, where: str) -> tuple[Run | None, list[str]]:
    """A benchmark, None after a fault; and what makes it doubtful."""
    before = len(fields.faults)
    done, errored, incomplete = (_requests(fields, state) for state in _STATES)
    if done == 0:
        what = "got 0: no request succeeded, so its figures are no result; run the test again"
        fields.refuse("metrics.requests_per_second.successful", what)
        return None, []
    rate = fields.amount("metrics.requests_per_second.successful.mean", required=True)
    prompt = fields.amount("metrics.prompt_token_count.successful.mean", required=True)
    output = fields.amount("metrics.output_token_count.successful.mean", required=True)
    ttft = fields.amount("metrics.time_to_first_token_ms.successful.mean", "ms")
    itl = fields.amount("metrics.inter_token_latency_ms.successful.mean", "ms")
    latency = fields.amount("metrics.request_latency.successful.mean", "s")
    limit = _limit(fields)
    if rate == 0:
        what = "got 0 requests per second, so nothing was measured; run the test again"
        fields.refuse("metrics.requests_per_second.successful.mean", what)
    if rate is None or prompt is None or output is None or len(fields.faults) > before:
        return None, []
    strategy = str(value_at(fields.raw, ("config", "strategy", "type_")))
    run = Run(
        where=where,
        requests_per_s=rate,
        prompt_tokens_per_s=rate * prompt,
        output_tokens_per_s=rate * output,
        ttft_ns=ttft or None,
        itl_ns=itl or None,
        decode_ns_per_request=latency - ttft if latency and ttft and latency > ttft else None,
        max_concurrency=limit,
        all_at_once=strategy in _CLOSED,
        completed=done,
        failed=errored,
    )
    return run, _flags(f"{where} ({printable(strategy, 40)})", done, errored, incomplete)


def _requests(fields: Fields, state: str) -> int | None:
    """How many requests ended so; None where the report does not say."""
    total = fields.count(f"metrics.request_totals.{state}")
    return total if total is not None else fields.count(f"metrics.requests_per_second.{state}.count")


_STATES = ("successful", "errored", "incomplete")


def _limit(fields: Fields) -> int | None:
    """How many requests the strategy keeps in flight; a rate of its own has a limit that is only a safeguard."""
    strategy = value_at(fields.raw, ("config", "strategy", "type_"))
    if strategy == "synchronous":
        return 1
    if strategy == "concurrent":
        return fields.count("config.strategy.streams", required=True, least=1)
    return fields.count("config.strategy.max_concurrency", least=1) if strategy == "throughput" else None


def _flags(where: str, done: int | None, errored: int | None, incomplete: int | None) -> list[str]:
    found = []
    if errored:
        of = f" of {grouped(done + errored)}" if done else ""
        found.append(
            f"{where}: {grouped(errored)}{of} requests failed; its figures are of the others only, and the failed ones "
            f"may have loaded the engine too"
        )
    if incomplete:
        found.append(
            f"{where}: {grouped(incomplete)} requests were cut off at its end; they loaded the engine too and are in "
            f"no figure"
        )
    return found
