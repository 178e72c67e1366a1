"""What a spelling on the command line means in a grid, and why it is no axis there."""

from collections.abc import Mapping, Sequence

from sweep.grid.paths import axis_name, known_paths, locate, spelled

_ALL_KINDS = ("identity", "integer", "ratio", "flag", "word")


def field_of(name: str, class_ids: Sequence[str]) -> str | None:
    """The full path of the one field that a spelling means; None where it means none or several.

    Args:
        name: an alias, a short name, a full path, or the last part of a path.
        class_ids: the ids of the grid's request classes.
    """
    found = spelled(name, known_paths(class_ids, _ALL_KINDS))
    target = locate(found[0]) if len(found) == 1 else None
    if target is None or (target.class_id is not None and target.class_id not in class_ids):
        return None
    return target.path


def why_no_axis(name: str, setters: Mapping[str, str], class_ids: Sequence[str]) -> str:
    """Why a name that means a field is no axis, and what to do; "" where it means no field.

    Args:
        name: as typed.
        setters: every path that an axis sets -> the axis' name.
        class_ids: the ids of the grid's request classes.
    """
    found = spelled(name, known_paths(class_ids, _ALL_KINDS))
    if len(found) > 1:
        return f"no axis {name}, and it may be {' or '.join(found[:6])}; write one of them in full"
    path = field_of(name, class_ids)
    target = locate(path) if path else None
    if path is None or target is None:
        return ""
    own = axis_name(path)
    if path in setters:
        return f"{own} is set by the choices of axis {setters[path]}; fix or rank by that one"
    if target.field.kind not in ("integer", "ratio"):
        return f"this grid has no axis {own}, which holds no number; list named choices for it, [[axes.NAME]]"
    values = "1:8:1" if own == "replicas" else "start:stop:step"
    return f"this grid has no axis {own}; add one to the run: --axis {own}={values}"
