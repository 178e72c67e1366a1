"""`audit_grid`: the audit over labelled arrays, without a grid file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
import xarray as xr

from sweep.engine.catalogue import FIGURES, MASK_TEXT, mask_attributes, reason_attributes
from sweep.engine.evaluate import Evaluation, narrowed
from sweep.engine.opening import Array, Dims, Inputs
from sweep.engine.verdict import MaskMaker, reason_array, reported_rules, union_dims
from sweep.errors import InputFault, RefusedSize
from sweep.kernels.graph import build
from sweep.kernels.nodes import Switches
from sweep.records.bounds import CLASS_BOUNDS, CONTRACT_BOUNDS, MAX_CLASSES, SCHEDULER_BOUNDS
from sweep.records.wording import CLAIM, CLAIM_SENTENCE

Values = Mapping[str, Any]

MAX_CELLS = 2**28
"""The broadcast product that is held in memory at once; a grid file has no such limit."""

_NAMES = frozenset({quantity.name for quantity in FIGURES} | {"violations", "invalid_reason"})
_IDENTITIES = ("scope", "content_id", "scheduler_id", "class_id")


def audit_grid(
    contract: Values | object,
    scheduler: Values | object,
    classes: Sequence[Values | object],
    admission_control_enabled: bool = True,
) -> xr.Dataset:
    """The audit of every combination of the given values.

    Args:
        contract: the eight bounds, field -> value (or a `BatchingContract`).
        scheduler: the seven integer fields of a profile (or a `SchedulerProfile`).
        classes: 1 to 64 request classes, each with its five integer fields (or `RequestClass`es).
        admission_control_enabled: as in a workload.

    Each value is an int or a DataArray of integers (a Python int in an object array may have any size that the field
    allows). DataArrays are aligned by label: coordinates of one dimension must be equal.

    Returns:
        A Dataset of every quantity over only the dimensions that its formula names (int64; object arrays of Python
        ints where a value is beyond int64; −1 where it is undefined), `violations` (uint16) over all dimensions and
        `invalid_reason` (uint8).

    Raises:
        InputFault: missing, unknown, non-integer or out-of-range fields, or labels that do not match; all at once.
        RefusedSize: more than 2^28 combinations.
    """
    fields, faults = _collect(contract, scheduler, classes)
    if faults:
        raise InputFault(faults)
    inputs, coords, dims = _aligned(fields)
    taken = [dim for dim in dims if dim in _NAMES]
    if taken:
        raise InputFault(
            f"audit_grid: the dimension {dim} has the name of a variable of the answer; rename it in every array, "
            f"for example with .rename({dim}='{dim}_axis')."
            for dim in taken
        )
    cells = prod(inputs.lengths)
    if cells > MAX_CELLS:
        raise RefusedSize(
            f"audit_grid: the arrays span {cells} combinations, more than {MAX_CELLS} at once; thin out a dimension, "
            f"or write a grid file, which is judged in tiles."
        )
    switches = Switches(
        from_slo=(False,) * len(classes), scale_concurrency=False, admission_control=admission_control_enabled
    )
    return _dataset(Evaluation(build(switches), inputs), coords, dims, admission_control_enabled)


def _collect(
    contract: Values | object, scheduler: Values | object, classes: Sequence[Values | object]
) -> tuple[dict[str, Any], list[str]]:
    faults: list[str] = []
    fields: dict[str, Any] = {}
    tables = [("contract", contract, CONTRACT_BOUNDS), ("scheduler", scheduler, SCHEDULER_BOUNDS)]
    tables += [(f"class.{i}", item, CLASS_BOUNDS) for i, item in enumerate(classes)]
    if not 1 <= len(classes) <= MAX_CLASSES:
        faults.append(f"classes: got {len(classes)}, wanted 1 to {MAX_CLASSES} request classes; add or merge some.")
    for table, given, bounds in tables:
        values = given if isinstance(given, Mapping) else _fields_of(given)
        unknown = [name for name in values if name not in bounds and name not in _IDENTITIES]
        faults += [f"{table}.{name}: is no field; the fields are {', '.join(bounds)}." for name in unknown]
        for name in bounds:
            if name not in values:
                faults.append(f"{table}.{name}: is missing; give an int or a DataArray of integers.")
                continue
            fault = _fault(f"{table}.{name}", values[name], bounds[name])
            faults += [fault] if fault else []
            fields[f"{table}.{name}"] = values[name]
    return fields, faults


def _fields_of(record: object) -> Values:
    names = getattr(record, "__dataclass_fields__", {})
    return {name: getattr(record, name) for name in names}


def _fault(where: str, value: Any, bounds: tuple[int, int]) -> str:
    """What is wrong with one value, or an empty text."""
    lower, upper = bounds
    if type(value) is int:
        least = most = value
    elif isinstance(value, xr.DataArray):
        flat = value.values.reshape(-1)
        exact = flat.dtype.kind in "iu" or (flat.dtype == object and all(type(v) is int for v in flat))
        if not exact or flat.size == 0:
            kind = "no values" if flat.size == 0 else f"dtype {value.dtype}"
            return f"{where}: got a DataArray with {kind}, wanted integers; build it with dtype=np.int64."
        least, most = int(flat.min()), int(flat.max())
    else:
        return f"{where}: got {type(value).__name__}, wanted an int or a DataArray of integers; convert it first."
    if lower <= least and most <= upper:
        return ""
    return f"{where}: got {least if least < lower else most}, wanted {lower} to {upper}; change the value."


def _aligned(fields: Mapping[str, Any]) -> tuple[Inputs, dict[str, Any], tuple[str, ...]]:
    """Every field as an open array over all dimensions, in the order in which they appear."""
    named = {name: value for name, value in fields.items() if isinstance(value, xr.DataArray)}
    try:
        aligned = xr.align(*named.values(), join="exact", copy=False) if named else ()
    except ValueError as error:
        raise InputFault(
            f"audit_grid: the coordinates of the DataArrays differ ({' '.join(str(error).split())}); give every "
            f"array the same labels along a dimension."
        ) from error
    sizes: dict[str, int] = {}
    coords: dict[str, Any] = {}
    for array in aligned:
        sizes.update({str(dim): length for dim, length in array.sizes.items()})
        coords.update({str(dim): array[dim] for dim in array.dims if dim in array.coords})
    dims = tuple(sizes)
    arrays: dict[str, Array] = {}
    depends: dict[str, Dims] = {}
    for name, value in {**fields, **dict(zip(named, aligned, strict=True))}.items():
        arrays[name], depends[name] = _opened(value, dims)
    for name, constant in (("one", 1), ("traffic.scale_permille", 1000), ("traffic.replicas", 1)):
        arrays[name], depends[name] = _opened(constant, dims)
    return Inputs(tuple(sizes.values()) or (1,), arrays, depends), coords, dims


def _opened(value: Any, dims: tuple[str, ...]) -> tuple[Array, Dims]:
    """One field as an open array; of rank 1 at least, since arithmetic on 0-d object arrays gives plain ints."""
    rank = max(len(dims), 1)
    if not isinstance(value, xr.DataArray):
        return np.full((1,) * rank, value, dtype=np.int64), frozenset()
    own = sorted((dims.index(str(dim)), str(dim)) for dim in value.dims)
    ordered = value.transpose(*[dim for _, dim in own])
    shape = [1] * rank
    for position, dim in own:
        shape[position] = value.sizes[dim]
    # Every field's bound is at most 10^18 and was checked above, so int64 holds each value.
    return ordered.values.astype(np.int64).reshape(shape), frozenset(position for position, _ in own)


def _dataset(ev: Evaluation, coords: dict[str, Any], dims: tuple[str, ...], admission_control: bool) -> xr.Dataset:
    reported = reported_rules(ev)
    variables: dict[str, xr.DataArray] = {}
    for quantity in FIGURES:
        attrs = {"long_name": quantity.long_name, "units": quantity.units, "undefined_value": -1}
        values = narrowed(ev.get(quantity.node))
        variables[quantity.name] = _array(values, ev, ev.dims(quantity.node), dims, attrs)
    region = tuple(slice(0, n) for n in ev.lengths)
    mask = MaskMaker(ev, reported, admission_control).make(region)
    variables["violations"] = xr.DataArray(
        mask.reshape(ev.lengths if dims else ()), dims=dims, attrs=mask_attributes(MASK_TEXT)
    )
    reasons = reason_array(ev, reported)
    variables["invalid_reason"] = _array(reasons, ev, union_dims(ev, reported), dims, reason_attributes())
    attrs = {"claim": CLAIM, "comment": CLAIM_SENTENCE}
    return xr.Dataset(variables, coords=coords, attrs=attrs)


def _array(values: Array, ev: Evaluation, own: Dims, dims: tuple[str, ...], attrs: Mapping[str, Any]) -> xr.DataArray:
    shape = tuple(n for i, n in enumerate(ev.lengths) if i in own)
    full = np.broadcast_to(values, tuple(n if i in own else 1 for i, n in enumerate(ev.lengths)))
    converted = full if full.dtype in (np.uint8, np.uint16, object) else full.astype(np.int64)
    return xr.DataArray(
        np.array(converted).reshape(shape),
        dims=[dim for i, dim in enumerate(dims) if i in own],
        attrs=dict(attrs),
    )
