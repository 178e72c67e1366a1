"""The kinds of pictures of `sweep plot`: each asks one question of the house and hands the answer to a drawing.

Nothing heavy is imported before a kind is made, so that `--help` can list them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sweep.errors import UsageFault

if TYPE_CHECKING:
    from sweep.cli.asked import Asked
    from sweep.engine.evaluate import Evaluation
    from sweep.query.cell import Cell
    from sweep.query.region import RegionAnswer

SLOTS, CHUNK, SHARE, TRAFFIC = (
    "max_active_sequences",
    "max_prefill_chunk_tokens",
    "prefill_share_permille",
    "traffic_scale_permille",
)


@dataclass(frozen=True)
class Wanted:
    """What was asked for."""

    asked: Asked
    ev: Evaluation
    at: Mapping[str, int | str]
    x: str | None
    y: str | None
    show: str | None
    bound: str | None
    objectives: list[tuple[str, str]]
    limit: int


@dataclass(frozen=True)
class Drawing:
    """A picture that can be drawn in any width, and what of the answer `--json` says."""

    draw: Callable[[float], Any]
    """A matplotlib figure of a width in inches."""
    facts: dict[str, Any]


@dataclass(frozen=True)
class Kind:
    """One kind of picture."""

    says: str
    """For `--help`."""
    options: frozenset[str]
    """Which of the options that not every kind has it takes, by their parameter names."""
    make: Callable[[Wanted], Drawing]


def _region(wanted: Wanted) -> Drawing:
    from sweep.query.region import LIMIT

    # Without --show what is feasible is one region; asked for limits it is told apart by what stops it.
    return _map(wanted, _shown(wanted, LIMIT), (SLOTS, TRAFFIC), feasible_apart=wanted.show is not None)


def _capacity(wanted: Wanted) -> Drawing:
    return _map(wanted, "capacity", (SLOTS, CHUNK))


def _limits(wanted: Wanted) -> Drawing:
    from sweep.engine.largest import LIMITING
    from sweep.query.region import LIMIT
    from sweep.report.pictures.choose import names_traffic

    at_a_traffic = names_traffic(wanted.asked.grid, [*wanted.at, wanted.x, wanted.y])
    return _map(wanted, LIMIT if at_a_traffic else LIMITING, (SLOTS, SHARE))


def _slack(wanted: Wanted) -> Drawing:
    return _map(wanted, _shown(wanted, "slack"), (SLOTS, TRAFFIC))


def _shown(wanted: Wanted, default: str) -> str:
    """What a map shows: `--show` with `--bound`; a slack without a bound is that of what stops the largest point."""
    from sweep.report.pictures.choose import stopping_bound

    show = wanted.show or default
    if wanted.bound is not None and show != "slack":
        raise UsageFault(f"--bound {wanted.bound}: only the slack is one of a bound; take it out, or draw the slack.")
    if show != "slack":
        return show
    return f"slack:{wanted.bound or stopping_bound(wanted.asked.grid, wanted.ev, wanted.at)}"


def _map(wanted: Wanted, show: str, preferred: tuple[str, ...], feasible_apart: bool = True) -> Drawing:
    """The picture of what `sweep region --show` has for the same axes."""
    from sweep.query.region import find_region
    from sweep.report.pictures.choose import WITHOUT_TRAFFIC, sides_of
    from sweep.report.pictures.draw_map import draw_map
    from sweep.report.pictures.maps import map_scene

    grid = wanted.asked.grid
    x, y = sides_of(grid, (wanted.x, wanted.y), wanted.at, preferred, show)
    answer = find_region(grid, wanted.ev, x, y, wanted.at, show)
    # At one traffic scale the largest point is one at that scale, else one at the exact largest scale.
    at_one_scale = show not in WITHOUT_TRAFFIC and TRAFFIC not in (answer.x.name, answer.y.name)
    largest = answer.largest if at_one_scale else _largest(wanted, wanted.at)
    overall = _largest(wanted, {}) if wanted.at and largest is not None else None
    reach = grid.base.get(f"contract.{show.partition(':')[2]}")
    scene = map_scene(
        answer, _notes(wanted.asked), largest, overall, feasible_apart, reach if type(reach) is int else None
    )
    return Drawing(lambda inches: draw_map(scene, inches), _facts(answer, largest))


def _largest(wanted: Wanted, at: Mapping[str, int | str]) -> Cell | None:
    """The largest operating point that the fixed axes leave, at its exact traffic."""
    from sweep.query.cell import cell_at
    from sweep.query.rank import ranked
    from sweep.query.select import select

    found = ranked(wanted.asked.grid, wanted.ev, select(wanted.asked.grid, at))
    return cell_at(wanted.asked.grid, found[0].index, found[0].scale_permille) if found else None


def _facts(answer: RegionAnswer, largest: Cell | None) -> dict[str, Any]:
    return {
        "show": answer.show,
        "x": answer.x.name,
        "y": answer.y.name,
        "at": dict(answer.at),
        "filled": {"from": answer.filled, "axes": list(answer.filled_axes)},
        "largest": None if largest is None else dict(largest.point),
    }


def _frontier(wanted: Wanted) -> Drawing:
    from sweep.query.frontier import find_frontier
    from sweep.report.pictures.draw_frontier import draw_frontier
    from sweep.report.pictures.frontier import frontier_scene

    if len(wanted.objectives) == 1:
        sense, name = wanted.objectives[0]
        raise UsageFault(f"--{sense} {name}: a picture of a frontier needs two objectives or more; give another one.")
    grid = wanted.asked.grid
    answer = find_frontier(grid, wanted.ev, wanted.at, wanted.objectives, wanted.limit)
    largest = _largest(wanted, wanted.at)
    scene = frontier_scene(grid, answer, largest, _notes(wanted.asked))
    facts = {
        "objectives": [{"sense": sense, "name": name} for sense, name in answer.objectives],
        "points": len(answer.points),
        "total": answer.total,
        "largest": None if largest is None else dict(largest.point),
    }
    return Drawing(lambda inches: draw_frontier(scene, inches), facts)


def _simulate(wanted: Wanted) -> Drawing:
    from sweep.query.explain import locate
    from sweep.report.pictures.beside import beside_scene, draw_beside
    from sweep.simulate.asked import Arrivals, simulated

    cell = locate(wanted.asked.grid, wanted.ev, wanted.at).cell
    comparison = simulated(cell, Arrivals())[1]
    scene = beside_scene(cell, comparison, _notes(wanted.asked))
    facts = {
        "point": dict(cell.point),
        "agreement": comparison.agreement,
        "requests": comparison.summary.latencies.arrived,
    }
    return Drawing(lambda inches: draw_beside(scene, inches), facts)


def _notes(asked: Asked) -> tuple[str, ...]:
    """The name of the grid, and under which bounds the picture holds where those are not the file's."""
    if not asked.slo:
        return (asked.grid.name,)
    from sweep.report.slo import slo_text

    return (asked.grid.name, slo_text(asked.slo))


_SIDES = frozenset({"x", "y"})
KINDS: Mapping[str, Kind] = {
    "region": Kind(
        "where points are feasible, and which bound limits them elsewhere (--show: any map of sweep region)",
        _SIDES | {"show", "bound"},
        _region,
    ),
    "frontier": Kind(
        "the points of sweep frontier, with the largest point and the bounds of the SLO",
        frozenset({"maximize", "minimize", "limit"}),
        _frontier,
    ),
    "capacity": Kind("the largest traffic of each configuration, exact", _SIDES, _capacity),
    "limits": Kind(
        "what limits the traffic of each configuration, or with a traffic what limits there", _SIDES, _limits
    ),
    "slack": Kind(
        "units left under one bound (--bound; default: the one that stops the largest point)",
        _SIDES | {"bound"},
        _slack,
    ),
    "simulate": Kind(
        "each bound: the audit's figure beside what sweep simulate sees (2000 Poisson requests)", frozenset(), _simulate
    ),
}
"""Every kind; one more is one entry."""

OPTIONS = ("x", "y", "show", "bound", "maximize", "minimize", "limit")
"""Those that not every kind takes."""

WITHOUT_A_KIND = ("region", "capacity", "frontier")
"""What `sweep plot FILE` draws: where it is feasible, how much it carries, and what trades against what."""


def refuse_foreign(kind: str | None, given: Mapping[str, bool]) -> None:
    """Say which options a kind has no use for.

    Args:
        kind: the kind, None where none was named.
        given: option -> whether it was given.

    Raises:
        UsageFault: some were given; all at once.
    """
    taken = KINDS[kind].options if kind is not None else frozenset()
    faults = []
    for option in (name for name, there in given.items() if there and name not in taken):
        others = [name for name, one in KINDS.items() if option in one.options]
        which = f"the picture {kind} has no such option" if kind else "one kind of picture is wanted for this option"
        faults.append(f"--{option}: {which}; take it out, or name {' or '.join(others)}.")
    if faults:
        raise UsageFault(faults)


def file_of(kind: str, file: Path, form: str) -> Path:
    """The picture's name where none was given: the file's stem and the kind, in the current folder."""
    return Path(f"{file.stem}-{kind}.{form}")
