"""Requests one by one, as vLLM times them: JSON lines with the moments of each request.

Two clocks: `arrival_time` counts seconds from 1970, the other moments count from the start of the engine's machine.
Differences are taken within one clock only; nothing here ever subtracts across the two.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

from sweep.calibrate.documents import Item
from sweep.calibrate.fields import Faults
from sweep.calibrate.fit import fit
from sweep.calibrate.measured import Lengths, Measured, StepPoint, ceiling, rounded
from sweep.units import exact_decimal, grouped, shown

REQUESTS: Final = "per-request times"

_MONOTONIC = ("queued_ts", "scheduled_ts", "first_token_ts", "last_token_ts")
_TOKENS = ("input_toks", "output_toks")
_SCALE: Final = 2**64
"""Rates of tokens are kept in 1/2^64 token per ns, so that the sums over many requests stay short integers."""


@dataclass(frozen=True)
class Timed:
    """A request that gave at least one token; moments in ns of the engine's own clock.

    Attributes:
        prompt, output: tokens.
        queued, scheduled, first, last: moments, in this order.
        arrived: ns of the wall clock; None where not given.
    """

    line: int
    prompt: int
    output: int
    queued: int
    scheduled: int
    first: int
    last: int
    arrived: int | None


def is_requests(raw: Mapping[str, Any]) -> bool:
    """Whether an object is such a request."""
    return "first_token_ts" in raw and "last_token_ts" in raw


def read_requests(name: str, items: Sequence[Item]) -> Measured:
    """The steps that requests saw while they decoded, and their lengths.

    Raises:
        InputFault: missing or impossible figures, moments in a wrong order, no request that succeeded; every fault at
            once.
    """
    faults = Faults(name)
    requests, failed = [], 0
    for item in items:
        if _failed(item.raw):
            failed += 1
            continue
        request = _timed(item, faults)
        if request is not None:
            requests.append(request)
    if not requests and not len(faults):
        faults.add("", f"all {grouped(failed)} requests failed, so this is no result; run the test again")
    faults.raise_if_any()
    flags = []
    if failed:
        flags.append(
            f"{name}: {grouped(failed)} of {grouped(len(items))} requests failed; they are in no figure and may have "
            f"loaded the engine too"
        )
    points = decoded_steps(name, requests)
    missing = [] if points else [f"{name}: no request has two output tokens, so it gives no step of a decoding engine"]
    lengths = _lengths(name, requests)
    facts = [("requests", grouped(len(requests))), *_waits(requests)]
    return Measured(name, REQUESTS, (), points, (), (lengths,), facts=facts, flags=flags, missing=missing)


def _failed(raw: Mapping[str, Any]) -> bool:
    """A request without output: 0 tokens, or moments that never came (null, not left out)."""
    never = any(key in raw and raw[key] is None for key in ("output_toks", *_MONOTONIC))
    return never or raw.get("output_toks") == 0


def _timed(item: Item, faults: Faults) -> Timed | None:
    place = f"line {grouped(item.line)}"
    raw = item.raw
    tokens: list[int] = []
    for key in _TOKENS:
        value = raw.get(key)
        if type(value) is not int or not 1 <= value <= 10**7:
            faults.add(
                place, f"{key}: got {shown(value)}, wanted a whole number of tokens from 1 to 10 000 000; correct it"
            )
            continue
        tokens.append(value)
    moments = [_moment_ns(raw.get(key), f"{place}: {key}", faults) for key in _MONOTONIC]
    arrived = None
    if raw.get("arrival_time") is not None:
        arrived = _moment_ns(raw["arrival_time"], f"{place}: arrival_time", faults)
    if len(tokens) < 2 or any(moment is None for moment in moments):
        return None
    queued, scheduled, first, last = (moment for moment in moments if moment is not None)
    if not queued <= scheduled < first <= last:
        faults.add(place, f"the moments {', '.join(_MONOTONIC)} are not in this order; give the file as it was saved")
        return None
    if tokens[1] > 1 and first == last:
        faults.add(place, f"{grouped(tokens[1])} output tokens took no time; give the file as it was saved")
        return None
    return Timed(item.line, tokens[0], tokens[1], queued, scheduled, first, last, arrived)


def _moment_ns(value: object, place: str, faults: Faults) -> int | None:
    """A moment in s as whole ns, None after a fault."""
    number = exact_decimal(value) if isinstance(value, int | Decimal) else None
    if number is None or not 0 <= number <= 10**12:
        faults.add(place, f"got {shown(value)}, wanted seconds from 0 to 10^12; give the file as it was saved")
        return None
    return rounded(number * 10**9)


def decoded_steps(name: str, requests: Sequence[Timed]) -> list[StepPoint]:
    """One point per request of at least two output tokens: the steps between its first token and its last.

    With n output tokens it saw n − 1 steps. In each of them every request that decoded at that time got a token, so the
    mean number of those is the batch; prompts are taken to be read evenly between being scheduled and the first token.
    A request that the engine held up (the fit leaves it out) decoded only part of its time: in the batch of the others
    it counts with the tokens that it got.
    """
    points = _steps_beside(name, requests, frozenset())
    if not points:
        return []
    stalled = set(map(id, fit(points).left_out))
    decoding = [at for at, one in enumerate(requests) if one.output > 1]
    held = frozenset(at for at, point in zip(decoding, points, strict=True) if id(point) in stalled)
    return _steps_beside(name, requests, held) if held else points


def _steps_beside(name: str, requests: Sequence[Timed], held: frozenset[int]) -> list[StepPoint]:
    """The points; `held` are the positions of requests that decoded only part of their time."""
    whole = [one for at, one in enumerate(requests) if at not in held]
    decoding = _Flow((one.first, one.last, one.last - one.first) for one in whole)
    partly = _Flow((requests[at].first, requests[at].last, requests[at].output - 1) for at in sorted(held))
    prefill = _Flow((one.scheduled, one.first, one.prompt) for one in requests)
    points = []
    for one in requests:
        steps = one.output - 1
        if steps == 0:
            continue
        at_once = decoding.between(one.first, one.last) / (one.last - one.first)
        batch = at_once + partly.between(one.first, one.last) / steps
        chunk = prefill.between(one.first, one.last) / steps
        step = Fraction(one.last - one.first, steps)
        where = f"{name} line {grouped(one.line)}"
        points.append(StepPoint(where, "request", batch, chunk, step))
    return points


class _Flow:
    """Tokens that flow evenly during intervals, and how many have flowed at a moment."""

    def __init__(self, parts: Any) -> None:
        changes: dict[int, int] = {}
        jumps: dict[int, int] = {}
        for begin, end, tokens in parts:
            if end > begin:
                rate = tokens * _SCALE // (end - begin)
                changes[begin] = changes.get(begin, 0) + rate
                changes[end] = changes.get(end, 0) - rate
                jumps[end] = jumps.get(end, 0) + tokens * _SCALE - rate * (end - begin)  # so that no token is lost
        self.moments = sorted(changes)
        self.position = {moment: at for at, moment in enumerate(self.moments)}
        self.flowed, total, rate, before = [], 0, 0, 0
        self.rates = []
        for moment in self.moments:
            total += rate * (moment - before) + jumps.get(moment, 0)
            rate += changes[moment]
            before = moment
            self.flowed.append(total)
            self.rates.append(rate)

    def between(self, begin: int, end: int) -> Fraction:
        """Tokens that flowed between two moments."""
        return Fraction(self._until(end) - self._until(begin), _SCALE)

    def _until(self, moment: int) -> int:
        low, high = 0, len(self.moments)
        while low < high:
            middle = (low + high) // 2
            low, high = (middle + 1, high) if self.moments[middle] <= moment else (low, middle)
        if low == 0:
            return 0
        return self.flowed[low - 1] + self.rates[low - 1] * (moment - self.moments[low - 1])


def _lengths(name: str, requests: Sequence[Timed]) -> Lengths:
    pairs = tuple((one.prompt, one.output) for one in requests)
    arrivals = sorted(one.arrived for one in requests if one.arrived is not None)
    millirps = None
    if len(arrivals) == len(requests) and arrivals[-1] > arrivals[0]:
        millirps = ceiling(Fraction(len(arrivals) * 10**12, arrivals[-1] - arrivals[0]))
    prompts, outputs = (Fraction(sum(pair[side] for pair in pairs)) for side in (0, 1))
    return Lengths(name, Fraction(len(pairs)), prompts, outputs, pairs, millirps)


def _waits(requests: Sequence[Timed]) -> list[tuple[str, str]]:
    """Percentiles by nearest rank: the wait in the queue, and the time to first token behind it."""
    found = []
    for what, times in (
        ("wait in the queue", sorted(one.scheduled - one.queued for one in requests)),
        ("scheduled to first token", sorted(one.first - one.scheduled for one in requests)),
    ):
        ranks = [-(-percent * len(times) // 100) for percent in (50, 90, 99)]
        texts = (f"{grouped(-(-times[rank - 1] // 10**6))}" for rank in ranks)
        found.append((f"{what}, p50/p90/p99", f"{'/'.join(texts)} ms"))
    return found
