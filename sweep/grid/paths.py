"""Names and paths: which field a name in `[axes]`, in a choice or on the command line means.

The four standing axes and `replicas` have short names; short and full path are one axis and the short name is
used.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from sweep.grid.faults import FieldError
from sweep.grid.fields import FIELDS, Field, keys_of
from sweep.units import UnitError, millirps_of_rps, whole

SHARE: Final = "prefill_share_permille"
CHUNK: Final = "max_prefill_chunk_tokens"
SLOTS: Final = "max_active_sequences"
TRAFFIC: Final = "traffic_scale_permille"

STANDING: Final = {
    SHARE: f"scheduler.{SHARE}",
    CHUNK: f"scheduler.{CHUNK}",
    SLOTS: f"scheduler.{SLOTS}",
    TRAFFIC: "traffic.scale_permille",
}
"""The axes that every grid has: short name -> path, in the order of dimensions (traffic is last of all)."""

SHORT: Final = STANDING | {"replicas": "traffic.replicas"}
_NAME_OF_PATH: Final = {path: name for name, path in SHORT.items()}

ALIASES: Final = {"share": SHARE, "chunk": CHUNK, "slots": SLOTS, "traffic": TRAFFIC}
"""What the command line and `Grid.axis` also take for a standing axis."""

RPS: Final = "arrival_rps"
MILLIRPS: Final = "arrival_millirps"

RESULT_NAMES: Final = frozenset(
    {
        "total_utilization_permille",
        "prefill_utilization_permille",
        "decode_utilization_permille",
        "estimated_queue_delay_ms",
        "estimated_worst_ttft_ms",
        "estimated_tpot_ms",
        "declared_starvation_bound_ms",
        "peak_kv_bytes",
        "active_sequences",
        "worst_prefill_service_ms",
        "token_capacity_per_second",
        "iteration_time_ms",
        "kv_bytes_per_token",
        "violations",
        "invalid_reason",
        "max_traffic_scale_permille",
        "limiting_violations",
        "limb",
    }
    | {f"bound_{key}" for key in keys_of("contract")}
)
"""Names of variables and dimensions of a result file, which no axis may have."""


@dataclass(frozen=True)
class Target:
    """The field that a name means.

    Attributes:
        path: its full path; `arrival_rps` is an alias of `arrival_millirps` everywhere.
        field: its kind, unit and bounds.
        in_rps: whether the name was `arrival_rps`, so that values count requests per second.
    """

    path: str
    field: Field
    in_rps: bool = False

    @property
    def class_id(self) -> str | None:
        """The request class of the path, None for a field of another table."""
        return self.path[len("class.") :].rpartition(".")[0] if self.field.table == "class" else None

    def integer(self, value: object) -> int:
        """A value as the field's integer, from requests/s where the name says so. Raises `FieldError`."""
        if not self.in_rps:
            return self.field.integer(value)
        return millirps(self.field, value)

    def unbounded(self, value: object) -> int:
        """The same without the field's bounds, for a stop that no step hits. Raises `FieldError`."""
        try:
            return millirps_of_rps(value) if self.in_rps else whole(value, self.field.unit)
        except UnitError as error:
            wanted = _WANTED_RPS if self.in_rps else self.field.wanted
            raise FieldError(value, wanted, str(error)) from None


_WANTED_RPS = "requests per second from 0.001 to 1 000 000 000"


def millirps(field: Field, value: object) -> int:
    """A value in requests per second as the field's 1/1000 requests per second. Raises `FieldError`."""
    try:
        number = millirps_of_rps(value)
    except UnitError as error:
        raise FieldError(value, _WANTED_RPS, str(error)) from None
    if not field.lower <= number <= field.upper:
        raise FieldError(value, _WANTED_RPS, "raise it" if number < field.lower else "lower it")
    return number


def locate(name: str) -> Target | None:
    """The field that a short name or a full path means; None for any other name."""
    path = SHORT.get(name, name)
    table, _, key = path.partition(".")
    if table == "class":
        class_id, _, key = key.rpartition(".")
        if not class_id:
            return None
        if key == RPS:
            return Target(f"class.{class_id}.{MILLIRPS}", FIELDS["class", MILLIRPS], in_rps=True)
    field = FIELDS.get((table, key))
    return Target(path, field) if field else None


def axis_name(path: str) -> str:
    """The name that an axis over a path has: the short one where there is one."""
    return _NAME_OF_PATH.get(path, path)


def dim_of(name: str) -> str:
    """The netCDF dimension of an axis: `.` becomes `__`, any other character outside [A-Za-z0-9_] `_`."""
    return re.sub(r"[^A-Za-z0-9_]", "_", name.replace(".", "__"))


def known_paths(class_ids: Iterable[str], kinds: Iterable[str] = ("integer", "ratio")) -> list[str]:
    """Every name that an axis (or, by kinds, a choice or an override) may have, for the nearest known one."""
    wanted = set(kinds)
    plain = [(table, key) for (table, key), field in FIELDS.items() if field.kind in wanted]
    paths = list(SHORT) + [f"{table}.{key}" for table, key in plain if table != "class"]
    keys = [key for table, key in plain if table == "class"]
    keys += [RPS] if MILLIRPS in keys else []
    return paths + [f"class.{class_id}.{key}" for class_id in class_ids for key in keys]


def spelled(name: str, known: Iterable[str]) -> list[str]:
    """The names that a spelling on the command line may mean: none, one, or several that end alike.

    Args:
        name: an alias, a short name, a full path, or the last parts of a path (`max_ttft_ms`).
        known: the paths whose last parts are taken, as `known_paths` gives them.
    """
    name = ALIASES.get(name, name)
    if locate(name) is not None:
        return [name]
    return [path for path in known if path.endswith(f".{name}")]
