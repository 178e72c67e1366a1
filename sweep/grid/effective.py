"""The canonical text of a validated grid, which identifies it, and the way back from that text.

Sorted keys, no spaces, ASCII; units resolved, defaults filled in, axes in file order in their one normal
form. Whatever comes after a run reads this text and never the file.
"""

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction

from sweep.errors import InputFault
from sweep.grid.document import Document, RawAxis
from sweep.grid.fields import Value
from sweep.grid.model import Axis, Choice
from sweep.units import decimal_text


def canonical(value: object) -> str:
    """JSON with sorted keys, no spaces, ASCII only."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def effective_text(base: Mapping[str, Value], class_ids: Sequence[str], listed: Sequence[Axis], name: str) -> str:
    """The canonical text.

    Args:
        base: full path -> value.
        class_ids: in file order.
        listed: the axes of `[axes]`, in file order.
        name: `[sweep] name`.
    """
    tables: dict[str, object] = {"sweep": {"name": name}}
    classes: dict[str, dict[str, object]] = {class_id: {"class_id": class_id} for class_id in class_ids}
    for path, value in base.items():
        table, _, key = path.partition(".")
        if table == "class":
            class_id, _, key = key.rpartition(".")
            classes[class_id][key] = _plain(value)
        else:
            content = tables.setdefault(table, {})
            assert isinstance(content, dict)  # made two lines above, or by an earlier path
            content[key] = _plain(value)
    tables["class"] = list(classes.values())
    tables["axes"] = [_axis(axis) for axis in listed]
    return canonical(tables)


def _plain(value: Value) -> int | str | bool:
    return f"{value.numerator}/{value.denominator}" if isinstance(value, Fraction) else value


def _axis(axis: Axis) -> dict[str, object]:
    named: dict[str, object] = {"name": axis.name, "path": axis.path}
    if axis.is_choice:
        named["choices"] = [_choice(choice) for choice in axis.choices]
    elif isinstance(axis.values, range):
        values = axis.values
        named |= {"start": values[0], "stop": values[-1], "step": values.step}
    else:
        named["values"] = list(axis.values)
    return named


def _choice(choice: Choice) -> dict[str, object]:
    plain: dict[str, object] = {"name": choice.name}
    plain["set"] = {path: _plain(value) for path, value in choice.sets.items()}
    if choice.quality_delta is not None:
        plain["quality_delta"] = decimal_text(choice.quality_delta)  # a JSON number would come back as a float
    return plain


def document_of_effective(effective: str, document: Document) -> dict[str, object]:
    """The tables of a canonical text in the shape of a parsed file; its axes go to the document.

    Raises:
        InputFault: the text is not the canonical text of a grid.
    """
    try:
        parsed = json.loads(effective)
        axes = parsed.pop("axes")
        document.axes = [RawAxis(entry["name"], _spec(entry)) for entry in axes]
        if not all(isinstance(raw.key, str) for raw in document.axes):
            raise TypeError
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise InputFault("grid_effective: not the canonical text of a grid; make the result again.") from None
    return dict(parsed)


def _spec(entry: Mapping[str, object]) -> object:
    if "choices" in entry:
        return entry["choices"]
    if "values" in entry:
        return entry["values"]
    return {key: entry[key] for key in ("start", "stop", "step")}
