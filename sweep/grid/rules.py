"""Rules over several fields: what a model derives, what must be there, and what no combination may be."""

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations

from sweep.grid.axes import Claim
from sweep.grid.document import MAX_AXES
from sweep.grid.faults import Faults
from sweep.grid.fields import FIELDS, FROM_MEMORY, FROM_SLO, FROM_STEP_TIME, Value
from sweep.grid.model import Axis
from sweep.grid.paths import RESULT_NAMES
from sweep.records.bounds import SCOPE_KEYS

GPU_MEMORY_KEYS = (
    "memory_bytes",
    "memory_utilization_permille",
    "activation_bytes",
    "framework_overhead_bytes",
)
"""What `from-memory` needs of [gpu] and has no default."""

STEP_TIME_KEYS = ("base_ns", "per_sequence_ns", "per_prefill_token_ns")


def derived_by(path: str, base: Mapping[str, Value], tables: Sequence[str]) -> str:
    """The model that derives a field in this grid, "" where none does; decided by the base alone.

    Args:
        path: a full path.
        base: full path -> value, as far as it is sound.
        tables: the tables that the file has.
    """
    table, key = path.split(".", 1)[0], path.rpartition(".")[2]
    if table == "scheduler" and key == "iteration_time_ms" and "step_time" in tables:
        return "[step_time]"
    if path == "scheduler.token_capacity_per_second" and base.get("step_time.capacity") == FROM_STEP_TIME:
        return f'[step_time] with capacity = "{FROM_STEP_TIME}"'
    if path == "scheduler.kv_bytes_per_token" and "model" in tables:
        return "[model]"
    if path == "contract.max_kv_bytes" and base.get(path) == FROM_MEMORY:
        return f'[gpu] and [model] (max_kv_bytes = "{FROM_MEMORY}")'
    if table == "class" and key == "peak_concurrency" and base.get(path) == FROM_SLO:
        return f'the SLO by Little\'s law (peak_concurrency = "{FROM_SLO}")'
    return ""


def check_derived(base: Mapping[str, Value], tables: Sequence[str], claims: Sequence[Claim], faults: Faults) -> None:
    """No field that a model derives may be given, in the base or by an axis or a choice."""
    by_axis = {claim.path: claim for claim in claims}
    for path in (
        "scheduler.iteration_time_ms",
        "scheduler.token_capacity_per_second",
        "scheduler.kv_bytes_per_token",
    ):
        model = derived_by(path, base, tables)
        if path in base and path not in by_axis and model:
            faults.add(path, f"given, but {model} derives it; remove the one or the other.")
    for claim in claims:
        model = derived_by(claim.path, base, tables)
        if model:
            faults.add(claim.place, f"sets {claim.path}, but {model} derives it; remove the one or the other.")
        table, _, rest = claim.path.partition(".")
        class_id, _, key = rest.rpartition(".")
        if table == "class" and key == "burst_permille" and _integer_concurrency(class_id, base):
            faults.add(claim.place, _BURST)


_BURST = f'burst_permille goes with peak_concurrency = "{FROM_SLO}" only; remove it or derive the concurrency.'


def _integer_concurrency(class_id: str, base: Mapping[str, Value]) -> bool:
    return isinstance(base.get(f"class.{class_id}.peak_concurrency"), int)


def check_bursts(base: Mapping[str, Value], claims: Sequence[Claim], faults: Faults) -> None:
    """`burst_permille` in the base of a class whose concurrency is an integer."""
    claimed = {claim.path for claim in claims}
    for path in base:
        if path.startswith("class.") and path.endswith(".burst_permille") and path not in claimed:
            class_id = path[len("class.") : -len(".burst_permille")]
            if _integer_concurrency(class_id, base):
                faults.add(path, _BURST)


def check_required(
    base: Mapping[str, Value], tables: Sequence[str], given: Callable[[str], bool], faults: Faults
) -> None:
    """Fields that are required unless a model derives them, and the tables that go together.

    Args:
        base: full path -> value, as far as it is sound.
        tables: the tables that the file has.
        given: whether the file gives a path at all, sound or not.
        faults: where faults go.
    """
    for key in ("token_capacity_per_second", "iteration_time_ms", "kv_bytes_per_token"):
        path = f"scheduler.{key}"
        if "scheduler" in tables and not given(path) and not derived_by(path, base, tables):
            _missing(path, faults, _HOW_ELSE[key])
    if base.get("contract.max_kv_bytes") == FROM_MEMORY:
        absent = [f"[{table}]" for table in ("model", "gpu") if table not in tables]
        if absent:
            faults.add("contract.max_kv_bytes", f'"{FROM_MEMORY}" needs {" and ".join(absent)}; add them.')
        for key in GPU_MEMORY_KEYS if "gpu" in tables else ():
            if not given(f"gpu.{key}"):
                _missing(f"gpu.{key}", faults, "")
    if "gpu.tensor_parallel" in base and "model" not in tables:
        faults.add("gpu", "[gpu] has no use without [model]; add [model] or remove [gpu].")


_HOW_ELSE = {
    "token_capacity_per_second": f' or have it derived with capacity = "{FROM_STEP_TIME}" in [step_time]',
    "iteration_time_ms": " or have [step_time] derive it",
    "kv_bytes_per_token": " or have [model] derive it",
}


def _missing(path: str, faults: Faults, how_else: str) -> None:
    table, _, key = path.partition(".")
    faults.add(path, f"missing, wanted {FIELDS[table, key].wanted}; add it{how_else}.")


def check_claims(
    base: Mapping[str, Value],
    tables: Sequence[str],
    claims: Sequence[Claim],
    given: Callable[[str], bool],
    faults: Faults,
) -> None:
    """What an axis sets, the base has too: the table, and a field that some choice leaves out."""
    for claim in claims:
        table, _, key = claim.path.partition(".")
        if table in ("step_time", "model", "gpu") and table not in tables:
            faults.add(claim.place, f"sets {claim.path}, but the file has no [{table}]; add it or remove the axis.")
        elif table == "gpu" and key in GPU_MEMORY_KEYS and not given(claim.path):
            _missing(claim.path, faults, "")


def check_classes(class_ids: Sequence[str], faults: Faults) -> None:
    """Classes have distinct ids."""
    for class_id in dict.fromkeys(class_ids):
        if class_ids.count(class_id) > 1:
            faults.add(f"class.{class_id}", "two classes have this class_id, wanted distinct ones; rename one.")


def check_dims(axes: Sequence[Axis], faults: Faults) -> None:
    """Dimensions are distinct, and none has the name of a variable of the result file."""
    if len(axes) > MAX_AXES and "axes" not in faults.places:
        faults.add("axes", f"got {len(axes)} axes, wanted at most {MAX_AXES} with the standing ones; merge some.")
    first: dict[str, Axis] = {}
    for axis in axes:
        earlier = first.setdefault(axis.dim, axis)
        if earlier.path != axis.path:  # one path twice is reported as such
            what = f"its dimension {axis.dim} is that of axis {earlier.name} too"
            faults.add(f"axes.{axis.name}", f"{what}, wanted distinct ones; rename one.")
        if axis.dim in RESULT_NAMES:
            faults.add(f"axes.{axis.name}", f"{axis.dim} is a name of the result file, wanted another; rename it.")


def check_scope(base: Mapping[str, Value], axes: Sequence[Axis], faults: Faults) -> None:
    """The eight identities of a scope are distinct in every cell.

    Two fields of one choice axis vary together and are compared choice by choice; fields of different axes
    (or of the base) take every pair of their values somewhere in the grid.
    """
    setters = {path: axis for axis in axes for path in axis.fields if path.startswith("scope.")}
    paths = [f"scope.{key}" for key in SCOPE_KEYS if f"scope.{key}" in base]
    for one, two in combinations(paths, 2):
        first, second = setters.get(one), setters.get(two)
        if first is not None and first is second:
            pairs = [(c.sets.get(one, base[one]), c.sets.get(two, base[two])) for c in first.choices]
            clash = next((a for a, b in pairs if a == b), None)
        else:
            values = [_values_of(path, axis, base) for path, axis in ((one, first), (two, second))]
            clash = next((value for value in values[0] if value in values[1]), None)
        if clash is not None:
            faults.add(two, f'got "{clash}", which {one} is too, wanted eight distinct identities; rename one.')


def _values_of(path: str, axis: Axis | None, base: Mapping[str, Value]) -> dict[Value, None]:
    if axis is None:
        return {base[path]: None}
    return dict.fromkeys(choice.sets.get(path, base[path]) for choice in axis.choices)


def check_step_time(base: Mapping[str, Value], axes: Sequence[Axis], faults: Faults) -> None:
    """Some step must take time: no combination in the grid has all three coefficients 0.

    Axes vary independently and each coefficient is set by one axis or by the base, so a combination of three
    zeros exists exactly when every setter can make all of its own coefficients 0 at once.
    """
    paths = [f"step_time.{key}" for key in STEP_TIME_KEYS]
    if not all(path in base for path in paths):
        return
    fixed = set(paths)
    for axis in axes:
        mine = fixed.intersection(axis.fields)
        fixed -= mine
        settings = axis.choices or ()
        if not mine:
            continue
        if axis.is_choice:
            zero = any(all(choice.sets.get(path, base[path]) == 0 for path in mine) for choice in settings)
        else:
            zero = axis.values[0] == 0  # increasing, and no bound is below 0
        if not zero:
            return
    if all(base[path] == 0 for path in fixed):
        faults.add("step_time", "some cell has all three coefficients 0, wanted a step that takes time; raise one.")
