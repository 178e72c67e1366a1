"""`sweep quantize`: which quantized form of a model to serve, by its measured loss of quality."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sweep.cli.asked import asked
from sweep.cli.options import InOrder, change_options, changes, json_option, pairs, slo_option
from sweep.cli.output import write_json, write_page
from sweep.errors import AskedForFailure, UsageFault

if TYPE_CHECKING:
    from fractions import Fraction

    from sweep.calibrate.candidates import Candidate


@click.command(cls=InOrder, short_help="Which quantization to serve, by its measured loss.")
@click.argument("file", metavar="[GRID.toml|FILE.nc]", required=False, type=click.Path(path_type=Path))
@click.option(
    "--tolerance", required=True, metavar="LOSS", help="The largest loss of quality that is tolerated, inclusive: 0.01."
)
@click.option("--by", metavar="AXIS", help="The axis of choices, where several set weights or KV width.")
@click.option(
    "--candidate",
    multiple=True,
    metavar="NAME=WEIGHTS[,KV]",
    help="A candidate without a grid: bytes of its weights, and of a KV value or its type: fp8=70GB,1.",
)
@click.option("--delta", multiple=True, metavar="NAME=LOSS", help="The measured loss of a candidate.")
@click.option(
    "--scores",
    multiple=True,
    metavar="NAME=FILE",
    help="Scores per item, CSV or JSON lines with item, base and candidate: the loss and its interval.",
)
@click.option("--base", metavar="NAME", help="The column of the base's scores, where it is not called base.")
@click.option("--lower-is-better", is_flag=True, help="Scores are errors or perplexities: the loss is their rise.")
@click.option("--cautious", is_flag=True, help="Judge measured scores by the upper end of their 95 % interval.")
@change_options
@slo_option
@json_option
@click.option("--require", is_flag=True, help="Exit with 1 where every candidate is rejected.")
def quantize(
    file: Path | None,
    tolerance: str,
    by: str | None,
    candidate: tuple[str, ...],
    delta: tuple[str, ...],
    scores: tuple[str, ...],
    base: str | None,
    lower_is_better: bool,
    cautious: bool,
    set_: tuple[str, ...],
    axis: tuple[str, ...],
    slo: tuple[str, ...],
    as_json: bool,
    require: bool,
) -> None:
    """Choose the smallest quantized form of a model whose measured loss of quality is tolerated.

    Of the candidates whose measured loss is at most --tolerance the one with the fewest bytes of weights is chosen,
    then the one with the narrower KV cache, then the first. A candidate that nobody measured is never chosen. From a
    grid with an axis of choices ([[axes.precision]], each with quality_delta) it also shows what each does to the
    largest operating point.

    A loss comes from the grid, from --delta, or from --scores: the mean over the items of base - candidate, exactly,
    with the interval +-1.96*s/sqrt(n) of paired differences.

    \b
    Examples:
      sweep quantize grids/precision.toml --tolerance 0.01 --delta fp8=0.004
      sweep quantize precision.nc --tolerance 0.5% --scores fp8=fp8.csv --cautious
      sweep quantize --tolerance 0.01 --candidate bf16=16GB,2 --delta bf16=0 \\
          --candidate int8=8.5GB,2 --delta int8=0.004
    """
    from sweep.calibrate.candidates import candidates_of, with_measurements
    from sweep.calibrate.quantized import decide, read_all_scores
    from sweep.report.quantize import quantize_page

    given = pairs("--candidate", candidate, "fp8=70GB,1", "candidate")
    stated = _numbers("--delta", pairs("--delta", delta, "fp8=0.004", "candidate"))
    files = pairs("--scores", scores, "fp8=scores.csv", "candidate")
    largest, overrides = _number("--tolerance", tolerance), changes()
    _check_source(file, given, [("--by", by), ("--set or --axis", overrides), ("--slo", slo)])
    _check_scores(files, [("--base", base), ("--lower-is-better", lower_is_better), ("--cautious", cautious)])
    scored = read_all_scores({name: str(path) for name, path in files.items()}, base, lower_is_better)
    question = None if file is None else asked(file, overrides, slo)
    name, found = (None, _candidates(given)) if question is None else candidates_of(question.grid, by)
    answer = decide(with_measurements(found, stated, scored), largest, cautious, name)
    if as_json:
        write_json(question.json(answer.as_json()) if question else answer.as_json())
    else:
        page = quantize_page(answer)
        write_page(question.page(page) if question else page)
    if require and answer.rejected:
        raise AskedForFailure("quantize: every candidate is rejected; --require makes this a failure.")


def _check_source(file: Path | None, given: Mapping[str, object], of_grids: Sequence[tuple[str, object]]) -> None:
    """Raise UsageFault unless candidates come from a grid or from options, and options about a grid have one."""
    if file is not None and given:
        raise UsageFault("quantize: got a grid and --candidate, wanted one of them; leave one out.")
    if file is not None:
        return
    if not given:
        raise UsageFault("quantize: got neither a grid nor --candidate, wanted one of them; give one.")
    faults = [f"{option}: goes with a grid only; leave it out, or give a grid." for option, value in of_grids if value]
    if faults:
        raise UsageFault(faults)


def _check_scores(files: Mapping[str, object], of_scores: Sequence[tuple[str, object]]) -> None:
    """Raise UsageFault where options about scores are given without any."""
    faults = [f"{option}: goes with --scores only; add it, or leave this out." for option, value in of_scores if value]
    if faults and not files:
        raise UsageFault(faults)


def _number(option: str, text: str) -> Fraction:
    """An exact decimal of an option, also in per cent."""
    from sweep.units import exact_decimal, parse_decimal

    plain = text.strip()
    digits = plain.removesuffix("%").strip()
    number = exact_decimal(parse_decimal(digits)) if digits.isascii() else None
    if number is None:
        raise UsageFault(f"{option} {text}: wanted a decimal such as 0.01, or 1%; correct it.")
    return number / 100 if plain.endswith("%") else number


def _numbers(option: str, given: dict[str, int | str]) -> dict[str, Fraction]:
    found, faults = {}, list[str]()
    for name, text in given.items():
        try:
            found[name] = _number(f"{option} {name}", str(text))
        except UsageFault as fault:
            faults += fault.faults
    if faults:
        raise UsageFault(faults)
    return found


def _candidates(given: Mapping[str, int | str]) -> list[Candidate]:
    """The candidates of --candidate, in the order typed."""
    from sweep.calibrate.candidates import Candidate
    from sweep.grid.faults import FieldError
    from sweep.grid.fields import FIELDS
    from sweep.hardware.quantization import REJECT_ALL
    from sweep.units import UnitError

    found, faults = [], list[str]()
    for name, value in given.items():
        if name == REJECT_ALL:
            faults.append(f"--candidate {name}={value}: this name is the answer where none is served; take another.")
            continue
        weights, comma, width = (part.strip() for part in str(value).partition(","))
        try:
            number = FIELDS["model", "weight_bytes"].integer(_plain(weights))
            kv = _width(width) if comma else None
        except (FieldError, UnitError) as error:
            faults.append(f"--candidate {name}={value}: {error}.")
            continue
        found.append(Candidate(name, number, kv))
    if faults:
        raise UsageFault(faults)
    return found


def _width(text: str) -> Fraction:
    """Bytes of a KV value, by the names that `sweep memory --kv-dtype` takes or as a ratio."""
    from sweep.hardware import width_of
    from sweep.units import UnitError

    width = width_of(text)
    if width.scale_bytes:
        raise UnitError(f"{width.name} has a scale per token and head beside its bytes; write bytes per value")
    return width.bytes_per_value


def _plain(text: str) -> int | str:
    """An integer as one, any other text as it is."""
    return int(text) if re.fullmatch(r"-?[0-9][0-9_]{0,30}", text) else text
