"""A result with labels: xarray objects of what is stored and of what is recomputed.

Apart from `result`, since importing xarray outlasts a whole answer on the command line.
"""

from __future__ import annotations

from functools import cached_property
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from sweep.engine.catalogue import MASK_TEXT, mask_attributes, quantities, reason_attributes
from sweep.engine.evaluate import Evaluation, narrowed
from sweep.engine.largest import CAPACITY, LIMITING, at_scales, limiting_masks
from sweep.engine.opening import Array, Dims, int64_values
from sweep.engine.verdict import MaskMaker, open_shape, reason_array, reported_rules, union_dims
from sweep.errors import RefusedSize, UsageFault
from sweep.grid.faults import nearest
from sweep.grid.model import Axis, Grid
from sweep.query.region import (
    LIMIT,
    MASK,
    NO_SLACK,
    REASON,
    SLACK,
    UNDEFINED,
    VERDICT,
    VERDICTS,
    RegionAnswer,
    find_region,
)
from sweep.query.result import Result
from sweep.query.select import At, Selection, select
from sweep.query.slo import Slo
from sweep.records.wording import CLAIM
from sweep.store.labelled import open_dataset
from sweep.store.layout import axis_attributes
from sweep.store.read import open_file
from sweep.units import grouped

MAX_VALUES = 2**28
"""The largest array that `quantity` makes at once."""


class LabelledResult(Result):
    """A result whose answers are also xarray objects."""

    @cached_property
    def dataset(self) -> xr.Dataset:
        """What the file stores, lazily and with nothing decoded: every integer is the integer that was written."""
        return open_dataset(self.path)

    def close(self) -> None:
        """Close the file and the dataset."""
        if "dataset" in self.__dict__:
            self.dataset.close()
        super().close()

    def quantity(self, name: str, at: At | None = None) -> xr.DataArray:
        """Any variable of the result, stored or not, at any slice: recomputed from the grid to the same integers.

        Args:
            name: a quantity, `violations`, `invalid_reason`, `max_traffic_scale_permille`, `limiting_violations`, or a
                bound as `bound_max_ttft_ms`.
            at: axes to fix, name -> value; the traffic scale may be off its axis. Fixed axes become scalar coordinates.

        Returns:
            int64 (uint16 or uint8 for masks and reasons; Python ints in an object array where a value is beyond int64)
            over only the axes that the formula names.

        Raises:
            UsageFault: an unknown name, axis or value. RefusedSize: more than 2^28 values; fix another axis.
        """
        selection = select(self.grid, at)
        ev = self.evaluation.tile(selection.region)
        if selection.scale_permille is not None:
            ev = at_scales(ev, np.full((1,) * len(ev.lengths), selection.scale_permille, dtype=np.int64), frozenset())
        dims, make, attrs = self._variable(name, ev)
        count = prod(open_shape(ev.lengths, dims))
        if count > MAX_VALUES:
            raise RefusedSize(
                f"{name}: this slice has {grouped(count)} values, more than {grouped(MAX_VALUES)} at once; fix an axis "
                f"with at=…."
            )
        return self._labelled(name, np.broadcast_to(make(), open_shape(ev.lengths, dims)), dims, selection, attrs)

    def region(self, x: str, y: str, at: At | None = None, show: str = "verdict") -> xr.DataArray:
        """A slice over two axes; see `sweep.query.region.find_region` for the arguments and what is raised.

        Returns:
            A row per value of y and a column per value of x. The other axes are scalar coordinates; `verdict`
            (0 within, 1 rejected, 2 invalid) and `invalid_reason` are coordinates over both axes. Verdicts and
            reasons are uint8, masks uint16 with flag attributes, numbers int64 (Python ints in an object array where
            one is beyond); where a cell is invalid a number is the attribute `undefined_value`.
        """
        return region_array(self.grid, find_region(self.grid, self.evaluation, x, y, at, show))

    def _variable(self, name: str, ev: Evaluation) -> tuple[Dims, Any, dict[str, Any]]:
        """A variable's axes, what makes it over the whole of `ev`, and its attributes."""
        everything = frozenset(range(len(ev.lengths)))
        whole = tuple(slice(0, n) for n in ev.lengths)
        admission = self.grid.admission_control_enabled
        found = {q.name: q for q in quantities(self.evaluation)}
        if name in found:
            quantity = found[name]
            attrs = {"long_name": quantity.long_name, "units": quantity.units}
            return ev.dims(quantity.node), lambda: narrowed(ev.get(quantity.node)), attrs
        if name == CAPACITY:
            text = {"long_name": "largest feasible traffic scale, exact; 0 where none is", "units": "1e-3"}
            return everything - {len(ev.lengths) - 1}, lambda: narrowed(ev.get(CAPACITY)), text
        reported = reported_rules(ev)
        if name == "violations":
            return everything, lambda: MaskMaker(ev, reported, admission).make(whole), mask_attributes(MASK_TEXT)
        if name == "invalid_reason":
            return union_dims(ev, reported), lambda: reason_array(ev, reported), reason_attributes()
        if name == LIMITING:
            text = mask_attributes("violations one permille above the largest feasible traffic scale")
            return everything - {len(ev.lengths) - 1}, lambda: self._limiting(ev, admission), text
        known = [*found, CAPACITY, LIMITING, "violations", "invalid_reason"]
        raise UsageFault(f"quantity {name}: no such variable; the nearest is {nearest(name, known)}, `info` lists all.")

    @staticmethod
    def _limiting(ev: Evaluation, admission: bool) -> Array:
        shape = (*ev.lengths[:-1], 1)
        return limiting_masks(ev, np.broadcast_to(narrowed(ev.get(CAPACITY)), shape), admission)

    def _labelled(
        self, name: str, values: Array, dims: Dims, selection: Selection, attrs: dict[str, Any]
    ) -> xr.DataArray:
        kept: list[str] = []
        coords: dict[str, Any] = {}
        last = len(self.grid.axes) - 1
        for position, axis in enumerate(self.grid.axes):
            part = selection.region[position]
            fixed = part.stop - part.start == 1 and len(axis) > 1
            if position == last and selection.scale_permille is not None:
                coords[axis.dim] = ((), selection.scale_permille, axis_attributes(axis))
            elif fixed:
                coords[axis.dim] = ((), axis.label(part.start), axis_attributes(axis))
            elif position in dims:
                kept.append(axis.dim)
                labels = [axis.label(i) for i in range(part.start, part.stop)]
                column = np.array(labels, dtype=None if axis.is_choice else np.int64)
                coords[axis.dim] = ((axis.dim,), column, axis_attributes(axis))
        sizes = [len(coords[dim][1]) for dim in kept]
        return xr.DataArray(np.array(values).reshape(sizes), dims=kept, coords=coords, name=name, attrs=attrs)


def region_array(grid: Grid, answer: RegionAnswer) -> xr.DataArray:
    """A slice with its labels."""
    dims = (answer.y.dim, answer.x.dim)
    flags = {"flag_values": np.arange(len(VERDICTS), dtype=np.uint8), "flag_meanings": " ".join(VERDICTS)}
    coords: dict[str, Any] = {
        grid.axis(name).dim: ((), value, axis_attributes(grid.axis(name))) for name, value in answer.at.items()
    }
    for axis in (answer.y, answer.x):
        coords[axis.dim] = ((axis.dim,), labels_of(axis), axis_attributes(axis))
    taken = {*grid.dims}
    coords["verdict_" if "verdict" in taken else "verdict"] = (dims, answer.verdict, flags)
    coords["invalid_reason"] = (dims, answer.reason, reason_attributes())
    attrs: dict[str, Any] = {"long_name": answer.show, "units": answer.units}
    if answer.show in (LIMIT, MASK, LIMITING):
        attrs = mask_attributes(answer.show)
    elif answer.show in (VERDICT, REASON):
        attrs = {"long_name": answer.show, **(flags if answer.show == VERDICT else reason_attributes())}
    if answer.undefined is not None:
        attrs["undefined_value"] = NO_SLACK if answer.show.startswith(SLACK) else UNDEFINED
    name = answer.show.replace(":", "_")
    return xr.DataArray(answer.values, dims=dims, coords=coords, name=name, attrs=attrs | {"claim": CLAIM})


def labels_of(axis: Axis) -> Array:
    """The coordinate of an axis: int64, or the names of its choices."""
    return np.array(axis.labels) if axis.is_choice else int64_values(axis.values)


def open_result(path: str | Path, slo: Slo | None = None) -> LabelledResult:
    """Open a result file.

    Args:
        path: the file.
        slo: other bounds for every question but `verify`, `info` and `dataset`, which show what is stored.

    Raises:
        ResultFault: it is missing, foreign, altered or cut short.
        UsageFault, InputFault: on the first question, where the SLO does not fit the grid.
    """
    return LabelledResult(open_file(path), slo)
