"""A file that is not a whole, unaltered result is refused with a sentence; nothing else comes out of it."""

import hashlib
import subprocess
import sys
from pathlib import Path

import netCDF4
import numpy as np
import pytest
from store_cases import TEXT, small_grid, write_result

import sweep.store.read
from sweep.errors import ResultFault
from sweep.store import open_file
from sweep.store.labelled import open_dataset
from sweep.store.seal import SEAL_BYTES, SEAL_MAGIC, append_seal


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "r.nc"
    write_result(path)
    return path.read_bytes()


@pytest.fixture
def result(tmp_path, whole):
    (tmp_path / "r.nc").write_bytes(whole)
    return tmp_path / "r.nc"


def reseal(path: Path) -> None:
    """What a forger would do: HDF5 has cut the seal off on closing, so put a new one."""
    append_seal(path)


def test_the_grid_is_the_one_that_was_run(result):
    with open_file(result) as opened:
        assert opened.grid == small_grid()
        assert opened.grid.text == TEXT
        assert opened.attrs["reference_cells"] == 2**62
        assert type(opened.attrs["reference_cells"]) is int
        assert list(opened.variables)[-1] == "violations"
        assert opened.variables["peak_kv_bytes"].limbs
        assert opened.variables["violations"].attrs["flag_masks"].dtype == np.uint16
        assert opened.coordinate("precision") == ["bf16 ‰", "fp8"]
        opened.check_seal()
        opened.check_digest()
        opened.check_coordinates()


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (None, "there is no such file; write it with `sweep run GRID.toml -o"),
        ("folder", "is a folder"),
        (b"", "is empty"),
        (b"%PDF-1.4", "is no netCDF-4 file"),
        (b"CDF\x01" + bytes(28), "is classic netCDF"),
        (b"\x89HDF\r\n\x1a\n", "begins like a netCDF-4 file but cannot be opened"),
        (b"\x89HDF\r\n\x1a\n" + bytes(200) + SEAL_MAGIC + bytes(32), "its seal does not fit its bytes"),
        (b"\x89HDF\r\n\x1a\n" + SEAL_MAGIC, "begins like a netCDF-4 file but cannot be opened"),
    ],
)
def test_files_that_are_no_results(tmp_path, content, sentence):
    path = tmp_path / "x.nc"
    if content == "folder":
        path.mkdir()
    elif content is not None:
        path.write_bytes(content)
    with pytest.raises(ResultFault, match=f"x.nc: .*{sentence}"):
        open_file(path)


def test_a_grid_in_place_of_a_result_is_named(tmp_path):
    (tmp_path / "g.toml").write_text(TEXT)
    with pytest.raises(ResultFault, match=r"g\.toml: is a grid, .* `sweep run .*g\.toml` makes one"):
        open_file(tmp_path / "g.toml")


def test_a_path_with_a_nul_is_a_sentence_too():
    with pytest.raises(ResultFault, match="cannot be read"):
        open_file("a\0b.nc")


def test_someone_elses_netcdf(tmp_path):
    with netCDF4.Dataset(tmp_path / "x.nc", "w") as dataset:
        dataset.title = "someone's"
    with pytest.raises(ResultFault, match="is a netCDF file without the text attribute grid_sha256"):
        open_file(tmp_path / "x.nc")


def test_a_file_cut_anywhere_is_refused(result, whole):
    for length in [*range(0, len(whole), 4_001), len(whole) - SEAL_BYTES, len(whole) - 1]:
        result.write_bytes(whole[:length])
        with pytest.raises(ResultFault):
            open_file(result)


def test_a_byte_changed_anywhere_is_refused(result, whole):
    for place in [*range(8, len(whole), 3_001), len(whole) - 1]:
        changed = bytearray(whole)
        changed[place] ^= 1
        result.write_bytes(changed)
        with pytest.raises(ResultFault, match=r"r\.nc: "):
            open_file(result)


def test_a_file_that_another_program_changed_has_lost_its_seal(result):
    with netCDF4.Dataset(result, "r+") as dataset:
        dataset.history = "ncatted"
    with pytest.raises(ResultFault, match="does not end in the seal"):
        open_file(result)


def test_a_large_file_is_checked_on_demand_and_chunk_by_chunk(result, whole, monkeypatch):
    monkeypatch.setattr(sweep.store.read, "_SEAL_CHECKED_BYTES", 0)
    refused = 0
    for place in range(len(whole) // 2, len(whole) - 1_000, 1_999):
        changed = bytearray(whole)
        changed[place] ^= 1
        result.write_bytes(changed)
        try:
            with open_file(result) as opened:
                with pytest.raises(ResultFault, match="its seal does not fit"):
                    opened.check_seal()
                opened.check_digest()
        except ResultFault as fault:
            refused += "cannot be read, it is damaged" in str(fault)
    assert refused > 0


@pytest.mark.parametrize("key", ["grid_effective", "grid_sha256"])
def test_the_grid_must_fit_its_digest(result, key):
    with netCDF4.Dataset(result, "r+") as dataset:
        dataset.setncattr(key, dataset.getncattr(key).replace("5", "6"))
    reseal(result)
    with pytest.raises(ResultFault, match=r"attribute grid_effective has the digest .* it was altered"):
        open_file(result)


@pytest.mark.parametrize("effective", ["{}", "[1", '{"sweep":{"name":"x"}}', "[" * 100_000])
def test_a_grid_that_cannot_be_read_is_a_sentence(result, effective):
    with netCDF4.Dataset(result, "r+") as dataset:
        dataset.grid_effective = effective
        dataset.grid_sha256 = hashlib.sha256(effective.encode()).hexdigest()
    reseal(result)
    with open_file(result) as opened, pytest.raises(ResultFault, match="its grid cannot be read"):
        _ = opened.grid


def test_altered_values_under_a_new_seal_are_found(result):
    with netCDF4.Dataset(result, "r+") as dataset:
        dataset["violations"][3, 0, 0, 0, 0, 7] = 4
    reseal(result)
    with open_file(result) as opened:
        opened.check_seal()
        with pytest.raises(ResultFault, match=r"results_sha256 says .* it was altered"):
            opened.check_digest()


def test_altered_labels_under_a_new_seal_are_found(result):
    with netCDF4.Dataset(result, "r+") as dataset:
        dataset["traffic_scale_permille"][7] = 7
    reseal(result)
    with open_file(result) as opened:
        opened.check_digest()
        with pytest.raises(ResultFault, match="coordinate traffic_scale_permille is not axis"):
            opened.check_coordinates()


def test_a_variable_that_is_not_there(result):
    with open_file(result) as opened:
        assert not opened.has("declared_starvation_bound_ms")
        with pytest.raises(ResultFault, match=r"has no variable declared_starvation_bound_ms \(it holds peak"):
            opened.read("declared_starvation_bound_ms")


def test_the_labelled_dataset_decodes_nothing(result):
    with open_dataset(result) as dataset:
        assert dataset["violations"].dtype == np.uint16
        assert dataset["iteration_time_ms"].item() == 2**53 + 1
        assert dataset["violations"].sel(precision="fp8", traffic_scale_permille=8).ndim == 4
    result.write_bytes(result.read_bytes()[:-1])
    with pytest.raises(ResultFault):
        open_dataset(result)


def test_reading_does_not_import_xarray(result):
    code = "import sys, sweep.store as s; f = s.open_file(sys.argv[1]); f.read('violations'); f.close();"
    code += "sys.exit('xarray' in sys.modules or 'pandas' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code, str(result)]).returncode == 0
