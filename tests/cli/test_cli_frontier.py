"""`sweep frontier`: the Pareto set as a table, JSON, CSV."""

import csv
import io
import json

import pytest

from sweep.records.wording import CLAIM, CLAIM_SENTENCE


def test_a_table_with_the_axes_that_differ(invoke, tiny_nc):
    code, out, err = invoke("frontier", tiny_nc, "--maximize", "traffic", "--minimize", "slots")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "Frontier: maximize traffic_scale_permille, minimize max_active_sequences"
    assert "3 points that none of 12 feasible cells beats" in out
    table = [line.split() for line in out.split("\n\n")[1].splitlines()]
    assert table == [
        ["slots", "traffic", "cells"],
        ["48", "1", "500", "2"],
        ["32", "1", "000", "2"],
        ["16", "500", "2"],
    ]
    assert out.endswith(f"{CLAIM_SENTENCE}\n")


def test_json_keys_and_the_order_typed(invoke, tiny_nc):
    answer = json.loads(
        invoke("frontier", tiny_nc, "--minimize", "slots", "--maximize", "traffic,peak_kv_bytes", "--json")[1]
    )
    assert list(answer) == ["objectives", "points", "total", "feasible_cells", "claim"]
    assert [one["name"] for one in answer["objectives"]] == [
        "max_active_sequences",
        "traffic_scale_permille",
        "peak_kv_bytes",
    ]
    assert list(answer["points"][0]) == ["point", "report", "count", "values"]
    first = answer["points"][0]
    assert first["values"][1] == first["point"]["traffic_scale_permille"] == 1_500
    assert first["report"]["claim"] == CLAIM


def test_default_objectives(invoke, tiny_nc):
    answer = json.loads(invoke("frontier", tiny_nc, "--json")[1])
    assert [(one["sense"], one["name"]) for one in answer["objectives"]] == [
        ("maximize", "traffic_scale_permille"),
        ("minimize", "estimated_worst_ttft_ms"),
        ("minimize", "estimated_tpot_ms"),
    ]


def test_csv_has_axes_figures_count_and_claim(invoke, tiny_nc):
    table = list(csv.DictReader(io.StringIO(invoke("frontier", tiny_nc, "--csv")[1])))
    answer = json.loads(invoke("frontier", tiny_nc, "--json")[1])
    assert len(table) == answer["total"]
    for row, point in zip(table, answer["points"], strict=True):
        assert row["precision"] == point["point"]["precision"]
        assert int(row["count"]) == point["count"]
        assert int(row["estimated_tpot_ms"]) == point["report"]["estimated_tpot_ms"]
        assert row["claim"] == CLAIM


def test_a_bound_that_varies_is_an_objective_and_a_column(invoke, tiny):
    axis = ("--axis", "contract.max_tpot_ms=[25, 30, 35]")
    args = ("frontier", tiny, *axis, "--minimize", "bound_max_tpot_ms", "--maximize", "traffic", "--csv")
    table = list(csv.DictReader(io.StringIO(invoke(*args)[1])))
    assert [row["bound_max_tpot_ms"] for row in table] == ["25"]


def test_the_limit_leaves_the_rest_as_a_number(invoke, tiny_nc):
    args = ("frontier", tiny_nc, "--maximize", "traffic", "--minimize", "slots", "--limit", "1")
    out = invoke(*args)[1]
    assert "2 more points" in out
    assert "--limit 3 lists all" in out
    answer = json.loads(invoke(*args, "--json")[1])
    assert (len(answer["points"]), answer["total"]) == (1, 3)


def test_nothing_feasible_is_an_answer(invoke, none_nc):
    code, out, _ = invoke("frontier", none_nc)
    assert code == 0
    assert "Nothing is feasible" in out
    assert json.loads(invoke("frontier", none_nc, "--json")[1])["total"] == 0
    assert invoke("frontier", none_nc, "--csv")[1].count("\n") == 1


@pytest.mark.parametrize(
    "args",
    [
        ["--maximize", "precision"],
        ["--maximize", "nowhere"],
        ["--minimize", "slots,"],
        ["--minimize", "slots", "--maximize", "slots"],
        ["--limit", "0"],
        ["--at", "slots=17"],
        ["--csv", "--json"],
    ],
)
def test_wrong_questions_exit_with_2(invoke, tiny_nc, args):
    code, out, err = invoke("frontier", tiny_nc, *args)
    assert (code, out) == (2, "")
    assert err.startswith("sweep: ")


def test_h100(invoke, h100):
    folder, _ = h100
    answer = json.loads(invoke("frontier", folder / "h100.nc", "--limit", "5", "--json")[1])
    assert (answer["total"], answer["feasible_cells"], len(answer["points"])) == (113, 194_535, 5)
    at = json.loads(invoke("frontier", folder / "h100.nc", "--at", "traffic=1451", "--json")[1])
    assert {point["point"]["traffic_scale_permille"] for point in at["points"]} == {1_451}
