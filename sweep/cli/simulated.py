"""What `sweep simulate` does for each of its questions; loaded when one is asked."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

from sweep.cli.asked import Asked
from sweep.cli.output import progress, write_json, write_page
from sweep.cli.program import mark_written
from sweep.cli.writing import refuse_target, write_text
from sweep.engine.run import evaluation_of
from sweep.errors import NotEnoughData, RefusedSize, ResultFault, UsageFault
from sweep.grid import Grid
from sweep.query.cell import Cell
from sweep.query.explain import locate
from sweep.records.wording import CLAIM
from sweep.report.simulate import four_way_page, simulate_page, ways_page
from sweep.report.words import coordinates
from sweep.simulate.asked import DEFAULT_REQUESTS, FOUR_WAYS, Arrivals, Serving, simulated
from sweep.simulate.over import AGREEMENTS, Ask, Spot, four_way, run_sweep
from sweep.simulate.tables import rows_csv, write_rows, write_sweep
from sweep.simulate.verdict import Comparison
from sweep.units import UnitError, from_text, grouped

MAX_SPOTS = 100_000
"""Points of one sweep of simulations; at a second each that is a day."""

Options = Mapping[str, Any]
At = Mapping[str, int | str]


def arrivals_of(options: Options) -> Arrivals:
    """What arrives, from the options.

    Raises:
        UsageFault: options of a process beside a trace, or a duration that is none; all at once.
    """
    faults = []
    trace = options["trace"]
    process = [name for name, default in (("shape", "1"), ("seed", 1)) if options[name] != default]
    if trace is not None:
        faults += [
            f"--{name}: is of a drawn process, and --trace gives real arrivals; leave one out." for name in process
        ]
    else:
        for name, option in (("format_", "--format"), ("columns", "--columns"), ("unit", "--unit")):
            faults += [f"{option}: belongs to --trace; give that too, or leave it out."] if options[name] else []
    duration = None
    if options["duration"] is not None:
        try:
            duration = from_text(options["duration"], "ns")
        except UnitError as error:
            faults.append(f"--duration {options['duration']}: {error}.")
    if faults:
        raise UsageFault(faults)
    count = options["requests"]
    if count is None and duration is None and trace is None:
        count = DEFAULT_REQUESTS
    columns = None if options["columns"] is None else tuple(options["columns"].split(","))
    return Arrivals(
        trace=None if trace is None else str(trace),
        format=options["format_"],
        columns=columns,
        unit=options["unit"],
        shape=options["shape"],
        seed=options["seed"],
        count=count,
        duration_ns=duration,
    )


def serving_of(options: Options) -> Serving:
    """How requests are served, from the options."""
    return Serving(
        policy=options["policy"],
        router=options["router"],
        batching=options["batching"],
        cache=options["cache"],
        max_sequence_tokens=options["max_sequence"],
        admission_control=options["admission_control"],
        at=options["judge_at"],
    )


def _cell(grid: Grid, places: At) -> Cell:
    return locate(grid, evaluation_of(grid), places).cell


def _told(cell: Cell, arrivals: Arrivals, serving: Serving) -> dict[str, Any]:
    return {"point": dict(cell.point), "arrivals": arrivals.as_json(), "serving": serving.as_json()}


def single(question: Asked, places: At, arrivals: Arrivals, serving: Serving, options: Options, as_json: bool) -> None:
    """One operating point."""
    rows, force = options["rows"], options["force"]
    inputs = [options["file"], *([options["trace"]] if options["trace"] is not None else [])]
    if rows is not None:
        _refuse_rows(rows, force, inputs)
    cell = _cell(question.grid, places)
    run, comparison = simulated(cell, arrivals, serving)
    if not run.rows:
        raise NotEnoughData("simulate: no request arrived; take a longer --duration, or a trace with requests.")
    told = _told(cell, arrivals, serving)
    if rows is not None and rows.suffix == ".nc":
        write_rows(run, rows, told, force)
        mark_written(str(rows))
    elif rows is not None:
        write_text(rows, rows_csv(run), force, inputs)
    if as_json:
        write_json(question.json({**told, **comparison.as_json()}))
    else:
        write_page(question.page(simulate_page(cell, run, comparison, arrivals, serving)))


def _refuse_rows(path: Path, force: bool, inputs: Sequence[Path]) -> None:
    if path.suffix not in (".csv", ".nc"):
        raise UsageFault(f"--rows {path}: the name ends in .csv or .nc; say which by it.")
    refuse_target(path, force, inputs)


def ways(question: Asked, places: At, arrivals: Arrivals, serving: Serving, options: Options, as_json: bool) -> None:
    """Static and continuous batching, contiguous and paged cache, on the same requests."""
    cell = _cell(question.grid, places)
    found = []
    for batching, cache in FOUR_WAYS:
        _, comparison = simulated(cell, arrivals, replace(serving, batching=batching, cache=cache))
        found.append((batching, cache, comparison))
    if as_json:
        answers = [{"batching": b, "cache": c, **comparison.as_json()} for b, c, comparison in found]
        write_json(question.json({**_told(cell, arrivals, serving), "ways": answers, "claim": CLAIM}))
    else:
        write_page(question.page(ways_page(cell, found, arrivals)))


def reference(
    question: Asked, places: At, arrivals: Arrivals, serving: Serving, options: Options, as_json: bool
) -> None:
    """The reference policy on the same requests, which all wait at step 0."""
    from sweep.report.simulate import reference_page
    from sweep.simulate.batching import continuous_batching
    from sweep.simulate.point import operating_point_of

    cell = _cell(question.grid, places)
    point = operating_point_of(cell)
    lengths = [one.output_tokens for one in arrivals.requests(point, int(cell.fields["traffic.scale_permille"]))]
    blocks = point.kv_blocks * point.block_tokens // 16
    found = continuous_batching(lengths, point.slots, blocks)
    if as_json:
        answer = {
            "outcome": found.outcome,
            "requests": len(lengths),
            "slots": point.slots,
            "blocks": blocks,
            "steps": found.steps,
            "preemption_count": found.preemptions,
            "occupancy_max": max((active for _, active in found.occupancy_runs), default=0),
            "first_recurring_state_at_step": found.first_recurring_state_at_step,
            "period": found.period,
            "unservable": list(found.unservable),
        }
        write_json(question.json({**_told(cell, arrivals, serving), **answer, "claim": CLAIM}))
    else:
        write_page(question.page(reference_page(cell, found, len(lengths), point.slots, blocks)))


Swept = list[tuple[int, list[int | str]]]


def over(
    grid: Grid, file: Path, places: At, arrivals: Arrivals, serving: Serving, options: Options, as_json: bool
) -> None:
    """Many operating points, their figures in a netCDF file beside the audit's."""
    swept = _swept(grid, options["over"], places)
    total = prod(len(values) for _, values in swept)
    if total > MAX_SPOTS:
        raise RefusedSize(
            f"--over: {grouped(total)} operating points, at most {grouped(MAX_SPOTS)} are simulated; take fewer values."
        )
    target = options["output"] if options["output"] is not None else Path(f"{file.stem}.simulated.nc")
    refuse_target(target, options["force"], [file, *([options["trace"]] if options["trace"] is not None else [])])
    journal = target.with_name(f"{target.name}.journal")
    if options["force"] and not options["resume"]:
        try:
            journal.unlink(missing_ok=True)
        except OSError as error:
            raise ResultFault(f"{journal}: cannot be removed ({error.strerror}); name another file with -o.") from error
    ask = Ask(grid.effective, _spots(grid, swept, places), arrivals, serving)
    jobs = options["jobs"] or os.cpu_count() or 1
    with progress("simulating", silent=as_json, unit="points") as step:
        figures = run_sweep(ask, journal, options["resume"], jobs, step or _silent)
    write_sweep(grid, ask, swept, figures, target, options["force"])
    journal.unlink(missing_ok=True)
    mark_written(str(target))
    counts = four_way(figures)
    parted = [
        _named(grid, swept, spot)
        for spot, one in zip(ask.spots, figures, strict=True)
        if AGREEMENTS[one["agreement"]] in ("audit-only", "simulation-only")
    ]
    fixed = _fixed(grid, swept, ask.spots[0])
    if as_json:
        write_json({"points": counts, "fixed": fixed, "parted": parted[:20], "result": str(target), "claim": CLAIM})
    else:
        write_page(four_way_page(counts, parted, str(target), fixed))


def _fixed(grid: Grid, swept: Swept, spot: Spot) -> str:
    """The axes that were not swept, with their values, as text."""
    taken, last = [at for at, _ in swept], len(grid.axes) - 1
    values = {axis.name: axis.label(spot.index[at]) for at, axis in enumerate(grid.axes) if at not in (*taken, last)}
    return coordinates(values if last in taken else values | {grid.axes[last].name: spot.scale_permille})


def _silent(done: int, total: int) -> None:
    """Progress for nobody."""


def _swept(grid: Grid, given: Sequence[str], places: At) -> Swept:
    """The axes of --over with their values, in the order of the grid.

    Raises:
        UsageFault: an unknown axis or value, one given twice or fixed by --at too; all faults at once.
    """
    found: dict[int, list[int | str]] = {}
    faults: list[str] = []
    last = len(grid.axes) - 1
    taken = {grid.position(name) for name in places if name != "rps"}
    for text in given:
        name, _, values = text.partition("=")
        try:
            position = grid.position(name.strip())
            if position in found or position in taken:
                raise UsageFault("is given twice; once is enough.")
            axis = grid.axes[position]
            if values.strip() == "*":
                found[position] = list(axis.labels)
                continue
            labels = [part.strip() for part in values.split(",")]
            numbers = [axis.number(label) if position == last else axis.label(axis.index(label)) for label in labels]
            if position == last and not all(isinstance(n, int) and 1 <= n <= 10**15 for n in numbers):
                raise UsageFault("a traffic scale is a whole number of ‰ from 1 to 10^15.")
            found[position] = list(dict.fromkeys(numbers))
        except UsageFault as fault:
            faults += [f"--over {text}: {sentence}" for sentence in fault.faults]
    if faults:
        raise UsageFault(faults)
    return sorted(found.items())


def _spots(grid: Grid, swept: Swept, places: At) -> tuple[Spot, ...]:
    """The points in C order; axes that are neither swept nor fixed are those of the largest point."""
    cell = _cell(grid, places)
    last = len(grid.axes) - 1
    base = [axis.index(cell.point[axis.name]) for axis in grid.axes[:-1]]
    scale = cell.point[grid.axes[last].name]
    assert isinstance(scale, int)
    spots = []
    for values in product(*[values for _, values in swept]):
        index, at = list(base), scale
        for (position, _), value in zip(swept, values, strict=True):
            if position == last:
                at = int(value)
            else:
                index[position] = grid.axes[position].index(value)
        spots.append(Spot((*index, 0), at))
    return tuple(spots)


def _named(grid: Grid, swept: Swept, spot: Spot) -> str:
    last = len(grid.axes) - 1
    named = {
        grid.axes[at].name: spot.scale_permille if at == last else grid.axes[at].label(spot.index[at])
        for at, _ in swept
    }
    return coordinates(named)


def simulated_best(grid: Grid, count: int) -> list[tuple[Cell, Comparison]]:
    """The first points of the default order, each with its comparison, for `sweep run --simulate-best`."""
    from sweep.query.best import find_best

    found = find_best(grid, evaluation_of(grid), top=count)
    return [(cell, simulated(cell, Arrivals())[1]) for cell in found.top]
