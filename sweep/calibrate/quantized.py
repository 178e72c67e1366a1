"""The quantization decision over candidates, and what it rests on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from sweep.calibrate.candidates import Candidate, candidates_of, exact_text, with_measurements
from sweep.calibrate.scores import PairedDelta, read_scores
from sweep.errors import InputFault, UsageFault
from sweep.grid.model import Grid
from sweep.hardware.quantization import REJECT_ALL, Number, decide_quantization
from sweep.records.wording import CLAIM
from sweep.units import exact_decimal, shown


@dataclass(frozen=True)
class Quantization:
    """The decision, and what it rests on.

    Attributes:
        chosen: the candidate's name, or `reject_all`.
        tolerance: the largest loss of quality, inclusive.
        cautious: whether measured intervals count with their upper end.
        axis: the grid's axis of choices; None without a grid.
        candidates: in the order in which ties are decided.
    """

    chosen: str
    tolerance: Fraction
    cautious: bool
    axis: str | None
    candidates: tuple[Candidate, ...]

    @property
    def candidate(self) -> Candidate | None:
        """The chosen candidate; None where all are rejected."""
        return next((one for one in self.candidates if one.name == self.chosen), None)

    @property
    def rejected(self) -> bool:
        """Whether no candidate may be served."""
        return self.chosen == REJECT_ALL

    def verdict(self, candidate: Candidate) -> str:
        """What the decision says of one candidate, in a few words."""
        delta = candidate.judged(self.cautious)
        if delta is None:
            return "not measured"
        if delta > self.tolerance:
            return "loses too much"
        return "chosen" if candidate.name == self.chosen else "within"

    def as_json(self) -> dict[str, Any]:
        """With stable keys."""
        return {
            "decision": self.chosen,
            "tolerance": exact_text(self.tolerance),
            "cautious": self.cautious,
            "axis": self.axis,
            "candidates": [{**one.as_json(self.cautious), "verdict": self.verdict(one)} for one in self.candidates],
            "claim": CLAIM,
        }


def decide(
    candidates: Sequence[Candidate], tolerance: Fraction, cautious: bool = False, axis: str | None = None
) -> Quantization:
    """The decision over candidates: the least weight bytes within the tolerance; of equal ones the fewer KV bytes per
    token, then the first.

    Raises:
        UsageFault: no candidate.
        RecordFault: two candidates of one name.
    """
    if not candidates:
        raise UsageFault("quantize: no candidate; give a grid with an axis of choices, or --candidate NAME=WEIGHTS.")
    ordered = _by_kv(candidates)
    chosen = decide_quantization([(one.name, one.weight_bytes, one.judged(cautious)) for one in ordered], tolerance)
    return Quantization(chosen, tolerance, cautious, axis, tuple(candidates))


def _by_kv(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The candidates by their KV cache, narrowest first, where all have one; equal ones stay in order."""
    for sizes in (
        [one.kv_bytes_per_token for one in candidates],
        [one.kv_bytes_per_value for one in candidates],
    ):
        known = [size for size in sizes if size is not None]
        if len(known) == len(candidates):
            order = sorted(range(len(known)), key=known.__getitem__)
            return [candidates[at] for at in order]
    return list(candidates)


def read_all_scores(
    files: Mapping[str, str | Path], base: str | None = None, lower_is_better: bool = False
) -> dict[str, PairedDelta]:
    """The measured loss of each candidate by its file of scores; see `sweep.calibrate.scores.read_scores`.

    Raises:
        InputFault: files that are wrong; every fault of every file at once.
    """
    found, faults = {}, list[str]()
    for name, path in files.items():
        try:
            found[name] = read_scores(path, name, base, lower_is_better)
        except InputFault as fault:
            faults += fault.faults
    if faults:
        raise InputFault(faults)
    return found


def quantize_grid(
    grid: Grid,
    max_tolerated_quality_delta: Number,
    axis: str | None = None,
    deltas: Mapping[str, Number] | None = None,
    scores: Mapping[str, str | Path] | None = None,
    base: str | None = None,
    lower_is_better: bool = False,
    cautious: bool = False,
) -> Quantization:
    """Which choice of a grid to serve: the smallest weights whose measured loss of quality is tolerated.

    Args:
        grid: with an axis of named choices, which may carry `quality_delta`.
        max_tolerated_quality_delta: the largest loss, inclusive, in the unit of the deltas.
        axis: the axis of choices; None for the one that sets weights or KV width.
        deltas: choice -> measured loss, in place of the grid's.
        scores: choice -> file of scores per item, from which the loss is computed with a 95 % interval.
        base, lower_is_better: as in `sweep.calibrate.scores.read_scores`.
        cautious: judge a file's loss by the upper end of its interval.

    Raises:
        UsageFault: no such axis or choice, several that would do, a number that is none.
        InputFault: a file of scores is wrong.
    """
    tolerance = _exact("the tolerance", max_tolerated_quality_delta)
    stated = {name: _exact(f"the delta of {name}", value) for name, value in (deltas or {}).items()}
    scored = read_all_scores(scores or {}, base, lower_is_better)
    name, candidates = candidates_of(grid, axis)
    return decide(with_measurements(candidates, stated, scored), tolerance, cautious, name)


def _exact(what: str, value: Number) -> Fraction:
    number = exact_decimal(value)
    if number is None:
        raise UsageFault(f"{what}: got {shown(value)}, wanted an exact decimal; give an int, a Decimal or a text.")
    return number
