"""The cost over utilisation and price as a labelled array; apart, since importing xarray outlasts a whole answer."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import xarray as xr

from sweep.errors import UsageFault
from sweep.operate.cost_table import MICRO, UTILIZATIONS, cost_table
from sweep.operate.fleet_serving import Serving
from sweep.operate.prices import Number, exact_number
from sweep.records.wording import CLAIM
from sweep.units import shown

_DIMS = ("utilization_permille", "price_micro")


def cost_sensitivity(
    serving: Serving,
    hosted: Number | None = None,
    utilizations_permille: Sequence[int] = UTILIZATIONS,
    prices: Sequence[Number] | None = None,
) -> xr.Dataset:
    """The cost of a million blended tokens over utilisation and GPU price, exactly.

    Args:
        serving: one replica, with its price where `prices` has none.
        hosted: what a million tokens of this mix cost hosted.
        utilizations_permille: 1 to 1000, strictly increasing.
        prices: of a GPU-hour, whole millionths, strictly increasing; default: 1/2 to 3/2 of the replica's.

    Returns:
        A Dataset over `utilization_permille` and `price_micro` (millionths of the currency per GPU-hour, both int64):
        `cost_numerator` / `cost_denominator`, the exact ratio in lowest terms (int64; Python ints in an object array
        where one is beyond); `cost_micro`, whole millionths, half to even; and, with `hosted`, `cheaper_than_hosted`.

    Raises:
        UsageFault: values out of bounds or not increasing, or no price; every fault at once.
    """
    numbers = None if prices is None else [exact_number(price) for price in prices]
    other = None if hosted is None else exact_number(hosted)
    if (hosted is not None and other is None) or (numbers is not None and None in numbers):
        raise UsageFault(f"cost_sensitivity: got {shown(hosted)} or a price that is no finite number; correct it.")
    chosen = None if numbers is None else [number for number in numbers if number is not None]
    table = cost_table(serving, other, utilizations_permille, chosen)
    micro = [price * MICRO for price in table.prices]
    if any(price.denominator != 1 for price in micro):
        raise UsageFault("cost_sensitivity: a price is no whole number of millionths; round it to six decimals.")
    data: dict[str, Any] = {
        "cost_numerator": (_DIMS, _integers([[cost.numerator for cost in row] for row in table.costs])),
        "cost_denominator": (_DIMS, _integers([[cost.denominator for cost in row] for row in table.costs])),
        "cost_micro": (_DIMS, _integers([[_micro(cost) for cost in row] for row in table.costs])),
    }
    if table.hosted is not None:
        cheaper = [[cost < table.hosted for cost in row] for row in table.costs]
        data["cheaper_than_hosted"] = (_DIMS, np.array(cheaper, dtype=np.bool_))
    coords = {
        _DIMS[0]: _integers(list(table.utilizations_permille)),
        _DIMS[1]: _integers([int(price) for price in micro]),
    }
    attrs = {"long_name": "cost of a million tokens, prompt and output as they come", "claim": CLAIM}
    return xr.Dataset(data, coords, attrs | {"hosted": "" if table.hosted is None else str(table.hosted)})


def _micro(cost: Fraction) -> int:
    return round(cost * MICRO)


def _integers(values: Sequence[Any]) -> np.ndarray[Any, Any]:
    """int64 where every value fits, else Python ints."""
    found = np.array(values, dtype=object)
    fits = all(-(2**63) <= value < 2**63 for value in found.reshape(-1))
    return found.astype(np.int64) if fits else found
