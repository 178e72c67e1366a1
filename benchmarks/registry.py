"""The registry: a case is a spec (a grid at two scales) under a verb (what is done with it), with its targets."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

Scale = Literal["smoke", "full"]
SCALES: tuple[Scale, ...] = ("smoke", "full")
VERBS = ("mask", "capacity", "largest", "audit", "run", "best", "main-job", "start-up")
Timed = Callable[[], object]


class DifferentResult(Exception):
    """What is to be measured does not give the right answer, so there is nothing to measure."""


class NotAvailable(Exception):
    """A peer cannot run here; the message says what to install or why."""


@dataclass(frozen=True)
class Yardstick:
    """Something else that is timed in turn with the case, to divide by."""

    name: str
    reads: Literal["of", "times", "time"]
    """How the ratio is said: `0.3 of fill`, `3 x numba`, or `1.2 x the time of` it."""
    prepare: Callable[[], Timed]
    """Untimed set-up (allocation, compilation) that gives what is timed. Raises NotAvailable."""
    same: Callable[[object], None] = lambda result: None
    """Checks a result of it against the product's last one. Raises DifferentResult."""
    least_rounds: int = 1


@dataclass
class Prepared:
    """A case after its untimed set-up."""

    action: Timed
    """What is timed, planning included."""
    check: Callable[[], None]
    """Compares what the last action gave with the scalar reference. Raises DifferentResult."""
    in_child: Sequence[str]
    """Module and arguments of a Python process that does the action once, for its peak memory."""
    cells: int = 0
    """Operating points; 0 where the case has no grid."""
    configurations: int = 0
    """Cells at one traffic scale."""
    yardsticks: Sequence[Yardstick] = ()


@dataclass(frozen=True)
class Target:
    """What a case is wanted to reach at full scale."""

    measure: str
    """A yardstick's name (its ratio), or `seconds`, `peak_bytes`, `configurations_per_second`."""
    limit: float
    text: str
    at_most: bool = False
    """Whether the measure may not exceed the limit; else it may not fall below it."""


class Grids(Protocol):
    """What a case measures: something with a name, and a line that says what it is."""

    @property
    def name(self) -> str:
        """Short and stable, the first half of a case's key."""
        ...

    @property
    def about(self) -> str:
        """One line, with the lengths of its axes."""
        ...


@dataclass(frozen=True)
class Case:
    """One row of the table."""

    spec: Grids
    verb: str
    prepare: Callable[[Scale, Path], Prepared]
    """Untimed set-up at a scale, with a folder for files."""
    targets: Sequence[Target] = field(default=())
    patience_seconds: int = 600
    """A case that takes longer in all, set-up and peers included, is ended and says so."""

    @property
    def key(self) -> str:
        """Stable name: spec/verb."""
        return f"{self.spec.name}/{self.verb}"


_CASES: dict[str, Case] = {}


def register(case: Case) -> None:
    """Add a case; its key is its own."""
    if case.key in _CASES:
        raise ValueError(f"{case.key} is registered twice")
    _CASES[case.key] = case


def all_cases() -> dict[str, Case]:
    """Every case by key, by verb and then in the order in which the files of `benchmarks.cases` register them."""
    package = importlib.import_module("benchmarks.cases")
    for module in sorted(entry.name for entry in pkgutil.iter_modules(package.__path__)):
        importlib.import_module(f"benchmarks.cases.{module}")
    return dict(sorted(_CASES.items(), key=lambda item: VERBS.index(item[1].verb)))


def chosen(words: Sequence[str]) -> list[Case]:
    """The cases that any of the words names: a spec, a verb, or spec/verb; all where there are no words.

    Raises:
        LookupError: a word names none.
    """
    known = all_cases()
    unknown = [word for word in words if not any(word in _names(case) for case in known.values())]
    if unknown:
        names = sorted({name for case in known.values() for name in (case.spec.name, case.verb)})
        raise LookupError(f"no case {', '.join(unknown)}; take some of {', '.join(names)}, or spec/verb as --list says")
    return [case for case in known.values() if not words or _names(case) & set(words)]


def _names(case: Case) -> set[str]:
    return {case.spec.name, case.verb, case.key}
