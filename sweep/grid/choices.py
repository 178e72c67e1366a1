"""Axes of named choices: each choice sets several fields together."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeGuard

from sweep.grid.faults import Faults, FieldError
from sweep.grid.fields import LONGEST_TITLE, Value
from sweep.grid.frozen import FrozenDict
from sweep.grid.model import Choice
from sweep.grid.paths import SHORT, STANDING, Target, known_paths, locate, millirps
from sweep.units import exact_decimal, grouped, odd_character, shown

SETTABLE = ("integer", "ratio", "identity")
"""Kinds of fields that a choice may set."""

_KEYS = ("name", "set", "quality_delta")

MAX_DELTA = 10**6
"""The largest quality delta either way; a score that loses more is in another unit."""


@dataclass(frozen=True)
class Choices:
    """What a choice axis gives.

    Attributes:
        sound: the choices, empty when any of them has a fault.
        claims: (path, whether every choice sets it, its value in the first choice or None when faulty).
    """

    sound: tuple[Choice, ...]
    claims: tuple[tuple[str, bool, Value | None], ...]


def is_choice_list(spec: object) -> TypeGuard[list[dict[str, object]]]:
    """Whether an entry of `[axes]` is a list of tables, which makes it an axis of choices."""
    return isinstance(spec, list) and bool(spec) and all(isinstance(item, dict) for item in spec)


def read_choices(axis: str, spec: Sequence[Mapping[str, object]], class_ids: Sequence[str], faults: Faults) -> Choices:
    """The choices of one axis; faults make it unsound as a whole, its claims hold all the same."""
    before = len(faults)
    place = f"axes.{axis}"
    _check_axis_name(axis, place, faults)
    names: dict[str, int] = {}
    set_by: dict[str, list[Value | None]] = {}
    choices: list[Choice] = []
    for index, item in enumerate(spec):
        name = _name(item, index, place, names, faults)
        where = f"{place}.{name}" if name else f"{place}[{index}]"
        sets = _sets(item, where, class_ids, faults)
        for path, value in sets.items():
            set_by.setdefault(path, []).append(value)
        delta = _quality_delta(item, where, faults)
        choices.append(Choice(name, FrozenDict((p, v) for p, v in sets.items() if v is not None), delta))
    if not set_by and len(faults) == before:
        faults.add(place, "its choices set no field, wanted at least one; fill a set or remove the axis.")
    claims = tuple((path, len(values) == len(spec), values[0]) for path, values in set_by.items())
    return Choices(tuple(choices) if len(faults) == before else (), claims)


def _check_axis_name(axis: str, place: str, faults: Faults) -> None:
    if locate(axis) is not None or axis in SHORT:
        faults.add(place, "an axis of choices has the name of a field, wanted a name of its own; rename it.")
    elif not _is_label(axis):
        wanted = f"1 to {LONGEST_TITLE} characters"
        faults.add(place, f"got the name {shown(axis)}, wanted {wanted}; {_rename(axis)}.")


def _is_label(text: object) -> TypeGuard[str]:
    return isinstance(text, str) and 0 < len(text) <= LONGEST_TITLE and text.isprintable()


def _rename(text: object) -> str:
    odd = odd_character(text) if isinstance(text, str) else None
    return "rename it" if odd is None else f"take out the character {odd}"


def _name(item: Mapping[str, object], index: int, place: str, names: dict[str, int], faults: Faults) -> str:
    """The choice's name, "" after a fault."""
    name = item.get("name")
    for key in item:
        if key not in _KEYS:
            faults.unknown(f"{place}[{index}].{key}", key, _KEYS)
    if "name" not in item:
        faults.add(f"{place}[{index}].name", "missing, wanted a text; name the choice.")
    elif not _is_label(name):
        wanted = f"a text of 1 to {LONGEST_TITLE} characters on one line"
        faults.add(f"{place}[{index}].name", f"got {shown(name)}, wanted {wanted}; {_rename(name)}.")
    elif name in names:
        faults.add(f"{place}[{index}].name", f"got {shown(name)} again, wanted distinct names; rename one.")
    else:
        names[name] = index
        return name
    return ""


def _quality_delta(item: Mapping[str, object], where: str, faults: Faults) -> Fraction | None:
    """The measured loss of quality of a choice, exactly; None where it has none, or after a fault."""
    if "quality_delta" not in item:
        return None
    given, place = item["quality_delta"], f"{where}.quality_delta"
    delta = exact_decimal(given)
    wanted = f"a decimal from -{grouped(MAX_DELTA)} to {grouped(MAX_DELTA)}"
    if delta is None:
        faults.add(place, f"got {shown(given)}, wanted {wanted}; write the measured loss of quality, or leave it out.")
    elif abs(delta) > MAX_DELTA:
        faults.add(place, f"got {shown(given)}, wanted {wanted}; write it in the unit of the score.")
        return None
    return delta


def _sets(item: Mapping[str, object], where: str, class_ids: Sequence[str], faults: Faults) -> dict[str, Value | None]:
    """Full path -> value of one choice's `set`; None for a faulty value."""
    raw = item.get("set")
    if not isinstance(raw, dict):
        got = shown(raw) if "set" in item else "nothing"
        faults.add(f"{where}.set", f"got {got}, wanted a table of fields and values; write set = {{ … }}.")
        return {}
    sets: dict[str, Value | None] = {}
    for name, value in _flat(raw):
        place = f"{where}.{name}"
        target = _target(name, place, class_ids, faults)
        if target is None:
            continue
        if target.path in sets:
            faults.add(place, "the choice sets this field twice; remove one of the two.")
            continue
        try:
            sets[target.path] = millirps(target.field, value) if target.in_rps else target.field.choice(value)
        except FieldError as error:
            faults.refuse(place, error)
            sets[target.path] = None
    return sets


def _flat(table: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """The leaves of nested tables with their dotted paths, depth first."""
    stack = list(reversed(list(table.items())))
    while stack:
        path, value = stack.pop()
        if isinstance(value, dict) and path.count(".") < 200:
            stack += [(f"{path}.{key}", below) for key, below in reversed(list(value.items()))]
        else:
            yield path, value


def _target(name: str, place: str, class_ids: Sequence[str], faults: Faults) -> Target | None:
    target = locate(name)
    if target is None or (target.class_id is not None and target.class_id not in class_ids):
        faults.unknown(place, name, known_paths(class_ids, SETTABLE), "field")
        return None
    if target.path in STANDING.values():
        faults.add(
            place,
            "a choice sets the field of a standing axis, wanted any other field; list that axis itself.",
        )
        return None
    if target.field.kind not in SETTABLE or target.field.key == "class_id":
        faults.add(place, "a choice sets integers, ratios and identities, and not this field; set it in the base.")
        return None
    return target
