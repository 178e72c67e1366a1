"""Request classes of a measured run, by length: their means rounded up, so that no total shrinks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from sweep.calibrate.measured import Lengths, ceiling


@dataclass(frozen=True)
class LengthClass:
    """Requests of like length.

    Attributes:
        class_id: `measured`, or `measured-1`, … from the shortest on.
        requests: how many; None where the files have rates only.
        prompt_tokens, output_tokens: their means, rounded up.
        arrival_millirps: in 1/1000 requests/s, rounded up; None where the client waited for answers.
    """

    class_id: str
    requests: int | None
    prompt_tokens: int
    output_tokens: int
    arrival_millirps: int | None

    def as_json(self) -> dict[str, Any]:
        """With stable keys."""
        return {
            "class_id": self.class_id,
            "requests": self.requests,
            "prompt_tokens": self.prompt_tokens,
            "output_tokens": self.output_tokens,
            "arrival_millirps": self.arrival_millirps,
        }


def length_classes(samples: Sequence[Lengths], count: int) -> tuple[tuple[LengthClass, ...], list[str]]:
    """The classes of all requests, and what could not be learnt.

    Args:
        samples: what the files say of lengths.
        count: how many classes, at least 1; requests are sorted by prompt + output tokens and cut into parts of equal
            number, the first parts one longer where they do not divide.
    """
    if not samples:
        return (), []
    millirps = samples[0].millirps if len(samples) == 1 else None
    pairs = sorted((pair for one in samples for pair in one.pairs or ()), key=lambda pair: (sum(pair), pair))
    if all(one.pairs for one in samples) and pairs:
        parts = min(count, len(pairs))
        ends = [at * (len(pairs) // parts) + min(at, len(pairs) % parts) for at in range(parts + 1)]
        groups = [pairs[begin:end] for begin, end in pairwise(ends)]
        return tuple(_class(at, parts, group, len(pairs), millirps) for at, group in enumerate(groups, start=1)), []
    total = sum((one.requests for one in samples), Fraction(0))
    prompt, output = (
        sum((getattr(one, side) for one in samples), Fraction(0)) / total for side in ("prompt_tokens", "output_tokens")
    )
    requests = total.numerator if total.denominator == 1 else None
    missing = []
    if count > 1:
        missing.append(
            "classes by length: the files have means only, so there is one class; save the run with --save-detailed"
        )
    if ceiling(output) == 0:
        return (), missing
    return (LengthClass("measured", requests, max(ceiling(prompt), 1), ceiling(output), millirps),), missing


def _class(at: int, parts: int, group: Sequence[tuple[int, int]], total: int, millirps: int | None) -> LengthClass:
    prompt, output = (ceiling(Fraction(sum(pair[side] for pair in group), len(group))) for side in (0, 1))
    own = None if millirps is None else ceiling(Fraction(millirps * len(group), total))
    return LengthClass("measured" if parts == 1 else f"measured-{at}", len(group), max(prompt, 1), max(output, 1), own)
