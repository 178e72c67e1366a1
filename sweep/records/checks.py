"""Checks of single values; each gives its faults as sentences, so that a record reports all at once."""

import reprlib
from collections.abc import Iterable, Mapping

from sweep.errors import RecordFault
from sweep.records.bounds import IDENTITY, SCOPE_KEYS
from sweep.units import grouped


class InvalidPoint(RecordFault):
    """No records exist for this operating point: the model says nothing about it.

    Attributes:
        reason: the first applicable code of `INVALID_REASONS`.
    """

    def __init__(self, reason: str, faults: str | Iterable[str]) -> None:
        super().__init__(faults)
        self.reason = reason

    def __reduce__(self) -> tuple[type["InvalidPoint"], tuple[str, tuple[str, ...]]]:
        # Exceptions travel between processes by their constructor's arguments.
        return type(self), (self.reason, self.faults)


def shown(value: object) -> str:
    """A value as a message shows it: short, with its type where that is the fault.

    >>> shown(1000), shown("1000"), shown(True)
    ('1 000', "'1000' (a str)", 'True (a bool)')
    """
    if type(value) is int:
        return grouped(value)
    try:
        text = reprlib.repr(value)
    except ValueError:  # a container of integers too long to print
        text = "a value too long to print"
    return f"{text} (a {type(value).__name__})"


def integer_faults(where: str, value: object, bounds: tuple[int, int]) -> list[str]:
    """Faults of an integer field: exactly an `int` (no bool, no NumPy scalar), within inclusive bounds."""
    lower, upper = bounds
    wanted = f"an integer from {grouped(lower)} to {grouped(upper)}"
    if type(value) is not int:
        return [f"{where}: got {shown(value)}, want {wanted}; pass a plain Python int."]
    if not lower <= value <= upper:
        way = "raise" if value < lower else "lower"
        return [f"{where}: got {shown(value)}, want {wanted}; {way} it."]
    return []


def bounded_faults(where: str, record: object, bounds: Mapping[str, tuple[int, int]]) -> list[str]:
    """Faults of all integer fields of a record that `bounds` names, in its order."""
    return [
        fault
        for name, limits in bounds.items()
        for fault in integer_faults(f"{where}.{name}", getattr(record, name), limits)
    ]


def identity_faults(where: str, value: object) -> list[str]:
    """Faults of an identity: exactly a `str` that fully matches the identity rule."""
    if type(value) is str and IDENTITY.fullmatch(value):
        return []
    return [
        f"{where}: got {shown(value)}, want 1 to 128 characters of A-Z a-z 0-9 _ . : / @ - that begin with a "
        "letter or digit; rename it."
    ]


def scope_faults(where: str, scope: object) -> list[str]:
    """Faults of a scope: exactly a tuple of 8 distinct identities."""
    if type(scope) is not tuple or len(scope) != len(SCOPE_KEYS):
        came = f"a tuple of {len(scope)}" if type(scope) is tuple else shown(scope)
        keys = ", ".join(SCOPE_KEYS)
        return [f"{where}.scope: got {came}, want a tuple of {len(SCOPE_KEYS)} identities: {keys}."]
    faults = [
        fault
        for key, name in zip(SCOPE_KEYS, scope, strict=True)
        for fault in identity_faults(f"{where}.scope ({key})", name)
    ]
    if not faults and len(set(scope)) != len(scope):
        twice = sorted({name for name in scope if scope.count(name) > 1})
        faults.append(f"{where}.scope: got {', '.join(twice)} more than once; give 8 distinct identities.")
    return faults
