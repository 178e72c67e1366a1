"""Grid files drawn over the whole declared domain, as texts: by hypothesis, or from a seed.

One drawing is written once against a `Source` of choices, so both ways give the same kinds of grids: calm ones that
are often feasible, wild ones at the bounds, and aimed ones where a figure meets its bound or a product meets 2^63.
Bounds are repeated here from the definition, so that a bound of the package that is wrong shows.
"""

import random
import re
from dataclasses import dataclass, field
from math import prod
from typing import Any

from hypothesis import strategies as st

from sweep.grid import Grid, parse_grid
from sweep.reference import judge

DAY = 86_400_000
BOUNDS = {
    "contract.max_total_utilization_permille": (1, 999),
    "contract.max_prefill_utilization_permille": (1, 999),
    "contract.max_decode_utilization_permille": (1, 999),
    "contract.max_queue_delay_ms": (1, DAY),
    "contract.max_ttft_ms": (1, DAY),
    "contract.max_tpot_ms": (1, DAY),
    "contract.max_starvation_ms": (1, DAY),
    "contract.max_kv_bytes": (1, 10**18),
    "scheduler.token_capacity_per_second": (1, 10**12),
    "scheduler.prefill_share_permille": (1, 999),
    "scheduler.max_active_sequences": (1, 10**6),
    "scheduler.max_prefill_chunk_tokens": (1, 10**7),
    "scheduler.iteration_time_ms": (1, DAY),
    "scheduler.max_consecutive_priority_iterations": (1, 10**6),
    "scheduler.kv_bytes_per_token": (1, 10**12),
    "traffic.scale_permille": (1, 10**15),
    "traffic.replicas": (1, 10**6),
    "class.priority": (1, 1000),
    "class.arrival_millirps": (1, 10**12),
    "class.prompt_tokens": (1, 10**7),
    "class.output_tokens": (1, 10**7),
    "class.peak_concurrency": (1, 10**6),
    "class.burst_permille": (1, 10**6),
    "step_time.base_ns": (0, 10**15),
    "step_time.per_sequence_ns": (0, 10**12),
    "step_time.per_prefill_token_ns": (0, 10**12),
    "model.layers": (1, 10**5),
    "model.kv_heads": (1, 10**5),
    "model.head_dim": (1, 10**5),
    "model.kv_bytes_per_value": (1, 1024),
    "model.weight_bytes": (0, 10**18),
    "gpu.memory_bytes": (1, 10**18),
    "gpu.memory_utilization_permille": (1, 1000),
    "gpu.activation_bytes": (0, 10**18),
    "gpu.framework_overhead_bytes": (0, 10**18),
    "gpu.reserved_bytes": (0, 10**18),
    "gpu.activation_bytes_per_chunk_token": (0, 10**12),
    "gpu.tensor_parallel": (1, 10**4),
    "gpu.block_tokens": (1, 10**6),
}
CALM = {
    "contract.max_total_utilization_permille": (600, 999),
    "contract.max_prefill_utilization_permille": (600, 999),
    "contract.max_decode_utilization_permille": (600, 999),
    "contract.max_queue_delay_ms": (100, 5_000),
    "contract.max_ttft_ms": (1_000, 20_000),
    "contract.max_tpot_ms": (100, 2_000),
    "contract.max_starvation_ms": (1_000, 100_000),
    "contract.max_kv_bytes": (10**10, 10**13),
    "scheduler.token_capacity_per_second": (20_000, 10**6),
    "scheduler.prefill_share_permille": (300, 800),
    "scheduler.max_active_sequences": (64, 1_024),
    "scheduler.max_prefill_chunk_tokens": (8, 64),
    "scheduler.iteration_time_ms": (20, 100),
    "scheduler.max_consecutive_priority_iterations": (1, 8),
    "scheduler.kv_bytes_per_token": (1_000, 10**6),
    "traffic.scale_permille": (1, 3_000),
    "traffic.replicas": (1, 8),
    "class.priority": (1, 9),
    "class.arrival_millirps": (10, 3_000),
    "class.prompt_tokens": (1, 1_500),
    "class.output_tokens": (1, 400),
    "class.peak_concurrency": (1, 40),
    "class.burst_permille": (200, 2_000),
    "step_time.base_ns": (10**6, 3 * 10**7),
    "step_time.per_sequence_ns": (0, 10**5),
    "step_time.per_prefill_token_ns": (0, 5 * 10**4),
    "model.layers": (1, 64),
    "model.kv_heads": (1, 16),
    "model.head_dim": (1, 128),
    "model.kv_bytes_per_value": (1, 4),
    "model.weight_bytes": (0, 10**11),
    "gpu.memory_bytes": (10**11, 10**13),
    "gpu.memory_utilization_permille": (800, 1000),
    "gpu.activation_bytes": (0, 10**9),
    "gpu.framework_overhead_bytes": (0, 10**9),
    "gpu.reserved_bytes": (0, 10**9),
    "gpu.activation_bytes_per_chunk_token": (0, 10**7),
    "gpu.tensor_parallel": (1, 8),
    "gpu.block_tokens": (1, 64),
}
"""Where a realistic replica stands; wide enough that every bit and every invalid reason occurs beside feasible cells."""

SHORT = {
    "scheduler.prefill_share_permille": "prefill_share_permille",
    "scheduler.max_prefill_chunk_tokens": "max_prefill_chunk_tokens",
    "scheduler.max_active_sequences": "max_active_sequences",
    "traffic.scale_permille": "traffic_scale_permille",
    "traffic.replicas": "replicas",
}
STANDING = tuple(SHORT)[:4]
SCOPE = (
    "batching_policy",
    "traffic_mix",
    "tokenizer",
    "model_profile",
    "scheduler_profile",
    "kv_layout",
    "latency_slo",
    "fixture",
)
CLASS_IDS = ("chat", "a.b", "a:b", "x/y", "m@1", "A-1.2:3/4@5", "c.prompt_tokens", "0", "max_ttft_ms")
RATIOS = ("1/2", "17/32", "9/16", "1023/1024", "1024/1023", "1/1024", "3/2", "1024/1", "7/5")
TURNS = tuple(n + d for n in (2**31, 2**53) for d in (-1, 0, 1))
FIGURE_OF_BOUND = {
    "contract.max_total_utilization_permille": "total_utilization_permille",
    "contract.max_prefill_utilization_permille": "prefill_utilization_permille",
    "contract.max_decode_utilization_permille": "decode_utilization_permille",
    "contract.max_queue_delay_ms": "estimated_queue_delay_ms",
    "contract.max_ttft_ms": "estimated_worst_ttft_ms",
    "contract.max_tpot_ms": "estimated_tpot_ms",
    "contract.max_starvation_ms": "declared_starvation_bound_ms",
    "contract.max_kv_bytes": "peak_kv_bytes",
    "scheduler.max_active_sequences": "active_sequences",
}


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


class HypothesisSource(Source):
    """Choices that hypothesis makes and shrinks."""

    def __init__(self, draw: Any) -> None:
        self._draw = draw

    def integer(self, lower: int, upper: int) -> int:
        return self._draw(st.integers(lower, upper))


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


def open_fields(draft: Draft) -> list[str]:
    """Every integer field that an axis may set in this grid."""
    found = []
    for path in BOUNDS:
        if path.startswith("class."):
            found += [path.replace("class.", f"class.{one}.") for one in draft.class_ids]
        elif path.startswith("gpu.") and not any(name.startswith("gpu.") for name in draft.base):
            continue
        elif path in draft.base or path in SHORT or path.startswith("gpu."):
            found.append(path)
    slo = {one for one in draft.class_ids if draft.base[f"class.{one}.peak_concurrency"] == "from-slo"}
    wrong = {f"class.{one}.peak_concurrency" for one in slo}
    wrong |= {f"class.{one}.burst_permille" for one in draft.class_ids if one not in slo}
    wrong |= {"contract.max_kv_bytes"} if draft.base["contract.max_kv_bytes"] == "from-memory" else set()
    if not any(name.startswith("gpu.memory_bytes") for name in draft.base):
        wrong |= {path for path in BOUNDS if path.startswith("gpu.") and path != "gpu.tensor_parallel"}
    return [path for path in found if path not in wrong]


def draw_axes(source: Source, draft: Draft, cells: int) -> None:
    """A few axes, at most `cells` cells together, no field twice."""
    free = open_fields(draft)
    dims: set[str] = set()
    for _ in range(source.pick([0, 1, 2, 3, 4, 5, 6])):
        room = cells // prod([len(spec) for _, spec in draft.axes])
        length = min(room, source.pick([1, 2, 3, 3, 4, 6]))
        if length < 1 or not free:
            return
        if source.chance(25):
            _choice_axis(source, draft, free, length)
            continue
        path = source.pick((*STANDING, STANDING[3])) if source.chance(50) else source.pick(free)
        dim = re.sub(r"[^A-Za-z0-9_]", "_", path.replace(".", "__"))
        if path in free and dim not in dims:
            dims.add(dim)
            free.remove(path)
            spread = BOUNDS[key_of(path)]
            draft.axes.append((path, values(source, draft, path, min(length, spread[1] - spread[0]))))
            if source.chance(15):
                draft.base.pop(path, None)


def _choice_axis(source: Source, draft: Draft, free: list[str], length: int) -> None:
    """Named choices that set several fields together, each leaving some out."""
    number_of = sum(isinstance(spec[0], tuple) for _, spec in draft.axes)
    if number_of == 3:
        return
    fields = [path for path in free if path not in STANDING and (path in draft.base or path == "traffic.replicas")]
    texts = [f"scope.{key}" for key in SCOPE] + ["scheduler.scheduler_id"]
    taken = {path for _, spec in draft.axes if isinstance(spec[0], tuple) for _, sets in spec for path in sets}
    fields += [path for path in texts if path not in taken]
    mine = list(dict.fromkeys(source.pick(fields) for _ in range(source.pick([1, 2, 3, 4]))))
    choices = []
    for i in range(length):
        sets = {}
        for path in mine:
            if path in texts:
                sets[path] = f"{path}-{i}@x:y/z"
            elif path == "model.kv_bytes_per_value" and source.chance(70):
                sets[path] = source.pick(RATIOS)
            else:
                sets[path] = number(source, draft, path)
        choices.append((f"choice {i}", {path: v for path, v in sets.items() if i == 0 or source.chance(75)}))
    if source.chance(50):
        choices.reverse()
    draft.axes.append((("precision", "tier.x", "plan b")[number_of], choices))
    for path in mine:
        if path in free:
            free.remove(path)


def aim(source: Source, draft: Draft) -> None:
    """Move bounds to where the first cell's figures are, off by −1, 0 or 1."""
    grid = parse_grid(text_of(draft))
    verdict = judge(grid.fields([0] * len(grid.axes)), grid.class_ids)
    for path, figure in FIGURE_OF_BOUND.items():
        value = verdict.figures[figure] + source.pick([-1, 0, 0, 1])
        lower, upper = BOUNDS[path]
        if isinstance(draft.base.get(path), int) and lower <= value <= upper and source.chance(35):
            draft.base[path] = value


def aim_at_overflow(source: Source, draft: Draft) -> None:
    """Move one field to where a product of the formulas crosses 2^63, or a derived one over its bound."""
    large = {"gpu.memory_bytes": 10**18, "gpu.tensor_parallel": source.pick([1, 2, 10**4])}
    large |= {"model.layers": 10**4, "model.head_dim": source.pick([10**4, 10**5])}
    if "model.layers" in draft.base and source.chance(40):
        draft.base |= {path: value for path, value in large.items() if path in draft.base}
        return
    near = 2**63 + source.pick([-1, 0, 1])
    own = f"class.{source.pick(draft.class_ids)}."
    arrival, prompt = draft.base.get(own + "arrival_millirps", 1), draft.base.get(own + "prompt_tokens", 1)
    capacity = draft.base.get("scheduler.token_capacity_per_second", 1)
    template = {
        "traffic.scale_permille": arrival,
        own + "arrival_millirps": prompt,
        own + "prompt_tokens": arrival,
        "scheduler.iteration_time_ms": capacity,
        "scheduler.token_capacity_per_second": source.pick([1000, 999_000, draft.base.get("traffic.replicas", 1)]),
        "scheduler.kv_bytes_per_token": prompt,
        "gpu.memory_bytes": draft.base.get("gpu.memory_utilization_permille", 1),
    }
    path = source.pick(list(template))
    value = near // template[path] + source.pick([-1, 0, 1])
    lower, upper = BOUNDS[key_of(path)]
    if isinstance(draft.base.get(path), int):
        draft.base[path] = min(max(value, lower), upper)


def draw_text(source: Source, cells: int = 300) -> str:
    """The text of a valid grid of at most `cells` cells."""
    draft = Draft(wildness=source.pick([0, 0, 0, 3, 8, 30, 80]))
    if source.chance(25):
        draft.wild_table = source.pick(("step_time.", "step_time.", "model.", "gpu.", "gpu.", "traffic.", "class."))
    draw_base(source, draft)
    if source.chance(15):
        aim_at_overflow(source, draft)
    draw_axes(source, draft, cells)
    if source.chance(40):
        aim(source, draft)
    return text_of(draft)


def seeded_text(seed: int, cells: int = 300) -> str:
    """The same kind of grid from a seed, without hypothesis."""
    return draw_text(Source(seed), cells)


@st.composite
def grids(draw: Any, cells: int = 300) -> Grid:
    """Valid grids of at most `cells` cells."""
    return parse_grid(draw_text(HypothesisSource(draw), cells))


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
    steps = {b - a for a, b in zip(spec, spec[1:], strict=False)}
    if len(spec) > 2 and len(steps) == 1:
        return f"{{ start = {spec[0]}, stop = {spec[-1]}, step = {steps.pop()} }}"
    return str(list(spec))


def text_of(draft: Draft) -> str:
    """The draft as TOML; axes by short name where there is one, else quoted."""
    lines = ["[sweep]", 'name = "drawn"']
    for table in ("scope", "contract", "scheduler", "workload", "traffic", "step_time", "model", "gpu"):
        rows = [f"{path.partition('.')[2]} = {_toml(v)}" for path, v in draft.base.items() if path.startswith(table + ".")]
        wanted = bool(rows) or table == "contract"
        lines += [f"[{table}]", *rows] if wanted else []
    for class_id in draft.class_ids:
        own = f"class.{class_id}."
        rows = [f"{path.removeprefix(own)} = {_toml(v)}" for path, v in draft.base.items() if path.rpartition(".")[0] + "." == own]
        lines += ["[[class]]", f'class_id = "{class_id}"', *rows]
    lines.append("[axes]")
    for path, spec in draft.axes:
        lines.append(f'"{SHORT.get(path, path)}" = {_spec(spec)}')
    return "\n".join(lines) + "\n"
