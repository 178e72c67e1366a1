"""What one replica of an operating point serves, as autoscaling and cost need it.

n replicas carry at least n times what one carries (`sweep.operate.fleet`), so `replica_rps` is a rate that a fleet of
any size keeps within the SLO.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast

from sweep.engine.run import evaluation_of
from sweep.errors import InputFault
from sweep.grid.model import Grid
from sweep.kernels.domain import SCALE_MAX_PERMILLE
from sweep.operate.fleet import PARALLEL, REPLICAS, SCALE, declared_arrivals, with_replicas
from sweep.query.cell import Cell, cell_at
from sweep.query.rank import ranked
from sweep.query.select import At, select
from sweep.reference.derive import Fields
from sweep.reference.judge import judge
from sweep.units import decimal_text


@dataclass(frozen=True)
class Serving:
    """One replica at its operating point.

    Attributes:
        name: of the hardware choice.
        replica_rps: requests per second that one replica carries within the SLO, exactly, in the grid's mix.
        gpus_per_replica: its GPUs.
        prompt_tokens, output_tokens: of a mean request of the mix, exactly; at least 1.
        prefill_share_permille: the share of the token capacity that prefill may use; None where it is not known.
        price: of a GPU-hour; None where none was given.
        replicas: of the fleet that it stands for, spares included; None where it stands for one replica.
        gpu: the name under which the price was found; "" for every GPU.
    """

    name: str
    replica_rps: Fraction
    gpus_per_replica: int
    prompt_tokens: Fraction
    output_tokens: Fraction
    prefill_share_permille: int | None = None
    price: Fraction | None = None
    replicas: int | None = None
    gpu: str = ""

    @property
    def replica_tokens(self) -> Fraction:
        """Prompt and output tokens per second of one replica at full load."""
        return self.replica_rps * (self.prompt_tokens + self.output_tokens)

    def as_json(self) -> dict[str, Any]:
        """With keys that stay; ratios are exact texts."""
        return {
            "name": self.name,
            "replica_rps": str(self.replica_rps),
            "gpus_per_replica": self.gpus_per_replica,
            "prompt_tokens": str(self.prompt_tokens),
            "output_tokens": str(self.output_tokens),
            "prefill_share_permille": self.prefill_share_permille,
            "price_per_gpu_hour": None if self.price is None else decimal_text(self.price),
            "replicas": self.replicas,
            "gpu": self.gpu,
        }


def largest_scale(fields: Fields, class_ids: Sequence[str]) -> int:
    """The largest traffic scale at which one configuration is within all bounds, by the scalar reference; 0: none.

    Feasibility is a prefix along traffic (`house.md`), so bisection finds its end.
    """
    low, high = 0, 1
    while high <= SCALE_MAX_PERMILLE and not judge({**fields, SCALE: high}, class_ids).violations:
        low, high = high, high * 2
    high = min(high, SCALE_MAX_PERMILLE + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if judge({**fields, SCALE: middle}, class_ids).violations else (middle, high)
    return low


def serving_of(cell: Cell, name: str) -> Serving | None:
    """One replica of a cell's configuration; None where a single replica carries nothing of the declared mix."""
    fields = {**cell.fields, REPLICAS: 1}
    scale = largest_scale(fields, cell.class_ids)
    if not scale:
        return None
    arrivals = declared_arrivals(fields, cell.class_ids)
    total = sum(arrivals)
    prompts, outputs = (
        sum(
            arrival * cast(int, fields[f"class.{class_id}.{key}"])
            for arrival, class_id in zip(arrivals, cell.class_ids, strict=True)
        )
        for key in ("prompt_tokens", "output_tokens")
    )
    return Serving(
        name=name,
        replica_rps=Fraction(total * scale, 10**6),
        gpus_per_replica=int(fields.get(PARALLEL, 1)),
        prompt_tokens=Fraction(prompts, total),
        output_tokens=Fraction(outputs, total),
        prefill_share_permille=int(fields["scheduler.prefill_share_permille"]),
    )


def serving_of_grid(grid: Grid, name: str, at: At | None = None) -> Serving:
    """One replica at the point of a grid that carries the most.

    Raises:
        UsageFault: an unknown axis or value. InputFault: nothing is feasible on one replica.
    """
    one = with_replicas(grid, 1)
    points = ranked(one, evaluation_of(one), select(one, at))
    found = serving_of(cell_at(one, points[0].index, points[0].scale_permille), name) if points else None
    if found is None:
        raise InputFault(
            f"{name}: one replica carries nothing within the SLO; `sweep best` says what stands in the way."
        )
    return found


def fewest_for(cell: Cell, rates: Sequence[Fraction], imbalance: Fraction = Fraction(0)) -> dict[Fraction, int]:
    """The fewest replicas of one configuration for each rate, by the scalar reference; at least one.

    Args:
        cell: the configuration; it carries the highest of the rates on its own number of replicas.
        rates: requests per second.
        imbalance: as in `find_fleet`.
    """
    arrivals = declared_arrivals(cell.fields, cell.class_ids)
    carried: dict[int, int] = {}

    def carries(replicas: int, millirps: int) -> bool:
        """A rate is carried where the least scale that reaches it is: where the largest that is carried reaches it."""
        if replicas not in carried:
            largest = largest_scale({**cell.fields, REPLICAS: replicas}, cell.class_ids)
            scale = int(largest / min(Fraction(replicas), 1 + imbalance))
            carried[replicas] = sum(-(-arrival * scale // 1000) for arrival in arrivals)
        return carried[replicas] >= millirps

    found, replicas = dict[Fraction, int](), 1
    for rate in sorted(set(rates)):  # more traffic never takes fewer
        millirps = -(-rate.numerator * 1000 // rate.denominator)
        low, step = replicas - 1, 1
        while not carries(low + step, millirps):
            low, step = low + step, 2 * step
        high = low + step
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if carries(middle, millirps) else (middle, high)
        found[rate] = replicas = high
    return found
