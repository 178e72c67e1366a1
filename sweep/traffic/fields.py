"""One field of one row, as text or JSON value, exactly: what the columns of `columns` are held to.

A number is measured before it is expanded, so `1e999999999` costs nothing.
"""

import re
from datetime import date, time
from decimal import Decimal
from fractions import Fraction
from typing import Final

from sweep.traffic.formats import UNITS
from sweep.traffic.lines import LineFault
from sweep.traffic.rows import MAX_TIME_NS, MAX_TOKENS
from sweep.units import MAX_DIGITS, grouped, parse_decimal, shown

EPOCH_DAY: Final = date(1970, 1, 1).toordinal()
YEARS: Final = (1970, 2261)
"""First and last year of a wall-clock time: whole years of int64 nanoseconds."""

DAY_NS: Final = 86_400 * 10**9

_WHOLE = re.compile(r"[0-9]+")
_DECIMAL = re.compile(r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_CLOCK = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[ T]([0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.([0-9]{1,9}))?(Z|[+-][0-9]{2}:[0-9]{2})?"
)
_FINER = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9:]{8}\.[0-9]{10,}(?:Z|[+-][0-9:]{5})?")
_WANTED_TOKENS = f"a whole number of tokens from 0 to {grouped(MAX_TOKENS)}"


def tokens(value: object, name: str) -> int:
    """A length in tokens, from a text of digits or a JSON integer.

    Raises:
        LineFault: anything else, or out of bounds.
    """
    if isinstance(value, str):
        text = value.strip(" \t")
        number = int(text) if len(text) <= MAX_DIGITS and _WHOLE.fullmatch(text) else None
    else:
        number = value if type(value) is int else None
    if number is None or not 0 <= number <= MAX_TOKENS:
        raise LineFault(f"{name}: got {shown(value)}, wanted {_WANTED_TOKENS}; correct or remove the row")
    return number


def time_ns(value: object, name: str, unit: str) -> tuple[int, bool]:
    """A time as whole ns, and whether it was finer and cut.

    Args:
        value: a text with a decimal number, or a JSON number.
        name: of the field.
        unit: a key of `UNITS`.

    Raises:
        LineFault: no number of at least 0, or one beyond int64 ns.
    """
    number = _decimal(value)
    if number is None:
        wanted = f"a number of {unit} from 0 on"
        raise LineFault(f"{name}: got {shown(value)}, wanted {wanted}; correct or remove the row")
    exact = Fraction(number) * 10 ** UNITS[unit]
    if exact >= MAX_TIME_NS + 1:
        wanted = f"at most {grouped(MAX_TIME_NS // 10 ** UNITS[unit])} {unit}"
        raise LineFault(f"{name}: got {shown(value)}, wanted {wanted}; check the unit of the times")
    return exact.numerator // exact.denominator, exact.denominator != 1


def _decimal(value: object) -> Decimal | None:
    """A number ≥ 0 of at most 60 digits before and behind its point; None where it is none."""
    if isinstance(value, str):
        text = value.strip(" \t")
        value = parse_decimal(text) if len(text) <= 2 * MAX_DIGITS and _DECIMAL.fullmatch(text) else None
    elif type(value) is int:
        value = Decimal(value) if value.bit_length() < 3 * MAX_DIGITS else None
    if not isinstance(value, Decimal) or not value.is_finite() or value.is_signed():  # `Unreadable` is no `Decimal`
        return None
    return value


def clock_ns(value: str, name: str) -> tuple[int, bool]:
    """A wall-clock text as ns from 1970, in UTC where it has an offset; and whether it has one.

    Raises:
        LineFault: no `2023-11-16 18:17:03`, with up to 9 more digits and an offset; or no such time.
    """
    match = _CLOCK.fullmatch(value.strip(" \t"))
    wanted = "a time such as 2023-11-16 18:17:03.9799600"
    fault = LineFault(f"{name}: got {shown(value)}, wanted {wanted}; correct or remove the row")
    if match is None:
        if _FINER.fullmatch(value.strip(" \t")):
            raise LineFault(f"{name}: got {shown(value)}, and at most 9 decimals of a second are read; cut the others")
        raise fault
    day_text, clock_text, fraction, zone = match.groups(default="")
    try:
        day, clock = date.fromisoformat(day_text), time.fromisoformat(clock_text)
        offset_s = _offset_s(zone)
    except ValueError:
        raise fault from None
    if not YEARS[0] <= day.year <= YEARS[1]:
        raise LineFault(f"{name}: got {shown(value)}, wanted a year from {YEARS[0]} to {YEARS[1]}; correct the row")
    seconds = (clock.hour * 60 + clock.minute) * 60 + clock.second - offset_s
    total = (day.toordinal() - EPOCH_DAY) * DAY_NS + seconds * 10**9 + int(fraction.ljust(9, "0"))
    if total < 0:
        raise fault  # 1970-01-01 with an offset east of Greenwich
    return total, bool(zone)


def _offset_s(zone: str) -> int:
    if zone in ("", "Z"):
        return 0
    clock = time.fromisoformat(zone[1:])
    seconds = (clock.hour * 60 + clock.minute) * 60
    return -seconds if zone[0] == "-" else seconds
