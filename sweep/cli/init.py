"""`sweep init`: a commented grid that runs as it is, from what people have."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sweep.cli.init_given import DEFAULT_CLASSES, DEFAULT_LEVEL, DEFAULT_MS
from sweep.cli.options import json_option
from sweep.cli.output import write, write_json, write_page
from sweep.cli.program import complain
from sweep.cli.writing import refuse_target, write_text
from sweep.errors import ResultFault, UsageFault

if TYPE_CHECKING:
    from sweep.draft.grid import Draft

DEFAULT_FILE = "grid.toml"

_COUNT = click.IntRange(1, 10**5)
_TOKENS = click.IntRange(1, 10**7)
_FILE = click.Path(path_type=Path)


class _OutputTokens(click.IntRange):
    """`--output`, which elsewhere names a file."""

    name = "tokens"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number, or why it is none."""
        if isinstance(value, str) and not value.strip().lstrip("+-").isdigit():
            self.fail(f"{value!r} is no number of output tokens; the file is named with -o.", param, ctx)
        return super().convert(value, param, ctx)


_OUTPUT = (
    click.option(
        "-o", "file", metavar="FILE.toml", default=DEFAULT_FILE, show_default=True, help="Or -, which prints."
    ),
    click.option("--force", is_flag=True, help="Replace FILE.toml if it exists."),
    click.option("--name", metavar="TEXT", help="The name of the grid. Default: the model and its GPUs."),
)

_GPU = (
    click.option("--gpu", metavar="NAME", help="A GPU of the catalogue (see sweep memory --list-gpus)."),
    click.option("--memory", metavar="BYTES", help="Bytes of one GPU, in place of the catalogue's."),
    click.option("--tensor-parallel", type=click.IntRange(1, 10**4), metavar="N", help="GPUs of a replica; 1."),
    click.option("--utilization", metavar="SHARE", help="The engine's share of the memory; 0.9 by default."),
    click.option(
        "--engine", type=click.Choice(["vllm", "sglang", "tensorrt-llm"]), help="Whose share it is; vllm by default."
    ),
    click.option("--activations", metavar="BYTES", help="Peak of activations on one GPU; 0 by default."),
    click.option("--overhead", metavar="BYTES", help="Context, graphs and buffers on one GPU; 0 by default."),
    click.option("--reserved", metavar="BYTES", help="Bytes of one GPU that stay free; 0 by default."),
    click.option("--block-tokens", type=click.IntRange(1, 10**6), metavar="N", help="Tokens of a KV block; 16."),
)

_MODEL = (
    click.option("--model", type=_FILE, metavar="CONFIG", help="The model's config.json."),
    click.option("--layers", type=_COUNT, help="Instead of --model: layers,"),
    click.option("--kv-heads", type=_COUNT, help="key/value heads of a layer,"),
    click.option("--head-dim", type=_COUNT, help="and values of a head."),
    click.option("--dtype", metavar="NAME", help="The model's dtype (bf16, fp16), where its config has none."),
    click.option("--kv-dtype", metavar="NAME", help="The cache's type: fp8, int4, mxfp4, q8_0, 17/32, KEY:VALUE."),
    click.option("--weights", metavar="BYTES|INDEX", help="Bytes of the weights, or model.safetensors.index.json."),
    click.option("--parameters", type=click.IntRange(0, 10**15), help="Or their number, all in one dtype."),
    click.option("--weight-dtype", metavar="NAME", help="The dtype of --parameters; default: the model's."),
    click.option("--active-parameters", type=click.IntRange(1, 10**15), help="Those that a token passes; all of them."),
    click.option("--max-sequence", type=click.IntRange(1, 10**12), help="The longest sequence; default: the model's."),
)

_TRAFFIC = (
    click.option("--traffic", type=_FILE, metavar="TRACE", help="A request trace, as sweep traffic reads it."),
    click.option("--format", "format_", metavar="NAME", help="azure, burstgpt, mooncake or csv."),
    click.option("--columns", metavar="time=…,prompt=…,output=…", help="Columns of another CSV; needs --unit."),
    click.option("--unit", metavar="UNIT", help="Of the times in --columns: s, ms, us, ns, or clock."),
    click.option(
        "--classes", type=click.IntRange(1, 64), metavar="N", help=f"Classes by length; {DEFAULT_CLASSES} by default."
    ),
    click.option(
        "--level",
        type=click.Choice(["mean", "minute", "ten-seconds", "second"]),
        help=f"Whose rate arrives: the mean's, or that of the busiest …; {DEFAULT_LEVEL} by default.",
    ),
    click.option("--rate", metavar="RPS", help="Instead of --traffic: requests per second,"),
    click.option("--prompt", type=_TOKENS, metavar="TOKENS", help="prompt tokens of a request,"),
    click.option("--output", type=_OutputTokens(1, 10**7), metavar="TOKENS", help="and output tokens."),
)

_STEPS = (
    click.option(
        "--calibrate", type=_FILE, multiple=True, metavar="FILE", help="Measured, as sweep calibrate reads it; repeat."
    ),
    click.option("--calibrate-unit", type=click.Choice(["ns", "us", "ms", "s"]), help="Of its times, if it has none."),
    click.option("--chunk-tokens", type=click.IntRange(min=1), metavar="N", help="Tokens of its steps at most."),
    click.option("--ttft", metavar="MS", help=f"Time to first token: ms, or 1.5s; {DEFAULT_MS['ttft']} by default."),
    click.option("--tpot", metavar="MS", help=f"Time per output token: likewise; {DEFAULT_MS['tpot']} by default."),
)


def _options(command: Any) -> Any:
    for option in reversed((*_OUTPUT, *_GPU, *_MODEL, *_TRAFFIC, *_STEPS)):
        command = option(command)
    return command


@click.command(short_help="A commented grid that runs as it is, from what you have.")
@_options
@json_option
def init(file: str, force: bool, as_json: bool, **options: Any) -> None:
    """Write a grid file for your own GPU, model, traffic and SLO, which runs as it is.

    Each figure has a comment that says where it came from: an option, a key of the model's config, the catalogue of
    GPUs, a trace, a measurement. What you do not give is the example's, Llama 3.1 8B on an H100, and the file and this
    command say which parts these are. Without measurements the step time is an ESTIMATE from data sheets. The axes
    follow from the figures, and a run of them takes seconds.

    The options mean what they mean to `sweep memory`, `sweep traffic` and `sweep calibrate`.

    \b
    Examples:
      sweep init
      sweep init --gpu h100 --model config.json --traffic trace.csv
      sweep init --gpu l40s --tensor-parallel 2 --model config.json \\
          --weights model.safetensors.index.json --kv-dtype fp8 \\
          --rate 2.5 --prompt 1200 --output 250 --ttft 1s --tpot 60ms
      sweep init --gpu h100 --model config.json --traffic trace.csv \\
          --calibrate bench.json --calibrate startup.log -o mine.toml
      sweep init --gpu a100-80gb --model config.json -o - | less
    """
    from sweep.cli.init_given import inputs

    printed = file == "-"
    if printed and as_json:
        raise UsageFault("-o - and --json: stdout takes one of them; leave one out.")
    named = DEFAULT_FILE if printed else Path(file).name or DEFAULT_FILE
    if not printed:
        try:
            refuse_target(Path(file), force, inputs(options))  # before a long trace is read
        except (UsageFault, ResultFault) as fault:
            _refuse_options(options, fault)
            raise
    draft = _draft(named, options | {"as_json": as_json})
    if printed:
        write(draft.text)
        for sentence in _doubts(draft):
            complain(f"warning: {sentence}")
        return
    write_text(Path(file), draft.text, force, inputs(options))
    if as_json:
        from sweep.records.wording import CLAIM

        write_json({"file": file, **draft.as_json(), "claim": CLAIM})
    else:
        from sweep.report.init import init_page

        write_page(init_page(draft, file))


def _draft(named: str, options: dict[str, Any]) -> Draft:
    """The grid that the options describe.

    Raises:
        UsageFault, InputFault: with every fault of the options and the files.
    """
    from sweep.cli.init_given import Gathered, missing_steps, note_long_requests, read_slo, read_steps, read_traffic
    from sweep.cli.init_memory import read_memory_part
    from sweep.draft.grid import check, draft_example, draft_grid

    given = Gathered(options)
    if not any(given.said(name) for name in options if name != "as_json"):
        return draft_example(named)
    traffic = read_traffic(given)
    memory, steps, slo = read_memory_part(given, traffic), read_steps(given), read_slo(given)
    if traffic is not None:
        note_long_requests(given, traffic)
    given.attempt(lambda: check(options["name"], slo))
    if memory is not None and traffic is not None and not given.said("calibrate"):
        steps = missing_steps(given, memory, traffic)
    given.raise_if_any()
    assert memory is not None  # else there was a fault
    assert traffic is not None  # likewise
    assert steps is not None  # likewise
    assert slo is not None  # likewise
    return draft_grid(named, memory, traffic, steps, slo, options["name"])


def _refuse_options(options: dict[str, Any], target: UsageFault | ResultFault) -> None:
    """What is wrong with the options, where the file may not be written: said first, and found without long files.

    Raises:
        UsageFault, InputFault: an option is wrong; with every fault of the options and of the model's files.
    """
    from sweep.cli.init_given import Gathered, note_long_requests, read_slo, read_traffic
    from sweep.cli.init_memory import read_memory_part
    from sweep.draft.grid import check

    given = Gathered(options)
    traffic = None
    if not given.said("traffic") or any(given.said(name) for name in ("rate", "prompt", "output")):
        traffic = read_traffic(given)
    read_memory_part(given, traffic)
    slo = read_slo(given)
    if traffic is not None:
        note_long_requests(given, traffic)
    given.attempt(lambda: check(options["name"], slo))
    if given.usage:
        given.usage += target.faults if isinstance(target, UsageFault) else ()
        given.raise_if_any()


def _doubts(draft: Draft) -> list[str]:
    """What is not to be missed where the file itself is printed."""
    return [*(f"not your own yet: {gap}." for gap in draft.gaps), *draft.notes]
