"""Prices: exact decimals per GPU-hour by name, from options or a file; a price that nobody gave is a fault."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Final

from sweep.calibrate.documents import objects_of
from sweep.calibrate.fields import Faults
from sweep.calibrate.series import table_rows
from sweep.calibrate.source import name_of, read_text
from sweep.errors import UsageFault
from sweep.grid.faults import near
from sweep.units import exact_decimal, grouped, parse_decimal, printable, shown

Number = int | Fraction | Decimal | float | str
"""A float is taken as the decimal that it prints as: what was typed, not the binary number next to it."""

Prices = Mapping[str, Fraction]
"""Name -> price of a GPU-hour; the name `""` stands for every GPU that has none of its own."""

ANY: Final = ""
COLUMN: Final = "price_per_gpu_hour"
MAX_PRICE: Final = 10**9


def exact_number(value: object) -> Fraction | None:
    """A number as it was typed, exactly; None for anything else.

    >>> exact_number(0.1), exact_number("2.33"), exact_number("1/3")
    (Fraction(1, 10), Fraction(233, 100), None)
    """
    if isinstance(value, float):
        return exact_decimal(Decimal(repr(value)))  # NaN and infinity are no decimals
    if isinstance(value, str):
        return exact_decimal(parse_decimal(value)) if value.isascii() else None
    return exact_decimal(value)


def price_of(text: object, place: str) -> Fraction:
    """A price: a decimal from 0 to 10^9.

    Raises:
        UsageFault: anything else; `place` is where it stands.
    """
    number = exact_number(text)
    if number is None or not 0 <= number <= MAX_PRICE:
        got = printable(text) if isinstance(text, str) else shown(text)
        raise UsageFault(f"{place}: got {got}, wanted a decimal from 0 to {grouped(MAX_PRICE)}; correct the price.")
    return number


def prices_of(texts: Iterable[str], file: str | Path | None = None) -> dict[str, Fraction]:
    """The prices of `--price NAME=DECIMAL` (or one DECIMAL for every GPU), over those of `--price-file`.

    Raises:
        UsageFault: no decimal, or a name twice; every fault at once. InputFault: the file is wrong.
    """
    found, faults = dict[str, Fraction](), list[str]()
    for text in texts:
        name, equals, value = (part.strip() for part in text.rpartition("="))
        if equals and not name:
            faults.append(
                f"--price {printable(text)}: wanted NAME=PRICE, such as --price h100=2.33; add the name of the GPU."
            )
            continue
        if name in found:
            faults.append(
                f"--price {printable(text)}: {name or 'the price of every GPU'} is given twice; give it once."
            )
            continue
        try:
            found[name] = price_of(value, f"--price {printable(text)}")
        except UsageFault as fault:
            faults += fault.faults
    if faults:
        raise UsageFault(faults)
    return {**({} if file is None else read_prices(file)), **found}


def read_prices(path: str | Path) -> dict[str, Fraction]:
    """The prices of a file: CSV with the columns `gpu` and `price_per_gpu_hour`, or a JSON object name -> price.

    Raises:
        InputFault: no such file, another form, a name twice, no price; every fault at once.
    """
    name, text = name_of(path), read_text(path)
    faults = Faults(name)
    rows = list[tuple[str, str, object]]()
    if text.lstrip()[:1] in ("{", "["):
        objects = objects_of(text, name)
        if len(objects) != 1:
            faults.add("", f'has {grouped(len(objects))} objects, wanted one such as {{"h100": 2.33}}; join them')
        else:
            rows = [(shown(key), key, value) for key, value in objects[0].raw.items()]
    else:
        for line, row in table_rows(name, text, faults):
            if "gpu" not in row or COLUMN not in row:
                faults.add("line 1", f"wanted the columns gpu and {COLUMN}; rename them")
                break
            rows.append((f"line {grouped(line)}", row["gpu"].strip(), row[COLUMN].strip()))
    found = dict[str, Fraction]()
    for place, gpu, value in rows:
        number = exact_number(value)
        if not gpu or gpu in found:
            faults.add(place, f"names {'no GPU' if not gpu else f'{shown(gpu)} again'}; give each GPU one price")
        elif number is None or not 0 <= number <= MAX_PRICE:
            faults.add(place, f"got {shown(value)}, wanted a decimal from 0 to {grouped(MAX_PRICE)}; correct the price")
        else:
            found[gpu] = number
    if not rows and not len(faults):
        faults.add("", "has no price; add one per GPU")
    faults.raise_if_any()
    return found


def price_for(names: Iterable[str], prices: Prices) -> tuple[str, Fraction] | None:
    """The price under the first name that has one, and that name; `""` stands for all. None where there is none."""
    return next(((name, prices[name]) for name in (*names, ANY) if name in prices), None)


def unknown_price(name: str, tried: Iterable[str], prices: Prices) -> str:
    """Why a hardware choice has no price, as a sentence."""
    own = next(iter(tried), name)
    close = near(own, [known for known in prices if known])
    hint = f", the nearest known one is {close}" if close else ""
    return f"{shown(name)}: no price of a GPU-hour is known{hint}; give --price {own}=…, or its name with --gpu."
