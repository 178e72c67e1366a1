"""`python -m benchmarks [CASE …]`: one table of ratios. `python -m benchmarks growth`: cost against cells."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks import growth
from benchmarks.against import compare
from benchmarks.isolated import measured
from benchmarks.machine import facts
from benchmarks.outcome import Outcome
from benchmarks.readme import BENCHMARKS, benchmarks_block, rewrite
from benchmarks.registry import SCALES, Case, all_cases, chosen
from benchmarks.results import BadFile, Results, read
from benchmarks.table import plain

HELP = """The cases are specs (grids) under verbs (what is done with them); name a spec, a verb, or spec/verb.
Every ratio is seconds of something else over seconds of the case, measured in turn in one run: higher is better."""


def main(arguments: Sequence[str]) -> int:
    """Measure, print, write and compare; 0, or 1 where a ratio got worse, or 2 for a wrong use."""
    if arguments[:1] == ["growth"]:
        return growth.main(arguments[1:])
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        cases = chosen(options.cases)
        if options.list:
            print(_listed(cases))
            return 0
        results = _results(options, cases)
    except (LookupError, BadFile) as fault:
        parser.error(str(fault.args[0]))
    print(plain(results.rows), flush=True)
    try:
        return _use(options, results)
    except BadFile as fault:
        parser.error(str(fault))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=HELP)
    parser.add_argument("cases", nargs="*", metavar="CASE", help="all by default; --list names them")
    parser.add_argument("--list", action="store_true", help="name every case, say what it is and what it must reach")
    parser.add_argument(
        "--rounds", type=_at_least_one, default=5, metavar="N", help="how often each is timed at least (5)"
    )
    parser.add_argument("--scale", choices=SCALES, default="full", help="smoke: the same code on small grids")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows with every figure")
    parser.add_argument(
        "--from", dest="earlier", type=Path, metavar="FILE", help="take cases that are not named from this file"
    )
    parser.add_argument("--against", type=Path, metavar="FILE", help="exit 1 where a ratio got worse than in FILE")
    parser.add_argument(
        "--allow", type=_share, default=0.5, metavar="SHARE", help="the share of itself that a ratio may lose (0.5)"
    )
    parser.add_argument("--baseline", type=Path, metavar="FILE", help="write the ratios only, for --against")
    parser.add_argument("--readme", action="store_true", help="rewrite the table of README.md")
    return parser


def _at_least_one(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"got {text}, wanted 1 or more")
    return number


def _share(text: str) -> float:
    share = float(text)
    if not 0 <= share < 1:
        raise argparse.ArgumentTypeError(f"got {text}, wanted 0 up to, not including, 1")
    return share


def _listed(cases: Sequence[Case]) -> str:
    width = max(len(case.key) for case in cases)
    wanted = ["; ".join(target.text for target in case.targets) for case in cases]
    lines = [
        f"{case.key:{width}}  {case.spec.about}" + (f"  [{text}]" if text else "")
        for case, text in zip(cases, wanted, strict=True)
    ]
    return "\n".join(lines)


def _results(options: argparse.Namespace, cases: Sequence[Case]) -> Results:
    machine = facts()
    if options.earlier is None:
        return Results(options.scale, options.rounds, machine, _measured(cases, options))
    earlier = read(options.earlier)
    if not options.cases:
        return earlier
    if (earlier.scale, earlier.machine) != (options.scale, machine):
        raise BadFile(f"{options.earlier.name}: of another machine, version or scale; measure all cases anew.")
    rows = {row.key: row for row in earlier.rows} | {row.key: row for row in _measured(cases, options)}
    ordered = [rows[key] for key in all_cases() if key in rows]
    return Results(options.scale, min(options.rounds, earlier.rounds), machine, ordered)


def _measured(cases: Sequence[Case], options: argparse.Namespace) -> list[Outcome]:
    rows = []
    for number, case in enumerate(cases, start=1):
        print(f"{number} of {len(cases)}: {case.key}", file=sys.stderr, flush=True)
        rows.append(measured(case, options.scale, options.rounds))
    return rows


def _use(options: argparse.Namespace, results: Results) -> int:
    """What else is to be done with the rows; files first, so that a failing comparison keeps them."""
    actions: list[tuple[Path | None, Callable[[Path], None]]] = [
        (options.json, results.write),
        (options.baseline, results.write_baseline),
    ]
    for path, write in actions:
        if path is not None:
            write(path)
    if options.readme:
        if results.scale != "full":
            raise BadFile("README.md: its table is of full scale; leave --scale smoke out.")
        rewrite({BENCHMARKS: benchmarks_block(results)})
    if options.against is None:
        return 0
    before = read(options.against)
    if before.scale != results.scale:
        raise BadFile(f"{options.against.name}: measured at scale {before.scale}, not {results.scale}; they differ.")
    keys = {case.key for case in chosen(options.cases)}
    found = compare([row for row in before.rows if not options.cases or row.key in keys], results.rows, options.allow)
    print(
        f"\nagainst {options.against.name}, by over {options.allow:.0%}: {len(found.worse)} worse of {found.compared}"
    )
    for line in [f"worse: {line}" for line in found.worse] + [f"unpaired: {line}" for line in found.unpaired]:
        print(line)
    return 1 if found.worse else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
