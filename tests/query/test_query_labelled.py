"""A result as xarray objects: every quantity, stored or recomputed, at any slice, is the reference's."""

import numpy as np
import pytest
from brute import reference_table
from hand_grids import axes_grid, models_grid
from naive import TRAFFIC, Naive, Spot
from strategies import seeded_text

import sweep
from sweep.grid import parse_grid

PER_CONFIGURATION = ("max_traffic_scale_permille", "limiting_violations")


def assert_quantities(grid, path, store) -> None:
    sweep.run(grid, path, store, "always" if store == "all" else "never")
    table = reference_table(grid)
    dim_of = {axis.name: axis.dim for axis in grid.axes}
    with sweep.open_result(path) as result:
        for name, wanted in table.values.items():
            found = result.quantity(name)
            assert found.dims == tuple(dim_of[axis] for axis in table.dims[name]), name
            over = grid.axes[:-1] if name in PER_CONFIGURATION else grid.axes
            shape = [len(axis) if axis.name in table.dims[name] else 1 for axis in over]
            values = np.broadcast_to(found.values.astype(object).reshape(shape), wanted.shape)
            assert (values == wanted).all(), (name, grid.text)
            assert found.dtype.kind in "iuO", name


@pytest.mark.parametrize("store", ["all", "none"])
@pytest.mark.parametrize("seed", range(600, 608))
def test_quantities_of_drawn_grids(tmp_path, seed, store):
    assert_quantities(parse_grid(seeded_text(seed, cells=60)), tmp_path / "drawn.nc", store)


@pytest.mark.parametrize("make", [axes_grid, models_grid])
def test_quantities_at_a_traffic_off_its_axis(tmp_path, make):
    naive = Naive(make())
    sweep.run(naive.grid, tmp_path / "result.nc")
    with sweep.open_result(tmp_path / "result.nc") as result:
        for name in ("estimated_worst_ttft_ms", "peak_kv_bytes", "violations", "active_sequences"):
            found = result.quantity(name, {"traffic": 777})
            assert TRAFFIC not in found.dims
            for configuration in naive.configurations({}):
                at = {
                    axis.dim: i
                    for axis, i in zip(naive.grid.axes, configuration, strict=False)
                    if axis.dim in found.dims
                }
                verdict = naive.verdict(Spot(configuration, 777))
                wanted = verdict.violations if name == "violations" else verdict.figures[name]
                assert int(found.isel(at)) == wanted, (name, configuration)


def test_the_dataset_is_what_the_file_holds_undecoded(tmp_path):
    sweep.run(axes_grid(), tmp_path / "result.nc")
    with sweep.open_result(tmp_path / "result.nc") as result:
        assert result.dataset["violations"].dtype == np.uint16
        assert result.dataset["estimated_tpot_ms"].dtype == np.int64
        assert dict(result.dataset.sizes)["precision"] == 2
