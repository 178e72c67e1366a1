"""Which of several quantized forms of a model to serve: the smallest whose *measured* loss of quality is tolerated."""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Final

from sweep.errors import RecordFault
from sweep.units import exact_decimal, shown

Number = int | Fraction | Decimal | float | str
"""A float is taken as the decimal that it prints as: what was typed, not the binary number next to it."""

REJECT_ALL: Final = "reject_all"
"""The answer where no candidate has a measured delta within the tolerance."""


def decide_quantization(
    candidates: Iterable[Sequence[str | Number | None]], max_tolerated_quality_delta: Number
) -> str:
    """The name of the candidate to serve, or `"reject_all"`.

    Of the candidates whose measured quality delta is at most the tolerance (inclusive) the one with the smallest
    memory; of several such with equal memory the first. A candidate whose delta is None was not measured and is never
    chosen.
    Everything is compared exactly (`models.md`, "Tune").

    Args:
        candidates: (name, memory in any one unit, ≥ 0, measured loss of quality or None); negative deltas are gains.
        max_tolerated_quality_delta: the largest loss of quality, in the unit of the deltas.

    Raises:
        RecordFault: a candidate of another form, two of one name, or one called `reject_all`; every fault at once.

    >>> decide_quantization([("fp16", 16, 0), ("int8", 8.5, 0.004), ("int4", 4.7, None)], 0.004)
    'int8'
    """
    faults: list[str] = []
    tolerance = _exact(max_tolerated_quality_delta)
    if tolerance is None:
        faults.append(
            f"max_tolerated_quality_delta: got {shown(max_tolerated_quality_delta)}, wanted a finite number; give one."
        )
    found: list[tuple[Fraction, str]] = []
    names: set[str] = set()
    for at, candidate in enumerate(candidates, start=1):
        fault = _fault(candidate, names)
        if fault:
            faults.append(f"candidate {at}: {fault}.")
            continue
        name, memory, delta = str(candidate[0]), _exact(candidate[1]), _exact(candidate[2])
        names.add(name)
        if tolerance is not None and memory is not None and delta is not None and delta <= tolerance:
            found.append((memory, name))
    if faults:
        raise RecordFault(faults)
    return min(found, key=lambda one: one[0])[1] if found else REJECT_ALL  # min keeps the first of equals


def _fault(candidate: Sequence[object], names: set[str]) -> str:
    """What is wrong with a candidate, "" where nothing is."""
    if not isinstance(candidate, list | tuple) or len(candidate) != 3:
        return f"got {shown(candidate)}, wanted name, memory and quality delta; write (name, memory, delta)"
    name, memory, delta = candidate
    if not isinstance(name, str) or name in ("", REJECT_ALL):
        return f"got the name {shown(name)}, wanted a text of its own; rename it"
    if name in names:
        return f"got the name {shown(name)} again, wanted distinct names; rename one"
    number = _exact(memory)
    if number is None or number < 0:
        return f"{shown(name)} has the memory {shown(memory)}, wanted a number from 0 on; correct it"
    if delta is not None and _exact(delta) is None:
        return f"{shown(name)} has the quality delta {shown(delta)}, wanted a finite number, or None; correct it"
    return ""


def _exact(value: object) -> Fraction | None:
    if isinstance(value, float):
        return exact_decimal(Decimal(repr(value)))  # NaN and infinity are no decimals
    return exact_decimal(value)
