"""`python -m benchmarks [--rounds N] [CASE …]`: one table of ratios."""

from __future__ import annotations

import argparse

from benchmarks.cases import CASES, Outcome


def line(outcome: Outcome) -> str:
    """One row of the table."""
    rate = f"{outcome.cells / outcome.seconds / 1e6:8.1f} M cells/s" if outcome.cells else " " * 18
    return (
        f"{outcome.case:32}{outcome.seconds:8.2f} s{rate}   {outcome.ratio:5.2f} x {outcome.against} "
        f"(wanted {outcome.limit})"
    )


def main() -> None:
    """Run the cases that were asked for, all by default."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"of: {', '.join(CASES)}")
    parser.add_argument("--rounds", type=int, default=5, help="how often each is measured; the median counts")
    options = parser.parse_args()
    unknown = [case for case in options.cases if case not in CASES]
    if unknown:
        parser.error(f"no case {', '.join(unknown)}; take some of {', '.join(CASES)}")
    for case in options.cases or CASES:
        print(line(CASES[case](options.rounds)), flush=True)


if __name__ == "__main__":
    main()
