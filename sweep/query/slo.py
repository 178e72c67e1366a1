"""A new SLO on an old result: the stored grid with other bounds, evaluated again."""

from __future__ import annotations

from collections.abc import Mapping

from sweep.errors import InputFault, UsageFault
from sweep.grid.faults import nearest
from sweep.grid.load import grid_with
from sweep.grid.model import Grid
from sweep.records.bounds import CONTRACT_BOUNDS

Slo = Mapping[str, int | str]
"""Bound of the contract -> value; a text may carry a unit (`"1.5 s"`), and `max_kv_bytes` may be `"from-memory"`."""


def under_slo(grid: Grid, slo: Slo | None) -> Grid:
    """The grid under other bounds: exactly what a run with `--set contract.<bound>=<value>` would have used.

    Whatever depends on a bound follows it, concurrency from the SLO among others, since every question is answered
    from the grid.

    Raises:
        UsageFault: no such bound, or one that an axis sets (then the axis has its values: fix it with `--at`).
        InputFault: a value that the bound does not take.
    """
    if not slo:
        return grid
    faults: list[str] = []
    for name in slo:
        field = name.removeprefix("contract.")
        path = f"contract.{field}"
        if field not in CONTRACT_BOUNDS:
            faults.append(
                f"--slo {name}: no such bound, the nearest is {nearest(field, list(CONTRACT_BOUNDS))}; correct it."
            )
            continue
        for axis in grid.axes:
            if path in axis.fields:
                faults.append(
                    f"--slo {name}: the axis {axis.name} sets this bound; fix it with --at {axis.name}=… instead."
                )
    if faults:
        raise UsageFault(faults)
    try:
        return grid_with(
            grid, [("set", f"contract.{name.removeprefix('contract.')}={value}") for name, value in slo.items()]
        )
    except InputFault as fault:
        raise InputFault(sentence.replace("--set contract.", "--slo ") for sentence in fault.faults) from None
