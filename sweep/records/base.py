"""What every record does: compute or check its content id, and prove that it was not altered."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, ClassVar, Final, Protocol, TypeVar, cast

from sweep.errors import RecordFault
from sweep.records.bounds import CONTENT_ID
from sweep.records.checks import shown
from sweep.records.digest import JsonValue, digest

NOT_GIVEN: Final = cast(str, None)
"""Default of `content_id`: compute it. A built record always holds a `str`, so that is the field's type."""


class Record(Protocol):
    """A frozen dataclass with a content id as its last field."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def content_id(self) -> str: ...  # noqa: D102


RecordT = TypeVar("RecordT", bound=Record)


def payload(record: Record) -> dict[str, JsonValue]:
    """The fields of a record without its own `content_id`, as JSON values; nested records carry theirs."""
    names = (field.name for field in fields(record) if field.name != "content_id")
    return {name: _json(getattr(record, name)) for name in names}


def as_json(record: Record) -> dict[str, JsonValue]:
    """A record as a JSON object, its `content_id` included."""
    return {**payload(record), "content_id": record.content_id}


def _json(value: object) -> JsonValue:
    if hasattr(type(value), "__dataclass_fields__"):
        return as_json(cast(Record, value))
    if type(value) is tuple:
        return [_json(item) for item in value]
    return cast(JsonValue, value)


def seal(where: str, record: Record, faults: Sequence[str]) -> None:
    """Last step of every constructor: refuse the faults, then compute the content id or check the given one.

    Raises:
        RecordFault: with all `faults`, or because the given content id is not that of the fields.
    """
    given: object = record.content_id
    if given is not None and not (type(given) is str and CONTENT_ID.fullmatch(given)):
        faults = [
            *faults,
            f"{where}.content_id: got {shown(given)}, want 64 hex digits; leave it out, it is computed.",
        ]
    if faults:
        raise RecordFault(faults)
    computed = digest(payload(record))
    if given is not None and given != computed:
        raise RecordFault(
            f"{where}.content_id: got {given}, but the fields give {computed}: the record was altered, or "
            "the id is another record's; build it anew from its fields, without a content_id."
        )
    object.__setattr__(record, "content_id", computed)


def verified(where: str, record: object, kind: type[RecordT]) -> RecordT:
    """The record, rebuilt from its own fields and equal to the given one.

    Frozen records can still be altered with `object.__setattr__`, and a subclass can override anything. Hence
    only the exact class passes, and only when its constructor accepts what it holds, content id included.
    Nested records are rebuilt by the constructor of the record that holds them.

    Raises:
        RecordFault: when it is of another class, lacks a field, or does not equal its rebuilt self.
    """
    if type(record) is not kind:
        wanted = f"want exactly a {kind.__name__}, no subclass; build one"
        raise RecordFault(f"{where}: got {shown(record)}, {wanted}.")
    try:
        held = [getattr(record, field.name) for field in fields(kind)]
    except AttributeError as missing:
        raise RecordFault(f"{where}: has no field {missing.name}; build it with its constructor.") from None
    try:
        rebuilt = kind(*held)
    except RecordFault as fault:
        altered = f"{where} was altered after it was built"
        raise RecordFault(f"{altered}: {sentence}" for sentence in fault.faults) from None
    if rebuilt != record:
        raise RecordFault(f"{where}: differs from its own fields rebuilt; build it with its constructor.")
    return rebuilt
