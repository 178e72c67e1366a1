"""Huge grids are described exactly, or refused with a sentence, before anything is made."""

import subprocess
import sys
import tracemalloc

import pytest
from hand_grids import axes_grid, base_grid

from sweep.api import plan, run
from sweep.engine.plan import MAX_CELLS, MAX_CONFIGURATIONS, make_plan, refuse
from sweep.engine.run import evaluation_of
from sweep.errors import RefusedSize


def huge(*lengths: int):
    """A grid of any number of cells: share, chunk, slots and traffic scales."""
    share, chunk, slots, traffic = lengths
    return base_grid(
        ("axis", f"share=1:{share}:1"),
        ("axis", f"chunk=1:{chunk}:1"),
        ("axis", f"slots=1:{slots}:1"),
        ("axis", f"traffic=1:{traffic}:1"),
    )


@pytest.mark.parametrize(
    ("lengths", "cells"),
    [((10, 10**4, 10**5, 10**5), 10**15), ((900, 10**6, 10**6, 10**6), 9 * 10**20), ((1, 10**6, 10**6, 10**6), 10**18)],
)
def test_a_plan_of_a_huge_grid_is_exact_and_takes_little_memory(lengths, cells):
    grid = huge(*lengths)
    tracemalloc.start()
    planned = plan(grid)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100 * 2**20
    assert planned.cells == cells
    assert planned.configurations == cells // lengths[-1]
    assert planned.mask_stored is False
    told = planned.as_json()
    assert told["quantities"]["estimated_worst_ttft_ms"]["values"] == cells // lengths[2]
    assert told["quantities"]["estimated_worst_ttft_ms"]["stored"] is False
    assert told["quantities"]["iteration_time_ms"]["stored"] is True


@pytest.mark.parametrize("options", [{}, {"materialize": "always"}, {"store": "all"}, {"store": "none"}])
def test_a_run_of_a_huge_grid_is_refused_before_anything_is_made(tmp_path, options):
    tracemalloc.start()
    with pytest.raises(RefusedSize) as error:
        run(huge(900, 10**4, 10**4, 10**5), tmp_path / "huge.nc", **options)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100 * 2**20
    assert "9 000 000 000 000 000 cells" in str(error.value)
    assert "thin out an axis" in str(error.value)
    assert list(tmp_path.iterdir()) == []


def test_the_refusal_names_the_way_out():
    grid = huge(100, 100, 10, 10**6)
    always = make_plan(grid, evaluation_of(grid), materialize="always")
    assert always.cells > MAX_CELLS
    assert always.configurations < MAX_CONFIGURATIONS
    with pytest.raises(RefusedSize, match="--materialize never"):
        refuse(always, 10**15)
    never = make_plan(grid, evaluation_of(grid), materialize="never")
    refuse(never, 10**15)
    small = make_plan(axes_grid(), evaluation_of(axes_grid()))
    with pytest.raises(RefusedSize, match="another disk"):
        refuse(small, small.stored_bytes // 1_001)
    refuse(small, small.stored_bytes)


def test_within_three_gibibytes_of_address_space_a_huge_grid_is_refused_with_a_sentence(tmp_path):
    script = (
        "import resource\n"
        "resource.setrlimit(resource.RLIMIT_AS, (3 * 2**30, 3 * 2**30))\n"
        "from sweep.api import run, parse_grid\n"
        "from sweep.errors import RefusedSize\n"
        "import sys\n"
        "try:\n"
        "    run(parse_grid(sys.stdin.read(), [('axis', 'chunk=1:1000000:1'), ('axis', 'slots=1:1000000:1')]),"
        " 'huge.nc', materialize='always')\n"
        "except RefusedSize as refused:\n"
        "    print(refused)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        input=base_grid().text,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "1 000 000 000 000 cells" in done.stdout
    assert list(tmp_path.iterdir()) == []
