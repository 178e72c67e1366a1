"""Which format a measured file has, by what stands in it; one that is known and not read is named, with what to do."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from sweep.calibrate.aiperf import is_aiperf, read_aiperf
from sweep.calibrate.bench import is_bench, read_bench
from sweep.calibrate.documents import Item, objects_of
from sweep.calibrate.engine_log import is_log, read_log
from sweep.calibrate.guidellm import is_guidellm, read_guidellm
from sweep.calibrate.measured import Measured
from sweep.calibrate.meta import is_meta, read_meta
from sweep.calibrate.prometheus import SIGN, read_snapshot
from sweep.calibrate.requests import is_requests, read_requests
from sweep.calibrate.series import COLUMNS, read_series
from sweep.calibrate.source import name_of, read_text
from sweep.calibrate.steps import is_steps, read_steps
from sweep.errors import InputFault

READ: Final = (
    "vLLM bench serve JSON, SGLang bench_serving JSONL, GuideLLM JSON (version 2), AIPerf JSON, per-request JSONL and "
    "one-second CSV of a measured vLLM run with its set-up JSON, vLLM start-up logs, Prometheus text of vLLM, CSV of "
    "step times"
)
"""Every format that is read, in words."""

_JSON: Final[Sequence[tuple[Callable[[Mapping[str, Any]], bool], Callable[[str, list[Item]], Measured]]]] = (
    (is_guidellm, read_guidellm),
    (is_aiperf, read_aiperf),
    (is_bench, read_bench),
    (is_requests, read_requests),
    (is_meta, read_meta),
)

_NOT_READ_JSON: Final = (
    ({"load_summary", "successes"}, "an inference-perf report", "run the test with vLLM bench serve or GuideLLM"),
    ({"avg_latency", "latencies"}, "a vLLM bench latency result", "run vLLM bench serve --save-result"),
    ({"elapsed_time", "tokens_per_second"}, "a vLLM bench throughput result", "run vLLM bench serve --save-result"),
    ({"n_prompt", "n_gen", "avg_ns"}, "a llama-bench result", "write its steps as CSV with batch, chunk and step_ms"),
    ({"results_number_errors"}, "an LLMPerf summary", "run the test with vLLM bench serve or GuideLLM"),
    ({"world_info", "performance"}, "a trtllm-bench report", "run the test with AIPerf against the server"),
    ({"traceEvents"}, "a profiler trace", "write its steps as CSV with batch, chunk and step_ms"),
    ({"hash_ids", "input_length"}, "a request trace (Mooncake)", "read it with `sweep traffic`"),
    ({"model_type"}, "a model config", "give it to `sweep memory` or `sweep init`"),
)
"""Keys that an object of a known format has -> what it is, and what to do with it."""

_NOT_READ_CSV: Final = (
    ({"ContextTokens", "GeneratedTokens"}, "a request trace (Azure)", "read it with `sweep traffic`"),
    ({"Request tokens", "Response tokens"}, "a request trace (BurstGPT)", "read it with `sweep traffic`"),
)

_NOT_READ_TEXT: Final = (
    (r"^(?:benchmark_time_seconds|load_summary|successes):", "an inference-perf report (YAML)", "give another report"),
    (r"^(?:benchmarks|metadata):\s*$", "a GuideLLM report as YAML", "save it as JSON: --output-path report.json"),
    (
        r"=+ Serving Benchmark Result =+",
        "what a load test printed",
        "add --save-result and give the JSON that it writes",
    ),
    (r"^\[(?:sweep|contract|scheduler)\]\s*$", "a grid file", "give the measurements; `sweep run` reads the grid"),
    (
        r"max_total_num_tokens=|KV Cache is allocated",
        "a start-up log of SGLang",
        "state its KV pool in the grid yourself",
    ),
    (r"<html|<!doctype html", "a web page", "save the report as JSON"),
)


def read_file(path: str | Path, unit: str | None = None) -> Measured:
    """What a measured file says, in whichever format it is.

    Args:
        path: the file.
        unit: of times, where the format does not fix it: ns, us, ms or s.

    Raises:
        InputFault: no readable text, a format that is not read, or impossible figures; every fault of the file at once.
    """
    name, text = name_of(path), read_text(path)
    if text.lstrip()[:1] in ("{", "["):
        read = _json_reader(name, text)
        if read is not None:
            return read
    return _read_text(name, text, unit)


def _json_reader(name: str, text: str) -> Measured | None:
    """What a JSON text says; None where the text only begins like JSON (`[INFO] …`)."""
    try:
        items = objects_of(text, name)
    except InputFault:
        if is_log(text) or _known_text(text):
            return None
        raise
    if not items:
        raise InputFault(f"{name}: holds no object; give the file as it was saved.")
    first = items[0].raw
    for sign, read in _JSON:
        if sign(first):
            return read(name, _all_alike(name, items, sign))
    for keys, what, instead in _NOT_READ_JSON:
        if keys <= first.keys():
            raise _not_read(name, what, instead)
    if is_log(text):  # one object per line of the log, as containers write it
        return None
    raise _not_read(name, "JSON of a form that is not known", "check that it is the file that you mean")


def _all_alike(name: str, items: list[Item], sign: Callable[[Mapping[str, Any]], bool]) -> list[Item]:
    """The objects, which must all be of the first one's format."""
    other = next((item for item in items if not sign(item.raw)), None)
    if other is not None:
        raise InputFault(
            f"{name}: line {other.line}: an object of another form than the first; split the file by form."
        )
    return items


def _read_text(name: str, text: str, unit: str | None) -> Measured:
    if SIGN.search(text):
        return read_snapshot(name, text)
    columns = _columns(text)
    if {"t", "running", "gen_throughput"} <= columns:
        lacking = [column for column in COLUMNS[:4] if column not in columns]
        if lacking:
            raise InputFault(f"{name}: line 1: has no column {', '.join(lacking)}; give the series as it was saved.")
        return read_series(name, text)
    if is_steps(columns):
        return read_steps(name, text, unit)
    if is_log(text):
        return read_log(name, text)
    for keys, what, instead in _NOT_READ_CSV:
        if keys <= columns:
            raise _not_read(name, what, instead)
    known = _known_text(text)
    if known is not None:
        raise _not_read(name, *known)
    raise _not_read(name, "text of a form that is not known", "check that it is the file that you mean")


def _known_text(text: str) -> tuple[str, str] | None:
    """What a text of a known format that is not read is, and what to do with it."""
    for pattern, what, instead in _NOT_READ_TEXT:
        if re.search(pattern, text[: 2**20], re.MULTILINE | re.IGNORECASE):
            return what, instead
    return None


def _columns(text: str) -> set[str]:
    """The names in the first line of a CSV."""
    first = text.lstrip("\r\n").partition("\n")[0][:10_000]
    try:
        return {column.strip() for column in next(csv.reader([first]), [])}
    except csv.Error:
        return set()


def _not_read(name: str, what: str, instead: str) -> InputFault:
    return InputFault(f"{name}: is {what}, which is not read; {instead}. Formats that are read: {READ}.")
