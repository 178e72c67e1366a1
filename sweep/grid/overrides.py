"""The command line's `--set path=value` and `--axis name=values`, applied to the parsed document in order."""

import re
import tomllib
from collections.abc import Sequence
from decimal import Decimal

from sweep.grid.choices import is_choice_list
from sweep.grid.document import Document, RawAxis
from sweep.grid.faults import Faults
from sweep.grid.paths import ALIASES, MILLIRPS, RPS, known_paths, locate, spelled
from sweep.units import odd_character, parse_decimal, shown

Override = tuple[str, str]
"""("set", "path=value") or ("axis", "name=values")."""

_ALL_KINDS = ("title", "identity", "integer", "ratio", "flag", "word", "span")
_QUANTITY = re.compile(r"[+-]?[0-9][0-9_.]*( ?[^0-9 :,_.+-][^ :,]*)?")
_QUOTES_AND_BRACKETS = re.compile(r"[\"'\[\]{}]")


def apply_overrides(document: Document, overrides: Sequence[Override], faults: Faults) -> None:
    """Changes the document; what cannot be applied is a fault whose place is the option itself."""
    for kind, text in overrides:
        option = f"--{kind} {text}"
        document.overrides.append(option)
        name, equals, value = text.partition("=")
        if not equals or kind not in ("set", "axis"):
            wanted = "path=value" if kind == "set" else "name=values"
            faults.add(option, f"wanted {wanted}; write it with an equals sign.")
        elif kind == "set":
            _set(document, name.strip(), value.strip(), option, faults)
        else:
            _axis(document, name.strip(), value.strip(), option, faults)


def _set(document: Document, name: str, text: str, option: str, faults: Faults) -> None:
    ok, value = parse_value(text)
    if not ok:
        odd = odd_character(text)
        advice = "quote a text, close every bracket" if odd is None else f"take out the character {odd}"
        faults.add(option, f"got {shown(text)}, wanted a TOML value; {advice}.")
        return
    found = _one_of(name, known_paths(document.class_ids, _ALL_KINDS), option, "path", faults)
    target = locate(found) if found else None
    if found is None or target is None:
        return
    if target.class_id is not None and document.class_table(target.class_id) is None:
        faults.unknown(option, found, known_paths(document.class_ids, _ALL_KINDS), "path")
        return
    path = target.path
    if target.class_id is None:
        document.tables.setdefault(target.field.table, {})[target.field.key] = value
    else:
        table = document.class_table(target.class_id)
        assert table is not None  # checked above
        key = RPS if target.in_rps else target.field.key
        if target.field.key == MILLIRPS:  # one of the two aliases at a time: the option replaces the file's
            table.pop(RPS, None)
            table.pop(MILLIRPS, None)
        table[key] = value
        path = f"class.{target.class_id}.{key}"
    document.origins[path] = option


def _one_of(name: str, known: list[str], option: str, what: str, faults: Faults) -> str | None:
    """The one known name that a spelling means; None after a fault."""
    found = spelled(name, known)
    if len(found) > 1:
        faults.add(option, f"{name} may be {' or '.join(found[:6])}; write one of them in full.")
    elif not found:
        faults.unknown(option, name, [*ALIASES, *known], what)
    return found[0] if len(found) == 1 else None


def _axis(document: Document, name: str, text: str, option: str, faults: Faults) -> None:
    ok, spec = parse_axis(text)
    if not ok:
        got, wanted = shown(text), "a TOML list such as [1, 2, 3], a range table, or start:stop:step"
        if re.fullmatch(r"[^:]+:[^:]+", text) and not _QUOTES_AND_BRACKETS.search(text):
            faults.add(option, f"got {got}, wanted start:stop:step, and the step is missing; write {text}:1, say.")
        else:
            faults.add(option, f"got {got}, wanted {wanted}; write one of them.")
        return
    existing = next((raw for raw in document.axes if raw.key == name), None)
    if existing is None:
        ending = [raw for raw in document.axes if raw.key.endswith(f".{name}")]
        named = ending[0].key if len(ending) == 1 else ALIASES.get(name, name)
        if named == name and not is_choice_list(spec):
            found = _one_of(name, known_paths(document.class_ids), option, "field", faults)
            if found is None:
                return
            named = found
        name = named
        existing = next((raw for raw in document.axes if _same_axis(raw, name)), None)
    if existing is None:
        document.axes.append(RawAxis(name, spec))
    else:
        existing.key, existing.spec = name, spec
    document.origins[f"axes.{name}"] = option


def _same_axis(raw: RawAxis, name: str) -> bool:
    mine, other = locate(raw.key), locate(name)
    return raw.key == name or (mine is not None and other is not None and mine.path == other.path)


def parse_value(text: str) -> tuple[bool, object]:
    """A TOML value; a text that is none and has no quote or bracket is taken as it is (`1.5 s`,
    `from-memory`).

    Returns:
        Whether it could be read, and the value.
    """
    try:
        parsed = tomllib.loads(f"value = {text}", parse_float=parse_decimal)
        if list(parsed) == ["value"]:  # a line break must not smuggle in other keys
            return True, parsed["value"]
    except (ValueError, RecursionError):
        pass
    bare = not _QUOTES_AND_BRACKETS.search(text) and all(char.isprintable() for char in text)
    return (bare and text != ""), text


def parse_axis(text: str) -> tuple[bool, object]:
    """The values of an axis: a range, a TOML value, or one number or quantity as a list of one.

    Returns:
        Whether it could be read, and the list, the range table, or whatever else the TOML value is.
    """
    ok, spec = parse_range(text)
    if ok:
        return True, spec
    ok, spec = parse_value(text)
    if isinstance(spec, str):
        ok = ok and _QUANTITY.fullmatch(spec) is not None
    single = isinstance(spec, int | str | Decimal) and not isinstance(spec, bool)
    return ok, [spec] if single else spec


def parse_range(text: str) -> tuple[bool, object]:
    """`start:stop:step` as a range table; start and stop may carry units.

    It is tried before TOML, which would read 08:16:02 as a time of day.
    """
    parts = [part.strip() for part in text.split(":")]
    if len(parts) != 3 or not all(parts) or _QUOTES_AND_BRACKETS.search(text):
        return False, None
    values = [_part(part) for part in parts]
    return True, dict(zip(("start", "stop", "step"), values, strict=True))


def _part(text: str) -> object:
    if re.fullmatch(r"[+-]?[0-9][0-9_]{0,60}", text):
        return int(text)  # 08 too, which TOML refuses
    return parse_value(text)[1]
