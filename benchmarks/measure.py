"""Measuring a case: set-up untimed, equality first, then best of rounds, the yardsticks in turn with it."""

from __future__ import annotations

import itertools
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.isolated import peak_bytes
from benchmarks.outcome import Outcome, judged, not_measured
from benchmarks.registry import Case, DifferentResult, NotAvailable, Prepared, Scale, Timed, Yardstick

SLOW_SECONDS = 10.0
"""What takes longer than this once is not repeated as a yardstick."""

BUDGET_SECONDS = 40.0
"""A case or a yardstick is not repeated once its rounds have taken this long."""

EXTRA_SECONDS = 6.0
"""Rounds go on for this long at full scale: where each is short, more of them cost little and shed noise."""

MOST_ROUNDS = 50
"""Of those that were not asked for."""


@dataclass
class Clocked:
    """Something timed, and its times so far in seconds."""

    action: Timed
    times: list[float] = field(default_factory=list)

    def run(self) -> object:
        """Once more."""
        start = time.perf_counter()
        result = self.action()
        self.times.append(time.perf_counter() - start)
        return result

    @property
    def best(self) -> float:
        """Noise only ever adds time, so the least is nearest to the cost."""
        return min(self.times)


def measure(case: Case, scale: Scale, rounds: int, memory: bool = True) -> Outcome:
    """One row; a wrong answer of the case or of a peer is a reason, never a time.

    Args:
        case: what to measure.
        scale: `smoke` or `full`.
        rounds: how often the case is timed at least; the best counts.
        memory: whether a process of its own measures the peak memory.
    """
    with TemporaryDirectory() as folder:
        try:
            prepared = case.prepare(scale, Path(folder))
            ours = Clocked(prepared.action)
            ours.run()
            prepared.check()
            others, skipped = _checked(prepared)
            _in_turn(ours, others, rounds, EXTRA_SECONDS if scale == "full" else 0.0)
            peak = peak_bytes(prepared.in_child) if memory else None
        except (DifferentResult, NotAvailable) as fault:
            return not_measured(case, str(fault), scale == "full")
    row = Outcome(
        case.spec.name,
        case.verb,
        case.spec.about,
        prepared.cells,
        prepared.configurations,
        ours.best,
        peak,
        {stick.name: timed.best / ours.best for stick, timed in others},
        {stick.name: stick.reads for stick, _ in others},
        skipped,
    )
    return replace(row, targets=judged(case.targets, row, scale == "full"))


def _checked(prepared: Prepared) -> tuple[list[tuple[Yardstick, Clocked]], dict[str, str]]:
    """Every yardstick that runs here and gives the same result, after one run; and why the others are left out."""
    others, skipped = [], {}
    for stick in prepared.yardsticks:
        try:
            timed = Clocked(stick.prepare())
            stick.same(timed.run())
        except (NotAvailable, DifferentResult) as fault:
            skipped[stick.name] = str(fault)
        else:
            others.append((stick, timed))
    return others, skipped


def _in_turn(ours: Clocked, others: list[tuple[Yardstick, Clocked]], rounds: int, extra_seconds: float) -> None:
    """Rounds of everything, one after the other, so that a drift of the machine's speed hits all."""
    least = max([rounds, *[stick.least_rounds for stick, _ in others]])
    begun = time.perf_counter()
    for number in itertools.count(1):
        more = number < MOST_ROUNDS and time.perf_counter() - begun < extra_seconds
        if number >= least and not more:
            return
        if (number < rounds or more) and sum(ours.times) < BUDGET_SECONDS:
            ours.run()
        for stick, timed in others:
            due = number < max(rounds, stick.least_rounds) or more
            if due and timed.best < SLOW_SECONDS and sum(timed.times) < BUDGET_SECONDS:
                timed.run()
