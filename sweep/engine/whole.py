"""Every cell's mask, or every configuration's capacity, in an array that the caller owns: the engine without a file."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from sweep.engine.budget import THREADS
from sweep.engine.evaluate import Evaluation
from sweep.engine.largest import CAPACITY, configuration_dims
from sweep.engine.opening import Array
from sweep.engine.parts import assembled
from sweep.engine.plan import ROW_VALUES
from sweep.engine.runs import RunMaker
from sweep.engine.verdict import MaskMaker, dims_regions, reported_rules
from sweep.store.layout import slab_shape, slabs

LARGE_TILE_VALUES = 2**23


def fill_masks(ev: Evaluation, admission_control: bool, out: Array) -> None:
    """Write the violation mask of every cell.

    Args:
        ev: the evaluation of a grid.
        admission_control: as in the grid.
        out: uint16, of the grid's shape.
    """
    reported = reported_rules(ev)
    if not MaskMaker.suits(ev) and RunMaker.suits(ev):
        runner = RunMaker(ev, reported, admission_control)

        def by_runs(region: tuple[slice, ...]) -> None:
            runner.make(region).write(out[region])

        rows = (*slab_shape(ev.lengths[:-1], ROW_VALUES), ev.lengths[-1])
        with ThreadPoolExecutor(THREADS) as pool:
            list(pool.map(by_runs, slabs(ev.lengths, rows)))
        return
    maker = MaskMaker(ev, reported, admission_control)
    # Where nothing is computed in a tile, few large ones: threads that meet often wait for the interpreter.
    values = LARGE_TILE_VALUES if MaskMaker.suits(ev) else ev.tile_values
    regions = slabs(ev.lengths, slab_shape(ev.lengths, values))
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(lambda region: maker.make(region, out[region]), regions))


def fill_capacities(ev: Evaluation, out: Array) -> None:
    """Write the largest feasible traffic scale of every configuration, 0 where there is none.

    Args:
        ev: the evaluation of a grid.
        out: int64, of the grid's shape without its last axis, traffic.
    """
    dims = configuration_dims(ev)

    def one(region: tuple[slice, ...]) -> None:
        out[region[:-1]] = assembled(ev, region, CAPACITY, dims)[..., 0]

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(one, dims_regions(ev.lengths, dims, ev.block_values)))
