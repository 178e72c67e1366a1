"""The entries of `[axes]` -> axes: lists, ranges and named choices, each value in its field's unit."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from sweep.grid.choices import is_choice_list, read_choices
from sweep.grid.document import RANGE_KEYS, Document, RawAxis
from sweep.grid.faults import Faults, FieldError
from sweep.grid.fields import Value
from sweep.grid.model import Axis
from sweep.grid.paths import ALIASES, Target, axis_name, dim_of, known_paths, locate
from sweep.grid.spacing import by_step, geometric, linear, normal
from sweep.units import grouped, shown

MAX_LENGTH = 10**7
"""Most values of one axis; a longer one is refused before anything is allocated."""


MOST_BAD_VALUES = 20
"""Faulty values of one list beyond which the rest is not checked."""


@dataclass(frozen=True)
class Claim:
    """That an axis sets a field, whether its values are sound or not.

    Attributes:
        path: the field.
        place: the axis, for messages.
        axis: which entry of `[axes]`, by number.
        always: whether every value of the axis sets it, so that the base need not.
        first: the first value, None where it is faulty.
    """

    path: str
    place: str
    axis: int
    always: bool
    first: Value | None


def read_axes(document: Document, faults: Faults) -> tuple[list[Axis], list[Claim]]:
    """The sound axes in file order, and what all of them set."""
    axes: list[Axis] = []
    claims: list[Claim] = []
    for number, raw in enumerate(document.axes):
        if is_choice_list(raw.spec):
            choices = read_choices(raw.key, raw.spec, document.class_ids, faults)
            place = f"axes.{raw.key}"
            claims += [Claim(p, place, number, always, first) for p, always, first in choices.claims]
            if choices.sound:
                axes.append(Axis(raw.key, raw.key, dim_of(raw.key), (), choices.sound))
        else:
            _read_integers(number, raw, document, faults, axes, claims)
    _no_field_twice(claims, document, faults)
    return axes, claims


def _read_integers(
    number: int, raw: RawAxis, document: Document, faults: Faults, axes: list[Axis], claims: list[Claim]
) -> None:
    place = f"axes.{raw.key}"
    target = find(raw.key, document.class_ids, place, faults)
    if target is None:
        return
    if target.field.kind not in ("integer", "ratio"):
        advice = "list named choices for it" if target.field.kind == "identity" else "set it in the base"
        faults.add(place, f"an axis sets whole numbers and this field holds {target.field.wanted}; {advice}.")
        return
    values = _values(target, raw.spec, place, faults)
    claims.append(Claim(target.path, place, number, True, values[0] if values else None))
    if values:
        name = axis_name(target.path)
        axes.append(Axis(name, target.path, dim_of(name), normal(values)))


def find(
    name: str,
    class_ids: Sequence[str],
    place: str,
    faults: Faults,
    kinds: Sequence[str] = ("integer", "ratio"),
) -> Target | None:
    """The field that a name in the file means, or None after a fault with the nearest known name."""
    target = locate(name)
    if target is None and name in ALIASES:
        faults.add(place, f"unknown field, the nearest known one is {ALIASES[name]}; write that.")
    elif target is None:
        faults.unknown(place, name, known_paths(class_ids, kinds), "field")
    elif target.class_id is not None and f"{target.class_id}:1" in class_ids:
        buckets = sum(one.startswith(f"{target.class_id}:") for one in class_ids)
        ids = f"{target.class_id}:1" + (f" to {target.class_id}:{buckets}" if buckets > 1 else "")
        field = target.path.rpartition(".")[2]
        what = f"{target.class_id} has lengths, so its classes are its buckets, {ids}"
        faults.add(place, f"{what}; write class.{target.class_id}:1.{field}, or that of another one.")
    elif target.class_id is not None and target.class_id not in class_ids:
        faults.unknown(place, name, known_paths(class_ids, kinds), "field (no class has this id)")
    else:
        return target
    return None


def _values(target: Target, spec: object, place: str, faults: Faults) -> Sequence[int]:
    """The values of a list or a range, empty after a fault."""
    if isinstance(spec, dict):
        return _range(target, spec, place, faults)
    if not isinstance(spec, list) or not spec:
        faults.add(place, f"got {shown(spec)}, wanted a list of values or a range with start and stop; give one.")
        return ()
    values: list[int] = []
    for index, item in enumerate(spec):
        try:
            values.append(target.integer(item))
        except FieldError as error:
            faults.refuse(f"{place}[{index}]", error)
            if index - len(values) == MOST_BAD_VALUES:
                faults.add(place, "the rest of the list is not checked; repair these values first.")
                break
    if len(values) < len(spec):
        return ()
    for before, after in pairwise(values):
        if after <= before:
            what = "comes twice; remove one" if after == before else f"comes after {shown(before)}; sort the list"
            faults.add(place, f"got values that do not increase, {shown(after)} {what}.")
            return ()
    return values


def _range(target: Target, spec: Mapping[str, object], place: str, faults: Faults) -> Sequence[int]:
    """The values of a range table, empty after a fault."""
    before = len(faults)
    for key in spec:
        if key not in RANGE_KEYS:
            faults.unknown(f"{place}.{key}", key, RANGE_KEYS)
    if ("step" in spec) == ("num" in spec):
        got = "both step and num" if "step" in spec else "neither step nor num"
        faults.add(place, f"got {got}, wanted one of them; write step, or num with spacing.")
    if "step" in spec and "spacing" in spec:
        faults.add(f"{place}.spacing", "spacing goes with num only; remove it.")
    if "num" in spec and spec.get("spacing") not in ("linear", "geometric"):
        got = shown(spec["spacing"]) if "spacing" in spec else "nothing"
        faults.add(f"{place}.spacing", f'got {got}, wanted "linear" or "geometric"; write one of them.')
    start = _end(target, "start", spec, place, faults)
    # a stop that a step does not hit is no value, so only what is hit must be inside the bounds
    stop = _end(target, "stop", spec, place, faults, bounded="step" not in spec)
    if start is not None and stop is not None and stop < start:
        faults.add(place, f"got stop {shown(stop)} below start {shown(start)}, wanted stop ≥ start; swap them.")
    count = _count(target, "step" if "step" in spec else "num", spec, place, faults)
    if len(faults) > before or start is None or stop is None or count is None:
        return ()
    if "step" in spec:
        return _stepped(target, start, stop, count, place, faults)
    if spec["spacing"] == "geometric" and start < 1:
        faults.add(f"{place}.start", "got 0, wanted at least 1 for geometric spacing; raise it or use linear.")
        return ()
    return (geometric if spec["spacing"] == "geometric" else linear)(start, stop, count)


def _end(
    target: Target, key: str, spec: Mapping[str, object], place: str, faults: Faults, *, bounded: bool = True
) -> int | None:
    if key not in spec:
        faults.add(f"{place}.{key}", f"missing, wanted {target.field.wanted}; add it.")
        return None
    try:
        return target.integer(spec[key]) if bounded else target.unbounded(spec[key])
    except FieldError as error:
        faults.refuse(f"{place}.{key}", error)
        return None


def _count(target: Target, key: str, spec: Mapping[str, object], place: str, faults: Faults) -> int | None:
    """`step` or `num`; None if faulty. A step in requests per second becomes 1/1000 of them."""
    if key not in spec:
        return None
    lowest, value = (1, spec[key]) if key == "step" else (2, spec[key])
    in_rps = key == "step" and target.in_rps
    try:
        if in_rps:
            value = target.unbounded(value)
        if isinstance(value, int) and not isinstance(value, bool) and value >= lowest:
            if key == "num" and value > MAX_LENGTH:
                most = grouped(MAX_LENGTH)
                faults.add(f"{place}.num", f"got {shown(value)}, wanted at most {most} values; lower it.", size=True)
                return None
            return value
        wanted = "requests per second of at least 0.001" if in_rps else f"a whole number of at least {lowest}"
        raise FieldError(spec[key], wanted, "write a plain number without a unit")
    except FieldError as error:
        faults.refuse(f"{place}.{key}", error)
        return None


def _stepped(target: Target, start: int, stop: int, step: int, place: str, faults: Faults) -> Sequence[int]:
    # Sizes in Python ints first: len() of a range above 2^63 raises OverflowError.
    length = (stop - start) // step + 1
    last = start + (length - 1) * step
    try:
        target.field.within(last, last)
    except FieldError as error:
        faults.refuse(f"{place}.stop", error)
        return ()
    if length > MAX_LENGTH:
        most = grouped(MAX_LENGTH)
        faults.add(place, f"got {grouped(length)} values, wanted at most {most}; raise step.", size=True)
        return ()
    return by_step(start, stop, step)


def _no_field_twice(claims: Sequence[Claim], document: Document, faults: Faults) -> None:
    first: dict[str, Claim] = {}
    for claim in claims:
        earlier = first.setdefault(claim.path, claim)
        if earlier.axis != claim.axis:
            what = f"{claim.path} is already set by {earlier.place}"
            faults.add(claim.place, f"{what}, wanted each field on one axis; remove one of the two.")
