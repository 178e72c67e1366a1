"""`verify --best`: everything that `best` says of the largest point, judged again by the scalar reference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sweep.engine.check import drawn_indices
from sweep.engine.largest import CAPACITY
from sweep.engine.opening import Array
from sweep.grid.model import Grid
from sweep.query.best import BestAnswer
from sweep.query.cell import Cell, cell_at, codes_of
from sweep.query.verify import MAX_DIFFERENCES, Progress
from sweep.records.wording import CLAIM
from sweep.reference.judge import judge

Index = tuple[int, ...]

MAX_REPLAYED = 20_000
"""Up to this many configurations a replay judges all of them, else as many drawn ones."""


@dataclass(frozen=True)
class Replay:
    """What the reference says of a certificate."""

    checked: int
    """Cells that the reference judged."""
    judged: int
    """Configurations among them of which the reference says whether they beat the best point."""
    configurations: int
    """All configurations of the answer."""
    differences: tuple[Mapping[str, Any], ...]
    """The first differences: point, what was claimed of it (`variable`, `stored`), and the reference's word."""

    def as_json(self) -> dict[str, Any]:
        """With stable keys."""
        return {
            "checked": self.checked,
            "differences": [dict(difference) for difference in self.differences],
            "configurations": {"judged": self.judged, "all": self.configurations},
            "claim": CLAIM,
        }


def replay(
    grid: Grid,
    answer: BestAnswer,
    all_configurations: bool = False,
    sample: int = MAX_REPLAYED,
    progress: Progress | None = None,
    stored: Array | None = None,
) -> Replay:
    """Judge everything that an answer of `best` in the default order claims again, by the scalar reference.

    The point must be feasible at its scale and infeasible at one permille more; every neighbour and hole as claimed;
    and no configuration may carry more, or as much and stand earlier in the default order. Where nothing is feasible,
    no configuration may be at 1 ‰ of the traffic.

    Args:
        grid: the grid.
        answer: what `best` said of the whole grid, without other objectives.
        all_configurations: judge every configuration, however many there are.
        sample: up to this many configurations all are judged, else as many drawn from the grid's digest.
        progress: called with the configurations judged and all to judge.
        stored: the capacities that a result file holds; the largest must be the point's scale.
    """
    replayed = _Replayed(grid)
    if answer.cell is not None:
        replayed.check_point(answer, answer.cell)
    if stored is not None:
        replayed.check_stored(answer, int(stored.max()))
    everything = all_configurations or grid.configurations <= sample
    todo = np.ndindex(grid.shape[:-1]) if everything else _drawn(grid, sample)
    total = grid.configurations if everything else sample
    judged = 0
    for configuration in todo:
        replayed.check_rival(answer.cell, tuple(configuration))
        judged += 1
        if progress is not None:
            progress(judged, total)
        if len(replayed.differences) >= MAX_DIFFERENCES:
            break
    found = tuple(replayed.differences[:MAX_DIFFERENCES])
    return Replay(replayed.checked, judged, grid.configurations, found)


def _drawn(grid: Grid, sample: int) -> Iterator[Index]:
    """So many distinct configurations, fewer than all, drawn from the grid's digest."""
    seen: set[Index] = set()
    # Fewer than n of n values: the draws until then are n·ln n on average, and 64·n·ln n never happens.
    draws = drawn_indices(grid, 64 * sample * grid.configurations.bit_length(), "best")
    while len(seen) < sample:
        configuration = next(draws)[:-1]
        if configuration not in seen:
            seen.add(configuration)
            yield configuration


class _Replayed:
    def __init__(self, grid: Grid) -> None:
        self._grid = grid
        self.checked = 0
        self.differences: list[Mapping[str, Any]] = []

    def _judged(self, configuration: Index, scale: int) -> Cell:
        self.checked += 1
        return cell_at(self._grid, (*configuration, 0), scale)

    def _feasible(self, configuration: Index, scale: int) -> bool:
        self.checked += 1
        return judge(self._grid.fields((*configuration, 0), scale), self._grid.class_ids).violations == 0

    def _claim(self, cell: Cell, variable: str, claimed: str, found: str) -> None:
        if claimed != found:
            point = dict(cell.point)
            self.differences.append({"point": point, "variable": variable, "stored": claimed, "reference": found})

    def check_point(self, answer: BestAnswer, best: Cell) -> None:
        """The point itself, the next permille, every neighbour and every hole."""
        index, scale = _place(self._grid, best)
        self._claim(best, "best", "within", self._judged(index, scale).status)
        beyond = self._judged(index, scale + 1)
        claimed = "nothing" if answer.limiting is None else _said(answer.limiting)
        self._claim(beyond, "limiting_violations", claimed, _said(beyond))
        if beyond.status == "within":
            self._claim(beyond, "best", "not within at one permille more", "within")
        neighbours = {neighbour.axis: neighbour.cell for neighbour in answer.neighbours}
        for position, axis in enumerate(self._grid.axes[:-1]):
            name = axis.name
            steps = [(*index[:position], i, *index[position + 1 :]) for i in range(len(axis))]
            said = neighbours.get(name)
            if index[position] + 1 < len(axis):
                self._claim_neighbour(self._judged(steps[index[position] + 1], scale), name, said)
            elif said is not None:
                self._claim(said, f"neighbours.{name}", _said(said), "the axis ends before it")
            holes = [axis.label(i) for i in range(index[position]) if not self._feasible(steps[i], scale)]
            self._claim(best, f"holes.{name}", str(answer.holes.get(name, [])), str(holes))
        traffic = self._grid.axes[-1].name
        self._claim_neighbour(beyond, traffic, neighbours.get(traffic))

    def _claim_neighbour(self, cell: Cell, axis: str, claimed: Cell | None) -> None:
        """The neighbour on an axis: its value there and its verdict."""
        said = "nothing" if claimed is None else f"at {claimed.point[axis]} {_said(claimed)}"
        self._claim(cell, f"neighbours.{axis}", said, f"at {cell.point[axis]} {_said(cell)}")

    def check_stored(self, answer: BestAnswer, largest: int) -> None:
        """The largest capacity of a file is the scale of the point, 0 without one."""
        cell = answer.cell if answer.cell is not None else self._judged((0,) * (len(self._grid.axes) - 1), 1)
        scale = 0 if answer.cell is None else _place(self._grid, cell)[1]
        self._claim(cell, CAPACITY, str(largest), str(scale))

    def check_rival(self, best: Cell | None, configuration: Index) -> None:
        """One configuration: it carries no more than the best point, and as much only later in the default order."""
        index, scale = _place(self._grid, best) if best is not None else ((), 0)
        tests = [scale + 1]
        if best is not None and _order(configuration) < _order(index):
            tests.append(scale)
        for test in tests:
            if self._feasible(configuration, test):
                self._claim(self._judged(configuration, test), "best", "no configuration beats it", "within")


def _place(grid: Grid, cell: Cell) -> tuple[Index, int]:
    """The configuration and the scale of a cell."""
    *labels, scale = (cell.point[axis.name] for axis in grid.axes)
    return tuple(axis.index(label) for axis, label in zip(grid.axes, labels, strict=False)), int(scale)


def _order(configuration: Index) -> Index:
    """Sorts configurations at one scale in the default order."""
    share, chunk, slots, *others = configuration
    return (-slots, -chunk, share, *others)


def _said(cell: Cell) -> str:
    """A verdict in one text: the status, the reason, and each bound that is broken with the excess."""
    codes = [str(cell.invalid_reason)] if cell.invalid_reason else codes_of(cell.verdict.violations)
    over = [f"{bound} by {excess}" for bound, excess in cell.over.items()]
    return " ".join([cell.status, ", ".join(codes), ", ".join(over)]).rstrip()
