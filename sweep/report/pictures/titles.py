"""What axes and quantities are called in a picture, with their units."""

from __future__ import annotations

from dataclasses import dataclass

from sweep.engine.catalogue import FIGURES
from sweep.grid.model import Axis
from sweep.grid.paths import CHUNK, SHARE, SLOTS, TRAFFIC, locate
from sweep.report.pictures.scale import Labels
from sweep.report.words import safe
from sweep.store.layout import unit_of
from sweep.units import UNIT_WORDS

_STANDING = {
    SHARE: ("prefill share", "‰ of the token capacity"),
    CHUNK: ("prefill chunk", "tokens"),
    SLOTS: ("batch slots", "sequences"),
    TRAFFIC: ("traffic", "‰ of the declared"),
    "replicas": ("replicas", "number"),
}
_UNITS = {"1e-3": "‰", "s-1": "per second", "1": "number", "byte": "bytes"}
_LONG_NAMES = {figure.name: figure.long_name for figure in FIGURES}
_UNITS_OF = {figure.name: _UNITS.get(figure.units, figure.units) for figure in FIGURES} | {
    "token_capacity_per_second": "tokens per second",
    "active_sequences": "sequences",
    "max_active_sequences": "sequences",
}


@dataclass(frozen=True)
class Title:
    """A name with its unit; choices have none."""

    name: str
    unit: str = ""

    def text(self, labels: Labels | None = None) -> str:
        """With the power of ten and the offset of its labels, where they have one."""
        return (labels or Labels(())).title(self.name, self.unit)


def axis_title(axis: Axis) -> Title:
    """The title of an axis: words for the standing ones, the path of any other."""
    if axis.name in _STANDING:
        return Title(*_STANDING[axis.name])
    if axis.is_choice:
        return Title(safe(axis.name))
    target = locate(axis.path)
    unit = "" if target is None else target.field.unit
    return Title(safe(axis.path), UNIT_WORDS.get(unit, unit) or "number")


def quantity_title(name: str) -> Title:
    """The title of a quantity, or of a bound (also as `bound_…`), by its name in the result."""
    field = name.removeprefix("bound_")
    unit = _UNITS_OF.get(field) or _UNITS.get(unit_of(field), unit_of(field))
    return Title(_LONG_NAMES.get(name, f"bound {field}" if field != name else field), unit)
