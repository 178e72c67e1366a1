"""Single numbers of a measured file: exact, of at least 0, within bounds; every fault of an object at once."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Final

from sweep.calibrate.documents import value_at
from sweep.errors import InputFault
from sweep.units import exact_decimal, grouped, shown

MOST_FAULTS: Final = 20
"""Faults of one file that are described; the others are counted."""

MOST: Final = 10**15
"""The largest number that is read: a million seconds in ns; no count or time of a load test reaches it."""

NS: Final[Mapping[str, int]] = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}
"""Unit of time -> how many ns it is."""


class Faults:
    """Collects the faults of one file."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._sentences: list[str] = []
        self._more = 0

    def add(self, place: str, what: str) -> None:
        """One fault; `what` is a clause without its full stop."""
        sentence = f"{self.name}: {place}: {what}." if place else f"{self.name}: {what}."
        if sentence in self._sentences:
            return
        if len(self._sentences) < MOST_FAULTS:
            self._sentences.append(sentence)
        else:
            self._more += 1

    def __len__(self) -> int:
        return len(self._sentences) + self._more

    def raise_if_any(self) -> None:
        """Raises all faults together.

        Raises:
            InputFault: where there are any.
        """
        if self._more:
            more = f"{self.name}: and {grouped(self._more)} more faults; repair these first."
            raise InputFault([*self._sentences, more])
        if self._sentences:
            raise InputFault(self._sentences)


class Fields:
    """The numbers of one object, by their dotted paths.

    Each method gives None where the number is missing and need not be there, and where it is faulty: then the fault is
    noted, and `Faults.raise_if_any` comes before anything is computed.
    """

    def __init__(self, raw: Mapping[str, object], faults: Faults, place: str = "") -> None:
        self.raw, self.faults, self.place = raw, faults, place

    def count(self, path: str, *, required: bool = False, least: int = 0) -> int | None:
        """A whole number; a decimal such as `12.0` is one."""
        number = self._number(path, f"a whole number from {grouped(least)} to {grouped(MOST)}", required)
        if number is None:
            return None
        if number.denominator != 1 or number < least:
            wanted = f"a whole number from {grouped(least)} to {grouped(MOST)}"
            self._refuse(path, wanted)
            return None
        return number.numerator

    def amount(self, path: str, unit: str = "", *, required: bool = False) -> Fraction | None:
        """A number of at least 0, exactly; of a unit of time in ns."""
        of = f" of {unit}" if unit else ""
        number = self._number(path, f"a number{of} from 0 to {grouped(MOST)}", required)
        return None if number is None else number * NS.get(unit, 1)

    def refuse(self, path: str, what: str) -> None:
        """Note another fault of a field."""
        self.faults.add(self._place(path), what)

    def _number(self, path: str, wanted: str, required: bool) -> Fraction | None:
        value = value_at(self.raw, path.split("."))
        if value is None:
            if required:
                self.refuse(path, f"missing, wanted {wanted}; give the file as it was saved")
            return None
        number = exact_decimal(value) if isinstance(value, int | Decimal) else None
        if number is None or not 0 <= number <= MOST:
            self._refuse(path, wanted)
            return None
        return number

    def _refuse(self, path: str, wanted: str) -> None:
        value = value_at(self.raw, path.split("."))
        self.refuse(path, f"got {shown(value)}, wanted {wanted}; correct it, or measure again")

    def _place(self, path: str) -> str:
        return f"{self.place}: {path}" if self.place else path
