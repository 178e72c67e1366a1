"""`sweep traffic`: a page of 80 columns, JSON with keys that stay, TOML that a grid takes, and codes of failure."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TRACE = ROOT / "grids" / "trace.csv"
PLAIN = "at,in,out\n0,900,20\n0.25,40,300\n1.5,35,280\n9,0,0\n61,850,25\n"
COLUMNS = ("--columns", "time=at,prompt=in,output=out", "--unit", "s")


@pytest.fixture
def plain(tmp_path):
    path = tmp_path / "plain.csv"
    path.write_text(PLAIN)
    return path


def test_the_page(invoke, plain):
    code, out, err = invoke("traffic", plain.name, *COLUMNS, "--classes", 2, "--level", "mean")
    assert (code, err) == (0, "")
    assert out == (
        """\
plain.csv: CSV trace
4 requests in 61 s. Apart from them, and in no figure below: 1 failed row (0
output tokens) with 0 prompt tokens.

arrivals             requests  seconds  requests/s  starts at
mean                        4       61       0.066
busiest minute              3       60        0.05        0 s
busiest ten seconds         3       10         0.3        0 s
busiest second              2        1           2        0 s
59 of 62 seconds had no request. Bins follow each other from the earliest
request on; rates are rounded up.

tokens  total    mean  p50  p90  p99  max
prompt  1 825  456.25   40  900  900  900
output    625  156.25   25  300  300  300

Requests by prompt tokens (down) and output tokens (across)
tokens        to 31  to 511
32 to 63          -       2
512 to 1 023      2       -

2 classes at the mean, 4 in 61 s
class      requests  prompts of    outputs of  millirps  prompt  output
traffic-1         2  32 to 47      256 to 319        33      38     290
traffic-2         2  768 to 1 023  20 to 27          33     875      23
Prompt and output are the mean of each class; all three figures are rounded up,
so no token and no arrival is lost. TTFT is judged at a class' mean prompt; the
longest has 900 tokens. --toml prints [[class]] tables for a grid.

These figures come from a local fluid capacity model: average flows against
declared capacity. It is not a queueing analysis and not a device benchmark.
"""
    )


def test_every_line_fits_a_page(invoke, tmp_path):
    """Every doubling of both lengths, and numbers as long as they get."""
    rows = "".join(f"{n * 10**6},{2 ** (n % 24)},{2 ** (n // 2 % 24)}\n" for n in range(200))
    (tmp_path / "wide.csv").write_text(f"at,in,out\n{rows}{10**9},9999999,9999999\n")
    for arguments in ((), ("--classes", 64), ("--classes", 9, "--level", "second", "--name", "a" * 60)):
        code, out, _ = invoke("traffic", "wide.csv", *COLUMNS, *arguments)
        assert code == 0
        assert max(map(len, out.splitlines())) <= 80


def test_without_classes_there_are_none(invoke, plain):
    _, out, _ = invoke("traffic", plain.name, *COLUMNS)
    assert "millirps" not in out
    _, out, _ = invoke("traffic", plain.name, *COLUMNS, "--json")
    assert "classes" not in json.loads(out)


def test_json(invoke, plain):
    code, out, _ = invoke("traffic", plain.name, *COLUMNS, "--classes", 1, "--level", "second", "--json")
    document = json.loads(out)
    assert code == 0
    assert document["requests"] == 4
    assert document["failed"] == {"requests": 1, "prompt_tokens": 0}
    assert document["busiest"]["minute"] == {"requests": 3, "seconds": 60, "from_second": 0, "millirps": 50}
    assert document["level"] == "second"
    assert document["classes"] == [
        {
            "class_id": "traffic-1",
            "arrival_millirps": 2000,
            "arrival_rps_exact": "2",
            "prompt_tokens": 457,
            "output_tokens": 157,
            "requests": 4,
            "total_prompt_tokens": 1825,
            "total_output_tokens": 625,
            "prompt_span": [32, 1023],
            "output_span": [20, 319],
        }
    ]
    assert document["claim"].startswith("LOCAL_FLUID_CAPACITY_MODEL")


def test_toml_makes_a_grid_that_runs(invoke, process, tmp_path):
    """The way of the README: facts to tables, tables into a grid, a grid to an answer."""
    grid = (ROOT / "grids" / "h100.toml").read_text(encoding="utf-8")
    code, tables, err = invoke("traffic", TRACE, "--classes", 3, "--level", "ten-seconds", "--toml")
    assert (code, err) == (0, "")
    (tmp_path / "mine.toml").write_text(grid[: grid.index("[[class]]")] + tables + grid[grid.index("[axes]") :])
    done = process("run", "mine.toml", "--json", "--axis", "slots=96", "--axis", "share=900", cwd=tmp_path)
    assert done.returncode == 0
    assert json.loads(done.stdout)["best"]["feasible"]


def test_toml_alone_makes_four_classes_at_the_busiest_minute(invoke):
    _, tables, _ = invoke("traffic", TRACE, "--toml")
    assert tables.count("[[class]]") == 4
    assert "the busiest minute, 65 in 60 s" in tables


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ((), 3, "name its columns with --columns"),
        (("--columns", "time=at,prompt=in,output=out"), 2, "add --unit, one of s, ms, us, ns, clock"),
        (("--columns", "time=at,prompt=in", "--unit", "s"), 2, "output is missing"),
        (("--columns", "time", "--unit", "s"), 2, "--columns time: wanted time="),
        (("--columns", "time=at,time=at", "--unit", "s"), 2, "--columns time=at: wanted time="),
        (("--columns", "time=at,prompt=in,output=tokens", "--unit", "s"), 3, "no column tokens, it has at, in, out"),
        ((*COLUMNS, "--format", "azure"), 2, "--columns: the format azure has its own columns"),
        ((*COLUMNS, "--toml", "--json"), 2, "leave one out"),
        ((*COLUMNS, "--classes", "0"), 2, "0 is not in the range"),
        ((*COLUMNS, "--classes", "2", "--name", "-"), 2, "class name: got"),
        ((*COLUMNS, "--level", "hour"), 2, "is not one of"),
        (("--format", "mooncake"), 3, "its first line is no JSON object"),
        (("--format", "nonsense"), 2, "wanted one of azure, burstgpt, mooncake, csv"),
    ],
)
def test_failures_are_sentences(invoke, plain, arguments, code, message):
    status, out, err = invoke("traffic", plain.name, *arguments)
    assert (status, out) == (code, "")
    assert message in err
    assert all(line.startswith("sweep: ") for line in err.splitlines())


def test_faulty_rows_exit_with_3_and_their_lines(invoke, tmp_path):
    (tmp_path / "bad.csv").write_text(PLAIN + "62,-1,5\nsoon,1,5\n")
    status, out, err = invoke("traffic", "bad.csv", *COLUMNS)
    assert (status, out) == (3, "")
    assert err.splitlines() == [
        'sweep: bad.csv: line 7: in: got "-1", wanted a whole number of tokens from 0 to 10 000 000; correct or remove'
        " the row.",
        'sweep: bad.csv: line 8: at: got "soon", wanted a number of s from 0 on; correct or remove the row.',
    ]


@pytest.mark.skipif(not os.path.exists("/dev/stdin"), reason="this system has no /dev/stdin")
def test_a_pipe(tmp_path):
    def piped(text):
        command = [sys.executable, "-m", "sweep", "traffic", "/dev/stdin", *COLUMNS, "--json"]
        surroundings = {**os.environ, "PYTHONPATH": str(ROOT)}
        return subprocess.run(command, input=text, capture_output=True, text=True, check=False, env=surroundings)

    assert json.loads(piped(PLAIN).stdout)["requests"] == 4
    done = piped("at,in,out\n5,1,1\n4,1,1\n")
    assert done.returncode == 3
    assert "a pipe is read once" in done.stderr


def test_a_bar_on_a_terminal_and_nowhere_else(process, plain):
    pty = pytest.importorskip("pty", reason="no pseudo-terminals on this system")
    ours, theirs = pty.openpty()
    done = process("traffic", plain, *COLUMNS, capture_output=False, stdout=subprocess.PIPE, stderr=theirs)
    shown = os.read(ours, 65_536)
    os.close(theirs)
    os.close(ours)
    assert done.returncode == 0
    assert b"reading" in shown
    assert "reading" not in done.stdout


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--name", "chat"], "--name: goes with --classes or --toml only"),
        (["--level", "second"], "--level: goes with --classes or --toml only"),
        (["--columns", "time=at,prompt=in,output=in"], "in is given for prompt and output; name a column of its own"),
    ],
)
def test_options_that_would_change_nothing_are_refused(invoke, plain, args, words):
    code, out, err = invoke("traffic", plain.name, *COLUMNS, *args)
    assert (code, out) == (2, "")
    assert words in err


def test_help_has_examples(invoke):
    code, out, _ = invoke("traffic", "--help")
    assert code == 0
    assert out.count("sweep traffic ") >= 5
    assert max(map(len, out.splitlines())) <= 80


def test_a_date_of_ten_decimals_says_how_many_are_read(invoke, tmp_path):
    (tmp_path / "fine.csv").write_text(
        "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.9799600001,10,10\n"
    )
    code, out, err = invoke("traffic", "fine.csv")
    assert (code, out) == (3, "")
    assert "at most 9 decimals of a second are read" in err
