"""Texts with units and exact decimals to whole numbers of a field's own unit, and numbers to readable text.

Everything is an integer or an exact ratio; nothing passes through a binary float. Input is hostile until
proven small: a number is measured (digits, exponent) before it is expanded, so `1e999999999` costs nothing.
"""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction

MAX_DIGITS = 60
"""Longest number, in digits, and largest exponent that is read; every bound of the product has at most 19."""

_BYTES = {"B": 1} | {
    f"{prefix}B": base**power
    for base, prefixes in ((1_000, ("k", "M", "G", "T")), (1_024, ("Ki", "Mi", "Gi", "Ti")))
    for power, prefix in enumerate(prefixes, start=1)
}
_TIME_NS = {
    "ns": 1,
    "us": 10**3,
    "ms": 10**6,
    "s": 10**9,
    "min": 60 * 10**9,
    "h": 3_600 * 10**9,
}
_SPELLINGS = {"\N{MICRO SIGN}s": "us", "\N{GREEK SMALL LETTER MU}s": "us"}
_SHARE_PERMILLE = {"%": 10, "‰": 1}

SUFFIXES: Mapping[str, Mapping[str, Fraction]] = {
    "byte": {suffix: Fraction(size) for suffix, size in _BYTES.items()},
    "ms": {suffix: Fraction(ns, 10**6) for suffix, ns in _TIME_NS.items()},
    "ns": {suffix: Fraction(ns) for suffix, ns in _TIME_NS.items()},
    "permille": {suffix: Fraction(share) for suffix, share in _SHARE_PERMILLE.items()},
}
"""Unit of a field -> suffix -> how many of that unit one of the suffix is, exactly."""

UNIT_WORDS: Mapping[str, str] = {"byte": "bytes", "ms": "ms", "ns": "ns", "permille": "‰"}
"""How a message calls a unit; a unit that is not here (tokens, sequences) is its own word."""

_NUMBER_AND_UNIT = re.compile(r"([+-]?)([0-9][0-9_]*)(?:\.([0-9]+))? *([^0-9 _.+-][^ ]*)?")


class UnitError(ValueError):
    """A value is no whole number of the unit; the message is what to do about it, without a full stop."""


@dataclass(frozen=True)
class Unreadable:
    """A decimal of the file that is too long, or whose exponent is too large, to be expanded."""

    text: str


def parse_decimal(text: str) -> Decimal | Unreadable:
    """The exact decimal of a TOML float (tomllib's `parse_float`); `Unreadable` where it is too large."""
    exponent = re.search(r"[eE]([+-]?[0-9_]+)$", text)
    if len(text) > 2 * MAX_DIGITS or (exponent and len(exponent[1]) > 4):
        return Unreadable(text)
    try:
        number = Decimal(text)
    except InvalidOperation:  # not reached for TOML floats; kept for callers with other texts
        return Unreadable(text)
    if number.is_finite() and not -MAX_DIGITS <= number.adjusted() <= MAX_DIGITS:
        return Unreadable(text)
    return number


def grouped(number: int) -> str:
    """An integer in groups of three digits, `86 400 000`; one of more than 60 digits by its size alone."""
    if number.bit_length() > 3 * MAX_DIGITS:  # Python refuses str() above 4300 digits
        return f"an integer of {number.bit_length()} bits"
    return f"{number:,}".replace(",", " ")


def printable(text: str, longest: int = 80) -> str:
    """A text fit for one line of a message: control characters escaped, the middle of a long one cut out."""
    if len(text) > longest:
        text = f"{text[: longest - 20]} … {text[-15:]}"
    return "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in text)


def odd_character(text: str) -> str | None:
    """The first character of a text that is no printable one, by number and name; None where all are.

    Spaces of any kind count as printable.
    """
    char = next((char for char in text if not char.isprintable() and unicodedata.category(char) != "Zs"), None)
    if char is None:
        return None
    name = unicodedata.name(char, "")
    return f"U+{ord(char):04X}" + (f" ({name})" if name else "")


def shown(value: object) -> str:
    """A value of a parsed document as a message shows it, always short."""
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return grouped(value)
        case str():
            return f'"{printable(value)}"'
        case Unreadable():
            return printable(value.text)
        case Mapping():
            return "a table"
        case list() | tuple():
            return "an empty list" if not value else f"a list of {grouped(len(value))}"
        case _:
            return printable(str(value))


_DECIMAL = re.compile(r"[+-]?[0-9]{1,60}(?:\.[0-9]{1,60})?")


def exact_decimal(value: object) -> Fraction | None:
    """An integer, an exact decimal or a text of one as an exact number; None for anything else.

    >>> exact_decimal("0.004"), exact_decimal(True), exact_decimal("1/3")
    (Fraction(1, 250), None, None)
    """
    match value:
        case bool():
            return None
        case int() | Fraction():
            return Fraction(value)
        case Decimal() if value.is_finite() and abs(value.adjusted()) <= MAX_DIGITS:  # so that it can be expanded
            return Fraction(value)
        case str() if _DECIMAL.fullmatch(value):
            return Fraction(value)
        case _:
            return None


def decimal_text(number: Fraction) -> str:
    """An exact decimal without trailing zeros, for a number whose denominator has no primes but 2 and 5.

    >>> decimal_text(Fraction(1, 250)), decimal_text(Fraction(-3)), decimal_text(Fraction(5, 2))
    ('0.004', '-3', '2.5')
    """
    places = 0
    while (number * 10**places).denominator != 1:
        places += 1
        if places > 4 * MAX_DIGITS:  # 2^-200 has 200 places; a third has no end
            raise ValueError(f"{number.numerator}/{number.denominator} is no decimal")
    sign, digits = "-" if number < 0 else "", str(abs(number.numerator) * 10**places // number.denominator)
    digits = digits.rjust(places + 1, "0")
    return f"{sign}{digits[: len(digits) - places]}.{digits[len(digits) - places :]}" if places else sign + digits


def from_text(text: str, unit: str) -> int:
    """The whole number of `unit` that a text such as `80 GB`, `1.5 ms` or `60 %` says.

    Args:
        text: a decimal number and one of the unit's suffixes; a space between them is optional.
        unit: `byte`, `ms`, `ns` or `permille`.

    Raises:
        UnitError: no suffix, a suffix of another unit, or no whole number of `unit`.

    >>> from_text("80 GB", "byte"), from_text("1.5 s", "ms"), from_text("60 %", "permille")
    (80000000000, 1500, 600)
    """
    suffixes = SUFFIXES.get(unit)
    if suffixes is None:
        raise UnitError("write a plain integer, this field has no unit")
    word = UNIT_WORDS[unit]
    match = _NUMBER_AND_UNIT.fullmatch(text.strip(" ")) if len(text) <= 2 * MAX_DIGITS else None
    if match is None:
        raise UnitError(f"write an integer, or a number with one of {' '.join(suffixes)}")
    sign, integer, fraction, suffix = match.groups(default="")
    suffix = _SPELLINGS.get(suffix, suffix)
    if suffix not in suffixes:
        raise UnitError(f"write one of {' '.join(suffixes)} after the number, or an integer of {word} without quotes")
    digits = integer.replace("_", "") + fraction
    amount = Fraction(int(digits), 10 ** len(fraction)) * suffixes[suffix]
    if amount.denominator != 1:
        raise UnitError(f"it is no whole number of {word}, round it to one")
    return -amount.numerator if sign == "-" else amount.numerator


def whole(value: object, unit: str) -> int:
    """A value of the document as a whole number of a field's unit: an integer as it is, a text by its suffix.

    Raises:
        UnitError: any other type (a bool and a decimal too), or a text that is no whole number of the unit.
    """
    if isinstance(value, bool):
        raise UnitError("write an integer, not true or false")
    if isinstance(value, int):
        return value
    if isinstance(value, str):
        return from_text(value, unit)
    if isinstance(value, Decimal | Unreadable):
        raise UnitError("write an integer" + (", or the number with a unit in quotes" if unit in SUFFIXES else ""))
    raise UnitError("write an integer")


def millirps_of_rps(value: object) -> int:
    """Requests per second, an integer or an exact decimal, as whole 1/1000 requests per second.

    Raises:
        UnitError: another type, or finer than 1/1000 request per second.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return value * 1_000
    if not isinstance(value, Decimal) or not value.is_finite():
        raise UnitError("write an integer or a decimal of requests per second, without quotes")
    scaled = Fraction(value) * 1_000  # the exponent was bounded by parse_decimal
    if scaled.denominator != 1:
        raise UnitError("it is no whole number of 1/1000 requests per second, round it to three decimals")
    return scaled.numerator
