"""Scores of single items by the model as it is (base) and by a quantized candidate -> the measured loss of quality.

The delta is the mean over the items of base − candidate (of candidate − base where a lower score is better), exactly.
Its 95 % interval is the normal approximation for paired differences, delta ± 1.96·s/√n, where s² is the sample variance
of the differences with n − 1 in its denominator; the half width is computed with an integer square root and rounded up
to 10^-9, so the interval never comes out too narrow. It holds for many items (30 or more, say) drawn independently.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import isqrt
from pathlib import Path
from typing import Any, Final

from sweep.calibrate.documents import objects_of
from sweep.calibrate.fields import Faults
from sweep.calibrate.measured import ceiling
from sweep.calibrate.series import table_rows
from sweep.calibrate.source import name_of, read_text
from sweep.units import exact_decimal, grouped, parse_decimal, printable, shown

ITEM: Final = ("item", "item_id", "id")
BASE: Final = ("base", "base_score")
CANDIDATE: Final = ("candidate", "candidate_score")

Z: Final = Fraction(196, 100)
"""The 97.5 % point of the normal distribution, to two decimals."""

PLACES: Final = 10**9
"""The half width of an interval is a multiple of 1/PLACES."""

FEW: Final = 30
"""With fewer items the normal approximation is rough."""

MOST_SCORE: Final = 10**6


@dataclass(frozen=True)
class PairedDelta:
    """A measured loss of quality.

    Attributes:
        where: the file.
        items: how many items both models were scored on.
        delta: the mean loss, exactly; negative where the candidate is better.
        half_width: of the 95 % interval around it, rounded up; None with one item.
        differing: on how many items the two scores differ.
    """

    where: str
    items: int
    delta: Fraction
    half_width: Fraction | None
    differing: int

    @property
    def interval(self) -> tuple[Fraction, Fraction] | None:
        """The two ends of the 95 % interval; None with one item."""
        if self.half_width is None:
            return None
        return self.delta - self.half_width, self.delta + self.half_width

    @property
    def doubts(self) -> tuple[str, ...]:
        """What weakens the measurement, as clauses."""
        found = []
        if self.half_width is None:
            found.append(f"{self.where}: one item is no measurement of an interval; score more items")
        elif self.items < FEW:
            found.append(f"{self.where}: with {self.items} items the normal approximation is rough; score more items")
        if self.differing == 0:
            share = ceiling(Fraction(3_000, self.items))
            found.append(
                f"{self.where}: no item has another score, so the interval has no width; that up to about "
                f"{grouped(min(share, 1_000))} ‰ of all items change cannot be excluded (95 %, rule of three)"
            )
        return tuple(found)


def paired_delta(differences: Sequence[Fraction], where: str) -> PairedDelta:
    """The mean loss of paired scores with its 95 % interval.

    Args:
        differences: base − candidate of each item, at least one.
        where: the file they come from.
    """
    count = len(differences)
    total = sum(differences, Fraction(0))
    mean = total / count
    half = None
    if count > 1:
        squares = sum((difference * difference for difference in differences), Fraction(0)) - total * mean
        half = root_up(Z * Z * squares / (count - 1) / count)
    return PairedDelta(where, count, mean, half, sum(difference != 0 for difference in differences))


def root_up(square: Fraction) -> Fraction:
    """The square root of a number of at least 0, rounded up to a multiple of 10^-9.

    >>> root_up(Fraction(4)), root_up(Fraction(2))
    (Fraction(2, 1), Fraction(282842713, 200000000))
    """
    scaled = ceiling(square * PLACES * PLACES)  # √⌈x⌉ rounded up is √x rounded up: both ask for the least k with k² ≥ x
    root = isqrt(scaled)
    return Fraction(root + (root * root < scaled), PLACES)


def read_scores(
    path: str | Path, candidate: str, base: str | None = None, lower_is_better: bool = False
) -> PairedDelta:
    """The measured loss of a candidate by a file of scores per item.

    Args:
        path: CSV with a head, or JSON lines; with the columns `item`, `base` and `candidate`, or the models' own names
            in place of the last two. Scores are decimals, or true and false for 1 and 0.
        candidate: its name.
        base: the name of what it is compared with, where a column is called so.
        lower_is_better: whether a lower score is better (a perplexity, an error), so that the delta is the rise.

    Raises:
        InputFault: no such file, no such columns, an item twice, a score that is none; every fault at once.
    """
    name, text = name_of(path), read_text(path)
    faults = Faults(name)
    rows = _json_rows(name, text) if text.lstrip()[:1] in ("{", "[") else list(table_rows(name, text, faults))
    if not rows and not len(faults):
        faults.add("", "has no row below its head; give a row per item")
    columns = _columns(rows[0][1], candidate, base, faults) if rows else None
    faults.raise_if_any()
    assert columns is not None  # no rows, or no columns, were faults
    differences = [base - own for base, own in _scores(rows, columns, faults)]
    faults.raise_if_any()
    return paired_delta([-one for one in differences] if lower_is_better else differences, name)


def _json_rows(name: str, text: str) -> list[tuple[int, Mapping[str, Any]]]:
    return [(item.line, item.raw) for item in objects_of(text, name)]


def _columns(first: Mapping[str, Any], candidate: str, base: str | None, faults: Faults) -> tuple[str, str, str] | None:
    """The names of the columns of item, base and candidate in this file; None after a fault."""
    taken = (*ITEM, *BASE, base)
    meanings = (
        ("item", ITEM),
        ("base score", (base, *BASE) if base is not None else BASE),
        ("candidate score", (candidate, *CANDIDATE) if candidate not in taken else CANDIDATE),
    )
    found = []
    for what, names in meanings:
        name = next((name for name in names if name in first), None)
        if name is None:
            wanted = ", ".join(printable(name, 40) for name in names)
            faults.add("", f"has no column of the {what}, wanted one called {wanted}; rename or add it")
        else:
            found.append(name)
    return (found[0], found[1], found[2]) if len(found) == 3 else None


def _scores(
    rows: Sequence[tuple[int, Mapping[str, Any]]], columns: tuple[str, str, str], faults: Faults
) -> Iterator[tuple[Fraction, Fraction]]:
    """The base's and the candidate's score of each item; rows with faults are left out."""
    seen: dict[object, int] = {}
    for line, row in rows:
        place = f"line {grouped(line)}"
        item = row.get(columns[0])
        if not isinstance(item, str | int | Decimal) or item == "":
            faults.add(place, f"{columns[0]}: got {shown(item)}, wanted the item's id; add it")
            continue
        if item in seen:
            faults.add(place, f"item {shown(item)} comes again (first on line {grouped(seen[item])}); keep one")
        seen.setdefault(item, line)
        pair = [_score(row.get(column), f"{place}: {column}", faults) for column in columns[1:]]
        if pair[0] is not None and pair[1] is not None:
            yield pair[0], pair[1]


def _score(value: object, place: str, faults: Faults) -> Fraction | None:
    """A score, exactly; None after a fault."""
    if isinstance(value, bool):
        return Fraction(int(value))
    text = value.strip() if isinstance(value, str) else value
    if isinstance(text, str) and text.lower() in ("true", "false"):
        return Fraction(int(text.lower() == "true"))
    number = exact_decimal(parse_decimal(text) if isinstance(text, str) and text.isascii() else text)
    if number is None or abs(number) > MOST_SCORE:
        what = f"got {shown(value)}, wanted a decimal from -{grouped(MOST_SCORE)} to {grouped(MOST_SCORE)}"
        faults.add(place, f"{what}; score this item for both, or leave it out for both")
        return None
    return number
