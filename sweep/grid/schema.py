"""The tables of a grid file as strict, frozen pydantic models, generated from the one table of fields.

pydantic brings the strictness (unknown and missing keys, every fault of a table at once); what a single value
may be is said by `Field`, so that its bounds are written once.
"""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, PlainValidator, ValidationError, create_model

from sweep.grid.faults import Faults, FieldError
from sweep.grid.fields import FIELDS, TABLES, Field, Value, keys_of
from sweep.grid.paths import MILLIRPS, RPS


class Table(BaseModel):
    """What every table of a grid file has in common: exact types, no unknown keys, no change afterwards."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, protected_namespaces=())


def _column(field: Field) -> tuple[object, object]:
    required = field.default is None and not field.optional
    return Annotated[Value, PlainValidator(field.value)], ... if required else field.default


def _model(table: str) -> type[Table]:
    columns: dict[str, Any] = {key: _column(FIELDS[table, key]) for key in keys_of(table)}
    title = "".join(part.capitalize() for part in table.split("_"))
    return create_model(f"{title}Table", __base__=Table, **columns)


MODELS: Mapping[str, type[Table]] = {table: _model(table) for table in TABLES}
"""Table -> its model; None stands for an optional key that the file leaves out."""


def check_table(table: str, place: str, raw: Mapping[str, object], faults: Faults) -> dict[str, Value]:
    """A table's values by key, defaults filled in; what is wrong goes to `faults` and is left out.

    Args:
        table: which model.
        place: how messages call the table.
        raw: the parsed table, missing keys that an axis sets already filled in.
        faults: where faults go.
    """
    try:
        checked = MODELS[table].model_validate(dict(raw))
    except ValidationError as error:
        wrong = {str(details["loc"][0]) for details in error.errors(include_url=False)}
        for details in error.errors(include_url=False):
            _report(table, place, details, faults)
        return {key: FIELDS[table, key].value(value) for key, value in raw.items() if key not in wrong}
    return {key: value for key in keys_of(table) if (value := getattr(checked, key)) is not None}


def _report(table: str, place: str, details: Mapping[str, Any], faults: Faults) -> None:
    key = str(details["loc"][0])
    where = f"{place}.{key}"
    match details["type"]:
        case "extra_forbidden":
            keys = keys_of(table)
            faults.unknown(where, key, (*keys, RPS) if MILLIRPS in keys else keys)
        case "missing" if (table, key) == ("class", MILLIRPS):
            wanted = FIELDS[table, key].wanted
            faults.add(where, f"missing, wanted {MILLIRPS}, {wanted}, or {RPS}, a decimal of requests/s; add one.")
        case "missing":
            faults.add(where, f"missing, wanted {FIELDS[table, key].wanted}; add it.")
        case _:
            cause = details["ctx"]["error"]
            assert isinstance(cause, FieldError)  # Field.value raises nothing else
            faults.refuse(where, cause)
