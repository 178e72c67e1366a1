"""`Grid`, `Axis` and `Choice`: the validated grid, frozen, as every other room reads it."""

import operator
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import prod

from sweep.errors import UsageFault
from sweep.grid.faults import FieldError, listed, near
from sweep.grid.fields import FROM_MEMORY, FROM_SLO, FROM_STEP_TIME, Value
from sweep.grid.naming import why_no_axis
from sweep.grid.paths import ALIASES, STANDING, TRAFFIC, locate
from sweep.grid.spacing import Values
from sweep.units import shown


@dataclass(frozen=True)
class Choice:
    """One named choice of a choice axis: the fields that it sets together.

    Attributes:
        name: its label.
        sets: full path -> value; what it leaves out keeps the base's value.
        quality_delta: the measured loss of quality, an exact decimal; None where nobody measured it.
    """

    name: str
    sets: Mapping[str, Value]
    quality_delta: Fraction | None = None


@dataclass(frozen=True)
class Axis:
    """One axis of the grid.

    Attributes:
        name: as in `[axes]`: short for the standing axes and `replicas`, else the full path or the choices'
        name.
        path: the full path of the field that it sets; of a choice axis its name.
        dim: the netCDF dimension.
        values: the integers of the axis, strictly increasing, in the field's unit; `()` for a choice axis.
        choices: the choices in file order; `()` for an integer axis.
        listed: False for a standing axis that `[axes]` does not name (one value, from the base).
    """

    name: str
    path: str
    dim: str
    values: Values
    choices: tuple[Choice, ...] = ()
    listed: bool = True

    def __len__(self) -> int:
        return len(self.choices) or len(self.values)

    @property
    def is_choice(self) -> bool:
        """Whether the axis is one of named choices."""
        return bool(self.choices)

    @cached_property
    def fields(self) -> tuple[str, ...]:
        """Every full path that the axis sets: of choices the union, in order of appearance."""
        if not self.is_choice:
            return (self.path,)
        return tuple(dict.fromkeys(path for choice in self.choices for path in choice.sets))

    @property
    def labels(self) -> Sequence[int] | Sequence[str]:
        """All coordinate values, a range where they are one."""
        return [choice.name for choice in self.choices] if self.is_choice else self.values

    def label(self, index: int) -> int | str:
        """The coordinate value at an index."""
        return self.choices[index].name if self.is_choice else self.values[index]

    def setting(self, index: int) -> Mapping[str, Value]:
        """The fields that an index sets."""
        return self.choices[index].sets if self.is_choice else {self.path: self.values[index]}

    def index(self, label: int | str) -> int:
        """The index of a coordinate value.

        Args:
            label: an integer in the field's unit, a text with a unit (`"60 %"`), or a choice's name.

        Raises:
            UsageFault: no such value on the axis; the message names the nearest ones.
        """
        if self.is_choice:
            if label in self._positions:
                return self._positions[label]
            names = [choice.name for choice in self.choices]
            close = near(str(label), names)
            hint = f", the nearest is {close}" if close else ""
            raise UsageFault(f"axis {self.name}: no choice {shown(label)}{hint}; take one of {listed(names)}.")
        number = self.number(label)
        if isinstance(self.values, range):
            if number in self.values:
                return self.values.index(number)
        elif number in self._positions:
            return self._positions[number]
        raise UsageFault(f"axis {self.name}: no value {shown(number)}; {self.nearest(number)}.")

    @cached_property
    def _positions(self) -> dict[int | str, int]:
        return {self.label(index): index for index in range(len(self))}

    def number(self, label: int | str) -> int:
        """A coordinate of an integer axis as a number, on the axis or not.

        Args:
            label: an integer in the field's unit (also as a text), or a text with a unit.

        Raises:
            UsageFault: neither; a float or a bool is never taken for an integer.
        """
        if isinstance(label, str) and re.fullmatch(r"[+-]?[0-9][0-9_]{0,60}", label):
            return int(label.replace("_", ""))
        if not isinstance(label, str | bool):
            try:
                return operator.index(label)  # NumPy's integers too
            except TypeError:
                pass
        target = locate(self.path)
        assert target is not None  # the path of an integer axis is a field's
        try:
            return target.unbounded(label)
        except FieldError as error:
            raise UsageFault(f"axis {self.name}: {error}.") from None

    def nearest(self, number: int) -> str:
        """What values of an integer axis are around a number that is none, as a message says it."""
        below = max((value for value in self._around(number) if value < number), default=None)
        above = min((value for value in self._around(number) if value > number), default=None)
        near = " and ".join(shown(value) for value in (below, above) if value is not None)
        return f"its nearest values are {near}" if below is not None and above is not None else f"the nearest is {near}"

    def _around(self, number: int) -> Sequence[int]:
        low, high = 0, len(self.values)
        while low < high:  # bisect, without materialising a range
            middle = (low + high) // 2
            low, high = (middle + 1, high) if self.values[middle] < number else (low, middle)
        return self.values[max(0, low - 1) : low + 1]


@dataclass(frozen=True)
class Grid:
    """A validated grid: a base operating point, the models' parameters, and the axes.

    Two grids are equal when all their attributes are; `sha256` identifies what they compute.

    Attributes:
        name: `[sweep] name`.
        base: full path -> value, of every table that the file has, defaults filled in. Integers are in their
            field's unit, a ratio is a `Fraction`; `from-memory`, `from-slo` and `from-step-time` stay texts.
        class_ids: the request classes in file order.
        axes: share, chunk, slots, the others in file order, traffic last.
        text: the file as read.
        overrides: the command line's `--set …` and `--axis …`, in order.
        effective: canonical JSON of the grid after overrides, units resolved.
        sha256: SHA-256 of `effective`, lowercase hex.
    """

    name: str
    base: Mapping[str, Value]
    class_ids: tuple[str, ...]
    axes: tuple[Axis, ...]
    text: str = field(repr=False)
    overrides: tuple[str, ...]
    effective: str = field(repr=False)
    sha256: str

    def __hash__(self) -> int:
        return hash(self.sha256)

    @property
    def shape(self) -> tuple[int, ...]:
        """How many values each axis has, in the order of `axes`."""
        return tuple(len(axis) for axis in self.axes)

    @property
    def cells(self) -> int:
        """How many operating points the grid has, a Python int of any size."""
        return prod(self.shape)

    @property
    def configurations(self) -> int:
        """How many cells there are at one traffic scale."""
        return self.cells // len(self.axes[-1])

    @cached_property
    def _positions(self) -> dict[str, int]:
        exact: dict[str, int] = {}
        for spellings in ((axis.name for axis in self.axes), (axis.path for axis in self.axes), self.dims):
            for position, spelling in enumerate(spellings):
                exact.setdefault(spelling, position)
        for alias, name in ALIASES.items():
            exact.setdefault(alias, exact[name])
        return exact

    @property
    def dims(self) -> tuple[str, ...]:
        """The netCDF dimensions, in the order of `axes`."""
        return tuple(axis.dim for axis in self.axes)

    def position(self, name: str) -> int:
        """Where an axis stands in `axes`.

        Args:
            name: its name, full path or dimension, one of share, chunk, slots, traffic (exact names win), or the
                last part of its path where only one axis ends so.

        Raises:
            UsageFault: the grid has no such axis; the message says what to do, or what is near.
        """
        if name in self._positions:
            return self._positions[name]
        ending = [position for position, axis in enumerate(self.axes) if axis.path.endswith(f".{name}")]
        if len(ending) == 1:
            return ending[0]
        raise UsageFault(self.no_axis(name))

    def no_axis(self, name: str, others: Sequence[str] = (), what: str = "axis") -> str:
        """Why a name is no axis, as a sentence; `others` and `what` are further names that would do."""
        setters = {path: axis.name for axis in self.axes for path in axis.fields}
        missing = why_no_axis(name, setters, self.class_ids)
        if missing:
            return f"{missing}."
        names = [*(axis.name for axis in self.axes), *others]
        close = near(name, [*self._positions, *others])
        hint = f", the nearest is {close}" if close else ""
        return f"no {what} {shown(name)}{hint}; take one of {listed(names, 20)}."

    def axis(self, name: str) -> Axis:
        """The axis of a name; see `position`."""
        return self.axes[self.position(name)]

    @property
    def from_memory(self) -> bool:
        """Whether the KV bound is what the GPU's memory leaves."""
        return self.base["contract.max_kv_bytes"] == FROM_MEMORY

    @property
    def step_time(self) -> bool:
        """Whether `iteration_time_ms` is derived from slots and chunk."""
        return "step_time.base_ns" in self.base

    @property
    def capacity_from_step_time(self) -> bool:
        """Whether `token_capacity_per_second` is derived from the step time."""
        return self.base.get("step_time.capacity") == FROM_STEP_TIME

    @property
    def model(self) -> bool:
        """Whether `kv_bytes_per_token` is derived from the model's shape."""
        return "model.layers" in self.base

    @property
    def scale_concurrency(self) -> bool:
        """Whether an integer peak concurrency grows with the traffic scale."""
        return self.base["traffic.scale_concurrency"] is True

    @property
    def admission_control_enabled(self) -> bool:
        """Whether admission control is on, for every cell."""
        return self.base["workload.admission_control_enabled"] is True

    def from_slo(self, class_id: str) -> bool:
        """Whether a class' peak concurrency follows from the SLO by Little's law."""
        return self.base[f"class.{class_id}.peak_concurrency"] == FROM_SLO

    def fields(self, index: Sequence[int], scale_permille: int | None = None) -> dict[str, Value]:
        """The base with every axis' value at a cell's index set.

        Args:
            index: one index per axis, in the order of `axes`.
            scale_permille: a traffic scale that replaces the traffic axis' value, on the axis or not.
        """
        cell = dict(self.base)
        for axis, at in zip(self.axes, index, strict=True):
            if axis.choices:
                cell.update(axis.choices[at].sets)
            else:
                cell[axis.path] = axis.values[at]
        if scale_permille is not None:
            cell[STANDING[TRAFFIC]] = scale_permille
        return cell
