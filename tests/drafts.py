"""A grid file in the making: its base, field by field, from a source of choices; and its text."""

import random
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from declared import BOUNDS, CALM, CLASS_IDS, RATIOS, SCOPE, SHORT, TURNS


class Source:
    """Choices from a seeded generator."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def integer(self, lower: int, upper: int) -> int:
        return self._random.randint(lower, upper)

    def pick(self, options: Any) -> Any:
        return options[self.integer(0, len(options) - 1)]

    def chance(self, percent: int) -> bool:
        """True with this probability; shrinks to False."""
        return self.integer(0, 99) >= 100 - percent


@dataclass
class Draft:
    """A grid file in the making."""

    base: dict[str, Any] = field(default_factory=dict)
    """Full path -> value, a class' fields under `class.<id>.<field>`."""
    class_ids: list[str] = field(default_factory=list)
    axes: list[tuple[str, Any]] = field(default_factory=list)
    """(path, values) or (name, [(choice, sets), …])."""
    wildness: int = 0
    """Percent of the values that are drawn at bounds or at any magnitude."""
    wild_table: str = ""
    """A table where most values are drawn so."""
    never_zero: str = ""
    """The step-time coefficient that stays at least 1, since all three may not be 0 together."""


def key_of(path: str) -> str:
    """The bounds' key: of a class' field without the id."""
    return f"class.{path.rpartition('.')[2]}" if path.startswith("class.") else path


def limits(draft: Draft, path: str) -> tuple[int, int]:
    lower, upper = BOUNDS[key_of(path)]
    return (1 if path == draft.never_zero else lower), upper


def number(source: Source, draft: Draft, path: str) -> int:
    """A value of a field: realistic, at a bound or a turn of the machine's numbers, or of any magnitude."""
    lower, upper = limits(draft, path)
    if not source.chance(70 if draft.wild_table and path.startswith(draft.wild_table) else draft.wildness):
        low, high = CALM[key_of(path)]
        high = high if path != "traffic.scale_permille" else 10 ** source.integer(2, 6)
        return max(lower, source.integer(low, high))
    if source.chance(60):
        edges = (lower, lower + 1, upper - 1, upper, 1, 2, 999, 1000, 1001, *TURNS)
        return source.pick([edge for edge in edges if lower <= edge <= upper])
    digits = source.integer(1, len(str(upper)))
    return source.integer(max(lower, 10 ** (digits - 1)), min(upper, 10**digits - 1))


def values(source: Source, draft: Draft, path: str, count: int) -> list[int]:
    """Distinct increasing values of an axis, some of them around the base's."""
    lower, upper = limits(draft, path)
    base = draft.base.get(path)
    found = set()
    if isinstance(base, int):
        found.add(base)
    while len(found) < count:
        near = source.pick([-2, -1, 1, 2, 10])
        value = base + near if isinstance(base, int) and source.chance(30) else number(source, draft, path)
        if not lower <= value <= upper or value in found:
            value = source.integer(lower, upper)
        found.add(value)
    return sorted(found)[:count]


def draw_base(source: Source, draft: Draft) -> None:
    """The tables of a grid, models or not."""
    step, model = source.pick(["", "", "it", "both"]), source.pick(["", "", "model", "gpu", "memory", "memory"])
    paths = [path for path in BOUNDS if not path.startswith(("class.", "step_time.", "model.", "gpu."))]
    derived = {"contract.max_kv_bytes"} if model == "memory" else set()
    derived |= {"scheduler.iteration_time_ms"} if step else set()
    derived |= {"scheduler.token_capacity_per_second"} if step == "both" else set()
    derived |= {"scheduler.kv_bytes_per_token"} if model else set()
    if step:
        times = [path for path in BOUNDS if path.startswith("step_time.")]
        draft.never_zero = source.pick(times)
        paths += times
    tables = {"": (), "model": ("model.",), "gpu": ("model.", "gpu."), "memory": ("model.", "gpu.")}[model]
    paths += [path for path in BOUNDS if path.startswith(tables)] if tables else []
    draft.class_ids = [CLASS_IDS[source.integer(0, len(CLASS_IDS) - 1)]]
    for _ in range(source.pick([0, 0, 1, 1, 2, 3])):
        rest = [one for one in CLASS_IDS if one not in draft.class_ids]
        draft.class_ids.append(source.pick(rest))
    for path in paths:
        optional = path in ("gpu.tensor_parallel", "gpu.block_tokens", "gpu.reserved_bytes", "traffic.replicas")
        optional = optional or path in ("gpu.activation_bytes_per_chunk_token", "traffic.scale_permille")
        optional = optional or (model == "gpu" and path.startswith("gpu."))
        if path not in derived and not (optional and source.chance(40)):
            draft.base[path] = number(source, draft, path)
    if source.chance(30) and "gpu.activation_bytes_per_chunk_token" in draft.base:
        draft.base["gpu.activation_bytes_per_chunk_token"] = 0
    if "model.layers" in draft.base and source.chance(40):
        draft.base["model.kv_bytes_per_value"] = source.pick(RATIOS)
    draft.base |= {"contract.max_kv_bytes": "from-memory"} if model == "memory" else {}
    draft.base |= {"step_time.capacity": "from-step-time"} if step == "both" else {}
    draft.base["scheduler.scheduler_id"] = source.pick(["fair-v4", "S.1:2/3@4"])
    _draw_switches(source, draft)


def _draw_switches(source: Source, draft: Draft) -> None:
    if source.chance(50):
        draft.base["traffic.scale_concurrency"] = source.chance(50)
    if source.chance(20):
        draft.base["workload.admission_control_enabled"] = source.chance(60)
    for key in SCOPE:
        if source.chance(10):
            draft.base[f"scope.{key}"] = f"{key}/base:1"
    for class_id in draft.class_ids:
        own = f"class.{class_id}."
        for key in ("priority", "arrival_millirps", "prompt_tokens", "output_tokens", "peak_concurrency"):
            draft.base[own + key] = number(source, draft, own + key)
        if source.chance(35):
            draft.base[own + "peak_concurrency"] = "from-slo"
            if source.chance(70):
                draft.base[own + "burst_permille"] = number(source, draft, own + "burst_permille")


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)


def _spec(spec: Any) -> str:
    if isinstance(spec[0], tuple):
        rows = []
        for name, sets in spec:
            inside = ", ".join(f'"{path}" = {_toml(value)}' for path, value in sets.items())
            rows.append(f'{{ name = "{name}", set = {{ {inside} }} }}')
        return "[" + ", ".join(rows) + "]"
    steps = {b - a for a, b in pairwise(spec)}
    if len(spec) > 2 and len(steps) == 1:
        return f"{{ start = {spec[0]}, stop = {spec[-1]}, step = {steps.pop()} }}"
    return str(list(spec))


def text_of(draft: Draft) -> str:
    """The draft as TOML; axes by short name where there is one, else quoted."""
    lines = ["[sweep]", 'name = "drawn"']
    for table in ("scope", "contract", "scheduler", "workload", "traffic", "step_time", "model", "gpu"):
        rows = [
            f"{path.partition('.')[2]} = {_toml(v)}" for path, v in draft.base.items() if path.startswith(f"{table}.")
        ]
        wanted = bool(rows) or table == "contract"
        lines += [f"[{table}]", *rows] if wanted else []
    for class_id in draft.class_ids:
        own = [(path, v) for path, v in draft.base.items() if path.rpartition(".")[0] == f"class.{class_id}"]
        rows = [f"{path.rpartition('.')[2]} = {_toml(v)}" for path, v in own]
        lines += ["[[class]]", f'class_id = "{class_id}"', *rows]
    lines.append("[axes]")
    for path, spec in draft.axes:
        lines.append(f'"{SHORT.get(path, path)}" = {_spec(spec)}')
    return "\n".join(lines) + "\n"
