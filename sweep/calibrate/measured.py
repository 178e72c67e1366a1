"""What a measured file says, in one form for all formats: load tests, engine steps, KV pools, request lengths.

Times are exact nanoseconds, rates exact numbers per second; a reader fills these records, whatever comes after reads
nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Literal

MILLI: Final = 1_000
"""Batches and chunks of a point are means over steps; they are shown in 1/1000 sequence and 1/1000 token."""

Kind = Literal["run", "stream", "prefill", "snapshot", "second", "request", "stated"]


@dataclass(frozen=True)
class StepPoint:
    """One measured combination of an engine step: the sequences that decode, the prefill tokens, and its time.

    The step-time model is linear in both, so means over many steps are points of it as much as single steps are.

    Attributes:
        where: the file and the place in it.
        kind: how it was measured; of a `second` or a `request` the engine may have stalled, so these may be left out.
        batch: decoding sequences of a step, exactly as the file's figures give them.
        chunk: prefill tokens of a step, likewise.
        step: time of a step in ns, likewise.
    """

    where: str
    kind: Kind
    batch: Fraction
    chunk: Fraction
    step: Fraction

    @property
    def batch_milli(self) -> int:
        """The batch in 1/1000, rounded to nearest, to be shown."""
        return rounded(self.batch * MILLI)

    @property
    def chunk_milli(self) -> int:
        """The chunk in 1/1000, rounded to nearest, to be shown."""
        return rounded(self.chunk * MILLI)

    @property
    def step_ns(self) -> int:
        """The step time in whole ns, rounded to nearest, to be shown."""
        return rounded(self.step)


@dataclass(frozen=True)
class Run:
    """A load test as its summary gives it.

    Attributes:
        where: the file, and the object in it.
        requests_per_s, prompt_tokens_per_s, output_tokens_per_s: successful requests and their tokens over the time of
            the whole run.
        ttft_ns: mean time to first token; None where not measured.
        itl_ns: mean time between two tokens of a request, the first token apart; None where not measured.
        decode_ns_per_request: mean time from a request's first token to its last; None where not measured.
        max_concurrency: requests that the client kept in flight at most; None where it had no limit.
        all_at_once: whether the client waited for nothing but that limit (`request_rate` inf).
        completed, failed: requests; None where the format does not say.
        lengths: (prompt, output) tokens of each successful request; None where only the totals are known.
    """

    where: str
    requests_per_s: Fraction
    prompt_tokens_per_s: Fraction
    output_tokens_per_s: Fraction
    ttft_ns: Fraction | None = None
    itl_ns: Fraction | None = None
    decode_ns_per_request: Fraction | None = None
    max_concurrency: int | None = None
    all_at_once: bool = False
    completed: int | None = None
    failed: int | None = None
    lengths: tuple[tuple[int, int], ...] | None = None

    @property
    def tokens_per_s(self) -> Fraction:
        """Prompt and output tokens per second over the whole run."""
        return self.prompt_tokens_per_s + self.output_tokens_per_s


@dataclass(frozen=True)
class Pool:
    """What a file says of the engine's KV cache; a figure printed with decimals is a closed interval.

    Attributes:
        where: the file.
        tokens: that fit at once.
        blocks, block_tokens: blocks of the pool, and tokens of a block.
        bytes_low, bytes_high: memory for it on one GPU, inclusive.
        longest_tokens, concurrency: the longest sequence, and how many of it fit (two ends of an interval).
    """

    where: str
    tokens: int | None = None
    blocks: int | None = None
    block_tokens: int | None = None
    bytes_low: int | None = None
    bytes_high: int | None = None
    longest_tokens: int | None = None
    concurrency: tuple[Fraction, Fraction] | None = None


@dataclass(frozen=True)
class Lengths:
    """Requests by their lengths.

    Attributes:
        where: the file.
        requests: how many; where a file has rates only, per second.
        prompt_tokens, output_tokens: their totals, of the same time.
        pairs: (prompt, output) of each; None where only the totals are known.
        millirps: requests that arrived per second, in 1/1000, rounded up; None where the client waited for answers.
    """

    where: str
    requests: Fraction
    prompt_tokens: Fraction
    output_tokens: Fraction
    pairs: tuple[tuple[int, int], ...] | None = None
    millirps: int | None = None


@dataclass(frozen=True)
class Measured:
    """What one file gives.

    Attributes:
        name: the file.
        format: what it was read as.
        points: steps that the file holds itself; those of `runs` are made later.
        chunk_tokens: tokens that the engine put in a step at most; None where not said.
        tokens_per_s: the most prompt and output tokens in a second that the file itself states; None where it does not.
        facts: (name, value) of what is worth showing and decides nothing.
        flags: what makes its figures doubtful, as clauses.
        missing: what could not be learnt from it and why, as clauses.
        unit: of its times, where they have one that a column or the user states; "" where the format fixes them.
        models, engines: (where, name) of the models and engines that it says it was measured on.
    """

    name: str
    format: str
    runs: Sequence[Run] = ()
    points: Sequence[StepPoint] = ()
    pools: Sequence[Pool] = ()
    lengths: Sequence[Lengths] = ()
    chunk_tokens: int | None = None
    tokens_per_s: Fraction | None = None
    facts: Sequence[tuple[str, str]] = ()
    flags: Sequence[str] = ()
    missing: Sequence[str] = ()
    unit: str = ""
    models: Sequence[tuple[str, str]] = ()
    engines: Sequence[tuple[str, str]] = ()


def rounded(number: Fraction) -> int:
    """The nearest integer, halves up."""
    return int((2 * number.numerator + number.denominator) // (2 * number.denominator))


def ceiling(number: Fraction) -> int:
    """The smallest integer that is not below."""
    return -(-number.numerator // number.denominator)
