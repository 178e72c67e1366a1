"""The canonical text identifies a grid and gives it back; the example grids are what they say."""

import hashlib
import json
import math
from pathlib import Path

import pytest
from grid_texts import MINIMAL, MODELS
from hypothesis import given, settings
from hypothesis import strategies as st

from sweep.grid import grid_from_effective, load_grid, parse_grid

PROJECT = Path(__file__).resolve().parents[2]
GOLDEN = PROJECT.parent / "shared" / "golden"

CHOICES = """[[axes.precision]]
name = "é"
set = { "model.kv_bytes_per_value" = "17/32", scope = { tokenizer = "t" } }
[[axes.precision]]
name = "b"
set = { "model.weight_bytes" = 5 }
"""


def values(low: int, high: int):
    listed = st.lists(st.integers(low, high), min_size=1, max_size=6, unique=True).map(sorted).map(str)
    stepped = st.tuples(st.integers(low, high), st.integers(0, 1_000), st.integers(1, 99)).map(
        lambda t: f"{{ start = {t[0]}, stop = {min(high, t[0] + t[1])}, step = {t[2]} }}"
    )
    spaced = st.tuples(
        st.integers(max(low, 1), high),
        st.integers(0, 10**6),
        st.integers(2, 9),
        st.sampled_from(["linear", "geometric"]),
    ).map(lambda t: f'{{ start = {t[0]}, stop = {min(high, t[0] + t[1])}, num = {t[2]}, spacing = "{t[3]}" }}')
    return listed | stepped | spaced


AXES = {
    "prefill_share_permille": values(1, 999),
    "max_active_sequences": values(1, 10**6),
    "traffic_scale_permille": values(1, 10**15),
    "replicas": values(1, 10**6),
    '"contract.max_ttft_ms"': values(1, 86_400_000),
    '"gpu.reserved_bytes"': values(0, 10**18),
    '"class.chat.burst_permille"': values(1, 10**6),
}


@settings(max_examples=150, deadline=None)
@given(st.fixed_dictionaries({}, optional=AXES), st.booleans())
def test_a_grid_comes_back_from_its_canonical_text(axes, with_choices):
    lines = "".join(f"{name} = {spec}\n" for name, spec in axes.items())
    grid = parse_grid(f"{MODELS}[axes]\n{lines}{CHOICES if with_choices else ''}", [("set", "replicas=2")])
    again = grid_from_effective(grid.effective, grid.text, grid.overrides)
    assert again.effective == grid.effective
    assert again == grid


def test_the_canonical_text_is_sorted_ascii_json_without_spaces_and_its_digest_is_the_grids():
    grid = parse_grid(f"{MODELS}[axes]\nreplicas = [1, 2]\n{CHOICES}")
    parsed = json.loads(grid.effective)
    assert json.dumps(parsed, sort_keys=True, separators=(",", ":")) == grid.effective
    assert grid.effective.isascii()
    assert hashlib.sha256(grid.effective.encode()).hexdigest() == grid.sha256
    assert [entry["name"] for entry in parsed["axes"]] == ["replicas", "precision"]
    assert parsed["axes"][0] == {"name": "replicas", "path": "traffic.replicas", "values": [1, 2]}
    assert parsed["axes"][1]["choices"][0] == {
        "name": "é",
        "set": {"model.kv_bytes_per_value": "17/32", "scope.tokenizer": "t"},
    }
    assert parsed["class"][0]["peak_concurrency"] == "from-slo"


def test_comments_units_and_spelled_out_defaults_do_not_change_the_digest():
    spelled = (
        MINIMAL.replace("max_kv_bytes = 10_000_000_000", 'max_kv_bytes = "10 GB" # ten')
        + "[traffic]\nreplicas = 1\n[workload]\nadmission_control_enabled = true\n"
        + "[scope]\nfixture = 'fixture'\n"
    )
    assert parse_grid(spelled).sha256 == parse_grid(MINIMAL).sha256
    assert parse_grid(MINIMAL.replace("250", "251")).sha256 != parse_grid(MINIMAL).sha256


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("h100", (80, 5, 61, 100)),
        ("illustrative", (1, 1, 1, 1)),
        ("capstone", (1, 1, 15, 8, 256)),
        ("large", (91, 12, 100, 2_000)),
    ],
)
def test_the_example_grids_load_and_come_back(name, shape):
    grid = load_grid(PROJECT / "grids" / f"{name}.toml")
    assert grid.shape == shape
    assert grid_from_effective(grid.effective, grid.text) == grid


def test_the_illustrative_grid_is_the_first_golden_case():
    if not GOLDEN.exists():
        pytest.skip("the golden cases are not beside the project")
    case = json.loads((GOLDEN / "audit.jsonl").read_text().splitlines()[0])["input"]
    cell = load_grid(PROJECT / "grids" / "illustrative.toml").fields((0, 0, 0, 0))
    expected = {f"contract.{key}": value for key, value in case["contract"].items()}
    expected |= {f"scheduler.{key}": value for key, value in case["scheduler"].items()}
    for request_class in case["classes"]:
        class_id = request_class.pop("class_id")
        expected |= {f"class.{class_id}.{key}": value for key, value in request_class.items()}
    assert {path: value for path, value in cell.items() if path in expected} == expected
    assert [value for path, value in cell.items() if path.startswith("scope.")] == case["scope"]


def test_the_capstone_grid_has_the_courses_batch_sizes_and_step_times():
    if not GOLDEN.exists():
        pytest.skip("the golden cases are not beside the project")
    golden = json.loads((GOLDEN / "capstone.json").read_text())
    grid = load_grid(PROJECT / "grids" / "capstone.toml")
    slots = set(grid.axis("slots").values)
    base, per_slot = grid.base["step_time.base_ns"], grid.base["step_time.per_sequence_ns"]
    for case in golden["frontier"]:
        for batch, _, latency in case["expect"]:
            assert batch in slots
            assert base + per_slot * batch == latency * 10**6
    limits = set(grid.axis("contract.max_tpot_ms").values)
    for case in golden["pick_operating_point"]:
        assert slots >= set(case["batch_sizes"])
        assert math.floor(case["itl_slo_ms"]) in limits
