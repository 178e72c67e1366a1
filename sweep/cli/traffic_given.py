"""The traffic that a plan is asked for on the command line: `--rps`, `--traffic` or `--curve`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sweep.cli.options import Decorated
from sweep.errors import UsageFault

if TYPE_CHECKING:
    from sweep.operate.curve_demand import Demand

LEVELS = ("mean", "minute", "ten-seconds", "second")


def traffic_options(rates: bool = True) -> Callable[[Decorated], Decorated]:
    """The options that state a traffic; read them with `demand`.

    Args:
        rates: whether a single rate will do, and not only one over time.
    """
    options = [
        click.option("--traffic", "traffic", metavar="TRACE", type=click.Path(path_type=Path), help="A request trace."),
        click.option(
            "--curve",
            metavar="FILE",
            type=click.Path(path_type=Path),
            help="Requests per second over time: CSV with rps and time_s, time_min or time_h (or JSON).",
        ),
        click.option(
            "--bin",
            "bin_",
            metavar="TIME",
            help=f"Make a curve of the trace, by bins of this length.{'' if rates else ' Default: 60 s.'}",
        ),
        click.option("--format", "format_", metavar="NAME", help="Of the trace: azure, burstgpt, mooncake or csv."),
        click.option("--columns", metavar="time=…,prompt=…,output=…", help="The columns of any other CSV trace."),
        click.option("--unit", metavar="UNIT", help="Of times in --columns, or in a curve that does not say."),
    ]
    if rates:
        level = click.option(
            "--level",
            type=click.Choice(LEVELS),
            help="Of the trace: what must be carried, its mean or its busiest bin. Default: minute.",
        )
        rps = click.option("--rps", metavar="R", help="Requests per second, all classes and replicas together.")
        options = [rps, options[0], level, *options[1:]]

    def decorate(command: Decorated) -> Decorated:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def demand(given: Mapping[str, Any], default_bin: str | None = None) -> Demand:
    """The traffic of the options.

    Args:
        given: the options of `traffic_options`, by their names.
        default_bin: the length of a trace's bins where none is given; None for rates only.

    Raises:
        UsageFault: none or several of the three, or options that do not go with it; every fault at once.
        InputFault, RefusedSize: the file is wrong or too long.
    """
    from sweep.operate import curve_demand
    from sweep.traffic.formats import columns_of

    rps, trace, curve, level = (given.get(name) for name in ("rps", "traffic", "curve", "level"))
    asked = [name for name, value in (("--rps", rps), ("--traffic", trace), ("--curve", curve)) if value is not None]
    known = ("--rps, --traffic or --curve") if "rps" in given else "--traffic or --curve"
    if len(asked) != 1:
        got = "neither" if not asked else " and ".join(asked)
        raise UsageFault(f"traffic: got {got}, wanted one of {known}; {'add one' if not asked else 'leave one out'}.")
    of_trace = {"--level": level, "--bin": given["bin_"], "--format": given["format_"], "--columns": given["columns"]}
    faults = [f"{name}: goes with --traffic; leave it out." for name, value in of_trace.items() if value and not trace]
    if given["unit"] and rps is not None:
        faults.append("--unit: goes with --traffic or --curve; leave it out.")
    if level and given["bin_"]:
        faults.append("--level: with --bin the busiest bin is what must be carried; leave one of the two out.")
    if faults:
        raise UsageFault(faults)
    if rps is not None:
        return curve_demand.demand_of_rate(rps)
    if curve is not None:
        return curve_demand.demand_of_curve(curve, given["unit"])
    columns = columns_of(given["columns"].split(",")) if given["columns"] is not None else None
    length = given["bin_"] or default_bin
    bin_ns = None if length is None else duration_ns("--bin", length)
    assert trace is not None  # one of the three is given
    return curve_demand.demand_of_trace(trace, level or "minute", bin_ns, given["format_"], columns, given["unit"])


def duration_ns(option: str, text: str) -> int:
    """A time with its unit in ns: `90 s`, `1.5 min`.

    Raises:
        UsageFault: no unit, or no whole number of ns.
    """
    from sweep.units import UnitError, from_text, printable

    try:
        found = from_text(text, "ns")
    except UnitError as error:
        why = (
            str(error)
            .replace(", or an integer of ns without quotes", "")
            .replace("an integer, or a number", "a number")
        )
        raise UsageFault(f"{option} {printable(text)}: {why}.") from None
    if found < 0:
        raise UsageFault(f"{option} {printable(text)}: wanted a time of at least 0; correct it.")
    return found


def share_of(option: str, text: str) -> Any:
    """A share as an exact ratio: `10%` or `0.1`.

    Raises:
        UsageFault: neither.
    """
    from sweep.operate.prices import exact_number
    from sweep.units import printable

    plain = text.strip()
    number = exact_number(plain.removesuffix("%").strip())
    if number is None or number < 0:
        raise UsageFault(f"{option} {printable(text)}: wanted a share such as 10% or 0.1; correct it.")
    return number / 100 if plain.endswith("%") else number


def price_options(command: Decorated) -> Decorated:
    """`--price`, `--price-file` and `--gpu`; read the first two with `sweep.operate.prices.prices_of`."""
    command = click.option(
        "--gpu",
        multiple=True,
        metavar="CHOICE=GPU",
        help="Which GPU of the prices a hardware choice is, where it has another name.",
    )(command)
    command = click.option(
        "--price-file",
        metavar="FILE",
        type=click.Path(path_type=Path),
        help="Prices: CSV with gpu and price_per_gpu_hour, or a JSON object.",
    )(command)
    return click.option(
        "--price",
        multiple=True,
        metavar="GPU=PRICE",
        help="Price of a GPU-hour, an exact decimal: h100=2.33; without a name for every GPU.",
    )(command)
