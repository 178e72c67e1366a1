"""The command `sweep`."""

from __future__ import annotations

import io
import sys

import click

from sweep._version import __version__
from sweep.cli.autoscale import autoscale
from sweep.cli.best import best
from sweep.cli.calibrate import calibrate
from sweep.cli.completion import completion
from sweep.cli.cost import cost
from sweep.cli.diagnose import diagnose
from sweep.cli.diff import diff
from sweep.cli.encoding import HANDLER
from sweep.cli.explain import explain
from sweep.cli.fleet import fleet
from sweep.cli.frontier import frontier
from sweep.cli.info import info
from sweep.cli.init import init
from sweep.cli.manifest import manifest
from sweep.cli.memory import memory
from sweep.cli.plot import plot
from sweep.cli.program import Program
from sweep.cli.quantize import quantize
from sweep.cli.region import region
from sweep.cli.relax import relax
from sweep.cli.report import report
from sweep.cli.rollout import rollout
from sweep.cli.run import run
from sweep.cli.signals import catch_signals
from sweep.cli.simulate import simulate
from sweep.cli.traffic import traffic
from sweep.cli.verify import verify


@click.group(
    "sweep", cls=Program, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(__version__, "-V", "--version", prog_name="sweep", message="%(prog)s %(version)s")
@click.pass_context
def program(ctx: click.Context) -> None:
    """Exact, exhaustive search for the largest SLO-feasible operating point of an LLM serving replica.

    A grid file declares the SLO, the traffic, the scheduler and the axes to search. `run` judges every cell with a
    local fluid capacity model in exact integers and writes a netCDF file; the other commands ask that file. It is not
    a queueing analysis and not a device benchmark.

    \b
    Examples:
      sweep init --gpu h100 --model config.json --traffic trace.csv
      sweep run grids/h100.toml
      sweep best h100.nc --at traffic=1000 --minimize max_active_sequences
      sweep explain h100.nc --at slots=64 --at traffic=1200
      sweep region h100.nc --x slots --y share --at traffic=1000 --show limit

    \b
    Exit codes:
      0    done; "nothing is feasible" is an answer too
      1    what was asked to fail: verify differs, best --require finds nothing,
           diff --fail-on-regression finds one; and where the answer is no:
           a manifest does not start, a rollout halts or rolls back
      2    wrong usage: an unknown command, option, axis or value
      3    a wrong grid file, or a size that is refused or too large for memory
      4    a result file missing, damaged or foreign, or one cannot be written
      5    the self-check of a run failed: a bug; nothing was written
      6    not enough data to decide: neither a pass nor a failure
      130  interrupted (129 and 143: by SIGHUP and SIGTERM)
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help(), err=True)
        ctx.exit(2)


for command in (
    init,
    run,
    best,
    explain,
    region,
    frontier,
    relax,
    plot,
    report,
    simulate,
    verify,
    diff,
    traffic,
    memory,
    calibrate,
    quantize,
    fleet,
    autoscale,
    cost,
    manifest,
    diagnose,
    rollout,
    info,
    completion,
):
    program.add_command(command)


def main() -> None:
    """The command; `sweep.cli.start` calls it."""
    catch_signals()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # ⌈ and ‰ must not fail on a terminal of another encoding
            stream.reconfigure(errors=HANDLER)
    program.main(prog_name="sweep")
