"""`sweep simulate`: the discrete-event second opinion on an operating point, or on many."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sweep.cli.asked import asked
from sweep.cli.options import InOrder, at_option, change_options, changes, fixed, json_option, slo_option
from sweep.errors import UsageFault

if TYPE_CHECKING:
    pass

_OPTIONS = (
    click.option(
        "--trace", type=click.Path(path_type=Path, readable=False), metavar="TRACE", help="Requests of a trace file."
    ),
    click.option("--format", "format_", metavar="NAME", help="Of the trace: azure, burstgpt, mooncake, csv."),
    click.option("--columns", metavar="time=…,prompt=…,output=…", help="Of any other CSV; needs --unit."),
    click.option("--unit", metavar="UNIT", help="Of the times in --columns: s, ms, us, ns, or clock."),
    click.option(
        "--shape", default="1", show_default=True, metavar="K", help="Gamma intervals: 1 Poisson, 1/4 bursty."
    ),
    click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Of the drawn requests."),
    click.option("--requests", type=click.IntRange(1, 10**7), metavar="N", help="How many; 2000 without --duration."),
    click.option("--duration", metavar="TIME", help="Of arrivals: 10min, 90s."),
    click.option(
        "--policy",
        type=click.Choice(["priority", "fifo", "shortest-prompt"]),
        default="priority",
        show_default=True,
        help="Who is served first.",
    ),
    click.option(
        "--router",
        type=click.Choice(["least-outstanding", "round-robin"]),
        default="least-outstanding",
        show_default=True,
        help="Which replica a request goes to.",
    ),
    click.option(
        "--batching",
        type=click.Choice(["continuous", "static"]),
        default="continuous",
        show_default=True,
        help="Whether requests join a running batch.",
    ),
    click.option(
        "--cache",
        type=click.Choice(["paged", "contiguous"]),
        default="paged",
        show_default=True,
        help="Blocks as sequences grow, or a slab of the longest sequence each.",
    ),
    click.option("--max-sequence", type=click.IntRange(1, 2 * 10**7), metavar="TOKENS", help="Of such a slab."),
    click.option(
        "--admission-control/--no-admission-control",
        default=None,
        help="Let in only what can finish without preemption; default: as the grid says.",
    ),
    click.option(
        "--judge-at",
        type=click.Choice(["p50", "p90", "p99", "max"]),
        default="max",
        show_default=True,
        help="Which percentile of the requests a bound is judged by.",
    ),
    click.option("--compare", is_flag=True, help="Static and continuous, contiguous and paged, side by side."),
    click.option("--reference", is_flag=True, help="The reference policy (evict the largest, requeue last), in steps."),
    click.option(
        "--rows",
        type=click.Path(path_type=Path, readable=False),
        metavar="FILE",
        help="Write every request: .csv or .nc.",
    ),
    click.option(
        "--over",
        multiple=True,
        metavar="AXIS=VALUES",
        help="Simulate many points: values with commas, or * for all of the axis; repeatable.",
    ),
    click.option(
        "-o", "--output", type=click.Path(path_type=Path, readable=False), metavar="FILE.nc", help="Of --over."
    ),
    click.option("--resume", is_flag=True, help="Go on with a killed --over."),
    click.option("--jobs", type=click.IntRange(1, 512), metavar="N", help="Processes of --over; default: one a core."),
    click.option("--force", is_flag=True, help="Replace files that exist."),
)


def _options(command: Any) -> Any:
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@click.command(cls=InOrder, short_help="Simulate an operating point, beside its audit.")
@click.argument("file", metavar="GRID.toml|FILE.nc", type=click.Path(path_type=Path, readable=False))
@at_option
@change_options
@slo_option
@_options
@json_option
def simulate(
    file: Path,
    at: tuple[str, ...],
    set_: tuple[str, ...],
    axis: tuple[str, ...],
    slo: tuple[str, ...],
    as_json: bool,
    **options: Any,
) -> None:
    """Run requests through an operating point, event by event, and put what happens beside the audit.

    The audit is a fluid bound. This is a discrete-event model of the same replica: bursts, batching, KV blocks, shared
    prefixes, preemption. By default it runs the largest operating point with 2000 Poisson requests of the grid's
    classes; --at takes another point, --trace real arrivals (sped up by the point's traffic scale). Each bound of the
    contract is held, broken (by which requests, when) or far too strict. The same seed gives the same answer. It is a
    model too: it predicts no kernel.

    \b
    Examples:
      sweep simulate h100.nc
      sweep simulate h100.nc --at traffic=1200 --shape 1/4 --judge-at p99
      sweep simulate h100.nc --trace trace.csv --rows requests.csv
      sweep simulate h100.nc --compare
      sweep simulate h100.nc --over slots=96,100,104 --over traffic=900,1200,1450
      sweep simulate grids/h100.toml --set max_ttft_ms=300 --json | jq .agreement
    """
    from sweep.cli.simulated import arrivals_of, over, reference, serving_of, single, ways

    if sum((bool(options["over"]), options["compare"], options["reference"])) > 1:
        raise UsageFault("--over, --compare and --reference: are different questions; ask one of them.")
    for given, needs in (("output", "over"), ("resume", "over"), ("jobs", "over")):
        if options[given] and not options[needs]:
            raise UsageFault(f"--{given}: belongs to --{needs}; give that too, or leave it out.")
    if options["rows"] and (options["over"] or options["compare"] or options["reference"]):
        raise UsageFault("--rows: is of one simulation; leave it out, or ask for one.")
    options["file"] = file
    question, places = asked(file, changes(), slo), fixed(at)
    arrivals, serving = arrivals_of(options), serving_of(options)
    if options["over"]:
        over(question.grid, file, places, arrivals, serving, options, as_json)
        return
    answer = reference if options["reference"] else ways if options["compare"] else single
    answer(question, places, arrivals, serving, options, as_json)
