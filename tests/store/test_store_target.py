"""Which names a result may take, what killed runs leave behind, and a disk that is full."""

import errno
import os
import subprocess
import sys
import threading
from pathlib import Path

import netCDF4
import pytest
from store_cases import small_grid, write_result

from sweep.errors import ResultFault
from sweep.store import ResultWriter, check_target, open_file
from sweep.store.target import disk_sentence


def test_a_result_of_the_same_grid_is_replaced_silently(tmp_path):
    write_result(tmp_path / "r.nc")
    write_result(tmp_path / "r.nc")
    assert os.listdir(tmp_path) == ["r.nc"]


def test_a_result_of_another_grid_needs_force(tmp_path):
    write_result(tmp_path / "r.nc")
    before = (tmp_path / "r.nc").read_bytes()
    with pytest.raises(ResultFault, match=r"r\.nc: holds the result of another grid .* --force"):
        write_result(tmp_path / "r.nc", small_grid(251))
    assert (tmp_path / "r.nc").read_bytes() == before
    write_result(tmp_path / "r.nc", small_grid(251), force=True)
    with open_file(tmp_path / "r.nc") as result:
        assert result.grid == small_grid(251)


def foreign_netcdf(path: Path) -> None:
    with netCDF4.Dataset(path, "w") as dataset:
        dataset.title = "someone's"


def unsealed(path: Path) -> None:
    write_result(path)
    path.write_bytes(path.read_bytes()[:-1])


@pytest.mark.parametrize("make", [Path.touch, lambda path: path.write_text("notes"), foreign_netcdf, unsealed])
def test_any_other_file_needs_force(tmp_path, make):
    target = tmp_path / "r.nc"
    make(target)
    before = target.read_bytes()
    with pytest.raises(ResultFault, match=r"r\.nc: exists and is not a complete sweep result; --force"):
        write_result(target)
    assert target.read_bytes() == before
    write_result(target, force=True)
    assert os.listdir(tmp_path) == ["r.nc"]


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("", "is a folder"),
        ("missing/r.nc", "missing does not exist; create it"),
        ("file/r.nc", "file is not a folder"),
        ("pipe", "is a device or a pipe"),
        ("x" * 300 + ".nc", "File name too long"),
    ],
)
def test_targets_that_cannot_be_files(tmp_path, name, sentence):
    (tmp_path / "file").touch()
    os.mkfifo(tmp_path / "pipe")
    before = sorted(os.listdir(tmp_path))
    with pytest.raises(ResultFault, match=sentence):
        ResultWriter(tmp_path / name, small_grid(), True)
    assert sorted(os.listdir(tmp_path)) == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written(tmp_path):
    tmp_path.chmod(0o555)
    with pytest.raises(ResultFault, match="Permission denied"):
        ResultWriter(tmp_path / "r.nc", small_grid(), False)


def test_a_link_is_followed(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "r.nc").symlink_to(tmp_path / "real" / "r.nc")
    write_result(tmp_path / "r.nc")
    assert (tmp_path / "r.nc").is_symlink()
    assert os.listdir(tmp_path / "real") == ["r.nc"]


def test_odd_names_are_files_too(tmp_path):
    for name in ["a#mode=zarr.nc", "a?b%20.nc", "日本.nc", "[x].nc", " blank "]:
        write_result(tmp_path / name)
        with open_file(tmp_path / name) as result:
            assert result.has("violations")


def test_partial_files_of_dead_runs_are_removed_and_others_kept(tmp_path):
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    for name in [f".r.nc.partial-{dead.pid}", f".r.nc.partial-{os.getpid()}", f".r.nc.partial-{dead.pid}.3"]:
        (tmp_path / name).touch()
    kept = [f".r.nc.partial-{os.getppid()}", f".other.nc.partial-{dead.pid}", ".r.nc.partial-x"]
    for name in kept:
        (tmp_path / name).touch()
    write_result(tmp_path / "r.nc")
    assert sorted(os.listdir(tmp_path)) == sorted([*kept, "r.nc"])


def test_the_check_before_the_run_is_the_same(tmp_path):
    write_result(tmp_path / "r.nc")
    sha256 = small_grid().sha256
    assert check_target(tmp_path / "r.nc", sha256, False) == (tmp_path / "r.nc").resolve()
    with pytest.raises(ResultFault, match="--force"):
        check_target(tmp_path / "r.nc", "0" * 64, False)


FULL = """
import pathlib, resource, sys, threading
sys.path.insert(0, sys.argv[1])
from store_cases import write_result
from sweep.errors import ResultFault
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]),) * 2)
def work():
    try:
        write_result(pathlib.Path(sys.argv[2]))
    except ResultFault as fault:
        print(fault)
if sys.argv[4] == "thread":
    worker = threading.Thread(target=work)
    worker.start()
    worker.join()
else:
    work()
"""


def test_a_full_disk_is_one_sentence_wherever_it_strikes(tmp_path):
    """At the start, in the coordinates, in the values, while closing and in the seal."""
    write_result(tmp_path / "whole.nc")
    size = (tmp_path / "whole.nc").stat().st_size
    (tmp_path / "r").mkdir()
    limits = [0, 500, size // 3, size - 3_000, size - 49, size - 1]
    runs = []
    for number, limit in enumerate(limits):
        where = ["main", "thread"][number % 2]
        arguments = [str(Path(__file__).parent), str(tmp_path / "r" / "r.nc"), str(limit), where]
        command = [sys.executable, "-c", FULL, *arguments]
        runs.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
    for run in runs:
        out, err = run.communicate()
        assert (run.returncode, err) == (0, "")
        assert out.startswith(f"{tmp_path}/r/r.nc: cannot be written")
        assert "File too large" in out
        assert "bytes are free on that disk" in out
        assert out.count("\n") == 1
    assert os.listdir(tmp_path / "r") == []


def test_a_writer_works_in_any_thread(tmp_path):
    worker = threading.Thread(target=write_result, args=(tmp_path / "r.nc",))
    worker.start()
    worker.join()
    with open_file(tmp_path / "r.nc") as result:
        assert result.digest() == result.attrs["results_sha256"]


def test_a_file_that_appears_during_the_run_is_kept(tmp_path):
    grid = small_grid()
    with ResultWriter(tmp_path / "r.nc", grid) as writer:
        (tmp_path / "r.nc").write_text("mine")
        with pytest.raises(ResultFault, match=r"r\.nc: exists and is not a complete"):
            writer.finish({})
    assert os.listdir(tmp_path) == ["r.nc"]
    assert (tmp_path / "r.nc").read_text() == "mine"
    with ResultWriter(tmp_path / "s.nc", grid, force=True) as writer:
        (tmp_path / "s.nc").write_text("mine")
        writer.finish({})
    with open_file(tmp_path / "s.nc") as result:
        assert result.grid == grid


@pytest.mark.parametrize("name", ["x" * 252 + ".nc", "日" * 84 + ".nc"])
def test_the_longest_name_is_a_target_and_its_dead_partials_go(tmp_path, name):
    with ResultWriter(tmp_path / name, small_grid()):
        (partial,) = os.listdir(tmp_path)
    assert len(os.fsencode(partial)) <= 255
    assert os.listdir(tmp_path) == []
    (tmp_path / partial).touch()
    write_result(tmp_path / name)
    assert os.listdir(tmp_path) == [name]


@pytest.mark.parametrize(
    ("number", "advice"),
    [
        (errno.ENAMETOOLONG, "choose a shorter name with -o."),
        (errno.EFBIG, "ulimit -f"),
        (errno.EROFS, "is read-only"),
        (errno.ENOSPC, "free some room"),
    ],
)
def test_the_advice_fits_the_reason(tmp_path, number, advice):
    sentence = disk_sentence(tmp_path / "r.nc", None, OSError(number, os.strerror(number)))
    assert advice in sentence
    assert ("free some room" in sentence) == (number == errno.ENOSPC)
