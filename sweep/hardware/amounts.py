"""Amounts with where they came from, and how exactly they are known."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from sweep.hardware.checks import ceil_of, floor_of
from sweep.units import SUFFIXES, UnitError, whole

_PRINTED = re.compile(r"([0-9]{1,20})(?:\.([0-9]{1,20}))? *([A-Za-z]{1,4})")


@dataclass(frozen=True)
class Amount:
    """A number of bytes or tokens.

    Attributes:
        value: the number.
        source: where it came from, for a ledger.
        low: the least that it can be; equal to `value` unless it was rounded for print.
        high: the most that it can be.
    """

    value: int
    source: str
    low: int
    high: int

    @property
    def rounded(self) -> bool:
        """Whether it was printed with fewer digits than it has."""
        return self.low != self.high


def exactly(value: int, source: str) -> Amount:
    """An amount that is known to the last byte."""
    return Amount(value, source, value, value)


def amount_of(text: str, source: str) -> Amount:
    """The bytes that a text says.

    Args:
        text: an integer, a number with a unit (`80 GB`, `2 GiB`), or one that a log has rounded, with a tilde before
            it: `~3.81 GiB` is what prints as 3.81 GiB, anything within half of its last digit.
        source: where it came from.

    Raises:
        UnitError: none of these, or no whole number of bytes without a tilde; the message is what to do.

    >>> amount_of("2 GiB", "--overhead").value
    2147483648
    >>> amount_of("~3.81 GiB", "--pool")
    Amount(value=4090956349, source='--pool', low=4085587641, high=4096325058)
    """
    plain = text.strip()
    if plain.startswith("~"):
        return _printed(plain[1:].strip(), source)
    if re.fullmatch(r"[0-9][0-9_]{0,60}", plain):
        return exactly(int(plain.replace("_", "")), source)
    if plain.startswith("-"):
        raise UnitError("an amount of memory is not negative; write it without a sign")
    try:
        return exactly(whole(plain, "byte"), source)
    except UnitError as error:
        if _PRINTED.fullmatch(plain) and "no whole number" in str(error):
            raise UnitError(f"it is no whole number of bytes; where a log has rounded it write ~{plain}") from None
        raise


def _printed(text: str, source: str) -> Amount:
    """A figure of a log: exact bounds of what prints as it, and the whole bytes of the figure itself."""
    match = _PRINTED.fullmatch(text)
    if match is None or match[3] not in SUFFIXES["byte"]:
        raise UnitError(f"write a number with one of {' '.join(SUFFIXES['byte'])} after ~, such as ~3.81 GiB")
    unit, digits = SUFFIXES["byte"][match[3]], match[2] or ""
    last = 10 ** len(digits)
    number = Fraction(int(match[1] + digits), last)
    half = Fraction(1, 2 * last)
    low = ceil_of(max(Fraction(0), number - half) * unit)
    return Amount(floor_of(number * unit), source, low, max(low, floor_of((number + half) * unit)))


def values(amounts: Sequence[Amount]) -> tuple[int, ...]:
    """The numbers alone."""
    return tuple(amount.value for amount in amounts)
