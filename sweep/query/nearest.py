"""Where nothing is feasible: the smallest change of one bound that admits an operating point.

Only the lowest traffic scale of the selection is looked at: what a change admits at a higher scale it admits there
too, since feasibility is a prefix along traffic under any fixed bounds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sweep.engine.evaluate import Evaluation, narrowed
from sweep.engine.largest import configuration_dims
from sweep.engine.opening import Array
from sweep.engine.verdict import MaskMaker, reported_rules
from sweep.errors import SelfCheckFault
from sweep.exact.interval import fits_int64
from sweep.grid.model import Grid
from sweep.kernels.nodes import BOUND_OF_BIT, FIGURE_OF_BIT
from sweep.query.cell import Cell, cell_at
from sweep.query.select import Selection, configurations_at
from sweep.records.bounds import CONTRACT_BOUNDS, SCHEDULER_BOUNDS
from sweep.reference.judge import judge

_TTFT, _TPOT, _SLOTS, _KV = 6, 7, 1, 9


@dataclass(frozen=True)
class Change:
    """One bound, raised just enough to admit one operating point."""

    bound: str
    from_value: int
    to_value: int
    cell: Cell
    """The operating point, as judged before the change."""

    @property
    def change(self) -> int:
        """By how many units the bound rises."""
        return self.to_value - self.from_value

    @property
    def relative(self) -> Fraction:
        """The change as a share of the bound."""
        return Fraction(self.change, max(abs(self.from_value), 1))

    def as_json(self) -> dict[str, Any]:
        """With stable keys."""
        return {
            "bound": self.bound,
            "from": self.from_value,
            "to": self.to_value,
            "change": self.change,
            "point": dict(self.cell.point),
        }


def smallest_changes(grid: Grid, ev: Evaluation, selection: Selection) -> tuple[Change, ...]:
    """Per bound the smallest rise that admits an operating point, the relatively smallest first; () if none does.

    A rise stays inside the bound's record limits (a utilisation of 1000 ‰ or more cannot be declared away). Every
    answer is judged again by the reference with the bound raised.
    """
    scale = selection.lowest_scale(grid)
    best: dict[int, tuple[int, tuple[int, ...], tuple[int, ...], int]] = {}
    for point, offset in configurations_at(ev, selection, scale):
        _look(grid, point, offset, best)
    changes = []
    for bit, (_, _, index, to_value) in best.items():
        cell = cell_at(grid, index, scale)
        name = str(BOUND_OF_BIT[bit]).rpartition(".")[2]
        changes.append(_confirmed(grid, Change(name, cell.bound(name), to_value, cell), index, scale))
    return tuple(sorted(changes, key=lambda change: (change.relative, change.bound)))


def _look(grid: Grid, point: Evaluation, offset: tuple[int, ...], best: dict[int, Any]) -> None:
    """Update the best change per bit from one block of configurations at one scale."""
    mask = mask_of(grid, point)
    for bit in range(1, 10):
        values, admitted = _raised(grid, point, mask, bit)
        if not admitted.any():
            continue
        bound_name = str(BOUND_OF_BIT[bit])
        bound = narrowed(point.get("bound_max_kv_bytes" if bit == _KV else bound_name))
        rise = np.where(admitted, np.broadcast_to(values, mask.shape) - np.broadcast_to(bound, mask.shape), 0)
        smallest = rise[admitted].min()
        places = [
            column + start for column, start in zip(np.nonzero(admitted & (rise == smallest)), offset, strict=True)
        ]
        share, chunk, slots, *others = places[:-1]
        order = np.lexsort([*reversed(others), share, -chunk, -slots])[0]
        index = (*[int(column[order]) for column in places[:-1]], 0)
        at = tuple(i - start for i, start in zip((*index[:-1], offset[-1]), offset, strict=True))
        to_value = int(np.broadcast_to(values, mask.shape)[at])
        key = (-index[2], -index[1], index[0], *index[3:])
        found = (int(smallest), key, index, to_value)
        if bit not in best or found[:2] < best[bit][:2]:
            best[bit] = found


def mask_of(grid: Grid, point: Evaluation) -> Array:
    """The violation mask of every cell of an evaluation."""
    maker = MaskMaker(point, reported_rules(point), grid.admission_control_enabled)
    return maker.make(tuple(slice(0, n) for n in point.lengths))


def _raised(grid: Grid, point: Evaluation, mask: Array, bit: int) -> tuple[Array, Array]:
    """Per configuration what a bound must rise to, and whether the cell is then feasible.

    Without Little's law a bound of the contract touches nothing but its own bit. With it, a longer TTFT or TPOT bound
    also admits more concurrent sequences, and more slots change the step time: then the kernels judge the cell again
    with the raised bound.
    """
    name = str(BOUND_OF_BIT[bit])
    upper = {**CONTRACT_BOUNDS, **SCHEDULER_BOUNDS}[name.rpartition(".")[2]][1]
    figure = narrowed(point.get(str(FIGURE_OF_BIT[bit])))
    little = any(grid.from_slo(class_id) for class_id in grid.class_ids)
    candidates = (mask >> bit & 1 == 1) if bit == _SLOTS else mask == 1 << bit
    candidates = candidates & (figure <= upper) & (figure >= 1)
    if not candidates.any() or not (bit == _SLOTS or (little and bit in (_TTFT, _TPOT))):
        return figure, candidates
    wanted = np.where(candidates, np.broadcast_to(figure, mask.shape), point.get(name)).astype(np.int64)
    if bit == _TPOT:
        wanted, candidates = _caught_up(point, wanted, candidates, upper)
    return wanted, candidates & (mask_of(grid, _with(point, name, wanted)) == 0)


def _with(point: Evaluation, name: str, values: Array) -> Evaluation:
    """The same configurations with another value of one input for each."""
    return Evaluation(point.graph, point.inputs.replaced(name, values, configuration_dims(point)))


def _caught_up(point: Evaluation, wanted: Array, candidates: Array, upper: int) -> tuple[Array, Array]:
    """The least TPOT bound that its own figure keeps, and where there is one.

    TPOT grows with the concurrency that its bound admits, so iterate from below; every round adds a sequence to each
    configuration that is still broken, and one with more sequences than slots never comes back.
    """
    name, figure = str(BOUND_OF_BIT[_TPOT]), str(FIGURE_OF_BIT[_TPOT])
    least = _least_tpot(point, candidates, upper)
    wanted = np.where(candidates & (least <= upper), np.maximum(wanted, least), wanted)
    candidates = candidates & (least <= upper)
    while True:
        raised = _with(point, name, wanted)
        again = narrowed(raised.get(figure))
        fits = (again <= upper) & (raised.get("active_sequences") <= point.get(str(BOUND_OF_BIT[_SLOTS])))
        candidates = candidates & fits
        broken = candidates & (again > wanted)
        if not broken.any():
            return wanted, candidates
        wanted = np.where(broken, again, wanted).astype(np.int64)


def _least_tpot(point: Evaluation, candidates: Array, upper: int) -> Array:
    """A bound from below on that least bound, without the ceilings; `upper` + 1 where it is beyond.

    With P the concurrency that does not grow with it, a the arrivals, o the output tokens, b the burst and D the
    decode rate, X ≥ 1000·(P + Σ a·(ttft + o·X)·b/10^9)/D, so X·(10^6·D − Σ a·o·b) ≥ 10^9·P + Σ a·ttft·b.
    """

    def at(name: str) -> Array:
        return np.broadcast_to(point.get(name), candidates.shape)[candidates].astype(object)

    fixed, growing = at("decode_rate") * 0, at("decode_rate") * 0
    for i in range(sum(name.endswith(".peak") for name in point.graph)):
        if f"class.{i}.stay" not in point.graph:
            fixed = fixed + 10**9 * at(f"class.{i}.peak")
            continue
        arriving = at(f"class.{i}.arrival") * at(f"class.{i}.burst_permille")
        fixed = fixed + arriving * at("contract.max_ttft_ms")
        growing = growing + arriving * at(f"class.{i}.output_tokens")
    left = 10**6 * at("decode_rate") - growing
    found = [-(-f // n) if n > 0 else upper + 1 for f, n in zip(fixed, left, strict=True)]
    least = np.full(candidates.shape, upper + 1, dtype=np.int64)
    least[candidates] = np.minimum(np.array(found, dtype=object), upper + 1).astype(np.int64)
    return least


def _confirmed(grid: Grid, change: Change, index: tuple[int, ...], scale: int) -> Change:
    """The same change, once the reference has found the cell feasible with the bound raised."""
    fields = dict(grid.fields(index, scale_permille=scale))
    table = "scheduler" if change.bound in SCHEDULER_BOUNDS else "contract"
    fields[f"{table}.{change.bound}"] = change.to_value
    verdict = judge(fields, grid.class_ids)
    if verdict.violations or not fits_int64(change.to_value, change.to_value):
        raise SelfCheckFault(
            f"raising {change.bound} to {change.to_value} should admit {_named(change.cell.point)}, but the scalar "
            f"reference finds a mask of {verdict.violations:#06x}; this is a bug of sweep, please report it"
        )
    return change


def _named(point: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in point.items())
