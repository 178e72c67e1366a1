"""Numbers that a caller gives, exactly."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction

from sweep.errors import RecordFault
from sweep.units import exact_decimal, shown

Number = int | Fraction | Decimal | float | str
"""A float is taken as the decimal that it prints as: what was typed, not the binary number next to it."""


def exactly(value: object) -> Fraction | None:
    """A number as an exact ratio; None for anything else, NaN and infinities among it."""
    return exact_decimal(Decimal(repr(value)) if isinstance(value, float) else value)


def exact_numbers(given: Mapping[str, object], least: int = 0) -> dict[str, Fraction]:
    """Numbers by their names, exactly.

    Raises:
        RecordFault: one is no finite number, or below the least; every fault at once.
    """
    found = {name: exactly(value) for name, value in given.items()}
    faults = [
        f"{name}: got {shown(given[name])}, wanted a finite number from {least} on; give one."
        for name, number in found.items()
        if number is None or number < least
    ]
    if faults:
        raise RecordFault(faults)
    return {name: number for name, number in found.items() if number is not None}
