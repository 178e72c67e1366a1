"""Whole columns of fields at once, from the bytes of a block: as exact as `fields`, about ten times as fast.

Each function gives None where any field is not of the plainest form; then `fields` reads the block row by row, and
says what is wrong if anything is. A test holds the two to the same answers.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from sweep.traffic.fields import DAY_NS, EPOCH_DAY, YEARS
from sweep.traffic.rows import MAX_TIME_NS, BoolArray, ByteArray, IntArray

_ZERO, _DOT, _COLON, _DASH, _PLUS, _SPACE, _T, _Z = (np.uint8(ord(char)) for char in "0.:-+ TZ")
_MOST_DIGITS = 18
"""Below 10^18 < 2^63, so that no step of a column leaves int64."""

_SHORT_DIGITS = 9
"""Below 10^9 < 2^31: half the bytes to move."""

_MOST_FORMS = 16
"""Distinct forms of times in a block; a file with more is read row by row."""


def whole_numbers(data: ByteArray, start: IntArray, end: IntArray, most_digits: int = 8) -> IntArray | None:
    """Fields of digits as integers.

    Args:
        data: the block.
        start, end: where each field begins and where it has ended, shape (rows,).
        most_digits: of a field, at most 18.
    """
    length = end - start
    shortest, longest = int(length.min()), int(length.max())
    if shortest < 1 or longest > most_digits:
        return None
    value: npt.NDArray[Any] = np.zeros(len(start), np.int64 if longest > _SHORT_DIGITS else np.int32)
    at = end.copy()
    for place in range(longest):  # from the last digit; a negative index reads a byte that is masked out
        at -= 1
        digit = data[at]
        digit -= _ZERO  # other characters wrap to more than 9
        if place >= shortest:
            digit *= length > place
        if int(digit.max()) > 9:
            return None
        value += np.multiply(digit, 10**place, dtype=value.dtype)
    return value.astype(np.int64)


def decimals_ns(data: ByteArray, start: IntArray, end: IntArray, power: int) -> tuple[IntArray, int] | None:
    """Decimal numbers as whole ns, and how many were finer and cut.

    Args:
        data, start, end: as in `whole_numbers`.
        power: one unit is 10^power ns.
    """
    dots = np.flatnonzero(data == _DOT)
    dot = end  # where there is none
    if len(dots):
        dot = np.minimum(np.append(dots, len(data))[np.searchsorted(dots, start)], end)
    whole = whole_numbers(data, start, dot, _MOST_DIGITS)
    if whole is None or int(whole.max()) >= MAX_TIME_NS // 10**power:
        return None
    result, cut = whole * 10**power, 0
    places = end - dot - 1  # digits behind the point, -1 without a point
    for behind in np.unique(places[places >= 0]).tolist():
        rows = np.flatnonzero(places == behind)
        part = whole_numbers(data, dot[rows] + 1, end[rows], _MOST_DIGITS)
        if part is None:
            return None
        if behind <= power:
            result[rows] += part * 10 ** (power - behind)  # less than one unit: no time reaches 2^63
        else:
            kept = part // 10 ** (behind - power)
            cut += int(np.count_nonzero(part - kept * 10 ** (behind - power)))
            result[rows] += kept
    return result, cut


def clocks_ns(data: ByteArray, start: IntArray, end: IntArray) -> tuple[IntArray, bool] | None:
    """Wall-clock texts as ns from 1970 (UTC where they have an offset), and whether all have one; None if some do."""
    length = end - start
    result = np.empty(len(start), np.int64)
    offsets = set()
    forms = np.unique(length).tolist()
    if len(forms) > _MOST_FORMS or forms[0] < 19:
        return None
    for form in forms:
        rows = np.flatnonzero(length == form) if len(forms) > 1 else slice(None)
        read = _one_form(data, start[rows], form)
        if read is None:
            return None
        result[rows], offset = read
        offsets.add(offset)
    return (result, offsets.pop()) if len(offsets) == 1 else None


def _one_form(data: ByteArray, start: IntArray, length: int) -> tuple[IntArray, bool] | None:
    """Texts of one length, all with the same offset sign or none, which the first of them shows."""
    first = int(start[0])
    zone = 1 if data[first + length - 1] == _Z else 0
    if not zone and length >= 25 and data[first + length - 6] in (_PLUS, _DASH):
        zone = 6
    body = length - zone
    if body != 19 and not 21 <= body <= 29:
        return None
    marks = {4: _DASH, 7: _DASH, 13: _COLON, 16: _COLON} | ({19: _DOT} if body > 19 else {})
    if zone == 6:
        marks |= {body: data[first + body], body + 3: _COLON}
    elif zone:
        marks[body] = _Z
    between = data[start + 10]
    if not all(bool((data[start + at] == mark).all()) for at, mark in marks.items()):
        return None
    if not bool(((between == _SPACE) | (between == _T)).all()):
        return None
    spans = [(0, 4), (5, 7), (8, 10), (11, 13), (14, 16), (17, 19), (20, body)]
    parts = [whole_numbers(data, start + low, start + high, 9) for low, high in spans if high > low]
    if zone == 6:
        parts += [whole_numbers(data, start + body + at, start + body + at + 2) for at in (1, 4)]
    sound = [part for part in parts if part is not None]
    if len(sound) < len(parts):
        return None
    east = {_PLUS: 1, _DASH: -1}.get(data[first + body], 0) if zone == 6 else 0
    return _joined(sound, body - 20, east, zone > 0)


def _joined(parts: list[IntArray], places: int, east: int, zoned: bool) -> tuple[IntArray, bool] | None:
    """Year, month, day, hour, minute, second, fraction of `places` digits (if any) and offset (if any) as ns."""
    year, month, day, hour, minute, second = parts[:6]
    if not bool(((hour < 24) & (minute < 60) & (second < 60) & _real_days(year, month, day)).all()):
        return None
    seconds = (hour * 60 + minute) * 60 + second
    if east:
        if not bool(((parts[-2] < 24) & (parts[-1] < 60)).all()):
            return None
        seconds = seconds - east * (parts[-2] * 60 + parts[-1]) * 60
    result = _days(year, month, day) * DAY_NS + seconds * 10**9  # years to 2261: below 2^63
    if places > 0:
        result += parts[6] * 10 ** (9 - places)
    return None if int(result.min()) < 0 else (result, zoned)


def _real_days(year: IntArray, month: IntArray, day: IntArray) -> BoolArray:
    """Whether each date exists, in the years that are read."""
    leap = (year % 4 == 0) & ((year % 100 != 0) | (year % 400 == 0))
    lengths = np.array([0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])
    last = lengths[np.minimum(month, 12)] + (leap & (month == 2))
    years = (year >= YEARS[0]) & (year <= YEARS[1])
    real: BoolArray = years & (month >= 1) & (month <= 12) & (day >= 1) & (day <= last)
    return real


def _days(year: IntArray, month: IntArray, day: IntArray) -> IntArray:
    """Days from 1970-01-01. A year that begins in March has its leap day last; then 153 days are 5 months."""
    late = month <= 2
    march_year = year - late
    march_month = (month + 9) % 12
    days: IntArray = (
        365 * march_year
        + march_year // 4
        - march_year // 100
        + march_year // 400
        + (153 * march_month + 2) // 5
        + day
        - _MARCH_1
    )
    return days


# `toordinal` of 1 March of year 1 is 60 and the formula above gives 365 + 1 there; the rest moves zero to 1970
_MARCH_1 = 365 + 1 - 60 + EPOCH_DAY
