"""What a grid is drafted from: the memory of a replica, its traffic, its step time, its SLO, each with its sources."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from sweep.hardware.checks import ceil_of
from sweep.hardware.gpus import Gpu


@dataclass(frozen=True)
class Requests:
    """A request class, as far as the axes depend on it.

    Attributes:
        arrival_millirps: in 1/1000 requests per second.
        prompt_tokens, output_tokens: of a request.
    """

    arrival_millirps: int
    prompt_tokens: int
    output_tokens: int


@dataclass(frozen=True)
class Part:
    """A part of a grid as text.

    Attributes:
        lines: its tables, comments included; without a break at the end.
        says: what it is and where it came from, a clause.
        gaps: what of it is not the user's own, and what to give instead, clauses.
        notes: what a reader should know, sentences.
    """

    lines: Sequence[str]
    says: str
    gaps: Sequence[str] = ()
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Memory(Part):
    """The tables `[model]` and `[gpu]`.

    Attributes:
        name: of the model and the GPUs, for the name of the grid.
        kv_pool_bytes: of the replica.
        kv_bytes_per_token: of the replica.
        weight_bytes: of the model.
        gpus: of the replica.
        gpu: of the catalogue; None where only its memory is known.
        parameters: that one token passes; None where nobody says.
        parameters_from: where their number came from, a clause.
        fp8: whether the weights are in fp8.
        longest_tokens: the longest sequence that the model takes; None where nobody says.
    """

    name: str = ""
    kv_pool_bytes: int = 0
    kv_bytes_per_token: int = 1
    weight_bytes: int = 0
    gpus: int = 1
    gpu: Gpu | None = None
    parameters: int | None = None
    parameters_from: str = ""
    fp8: bool = False
    longest_tokens: int | None = None


@dataclass(frozen=True)
class Traffic(Part):
    """The `[[class]]` tables.

    Attributes:
        classes: of them all.
        longest_prompt_tokens, longest_output_tokens: of any request; None where only means are known.
    """

    classes: Sequence[Requests] = field(default_factory=tuple)
    longest_prompt_tokens: int | None = None
    longest_output_tokens: int | None = None

    @property
    def whole_tokens(self) -> int:
        """The longest request of a class, prompt and output."""
        return max(one.prompt_tokens + one.output_tokens for one in self.classes)

    @property
    def typical_tokens(self) -> int:
        """The mean length of a request, prompt and output, over the arrivals, rounded up."""
        arrivals = sum(one.arrival_millirps for one in self.classes)
        tokens = sum(one.arrival_millirps * (one.prompt_tokens + one.output_tokens) for one in self.classes)
        return ceil_of(Fraction(tokens, arrivals))


@dataclass(frozen=True)
class Steps(Part):
    """The table `[step_time]`.

    Attributes:
        base_ns, per_sequence_ns, per_prefill_token_ns: its coefficients.
        slots, chunk_tokens: the range in which they were measured; None where nobody measured.
        estimated: whether they come from data sheets alone.
        pool_tokens: tokens of the KV pool of the engine that was measured; None where no file says.
    """

    base_ns: int = 0
    per_sequence_ns: int = 0
    per_prefill_token_ns: int = 0
    slots: tuple[int, int] | None = None
    chunk_tokens: tuple[int, int] | None = None
    estimated: bool = False
    pool_tokens: int | None = None

    def step_ns(self, slots: int, chunk_tokens: int) -> int:
        """The time of a step."""
        return self.base_ns + self.per_sequence_ns * slots + self.per_prefill_token_ns * chunk_tokens


@dataclass(frozen=True)
class Slo:
    """The two bounds that people state.

    Attributes:
        ttft_ms, tpot_ms: time to first token, time per output token.
        ttft_from, tpot_from: where they came from.
    """

    ttft_ms: int
    tpot_ms: int
    ttft_from: str
    tpot_from: str
