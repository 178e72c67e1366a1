"""A grid file, its text, or a canonical text -> a validated `Grid`, or every fault at once."""

import hashlib
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from sweep.errors import InputFault
from sweep.grid.axes import Claim, read_axes
from sweep.grid.document import Document, document_of, parse_toml, read_text
from sweep.grid.effective import document_of_effective, effective_text
from sweep.grid.faults import Faults, FieldError
from sweep.grid.fields import FIELDS, FROM_SLO, TABLES, Field, Value
from sweep.grid.frozen import FrozenDict
from sweep.grid.lengths import apply_and_expand
from sweep.grid.model import Axis, Grid
from sweep.grid.overrides import Override, apply_overrides
from sweep.grid.paths import MILLIRPS, RPS, STANDING, TRAFFIC, dim_of, millirps
from sweep.grid.rules import (
    check_bursts,
    check_claims,
    check_classes,
    check_derived,
    check_dims,
    check_required,
    check_scope,
    check_step_time,
)
from sweep.grid.schema import check_table

_ALWAYS = ("sweep", "scope", "contract", "scheduler", "workload", "traffic")
_WITH_DEFAULTS = ("scope", "workload", "traffic")


def load_grid(path: str | Path, overrides: Sequence[Override] = ()) -> Grid:
    """Reads and validates a grid file.

    Args:
        path: a TOML file as `grid.md` defines it.
        overrides: ("set", "path=value") and ("axis", "name=values"), applied in order.

    Raises:
        InputFault: with every fault of the file and the overrides, one sentence each.
        RefusedSize: the file is valid but an axis is too long.
    """
    return parse_grid(read_text(Path(path)), overrides, str(path))


def parse_grid(text: str, overrides: Sequence[Override] = (), where: str = "grid") -> Grid:
    """Validates the text of a grid file; `where` names it in a syntax error. See `load_grid`."""
    text = text.removeprefix("\N{BYTE ORDER MARK}")  # some editors begin UTF-8 with it; TOML knows it not
    document = Document()
    faults = Faults(document.origins)
    document_of(parse_toml(text, where), faults, document)
    apply_and_expand(document, overrides, faults)
    return _grid(document, faults, text)


def grid_from_effective(effective: str, text: str = "", overrides: Sequence[str] = ()) -> Grid:
    """The grid of a canonical text, as stored in a result file: the same `effective` and `sha256`.

    Args:
        effective: the canonical text.
        text: the grid file as it was read, for `Grid.text`.
        overrides: the options as texts, for `Grid.overrides`; they are in `effective` already.

    Raises:
        InputFault: the text is not exactly the canonical text of a valid grid.
    """
    document = Document(overrides=list(overrides))
    faults = Faults({})
    document_of(document_of_effective(effective, document), faults, document)
    grid = _grid(document, faults, text)
    if grid.effective != effective:
        raise InputFault("grid_effective: not in canonical form; make the result again.")
    return grid


def grid_with(grid: Grid, overrides: Sequence[Override]) -> Grid:
    """A grid with more overrides, as if they had been given when it was loaded: the same `effective` and `sha256`.

    Raises:
        InputFault: what the overrides make is no valid grid; every fault at once.
    """
    document = Document(overrides=list(grid.overrides))
    faults = Faults(document.origins)
    document_of(document_of_effective(grid.effective, document), faults, document)
    apply_overrides(document, overrides, faults)
    return _grid(document, faults, grid.text)


def _grid(document: Document, faults: Faults, text: str) -> Grid:
    listed, claims = read_axes(document, faults)
    _fill_base(document, claims)
    name, base = _base(document, faults)
    class_ids = document.class_ids
    tables = [table for table in TABLES if table in document.tables or table in document.broken]
    check_classes(class_ids, faults)
    check_derived(base, tables, claims, faults)
    check_bursts(base, claims, faults)
    check_required(base, tables, partial(_gives, document), faults)
    check_claims(base, tables, claims, partial(_gives, document), faults)
    axes = _in_order(listed, base)
    check_dims(axes, faults)
    check_scope(base, axes, faults)
    check_step_time(base, axes, faults)
    faults.raise_if_any()
    effective = effective_text(base, class_ids, listed, name)
    digest = hashlib.sha256(effective.encode("ascii")).hexdigest()
    return Grid(name, base, tuple(class_ids), axes, text, tuple(document.overrides), effective, digest)


def _gives(document: Document, path: str) -> bool:
    table, _, key = path.partition(".")
    return table in document.broken or key in document.tables.get(table, {})


def _fill_base(document: Document, claims: Sequence[Claim]) -> None:
    """A field that every value of an axis sets may be missing in the base: it takes the first value.

    Of a faulty axis the placeholder is the lower bound, so that the field is not reported as missing too.
    """
    for claim in claims:
        table, _, key = claim.path.partition(".")
        class_id, _, field_key = key.rpartition(".")
        raw = document.class_table(class_id) if table == "class" else document.tables.get(table)
        key = field_key if table == "class" else key
        alias = RPS if key == MILLIRPS else key
        if claim.always and raw is not None and key not in raw and alias not in raw:
            first = claim.first if claim.first is not None else _placeholder(FIELDS[table, key])
            raw[key] = first if isinstance(first, int | str) else f"{first.numerator}/{first.denominator}"


def _placeholder(field: Field) -> Value:
    return "placeholder" if field.kind == "identity" else field.lower


def _base(document: Document, faults: Faults) -> tuple[str, FrozenDict]:
    """The name and the base: full path -> value of every table, defaults filled in."""
    name = ""
    base: dict[str, Value] = {}
    for table in TABLES:
        if table == "class":
            _class_base(document, faults, base)
            continue
        if table in document.broken:
            continue
        raw = document.tables.get(table, {} if table in _WITH_DEFAULTS else None)
        if raw is None:
            if table in _ALWAYS:
                faults.add(f"[{table}]", "missing, wanted a table; add it.")
            continue
        values = check_table(table, table, raw, faults)
        if table == "sweep":
            name = str(values.get("name", ""))
        else:
            base |= {f"{table}.{key}": value for key, value in values.items()}
    return name, FrozenDict(base)


def _class_base(document: Document, faults: Faults, base: dict[str, Value]) -> None:
    if not document.classes and "class" not in document.broken:
        faults.add("[[class]]", "missing, wanted 1 to 64 request classes; add it.")
    for index, raw in enumerate(document.classes):
        place = document.class_place(index)
        values = check_table("class", place, _with_millirps(raw, place, faults), faults)
        class_id = values.pop("class_id", None)
        if values.get("peak_concurrency") == FROM_SLO:
            values.setdefault("burst_permille", 1_000)
        if class_id is not None:
            base |= {f"class.{class_id}.{key}": value for key, value in values.items()}


def _with_millirps(raw: Mapping[str, object], place: str, faults: Faults) -> dict[str, object]:
    """The class table with `arrival_rps`, where it is given, turned into `arrival_millirps`."""
    table = dict(raw)
    if RPS not in table:
        return table
    rps = table.pop(RPS)
    field = FIELDS["class", MILLIRPS]
    if MILLIRPS in table:
        faults.add(f"{place}.{RPS}", f"given beside {MILLIRPS}, wanted one of the two; remove one.")
        return table
    try:
        table[MILLIRPS] = millirps(field, rps)
    except FieldError as error:
        faults.refuse(f"{place}.{RPS}", error)
        table[MILLIRPS] = field.lower
    return table


def _in_order(listed: Sequence[Axis], base: Mapping[str, Value]) -> tuple[Axis, ...]:
    """The axes as dimensions: share, chunk, slots, the others in file order, traffic; a standing axis that is
    not
    listed has the base's value."""
    by_path = {axis.path: axis for axis in listed}
    standing = []
    for name, path in STANDING.items():
        value = base.get(path)
        unlisted = Axis(name, path, dim_of(name), (value if isinstance(value, int) else 0,), (), listed=False)
        standing.append(by_path.get(path, unlisted))
    others = [axis for axis in listed if axis.path not in STANDING.values()]
    traffic = standing.pop(list(STANDING).index(TRAFFIC))
    return (*standing, *others, traffic)
