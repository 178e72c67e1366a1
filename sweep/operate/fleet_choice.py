"""The cheapest fleet over hardware choices: several grids, the values of an axis, or both, each with its price.

A choice is a grid with some axes fixed. What sets `tensor_parallel` always splits, since fewer replicas of more GPUs
each are not fewer GPUs. The price of a choice is looked for under the GPU that `--gpu` names for it, its own name, the
label of its axis, and the stem of its file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

from sweep.errors import RefusedSize, UsageFault
from sweep.grid.faults import listed, near
from sweep.grid.model import Axis, Grid
from sweep.operate.fleet import PARALLEL, Sizing, find_fleet
from sweep.operate.fleet_serving import Serving, serving_of
from sweep.operate.prices import Prices, price_for, unknown_price
from sweep.query.cell import codes_of
from sweep.query.select import At
from sweep.units import decimal_text, printable

MAX_CHOICES = 256


@dataclass(frozen=True)
class Choice:
    """One hardware choice.

    Attributes:
        name: what it is called.
        grid: its grid.
        at: the axes that make the choice, beside those that the question fixes.
        names: under which its price is looked for, in order.
        priced: whether it is a choice of hardware, which has a price, and not only one of tensor_parallel.
    """

    name: str
    grid: Grid
    at: Mapping[str, int | str]
    names: tuple[str, ...]
    priced: bool


@dataclass(frozen=True)
class Fleet:
    """The fleet of one choice.

    Attributes:
        choice: the hardware.
        at: every axis that was fixed, by the question or by the choice.
        sizing: its fewest replicas.
        spare: replicas beside them, which may be away without harm.
        gpu: the name under which the price was found.
        price: of a GPU-hour; None where none was asked for.
        serving: one replica of it; None where no fleet carries the traffic or a replica alone carries nothing.
    """

    choice: Choice
    at: Mapping[str, int | str]
    sizing: Sizing
    spare: int
    gpu: str
    price: Fraction | None
    serving: Serving | None

    @property
    def replicas(self) -> int | None:
        """All replicas, spares included; None where no fleet carries the traffic."""
        return None if self.sizing.replicas is None else self.sizing.replicas + self.spare

    @property
    def gpus(self) -> int | None:
        """All GPUs, spares included."""
        return None if self.replicas is None else self.replicas * self.sizing.gpus_per_replica

    @property
    def cost_per_hour(self) -> Fraction | None:
        """Of all GPUs, exactly, in the currency of the prices; idle GPUs cost what busy ones do."""
        return None if self.gpus is None or self.price is None else self.gpus * self.price

    @property
    def rank(self) -> tuple[Fraction, int, int]:
        """Smaller is better: cost, then GPUs, then replicas. Only for a fleet that carries the traffic."""
        assert self.gpus is not None
        assert self.replicas is not None
        return self.cost_per_hour or Fraction(0), self.gpus, self.replicas

    def as_json(self) -> dict[str, Any]:
        """With keys that stay; null where no fleet carries the traffic."""
        sizing, cell, fewer = self.sizing, self.sizing.cell, self.sizing.fewer
        cost = self.cost_per_hour
        below: dict[str, Any] | None = None
        if fewer is not None and sizing.replicas is not None:
            below = {
                "replicas": sizing.replicas - 1,
                "point": dict(fewer.point),
                "violations": codes_of(fewer.verdict.violations),
                "invalid_reason": fewer.invalid_reason,
                "over": fewer.over,
                "carried_permille": sizing.fewer_carried_permille,
            }
        return {
            "name": self.choice.name,
            "gpu": self.gpu or None,
            "price_per_gpu_hour": None if self.price is None else decimal_text(self.price),
            "scale_permille": sizing.scale_permille,
            "replicas": self.replicas,
            "carrying": sizing.replicas,
            "spare": self.spare,
            "gpus_per_replica": None if cell is None else sizing.gpus_per_replica,
            "gpus": self.gpus,
            "cost_per_hour": None if cost is None else decimal_text(cost),
            "carried_permille": sizing.carried_permille,
            "point": None if cell is None else dict(cell.point),
            "report": None if cell is None else cell.report_json(),
            "slack": None if cell is None else cell.slack,
            "one_fewer": below,
        }


def choices_of(grids: Mapping[str, Grid], at: At, by: Sequence[str], gpus: Mapping[str, str]) -> list[Choice]:
    """The hardware choices of some grids.

    Args:
        grids: name -> grid.
        at: axes that the question fixes.
        by: axes whose values are choices.
        gpus: choice -> the name of its GPU in the prices.

    Raises:
        UsageFault: an axis that no grid has, or a GPU for a choice that is none; every fault at once.
        RefusedSize: more than 256 choices.
    """
    found: list[Choice] = []
    faults = [
        f"--by {name}: {next(iter(grids.values())).no_axis(name)}"
        for name in by
        if not any(_has(grid, name) for grid in grids.values())
    ]
    for name, grid in grids.items():
        asked = {grid.position(axis) for axis in by if _has(grid, axis)}
        fixed = {grid.position(axis) for axis in at if _has(grid, axis)}
        split = [
            (axis, place in asked)
            for place, axis in enumerate(grid.axes)
            if place not in fixed and (place in asked or (PARALLEL in axis.fields and len(axis) > 1))
        ]
        if len(found) + prod(len(axis) for axis, _ in split) > MAX_CHOICES:
            raise RefusedSize(
                f"fleet: more than {MAX_CHOICES} hardware choices; fix an axis with --at or leave out --by."
            )
        priced = len(grids) > 1 or bool(asked)
        for labels in product(*(range(len(axis)) for axis, _ in split)):
            settings = [(axis, axis.label(index), own) for (axis, own), index in zip(split, labels, strict=True)]
            found.append(_choice(name, grid, settings, len(grids) > 1, priced, gpus))
    known = [choice.name for choice in found]
    for name in gpus:
        if name not in known and name not in grids:
            close = near(name, [*known, *grids])
            hint = f", the nearest is {close}" if close else ""
            faults.append(f"--gpu {name}: no hardware choice of this name{hint}; take one of {listed(known)}.")
    if faults:
        raise UsageFault(faults)
    return found


def _has(grid: Grid, name: str) -> bool:
    try:
        grid.position(name)
    except UsageFault:
        return False
    return True


def _choice(
    name: str,
    grid: Grid,
    settings: Sequence[tuple[Axis, int | str, bool]],
    several: bool,
    priced: bool,
    gpus: Mapping[str, str],
) -> Choice:
    texts = [str(label) if isinstance(label, str) else f"{axis.name}={label}" for axis, label, _ in settings]
    own = ":".join([*([name] if several or not texts else []), *texts])
    tried = [*(gpus[key] for key in (own, name) if key in gpus), own]
    tried += [text for text, (_, _, asked) in zip(texts, settings, strict=True) if asked]
    at = {axis.name: label for axis, label, _ in settings}
    return Choice(own, grid, at, tuple(dict.fromkeys([*tried, name])), priced)


def find_fleets(
    choices: Iterable[Choice],
    millirps: int,
    at: At | None = None,
    prices: Prices | None = None,
    spare: int = 0,
    imbalance: Fraction = Fraction(0),
) -> list[Fleet]:
    """The fleet of each hardware choice, in the order given; `cheapest` picks one.

    Args:
        choices: what `choices_of` made.
        millirps: the traffic, 1/1000 requests per second.
        at: axes to fix in every grid.
        prices: name -> price of a GPU-hour; with one, or with several kinds of hardware, each choice needs its own.
        spare: replicas beside those that carry the traffic.
        imbalance: how far the busiest replica is above the mean.

    Raises:
        UsageFault: an unknown price, axis or value; every fault at once. RefusedSize, SelfCheckFault: as `find_fleet`.
    """
    wanted = list(choices)
    known = prices or {}
    needed = bool(known) or (len(wanted) > 1 and any(choice.priced for choice in wanted))
    found = {choice.name: price_for(choice.names, known) for choice in wanted}
    faults = [
        unknown_price(choice.name, choice.names, known) for choice in wanted if needed and found[choice.name] is None
    ]
    if faults:
        raise UsageFault(faults)
    fleets = []
    for choice in wanted:
        own = {**(at or {}), **choice.at}
        try:
            sizing = find_fleet(choice.grid, millirps, own, imbalance)
        except UsageFault as fault:
            place = f"{printable(choice.name)}: " if len(wanted) > 1 else ""
            faults += [f"{place}{sentence}" for sentence in fault.faults]
            continue
        gpu, price = found[choice.name] or ("", None)
        serving = None if sizing.cell is None else serving_of(sizing.cell, choice.name)
        if serving is not None and sizing.replicas is not None:
            serving = replace(serving, gpu=gpu, price=price, replicas=sizing.replicas + spare)
        fleets.append(Fleet(choice, own, sizing, spare, gpu, price, serving))
    if faults:
        raise UsageFault(dict.fromkeys(faults))
    return fleets


def cheapest(fleets: Iterable[Fleet]) -> Fleet | None:
    """The cheapest fleet that carries the traffic, without prices the one of fewest GPUs; the first of equals."""
    carrying = [fleet for fleet in fleets if fleet.replicas is not None]
    return min(carrying, key=lambda fleet: fleet.rank) if carrying else None
