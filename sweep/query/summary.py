"""What a run found, as JSON."""

from __future__ import annotations

from typing import Any

from sweep.engine.evaluate import Evaluation
from sweep.engine.run import RunSummary, evaluation_of
from sweep.query.best import find_best
from sweep.records.wording import CLAIM


def run_as_json(summary: RunSummary, ev: Evaluation | None = None) -> dict[str, Any]:
    """The answer of `run` with the stable keys of the definition."""
    tally = summary.tally
    best = find_best(summary.grid, evaluation_of(summary.grid) if ev is None else ev)
    return {
        "cells": {
            "total": tally.total,
            "invalid": tally.invalid,
            "rejected": tally.rejected,
            "within": tally.within,
        },
        "invalid_reasons": dict(summary.reasons),
        "violations": tally.hits(),
        "blocked_alone": tally.alone(),
        "best": best.as_json(),
        "result": str(summary.path),
        "claim": CLAIM,
    }
