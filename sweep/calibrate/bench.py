"""`vllm bench serve --save-result` and SGLang's `bench_serving`: one JSON object per load test.

Both state their units in the names of their fields: `…_ms`, and seconds for `duration`, `ttfts` and `itls`.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

from sweep.calibrate.documents import Item
from sweep.calibrate.fields import Faults, Fields
from sweep.calibrate.measured import Lengths, Measured, Run, ceiling, rounded
from sweep.calibrate.origin import engine_of, stated
from sweep.units import Unreadable, exact_decimal, grouped, shown

VLLM: Final = "vLLM bench serve"
SGLANG: Final = "SGLang bench_serving"

_COMMON = {"duration", "completed", "total_input_tokens", "total_output_tokens"}
_MOST_LATENCIES = ("mean_ttft_ms", "mean_tpot_ms", "mean_itl_ms")


def is_bench(raw: Mapping[str, Any]) -> bool:
    """Whether an object is of one of the two: they have the same core."""
    return len(_COMMON & raw.keys()) >= 3 and any(key in raw for key in _MOST_LATENCIES)


def kind_of(raw: Mapping[str, Any]) -> str:
    """Which of the two: SGLang calls end-to-end latency `e2e_latency`, vLLM `e2el`."""
    return SGLANG if any(key.endswith("_e2e_latency_ms") for key in raw) else VLLM


def read_bench(name: str, items: list[Item]) -> Measured:
    """Every load test of a file.

    Raises:
        InputFault: missing or impossible figures, or a run in which every request failed; every fault at once.
    """
    faults = Faults(name)
    runs, flags, missing = [], list[str](), []
    models, engines = list[tuple[str, str]](), list[tuple[str, str]]()
    for at, item in enumerate(items, start=1):
        place = "" if len(items) == 1 else f"object {at} (line {grouped(item.line)})"
        where = name if len(items) == 1 else f"{name} #{at}"
        run = _run(Fields(item.raw, faults, place), where)
        if run is None:
            continue
        runs.append(run)
        flags += [*_flags(run), *contradictions(item.raw, run)]
        models += stated(where, item.raw.get("model_id"))
        engines += stated(where, engine_of(item.raw.get("backend")))
        if run.itl_ns is None:
            missing.append(f"{where}: no time between tokens was measured, so it gives no step of a decoding engine")
        if run.failed is None:
            missing.append(f"{where}: whether requests failed, this format counts only the completed ones")
    faults.raise_if_any()
    lengths = tuple(lengths_of(run) for run in runs)
    return Measured(
        name,
        kind_of(items[0].raw),
        tuple(runs),
        lengths=lengths,
        flags=tuple(flags),
        missing=tuple(missing),
        models=models,
        engines=engines,
    )


def lengths_of(run: Run) -> Lengths:
    """The lengths of a run's requests, and how fast they arrived where the client did not wait for answers."""
    waits = run.all_at_once or run.max_concurrency is not None
    requests = run.requests_per_s if run.completed is None else Fraction(run.completed)
    of_each = requests / run.requests_per_s
    return Lengths(
        run.where,
        requests,
        run.prompt_tokens_per_s * of_each,
        run.output_tokens_per_s * of_each,
        run.lengths,
        None if waits else ceiling(run.requests_per_s * 1_000),
    )


def _flags(run: Run) -> list[str]:
    if not run.failed:
        return []
    total = grouped(run.failed + (run.completed or 0))
    return [
        f"{run.where}: {grouped(run.failed)} of {total} requests failed; its figures are of the others only, and the "
        f"failed ones may have loaded the engine too"
    ]


_ROUNDING: Final = Fraction(1, 1_000)


def contradictions(raw: Mapping[str, Any], run: Run) -> list[str]:
    """Where a rate that the file states is not its total over its duration, by more than rounding."""
    found = []
    of = {
        "request_throughput": ("completed / duration", run.requests_per_s),
        "input_throughput": ("total_input_tokens / duration", run.prompt_tokens_per_s),
        "output_throughput": ("total_output_tokens / duration", run.output_tokens_per_s),
        "total_token_throughput": ("all tokens / duration", run.tokens_per_s),
        "total_throughput": ("all tokens / duration", run.tokens_per_s),
    }
    for key, (what, rate) in of.items():
        given = raw.get(key)
        number = exact_decimal(given) if isinstance(given, int | Decimal) else None
        if number is None:
            continue
        places = -int(given.as_tuple().exponent) if isinstance(given, Decimal) else 0
        last_digit = Fraction(1, 2 * 10 ** max(places, 0))
        if abs(number - rate) > last_digit + rate * _ROUNDING:
            found.append(
                f"{run.where}: its {key} is {shown(given)}, but {what} is {three_decimals(rate)}; the figures "
                f"contradict each other, the latter is taken"
            )
    return found


def three_decimals(number: Fraction) -> str:
    """A number of at least 0 with three decimals, rounded to nearest."""
    thousandths = rounded(number * 1_000)
    return f"{grouped(thousandths // 1_000)}.{thousandths % 1_000:03}"


def _run(fields: Fields, where: str) -> Run | None:
    """A load test, None after a fault."""
    before = len(fields.faults)
    duration = fields.amount("duration", "s", required=True)
    completed = fields.count("completed", required=True)
    failed = _failed(fields, completed)
    if completed == 0:
        fields.refuse("completed", "got 0: every request failed, so its figures are no result; run the test again")
        return None
    prompt = fields.count("total_input_tokens", required=True)
    output = fields.count("total_output_tokens", required=True)
    ttft, itl = fields.amount("mean_ttft_ms", "ms"), fields.amount("mean_itl_ms", "ms")
    e2e = fields.amount("mean_e2el_ms", "ms") or fields.amount("mean_e2e_latency_ms", "ms")
    limit = fields.count("max_concurrency", least=1)
    at_once = _all_at_once(fields)
    lengths, decode = _details(fields)
    if duration == 0:
        fields.refuse("duration", "got 0, wanted the seconds that the run took; correct it")
    if output == 0 and prompt == 0:
        fields.refuse("total_output_tokens", "got 0 with requests completed, so nothing was measured; run it again")
    if duration is None or completed is None or prompt is None or output is None or len(fields.faults) > before:
        return None
    if decode is None and e2e and ttft is not None and e2e >= ttft:
        decode = e2e - ttft
    seconds = duration / 10**9
    return Run(
        where=where,
        requests_per_s=completed / seconds,
        prompt_tokens_per_s=prompt / seconds,
        output_tokens_per_s=output / seconds,
        ttft_ns=ttft or None,  # 0.0 stands for "not measured" in both formats
        itl_ns=itl or None,
        decode_ns_per_request=decode or None,
        max_concurrency=limit,
        all_at_once=at_once,
        completed=completed,
        failed=failed,
        lengths=lengths,
    )


def _failed(fields: Fields, completed: int | None) -> int | None:
    """Failed requests: as counted, else what is missing of `num_prompts`; None where neither is there."""
    failed = fields.count("failed")
    prompts = fields.count("num_prompts")
    if failed is not None or prompts is None or completed is None:
        return failed
    return max(prompts - completed, 0)


def _all_at_once(fields: Fields) -> bool:
    """Whether `request_rate` is infinite: the text "inf", or the bare word `Infinity` that Python's json writes."""
    rate = fields.raw.get("request_rate")
    if rate is None:
        return False
    if rate == "inf" or (isinstance(rate, Unreadable) and rate.text == "Infinity"):
        return True
    number = exact_decimal(rate) if not isinstance(rate, str) else None
    if number is None or number <= 0:
        fields.refuse("request_rate", f'got {shown(rate)}, wanted requests per second above 0, or "inf"; correct it')
    return False


def _details(fields: Fields) -> tuple[tuple[tuple[int, int], ...] | None, Fraction | None]:
    """Of `--save-detailed`: the lengths of the requests that gave a token, and the mean time that each decoded, in ns.

    `itls` holds one list per request. A failed request has an output length of 0.
    """
    columns = [fields.raw.get(key) for key in ("input_lens", "output_lens", "itls")]
    if columns[0] is None or columns[1] is None:
        return None, None
    sizes = [len(column) if isinstance(column, list) else -1 for column in columns if column is not None]
    if len(set(sizes)) != 1 or sizes[0] < 0:
        fields.refuse("input_lens", "input_lens, output_lens and itls are no lists of one length; save the run again")
        return None, None
    prompts, outputs, gaps = columns
    assert isinstance(prompts, list)  # their sizes say so
    assert isinstance(outputs, list)
    pairs, decode, counted = [], Fraction(0), 0
    for at, (prompt, output) in enumerate(zip(prompts, outputs, strict=True)):
        if not _is_length(prompt) or not _is_length(output):
            got = shown(output if _is_length(prompt) else prompt)
            fields.refuse("output_lens", f"request {grouped(at + 1)} has the length {got}, wanted tokens; correct it")
            continue
        if output == 0:
            continue
        pairs.append((prompt, output))
        time = _total_s(gaps[at]) if isinstance(gaps, list) else None
        if gaps is not None and time is None:
            fields.refuse("itls", f"request {grouped(at + 1)} has no list of seconds from 0 on; save the run again")
        elif time is not None:
            decode, counted = decode + time, counted + 1
    return tuple(pairs) or None, (decode * 10**9 / counted if counted else None)


def _is_length(value: object) -> bool:
    return type(value) is int and 0 <= value <= 10**7


def _total_s(gaps: object) -> Fraction | None:
    """The sum of a list of seconds, None where it is none."""
    if not isinstance(gaps, list):
        return None
    numbers = [exact_decimal(gap) if not isinstance(gap, str) else None for gap in gaps]
    if any(number is None or not 0 <= number <= 10**9 for number in numbers):
        return None
    return sum((number for number in numbers if number is not None), Fraction(0))
