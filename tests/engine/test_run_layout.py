"""A result file of a small run, read by netCDF4 and by xarray, is what the definition says."""

import hashlib
import json

import netCDF4
import numpy as np
import pytest
import xarray as xr
from hand_grids import axes_grid, base_grid, models_grid

from sweep import __version__
from sweep.api import run
from sweep.records import CLAIM, INVALID_REASONS, VIOLATION_CODES
from sweep.reference import records_of

SHARE, CHUNK, SLOTS, TRAFFIC = (
    "prefill_share_permille",
    "max_prefill_chunk_tokens",
    "max_active_sequences",
    "traffic_scale_permille",
)
PROMPT, CHOICE = "class__code__v2__prompt_tokens", "precision"
DIMS = {
    "token_capacity_per_second": (),
    "iteration_time_ms": (),
    "kv_bytes_per_token": (CHOICE,),
    "total_utilization_permille": (PROMPT, TRAFFIC),
    "prefill_utilization_permille": (SHARE, PROMPT, TRAFFIC),
    "decode_utilization_permille": (SHARE, TRAFFIC),
    "estimated_queue_delay_ms": (PROMPT, TRAFFIC),
    "worst_prefill_service_ms": (SHARE, CHUNK, PROMPT),
    "estimated_worst_ttft_ms": (SHARE, CHUNK, PROMPT, TRAFFIC),
    "estimated_tpot_ms": (SHARE, TRAFFIC),
    "declared_starvation_bound_ms": (),
    "active_sequences": (TRAFFIC,),
    "peak_kv_bytes": (PROMPT, CHOICE, TRAFFIC),
    "bound_max_ttft_ms": (CHOICE,),
    "violations": (SHARE, CHUNK, SLOTS, PROMPT, CHOICE, TRAFFIC),
    "invalid_reason": (SHARE, CHUNK),
    "max_traffic_scale_permille": (SHARE, CHUNK, SLOTS, PROMPT, CHOICE),
    "limiting_violations": (SHARE, CHUNK, SLOTS, PROMPT, CHOICE),
}
"""Of `axes_grid`, by the formulas of the audit."""
UNITS = {
    "token_capacity_per_second": "s-1",
    "iteration_time_ms": "ms",
    "kv_bytes_per_token": "byte",
    "total_utilization_permille": "1e-3",
    "estimated_worst_ttft_ms": "ms",
    "peak_kv_bytes": "byte",
    "bound_max_ttft_ms": "ms",
    "max_traffic_scale_permille": "1e-3",
}


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    path = tmp_path_factory.mktemp("run") / "axes.nc"
    run(axes_grid(), path)
    return path


def test_every_variable_has_the_dimensions_of_its_formula_in_order_and_its_type(written):
    with netCDF4.Dataset(written) as file:
        assert {name: v.dimensions for name, v in file.variables.items() if name not in file.dimensions} == DIMS
        kinds = {"violations": "uint16", "limiting_violations": "uint16", "invalid_reason": "uint8"}
        for name in DIMS:
            assert str(file.variables[name].dtype) == kinds.get(name, "int64"), name
        assert {name: file.variables[name].units for name in UNITS} == UNITS
        assert list(file.dimensions) == [SHARE, CHUNK, SLOTS, PROMPT, CHOICE, TRAFFIC]


def test_no_integer_is_packed_filled_or_decoded(written):
    with netCDF4.Dataset(written) as file:
        for variable in file.variables.values():
            assert not {"_FillValue", "missing_value", "scale_factor", "add_offset"} & set(variable.ncattrs())
    with xr.open_dataset(written, engine="netcdf4") as dataset:
        for name, values in dataset.data_vars.items():
            assert values.dtype.kind in "iu", name
        assert dataset["violations"].dtype == np.uint16
        assert dataset["estimated_worst_ttft_ms"].dims == DIMS["estimated_worst_ttft_ms"]


def test_coordinates_hold_the_labels_and_the_full_path(written):
    grid = axes_grid()
    with xr.open_dataset(written) as dataset:
        for axis in grid.axes:
            assert list(dataset[axis.dim].values) == list(axis.labels)
            assert dataset[axis.dim].attrs["path"] == axis.path
        assert dataset[PROMPT].attrs["path"] == "class.code.v2.prompt_tokens"
        assert dataset[TRAFFIC].dtype == np.int64
        assert list(dataset[CHOICE].values) == ["bf16", "fp8"]
        chosen = dataset.sel({SHARE: 600, CHUNK: 480, SLOTS: 64, PROMPT: 4_000, CHOICE: "bf16", TRAFFIC: 1_000})
        assert int(chosen["violations"]) == 0
        assert int(chosen["peak_kv_bytes"]) == 8_808_038_400


def test_flags_name_every_code_and_reason(written):
    with netCDF4.Dataset(written) as file:
        for name in ("violations", "limiting_violations"):
            mask = file.variables[name]
            assert mask.flag_meanings.split() == [*VIOLATION_CODES, "invalid"]
            assert mask.flag_masks.dtype == np.uint16
            assert list(mask.flag_masks) == [1 << bit for bit in range(10)] + [0x8000]
        reason = file.variables["invalid_reason"]
        assert reason.flag_meanings.split() == list(INVALID_REASONS)
        assert reason.flag_values.dtype == np.uint8
        assert list(reason.flag_values) == list(range(10))


def test_every_variable_explains_itself(written):
    with netCDF4.Dataset(written) as file:
        for name in DIMS:
            assert file.variables[name].long_name, name
        figures = [name for name in DIMS if name in UNITS and not name.startswith(("bound_", "max_"))]
        assert {int(file.variables[name].undefined_value) for name in figures} == {-1}
        assert file.variables["total_utilization_permille"].arithmetic == "int64"


def test_the_global_attributes_of_the_definition(written):
    grid = axes_grid()
    with netCDF4.Dataset(written) as file:
        attrs = {name: file.getncattr(name) for name in file.ncattrs()}
    contract, workload = records_of(grid.fields((0,) * 6), grid.class_ids)
    assert attrs["Conventions"] == "CF-1.11"
    assert "hand-made" in attrs["title"]
    assert attrs["sweep_version"] == __version__
    assert attrs["grid_text"] == grid.text
    assert attrs["grid_overrides"] == "[]"
    assert attrs["grid_effective"] == grid.effective
    assert json.loads(attrs["grid_effective"])["sweep"]["name"] == "hand-made"
    assert attrs["grid_sha256"] == hashlib.sha256(attrs["grid_effective"].encode()).hexdigest()
    assert attrs["claim"] == CLAIM
    assert attrs["recomputed"] == ""
    assert int(attrs["reference_checked_cells"]) >= 256
    assert len(attrs["results_sha256"]) == 64
    assert attrs["contract_content_id"] == contract.content_id
    assert attrs["workload_content_id"] == workload.content_id
    text = " ".join(str(value) for value in attrs.values())
    assert str(written.parent) not in text


def test_the_ids_are_those_of_the_first_cell_and_empty_where_it_is_invalid(tmp_path):
    grid = base_grid(("set", "contract.max_ttft_ms=251"))
    run(grid, tmp_path / "valid.nc")
    contract, workload = records_of(grid.fields((0, 0, 0, 0)), grid.class_ids)
    with netCDF4.Dataset(tmp_path / "valid.nc") as file:
        assert file.contract_content_id == contract.content_id
        assert file.workload_content_id == workload.content_id
        assert file.grid_overrides == json.dumps(["--set contract.max_ttft_ms=251"])
    run(base_grid(("set", "scheduler.max_prefill_chunk_tokens=481")), tmp_path / "invalid.nc")
    with netCDF4.Dataset(tmp_path / "invalid.nc") as file:
        assert (file.contract_content_id, file.workload_content_id) == ("", "")
        assert int(file.variables["violations"][...].item()) == 0x8000
        assert int(file.variables["invalid_reason"][...].item()) == 7


def test_standing_axes_of_one_value_count_as_dimensions(tmp_path):
    run(base_grid(), tmp_path / "one.nc")
    with netCDF4.Dataset(tmp_path / "one.nc") as file:
        assert file.variables["violations"].dimensions == (SHARE, CHUNK, SLOTS, TRAFFIC)
        assert file.variables["prefill_utilization_permille"].dimensions == (SHARE, TRAFFIC)
        assert file.variables["invalid_reason"].dimensions == (), "no cell is invalid: a scalar"
        assert int(file.variables["invalid_reason"][...].item()) == 0
        assert not [name for name in file.variables if name.startswith("bound_")]


def test_a_fixed_concurrency_does_not_depend_on_traffic(tmp_path):
    run(base_grid(("set", "traffic.scale_concurrency=false")), tmp_path / "fixed.nc")
    with netCDF4.Dataset(tmp_path / "fixed.nc") as file:
        assert file.variables["active_sequences"].dimensions == ()
        assert file.variables["peak_kv_bytes"].dimensions == ()
        assert file.variables["estimated_tpot_ms"].dimensions == (SHARE,)


def test_derived_fields_span_what_they_are_derived_from(tmp_path):
    run(models_grid(), tmp_path / "models.nc")
    with netCDF4.Dataset(tmp_path / "models.nc") as file:
        assert file.variables["iteration_time_ms"].dimensions == (CHUNK, SLOTS)
        assert file.variables["token_capacity_per_second"].dimensions == (CHUNK, SLOTS)
        assert "bound_max_kv_bytes" not in file.variables, "the memory bound does not vary over this grid"
    chunked = models_grid(("set", "gpu.activation_bytes_per_chunk_token=1_000_000"))
    run(chunked, tmp_path / "chunked.nc")
    with netCDF4.Dataset(tmp_path / "chunked.nc") as file:
        assert file.variables["bound_max_kv_bytes"].dimensions == (CHUNK,)


WIDE = [
    ("set", "class.chat.prompt_tokens=10_000_000"),
    ("set", "class.chat.peak_concurrency=1_000_000"),
    ("set", "traffic.scale_concurrency=false"),
]


def test_limbs_stand_exactly_where_a_value_leaves_int64(tmp_path):
    """(10^6·10 000 200 + 8·4 800)·b bytes: 9.22·10^18 lies between b = 922 318 and 922 319."""
    tokens = 10**6 * 10_000_200 + 8 * 4_800
    last = (2**63 - 1) // tokens
    for width, limbs in ((last, False), (last + 1, True)):
        path = tmp_path / f"{width}.nc"
        run(base_grid(*WIDE, ("axis", f"scheduler.kv_bytes_per_token=[1, {width}]")), path)
        with netCDF4.Dataset(path) as file:
            stored = file.variables["peak_kv_bytes"]
            assert ("limb" in stored.dimensions) == limbs == ("limb" in file.dimensions)
            assert str(stored.dtype) == "int64"
            values = np.asarray(stored[...]).tolist()
            if limbs:
                assert stored.dimensions[-1] == "limb"
                assert stored.limb_base == 10**18
                assert [hi * 10**18 + lo for hi, lo in values] == [tokens, tokens * width]
                assert all(0 <= lo < 10**18 for _, lo in values)
            else:
                assert values == [tokens, tokens * width]


def test_a_proof_that_merely_fails_costs_no_limbs(tmp_path):
    """The undefined value −1 hides the products of arrivals that are out of range."""
    path = tmp_path / "loose.nc"
    grid = base_grid(*WIDE, ("axis", "traffic=[1, 1_000_000_000_000_000]"), ("set", "traffic.replicas=1_000"))
    run(grid, path)
    with netCDF4.Dataset(path) as file:
        assert file.variables["total_utilization_permille"].arithmetic == "object"
        assert "limb" not in file.variables["total_utilization_permille"].dimensions
        assert int(file.variables["total_utilization_permille"][1]) == -1
