"""Numbers, names and units as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sweep.grid.paths import ALIASES, TRAFFIC
from sweep.units import grouped

_SHORT_NAMES = {name: alias for alias, name in ALIASES.items()}
_EXACT_BELOW = 10**6


def safe(text: str) -> str:
    """A text from a file, fit for a terminal: what is not printable is escaped."""
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)


def label(value: int | str) -> str:
    """The value of an axis: an integer in groups, a choice by its name."""
    return safe(value) if isinstance(value, str) else grouped(value)


def signed(number: int) -> str:
    """An integer in groups with its sign."""
    return f"+{grouped(number)}" if number > 0 else grouped(number)


def short_name(axis: str) -> str:
    """The alias of a standing axis (share, chunk, slots, traffic), any other axis' own name."""
    return _SHORT_NAMES.get(axis, safe(axis))


def coordinates(point: Mapping[str, int | str]) -> str:
    """An operating point as `axis = value, …`, the traffic first: it is what the order looks at first."""
    names = [name for name in point if name == TRAFFIC] + [name for name in point if name != TRAFFIC]
    return ", ".join(f"{safe(name)} = {label(point[name])}" for name in names)


def listed(names: Sequence[str], most: int = 12) -> str:
    """Names in a row, the rest of a long list by its number."""
    text = ", ".join(names[:most])
    return text if len(names) <= most else f"{text}, … ({grouped(len(names))} in all)"


def counted(number: int, word: str, plural: str = "") -> str:
    """`1 cell`, `2 cells`."""
    return f"{grouped(number)} {word if number == 1 else plural or word + 's'}"


def permille_as_factor(permille: int) -> str:
    """A traffic scale as a factor, exactly: 1250 is `1.25`."""
    whole, rest = divmod(permille, 1_000)
    return f"{grouped(whole)}.{rest:03}".rstrip("0").rstrip(".")


def rate(millirps: int) -> str:
    """Requests per second, exactly: 8032 is `8.032`."""
    return permille_as_factor(millirps)


def bytes_text(number: int) -> str:
    """A number of bytes, and from 1 kB on also in a larger unit, rounded up."""
    exact = counted(number, "byte")
    for power, unit in ((12, "TB"), (9, "GB"), (6, "MB"), (3, "kB")):
        if number >= 10**power:
            tenths = -(-number * 10 // 10**power)
            return f"{exact} ({grouped(tenths // 10)}.{tenths % 10} {unit})"
    return exact


def short_count(number: int) -> str:
    """A count that may be a little off: in groups below a million, else in whole millions, `747 M`."""
    return grouped(number) if number < 10**6 else f"{grouped(number // 10**6)} M"


def magnitude(number: int) -> str:
    """A bound as a short text: exact below 10^6, else two digits and a power of ten, rounded away from 0."""
    if abs(number) < _EXACT_BELOW:
        return grouped(number)
    power = len(str(abs(number))) - 1
    tenths = -(-abs(number) // 10 ** (power - 1))
    if tenths == 100:
        power, tenths = power + 1, 10
    return f"{'-' if number < 0 else ''}{tenths // 10}.{tenths % 10}·10^{power}"


def sentence(text: str) -> str:
    """A clause as a sentence."""
    return f"{text[:1].upper()}{text[1:]}."
