"""`python -m benchmarks.child SPEC/VERB SCALE ROUNDS`: measure a case in this process and print its row as JSON."""

from __future__ import annotations

import json
import sys

from benchmarks.measure import measure
from benchmarks.registry import SCALES, all_cases


def main(key: str, scale: str, rounds: str) -> None:
    """Measure and print."""
    row = measure(all_cases()[key], next(known for known in SCALES if known == scale), int(rounds))
    print(json.dumps(row.as_json()))


if __name__ == "__main__":
    main(*sys.argv[1:])
