"""`sweep calibrate`: measured files to the step time, KV pool and classes of a grid."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sweep.cli.options import json_option
from sweep.cli.output import write, write_json, write_page
from sweep.cli.program import complain
from sweep.cli.writing import write_text
from sweep.errors import UsageFault

if TYPE_CHECKING:
    from sweep.calibrate.calibration import Calibration


@click.command(short_help="Measured results to the step time of a grid.")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--unit",
    type=click.Choice(["ns", "us", "ms", "s"]),
    help="Unit of times, where the format does not fix it (a CSV whose column names none).",
)
@click.option(
    "--chunk-tokens",
    type=click.IntRange(min=1),
    metavar="N",
    help="Tokens that the engine put in a step at most (vLLM --max-num-batched-tokens), where no file says it.",
)
@click.option(
    "--classes",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    metavar="N",
    help="How many request classes, by length.",
)
@click.option(
    "--kv-bytes-per-token",
    type=click.IntRange(min=1),
    metavar="N",
    help="KV bytes of a token on one GPU: then the pool is exact in bytes.",
)
@click.option("--block-tokens", type=click.IntRange(min=1), metavar="N", help="Tokens of a KV block.")
@click.option(
    "--per-prefill-token-ns",
    type=click.IntRange(min=1),
    metavar="N",
    help="What a prefill token takes, where the files cannot tell it from decoding.",
)
@click.option("--toml", "as_toml", is_flag=True, help="Print the table [step_time] and nothing else.")
@click.option("-o", "--output", metavar="FILE.toml", type=click.Path(path_type=Path), help="Write that table.")
@click.option("--force", is_flag=True, help="Replace FILE.toml if it exists.")
@json_option
def calibrate(
    files: tuple[Path, ...],
    unit: str | None,
    chunk_tokens: int | None,
    classes: int,
    kv_bytes_per_token: int | None,
    block_tokens: int | None,
    per_prefill_token_ns: int | None,
    as_toml: bool,
    output: Path | None,
    force: bool,
    as_json: bool,
) -> None:
    """Learn step time, token capacity, KV pool and request classes from what was measured on one engine.

    The coefficients of [step_time] are fitted by non-negative least squares in exact arithmetic and rounded up to whole
    ns. The range in which they were measured goes with them: `sweep run` warns where an axis leaves it. What the files
    cannot tell is said, not guessed.

    \b
    Read:
      vLLM bench serve --save-result (JSON, several objects in one file),
      SGLang bench_serving (JSONL), GuideLLM version 2 (JSON), AIPerf (JSON),
      a measured vLLM run: requests (JSONL), one-second series (CSV), set-up,
      vLLM start-up log, Prometheus snapshot of vLLM,
      CSV of step times: batch, chunk, step_ms (or step and --unit)

    \b
    How a summary becomes a step:
      batch  1 + (m - 1)/m * requests/s * time that one decodes; m in flight
      chunk  (m - 1)/m * prompt tokens/s * mean ITL (1 in place of (m - 1)/m where
             the client had no limit)
      step   mean ITL
      With one request at a time its TTFT is a step of its prompt and no batch.

    \b
    Examples:
      sweep calibrate bench.json
      sweep calibrate c1.json c8.json c64.json startup.log --chunk-tokens 2048
      sweep calibrate requests.jsonl timeseries.csv meta.json --classes 3
      sweep calibrate steps.csv --unit us -o step_time.toml
      sweep calibrate bench.json --json | jq .step_time.points
    """
    from sweep.calibrate.calibration import calibration

    if as_toml and as_json:
        raise UsageFault("--toml and --json: stdout takes one of them; leave one out.")
    found = calibration(files, unit, chunk_tokens, classes, kv_bytes_per_token, block_tokens, per_prefill_token_ns)
    if as_toml or output is not None:
        _table(found, output, force, files, show=as_toml)
    if as_json:
        write_json(found.as_json())
    elif not as_toml:
        from sweep.report.calibrate import calibrate_page

        write_page(calibrate_page(found))


def _table(found: Calibration, output: Path | None, force: bool, files: Sequence[Path], show: bool) -> None:
    """Write the table `[step_time]` to a file, show it, or both; what is doubtful goes to stderr beside it."""
    from sweep.calibrate.tables import step_time_table

    text = step_time_table(found)
    if output is not None:
        write_text(output, text, force, files)
    for flag in found.flags if show else ():
        complain(f"warning: {flag}.")
    if show:
        write(text)
