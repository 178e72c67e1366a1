"""`sweep plot`: pictures for papers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from sweep.cli.asked import Asked, asked
from sweep.cli.options import (
    InOrder,
    at_option,
    change_options,
    changes,
    fixed,
    json_option,
    objective_options,
    objectives,
    slo_option,
)
from sweep.cli.output import write_json, write_page
from sweep.cli.plot_kinds import KINDS, OPTIONS, WITHOUT_A_KIND, Drawing, Wanted, file_of, refuse_foreign
from sweep.cli.writing import refuse_target, write_bytes
from sweep.errors import UsageFault

_FORMATS = ("png", "svg", "pdf")
_WIDTHS = {"column": 3.3, "double": 7.0}
_NARROWEST, _WIDEST = 2.5, 20.0
_MOST_POINTS = 10_000
_INCHES = re.compile(r"([0-9]{1,2}(?:\.[0-9]{1,3})?)( ?in)?")


@click.command(cls=InOrder, short_help="Pictures for papers: region, frontier, capacity, simulate.")
@click.argument("file", metavar="FILE.nc|GRID.toml", type=click.Path(path_type=Path, readable=False))
@click.argument("kind", required=False, metavar=f"[{'|'.join(KINDS)}]", type=click.Choice(tuple(KINDS)))
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(path_type=Path, readable=False),
    help="A name in .png, .svg or .pdf.",
)
@click.option("--format", "form", type=click.Choice(_FORMATS), help="Of pictures without -o.  [default: png]")
@click.option(
    "--width", metavar="WIDTH", default="column", show_default=True, help="column (3.3), double (7) or inches."
)
@click.option("--x", metavar="AXIS", help="The axis across; default: batch slots.")
@click.option("--y", metavar="AXIS", help="The axis up; default: the kind's own.")
@at_option
@click.option("--show", metavar="WHAT", help="With region: whatever `sweep region --show` takes.")
@click.option("--bound", metavar="NAME", help="With slack: the bound.")
@objective_options
@click.option(
    "--limit", type=click.IntRange(min=1), metavar="N", help=f"Points of a frontier.  [default: {_MOST_POINTS}]"
)
@slo_option
@change_options
@click.option("--force", is_flag=True, help="Replace a file that is no picture of `sweep plot`.")
@json_option
def plot(
    file: Path,
    kind: str | None,
    output: Path | None,
    form: str | None,
    width: str,
    x: str | None,
    y: str | None,
    at: tuple[str, ...],
    show: str | None,
    bound: str | None,
    maximize: tuple[str, ...],
    minimize: tuple[str, ...],
    limit: int | None,
    slo: tuple[str, ...],
    set_: tuple[str, ...],
    axis: tuple[str, ...],
    force: bool,
    as_json: bool,
) -> None:
    """Draw FILE.nc as pictures: the exact data of `sweep region` and `sweep frontier`, with the claim as a footer.

    Without a kind the three that matter most are written: region, capacity and frontier, as FILE-KIND.png in the
    current folder. A picture that `sweep plot` made is replaced, any other file only with --force. The extra `plot`
    (matplotlib) is needed. The same file gives the same bytes on the same matplotlib.

    \b
    region    where points are feasible, and which bound limits them elsewhere;
              --show draws any map of `sweep region`
    frontier  the points of `sweep frontier` with the largest point and the SLO
    capacity  the largest traffic of each configuration
    limits    what limits that traffic; with a traffic (--at, --x, --y), there
    slack     units left under a bound; default: what stops the largest point
    simulate  each bound: the audit beside a simulation of 2000 Poisson requests

    \b
    Keys of --json: pictures (file, kind, format, width_inches; of a map show, x,
    y, at, filled, largest; of a frontier objectives, points, total, largest), claim.

    \b
    Examples:
      sweep plot h100.nc
      sweep plot h100.nc region --at traffic=1000 --y share -o region.svg
      sweep plot h100.nc frontier --maximize traffic --minimize slots --width double
      sweep plot h100.nc slack --bound max_ttft_ms --slo max_ttft_ms=300 --format pdf
    """
    tools = _drawing_tools()
    refuse_foreign(kind, {name: bool(click.get_current_context().params[name]) for name in OPTIONS})
    inches = _inches(width)
    targets = _targets(file, kind, output, form)
    for target in targets.values():
        refuse_target(target, force or tools.is_ours(target), [file])
    question = asked(file, changes(), slo)
    wanted = _wanted(question, fixed(at), (x, y), (show, bound), limit)
    drawings = {one: KINDS[one].make(wanted) for one in targets}
    pictures = {one: _picture(tools, drawings[one], inches, one, target, question) for one, target in targets.items()}
    for one, target in targets.items():  # all are drawn before the first is written
        write_bytes(target, pictures[one], force or tools.is_ours(target), [file])
    _say(question, targets, drawings, inches, as_json)


def _drawing_tools() -> Any:
    """`sweep.report.pictures.files`, which needs the extra.

    Raises:
        UsageFault: there is no matplotlib.
    """
    try:
        from sweep.report.pictures import files
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "matplotlib":
            raise
        raise UsageFault(
            "sweep plot: draws with matplotlib, which is not installed; install the extra plot, as by "
            "pip install 'sweep[plot]'."
        ) from error
    return files


def _inches(width: str) -> float:
    """The width of a picture.

    Raises:
        UsageFault: no width, or one that nothing can be read in.
    """
    if width in _WIDTHS:
        return _WIDTHS[width]
    match = _INCHES.fullmatch(width)
    inches = float(match[1]) if match else 0.0
    if not _NARROWEST <= inches <= _WIDEST:
        raise UsageFault(
            f"--width {width}: wanted column (3.3 inches), double (7) or inches from {_NARROWEST} to {_WIDEST:g}; "
            f"write --width 3.3, say."
        )
    return inches


def _targets(file: Path, kind: str | None, output: Path | None, form: str | None) -> dict[str, Path]:
    """Which kinds are drawn, and into which files.

    Raises:
        UsageFault: a name for several pictures, one without an ending that is a format, or with another than asked for.
    """
    if output is None:
        return {one: file_of(one, file, form or _FORMATS[0]) for one in ((kind,) if kind else WITHOUT_A_KIND)}
    if kind is None:
        raise UsageFault(
            f"-o {output}: is one name, and without a kind three pictures are drawn; name one of {', '.join(KINDS)}, "
            f"or leave -o out."
        )
    ending = output.suffix[1:].lower()
    if ending not in _FORMATS:
        raise UsageFault(f"-o {output}: wanted a name in .png, .svg or .pdf, which says the format; rename it.")
    if form not in (None, ending):
        raise UsageFault(f"--format {form}: -o {output} is another format; leave --format out, or rename the file.")
    return {kind: output}


def _wanted(
    question: Asked,
    at: dict[str, int | str],
    sides: tuple[str | None, str | None],
    shown: tuple[str | None, str | None],
    limit: int | None,
) -> Wanted:
    from sweep.engine.run import evaluation_of

    return Wanted(question, evaluation_of(question.grid), at, *sides, *shown, objectives(), limit or _MOST_POINTS)


def _picture(tools: Any, drawing: Drawing, inches: float, kind: str, target: Path, question: Asked) -> bytes:
    about = f"grid_sha256 {question.grid.sha256}"
    made: bytes = tools.picture(lambda: drawing.draw(inches), kind, target.suffix[1:].lower(), about)
    return made


def _say(
    question: Asked, targets: Mapping[str, Path], drawings: Mapping[str, Drawing], inches: float, as_json: bool
) -> None:
    """Which files were written."""
    if as_json:
        from sweep.records.wording import CLAIM

        facts = [
            {
                "file": str(target),
                "kind": kind,
                "format": target.suffix[1:].lower(),
                "width_inches": f"{inches:g}",
                **drawings[kind].facts,
            }
            for kind, target in targets.items()
        ]
        write_json(question.json({"pictures": facts, "claim": CLAIM}))
        return
    from sweep.report.blocks import CLAIM as CLAIM_SECTION
    from sweep.report.blocks import Paragraph, Section

    lines = tuple(Paragraph(f"{kind}: {target}", keep=True) for kind, target in targets.items())
    write_page([*question.page([Section("", lines)]), CLAIM_SECTION])
