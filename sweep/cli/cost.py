"""`sweep cost`: what a million tokens cost at realistic utilisation, against hosted prices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sweep.cli.options import InOrder, at_option, change_options, json_option, slo_option
from sweep.cli.output import write, write_json, write_page
from sweep.cli.serving_given import Given, number_given, serving_given
from sweep.cli.traffic_given import demand, price_options, share_of, traffic_options
from sweep.errors import InputFault, UsageFault

if TYPE_CHECKING:
    from fractions import Fraction

    from sweep.operate.cost import Cost, HostedPrices
    from sweep.operate.curve_demand import Demand
    from sweep.operate.fleet_serving import Serving

_HOSTED = ("hosted_prompt", "hosted_output", "hosted_cached", "cached_share")


@click.command(cls=InOrder, short_help="Cost per million tokens, and against hosted prices.")
@click.argument(
    "file", metavar="[GRID.toml|FILE.nc|FLEET.json]", required=False, type=click.Path(path_type=Path, readable=False)
)
@traffic_options()
@price_options
@click.option("--replicas", metavar="N", help="That are reserved. Default: what the traffic takes at its worst.")
@click.option("--hosted-prompt", metavar="PRICE", help="Hosted: per million prompt tokens.")
@click.option("--hosted-output", metavar="PRICE", help="Hosted: per million output tokens.")
@click.option("--hosted-cached", metavar="PRICE", help="Hosted: per million cached prompt tokens.")
@click.option(
    "--cached-share",
    metavar="SHARE",
    help="Of the prompt tokens. Default: the prefix hits of the trace, where it has hashes; else 0.",
)
@click.option("--hosted", metavar="PRICE", help="Without a file: per million tokens.")
@click.option("--tokens-per-second", metavar="N", help="Without a file: prompt and output tokens at full load.")
@click.option("--utilization", metavar="SHARE", help="Without a file: the realistic utilisation: 54%.")
@at_option
@change_options
@slo_option
@json_option
@click.option("--csv", "as_csv", is_flag=True, help="Print the cost over utilisation and price as CSV.")
def cost(file: Path | None, **given: Any) -> None:
    """Say what a million tokens cost: reserved GPUs at the utilisation of the traffic, against hosted prices.

    A reserved GPU costs by the hour, busy or idle. The fleet is the one that carries the traffic at its worst (a
    trace's busiest minute, a curve's peak, the result of `sweep autoscale -o`); the utilisation is the mean traffic
    over what it carries. Prompt tokens bear prefill's share of the reservation, output tokens the rest. The hosted side
    is asked for the same tokens: cached ones at their own price.

    Without a file, --tokens-per-second, --utilization, --price and --hosted are compared as they are.

    \b
    Examples:
      sweep cost h100.nc --traffic trace.csv --price 2.33
      sweep cost fleet.json --curve day.csv --hosted-prompt 0.1 --hosted-output 0.3
      sweep cost auto.json --hosted-prompt 0.15 --hosted-output 0.6 \\
          --hosted-cached 0.075 --cached-share 40%
      sweep cost --tokens-per-second 9635 --utilization 54% --price 2.33 --hosted 6.96
    """
    if given["as_json"] and given["as_csv"]:
        raise UsageFault("--csv and --json: stdout takes one of them; leave one out.")
    if file is None:
        _plain(given)
        return
    left = [name for name in _PLAIN if given[name]]
    if left:
        raise UsageFault(f"--{name.replace('_', '-')}: goes without a file; leave one of the two out." for name in left)
    from sweep.operate.cost_table import cost_table, table_csv
    from sweep.report.cost import cost_page

    found = serving_given(file, given)
    if found.serving.price is None:
        raise UsageFault(f"cost: got no price of a GPU-hour; give --price {found.serving.name}=…, or --price-file.")
    answer, wanted, words = _cost(file, found, given)
    table = cost_table(answer.serving, answer.hosted_blended)
    document = answer.as_json()
    document = document if found.question is None else found.question.json(document)
    if given["as_json"]:
        write_json({**document, "traffic": None if wanted is None else wanted.as_json()})
    elif given["as_csv"]:
        write(table_csv(table))
    else:
        page = cost_page(answer, table, wanted, words)
        write_page(page if found.question is None else found.question.page(page))


_PLAIN = ("hosted", "tokens_per_second", "utilization")


def _cost(file: Path, found: Given, given: Mapping[str, Any]) -> tuple[Cost, Demand | None, str]:
    """The cost, the traffic, and how the size of the reservation came about."""
    from fractions import Fraction

    from sweep.operate.cost import cost_of

    replicas = number_given("--replicas", given["replicas"], 1, 10**6)
    if found.document is not None and found.document["sweep_file"] == "autoscale":
        used = [name for name in ("rps", "traffic", "curve", "replicas") if given[name] is not None]
        if used:
            what = f"{file} has its traffic and its GPU-hours already; leave it out."
            raise UsageFault(f"--{name}: {what}" for name in used)
        gpus, mean = _autoscaled(file, found.document)
        return cost_of(found.serving, gpus, mean, _hosted(given, None)), None, "as many as the autoscaled fleet had"
    wanted = demand(given)
    serving, words = found.serving, "as given"
    if replicas is None and found.question is None:
        replicas, words = serving.replicas, "as the fleet has"
    if replicas is None:
        serving, replicas = _sized(found, wanted, given)
        words = "what the traffic takes at its worst"
    assert replicas is not None  # a fleet's document has them
    gpus = Fraction(replicas * serving.gpus_per_replica)
    return cost_of(serving, gpus, wanted.mean, _hosted(given, wanted)), wanted, words


def _sized(found: Given, wanted: Demand, given: Mapping[str, Any]) -> tuple[Serving, int]:
    """The fleet that carries the traffic at its worst, and one replica at its operating point."""
    from sweep.cli.options import fixed
    from sweep.operate.fleet import find_fleet
    from sweep.operate.fleet_serving import serving_of

    assert found.question is not None  # a grid was given
    sizing = find_fleet(found.question.grid, wanted.peak_millirps, fixed(given["at"]))
    if sizing.cell is None or sizing.replicas is None:
        raise InputFault(f"{found.serving.name}: no fleet carries the traffic within the SLO; ask `sweep fleet` why.")
    own = serving_of(sizing.cell, found.serving.name)
    if own is None:
        return found.serving, sizing.replicas
    return replace(own, gpu=found.serving.gpu, price=found.serving.price), sizing.replicas


def _autoscaled(file: Path, document: Mapping[str, Any]) -> tuple[Fraction, Fraction]:
    """The mean of the reserved GPUs and of the traffic, of what `sweep autoscale -o` wrote."""
    from sweep.calibrate.documents import value_at
    from sweep.calibrate.source import name_of
    from sweep.operate.curve import HOUR_NS
    from sweep.operate.fleet_file import ratio_of

    hours = ratio_of(value_at(document, ["chosen", "gpu_hours"]))
    mean = ratio_of(value_at(document, ["curve", "mean_rps"]))
    start, stop = (value_at(document, ["curve", key]) for key in ("from_ns", "to_ns"))
    if hours is None or mean is None or not isinstance(start, int) or not isinstance(stop, int) or stop <= start:
        raise InputFault(f"{name_of(file)}: chosen.gpu_hours, curve.mean_rps or its span is damaged; write it anew.")
    return hours * HOUR_NS / (stop - start), mean


def _hosted(given: Mapping[str, Any], wanted: Demand | None) -> HostedPrices | None:
    """The hosted prices of the options; None where none is given.

    Raises:
        UsageFault: some are missing, or no decimals; every fault at once.
    """
    from fractions import Fraction

    from sweep.operate.cost import HostedPrices
    from sweep.operate.prices import price_of

    if not any(given[name] for name in _HOSTED):
        return None
    faults = [
        f"--{name.replace('_', '-')}: is missing beside the other hosted prices; give it."
        for name in ("hosted_prompt", "hosted_output")
        if given[name] is None
    ]
    prices: dict[str, Fraction] = {}
    for name in _HOSTED[:3]:
        if given[name] is not None:
            try:
                prices[name.removeprefix("hosted_")] = price_of(given[name], f"--{name.replace('_', '-')}")
            except UsageFault as fault:
                faults += fault.faults
    share = Fraction(0)
    if given["cached_share"] is not None:
        try:
            share = share_of("--cached-share", given["cached_share"])
        except UsageFault as fault:
            faults += fault.faults
    elif wanted is not None and wanted.facts is not None and wanted.facts.prefix is not None and "cached" in prices:
        share = Fraction(wanted.facts.prefix.hit_tokens, max(1, wanted.facts.prompt.total_tokens))
    if faults:
        raise UsageFault(faults)
    return HostedPrices(prices["prompt"], prices["output"], prices.get("cached"), share)


def _plain(given: Mapping[str, Any]) -> None:
    """The comparison of plain figures."""
    from sweep.operate.cost_compare import build_vs_buy
    from sweep.operate.prices import ANY, prices_of
    from sweep.report.cost import compare_json, compare_page

    prices = prices_of(given["price"], given["price_file"])
    wanted = {
        "price": prices.get(ANY),
        **{name: given[name] for name in ("tokens_per_second", "utilization", "hosted")},
    }
    faults = [
        f"--{name.replace('_', '-')}: is missing, and without a file it is needed; give it, or a grid."
        for name, value in wanted.items()
        if value is None
    ]
    others = [name for name in ("rps", "traffic", "curve", "replicas", "at", "slo", *_HOSTED) if given[name]]
    faults += [f"--{name.replace('_', '-')}: goes with a file only; give one, or leave it out." for name in others]
    if faults:
        raise UsageFault(faults)
    share = share_of("--utilization", wanted["utilization"])
    answer = build_vs_buy(wanted["price"], wanted["tokens_per_second"], share, wanted["hosted"])
    if given["as_json"]:
        write_json(compare_json(answer))
    else:
        write_page(compare_page(answer, wanted["price"], wanted["tokens_per_second"], share, wanted["hosted"]))
