"""A snapshot of vLLM's metrics in Prometheus' text format: sums since the server started, and what is true just now."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from sweep.calibrate.fields import MOST, Faults
from sweep.calibrate.measured import Lengths, Measured, Pool, StepPoint, rounded
from sweep.units import MAX_DIGITS, exact_decimal, grouped, parse_decimal, printable, shown

SNAPSHOT: Final = "Prometheus snapshot of vLLM"

_SAMPLE = re.compile(r"([a-zA-Z_:][a-zA-Z0-9_:]*)(\{.*\})? +([^ ]+)(?: +-?[0-9]+)?")
_LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"(?:,|$)')
_ITL = ("vllm:inter_token_latency_seconds", "vllm:time_per_output_token_seconds")
_USAGE = ("vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc")

_LONGEST_LINE: Final = 100_000

SIGN: Final = re.compile(r"^(?:# (?:HELP|TYPE) )?vllm:[a-z0-9_]+(?:\{| )", re.MULTILINE)
"""A text without such a line is no snapshot of vLLM."""


@dataclass(frozen=True)
class Samples:
    """The samples of a snapshot: name -> (labels, value) of each; several engines have samples of one name."""

    by_name: Mapping[str, Sequence[tuple[Mapping[str, str], Fraction]]]

    def total(self, name: str) -> Fraction | None:
        """The sum over all engines; None where there is no sample."""
        found = self.by_name.get(name)
        return None if not found else sum((value for _, value in found), Fraction(0))

    def models(self) -> list[str]:
        """The names of the models that were served."""
        found = (labels.get("model_name") for samples in self.by_name.values() for labels, _ in samples)
        return list(dict.fromkeys(name for name in found if name))

    def mean(self, *names: str) -> Fraction | None:
        """The mean of a histogram, by its sum and count; None where nothing was counted."""
        for name in names:
            total, count = self.total(f"{name}_sum"), self.total(f"{name}_count")
            if total is not None and count:
                return total / count
        return None


def read_snapshot(name: str, text: str) -> Measured:
    """The KV pool, the mean latencies and lengths and, where the engine counts its steps, a mean step.

    Raises:
        InputFault: lines of the metrics that are no samples, values that are no numbers, only failed requests; every
            fault at once.
    """
    faults = Faults(name)
    samples = samples_of(text, faults)
    served = samples.models()
    if len(served) > 1:
        names = " and ".join(shown(printable(one, 80)) for one in served[:2])
        faults.add("model_name", f"its metrics are of different models, {names}; take a snapshot of one engine")
    faults.raise_if_any()
    pools, flags = _pools(name, samples, faults)
    faults.raise_if_any()
    point, missing = _step(name, samples)
    lengths = _lengths(name, samples)
    if not pools:
        missing.append(f"{name}: has no vllm:cache_config_info with blocks, so the KV pool is not known")
    preempted = samples.total("vllm:num_preemptions_total")
    if preempted:
        flags.append(f"{name}: {grouped(int(preempted))} preemptions, so its steps hold work that was done twice")
    points = [] if point is None else [point]
    facts = _facts(samples)
    engines = ((name, "vllm"),)
    return Measured(
        name, SNAPSHOT, (), points, pools, lengths, facts=facts, flags=flags, missing=missing, engines=engines
    )


def samples_of(text: str, faults: Faults) -> Samples:
    """Every sample of vLLM's metrics; lines that are none, and values that are no numbers, are faults."""
    found: dict[str, list[tuple[Mapping[str, str], Fraction]]] = {}
    seen: set[tuple[str, str]] = set()
    for number, raw in enumerate(text.splitlines(), start=1):
        line = raw.strip()
        if not line.startswith("vllm:"):  # comments, and the metrics of other libraries
            continue
        place = f"line {grouped(number)}"
        match = _SAMPLE.fullmatch(line) if len(line) <= _LONGEST_LINE else None
        labels = _labels(match[2] or "") if match else None
        if match is None or labels is None:
            faults.add(place, f"got {shown(line)}, wanted a sample, name{{labels}} value; the file may be cut short")
            continue
        if (match[1], match[2] or "") in seen:
            faults.add(
                place, f"{printable(match[1], 60)} comes twice with the same labels; give one snapshot at a time"
            )
        seen.add((match[1], match[2] or ""))
        value = _value(match[3])
        if value is None:
            wanted = f"a number from 0 to {grouped(MOST)}"
            faults.add(place, f"{printable(match[1], 60)}: got {shown(match[3])}, wanted {wanted}; take a new snapshot")
            continue
        found.setdefault(match[1], []).append((labels, value))
    return Samples(found)


def _labels(text: str) -> dict[str, str] | None:
    """The labels of `{a="b",c="d"}`, None where it is no such text."""
    inner, at, found = text[1:-1], 0, {}
    while at < len(inner):
        match = _LABEL.match(inner, at)
        if match is None:
            return None
        found[match[1]] = match[2]
        at = match.end()
    return found


def _value(text: str) -> Fraction | None:
    number = exact_decimal(parse_decimal(text)) if len(text) <= MAX_DIGITS else None
    return number if number is not None and 0 <= number <= MOST else None


def _pools(name: str, samples: Samples, faults: Faults) -> tuple[list[Pool], list[str]]:
    """The KV pool of each engine that states its blocks."""
    pools = []
    for labels, _ in samples.by_name.get("vllm:cache_config_info", ()):
        numbers = {}
        for key in ("num_gpu_blocks", "block_size"):
            text = labels.get(key, "None")
            if text in ("None", "null", ""):
                continue
            if not re.fullmatch(r"[1-9][0-9]{0,14}", text):
                faults.add(
                    f"vllm:cache_config_info: {key}", f"got {shown(text)}, wanted a whole number from 1 on; correct it"
                )
                continue
            numbers[key] = int(text)
        if len(numbers) == 2:
            blocks, size = numbers["num_gpu_blocks"], numbers["block_size"]
            pools.append(Pool(name, blocks * size, blocks, size))
    distinct = list(dict.fromkeys(pools))
    flags = []
    if len(distinct) > 1:
        flags.append(f"{name}: its engines have KV pools of different sizes; the smallest is taken")
    return sorted(distinct, key=lambda pool: pool.tokens or 0)[:1], flags


def _step(name: str, samples: Samples) -> tuple[StepPoint | None, list[str]]:
    """The mean step since the start, where the engine counts its steps; else why there is none.

    `vllm:iteration_tokens_total` is a histogram with one entry per step, so its count is the number of steps.
    """
    steps = samples.total("vllm:iteration_tokens_total_count")
    output, prompt = samples.total("vllm:generation_tokens_total"), samples.total("vllm:prompt_tokens_total")
    itl = samples.mean(*_ITL)
    if itl is None:
        return None, [f"{name}: no token followed another yet, so it has no step time; take the snapshot under load"]
    if not steps or output is None or prompt is None:
        what = "how many requests ran in a step is not in a snapshot without vllm:iteration_tokens_total"
        return None, [f"{name}: {what}; add a load test or a series"]
    first = samples.total("vllm:time_to_first_token_seconds_count") or Fraction(0)
    decoded = max(output - first, Fraction(0))  # the first token of a request comes out of its prefill
    point = StepPoint(name, "snapshot", decoded / steps, prompt / steps, itl * 10**9)
    return (point, []) if point.step and point.batch else (None, [f"{name}: no request decoded yet"])


def _lengths(name: str, samples: Samples) -> list[Lengths]:
    """The mean lengths of the finished requests."""
    prompt, output = (samples.mean(f"vllm:request_{what}_tokens") for what in ("prompt", "generation"))
    if not prompt or not output:
        return []
    count = samples.total("vllm:request_prompt_tokens_count") or Fraction(1)
    return [Lengths(name, count, prompt * count, output * count)]


def _facts(samples: Samples) -> list[tuple[str, str]]:
    found = []
    for what, names in (("mean TTFT", ("vllm:time_to_first_token_seconds",)), ("mean time between tokens", _ITL)):
        mean = samples.mean(*names)
        if mean is not None:
            found.append((what, f"{grouped(rounded(mean * 10**6))} µs"))
    for what, name in (("running", "vllm:num_requests_running"), ("waiting", "vllm:num_requests_waiting")):
        value = samples.total(name)
        if value is not None:
            found.append((f"requests {what} just now", grouped(int(value))))
    usage = next((value for name in _USAGE if (value := samples.total(name)) is not None), None)
    if usage is not None:
        found.append(("KV cache in use just now", f"{grouped(rounded(usage * 1_000))} ‰"))
    return found
