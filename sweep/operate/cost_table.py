"""How the cost of a million tokens moves with utilisation and GPU price: exact, as plain rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Final

from sweep.errors import UsageFault
from sweep.operate.cost_compare import per_million
from sweep.operate.fleet_serving import Serving

UTILIZATIONS: Final = (100, 200, 300, 400, 500, 600, 700, 800, 900, 1000)
"""In ‰, where none are asked for."""

PRICE_STEPS: Final = (Fraction(1, 2), Fraction(3, 4), Fraction(1), Fraction(5, 4), Fraction(3, 2))
"""Multiples of the price, where no prices are asked for."""

MICRO: Final = 10**6
MOST: Final = 10_000
"""Values per axis."""


@dataclass(frozen=True)
class CostTable:
    """The cost of a million blended tokens over utilisation (down) and price of a GPU-hour (across).

    Attributes:
        utilizations_permille: strictly increasing, 1 to 1000.
        prices: strictly increasing.
        costs: exactly, a row per utilisation.
        hosted: a million hosted tokens in the same mix; None where unknown.
    """

    utilizations_permille: tuple[int, ...]
    prices: tuple[Fraction, ...]
    costs: tuple[tuple[Fraction, ...], ...]
    hosted: Fraction | None

    def cheaper(self, row: int, column: int) -> bool | None:
        """Whether self-hosting is strictly cheaper there; None without a hosted price."""
        return None if self.hosted is None else self.costs[row][column] < self.hosted


def cost_table(
    serving: Serving,
    hosted: Fraction | None = None,
    utilizations_permille: Sequence[int] = UTILIZATIONS,
    prices: Sequence[Fraction] | None = None,
) -> CostTable:
    """The cost over utilisation and price; it does not depend on how many replicas there are.

    Args:
        serving: one replica, with its price where `prices` has none.
        hosted: what a million tokens of this mix cost hosted.
        utilizations_permille: 1 to 1000, strictly increasing.
        prices: of a GPU-hour, strictly increasing; default: 1/2 to 3/2 of the replica's.

    Raises:
        UsageFault: values out of bounds or not increasing, or no price; every fault at once.
    """
    own = serving.price
    # whole millionths but for the price itself; of a free GPU one price
    near = ((own or Fraction(0)) * step if step == 1 else round((own or Fraction(0)) * step, 6) for step in PRICE_STEPS)
    around = dict.fromkeys(near)
    chosen = tuple(around if prices is None else prices)
    shares = tuple(utilizations_permille)
    faults = []
    if own is None and prices is None:
        faults.append(f"{serving.name}: no price of a GPU-hour is known; give --price {serving.name}=….")
    elif not 1 <= len(chosen) <= MOST or any(b <= a for a, b in pairwise(chosen)):
        faults.append("prices: wanted distinct ones in increasing order, above 0; sort them.")
    if not 1 <= len(shares) <= MOST or any(b <= a for a, b in pairwise(shares)):
        faults.append("utilisations: wanted distinct ones in increasing order; sort them.")
    if any(type(share) is not int or not 1 <= share <= 1000 for share in shares):
        faults.append("utilisations: wanted whole ‰ from 1 to 1000; correct them.")
    if faults:
        raise UsageFault(faults)
    tokens = serving.replica_tokens
    costs = tuple(
        tuple(per_million(price * serving.gpus_per_replica, tokens * share / 1000) for price in chosen)
        for share in shares
    )
    return CostTable(shares, chosen, costs, hosted)


def table_csv(table: CostTable) -> str:
    """The table as CSV, a line per pair: exact cost as a ratio, and whole millionths of the currency."""
    lines = ["utilization_permille,price_per_gpu_hour,cost_per_million,cost_micro,cheaper_than_hosted"]
    for row, share in enumerate(table.utilizations_permille):
        for column, price in enumerate(table.prices):
            cost, cheaper = table.costs[row][column], table.cheaper(row, column)
            word = "" if cheaper is None else str(cheaper).lower()
            lines.append(f"{share},{price},{cost},{round(cost * MICRO)},{word}")
    return "\n".join(lines) + "\n"
