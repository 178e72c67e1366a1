"""The public names: lazy, complete, and together a round trip from a grid file to an answer."""

import subprocess
import sys
from pathlib import Path

import pytest
from hand_grids import AXES, BASE, axes_grid

import sweep
from sweep.errors import InputFault, ResultFault, SelfCheckFault, SweepError, UsageFault

HEAVY = ("numpy", "xarray", "pandas", "netCDF4", "click", "pydantic", "rich")
GRIDS = Path(__file__).parents[1] / "grids"


def loaded_after(statement: str) -> set[str]:
    code = f"import sys; {statement}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_sweep_loads_nothing_heavy():
    assert not loaded_after("import sweep") & {*HEAVY, "sweep.api", "sweep.engine", "sweep.kernels"}


def test_the_records_and_the_scalar_audit_need_no_numpy():
    assert not loaded_after("import sweep; sweep.audit; sweep.BatchingContract") & {"numpy", "xarray", "netCDF4"}


def test_a_run_and_a_question_do_not_load_xarray():
    assert "xarray" not in loaded_after("import sweep, sweep.query.result; sweep.run; sweep.best_of_grid")


@pytest.mark.parametrize("name", sweep.__all__)
def test_every_public_name_is_there_once_and_documented(name):
    assert getattr(sweep, name) is getattr(sweep, name)
    assert name in dir(sweep)
    assert name == "__version__" or getattr(sweep, name).__doc__


def test_the_names_of_the_definitions_are_public():
    named = {"BatchingContract", "SchedulerProfile", "RequestClass", "BatchingWorkload", "BatchingReport"}
    assert named | {"audit", "audit_grid", "load_grid", "run", "open_result"} <= set(sweep.__all__)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'sweeep'"):
        _ = sweep.sweeep


def test_from_a_grid_file_to_an_answer_and_back(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("small.toml").write_text(BASE + AXES)
    grid = sweep.load_grid("small.toml", [("set", "contract.max_tpot_ms=31")])
    planned = sweep.plan(grid)
    assert (planned.cells, planned.configurations) == (720, 144)
    summary = sweep.run(grid, "named.nc")
    assert summary.tally.total == 720
    with sweep.open_result("named.nc") as result:
        assert result.grid == grid
        assert result.attrs["grid_overrides"] == '["--set contract.max_tpot_ms=31"]'
        best = result.best()
        assert best == sweep.best_of_grid(grid)
        assert best.cell.point["traffic_scale_permille"] == summary.best.scale_permille
        at = {"share": 600, "traffic": 1_234, "precision": "fp8"}
        assert result.best(at, [("minimize", "max_active_sequences")], 3) == sweep.best_of_grid(
            grid, at, [("minimize", "max_active_sequences")], 3
        )
        assert result.explain(at) == sweep.explain_grid(grid, at)
        assert result.explain() == best.cell
        assert result.verify().differences == ()


def test_a_grid_file_s_result_takes_its_stem_in_the_current_folder(tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "small.toml").write_text(BASE)
    monkeypatch.chdir(tmp_path)
    assert sweep.run(tmp_path / "elsewhere" / "small.toml").path == Path("small.nc")
    assert [one.name for one in tmp_path.iterdir() if one.is_file()] == ["small.nc"]


def test_info_tells_what_the_file_holds(tmp_path):
    grid = axes_grid()
    sweep.run(grid, tmp_path / "result.nc", store="none")
    with sweep.open_result(tmp_path / "result.nc") as result:
        info = result.info()
    assert info["path"] == str(tmp_path / "result.nc")
    assert (info["cells"], info["configurations"], info["name"]) == (720, 144, "hand-made")
    assert info["grid_sha256"] == grid.sha256
    assert info["sweep_version"] == sweep.__version__
    assert [axis["name"] for axis in info["axes"]] == [axis.name for axis in grid.axes]
    assert info["axes"][0] == {
        "name": "prefill_share_permille",
        "path": "scheduler.prefill_share_permille",
        "dim": "prefill_share_permille",
        "length": 4,
        "first": 300,
        "last": 620,
    }
    assert info["axes"][4]["choices"] == ["bf16", "fp8"]
    held = {variable["name"]: variable for variable in info["variables"]}
    assert held["violations"]["values"] == 720
    assert "estimated_tpot_ms" in info["recomputed"]
    assert not set(held) & set(info["recomputed"])


def test_a_closed_or_missing_or_foreign_result_is_a_result_fault(tmp_path):
    with pytest.raises(ResultFault, match="no such file"):
        sweep.open_result(tmp_path / "none.nc")
    (tmp_path / "grid.toml").write_text(BASE)
    with pytest.raises(ResultFault, match="is a grid"):
        sweep.open_result(tmp_path / "grid.toml")


def test_a_wrong_grid_is_an_input_fault_with_every_fault():
    with pytest.raises(InputFault) as error:
        sweep.parse_grid(BASE.replace("max_ttft_ms = 250", "max_ttft_ms = 0").replace("max_tpot_ms", "max_tpott_ms"))
    assert len(error.value.faults) >= 2


def test_the_family_of_errors_carries_its_exit_codes():
    codes = {UsageFault: 2, InputFault: 3, ResultFault: 4, SelfCheckFault: 5}
    assert {kind: kind("x").exit_code for kind in codes} == codes
    assert all(issubclass(kind, SweepError) for kind in codes)


def test_the_grids_of_the_project_load_and_have_feasible_points():
    for path in sorted(GRIDS.glob("*.toml")):
        grid = sweep.load_grid(path)
        assert sweep.plan(grid).cells == grid.cells
        at = {"traffic": grid.axes[-1].values[0]} | {axis.name: axis.label(len(axis) // 2) for axis in grid.axes[1:2]}
        assert sweep.best_of_grid(grid, at).feasible, path.name


def test_a_run_does_not_write_over_its_grid_file(tmp_path):
    (tmp_path / "grid.toml").write_text(BASE, encoding="utf-8")
    with pytest.raises(UsageFault, match="is the grid file itself"):
        sweep.run(tmp_path / "grid.toml", tmp_path / "grid.toml", force=True)
    assert (tmp_path / "grid.toml").read_text(encoding="utf-8") == BASE
