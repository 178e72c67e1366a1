"""`sweep region`: maps that fit, tables, JSON, CSV."""

import csv
import io
import json

import pytest
from test_cli_terminal import on_terminal

from sweep.records.wording import CLAIM, CLAIM_SENTENCE


def test_a_map_in_words(invoke, tiny_nc):
    code, out, err = invoke("region", tiny_nc, "--x", "slots", "--y", "precision", "--at", "traffic=1000")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "Within, rejected or invalid: slots across, precision down"
    assert lines[1].split() == ["16", "32", "48"]
    assert lines[2].split()[-3:] == ["-", "+", "*"]
    assert lines[3].split()[-3:] == ["-", "+", "+"]
    assert "Largest feasible point: traffic_scale_permille = 1 000" in out
    assert out.endswith(f"{CLAIM_SENTENCE}\n")


def test_limits_by_letters_with_a_legend(invoke, tiny_nc):
    code, out, _ = invoke("region", tiny_nc, "--x", "traffic", "--y", "slots", "--show", "limit")
    assert code == 0
    rows = [line.split() for line in out.splitlines()[2:5]]
    assert rows == [["16", "s", "S", "S"], ["32", "s", "s", "S"], ["48", "s", "s", "*"]]
    assert "S  breaks active-sequence-capacity" in out
    assert "s  within; one permille more traffic breaks active-sequence-capacity" in out


def test_capacities_and_slack_as_numbers(invoke, tiny_nc):
    out = invoke("region", tiny_nc, "--x", "slots", "--y", "precision", "--show", "capacity")[1]
    assert [line.split("666")[-1].split() for line in out.splitlines()[2:4]] == [
        ["1", "333", "2", "000*"],
        ["1", "333", "2", "000"],
    ]
    slack = invoke("region", tiny_nc, "--x", "traffic", "--y", "slots", "--show", "slack:max_active_sequences")[1]
    assert "Slack of max_active_sequences" in slack
    assert "-8" in slack
    assert (
        slack
        == invoke(
            "region", tiny_nc, "--x", "traffic", "--y", "slots", "--show", "slack", "--bound", "max_active_sequences"
        )[1]
    )


def test_open_axes_are_said_to_come_from_the_largest_point(invoke, tiny_nc):
    out = " ".join(invoke("region", tiny_nc, "--x", "slots", "--y", "share")[1].split())
    assert "Left open and filled in: precision, traffic, from the largest feasible point" in out
    assert "--at traffic=1000 asks about the declared traffic" in out
    assert "Left open" not in invoke("region", tiny_nc, "--x", "slots", "--y", "precision", "--at", "traffic=900")[1]


def test_nothing_feasible(invoke, none_nc):
    code, out, _ = invoke("region", none_nc, "--x", "slots", "--y", "precision", "--show", "limit")
    assert code == 0
    assert "Nothing is feasible here" in out
    assert "breaks time-to-first-token" in out


def test_json_and_csv_have_every_value(invoke, tiny_nc):
    args = ("region", tiny_nc, "--x", "slots", "--y", "precision", "--at", "traffic=1000", "--show", "limit")
    answer = json.loads(invoke(*args, "--json")[1])
    assert answer["labels"]["max_active_sequences"] == [16, 32, 48]
    assert answer["values"] == [[2, 2, 2], [2, 2, 2]]
    assert answer["verdict"] == [["rejected", "within", "within"]] * 2
    assert answer["codes"] == {"2": ["active-sequence-capacity"]}
    assert answer["claim"] == CLAIM
    table = list(csv.DictReader(io.StringIO(invoke(*args, "--csv")[1])))
    assert len(table) == 6
    assert [row["limit"] for row in table] == ["2"] * 6
    assert table[0]["codes"] == "active-sequence-capacity"
    assert {row["claim"] for row in table} == {CLAIM}
    assert {row["traffic_scale_permille"] for row in table} == {"1000"}


def test_capacity_has_no_traffic(invoke, tiny_nc):
    args = ("region", tiny_nc, "--x", "slots", "--y", "precision", "--show", "capacity")
    answer = json.loads(invoke(*args, "--json")[1])
    assert answer["values"] == [[666, 1_333, 2_000]] * 2
    assert "traffic_scale_permille" not in answer["at"]
    code, out, err = invoke(*args, "--at", "traffic=1000")
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert "leave the traffic out" in err


def test_a_long_axis_is_thinned_out_and_says_so(invoke, h100):
    folder, _ = h100
    for show in ("verdict", "capacity", "limit"):
        at = () if show == "capacity" else ("--at", "traffic=1000")
        out = invoke("region", folder / "h100.nc", "--x", "slots", "--y", "share", "--show", show, *at)[1]
        assert max(map(len, out.splitlines())) <= 80
        assert "every 2nd of 80 values of share" in out
        assert "*" in out
        rows = [line.split()[0] for line in out.split("\n\n")[0].splitlines()[2:]]
        assert rows[0] in ("600", "|")
        assert rows[-1] == "995"
    numbers = invoke("region", folder / "h100.nc", "--x", "slots", "--y", "share", "--show", "capacity")[1]
    assert "of 61 values of slots" in numbers
    head = numbers.splitlines()[1].split()
    assert (head[0], head[-1]) == ("16", "256")
    assert "100" in head, "the largest point's own value is shown"


@pytest.mark.parametrize("columns", [40, 60, 100, 200])
def test_a_map_fits_the_terminal_whatever_its_width(h100, columns):
    folder, _ = h100
    env = {"COLUMNS": str(columns), "LINES": "30", "NO_COLOR": "1"}
    for show in ("limit", "capacity"):
        at = () if show == "capacity" else ("--at", "traffic=1000")
        shown = on_terminal("region", folder / "h100.nc", "--x", "slots", "--y", "share", "--show", show, *at, env=env)
        assert "\x1b" not in shown
        assert max(map(len, shown.splitlines())) <= columns
        assert len(shown.split("cells of the slice")[0].splitlines()) <= 30


def test_colours_on_a_terminal_only(tiny_nc, process):
    args = ("region", tiny_nc, "--x", "slots", "--y", "precision", "--at", "traffic=1000")
    assert "\x1b[32m" in on_terminal(*args)
    assert "\x1b" not in on_terminal(*args, env={"NO_COLOR": "1"})
    assert "\x1b" not in process(*args).stdout


def test_the_map_is_ascii_in_any_encoding(tiny_nc, process):
    args = ("region", tiny_nc, "--x", "slots", "--y", "share", "--show", "limit", "--at", "traffic=1000")
    plain = process(*args, env={"PYTHONIOENCODING": "ascii"})
    assert plain.returncode == 0
    assert plain.stdout.isascii()
    assert plain.stdout.splitlines()[2] == process(*args).stdout.splitlines()[2]


def test_a_grid_file_is_asked_without_a_result(invoke, tiny, tiny_nc):
    args = ("--x", "slots", "--y", "precision", "--show", "capacity", "--json")
    assert invoke("region", tiny, *args)[1] == invoke("region", tiny_nc, *args)[1]
    changed = json.loads(invoke("region", tiny, *args, "--axis", "slots=[24, 25]")[1])
    assert changed["values"] == [[1_000, 1_041]] * 2


@pytest.mark.parametrize(
    "args",
    [
        ["--x", "slots", "--y", "slots"],
        ["--x", "slots", "--y", "nowhere"],
        ["--x", "slots"],
        ["--x", "slots", "--y", "share", "--bound", "max_ttft_ms"],
        ["--x", "slots", "--y", "share", "--show", "slack"],
        ["--x", "slots", "--y", "share", "--csv", "--json"],
        ["--x", "slots", "--y", "share", "--at", "slots=16"],
        ["--x", "slots", "--y", "share", "--slo", "max_ttft_ms"],
    ],
)
def test_wrong_questions_exit_with_2(invoke, tiny_nc, args):
    code, out, err = invoke("region", tiny_nc, *args)
    assert (code, out) == (2, "")
    assert err.startswith("sweep: ")


def test_a_slice_that_is_too_large_is_refused(invoke, tiny):
    axes = ("--axis", "slots=1:1000000:1", "--axis", "traffic=1:1000000:1")
    code, out, err = invoke("region", tiny, "--x", "slots", "--y", "traffic", *axes)
    assert (code, out) == (3, "")
    assert "1 000 000 by 1 000 000 cells" in err
