"""`python -m benchmarks.once SPEC/VERB SCALE`: the set-up and the action of a case, once, and nothing else."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.registry import SCALES, all_cases


def main(key: str, scale: str) -> None:
    """Run the case."""
    with TemporaryDirectory() as folder:
        all_cases()[key].prepare(next(known for known in SCALES if known == scale), Path(folder)).action()


if __name__ == "__main__":
    main(*sys.argv[1:])
