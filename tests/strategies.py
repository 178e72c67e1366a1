"""Grid files drawn over the whole declared domain, as texts: by hypothesis, or from a seed.

One drawing is written once against a `Source` of choices, so both ways give the same kinds of grids: calm ones that
are often feasible, wild ones at the bounds, and aimed ones where a figure meets its bound or a product meets 2^63.
"""

import re
from itertools import pairwise, product
from math import prod
from typing import Any

from declared import BOUNDS, FIGURE_OF_BOUND, RATIOS, SCOPE, SHORT, STANDING
from drafts import Draft, Source, draw_base, key_of, number, text_of, values
from hypothesis import strategies as st

from sweep.grid import Grid, parse_grid
from sweep.reference import judge


class HypothesisSource(Source):
    """Choices that hypothesis makes and shrinks."""

    def __init__(self, draw: Any) -> None:
        self._draw = draw

    def integer(self, lower: int, upper: int) -> int:
        return self._draw(st.integers(lower, upper))


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
    listed = [path for path, _ in draft.axes]
    free = [path for path in open_fields(draft) if path not in listed]
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


def long_traffic(source: Source) -> list[int]:
    """64 to 120 scales, each a few percent or one permille above the one before."""
    scale, percent = source.pick([1, 100, 900, 2**40]), source.pick([0, 3, 20, 40])
    found = []
    while len(found) < 64 or (len(found) < 120 and source.chance(90)):
        found.append(scale)
        scale = min(scale + max(1, scale * percent // 100), 10**15 - 200 + len(found))
    return found


def draw_text(source: Source, cells: int = 300, long: bool = False) -> str:
    """The text of a valid grid of at most `cells` cells, or `cells` rows along a long traffic axis."""
    draft = Draft(wildness=source.pick([0, 0, 0, 3, 8, 30, 80]))
    if source.chance(25):
        draft.wild_table = source.pick(("step_time.", "step_time.", "model.", "gpu.", "gpu.", "traffic.", "class."))
    draw_base(source, draft)
    if source.chance(15):
        aim_at_overflow(source, draft)
    if long:
        draft.axes.append((STANDING[3], long_traffic(source)))
        cells *= 120
    draw_axes(source, draft, cells)
    if source.chance(40):
        aim(source, draft)
    return text_of(draft)


def seeded_text(seed: int, cells: int = 300, long: bool = False) -> str:
    """The same kind of grid from a seed, without hypothesis."""
    return draw_text(Source(seed), cells, long)


@st.composite
def grids(draw: Any, cells: int = 300, long: bool = False) -> Grid:
    """Valid grids of at most `cells` cells, or `cells` rows along a long traffic axis."""
    return parse_grid(draw_text(HypothesisSource(draw), cells, long))


@st.composite
def cuts(draw: Any, shape: tuple[int, ...]) -> list[tuple[slice, ...]]:
    """A grid's regions: every axis cut at some places."""
    ends: list[list[slice]] = []
    for length in shape:
        at = sorted(draw(st.sets(st.integers(1, max(1, length - 1)), max_size=3)) - {length})
        edges = [0, *at, length]
        ends.append([slice(a, b) for a, b in pairwise(edges)])
    return list(product(*ends))


def whole(shape: tuple[int, ...]) -> tuple[slice, ...]:
    """The region of everything."""
    return tuple(slice(0, n) for n in shape)
