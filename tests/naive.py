"""Every question answered the slow way: each operating point judged by the reference, sorted by plain Python."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from brute import CONTRACT, SCALE, labels, largest_scale
from declared import BOUNDS

from sweep.grid import Grid
from sweep.reference import judge

TRAFFIC = "traffic_scale_permille"
SLOTS = "max_active_sequences"
OVER = {
    1: ("max_active_sequences", "active_sequences"),
    2: ("max_total_utilization_permille", "total_utilization_permille"),
    3: ("max_prefill_utilization_permille", "prefill_utilization_permille"),
    4: ("max_decode_utilization_permille", "decode_utilization_permille"),
    5: ("max_queue_delay_ms", "estimated_queue_delay_ms"),
    6: ("max_ttft_ms", "estimated_worst_ttft_ms"),
    7: ("max_tpot_ms", "estimated_tpot_ms"),
    8: ("max_starvation_ms", "declared_starvation_bound_ms"),
    9: ("max_kv_bytes", "peak_kv_bytes"),
}
"""Bit -> bound and figure, in the order of the audit."""


@dataclass(frozen=True)
class Spot:
    """A configuration (one index per axis but traffic) at a traffic scale."""

    configuration: tuple[int, ...]
    scale: int


class Naive:
    """The answers of one small grid."""

    def __init__(self, grid: Grid) -> None:
        self.grid = grid
        self._capacities: dict[tuple[int, ...], int] = {}
        self._verdicts: dict[Spot, Any] = {}

    def verdict(self, spot: Spot) -> Any:
        if spot not in self._verdicts:
            self._verdicts[spot] = judge(self.fields(spot), self.grid.class_ids)
        return self._verdicts[spot]

    def fields(self, spot: Spot) -> dict[str, Any]:
        return self.grid.fields((*spot.configuration, 0)) | {SCALE: spot.scale}

    def feasible(self, spot: Spot) -> bool:
        return self.verdict(spot).violations == 0

    def capacity(self, configuration: tuple[int, ...]) -> int:
        if configuration not in self._capacities:
            self._capacities[configuration] = largest_scale(self.grid, configuration)
        return self._capacities[configuration]

    def configurations(self, at: Mapping[str, Any]) -> Iterator[tuple[int, ...]]:
        """Every configuration that has the fixed labels (by the axes' own names)."""
        kept = [
            [i for i, label in enumerate(axis.labels) if axis.name not in at or at[axis.name] == label]
            for axis in self.grid.axes[:-1]
        ]
        return product(*kept)

    def point(self, spot: Spot) -> dict[str, Any]:
        named = {axis.name: axis.labels[i] for axis, i in zip(self.grid.axes, spot.configuration, strict=False)}
        return named | {TRAFFIC: spot.scale}

    def order(self, spot: Spot) -> tuple[int, ...]:
        """The default order: most traffic, most slots, largest chunk, lowest share, then the lowest indices."""
        named = self.point(spot)
        first = (-spot.scale, -named[SLOTS], -named["max_prefill_chunk_tokens"], named["prefill_share_permille"])
        return (*first, *spot.configuration[3:])

    def value(self, spot: Spot, name: str) -> int:
        """An axis' value or a quantity at a point."""
        named = self.point(spot)
        if name in named:
            return named[name]
        verdict = self.verdict(spot)
        if name == "bound_max_kv_bytes":
            return verdict.max_kv_bytes
        if name.startswith("bound_"):
            return self.fields(spot)[f"contract.{name.removeprefix('bound_')}"]
        return verdict.figures[name] if name in verdict.figures else getattr(verdict, name)

    def points(
        self, at: Mapping[str, Any] | None = None, objectives: Sequence[tuple[str, str]] = (), on_grid: bool = False
    ) -> list[Spot]:
        """Every feasible point that the question ranks, in order."""
        at = at or {}

        def key(spot: Spot) -> tuple[int, ...]:
            wanted = [self.value(spot, name) * (-1 if sense == "maximize" else 1) for sense, name in objectives]
            return (*wanted, *self.order(spot))

        exact = not objectives or objectives[0] == ("maximize", TRAFFIC)
        found = [spot for c in self.configurations(at) for spot in self._ranked(c, at.get(TRAFFIC), exact, on_grid)]
        return sorted(found, key=key)

    def _ranked(self, configuration: tuple[int, ...], scale: int | None, exact: bool, on_grid: bool) -> list[Spot]:
        own = list(self.grid.axes[-1].values)
        if scale is not None:
            wanted = [scale] if not on_grid or scale in own else []
        elif exact and not on_grid:
            wanted = [self.capacity(configuration)]
        else:
            wanted = own
        spots = [Spot(configuration, one) for one in wanted if one >= 1 and self.feasible(Spot(configuration, one))]
        return spots[-1:] if exact else spots

    def over(self, spot: Spot) -> dict[str, int]:
        """Each broken bound and by how much; empty in an invalid cell."""
        verdict = self.verdict(spot)
        if verdict.invalid_reason:
            return {}
        found = {}
        for bit, (bound, figure) in OVER.items():
            if verdict.violations >> bit & 1:
                found[bound] = verdict.figures[figure] - self.bound(spot, bound)
        return found

    def bound(self, spot: Spot, name: str) -> int:
        if name == "max_kv_bytes":
            return self.verdict(spot).max_kv_bytes
        return self.fields(spot)[f"scheduler.{name}" if name == SLOTS else f"contract.{name}"]

    def neighbours(self, spot: Spot) -> list[tuple[str, Any, Spot | None]]:
        """Per axis the next larger value and the point there; None at the end."""
        found: list[tuple[str, Any, Spot | None]] = []
        for position, axis in enumerate(self.grid.axes[:-1]):
            step = list(spot.configuration)
            step[position] += 1
            inside = step[position] < len(axis)
            label = axis.labels[step[position]] if inside else None
            found.append((axis.name, label, Spot(tuple(step), spot.scale) if inside else None))
        return [*found, (TRAFFIC, spot.scale + 1, Spot(spot.configuration, spot.scale + 1))]

    def holes(self, spot: Spot) -> dict[str, list[Any]]:
        """Per axis the smaller values that are not feasible."""
        found: dict[str, list[Any]] = {}
        for position, axis in enumerate(self.grid.axes[:-1]):
            found[axis.name] = []
            for below in range(spot.configuration[position]):
                step = (*spot.configuration[:position], below, *spot.configuration[position + 1 :])
                if not self.feasible(Spot(step, spot.scale)):
                    found[axis.name].append(axis.labels[below])
        own = [value for value in self.grid.axes[-1].values if value < spot.scale]
        return found | {TRAFFIC: [value for value in own if not self.feasible(Spot(spot.configuration, value))]}

    def smallest_changes(self, at: Mapping[str, Any] | None = None, steps: int = 3_000) -> dict[str, tuple[int, Spot]]:
        """Per bound of the contract the value of its smallest rise that admits a point, and that point.

        Little's law makes feasibility no step in a latency bound: there every value up to `steps` more is tried.
        """
        scale = (at or {}).get(TRAFFIC, self.grid.axes[-1].values[0])
        spots = sorted((Spot(c, scale) for c in self.configurations(at or {})), key=self.order)
        found: dict[str, tuple[int, Spot]] = {}
        for bound in CONTRACT:
            raised = [(self._raised(spot, bound, steps), spot) for spot in spots]
            rises = [(to - self.bound(spot, bound), to, spot) for to, spot in raised if to is not None]
            if rises:
                _, to, spot = min(rises, key=lambda rise: rise[0])
                found[bound] = (to, spot)
        return found

    def _raised(self, spot: Spot, bound: str, steps: int) -> int | None:
        """The least value of a bound at which a valid cell is feasible."""
        if self.verdict(spot).invalid_reason:
            return None
        fields, path = self.fields(spot), f"contract.{bound}"

        def admits(value: int) -> bool:
            return judge({**fields, path: value}, self.grid.class_ids).violations == 0

        low, high = self.bound(spot, bound), BOUNDS[path][1]
        little = any(fields[f"class.{one}.peak_concurrency"] == "from-slo" for one in self.grid.class_ids)
        if little and bound in ("max_ttft_ms", "max_tpot_ms"):
            return next((value for value in range(low + 1, min(low + steps, high) + 1) if admits(value)), None)
        if not admits(high):
            return None
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if admits(middle) else (middle, high)
        return high

    def said(self, spot: Spot) -> str:
        return labels(self.grid, spot.configuration) + f", {TRAFFIC}={spot.scale}"
