"""`sweep fleet`: the fewest replicas and the cheapest hardware for a stated traffic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sweep.cli.options import InOrder, at_option, change_options, changes, fixed, json_option, pairs, slo_option
from sweep.cli.output import write_json, write_page
from sweep.cli.traffic_given import demand, price_options, share_of, traffic_options
from sweep.errors import AskedForFailure, InputFault, ResultFault, UsageFault

if TYPE_CHECKING:
    from sweep.cli.asked import Asked


@click.command(cls=InOrder, short_help="Fewest replicas and cheapest GPUs for a traffic.")
@click.argument("files", metavar="[NAME=]GRID.toml|FILE.nc…", nargs=-1, required=True)
@traffic_options()
@at_option
@click.option("--by", multiple=True, metavar="AXIS", help="An axis whose values are choices of hardware.")
@price_options
@click.option(
    "--spare",
    is_flag=False,
    flag_value="1",
    default="0",
    metavar="[N]",
    help="Replicas that may be away: N+1 with --spare alone. Default: 0.",
)
@click.option(
    "--imbalance",
    default="0",
    metavar="SHARE",
    help="How far the busiest replica is above the mean: 10%. Default: 0, evenly shared but for rounding.",
)
@change_options
@slo_option
@json_option
@click.option(
    "-o", "--output", metavar="FILE", type=click.Path(path_type=Path, readable=False), help="Write the JSON there."
)
@click.option("--force", is_flag=True, help="Replace a file that is there.")
@click.option("--require", is_flag=True, help="Exit with 1 where no fleet carries the traffic.")
def fleet(files: tuple[str, ...], **given: Any) -> None:
    """Find the fewest replicas, and the cheapest fleet, that carry a stated traffic within the SLO.

    Give a result or a grid file per kind of hardware, or one with an axis of choices (--by). All replicas of a fleet
    run one operating point; the busiest one decides, which gets its share of every class rounded up. The answer is
    proved by the scalar reference: that many replicas are within all bounds, one fewer is not. With a curve (or --bin)
    it also says how many replicas the day takes, hour by hour.

    Prices are exact decimals per GPU-hour. With several kinds of hardware each needs one; a price that is not known is
    a fault. What -o writes, `sweep autoscale` and `sweep cost` read.

    \b
    Examples:
      sweep fleet h100.nc --rps 60
      sweep fleet h100.nc --traffic trace.csv --level second --spare
      sweep fleet h100.nc --curve day.csv --price h100=2.33 -o fleet.json
      sweep fleet precision.nc --rps 30 --by precision --price 2.33
      sweep fleet h100.nc l40s.nc --rps 60 --price-file prices.csv --json
    """
    from sweep.operate.fleet_choice import cheapest, choices_of, find_fleets
    from sweep.operate.fleet_day import day_of, fleets_json
    from sweep.operate.prices import prices_of
    from sweep.report.fleet import fleet_page

    places, spare = fixed(given["at"]), _spare(given["spare"])
    imbalance = share_of("--imbalance", given["imbalance"])
    gpus = {name: str(gpu) for name, gpu in pairs("--gpu", given["gpu"], "precision=h100", "choice").items()}
    prices = prices_of(given["price"], given["price_file"])
    wanted = demand(given)
    questions = _questions(files, given["slo"])
    first = next(iter(questions.values()))
    grids = {name: question.grid for name, question in questions.items()}
    choices = choices_of(grids, places, given["by"], gpus)
    fleets = find_fleets(choices, wanted.peak_millirps, places, prices, spare, imbalance)
    best = cheapest(fleets)
    day = None if best is None or wanted.curve is None else day_of(best, wanted.curve)
    answer = first.json(fleets_json(fleets, wanted.as_json(), day))
    if given["output"] is not None:
        write_answer(given["output"], answer, given["force"], made_from(files, given))
    if given["as_json"]:
        write_json(answer)
    else:
        write_page(first.page(fleet_page(fleets, wanted, day, given["output"])))
    if best is None and given["require"]:
        raise AskedForFailure("fleet: no fleet carries the traffic within the SLO; --require makes this a failure.")


def made_from(files: Sequence[str], given: Mapping[str, Any]) -> list[Path]:
    """The files that an answer is made from, which it never replaces; before a `=` stands a name."""
    grids = [Path(text.partition("=")[2] or text) for text in files]
    return [*grids, *(Path(given[name]) for name in ("traffic", "curve", "price_file") if given.get(name) is not None)]


def write_answer(path: Path, answer: Any, force: bool, inputs: Sequence[Path]) -> None:
    """An answer as a JSON file; `inputs` are never replaced."""
    import json

    from sweep.cli.writing import write_text

    if path.suffix != ".json":
        raise UsageFault(f"-o {path}: the file is JSON, and other commands know it by its ending; call it {path}.json.")
    write_text(path, json.dumps(answer, indent=2) + "\n", force, inputs)


def _spare(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 7 or int(text) > 10**6:
        raise UsageFault(f"--spare {text}: wanted a number of replicas from 0 to 10^6; write --spare or --spare 2.")
    return int(text)


def _questions(files: tuple[str, ...], slo: tuple[str, ...]) -> dict[str, Asked]:
    """The grids by name, in the order typed; a name is the file's stem where none is given.

    Raises:
        UsageFault: a name twice. InputFault, ResultFault: files are wrong; every fault at once.
    """
    from sweep.cli.asked import asked

    overrides = changes()
    found: dict[str, Asked] = {}
    faults: list[InputFault | ResultFault] = []
    for text in files:
        name, equals, rest = text.partition("=")
        path = Path(rest if equals and rest and not Path(text).exists() else text)
        own = name if path == Path(rest) and equals else path.stem
        if own in found:
            raise UsageFault(f"{text}: a second file called {own}; give it a name of its own: other={path}.")
        try:
            found[own] = asked(path, overrides, slo)
        except (InputFault, ResultFault) as fault:
            faults.append(fault)
    if faults:
        raise type(faults[0])(sentence for fault in faults for sentence in fault.faults)
    return found
