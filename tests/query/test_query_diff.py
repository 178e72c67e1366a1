"""`diff` equals two results judged cell by cell by the reference and compared in plain Python."""

import random
import tracemalloc
from itertools import product
from pathlib import Path

import pytest
from brute import SCALE, largest_scale
from declared import FIGURE_OF_BOUND
from hand_grids import AXES, BASE, axes_grid, base_grid, little_grid, models_grid
from strategies import seeded_text

import sweep
from sweep.engine import plan as planning
from sweep.engine.run import evaluation_of
from sweep.errors import InputFault, RefusedSize, UsageFault
from sweep.grid import parse_grid
from sweep.grid.load import grid_with
from sweep.query import common, matched
from sweep.query.cell import codes_of
from sweep.query.changes import field_changes
from sweep.query.common import Side, common_values
from sweep.query.diff import find_diff
from sweep.records.codes import INVALID_REASONS
from sweep.records.wording import CLAIM
from sweep.reference import judge
from sweep.store.layout import slabs

SHARE, CHUNK, SLOTS = "prefill_share_permille", "max_prefill_chunk_tokens", "max_active_sequences"
TRAFFIC = "traffic_scale_permille"
GRIDS = Path(__file__).parents[2] / "grids"


def diff(old, new, at=None):
    return find_diff(Side("old.nc", old, evaluation_of(old)), Side("new.nc", new, evaluation_of(new)), at)


class Slow:
    """The same answer from single cells: labels are matched, every cell is judged, everything is sorted."""

    def __init__(self, old, new, at=None):
        self.old, self.new, self.at = old, new, at or {}
        mine = {(bool(axis.choices), axis.path): axis for axis in old.axes}
        self.both = [axis for axis in new.axes if (bool(axis.choices), axis.path) in mine]
        self.labels = []
        for axis in self.both:
            other = list(mine[bool(axis.choices), axis.path].labels)
            labels = [label for label in axis.labels if label in other]
            if axis.name in self.at:
                labels = [self.at[axis.name]]
            self.labels.append(labels)

    def fields(self, grid, named, scale=None):
        """The fields of a cell of one side by the names of its labels; an axis of its own has the one value."""
        index = []
        for axis in grid.axes[:-1]:
            label = named.get(axis.name, self.at.get(axis.name, axis.labels[0]))
            index.append(list(axis.labels).index(label))
        return grid.fields((*index, 0)) | {SCALE: named[TRAFFIC] if scale is None else scale}

    def status(self, grid, named):
        verdict = judge(self.fields(grid, named), grid.class_ids)
        if verdict.invalid_reason:
            return "invalid", (INVALID_REASONS[verdict.invalid_reason],)
        return ("rejected" if verdict.violations else "within"), tuple(codes_of(verdict.violations))

    def place(self, named):
        """Where a point stands in the new grid's default order."""
        others = [axis for axis in self.new.axes[3:-1] if axis.name in named]
        rest = [list(axis.labels).index(named[axis.name]) for axis in others]
        return (-named[TRAFFIC], -named[SLOTS], -named[CHUNK], named[SHARE], *rest)

    def whole(self, grid, named):
        """A point with the axes that only this side has, in the order of its grid."""
        return {axis.name: named.get(axis.name, self.at.get(axis.name, axis.labels[0])) for axis in grid.axes}

    def answer(self):
        names = [axis.name for axis in self.both]
        flips = {"became_feasible": [], "became_infeasible": []}
        turned = {"rejected_to_invalid": 0, "invalid_to_rejected": 0}
        for labels in product(*self.labels):
            named = dict(zip(names, labels, strict=True))
            (before, was), (after, now) = (self.status(grid, named) for grid in (self.old, self.new))
            if before != "within" and after == "within":
                flips["became_feasible"].append((self.place(named), named, was))
            if before == "within" and after != "within":
                flips["became_infeasible"].append((self.place(named), named, now))
            turned[f"{before}_to_{after}"] = turned.get(f"{before}_to_{after}", 0) + 1
        answer = {key: self.flipped(found) for key, found in flips.items()}
        answer |= {key: turned[key] for key in ("rejected_to_invalid", "invalid_to_rejected")}
        steps = self.steps(names)
        answer["capacity"] = self.capacity(steps)
        answer["common_old"], answer["common_new"] = self.largest(steps)
        return answer

    def flipped(self, found):
        first = sorted(found, key=lambda one: one[0])[:20]
        cells = [self.whole(self.new, named) for _, named, _ in first]
        return {"count": len(found), "cells": cells, "stopped_by": [list(codes) for _, _, codes in first]}

    def steps(self, names):
        """Per configuration its labels and both capacities by bisection."""
        found = []
        for labels in product(*self.labels[:-1]):
            named = dict(zip(names[:-1], labels, strict=True)) | {TRAFFIC: 1}
            index = []
            for grid in (self.old, self.new):
                at = self.whole(grid, named)
                index.append(tuple(list(axis.labels).index(at[axis.name]) for axis in grid.axes[:-1]))
            found.append((named, largest_scale(self.old, index[0]), largest_scale(self.new, index[1])))
        return found

    def capacity(self, steps):
        grew = [step for step in steps if step[2] > step[1]]
        shrank = [step for step in steps if step[2] < step[1]]
        counts = {"grew": len(grew), "shrank": len(shrank), "stayed": len(steps) - len(grew) - len(shrank)}
        gain, loss = self.extreme(grew), self.extreme(shrank)
        return counts | {"largest_gain": gain, "largest_loss": loss}

    def extreme(self, steps):
        if not steps:
            return None
        named, old, new = min(steps, key=lambda step: (-abs(step[2] - step[1]), self.place(step[0])))
        point = self.whole(self.new, named)
        del point[TRAFFIC]
        return {"configuration": point, "old": old, "new": new, "by": new - old}

    def largest(self, steps):
        found = []
        for side, grid in ((1, self.old), (2, self.new)):
            fixed = self.at.get(TRAFFIC)
            points = [step[0] | {TRAFFIC: step[side] if fixed is None else fixed} for step in steps]
            kept = [p for p, step in zip(points, steps, strict=True) if step[side] >= (fixed or 1)]
            best = min(kept, key=self.place, default=None)
            found.append(None if best is None else self.whole(grid, best))
        return found


def assert_answer(old, new, at=None):
    """The engine's answer is the slow one's."""
    said = diff(old, new, at)
    told, wanted = said.as_json(), Slow(old, new, at).answer()
    for key in ("became_feasible", "became_infeasible", "rejected_to_invalid", "invalid_to_rejected", "capacity"):
        assert told[key] == wanted[key], (key, old.text, new.text)
    assert told["best"]["common_old"] == wanted["common_old"]
    assert told["best"]["common_new"] == wanted["common_new"]
    for which, grid in (("old", old), ("new", new)):
        known = {axis.name for axis in grid.axes}
        best = sweep.best_of_grid(grid, {name: label for name, label in (at or {}).items() if name in known})
        assert told["best"][which] == (None if best.cell is None else dict(best.cell.point))
    assert told["claim"] == CLAIM
    return said


def changed(grid, seed):
    """A grid like another: a bound at a figure of one of its cells, other fields, other values on some axes."""
    rng = random.Random(seed)
    cell = [rng.randrange(length) for length in grid.shape]
    verdict = judge(grid.fields(cell), grid.class_ids)
    wanted = []
    for bound, figure in rng.sample(list(FIGURE_OF_BOUND.items())[:-1], 3):
        if verdict.figures[figure] >= 0:
            wanted.append(("set", f"{bound}={max(1, verdict.figures[figure] + rng.choice([-1, 0, 1]))}"))
    standing = {f"scheduler.{name}" for name in (SHARE, CHUNK, SLOTS)} | {SCALE}
    fields = [path for path, value in grid.base.items() if type(value) is int and path not in standing]
    for path in rng.sample(fields, 2):
        wanted.append(("set", f"{path}={max(1, grid.base[path] * rng.choice([40, 80, 101, 130]) // 100)}"))
    for axis in grid.axes:
        if axis.listed and not axis.is_choice and rng.random() < 0.4:
            kept = [value for value in axis.values if rng.random() < 0.8] or [axis.values[0]]
            wanted.append(("axis", f"{axis.path}={sorted({*kept, kept[0] + 1, kept[-1] * 2})}"))
    if rng.random() < 0.3 and not any("traffic.replicas" in axis.fields for axis in grid.axes):
        wanted.append(("axis", f"replicas=[{rng.choice([1, 2, 7])}]"))
    for override in wanted:
        try:
            grid = grid_with(grid, [override])
        except InputFault:  # a value out of bounds, or a field that an axis or a model has
            continue
    return grid


@pytest.mark.parametrize("block", range(6))
def test_drawn_grids_against_changed_ones(block):
    flips = 0
    for seed in range(block, 120, 6):
        old = parse_grid(seeded_text(seed, cells=40))
        new = changed(old, seed)
        said = assert_answer(old, new)
        assert_answer(new, old)
        flips += said.became_feasible.count + said.became_infeasible.count
    assert flips, "the changes change something"


CHOICES = AXES.replace('name = "bf16"', 'name = "fp16"').replace("= 131_072", "= 65_000").replace("240", "244")
REORDERED = """
[[axes.precision]]
name = "fp8"
set = { "scheduler.kv_bytes_per_token" = 131_000, "contract.max_ttft_ms" = 243 }
[[axes.precision]]
name = "int4"
set = { "scheduler.kv_bytes_per_token" = 40_000 }
[[axes.precision]]
name = "bf16"
set = { "scheduler.kv_bytes_per_token" = 131_072 }
[axes]
"class.code.v2.prompt_tokens" = [4_000, 5_000]
traffic_scale_permille = { start = 100, stop = 2_000, step = 100 }
max_active_sequences = [30, 32, 64]
prefill_share_permille = { start = 500, stop = 620, step = 10 }
max_prefill_chunk_tokens = [64, 256, 480]
"""

PAIRS = {
    "a bound": (axes_grid(), axes_grid(("set", "contract.max_tpot_ms=25"))),
    "a looser bound": (axes_grid(("set", "contract.max_ttft_ms=200")), axes_grid()),
    "other choices": (axes_grid(), parse_grid(BASE + CHOICES)),
    "another order and other lengths": (axes_grid(), parse_grid(BASE + REORDERED)),
    "the same the other way": (parse_grid(BASE + REORDERED), axes_grid()),
    "replicas on one side": (axes_grid(), axes_grid(("axis", "replicas=[3]"))),
    "models and a changed SLO": (models_grid(), models_grid(("set", "contract.max_tpot_ms=40"))),
    "little's law at a looser SLO": (
        little_grid(("axis", "traffic=100:3000:50")),
        little_grid(("axis", "traffic=100:3000:50"), ("set", "contract.max_ttft_ms=2_000")),
    ),
    "nothing feasible before": (axes_grid(("set", "contract.max_ttft_ms=1")), axes_grid()),
    "nothing feasible now": (axes_grid(), axes_grid(("set", "workload.admission_control_enabled=false"))),
    "never feasible": (
        axes_grid(("set", "contract.max_starvation_ms=1")),
        axes_grid(("set", "contract.max_tpot_ms=1")),
    ),
    "arrivals out of range": (
        axes_grid(("axis", "traffic=[1000, 1000000000000, 900000000000000]")),
        axes_grid(("axis", "traffic=[1000, 1000000000000, 900000000000000]"), ("set", "class.chat.arrival_millirps=1")),
    ),
    "invalid becomes rejected": (
        models_grid(("axis", "chunk=256:2048:64"), ("set", "contract.max_ttft_ms=20")),
        models_grid(("axis", "chunk=256:2048:64"), ("set", "contract.max_ttft_ms=20"), ("axis", "share=[600, 900]")),
    ),
    "one cell": (base_grid(), base_grid(("set", "class.chat.prompt_tokens=900"))),
}


@pytest.mark.parametrize("name", PAIRS)
def test_hand_made_pairs(name):
    assert_answer(*PAIRS[name])


@pytest.mark.parametrize(
    "at",
    [
        {SLOTS: 64},
        {TRAFFIC: 1_000},
        {TRAFFIC: 1_017},
        {"precision": "fp8", TRAFFIC: 950},
        {CHUNK: 480, SLOTS: 32, SHARE: 600},
    ],
)
def test_fixed_axes_traffic_also_off_its_axis(at):
    assert_answer(axes_grid(), axes_grid(("set", "contract.max_tpot_ms=25")), at)


def test_an_axis_of_one_side_is_fixed_there():
    old, new = axes_grid(), axes_grid(("axis", "replicas=[1, 2, 3]"))
    said = assert_answer(old, new, {"replicas": 2})
    assert said.only_new == {"replicas": 2}
    assert said.became_infeasible.count == 0 < said.became_feasible.count
    same = diff(old, new, {"replicas": 1})
    assert (same.became_feasible.count, same.capacity.stayed) == (0, 144)
    assert dict(same.best.new)["replicas"] == 1


def test_the_counts_of_invalid_cells():
    old, new = axes_grid(), axes_grid(("set", "scheduler.iteration_time_ms=15"))
    said, back = assert_answer(old, new), assert_answer(new, old)
    assert said.rejected_to_invalid == back.invalid_to_rejected > 0


def test_traffic_by_its_rate_is_one_scale_or_refused():
    old = axes_grid()
    new = axes_grid(("set", "contract.max_tpot_ms=25"))
    assert diff(old, new, {"rps": 4}) == diff(old, new, {TRAFFIC: 889})
    with pytest.raises(UsageFault, match=r"no common value, old\.nc has 889, new\.nc has 3 199"):
        diff(old, axes_grid(("set", "class.chat.arrival_millirps=750")), {"rps": 4})


def test_nothing_changed():
    said = diff(axes_grid(), axes_grid())
    assert not said.changed
    assert not said.regression
    assert said.fields == ()
    assert (said.capacity.stayed, said.cells) == (144, 720)
    assert said.feasible_old == said.feasible_new > 0


def test_a_best_that_shrinks_between_the_values_of_the_axis_is_a_regression():
    old, new = base_grid(), base_grid(("set", "contract.max_kv_bytes=9_500_000_000"))
    said = assert_answer(old, new)
    assert said.became_infeasible.count == 0
    assert said.best_shrank
    assert said.regression


def test_a_best_that_is_gone_is_a_regression_and_one_that_appears_is_none():
    old, new = PAIRS["nothing feasible now"]
    assert diff(old, new).best_shrank
    assert diff(old, new).best.new is None
    assert not diff(new, old).regression


@pytest.mark.parametrize(
    ("old", "new", "at", "wanted"),
    [
        ((), (("axis", "slots=[9, 10]"),), None, ["axis max_active_sequences: no common value, old.nc has 8 to 64"]),
        ((), (("axis", "traffic=[7]"),), None, ["no common value", "--at traffic_scale_permille=…, on its"]),
        ((), (("axis", "replicas=[1, 2]"),), None, ["axis replicas: only new.nc has it", "--at replicas=1"]),
        ((("axis", "replicas=[1, 2]"),), (), None, ["axis replicas: only old.nc has it, with 2 values"]),
        ((), (), {"slots": 9}, ["old.nc: axis max_active_sequences: no value 9", "new.nc: axis max_active_sequences"]),
        ((), (), {"rank": 9}, ["--at rank=9: no axis"]),
        ((), (), {"precision": "fp4"}, ["no choice", "fp4"]),
        (
            (("axis", "replicas=[1, 2]"),),
            (("axis", "slots=[9, 10]"), ("axis", "share=[1]")),
            None,
            ["axis replicas", "axis max_active_sequences", "axis prefill_share_permille"],
        ),
    ],
)
def test_what_cannot_be_matched_is_named_all_at_once(old, new, at, wanted):
    with pytest.raises(UsageFault) as fault:
        diff(axes_grid(*old), axes_grid(*new), at)
    text = "\n".join(fault.value.faults)
    assert [part for part in wanted if part not in text] == [], text


def test_a_short_name_that_means_two_axes_is_refused():
    old = base_grid(("axis", "class.chat.prompt_tokens=[900, 1000]"))
    new = base_grid(("axis", "class.code.v2.prompt_tokens=[3000, 4000]"))
    with pytest.raises(UsageFault, match=r"class\.chat\.prompt_tokens and class\.code\.v2\.prompt_tokens"):
        diff(old, new, {"prompt_tokens": 1_000})
    said = assert_answer(old, new, {"class.chat.prompt_tokens": 900, "class.code.v2.prompt_tokens": 3_000})
    assert said.only_old == {"class.chat.prompt_tokens": 900}


def test_disjoint_choices_are_named():
    other = parse_grid(BASE + AXES.replace('"bf16"', '"a"').replace('"fp8"', '"b"'))
    with pytest.raises(UsageFault, match=r"axis precision: no common value, old\.nc has bf16, fp8, new\.nc has a, b"):
        diff(axes_grid(), other)


def test_too_many_configurations_are_refused_before_anything_is_made(monkeypatch):
    monkeypatch.setattr(common, "MAX_CONFIGURATIONS", 143)
    with pytest.raises(RefusedSize, match="144 configurations"):
        diff(axes_grid(), axes_grid())
    assert planning.MAX_CONFIGURATIONS > 10**8
    huge = base_grid(("axis", "share=1:900:1"), ("axis", "chunk=1:1000000:1"), ("axis", "slots=1:1000000:1"))
    with pytest.raises(RefusedSize):
        diff(huge, huge)


def test_common_values_of_ranges_are_those_of_sets():
    rng = random.Random(1)
    for _ in range(3_000):
        one, two = (range(a := rng.randint(0, 60), a + rng.randint(1, 90), rng.randint(1, 13)) for _ in range(2))
        assert list(common_values(one, two)) == sorted(set(one) & set(two)), (one, two)
        assert list(common_values(tuple(one), two)) == sorted(set(one) & set(two))
        assert list(common_values(one, tuple(two))) == sorted(set(one) & set(two))
    assert len(common_values(range(1, 10**7, 1), range(1, 10**7, 3))) == 3_333_333


def test_fields_axes_and_choices_that_changed():
    old = axes_grid()
    new = parse_grid(BASE.replace("code.v2", "code.v3") + REORDERED.replace("code.v2", "code.v3"))
    found = {(change.choice, change.path): (change.old, change.new) for change in field_changes(old, new)}
    assert found[None, "class"] == (["chat", "code.v2"], ["chat", "code.v3"])
    assert found[None, "class.code.v2.priority"] == (2, None)
    assert found[None, "traffic.scale_permille"] == (
        {"values": [250, 900, 1_000, 1_100, 20_000]},
        {"start": 100, "stop": 2_000, "step": 100},
    )
    assert found[None, "scheduler.max_active_sequences"] == ({"values": [8, 32, 64]}, {"values": [30, 32, 64]})
    assert found[None, "precision"] == (["bf16", "fp8"], ["fp8", "int4", "bf16"])
    assert found["precision=fp8", "contract.max_ttft_ms"] == (240, 243)
    assert ("precision=bf16", "scheduler.kv_bytes_per_token") not in found
    assert (None, "contract.max_ttft_ms") not in found
    assert (None, "scheduler.max_prefill_chunk_tokens") not in found


def test_an_axis_hides_its_base_and_one_value_is_a_value():
    assert field_changes(base_grid(), base_grid(("axis", "share=[600]"))) == ()
    changes = field_changes(base_grid(), base_grid(("axis", "contract.max_ttft_ms=[200, 250]")))
    assert [change.as_json() for change in changes] == [
        {"path": "contract.max_ttft_ms", "old": 250, "new": {"values": [200, 250]}}
    ]


def test_the_order_of_axes_is_a_change():
    two = [("axis", "replicas=[1, 2]"), ("axis", "contract.max_starvation_ms=[90, 100]")]
    changes = field_changes(base_grid(*two), base_grid(*two[::-1]))
    assert [change.path for change in changes] == ["axes"]
    assert changes[0].old[3:] == ["replicas", "contract.max_starvation_ms", TRAFFIC]
    assert diff(base_grid(*two), base_grid(*two[::-1])).changed


def test_paths_and_open_results_give_the_same_answer(tmp_path):
    old, new = tmp_path / "old.nc", tmp_path / "new.nc"
    sweep.run(axes_grid(), old)
    sweep.run(axes_grid(("set", "contract.max_tpot_ms=25")), new, "none", "never")
    wanted = diff(axes_grid(), axes_grid(("set", "contract.max_tpot_ms=25"))).as_json()
    assert sweep.diff(old, str(new)).as_json() == wanted
    with sweep.open_result(old) as before:
        assert sweep.diff(before, new).as_json() == wanted
        assert int(before.dataset.violations.sizes[SLOTS]) == 3, "it stays open"
        assert not sweep.diff(before, before).changed
    with sweep.open_result(old) as before, sweep.open_result(old, slo={"max_tpot_ms": 25}) as after:
        assert sweep.diff(before, after).as_json() == wanted


@pytest.mark.slow
def test_two_hundred_million_cells_without_making_them():
    """A mask of one side alone would take 437 MB."""
    grid = sweep.load_grid(GRIDS / "large.toml")
    new = sweep.load_grid(GRIDS / "large.toml", [("set", "contract.max_ttft_ms=1900")])
    tracemalloc.start()
    try:
        said = diff(grid, new)
        peak_bytes = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (said.cells, said.configurations) == (218_400_000, 109_200)
    assert said.became_infeasible.count
    assert said.became_feasible.count
    assert peak_bytes < 150_000_000
    cell = said.became_infeasible.cells[-1]
    fields = new.fields([new.axis(name).index(label) for name, label in cell.items()])
    assert codes_of(judge(fields, new.class_ids).violations) == list(said.became_infeasible.stopped_by[-1])


@pytest.mark.parametrize("name", ["a bound", "another order and other lengths", "nothing feasible before"])
def test_any_cut_into_blocks_gives_the_same_answer(name, monkeypatch):
    whole = diff(*PAIRS[name])

    def small(lengths, dims, _):
        shape = tuple(n if i in dims else 1 for i, n in enumerate(lengths))
        for region in slabs(shape, tuple(min(n, 2) for n in shape)):
            yield tuple(s if i in dims else slice(None) for i, s in enumerate(region))

    monkeypatch.setattr(matched, "dims_regions", small)
    assert diff(*PAIRS[name]) == whole
