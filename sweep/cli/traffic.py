"""`sweep traffic`: the facts of a request trace, and the request classes it makes."""

from __future__ import annotations

from pathlib import Path

import click
from click.core import ParameterSource

from sweep.cli.options import json_option
from sweep.cli.output import progress, write, write_json, write_page
from sweep.errors import UsageFault

DEFAULT_CLASSES = 4


@click.command(short_help="Facts of a request trace, and its request classes.")
@click.argument("trace", metavar="TRACE", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "format_",
    metavar="NAME",
    help="azure, burstgpt, mooncake or csv. Default: as the first line shows.",
)
@click.option(
    "--columns",
    metavar="time=…,prompt=…,output=…",
    help="The columns of any other CSV by the names in its header; needs --unit.",
)
@click.option("--unit", metavar="UNIT", help="Of the times in --columns: s, ms, us, ns, or clock for dates.")
@click.option(
    "--classes",
    type=click.IntRange(1, 64),
    metavar="N",
    help=f"Merge the requests into N classes by length, 1 to 64. Default with --toml: {DEFAULT_CLASSES}.",
)
@click.option(
    "--level",
    type=click.Choice(["mean", "minute", "ten-seconds", "second"]),
    default="minute",
    show_default=True,
    help="The arrivals of the classes: the mean, or those of the busiest minute, ten seconds or second.",
)
@click.option("--name", default="traffic", show_default=True, metavar="ID", help="Call the classes ID-1, ID-2, …")
@click.option("--toml", "as_toml", is_flag=True, help="Print the classes as [[class]] tables of a grid file.")
@json_option
@click.pass_context
def traffic(
    context: click.Context,
    trace: Path,
    format_: str | None,
    columns: str | None,
    unit: str | None,
    classes: int | None,
    level: str,
    name: str,
    as_toml: bool,
    as_json: bool,
) -> None:
    """Show what a request trace demands, and make request classes of it.

    TRACE is an Azure LLM inference trace (2023 or 2024), a BurstGPT trace, a Mooncake trace, or any other CSV with
    --columns and --unit; plain or gzip, of any size. Rates stand side by side: sizing on the mean of bursty traffic
    is the classic error. Rows with 0 output tokens failed and are counted apart. Every figure is exact.

    The tables of --toml replace the [[class]] tables of a grid: beside them the traffic would count twice.
    `sweep init --traffic TRACE` writes a grid that has them.

    \b
    Examples:
      sweep traffic azure_llm_2023_conv.csv
      sweep traffic requests.csv --columns time=at,prompt=in,output=out --unit ms
      sweep traffic trace.jsonl.gz --classes 6 --level ten-seconds
      sweep traffic BurstGPT_1.csv --classes 4 --level second --toml > own.toml
      sweep traffic trace.jsonl --json | jq .prefix
    """
    from sweep.report.traffic import traffic_page
    from sweep.traffic.classes import traffic_classes
    from sweep.traffic.count import trace_facts
    from sweep.traffic.formats import columns_of
    from sweep.traffic.tables import class_tables

    if as_toml and as_json:
        raise UsageFault("--toml: --json is given too, and one of the two is printed; leave one out.")
    _check_used(context, classes is not None or as_toml)
    named = columns_of(columns.split(",")) if columns is not None else None
    with progress("reading", silent=as_json or as_toml, unit="bytes") as step:
        facts = trace_facts(trace, format_, named, unit, step)
    wanted = DEFAULT_CLASSES if classes is None and as_toml else classes
    found = traffic_classes(facts, wanted, level, name) if wanted is not None else ()
    if as_toml:
        write(class_tables(facts, found, level))
    elif as_json:
        from sweep.records.wording import CLAIM

        made = {"level": level, "classes": [class_.as_json() for class_ in found]} if found else {}
        write_json({**facts.as_json(), **made, "claim": CLAIM})
    else:
        write_page(traffic_page(facts, found, level))


def _check_used(context: click.Context, makes_classes: bool) -> None:
    """Refuse options about classes where none are made.

    Raises:
        UsageFault: naming each.
    """
    typed = [
        f"--{name}" for name in ("level", "name") if context.get_parameter_source(name) is ParameterSource.COMMANDLINE
    ]
    if typed and not makes_classes:
        raise UsageFault(
            [f"{name}: goes with --classes or --toml only; add one of them, or leave it out." for name in typed]
        )
