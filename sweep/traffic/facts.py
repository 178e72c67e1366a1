"""The facts of a trace: rates side by side, lengths, failed rows and prefix sharing, each an exact integer or ratio."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from typing import Any, Final

from sweep.errors import UsageFault
from sweep.traffic.joint import Cell, doublings
from sweep.traffic.prefix import PrefixFacts

LEVELS: Final[Mapping[str, int]] = {"minute": 60, "ten-seconds": 10, "second": 1}
"""Level of a rate by its busiest bin -> seconds of the bin."""

MEAN: Final = "mean"
"""The level of the rate over the whole span."""

SECOND_NS: Final = 10**9


@dataclass(frozen=True)
class Busiest:
    """The bin with most requests, the first of several; bins follow each other from the earliest request on.

    Attributes:
        requests: in it.
        seconds: its length.
        from_second: where it begins, in seconds after the earliest request.
    """

    requests: int
    seconds: int
    from_second: int

    @property
    def millirps(self) -> int:
        """Requests per 1000 seconds of the bin, rounded up."""
        return -(-self.requests * 1_000 // self.seconds)


@dataclass(frozen=True)
class Lengths:
    """Prompts or outputs, in tokens.

    Attributes:
        total_tokens: of all requests.
        requests: how many.
        p50_tokens, p90_tokens, p99_tokens: percentiles by nearest rank.
        max_tokens: the longest.
    """

    total_tokens: int
    requests: int
    p50_tokens: int
    p90_tokens: int
    p99_tokens: int
    max_tokens: int

    @property
    def mean_tokens(self) -> Fraction:
        """The exact mean."""
        return Fraction(self.total_tokens, self.requests)

    def as_json(self) -> dict[str, Any]:
        """The same with keys that stay; the mean as a ratio and rounded half up to two decimals."""
        mean = {"mean_tokens": rounded(self.mean_tokens), "mean_tokens_exact": str(self.mean_tokens)}
        own = asdict(self)
        return {"total_tokens": own.pop("total_tokens"), **mean, **{key: own[key] for key in own if key != "requests"}}


@dataclass(frozen=True)
class TraceFacts:
    """What a trace shows. Rates, lengths, bins and sharing are of its requests; failed rows are counted apart.

    Attributes:
        trace: the path as given.
        format: a key of `sweep.traffic.formats.FORMATS`.
        requests: rows with output tokens.
        failed_requests: rows with 0 output tokens.
        failed_prompt_tokens: of those.
        first_ns: the earliest request, in ns from the trace's own zero (of dates from 1970).
        span_ns: from the earliest request to the last one.
        in_order: whether no request comes before an earlier row's.
        times_cut: times finer than 1 ns, which were cut to it.
        busiest: level -> its busiest bin.
        seconds: one-second bins from the earliest request to the last one.
        empty_seconds: those without a request.
        prompt, output: lengths.
        cells: joint buckets of prompt × output lengths, about a fifth of the length wide.
        prefix: what prompts share; None where the trace has no hashes.
    """

    trace: str
    format: str
    requests: int
    failed_requests: int
    failed_prompt_tokens: int
    first_ns: int
    span_ns: int
    in_order: bool
    times_cut: int
    busiest: Mapping[str, Busiest]
    seconds: int
    empty_seconds: int
    prompt: Lengths
    output: Lengths
    cells: tuple[Cell, ...] = field(repr=False)
    prefix: PrefixFacts | None

    @property
    def mean_millirps(self) -> int | None:
        """Requests per 1000 seconds over the span, rounded up; None where all came at one instant."""
        return -(-self.requests * 1_000 * SECOND_NS // self.span_ns) if self.span_ns else None

    def rate(self, level: str) -> Fraction:
        """Requests per second at a level, exactly.

        Args:
            level: `mean`, or a key of `LEVELS`.

        Raises:
            UsageFault: an unknown level, or the mean of requests that all came at one instant.
        """
        if level in LEVELS:
            return Fraction(self.busiest[level].requests, self.busiest[level].seconds)
        if level != MEAN:
            raise UsageFault(f"level {level!r}: wanted one of {', '.join((MEAN, *LEVELS))}; write one of them.")
        if not self.span_ns:
            raise UsageFault("level mean: all requests came at one instant, so there is no mean; take level second.")
        return Fraction(self.requests * SECOND_NS, self.span_ns)

    def as_json(self) -> dict[str, Any]:
        """The facts with keys that stay."""
        return {
            "trace": self.trace,
            "format": self.format,
            "requests": self.requests,
            "failed": {"requests": self.failed_requests, "prompt_tokens": self.failed_prompt_tokens},
            "first_ns": self.first_ns,
            "span_ns": self.span_ns,
            "in_order": self.in_order,
            "times_cut": self.times_cut,
            "mean_millirps": self.mean_millirps,
            "busiest": {level: {**asdict(found), "millirps": found.millirps} for level, found in self.busiest.items()},
            "seconds": {"total": self.seconds, "empty": self.empty_seconds},
            "prompt": self.prompt.as_json(),
            "output": self.output.as_json(),
            "joint": [asdict(cell) for cell in doublings(self.cells)],
            "prefix": asdict(self.prefix) if self.prefix else None,
        }


def rounded(ratio: Fraction) -> str:
    """A ratio ≥ 0 with two decimals, half up.

    >>> rounded(Fraction(22_361_870, 19_366)), rounded(Fraction(1, 200))
    ('1154.70', '0.01')
    """
    hundredths = (ratio * 200 + 1) // 2
    return f"{hundredths // 100}.{hundredths % 100:02}"
