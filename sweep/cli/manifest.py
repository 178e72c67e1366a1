"""`sweep manifest`: what is deployed as one unit; `check` says whether it starts, `diff` what changed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from sweep.cli.asked import asked
from sweep.cli.defaulted import Defaulted
from sweep.cli.options import InOrder, at_option, change_options, changes, fixed, json_option, slo_option
from sweep.cli.output import write_json, write_page
from sweep.cli.writing import write_text
from sweep.errors import AskedForFailure, NotEnoughData, UsageFault

if TYPE_CHECKING:
    from sweep.operate.manifest import Manifest

FILE = click.Path(path_type=Path, readable=False)


@click.group("manifest", cls=Defaulted, default="write", short_help="What is deployed, as one unit; check and diff it.")
def manifest() -> None:
    """Write what is deployed as one versioned unit, check that it can start, and compare two.

    `sweep manifest FILE.nc …` is short for `sweep manifest write FILE.nc …`, whose --help has the options. Each command
    has --json.

    \b
    Examples:
      sweep manifest h100.nc --model meta-llama/Llama-3.1-8B-Instruct \\
          --revision 0e9e39f2 --framework vllm==0.19.0 -o h100.manifest.json
      sweep manifest check h100.manifest.json --against h100.nc
      sweep manifest check --against h100.nc --flags "vllm serve M …"
      sweep manifest diff old.manifest.json h100.manifest.json
    """


@manifest.command("write", cls=InOrder, short_help="The manifest of an operating point, with its launch lines.")
@click.argument("file", metavar="GRID.toml|FILE.nc", type=FILE)
@click.option("--model", metavar="ID", help="The model: a name on a hub, or a folder.")
@click.option("--revision", metavar="REV", help="Its commit or tag; a branch such as main moves, so it is refused.")
@click.option("--framework", metavar="PIN", help="An exact pin: vllm==0.19.0, sglang==…, tensorrt-llm==….")
@click.option("--longest", metavar="TOKENS", type=click.IntRange(1), help="The longest request to accept.")
@at_option
@change_options
@slo_option
@click.option("-o", "--output", metavar="FILE", type=FILE, help="Write the manifest, canonical JSON, to a file.")
@click.option("--force", is_flag=True, help="Replace the file that is there.")
@json_option
def write(
    file: Path,
    model: str | None,
    revision: str | None,
    framework: str | None,
    longest: int | None,
    at: tuple[str, ...],
    set_: tuple[str, ...],
    axis: tuple[str, ...],
    slo: tuple[str, ...],
    output: Path | None,
    force: bool,
    as_json: bool,
) -> None:
    """Write the deployment manifest of an operating point, and how to launch it in three engines.

    Model, revision, framework pin, replicas, batch slots and the evidence (grid, contract, workload and audit by their
    digests) are one unit with one digest. The point is the largest feasible one, or what --at fixes. A manifest that
    cannot start is refused (exit 1): weights that do not fit, a longest sequence over the KV pool, more slots than the
    pool admits of the declared mix.

    \b
    Examples:
      sweep manifest h100.nc --model meta-llama/Llama-3.1-8B-Instruct \\
          --revision 0e9e39f2 --framework vllm==0.19.0 -o h100.manifest.json
      sweep manifest h100.nc --at traffic=1000 --model M --revision v1 \\
          --framework sglang==0.5.2 --longest 8192 --json
    """
    from sweep.operate.flags import NAMES, launch_flags
    from sweep.operate.manifest_check import check_manifest
    from sweep.operate.manifest_point import deployment_manifest
    from sweep.report.manifest import manifest_page

    given = {"--model": model, "--revision": revision, "--framework": framework}
    missing = [f"{name}: missing, a manifest pins it; give it." for name, value in given.items() if value is None]
    if missing:
        raise UsageFault(missing)
    assert model is not None
    assert revision is not None
    assert framework is not None
    question = asked(file, changes(), slo)
    found = deployment_manifest(question.grid, model, revision, framework, fixed(at), longest)
    start = check_manifest(found)
    engines = [found.engine, *(engine for engine in NAMES if engine != found.engine)]
    lines = [launch_flags(found, engine) for engine in engines]
    if output is not None:
        write_text(output, found.text(), force, [file])
    if as_json:
        launch = {line.engine: line.as_json() for line in lines}
        answer = {"manifest": found.as_json(), "check": start.as_json(), "launch": launch}
        write_json(question.json({**answer, "output": None if output is None else str(output)}))
        return
    page = manifest_page(found, start, lines, longest is not None)
    write_page(question.page(page if output is None else _with_output(page, output)))


def _with_output(page: list, output: Path) -> list:  # type: ignore[type-arg]
    from sweep.report.blocks import Paragraph, Section

    return [*page[:-1], Section("", (Paragraph(f"Manifest: {output}", keep=True),)), page[-1]]


@manifest.command("check", cls=InOrder, short_help="Whether a manifest, or a launch line, can start.")
@click.argument("file", metavar="[MANIFEST]", required=False, type=FILE)
@click.option("--flags", "line", metavar="LINE", help="A launch line to check, instead of what the manifest launches.")
@click.option("--against", metavar="GRID.toml|FILE.nc", type=FILE, help="The result that it was made from.")
@at_option
@slo_option
@json_option
def check(
    file: Path | None,
    line: str | None,
    against: Path | None,
    at: tuple[str, ...],
    slo: tuple[str, ...],
    as_json: bool,
) -> None:
    """Say whether a replica can start: do the weights fit, and the longest sequence and every slot in the KV pool?

    A manifest may be written by hand, without digest and evidence. --against judges its operating point again by the
    result that it names. --flags checks a launch line of vLLM, SGLang or TensorRT-LLM on the memory and the requests of
    the manifest, or of a result at --at (the largest feasible point if open). What a line leaves to an engine's own
    defaults is not known, and an unknown is not a pass.

    Exit codes: 0 it starts, 1 it does not, 6 too little is known.

    \b
    Examples:
      sweep manifest check h100.manifest.json
      sweep manifest check h100.manifest.json --against h100.nc --json
      sweep manifest check h100.manifest.json --flags "$(cat launch.sh)"
      sweep manifest check --against h100.nc \\
          --flags "vllm serve M --max-num-seqs 64 --max-model-len 8192"
    """
    from sweep.cli.manifest_checked import checked

    answer, page = checked(file, line, against, fixed(at), slo)
    if as_json:
        write_json(answer)
    else:
        write_page(page)
    where = "--flags" if line is not None else str(file)
    if answer["starts"] is False:
        raise AskedForFailure(f"{where}: does not start; see above for why.")
    if answer["starts"] is None:
        raise NotEnoughData(f"{where}: not known to start; give what is missing above.")


@manifest.command("diff", short_help="What changed from one manifest to another, field by field.")
@click.argument("old", metavar="OLD", type=FILE)
@click.argument("new", metavar="NEW", type=FILE)
@json_option
@click.option("--fail-on-difference", is_flag=True, help="Exit with 1 where they are not the same unit.")
def diff(old: Path, new: Path, as_json: bool, fail_on_difference: bool) -> None:
    """Compare two manifests field by field; equal ones are one unit, by their digest.

    \b
    Examples:
      sweep manifest diff old.manifest.json new.manifest.json
      sweep manifest diff old.manifest.json new.manifest.json --fail-on-difference
    """
    from sweep.operate.manifest import diff_manifests
    from sweep.records.wording import CLAIM
    from sweep.report.manifest import diff_page

    before, after = _both(old, new)
    found = diff_manifests(before, after)
    if as_json:
        differences = [one.as_json() for one in found]
        head = {"equal": not found, "old": before.digest, "new": after.digest}
        write_json({**head, "differences": differences, "claim": CLAIM})
    else:
        write_page(diff_page(before, after, found))
    if found and fail_on_difference:
        raise AskedForFailure(f"{new}: differs from {old}; --fail-on-difference makes this a failure.")


def _both(old: Path, new: Path) -> tuple[Manifest, Manifest]:
    """Two manifests; the faults of both come at once."""
    from sweep.errors import InputFault
    from sweep.operate.manifest_read import read_manifest

    found, faults = [], list[str]()
    for path in (old, new):
        try:
            found.append(read_manifest(path))
        except InputFault as fault:
            faults += fault.faults
    if faults:
        raise InputFault(faults)
    return found[0], found[1]
