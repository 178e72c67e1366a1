"""Ratios of now against ratios of before: what got worse by more than a stated share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.outcome import Outcome


@dataclass(frozen=True)
class Comparison:
    """What a comparison found, one line each."""

    worse: Sequence[str]
    """Fell by more than the share, or is no longer measured at all: a failure."""
    unpaired: Sequence[str]
    """On one side only: said, no failure."""
    compared: int
    """How many ratios have a partner."""


def compare(before: Sequence[Outcome], now: Sequence[Outcome], allow: float) -> Comparison:
    """Compare every ratio that both sides have.

    A ratio is a yardstick's seconds over the case's, so a smaller one is worse. A case that has ratios before and
    gives only a reason now is worse too; a peer that is not installed here is merely said.

    Args:
        before: rows of a baseline or an earlier run.
        now: rows of this run.
        allow: the share of its former value that a ratio may lose, 0…1.
    """
    worse, unpaired, compared = [], [], 0
    old, new = ({row.key: row for row in rows} for rows in (before, now))
    unpaired += [f"{key}: measured before, missing now" for key in old if key not in new]
    unpaired += [f"{key}: measured now, not before" for key in new if key not in old]
    for key in (key for key in old if key in new):
        if new[key].reason is not None:
            worse.append(f"{key}: not measured now: {new[key].reason}")
            continue
        for name, ratio in old[key].ratios.items():
            found = new[key].ratios.get(name)
            if found is None:
                unpaired.append(f"{key}: {name} missing now: {new[key].skipped.get(name, 'no such ratio')}")
                continue
            compared += 1
            if found < ratio * (1 - allow):
                lost = 100 * (1 - found / ratio)
                worse.append(f"{key}: {name} from {ratio:.3g} to {found:.3g}, {lost:.0f} % worse")
        unpaired += [f"{key}: {name} new" for name in new[key].ratios if name not in old[key].ratios]
    return Comparison(worse, unpaired, compared)
