"""Every failure: one sentence on stderr, the right exit code, nothing else."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sweep import api
from sweep.errors import SelfCheckFault

ROOT = Path(__file__).parents[2]


def _lines(err):
    lines = err.splitlines()
    assert lines
    assert all(line.startswith("sweep: ") for line in lines)
    return lines


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["bst"], "Did you mean 'best'?"),
        (["run"], "Missing argument 'GRID.toml'. Try 'sweep run --help'."),
        (["run", "x.toml", "--fore"], "--force"),
        (["run", "x.toml", "--store", "some"], "'some' is not one of"),
        (["best", "x.nc", "--top", "0"], "--top"),
        (["best", "x.nc", "--csv", "--json"], "--csv and --json"),
        (["best", "x.nc", "--maximize", "slots,"], "take out the empty one"),
        (["verify", "x.nc", "--all", "--sample", "5"], "--all and --sample"),
        (["completion", "tcsh"], "'tcsh' is not one of"),
    ],
)
def test_wrong_usage_is_one_line_with_a_hint(invoke, args, words):
    code, out, err = invoke(*args)
    assert (code, out) == (2, "")
    assert len(_lines(err)) == 1
    assert words in err


def test_no_command_shows_the_help(invoke):
    code, out, err = invoke()
    assert (code, out) == (2, "")
    assert "Commands:" in err


@pytest.mark.parametrize("at", ["slots", "=3", "slots="])
def test_at_wants_axis_and_value(invoke, tiny_nc, at):
    code, out, err = invoke("best", tiny_nc, "--at", at)
    assert (code, out) == (2, "")
    assert "wanted axis=value" in err


def test_all_faults_of_at_come_at_once(invoke, tiny_nc):
    code, _, err = invoke("best", tiny_nc, "--at", "slots=17", "--at", "nope=1")
    assert code == 2
    assert len(_lines(err)) == 2


def test_an_axis_fixed_twice(invoke, tiny_nc):
    code, _, err = invoke("best", tiny_nc, "--at", "slots=16", "--at", "slots=32")
    assert code == 2
    assert "fixed twice" in err


def test_unknown_objective(invoke, tiny_nc):
    code, _, err = invoke("best", tiny_nc, "--minimize", "latency")
    assert code == 2
    assert "latency" in _lines(err)[0]


@pytest.mark.parametrize("command", ["best", "explain", "verify", "info"])
@pytest.mark.parametrize("kind", ["missing", "folder", "text", "cut"])
def test_a_bad_result_file_exits_with_4(invoke, tiny_nc, tmp_path, command, kind):
    target = tmp_path / "bad.nc"
    if kind == "folder":
        target.mkdir()
    elif kind == "text":
        target.write_text("not a result")
    elif kind == "cut":
        target.write_bytes(tiny_nc.read_bytes()[:-100])
    code, out, err = invoke(command, "bad.nc")
    assert (code, out) == (4, "")
    assert "bad.nc" in _lines(err)[0]


@pytest.mark.parametrize("command", ["run", "explain"])
def test_a_bad_grid_exits_with_3(invoke, tmp_path, command):
    code, out, err = invoke(command, "none.toml")
    assert (code, out) == (3, "")
    assert len(_lines(err)) == 1
    (tmp_path / "bad.toml").write_text("[sweep]\nnam = 1\n")
    code, out, err = invoke(command, "bad.toml")
    assert (code, out) == (3, "")
    assert len(_lines(err)) > 3  # every fault at once


def test_control_characters_of_a_name_do_not_reach_the_terminal(invoke):
    code, _, err = invoke("best", "a\x1b[31m\n\u202eb.nc")
    assert code == 4
    assert len(_lines(err)) == 1
    assert "\x1b" not in err
    assert "\\x1b[31m\\n\\u202e" in err


def test_a_foreign_file_is_kept(invoke, tiny, tmp_path):
    (tmp_path / "tiny.nc").write_text("mine")
    code, out, err = invoke("run", tiny)
    assert (code, out) == (4, "")
    assert "--force" in err
    assert (tmp_path / "tiny.nc").read_text() == "mine"
    assert invoke("run", tiny, "--force")[0] == 0


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (SelfCheckFault("kernel 1, reference 2"), 5, "sweep: kernel 1, reference 2\n"),
        (KeyboardInterrupt(), 130, "sweep: interrupted; no file was written\n"),
    ],
)
def test_self_check_and_interrupt(invoke, tiny, monkeypatch, error, code, words):
    def fail(*_):
        raise error

    monkeypatch.setattr(api, "run", fail)
    assert invoke("run", tiny) == (code, "", words)


def test_an_interrupt_after_the_file_says_that_it_is_complete(invoke, tiny, monkeypatch):
    def fail(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("sweep.report.run.run_page", fail)
    assert invoke("run", tiny) == (130, "", "sweep: interrupted; tiny.nc is complete\n")


def test_a_bug_keeps_its_traceback(invoke, tiny, monkeypatch):
    def fail(*_):
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(api, "run", fail)
    with pytest.raises(ZeroDivisionError, match="a bug"):
        invoke("run", tiny)


def test_exit_code_of_a_process(process, none_nc):
    assert process("best", none_nc, "--require").returncode == 1
    assert process("best", "nowhere.nc").returncode == 4
    assert process("nowhere").returncode == 2


def test_a_reader_that_leaves_is_no_error(tiny_nc):
    command = [sys.executable, "-m", "sweep", "best", str(tiny_nc)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as child:
        child.stdout.close()
        err = child.stderr.read()
        code = child.wait(60)
    assert (code, err) == (141, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
@pytest.mark.parametrize("flags", [[], ["--json"], ["--csv"]])
def test_a_full_disk_under_stdout(process, tiny_nc, flags):
    with Path("/dev/full").open("w") as full:
        done = process("best", tiny_nc, *flags, capture_output=False, stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 4
    assert len(_lines(done.stderr)) == 1
    assert "standard output" in done.stderr


def test_an_encoding_without_the_characters_is_no_error(process, tiny):
    done = process("run", tiny, cwd=tiny.parent, env={"PYTHONIOENCODING": "ascii"})
    assert (done.returncode, done.stderr) == (0, "")
    assert "tiny [red]\\u540d[/red]" in done.stdout


@pytest.mark.parametrize(
    ("sent", "code", "word"),
    [
        ([signal.SIGINT], 130, "interrupted"),
        ([signal.SIGINT] * 3, 130, "interrupted"),
        ([signal.SIGTERM], 143, "terminated"),
        ([signal.SIGHUP, signal.SIGINT], 129, "hung up"),
    ],
    ids=["ctrl-c", "three", "term", "hup"],
)
def test_a_signal_leaves_no_file(tiny, sent, code, word):
    """86 million configurations take the better part of a minute; the signal comes once the writer has begun."""
    folder = tiny.parent
    axes = (
        "--axis",
        "traffic=1:100_000:1",
        "--axis",
        "share=1:999:1",
        "--axis",
        "slots=1:90:1",
        "--axis",
        "chunk=1:480:1",
    )
    command = [sys.executable, "-m", "sweep", "run", "tiny.toml", "--materialize", "never", *axes]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as child:
        until = time.monotonic() + 60
        while len(list(folder.iterdir())) < 2 and child.poll() is None and time.monotonic() < until:
            time.sleep(0.02)
        for number in sent:
            child.send_signal(number)
            time.sleep(0.005)
        out, err = child.communicate(timeout=60)
    assert (child.returncode, out, err) == (code, "", f"sweep: {word}; no file was written\n")
    assert [path.name for path in folder.iterdir()] == ["tiny.toml"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
@pytest.mark.parametrize("args", [["--help"], ["run", "--help"], ["--version"]])
def test_help_into_a_full_disk(process, args):
    with Path("/dev/full").open("w") as full:
        done = process(*args, capture_output=False, stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 4
    assert len(_lines(done.stderr)) == 1
    assert "standard output: cannot be written" in done.stderr


def test_too_little_memory_is_one_sentence(invoke, tiny, monkeypatch):
    def fail(*_):
        raise MemoryError

    monkeypatch.setattr(api, "run", fail)
    code, out, err = invoke("run", tiny)
    assert (code, out) == (3, "")
    assert len(_lines(err)) == 1
    assert "not enough memory" in err


@pytest.mark.parametrize("name", ["tiny.toml", "link.nc", "folder/../tiny.toml"])
@pytest.mark.parametrize("flags", [[], ["--force"], ["--dry-run"]])
def test_the_grid_file_is_no_target(invoke, tiny, name, flags):
    (tiny.parent / "folder").mkdir()
    (tiny.parent / "link.nc").symlink_to(tiny)
    before = tiny.read_bytes()
    code, out, err = invoke("run", "tiny.toml", "-o", name, *flags)
    assert (code, out, tiny.read_bytes()) == (2, "", before)
    assert "is the grid file itself" in _lines(err)[0]


def test_set_and_axis_want_an_equals_sign(invoke, tiny):
    for command in ("run", "best"):
        code, out, err = invoke(command, tiny, "--set", "foo", "--axis", "bar")
        assert (code, out) == (2, "")
        assert [line.split(":")[1] for line in _lines(err)] == [" --set foo", " --axis bar"]
    assert invoke("run", tiny, "--set", "max_ttft_ms=x")[0] == 3


def test_a_grid_from_a_pipe(process, tiny):
    text = tiny.read_text(encoding="utf-8")
    done = process("best", "/dev/stdin", "--json", input=text)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == process("best", tiny, "--json").stdout


def test_ascii_pages_have_words_for_signs_and_straight_columns(process, tiny):
    plain = {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    for args in (["best", tiny], ["explain", tiny], ["best", tiny, "--set", "max_ttft_ms=50"]):
        whole = process(*args, env={"PYTHONIOENCODING": "utf-8"}).stdout
        shown = process(*args, env=plain).stdout
        assert shown.isascii()
        assert "\\u" not in shown.replace("\\u540d", "")  # of the grid's name
        assert max(map(len, shown.splitlines())) <= max(80, *map(len, whole.splitlines()))
        if "‰" in whole:
            assert "permille" in shown
