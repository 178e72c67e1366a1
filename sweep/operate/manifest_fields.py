"""The fields of a JSON object that somebody else wrote: strict, exact, and every fault at once."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, Final

from sweep.errors import InputFault
from sweep.grid.faults import near
from sweep.units import exact_decimal, grouped, printable, shown

MOST_FAULTS: Final = 20
"""Faults of one file that are described; the others are counted."""

SHA256: Final = re.compile(r"[0-9a-f]{64}")

Wanted = tuple[Callable[[str], bool], str]
"""Whether a text will do, and how a message says what is wanted."""

HEX: Final[Wanted] = (lambda text: SHA256.fullmatch(text) is not None, "64 lowercase hex digits")


class Strict:
    """The fields of one object; each is asked for by its name, and what nobody asked for is a fault.

    Every method gives a stand-in after a fault; `raise_if_any` comes before anything is built from them.

    Attributes:
        raw: the object; decimals are exact (`sweep.hardware.document.parse_object`).
        faults: the sentences so far, shared with the objects inside.
    """

    def __init__(self, raw: Mapping[str, Any], where: str, faults: list[str] | None = None, place: str = "") -> None:
        self.raw, self.where, self.place = raw, where, place
        self.faults = [] if faults is None else faults
        self._known: list[str] = []

    def integer(self, key: str, bounds: tuple[int, int], optional: bool = False) -> int | None:
        """A whole number within inclusive bounds; None where it is missing or null and may be."""
        value, lower, upper = self._value(key), *bounds
        wanted = f"a whole number from {grouped(lower)} to {grouped(upper)}"
        if value is None:
            self._absent(key, wanted, optional)
            return None
        if type(value) is not int or not lower <= value <= upper:
            self._refuse(key, value, wanted)
            return None
        return value

    def number(self, key: str, bounds: tuple[int, int | None], optional: bool = False) -> Fraction | None:
        """An exact decimal within inclusive bounds, as a JSON number; None where it is missing and may be."""
        value, lower, upper = self._value(key), *bounds
        wanted = f"a number from {grouped(lower)}" + (" on" if upper is None else f" to {grouped(upper)}")
        if value is None:
            self._absent(key, wanted, optional)
            return None
        number = None if isinstance(value, str) else exact_decimal(value)
        if number is None or number < lower or (upper is not None and number > upper):
            self._refuse(key, value, wanted)
            return None
        return number

    def text(self, key: str, wanted: Wanted, optional: bool = False) -> str | None:
        """A text that a rule accepts; None where it is missing and may be."""
        value = self._value(key)
        if value is None:
            self._absent(key, wanted[1], optional)
            return None
        if not isinstance(value, str) or not wanted[0](value):
            self._refuse(key, value, wanted[1])
            return None
        return value

    def decimal(self, key: str) -> Fraction | None:
        """An exact decimal of at least 0, as the text that keeps it exact in any reader."""
        value = self._value(key)
        number = exact_decimal(value) if isinstance(value, str) else None
        if number is None or number < 0:
            self._refuse(key, value, "a decimal from 0 on as a text")
            return None
        return number

    def allow(self, key: str) -> None:
        """A key that somebody else reads."""
        self._known.append(key)

    def table(self, key: str, optional: bool = False) -> Strict | None:
        """An object inside, with the same list of faults; None where it is missing and may be, and after a fault."""
        value = self._value(key)
        if value is None:
            self._absent(key, "an object", optional)
            return None
        if not isinstance(value, Mapping):
            self._refuse(key, value, "an object")
            return None
        return Strict(value, self.where, self.faults, self._at(key))

    def tables(self, key: str, most: int) -> list[Strict]:
        """The objects of a list of at least one and at most so many."""
        value = self._value(key)
        wanted = f"a list of 1 to {grouped(most)} objects"
        if value is None:
            self._absent(key, wanted)
            return []
        if not isinstance(value, list) or not 1 <= len(value) <= most or not all(isinstance(v, Mapping) for v in value):
            self._refuse(key, value, wanted)
            return []
        return [Strict(v, self.where, self.faults, self._at(f"{key}[{at}]")) for at, v in enumerate(value)]

    def fault(self, key: str, what: str) -> None:
        """Another fault of a field; `what` is a clause without its full stop."""
        self._add(f"{self.where}: {printable(self._at(key), 160)}: {what}.")

    def done(self) -> None:
        """Every key that nobody asked for is a fault, with the nearest known one."""
        for key in self.raw:
            if key not in self._known:
                close = near(key, self._known)
                hint = f", the nearest known one is {close}" if close else ""
                self.fault(key, f"unknown key{hint}; correct or remove it")

    def raise_if_any(self) -> None:
        """Raises all faults together.

        Raises:
            InputFault: there is one.
        """
        if len(self.faults) > MOST_FAULTS:
            more = len(self.faults) - MOST_FAULTS
            raise InputFault(
                [*self.faults[:MOST_FAULTS], f"{self.where}: and {grouped(more)} more faults; repair these first."]
            )
        if self.faults:
            raise InputFault(self.faults)

    def _value(self, key: str) -> Any:
        self._known.append(key)
        return self.raw.get(key)

    def _absent(self, key: str, wanted: str, optional: bool = False) -> None:
        if not optional:
            self.fault(key, f"missing, wanted {wanted}; give it")

    def _refuse(self, key: str, value: object, wanted: str) -> None:
        self.fault(key, f"got {shown(value)}, wanted {wanted}; correct it")

    def _at(self, key: str) -> str:
        return f"{self.place}.{key}" if self.place else key

    def _add(self, sentence: str) -> None:
        if sentence not in self.faults:
            self.faults.append(sentence)
