"""`sweep autoscale`: a fleet under an autoscaling rule over a traffic curve."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sweep.cli.fleet import made_from, write_answer
from sweep.cli.options import InOrder, at_option, change_options, json_option, slo_option
from sweep.cli.output import write, write_json, write_page
from sweep.cli.serving_given import number_given, serving_given
from sweep.cli.traffic_given import demand, duration_ns, price_options, share_of, traffic_options
from sweep.errors import AskedForFailure, UsageFault

if TYPE_CHECKING:
    from fractions import Fraction

    from sweep.operate.autoscale_rule import ColdStart, Rule
    from sweep.operate.fleet_serving import Serving

_PARTS = ("provision", "pull", "load", "warm_up")


@click.command(cls=InOrder, short_help="A fleet that follows its traffic, cold starts included.")
@click.argument("file", metavar="GRID.toml|FILE.nc|FLEET.json", type=click.Path(path_type=Path, readable=False))
@traffic_options(rates=False)
@click.option("--provision", metavar="TIME", help="Measured: until a machine with its GPUs is there: 90 s.")
@click.option("--pull", metavar="TIME", help="Measured: until the container image is there.")
@click.option("--load", metavar="TIME", help="Measured: until the weights are in the GPUs' memory.")
@click.option("--warm-up", metavar="TIME", help="Measured: until the first request may come.")
@click.option(
    "--rule",
    type=click.Choice(["proactive", "reactive"]),
    default="proactive",
    show_default=True,
    help="Whether what will have come until a new replica serves counts as waiting.",
)
@click.option(
    "--threshold", metavar="N", help="Requests per replica. Default: the largest whole number that keeps the SLO."
)
@click.option("--interval", default="15 s", show_default=True, metavar="TIME", help="Between decisions.")
@click.option("--cooldown", default="5 min", show_default=True, metavar="TIME", help="From a change to a scale-in.")
@click.option(
    "--hysteresis", default="10%", show_default=True, metavar="SHARE", help="What stays free after a scale-in."
)
@click.option("--max-gpus", metavar="N", help="The GPU limit. Default: none.")
@click.option("--min-replicas", default="1", show_default=True, metavar="N", help="That always stand.")
@click.option("--start-replicas", metavar="N", help="That serve at the beginning. Default: what the first rate takes.")
@click.option(
    "--max-wait", default="0 s", show_default=True, metavar="TIME", help="A backlog's wait up to which the SLO holds."
)
@price_options
@at_option
@change_options
@slo_option
@json_option
@click.option("--csv", "as_csv", is_flag=True, help="Print the replicas over time as CSV.")
@click.option(
    "-o", "--output", metavar="FILE", type=click.Path(path_type=Path, readable=False), help="Write the JSON there."
)
@click.option("--force", is_flag=True, help="Replace a file that is there.")
@click.option("--require", is_flag=True, help="Exit with 1 where the SLO is not kept all the time.")
def autoscale(file: Path, **given: Any) -> None:
    """Follow a traffic curve with an autoscaling rule, exactly: replicas, backlog, time over the SLO, cost.

    A replica that is ordered serves when its cold start is over, and is paid from the order on. The proactive rule
    orders where queue + arrival rate * cold start > threshold * replicas; the reactive one looks at the queue alone.
    Both see the arrivals of the interval before. What arrives above the capacity of a result waits; a backlog that
    waits longer than --max-wait breaks the SLO.

    It finds the thresholds that keep the SLO for this cold start, and shows where a reactive rule misses it. A cold
    start is measured in parts, each with its unit; a part that is not given takes no time, and the page says so.

    \b
    Examples:
      sweep autoscale h100.nc --curve day.csv --provision "90 s" --load "35 s"
      sweep autoscale fleet.json --curve day.csv --load "4 min" --price 2.33
      sweep autoscale h100.nc --traffic trace.csv --bin "10 s" --load "30 s" \\
          --rule reactive --threshold 20 --max-gpus 16
      sweep autoscale fleet.json --curve day.csv --load "2 min" --csv
    """
    from sweep.operate.autoscale_search import autoscale as answer_of
    from sweep.report.autoscale import autoscale_page, timeline_csv

    if given["as_json"] and given["as_csv"]:
        raise UsageFault("--csv and --json: stdout takes one of them; leave one out.")
    cold = _cold_start(given)
    threshold = None if given["threshold"] is None else _threshold(given["threshold"])
    found = serving_given(file, given)
    rule = _rule(given, cold, found.serving)
    rule.check()
    wanted = demand(given, "60 s")
    assert wanted.curve is not None  # a trace is made one by its bins
    answer = answer_of(found.serving, wanted.curve, rule, threshold)
    document = answer.as_json()
    if found.question is not None:
        document = found.question.json(document)
    if given["output"] is not None:
        write_answer(given["output"], document, given["force"], made_from([str(file)], given))
    if given["as_json"]:
        write_json(document)
    elif given["as_csv"]:
        write(timeline_csv(answer.chosen))
    else:
        page = autoscale_page(answer, wanted, given["threshold"] is None, given["output"])
        write_page(page if found.question is None else found.question.page(page))
    if given["require"] and not answer.chosen.keeps_slo:
        raise AskedForFailure("autoscale: the SLO is not kept all the time; --require makes this a failure.")


def _cold_start(given: dict[str, Any]) -> ColdStart:
    """The parts of the cold start.

    Raises:
        UsageFault: none is given, or no time; every fault at once.
    """
    from sweep.operate.autoscale_rule import ColdStart

    if not any(given[part] for part in _PARTS):
        raise UsageFault(
            "cold start: got none of --provision, --pull, --load and --warm-up, wanted what was measured; give at "
            'least one, "0 s" where it takes no time.'
        )
    found, faults = dict[str, int](), list[str]()
    for part in _PARTS:
        if given[part] is None:
            continue
        try:
            found[f"{part}_ns"] = duration_ns(f"--{part.replace('_', '-')}", given[part])
        except UsageFault as fault:
            faults += fault.faults
    if faults:
        raise UsageFault(faults)
    return ColdStart(**found)


def _threshold(text: str) -> Fraction:
    from sweep.operate.prices import exact_number

    number = exact_number(text)
    if number is None or number <= 0:
        raise UsageFault(f"--threshold {text}: wanted requests per replica above 0; correct it.")
    return number


def _rule(given: dict[str, Any], cold: ColdStart, serving: Serving) -> Rule:
    """The rule of the options; its threshold is found or given elsewhere.

    Raises:
        UsageFault: options that are no times or numbers; every fault at once.
    """
    from fractions import Fraction

    from sweep.operate.autoscale_rule import Rule

    faults: list[str] = []

    def read(name: str, how: Any, *more: Any) -> Any:
        try:
            return how(f"--{name.replace('_', '-')}", given[name], *more)
        except UsageFault as fault:
            faults.extend(fault.faults)
            return None

    times = {f"{name}_ns": read(name, duration_ns) for name in ("interval", "cooldown", "max_wait")}
    hysteresis = read("hysteresis", share_of)
    least, start = read("min_replicas", number_given, 1, 10**6), read("start_replicas", number_given, 1, 10**6)
    gpus = read("max_gpus", number_given, 1, 10**9)
    if gpus is not None and gpus < serving.gpus_per_replica:
        faults.append(f"--max-gpus {gpus}: a replica takes {serving.gpus_per_replica}; raise it.")
    if faults:
        raise UsageFault(faults)
    return Rule(
        kind=given["rule"],
        threshold=Fraction(1),
        hysteresis=hysteresis,
        max_replicas=None if gpus is None else gpus // serving.gpus_per_replica,
        min_replicas=least,
        start_replicas=start,
        cold_start=cold,
        **times,
    )
