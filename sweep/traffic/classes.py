"""Facts of a trace -> request classes: joint length buckets merged into a few, with no token and no arrival lost.

The audit is linear in arrivals · prompt and arrivals · output, so any merging that keeps these totals keeps every
utilisation. What it does not keep are products of two lengths (KV bytes, which are concurrency · length) and the
longest prompt (TTFT). So a class is cut where the squares of the lengths' distances from their class' mean fall most,
prompt and output each relative to its own total: the largest part of those products that one more class can keep.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sweep.errors import UsageFault
from sweep.records.bounds import CLASS_BOUNDS, IDENTITY, MAX_CLASSES
from sweep.traffic.facts import MEAN, TraceFacts
from sweep.traffic.joint import Cell
from sweep.units import grouped, shown


@dataclass(frozen=True)
class TrafficClass:
    """A request class of a trace; whole numbers are rounded up from exact ratios.

    Attributes:
        class_id: `<name>-<n>`, n from 1.
        arrival_millirps: its requests' share of the arrivals at the level.
        prompt_tokens, output_tokens: the mean of its requests, at least 1.
        requests: of the trace.
        total_prompt_tokens, total_output_tokens: of these requests.
        arrival_rps: the exact rate, in requests per second.
        prompt_span, output_span: the buckets' ends in tokens, both included.
    """

    class_id: str
    arrival_millirps: int
    prompt_tokens: int
    output_tokens: int
    requests: int
    total_prompt_tokens: int
    total_output_tokens: int
    arrival_rps: Fraction
    prompt_span: tuple[int, int]
    output_span: tuple[int, int]

    def as_json(self) -> dict[str, Any]:
        """The class with keys that stay; `arrival_rps_exact` is a ratio."""
        return {
            "class_id": self.class_id,
            "arrival_millirps": self.arrival_millirps,
            "arrival_rps_exact": str(self.arrival_rps),
            "prompt_tokens": self.prompt_tokens,
            "output_tokens": self.output_tokens,
            "requests": self.requests,
            "total_prompt_tokens": self.total_prompt_tokens,
            "total_output_tokens": self.total_output_tokens,
            "prompt_span": list(self.prompt_span),
            "output_span": list(self.output_span),
        }


def traffic_classes(facts: TraceFacts, count: int, level: str, name: str = "traffic") -> tuple[TrafficClass, ...]:
    """The requests of a trace as classes by length, each within the bounds of the audit's request classes.

    Args:
        facts: what `trace_facts` found.
        count: how many classes, 1 to 64; there are fewer where the trace has fewer joint buckets.
        level: whose rate arrives: `mean`, or that of the busiest `minute`, `ten-seconds` or `second`. It is spread over
            the classes as the requests of the whole trace are.
        name: the ids are `<name>-1`, `<name>-2`, …

    Raises:
        UsageFault: a count, level or name out of bounds, no mean rate, or one above 10^9 requests per second.
    """
    if type(count) is not int or not 1 <= count <= MAX_CLASSES:
        raise UsageFault(f"classes: got {shown(count)}, wanted 1 to {MAX_CLASSES}; correct it.")
    if not IDENTITY.fullmatch(f"{name}-{MAX_CLASSES}"):
        wanted = "letters, digits and _.:/@-, at most 125, the first a letter or digit"
        raise UsageFault(f"class name: got {shown(name)}, wanted {wanted}; take another.")
    rate = facts.rate(level)
    groups = sorted(_groups(facts.cells, count), key=lambda group: (group[0].prompt_from, _lowest_output(group)))
    return tuple(
        _class(f"{name}-{at}", group, rate / facts.requests, level) for at, group in enumerate(groups, start=1)
    )


def _class(class_id: str, cells: Sequence[Cell], rate_per_request: Fraction, level: str) -> TrafficClass:
    requests = sum(cell.requests for cell in cells)
    prompts = sum(cell.prompt_tokens for cell in cells)
    outputs = sum(cell.output_tokens for cell in cells)
    arrival = rate_per_request * requests
    millirps = -(-arrival.numerator * 1_000 // arrival.denominator)
    if millirps > CLASS_BOUNDS["arrival_millirps"][1]:
        got = f"{grouped(millirps)} millirps of {class_id}"
        advice = "take level second" if level == MEAN else "split the trace"
        raise UsageFault(f"level {level}: got {got}, wanted at most 10^12; {advice}, or check the unit of the times.")
    return TrafficClass(
        class_id,
        millirps,
        max(1, -(-prompts // requests)),
        max(1, -(-outputs // requests)),
        requests,
        prompts,
        outputs,
        arrival,
        (min(cell.prompt_from for cell in cells), max(cell.prompt_to for cell in cells)),
        (_lowest_output(cells), max(cell.output_to for cell in cells)),
    )


def _lowest_output(cells: Sequence[Cell]) -> int:
    return min(cell.output_from for cell in cells)


Cut = tuple[Fraction, Sequence[Cell], Sequence[Cell]]
"""How much of the squares a cut takes away, and its two sides."""


def _groups(cells: Sequence[Cell], count: int) -> list[Sequence[Cell]]:
    """The cells in at most `count` groups, each a rectangle of prompt × output lengths; no cell is in two.

    Of all cuts of all groups the best comes first, so more groups only refine fewer. Of equal cuts the one by prompt,
    then at the shorter length, then of the earlier group is taken.
    """
    scales = (_spread(cells, "prompt_tokens"), _spread(cells, "output_tokens"))
    groups: list[Sequence[Cell]] = [cells]
    cuts = [_best_cut(cells, scales)]
    while len(groups) < count:
        best = max(range(len(groups)), key=lambda at: -1 if (cut := cuts[at]) is None else cut[0])
        cut = cuts[best]
        if cut is None:
            break
        groups[best : best + 1] = cut[1:]
        cuts[best : best + 1] = [_best_cut(side, scales) for side in cut[1:]]
    return groups


def _spread(cells: Sequence[Cell], field: str) -> Fraction:
    """The squares between the cells: Σ n·(mean of the cell − mean of all)², exactly."""
    requests = sum(cell.requests for cell in cells)
    squares = sum((Fraction(getattr(cell, field) ** 2, cell.requests) for cell in cells), Fraction(0))
    return squares - Fraction(sum(getattr(cell, field) for cell in cells) ** 2, requests)


def _best_cut(cells: Sequence[Cell], scales: tuple[Fraction, Fraction]) -> Cut | None:
    """The best cut of a group across one length; None where it is a single cell."""
    best: Cut | None = None
    for end in ("prompt_to", "output_to"):
        ordered = sorted(cells, key=lambda cell: (getattr(cell, end), cell.prompt_from, cell.output_from))
        total = _sums(ordered)
        low = (0, 0, 0)
        for at, cell in enumerate(ordered[:-1], start=1):
            low = (low[0] + cell.requests, low[1] + cell.prompt_tokens, low[2] + cell.output_tokens)
            if getattr(cell, end) == getattr(ordered[at], end):
                continue
            gain = _gain(low, total, scales)
            if best is None or gain > best[0]:
                best = gain, ordered[:at], ordered[at:]
    return best


def _sums(cells: Sequence[Cell]) -> tuple[int, int, int]:
    return (
        sum(cell.requests for cell in cells),
        sum(cell.prompt_tokens for cell in cells),
        sum(cell.output_tokens for cell in cells),
    )


def _gain(low: tuple[int, int, int], total: tuple[int, int, int], scales: tuple[Fraction, Fraction]) -> Fraction:
    """What a cut into low and the rest takes from the squares, each length relative to its total of them.

    With n requests of mean m on the one side and N of mean M on the other it is n·N/(n + N)·(m − M)²; with sums s and
    S for the means, (s·N − S·n)² / (n·N·(n + N)).
    """
    few, many = low[0], total[0] - low[0]
    gain = Fraction(0)
    for sums, scale in zip(zip(low[1:], total[1:], strict=True), scales, strict=True):
        if scale:
            distance = sums[0] * many - (sums[1] - sums[0]) * few
            gain += Fraction(distance**2, few * many * total[0]) / scale
    return gain
