"""`sweep diff` on the command line: the page, JSON, CSV, and the exit codes."""

import csv
import json
import shutil

import pytest
from conftest import TINY, run

from sweep.records.wording import CLAIM, CLAIM_SENTENCE

KEYS = [
    "became_feasible",
    "became_infeasible",
    "rejected_to_invalid",
    "invalid_to_rejected",
    "best",
    "capacity",
    "fields",
    "common",
    "regression",
    "claim",
]


def result(folder, name, *options):
    (folder / "tiny.toml").write_text(TINY, encoding="utf-8")
    done = run("run", "tiny.toml", "-q", "-o", name, *options, cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / name


@pytest.fixture(scope="module")
def tight_nc(tmp_path_factory):
    """The tiny grid with a third of the KV memory: what bf16 carries becomes less, fp8 has room."""
    return result(tmp_path_factory.mktemp("tight"), "tight.nc", "--set", "contract.max_kv_bytes='3 GB'")


@pytest.fixture(scope="module")
def replicas_nc(tmp_path_factory):
    """The tiny grid with an axis of its own."""
    return result(tmp_path_factory.mktemp("replicas"), "replicas.nc", "--axis", "replicas=[1, 2]")


def test_a_page_says_what_changed(invoke, tiny_nc, tight_nc):
    code, out, err = invoke("diff", tiny_nc, tight_nc)
    flat = " ".join(out.split())
    assert (code, err) == (0, "")
    for wanted in (
        "18 cells in 6 configurations on both sides: 0 became feasible, 3 became infeasible (feasible",
        "contract.max_kv_bytes 10 000 000 000 3 000 000 000",
        "1.583 times the declared traffic, 2 before (-417 permille).",
        "Of 6 configurations 0 grew, 3 shrank, 3 stayed.",
        "Largest loss:",
        "3 cells became infeasible",
        "kv-capacity",
    ):
        assert wanted in flat, out
    assert out.endswith(f"{CLAIM_SENTENCE}\n")
    assert max(map(len, out.splitlines())) <= 80


def test_json_has_the_stable_keys(invoke, tiny_nc, tight_nc):
    code, out, err = invoke("diff", tiny_nc, tight_nc, "--json")
    answer = json.loads(out)
    assert (code, err) == (0, "")
    assert list(answer) == KEYS
    assert answer["became_infeasible"]["count"] == len(answer["became_infeasible"]["cells"]) == 3
    assert answer["became_infeasible"]["stopped_by"] == [["kv-capacity"]] * 3
    assert list(answer["best"]) == ["old", "new", "common_old", "common_new"]
    assert answer["best"]["old"]["traffic_scale_permille"] == 2_000
    assert answer["fields"] == [{"path": "contract.max_kv_bytes", "old": 10**10, "new": 3 * 10**9}]
    assert (answer["common"]["cells"], answer["common"]["configurations"]) == (18, 6)
    assert answer["claim"] == CLAIM


def test_csv_lists_the_cells_with_axes_codes_and_claim(invoke, tiny_nc, tight_nc):
    code, out, _ = invoke("diff", tiny_nc, tight_nc, "--csv")
    head, *rows = csv.reader(out.splitlines())
    assert code == 0
    assert (head[0], head[-3:]) == ("change", ["traffic_scale_permille", "stopped_by", "claim"])
    assert [row[0] for row in rows] == ["became_infeasible"] * 3
    assert {tuple(row[-2:]) for row in rows} == {("kv-capacity", CLAIM)}


def test_the_same_file_twice_is_no_regression(invoke, tiny_nc):
    code, out, err = invoke("diff", tiny_nc, tiny_nc, "--fail-on-regression")
    assert (code, err) == (0, "")
    assert "Nothing changed: 18 cells" in out
    assert "2 times the declared traffic, as before." in " ".join(out.split())
    answer = json.loads(invoke("diff", tiny_nc, tiny_nc, "--json")[1])
    assert (answer["fields"], answer["regression"]) == ([], False)


@pytest.mark.parametrize("form", [(), ("--json",), ("--csv",)])
def test_a_regression_exits_with_1_after_its_answer(invoke, tiny_nc, tight_nc, form):
    plain = invoke("diff", tiny_nc, tight_nc, *form)[1]
    code, out, err = invoke("diff", tiny_nc, tight_nc, *form, "--fail-on-regression")
    assert (code, out) == (1, plain)
    assert err.startswith(f"sweep: {tight_nc}: 3 cells feasible in {tiny_nc} became infeasible, the first at traffic")
    assert "largest point of the common part shrank, traffic_scale_permille from 2 000 to 1 583" in err
    assert err.count("\n") == 2
    assert invoke("diff", tight_nc, tiny_nc, *form, "--fail-on-regression")[0] == 0


def test_nothing_feasible_any_more(invoke, tiny_nc, none_nc):
    code, out, err = invoke("diff", tiny_nc, none_nc, "--fail-on-regression")
    assert code == 1
    assert "Nothing is feasible any more" in out
    assert "from 2 000 to nothing feasible" in err
    code, out, err = invoke("diff", none_nc, none_nc, "--fail-on-regression")
    assert (code, err) == (0, "")
    assert "Nothing is feasible, before or now." in out
    code, out, _ = invoke("diff", none_nc, tiny_nc)
    assert "before, nothing was feasible" in out


def test_an_axis_of_one_side_is_named_and_fixed(invoke, tiny_nc, replicas_nc):
    code, out, err = invoke("diff", tiny_nc, replicas_nc)
    assert (code, out) == (2, "")
    assert f"axis replicas: only {replicas_nc} has it, with 2 values" in err
    assert "--at replicas=1" in err
    code, out, err = invoke("diff", tiny_nc, replicas_nc, "--at", "replicas=2")
    assert (code, err) == (0, "")
    assert "Axes that only" in out
    assert "replicas = 2." in " ".join(out.split())
    assert max(map(len, out.splitlines())) <= 80


def test_no_common_cell_is_exit_2(invoke, tiny_nc, tmp_path):
    other = result(tmp_path, "other.nc", "--axis", "slots=[17, 33]")
    code, out, err = invoke("diff", tiny_nc, other)
    assert (code, out) == (2, "")
    assert "axis max_active_sequences: no common value" in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("args", [("--csv", "--json"), ("--at", "rank=1"), ("--at", "slots=17"), ("--at", "slots")])
def test_wrong_usage_is_exit_2(invoke, tiny_nc, args):
    code, out, err = invoke("diff", tiny_nc, tiny_nc, *args)
    assert (code, out) == (2, "")
    assert err.startswith("sweep: ")


def test_a_missing_or_altered_file_is_exit_4(invoke, tiny_nc, tmp_path):
    assert invoke("diff", tiny_nc, "none.nc")[0] == 4
    shutil.copy(tiny_nc, tmp_path / "cut.nc")
    with (tmp_path / "cut.nc").open("r+b") as file:
        file.truncate(2_000)
    code, out, err = invoke("diff", "cut.nc", tiny_nc)
    assert (code, out) == (4, "")
    assert "cut.nc" in err


def test_help_fits_and_says_what_is_counted(invoke):
    code, out, _ = invoke("diff", "--help")
    assert code == 0
    assert max(map(len, out.splitlines())) <= 80
    assert "rejected to invalid" in out


def test_slo_puts_both_results_under_one_bound(tmp_path, tight_nc, tiny_nc):
    (tmp_path / "o").mkdir()
    (tmp_path / "n").mkdir()
    old = result(tmp_path / "o", "old.nc", "--set", "contract.max_ttft_ms=200")
    tight = ("--set", "contract.max_kv_bytes='3 GB'", "--set", "contract.max_ttft_ms=200")
    new = result(tmp_path / "n", "new.nc", *tight)

    asked = json.loads(run("diff", str(tiny_nc), str(tight_nc), "--slo", "max_ttft_ms=200", "--json").stdout)
    fresh = json.loads(run("diff", str(old), str(new), "--json").stdout)

    assert asked.pop("slo") == {"max_ttft_ms": 200}
    assert asked == fresh
