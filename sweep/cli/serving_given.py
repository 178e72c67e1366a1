"""One replica for `sweep autoscale` and `sweep cost`: of a grid, a result, or what `sweep fleet -o` wrote."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sweep.cli.options import changes, fixed
from sweep.errors import UsageFault

if TYPE_CHECKING:
    from fractions import Fraction

    from sweep.cli.asked import Asked
    from sweep.operate.fleet_serving import Serving


@dataclass(frozen=True)
class Given:
    """One replica, and what it was taken from.

    Attributes:
        serving: the replica, with its price where one is known.
        question: the grid; None where a document was given.
        document: what `sweep fleet` or `sweep autoscale` wrote; None where a grid was given.
    """

    serving: Serving
    question: Asked | None = None
    document: Mapping[str, Any] | None = None


def serving_given(file: Path, given: Mapping[str, Any]) -> Given:
    """The replica of a file, with the price of `--price`, `--price-file` and `--gpu`.

    Args:
        file: a grid, a result, or a JSON of `sweep fleet` or `sweep autoscale`.
        given: the options `at`, `slo`, `price`, `price_file`, `gpu` by their names.

    Raises:
        UsageFault: options that do not go with the file. InputFault, ResultFault: the file is wrong.
    """
    from sweep.operate.fleet_file import is_serving_file, read_document, serving_from

    overrides, places = changes(), fixed(given["at"])
    if not is_serving_file(file):
        from sweep.cli.asked import asked
        from sweep.operate.fleet_serving import serving_of_grid

        question = asked(file, overrides, given["slo"])
        serving = serving_of_grid(question.grid, file.stem, places)
        return Given(_priced(serving, given), question)
    fixed_there = [("--at", places), ("--slo", given["slo"]), ("--set or --axis", overrides)]
    faults = [
        f"{option}: {file} has its operating point already; leave it out." for option, value in fixed_there if value
    ]
    if faults:
        raise UsageFault(faults)
    document = read_document(file)
    return Given(_priced(serving_from(document, str(file)), given), None, document)


def _priced(serving: Serving, given: Mapping[str, Any]) -> Serving:
    """The replica with the price of the command line, which comes before that of a document.

    Raises:
        UsageFault: prices were given and none is that of this replica's GPU.
    """
    from sweep.operate.prices import price_for, prices_of, unknown_price

    prices = prices_of(given["price"], given["price_file"])
    names = [*_gpu(given["gpu"]), *([serving.gpu] if serving.gpu else []), *serving.name.split(":"), serving.name]
    if not prices:
        return serving
    found: tuple[str, Fraction] | None = price_for(names, prices)
    if found is None:
        raise UsageFault(unknown_price(serving.name, names, prices))
    return replace(serving, gpu=found[0], price=found[1])


def _gpu(texts: Sequence[str] | Iterable[str]) -> list[str]:
    """The GPU's name in the prices: of the one replica, so with or without a choice before it."""
    return [text.rpartition("=")[2].strip() for text in texts]


def number_given(option: str, text: str | None, least: int, most: int) -> int | None:
    """A whole number of an option; None where it was not given.

    Raises:
        UsageFault: anything else.
    """
    if text is None:
        return None
    from sweep.units import printable

    plain = text.replace("_", "").replace(" ", "")
    if not plain.isascii() or not plain.isdigit() or len(plain) > 18 or not least <= int(plain) <= most:
        raise UsageFault(f"{option} {printable(text)}: wanted a whole number from {least} to {most}; correct it.")
    return int(plain)
