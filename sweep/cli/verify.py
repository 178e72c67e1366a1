"""`sweep verify`: a result against the scalar reference."""

from __future__ import annotations

from pathlib import Path

import click

from sweep.cli.options import json_option
from sweep.cli.output import progress, write_json, write_page
from sweep.errors import AskedForFailure, UsageFault


@click.command(short_help="Check a result: seal, digests, and cells judged again.")
@click.argument("file", metavar="FILE.nc", type=click.Path(path_type=Path, readable=False))
@click.option("--all", "all_cells", is_flag=True, help="Judge every cell again, some 10 to 20 microseconds each.")
@click.option("--sample", type=click.IntRange(min=0), metavar="N", help="How many random cells beside the corners.")
@click.option("--best", "best_point", is_flag=True, help="Replay the certificate of the largest point instead.")
@json_option
def verify(file: Path, all_cells: bool, sample: int | None, best_point: bool, as_json: bool) -> None:
    """Check that FILE.nc is as a run left it, and judge cells again with the scalar reference.

    The seal, the digest of every value and the coordinates are checked whole; then the corners and a sample of cells,
    or all of them, are judged again in plain integers by code that shares nothing with the kernels. A difference
    exits with 1 and shows the cell and both values; an altered file is refused with 4.

    With --best the seal is checked, and everything that `sweep best` says of the largest point is judged again: the
    point and one permille more, its neighbours and holes, and that no configuration beats it: all of up to 20 000
    configurations (or with --all), else as many (--sample) drawn from the grid's digest.

    \b
    Examples:
      sweep verify h100.nc
      sweep verify h100.nc --sample 100000
      sweep verify h100.nc --best --all
      sweep verify small.nc --all --json
    """
    from sweep import api
    from sweep.report.inspect import difference_sentences, verify_page

    if all_cells and sample is not None:
        raise UsageFault("--all and --sample: all cells are no sample; leave one out.")
    if best_point:
        _verify_best(file, all_cells, sample, as_json)
        return
    with api.open_result(file) as result, progress("verifying", silent=as_json) as step:
        answer = (
            result.verify(all_cells, progress=step)
            if sample is None
            else result.verify(all_cells, sample, progress=step)
        )
    if as_json:
        write_json(answer.as_json())
    else:
        write_page(verify_page(str(file), answer))
    if answer.differences:
        raise AskedForFailure(difference_sentences(str(file), answer.differences))


def _verify_best(file: Path, all_configurations: bool, sample: int | None, as_json: bool) -> None:
    from sweep import api
    from sweep.query.replay import MAX_REPLAYED
    from sweep.report.relax import replay_page, replay_sentences

    most = MAX_REPLAYED if sample is None else sample
    with api.open_result(file) as result, progress("verifying", silent=as_json) as step:
        answer = result.verify_best(all_configurations, most, step)
    if as_json:
        write_json(answer.as_json())
    else:
        write_page(replay_page(str(file), answer))
    if answer.differences:
        raise AskedForFailure(replay_sentences(str(file), answer))
