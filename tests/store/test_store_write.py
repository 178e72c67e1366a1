"""What is written comes back to the integer, is the same bytes each time, and replaces only what it may."""

import hashlib
import importlib.metadata
import os
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import netCDF4
import numpy as np
import pytest
import xarray as xr
from store_cases import HUGE, TEXT, mask_of, small_grid, variables, write_result

from sweep._version import __version__
from sweep.records.digest import digest
from sweep.store import ResultWriter, Variable, open_file
from sweep.store.seed import EMPTY_FILE


def partials(folder: Path) -> list[str]:
    return [name for name in os.listdir(folder) if "partial" in name]


def test_every_value_comes_back_as_it_was(tmp_path):
    write_result(tmp_path / "r.nc", slab_values=40_000)
    with open_file(tmp_path / "r.nc") as result:
        assert result.read("peak_kv_bytes").tolist() == HUGE.tolist()
        assert result.read("estimated_worst_ttft_ms").item() == 10**20
        assert result.read("iteration_time_ms").item() == 2**53 + 1
        assert result.read("invalid_reason").tolist() == [0, 255, 6, 0]
        mask = result.read("violations")
        assert mask.dtype == np.uint16
        assert np.array_equal(mask, mask_of(small_grid()))
        assert partials(tmp_path) == []


def test_a_region_is_read_with_slices_and_indices(tmp_path):
    write_result(tmp_path / "r.nc")
    mask = mask_of(small_grid())
    with open_file(tmp_path / "r.nc") as result:
        assert result.shape("violations") == mask.shape
        region = (slice(1, 3), 0, slice(None), 2)
        assert np.array_equal(result.read("violations", region), mask[region])
        assert result.read("peak_kv_bytes", (slice(1, 3),)).tolist() == HUGE[1:3].tolist()
        assert result.read("peak_kv_bytes", (3,)).item() == 10**27


def test_xarray_sees_integers_even_where_it_decodes(tmp_path):
    write_result(tmp_path / "r.nc")
    with xr.open_dataset(tmp_path / "r.nc", engine="netcdf4") as dataset:
        kinds = {name: array.dtype.str for name, array in dataset.variables.items()}
        assert {name for name, kind in kinds.items() if kind == "<i8"} == {
            *("prefill_share_permille", "max_prefill_chunk_tokens", "max_active_sequences"),
            *("class__chat__v1__prompt_tokens", "traffic_scale_permille"),
            *("peak_kv_bytes", "estimated_worst_ttft_ms", "iteration_time_ms"),
        }
        assert kinds["violations"] == "<u2"
        assert dataset["precision"].values.tolist() == ["bf16 ‰", "fp8"]
        hi, lo = dataset["peak_kv_bytes"].values[1].tolist()
        assert hi * dataset["peak_kv_bytes"].attrs["limb_base"].item() + lo == -(10**18) - 1
        assert 0 <= lo < 10**18
        assert all("long_name" in array.attrs for array in dataset.variables.values())
        assert not any("_FillValue" in array.encoding for array in dataset.variables.values())


def test_attributes_come_back_whatever_they_hold(tmp_path):
    long = TEXT + "#" + "ж" * 200_000 + '\r\n\t"\\ '
    grid = small_grid()
    like = SimpleNamespace(
        name="", axes=grid.axes, text=long, overrides=["--set x='ж'"], effective="x" * 3_000_000, sha256="y"
    )
    with ResultWriter(tmp_path / "r.nc", like, False) as writer:
        writer.finish({"empty": "", "large": 2**62, "claim": "‰"})
    with netCDF4.Dataset(tmp_path / "r.nc") as dataset:
        assert dataset.grid_text == long
        assert dataset.grid_effective == like.effective
        assert dataset.grid_overrides == "[\"--set x='\\u0436'\"]"
        assert (dataset.empty, dataset.large, dataset.claim) == ("", 2**62, "‰")
        assert dataset.Conventions == "CF-1.11"
        assert dataset.sweep_version == __version__


def test_arrays_are_compressed_and_checksummed_and_nothing_is_filled(tmp_path):
    write_result(tmp_path / "r.nc")
    with netCDF4.Dataset(tmp_path / "r.nc") as dataset:
        for name, array in dataset.variables.items():
            assert (name == "precision") or array.get_fill_value() is None
            if array.ndim and name != "precision":
                filters = array.filters()
                assert {key for key, value in filters.items() if value} == {
                    *("zlib", "shuffle", "fletcher32", "complevel")
                }
                assert filters["complevel"] == 1


def test_the_version_in_the_file_is_the_package_s():
    assert __version__ == importlib.metadata.version("sweep")


def test_the_same_grid_gives_the_same_bytes(tmp_path):
    write_result(tmp_path / "one.nc")
    first = (tmp_path / "one.nc").read_bytes()
    (tmp_path / "elsewhere").mkdir()
    time.sleep(1.1)  # HDF5 times have whole seconds
    write_result(tmp_path / "elsewhere" / "two.nc", slab_values=1)
    assert (tmp_path / "elsewhere" / "two.nc").read_bytes() == first
    code = "import sys; sys.path.insert(0, sys.argv[1]); import store_cases, pathlib;"
    code += "store_cases.write_result(pathlib.Path(sys.argv[2]))"
    environment = os.environ | {"MALLOC_PERTURB_": "165"}  # memory is not zero by luck
    arguments = [sys.executable, "-c", code, str(Path(__file__).parent), str(tmp_path / "three.nc")]
    subprocess.run(arguments, check=True, env=environment)
    assert (tmp_path / "three.nc").read_bytes() == first


def test_no_library_version_is_in_the_file(tmp_path):
    write_result(tmp_path / "r.nc")
    data = (tmp_path / "r.nc").read_bytes()
    assert b"_NCProperties" not in data
    assert netCDF4.__netcdf4libversion__.encode() not in data
    assert str(tmp_path).encode() not in data


def test_the_seed_is_an_empty_netcdf_file(tmp_path):
    (tmp_path / "seed.nc").write_bytes(EMPTY_FILE)
    with netCDF4.Dataset(tmp_path / "seed.nc") as dataset:
        assert dataset.data_model == "NETCDF4"
        assert (dataset.ncattrs(), list(dataset.variables), list(dataset.dimensions)) == ([], [], [])


def test_any_tool_can_recompute_the_results_digest(tmp_path):
    writer = write_result(tmp_path / "r.nc")
    with netCDF4.Dataset(tmp_path / "r.nc") as dataset:
        dataset.set_auto_maskandscale(False)
        table = {
            name: {
                "dims": list(dataset[name].dimensions),
                "dtype": dataset[name].dtype.str[1:],
                "shape": list(dataset[name].shape),
                "sha256": hashlib.sha256(np.asarray(dataset[name][...]).tobytes()).hexdigest(),
            }
            for name in dataset.variables
            if name not in dataset.dimensions
        }
        assert dataset.results_sha256 == digest(table) == writer.results_sha256


def test_another_order_or_shape_or_type_is_a_bug_of_the_caller(tmp_path):
    grid = small_grid()
    violations, iteration = variables(grid)[4], variables(grid)[2]
    whole = tuple(slice(0, length) for length in grid.shape)
    with ResultWriter(tmp_path / "r.nc", grid) as writer:
        writer.create(violations)
        writer.create(iteration)
        with pytest.raises(ValueError, match="created twice"):
            writer.create(iteration)
        with pytest.raises(ValueError, match="the next one is 0"):
            writer.write("violations", (slice(1, 2), *whole[1:]), mask_of(grid)[1:2])
        with pytest.raises(ValueError, match="values of shape"):
            writer.write("violations", None, mask_of(grid)[1:])
        with pytest.raises(ValueError, match="int64 values do not fit"):
            writer.write("violations", None, mask_of(grid).astype(np.int64))
        with pytest.raises(OverflowError):
            writer.write("iteration_time_ms", None, np.array(2**63, dtype=object))
        with pytest.raises(ValueError, match="not wholly written"):
            writer.finish({})
    assert os.listdir(tmp_path) == []


def test_python_ints_that_fit_are_stored_as_int64(tmp_path):
    with ResultWriter(tmp_path / "r.nc", small_grid()) as writer:
        writer.create(Variable("iteration_time_ms", "i8", ()))
        writer.write("iteration_time_ms", None, np.array(-(2**63), dtype=object))
        writer.finish({})
    with open_file(tmp_path / "r.nc") as result:
        assert result.read("iteration_time_ms").item() == -(2**63)


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_an_exception_leaves_nothing(tmp_path, error):
    def fails_midway():
        with ResultWriter(tmp_path / "r.nc", small_grid()) as writer:
            writer.create(variables(small_grid())[4])
            seen.extend(partials(tmp_path))
            raise error

    seen = []
    with pytest.raises(error):
        fails_midway()
    assert len(seen) == 1
    assert os.listdir(tmp_path) == []


def test_an_interrupted_run_leaves_the_older_result(tmp_path):
    write_result(tmp_path / "r.nc")
    before = (tmp_path / "r.nc").read_bytes()
    with pytest.raises(KeyboardInterrupt), ResultWriter(tmp_path / "r.nc", small_grid()):
        raise KeyboardInterrupt
    assert (tmp_path / "r.nc").read_bytes() == before
    assert os.listdir(tmp_path) == ["r.nc"]


def test_two_writers_of_one_target_do_not_meet(tmp_path):
    grid = small_grid()
    with ResultWriter(tmp_path / "r.nc", grid) as one, ResultWriter(tmp_path / "r.nc", grid) as two:
        assert len(partials(tmp_path)) == 2
        one.finish({"from": "one"})
        two.finish({"from": "two"})
    with open_file(tmp_path / "r.nc") as result:
        assert result.attrs["from"] == "two"
    assert os.listdir(tmp_path) == ["r.nc"]
