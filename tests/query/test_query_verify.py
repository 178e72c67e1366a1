"""`verify` finds what a file says wrongly, stored or recomputed, and refuses an altered file."""

import netCDF4
import numpy as np
import pytest
from hand_grids import axes_grid, base_grid, models_grid

from sweep.api import open_result, run
from sweep.errors import ResultFault
from sweep.kernels import figures
from sweep.kernels.thresholds import largest_scale
from sweep.records.wording import CLAIM
from sweep.store.seal import SEAL_BYTES, append_seal

CAPACITY, LIMITING = "max_traffic_scale_permille", "limiting_violations"


def altered(path, name, index, change):
    """Change one stored value and seal the file again, digest included: only judging finds it."""
    with path.open("r+b") as stream:
        stream.truncate(path.stat().st_size - SEAL_BYTES)
    with netCDF4.Dataset(path, "r+") as file:
        file.set_auto_maskandscale(False)
        stored = file.variables[name]
        stored[index] = change(np.asarray(stored[index]))
    append_seal(path)
    with open_result(path) as result:
        digest = result._file.digest()
    with path.open("r+b") as stream:
        stream.truncate(path.stat().st_size - SEAL_BYTES)
    with netCDF4.Dataset(path, "r+") as file:
        file.results_sha256 = digest
    append_seal(path)


@pytest.fixture
def written(tmp_path):
    path = tmp_path / "result.nc"
    run(axes_grid(), path)
    return path


def test_a_good_file_has_no_differences(written):
    with open_result(written) as result:
        answer = result.verify()
        assert answer.differences == ()
        assert answer.as_json() == {"checked": answer.checked, "differences": [], "claim": CLAIM}
        assert 256 <= answer.checked + 64 <= 720, "drawn cells may repeat"
        assert result.verify(all_cells=True).checked == 720
        assert result.verify(sample=0).checked == 2**6, "the corners are always judged"


@pytest.mark.parametrize("make", [axes_grid, models_grid, base_grid])
@pytest.mark.parametrize("store", ["all", "small", "none"])
@pytest.mark.parametrize("materialize", ["always", "never"])
def test_every_way_of_storing_verifies(tmp_path, make, store, materialize):
    run(make(), tmp_path / "result.nc", store, materialize)
    with open_result(tmp_path / "result.nc") as result:
        answer = result.verify(all_cells=True)
        assert (answer.checked, answer.differences) == (make().cells, ())


PLANTS = {
    "violations": ((1, 1, 1, 0, 1, 2), lambda mask: mask ^ 4),
    "invalid_reason": ((0, 2), lambda reason: reason + 1),
    CAPACITY: ((1, 1, 1, 0, 1), lambda scale: scale + 1),
    LIMITING: ((1, 1, 1, 0, 1), lambda mask: mask ^ 2),
    "estimated_tpot_ms": ((2, 2), lambda tpot: tpot + 1),
    "bound_max_ttft_ms": ((1,), lambda bound: bound - 1),
    "worst_prefill_service_ms": ((2, 1, 1), lambda service: -service),
}


@pytest.mark.parametrize("name", PLANTS)
def test_a_planted_difference_is_found_with_its_point_and_both_values(written, name):
    index, change = PLANTS[name]
    with open_result(written) as result:
        truth = int(result._file.read(name, index))
    altered(written, name, index, change)
    with open_result(written) as result:
        found = result.verify(all_cells=True).as_json()["differences"]
    assert found, name
    assert {one["variable"] for one in found} == {name}
    assert list(found[0]) == ["point", "variable", "stored", "reference"]
    assert found[0]["stored"] == int(change(np.array(truth)))
    assert found[0]["reference"] == truth or name == CAPACITY
    assert list(found[0]["point"]) == [axis.name for axis in axes_grid().axes]


def test_a_smaller_capacity_than_the_true_one_is_found(written):
    altered(written, CAPACITY, (1, 1, 1, 0, 1), lambda scale: scale - 1)
    with open_result(written) as result:
        assert [one["variable"] for one in result.verify(all_cells=True).differences][:1] == [CAPACITY]


def test_a_sample_finds_a_difference_at_a_corner_and_all_finds_every_one(written):
    altered(written, "violations", (0, 0, 0, 0, 0, 0), lambda mask: mask ^ 1)
    altered(written, "violations", (1, 1, 1, 1, 1, 1), lambda mask: mask ^ 1)
    with open_result(written) as result:
        corner = result.verify(sample=0)
        assert [one["variable"] for one in corner.differences] == ["violations"]
        assert len(result.verify(all_cells=True).differences) == 2


def test_a_file_that_differs_everywhere_is_described_by_twenty_differences(written):
    altered(written, "violations", (), lambda masks: masks ^ 8)
    with open_result(written) as result:
        answer = result.verify(all_cells=True)
        assert len(answer.differences) == 20


def test_an_altered_file_is_refused_by_its_seal(written):
    size = written.stat().st_size
    with written.open("r+b") as stream:
        stream.seek(size // 2)
        byte = stream.read(1)
        stream.seek(size // 2)
        stream.write(bytes([byte[0] ^ 1]))
    with pytest.raises(ResultFault, match="altered"):
        open_result(written)


def test_values_that_do_not_fit_the_digest_are_refused_by_verify(written):
    with written.open("r+b") as stream:
        stream.truncate(written.stat().st_size - SEAL_BYTES)
    with netCDF4.Dataset(written, "r+") as file:
        file.set_auto_maskandscale(False)
        file.variables["iteration_time_ms"][...] = 21
    append_seal(written)
    with open_result(written) as result, pytest.raises(ResultFault, match="results_sha256"):
        result.verify()


KERNELS = {
    "estimated_tpot_ms": "tpot_ms",
    "active_sequences": "active_sequences",
    "estimated_queue_delay_ms": "queue_delay_ms",
}


@pytest.mark.parametrize("name", KERNELS)
def test_recomputed_quantities_are_judged_as_a_question_would_see_them(tmp_path, monkeypatch, name):
    path = tmp_path / "result.nc"
    run(axes_grid(), path, store="none")
    with open_result(path) as result:
        assert name in result.info()["recomputed"]
        assert result.verify(sample=20).differences == ()
    kernel = getattr(figures, KERNELS[name])
    monkeypatch.setattr(figures, KERNELS[name], lambda *values: kernel(*values) + 1)
    with open_result(path) as result:
        assert name in {one["variable"] for one in result.verify(sample=20).differences}


def test_a_recomputed_capacity_is_judged_too(tmp_path, monkeypatch):
    path = tmp_path / "result.nc"
    monkeypatch.setattr("sweep.engine.plan.STORED_VALUES", 8)
    run(axes_grid(), path, materialize="never")
    with open_result(path) as result:
        assert {CAPACITY, LIMITING, "violations"} <= set(result.info()["recomputed"])
        answer = result.verify(all_cells=True)
        assert (answer.checked, answer.differences) == (720, ())
    least = largest_scale
    monkeypatch.setattr("sweep.kernels.thresholds.largest_scale", lambda *values: least(*values) + 1)
    with open_result(path) as result:
        assert CAPACITY in {one["variable"] for one in result.verify(all_cells=True).differences}


def test_progress_counts_to_the_end(written):
    seen = []
    with open_result(written) as result:
        result.verify(all_cells=True, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (720, 720)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


def test_a_sample_of_more_than_all_cells_is_all_cells(tmp_path):
    steps = []
    for make in (base_grid, axes_grid):
        run(make(), tmp_path / "result.nc", force=True)
        with open_result(tmp_path / "result.nc") as result:
            answer = result.verify(sample=10**9, progress=lambda *step: steps.append(step))
            assert (answer.checked, answer.differences) == (make().cells, ())
            assert steps[-1] == (make().cells, make().cells)
            assert result.verify_best(sample=10**9).judged == make().configurations
            result.verify(sample=make().cells - 1, progress=lambda *step: steps.append(step))
            assert steps[-1][0] == steps[-1][1]
