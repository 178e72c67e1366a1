"""A run end to end: every way to the same bytes, the self-check, interruption, counts."""

from functools import partial

import netCDF4
import numpy as np
import pytest
from brute import MASK, REASON, reference_table
from hand_grids import axes_grid, base_grid, models_grid
from strategies import seeded_text

from sweep.api import plan, run
from sweep.engine import check, runs
from sweep.engine.tally import Tally, histogram
from sweep.engine.verdict import MaskMaker
from sweep.errors import ResultFault, SelfCheckFault, UsageFault
from sweep.exact.ops import floor_div
from sweep.grid import parse_grid
from sweep.kernels import derive, figures, rules, thresholds
from sweep.records import INVALID_REASONS
from sweep.store import layout

STORES = {"all": True, "small": True, "none": False}
TRAFFIC = "traffic_scale_permille"


def bytes_of(grid, path, store="small", materialize="auto", **more) -> bytes:
    run(grid, path, store, materialize, **more)
    return path.read_bytes()


def drawn(seed):
    return parse_grid(seeded_text(seed, cells=200))


def test_the_same_grid_gives_the_same_bytes(tmp_path):
    for number, make in enumerate((axes_grid, models_grid, base_grid)):
        first = bytes_of(make(), tmp_path / f"a{number}.nc")
        (tmp_path / "elsewhere").mkdir(exist_ok=True)
        assert bytes_of(make(), tmp_path / "elsewhere" / f"b{number}.nc") == first
        assert bytes_of(make(), tmp_path / f"a{number}.nc") == first, "a result of the same grid is replaced"


@pytest.mark.parametrize("seed", range(20, 32))
def test_runs_along_traffic_and_folded_masks_write_the_same_bytes(tmp_path, monkeypatch, seed):
    grid = drawn(seed)
    folded = bytes_of(grid, tmp_path / "folded.nc", "all")
    assert not plan(grid).by_runs
    monkeypatch.setattr(runs, "MIN_TRAFFIC_VALUES", 1)
    monkeypatch.setattr(MaskMaker, "suits", lambda ev: False)
    assert plan(grid).by_runs
    assert bytes_of(grid, tmp_path / "runs.nc", "all") == folded


@pytest.mark.parametrize("materialize", ["always", "never"])
@pytest.mark.parametrize("make", [axes_grid, models_grid])
def test_tiny_tiles_and_nothing_shared_write_the_same_bytes(tmp_path, monkeypatch, make, materialize):
    monkeypatch.setattr(layout, "chunk_shape", partial(layout.chunk_shape, target=16))
    monkeypatch.setattr("sweep.store.write.chunk_shape", layout.chunk_shape)
    whole = bytes_of(make(), tmp_path / "whole.nc", "all", materialize)
    assert plan(make()).tiles == 1
    monkeypatch.setattr("sweep.engine.evaluate.TILE_VALUES", 32)
    for shared in (1, 8, 10**9):
        for module in ("evaluate", "verdict"):
            monkeypatch.setattr(f"sweep.engine.{module}.SHARED_VALUES", shared)
        assert plan(make()).tiles > 3
        assert bytes_of(make(), tmp_path / f"{shared}.nc", "all", materialize) == whole


def test_tiny_row_tiles_of_runs_count_and_write_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(runs, "MIN_TRAFFIC_VALUES", 1)
    monkeypatch.setattr(MaskMaker, "suits", lambda ev: False)
    whole = run(axes_grid(), tmp_path / "whole.nc", materialize="never")
    monkeypatch.setattr(layout, "chunk_shape", partial(layout.chunk_shape, target=16))
    monkeypatch.setattr("sweep.engine.plan.ROW_VALUES", 32)
    parts = run(axes_grid(), tmp_path / "parts.nc", materialize="never")
    assert parts.plan.tiles > whole.plan.tiles == 1
    assert parts.tally.cells_of_mask == whole.tally.cells_of_mask


@pytest.mark.parametrize("store", STORES)
def test_store_all_small_none(tmp_path, monkeypatch, store):
    monkeypatch.setattr("sweep.engine.plan.STORED_VALUES", 20)
    summary = run(axes_grid(), tmp_path / "result.nc", store)
    small = {"iteration_time_ms", "active_sequences", "estimated_tpot_ms"}
    with netCDF4.Dataset(tmp_path / "result.nc") as file:
        held, told = set(file.variables), set(file.recomputed.split())
    names = {planned.quantity.name for planned in summary.plan.quantities}
    assert not held & told
    assert names <= held | told
    assert (small <= held) == STORES[store]
    assert ("estimated_worst_ttft_ms" in held) == (store == "all"), "24 values and more are not small here"
    assert "violations" in held
    assert {p.quantity.name for p in summary.plan.quantities if p.stored} == names & held


@pytest.mark.parametrize("materialize", ["always", "never", "auto"])
def test_materialize_always_never_auto(tmp_path, monkeypatch, materialize):
    monkeypatch.setattr("sweep.engine.plan.AUTO_MASK_CELLS", 719)
    summary = run(axes_grid(), tmp_path / "result.nc", materialize=materialize)
    with netCDF4.Dataset(tmp_path / "result.nc") as file:
        assert ("violations" in file.variables) == (materialize == "always")
        assert ("violations" in file.recomputed.split()) == (materialize != "always")
    assert summary.tally.total == 720, "cells are counted, stored or not"


def test_unknown_options_and_a_missing_name_are_usage_faults(tmp_path):
    for options in ({"store": "most"}, {"materialize": "maybe"}):
        with pytest.raises(UsageFault, match="wanted one of"):
            run(base_grid(), tmp_path / "result.nc", **options)
    with pytest.raises(UsageFault, match="output"):
        run(base_grid())
    assert list(tmp_path.iterdir()) == []


def test_another_file_is_replaced_only_by_force(tmp_path):
    path = tmp_path / "result.nc"
    run(base_grid(), path)
    before = path.read_bytes()
    with pytest.raises(ResultFault, match="--force"):
        run(axes_grid(), path)
    assert path.read_bytes() == before
    run(axes_grid(), path, force=True)
    assert path.read_bytes() != before


WRONG = {
    "time per output token one more": (figures, "tpot_ms", lambda kernel: lambda *v: kernel(*v) + 1),
    "violated at the bound": (rules, "over", lambda _: lambda figure, bound: figure >= bound),
    "arrivals rounded down": (
        derive,
        "arrival_millirps",
        lambda _: lambda declared, scale, replicas: floor_div(declared * scale, 1000 * replicas),
    ),
    "capacity one more": (thresholds, "largest_scale", lambda kernel: lambda *v: kernel(*v) + 1),
    "capacity one less": (thresholds, "largest_scale", lambda kernel: lambda *v: kernel(*v) - 1),
    "chunk rule off": (rules, "chunk_exceeds_service", lambda _: lambda chunk, served: chunk > served + chunk),
    "queue limit too high": (thresholds, "waiting_limit", lambda kernel: lambda *v: kernel(*v) + 200),
}


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("materialize", ["always", "never"])
@pytest.mark.parametrize("least", [1, 64], ids=["runs", "folded"])
def test_a_wrong_kernel_stops_the_run_with_the_cell_and_leaves_no_file(
    tmp_path, monkeypatch, wrong, materialize, least
):
    module, name, made = WRONG[wrong]
    monkeypatch.setattr(module, name, made(getattr(module, name)))
    monkeypatch.setattr(runs, "MIN_TRAFFIC_VALUES", least)
    monkeypatch.setattr(MaskMaker, "suits", lambda ev: False)
    scales = ("axis", "traffic=[333, 900, 1_000, 1_100, 4_444, 4_445, 8_000]")
    with pytest.raises(SelfCheckFault) as error:
        run(axes_grid(scales), tmp_path / "result.nc", materialize=materialize)
    (sentence,) = error.value.faults
    for axis in axes_grid().axes:
        assert f"{axis.name}=" in sentence
    assert "by the kernels and" in sentence or "not: the mask" in sentence
    assert list(tmp_path.iterdir()) == []


def test_the_self_check_covers_corners_random_cells_and_the_best_point(tmp_path):
    grid = axes_grid()
    summary = run(grid, tmp_path / "result.nc")
    cells = check.check_cells(grid, summary.best)
    assert set(check.corner_indices(grid)) <= set(cells)
    assert len(set(check.drawn_indices(grid, 256))) > 150
    assert set(check.drawn_indices(grid, 256)) <= set(cells)
    assert summary.checked > len(cells), "capacities and the best point come on top"
    own = sum(value <= summary.best.scale_permille for value in grid.axes[-1].values)
    assert {(*summary.best.index, own - 1), (*summary.best.index, own)} <= set(cells)


def test_cells_are_drawn_from_the_digest_alone():
    first = list(check.drawn_indices(axes_grid(), 50))
    assert first == list(check.drawn_indices(axes_grid(), 50))
    assert first != list(check.drawn_indices(axes_grid(("set", "contract.max_tpot_ms=31")), 50))
    assert first != list(check.drawn_indices(axes_grid(), 50, "verify"))
    assert all(0 <= i < n for cell in first for i, n in zip(cell, axes_grid().shape, strict=True))


def test_an_interrupt_leaves_no_file_and_the_old_result(tmp_path):
    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    path = tmp_path / "result.nc"
    with pytest.raises(KeyboardInterrupt):
        run(axes_grid(), path, progress=interrupt)
    assert list(tmp_path.iterdir()) == []
    before = bytes_of(axes_grid(), path)
    with pytest.raises(KeyboardInterrupt):
        run(axes_grid(), path, progress=lambda done, total: interrupt(done, total) if done else None)
    assert [one.name for one in tmp_path.iterdir()] == ["result.nc"]
    assert path.read_bytes() == before


def test_progress_runs_from_nothing_to_all_cells(tmp_path):
    seen = []
    run(axes_grid(), tmp_path / "result.nc", progress=lambda done, total: seen.append((done, total)))
    assert seen[0] == (0, 720)
    assert seen[-1] == (720, 720)


@pytest.mark.parametrize("least", [1, 64], ids=["runs", "folded"])
def test_counts_are_those_of_the_reference(tmp_path, monkeypatch, least):
    monkeypatch.setattr(runs, "MIN_TRAFFIC_VALUES", least)
    monkeypatch.setattr(MaskMaker, "suits", lambda ev: False)
    for seed in range(40, 50):
        grid = drawn(seed)
        summary = run(grid, tmp_path / f"{seed}.nc", materialize="never")
        table = reference_table(grid)
        masks, counts = np.unique(table.values[MASK].astype(np.int64), return_counts=True)
        assert summary.tally.cells_of_mask == dict(zip(masks.tolist(), counts.tolist(), strict=True))
        reasons = [int(reason) for reason in table.values[REASON].flat]
        assert summary.reasons == {code: reasons.count(i) for i, code in enumerate(INVALID_REASONS) if i}


def test_a_histogram_counts_every_mask_in_long_and_in_short_runs():
    long = np.repeat(np.array([0, 3, 0x8000, 0, 65_535], dtype=np.uint16), [1_000, 1, 500, 7, 2]).reshape(5, 302)
    short = np.arange(3_000, dtype=np.uint16).reshape(30, 100) % 7
    for masks in (long, short, np.zeros((0, 4), dtype=np.uint16), np.full((3, 1), 9, dtype=np.uint16)):
        assert np.array_equal(histogram(masks), np.bincount(masks.reshape(-1), minlength=2**16))


def test_a_tally_counts_beyond_every_machine_word():
    tally = Tally()
    counts = np.zeros(2**16, dtype=np.int64)
    counts[[0, 2, 6, 0x8000]] = 2**62
    for _ in range(4):
        tally.add(counts)
    tally.add(counts, times=10**6)
    each = 2**62 * (4 + 10**6)
    assert (tally.total, tally.within, tally.invalid, tally.rejected) == (4 * each, each, each, 2 * each)
    assert tally.hits()["active-sequence-capacity"] == 2 * each
    assert tally.alone()["active-sequence-capacity"] == each
    assert tally.alone()["total-utilization"] == 0
