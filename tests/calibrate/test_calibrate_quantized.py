"""The quantization decision on a real grid: it cites a measured delta, and shows what each candidate carries."""

from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

import sweep
from sweep.api import best_of_grid
from sweep.calibrate.candidates import Candidate, candidates_of
from sweep.calibrate.quantized import decide, quantize_grid
from sweep.errors import RecordFault, UsageFault
from sweep.grid import load_grid

PRECISION = Path(__file__).parents[2] / "grids" / "precision.toml"
THIRD = '[[axes.precision]]\nname = "fp4"\nset = {{ "model.weight_bytes" = 40_000_000_000{more} }}\n{delta}'


@pytest.fixture(scope="module")
def grid():
    return load_grid(PRECISION, [("axis", "replicas=8"), ("axis", "share=[800, 900]"), ("axis", "chunk=[512, 1024]")])


def test_the_quantization_decision_cites_a_measured_delta(grid):
    """Behaviour 8 of `models.md`, on a grid as people run it: what is not measured is not chosen, however small."""
    unmeasured = quantize_grid(grid, Decimal("0.01"))
    assert (unmeasured.chosen, unmeasured.rejected, unmeasured.candidate) == ("reject_all", True, None)
    answer = quantize_grid(grid, Decimal("0.01"), deltas={"bf16": 0, "fp8": "0.004"})
    assert answer.chosen == "fp8"
    assert (answer.candidate.quality_delta, answer.candidate.measured) == (Fraction(1, 250), "--delta")
    assert answer.as_json()["candidates"][1]["quality_delta"] == "0.004"
    assert quantize_grid(grid, Decimal("0.0039"), deltas={"bf16": 0, "fp8": "0.004"}).chosen == "bf16"
    assert quantize_grid(grid, Decimal("0.01"), deltas={"bf16": 0}).chosen == "bf16"


def test_what_each_candidate_does_to_the_largest_operating_point(grid):
    answer = quantize_grid(grid, 1, deltas={"bf16": 0, "fp8": 0})
    for candidate in answer.candidates:
        best = best_of_grid(grid, {"precision": candidate.name})
        assert candidate.point.point == best.cell.point
    scales = [candidate.point.point["traffic_scale_permille"] for candidate in answer.candidates]
    assert scales[1] > scales[0]  # half the weights: more memory for the cache, shorter steps
    assert [candidate.weight_bytes for candidate in answer.candidates] == [141_107_412_992, 70_553_706_496]


def test_deltas_of_the_grid_count_and_are_replaced_by_measurements(saved, tmp_path):
    text = PRECISION.read_text().replace('name = "fp8"', 'name = "fp8"\nquality_delta = 0.02')
    text = text.replace('name = "bf16"', 'name = "bf16"\nquality_delta = 0')
    path = saved("grid.toml", text)
    small = [("axis", "replicas=8"), ("axis", "share=[900]"), ("axis", "chunk=[512]"), ("axis", "slots=[64]")]
    grid = load_grid(path, small)
    assert quantize_grid(grid, Decimal("0.01")).chosen == "bf16"
    assert quantize_grid(grid, Decimal("0.02")).chosen == "fp8"
    scores = saved("s.csv", "item,bf16,fp8\n" + "".join(f"{at},1,{int(at > 0)}\n" for at in range(200)))
    answer = quantize_grid(grid, Decimal("0.01"), scores={"fp8": scores}, base="bf16")
    assert (answer.chosen, answer.candidate.quality_delta) == ("fp8", Fraction(1, 200))
    assert answer.candidate.measured.endswith("s.csv, 200 items")
    # 1.96·√(1/200 · 199/200 / 199) = 0.0098: beyond 0.01 with the mean
    cautious = quantize_grid(grid, Decimal("0.01"), scores={"fp8": scores}, base="bf16", cautious=True)
    assert cautious.chosen == "bf16"
    assert cautious.verdict(cautious.candidates[1]) == "loses too much"


def test_ties_go_to_the_narrower_cache_then_to_the_first():
    candidates = [
        Candidate("a", 10, 2, None, Fraction(0)),
        Candidate("b", 10, 1, None, Fraction(0)),
        Candidate("c", 10, 1, None, Fraction(0)),
    ]
    assert decide(candidates, Fraction(0)).chosen == "b"
    assert decide([Candidate("z", 10, None, None, Fraction(0)), *candidates], Fraction(0)).chosen == "z"
    assert [one.name for one in decide(candidates, Fraction(0)).candidates] == ["a", "b", "c"]


def test_wrong_candidates():
    with pytest.raises(UsageFault, match="no candidate"):
        decide([], Fraction(0))
    with pytest.raises(RecordFault, match='the name "a" again'):
        decide([Candidate("a", 1), Candidate("a", 2)], Fraction(0))


def test_names_that_are_no_choice(grid):
    with pytest.raises(UsageFault) as caught:
        quantize_grid(grid, 1, deltas={"fp9": 0, "bf16": 0}, scores={})
    assert caught.value.faults == ('--delta fp9: no candidate "fp9", the nearest is fp8; take one of bf16, fp8.',)
    with pytest.raises(UsageFault, match="the tolerance: got NaN"):
        quantize_grid(grid, Decimal("nan"))
    with pytest.raises(UsageFault, match=r"the delta of fp8: got 0\.004"):
        quantize_grid(grid, 1, deltas={"fp8": 0.004})


def test_grids_that_have_no_candidates(grid):
    plain = load_grid(PRECISION.parent / "h100.toml", [("axis", "share=[900]"), ("axis", "slots=[64]")])
    with pytest.raises(UsageFault, match="it has no axis of choices"):
        candidates_of(plain)
    with pytest.raises(UsageFault, match="that axis holds numbers"):
        candidates_of(plain, "slots")
    with pytest.raises(UsageFault, match="take one of"):
        candidates_of(grid, "nope")
    assert candidates_of(grid, "precision")[0] == "precision"


def test_several_axes_that_would_do_ask_for_one(saved):
    other = '[[axes.kv]]\nname = "wide"\nset = { "model.kv_bytes_per_value" = 2 }\n'
    path = saved("grid.toml", PRECISION.read_text() + other)
    small = [("axis", "replicas=8"), ("axis", "share=[900]"), ("axis", "chunk=[512]"), ("axis", "slots=[64]")]
    grid = load_grid(path, small)
    with pytest.raises(UsageFault, match="several axes that set weights or KV width, precision, kv"):
        candidates_of(grid)
    assert [one.name for one in candidates_of(grid, "kv")[1]] == ["wide"]


def test_a_grid_without_weights_asks_for_them(saved):
    text = (PRECISION.parent / "illustrative.toml").read_text()
    axis = '[[axes.kv]]\nname = "fp8"\nset = { "scheduler.kv_bytes_per_token" = 65_536 }\n'
    with pytest.raises(UsageFault, match=r"the grid has no model\.weight_bytes"):
        candidates_of(load_grid(saved("grid.toml", text + axis)))


def test_it_is_public():
    assert sweep.quantize_grid is quantize_grid
