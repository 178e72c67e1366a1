"""`sweep simulate`: a point beside its audit, four ways, the reference policy, rows, sweeps that survive a kill."""

import csv
import json

import netCDF4
import numpy as np
import pytest

from sweep.grid import load_grid
from sweep.records.wording import CLAIM_SENTENCE
from sweep.simulate import over
from sweep.simulate.serve import Row

GRID = "grids/h100.toml"
FEW = ("--requests", "150")
KEYS = ["point", "arrivals", "serving", "agreement", "audit_within", "simulated_within", "at", "strict_permille"]
KEYS += ["checks", "summary", "claim"]


@pytest.fixture
def h100_grid(pytestconfig):
    return str(pytestconfig.rootpath / GRID)


@pytest.fixture
def ask(invoke, h100_grid):
    return lambda *args: invoke("simulate", h100_grid, *args)


def test_a_page_puts_every_bound_beside_what_was_seen(ask):
    code, out, err = ask(*FEW)
    assert (code, err) == (0, "")
    assert max(map(len, out.splitlines())) <= 80
    for wanted in ("150 requests, Poisson, seed 1", "max_queue_delay_ms", "verdict", "Goodput", "Occupancy", "bound: "):
        assert wanted in out
    assert out.endswith(f"{CLAIM_SENTENCE}\n") or CLAIM_SENTENCE.split(":")[0] in out


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(ask):
    first, again, other = (ask(*FEW, "--json", "--seed", seed)[1] for seed in ("7", "7", "8"))
    assert first == again
    assert first != other
    assert list(json.loads(first)) == KEYS


def test_at_takes_another_point_and_what_is_over_its_bound_is_named(ask):
    answer = json.loads(ask(*FEW, "--json", "--at", "slots=32", "--at", "traffic=1400", "--shape", "1/8")[1])
    assert answer["point"]["max_active_sequences"] == 32
    assert answer["point"]["traffic_scale_permille"] == 1400
    broken = {check["bound"]: check for check in answer["checks"] if check["verdict"] == "broken"}
    assert "max_queue_delay_ms" in broken
    assert broken["max_queue_delay_ms"]["broken"][0].keys() == {"request_id", "at_ns", "value"}


def test_an_invalid_point_has_no_server(ask):
    code, _, err = ask("--at", "share=600", "--at", "chunk=1024", "--at", "slots=256", "--at", "traffic=50")
    assert code == 2
    assert "invalid by chunk-exceeds-iteration-service" in err


def test_rows_are_the_same_as_csv_and_netcdf(ask, tmp_path):
    assert ask(*FEW, "--rows", "rows.csv")[0] == 0
    assert ask(*FEW, "--rows", "rows.nc")[0] == 0
    with (tmp_path / "rows.csv").open(newline="") as stream:
        read = list(csv.DictReader(stream))
    with netCDF4.Dataset(tmp_path / "rows.nc") as file:
        file.set_auto_maskandscale(False)
        assert len(read) == file.dimensions["request"].size == 150
        for name in Row._fields:
            assert [str(value) for value in file[name][:]] == [row[name] for row in read], name
        assert json.loads(file.simulated)["arrivals"]["seed"] == 1
        assert file["ttft" if "ttft" in file.variables else "first_token_ns"].units == "ns"


def test_rows_never_replace_a_file_unasked(ask, tmp_path):
    (tmp_path / "rows.csv").write_text("mine")
    assert ask(*FEW, "--rows", "rows.csv")[0] == 4
    assert (tmp_path / "rows.csv").read_text() == "mine"
    assert ask(*FEW, "--rows", "rows.csv", "--force")[0] == 0
    assert ask(*FEW, "--rows", "rows.txt")[0] == 2


OVER = (*FEW, "--over", "slots=64,100", "--over", "traffic=900,1452,3000", "--at", "share=900", "--at", "chunk=512")


def test_a_sweep_holds_what_each_simulation_says(ask, tmp_path, h100_grid):
    code, out, _ = ask(*OVER, "--jobs", "1", "--json")
    told = json.loads(out)
    assert code == 0
    assert sum(told["points"].values()) == 6
    assert not list(tmp_path.glob("*.journal"))
    with netCDF4.Dataset(tmp_path / "h100.simulated.nc") as file:
        file.set_auto_maskandscale(False)
        assert file["ttft_p99_ns"].dimensions == ("max_active_sequences", "traffic_scale_permille")
        assert file.grid_sha256 == load_grid(h100_grid).sha256
        for i, slots in enumerate((64, 100)):
            for j, traffic in enumerate((900, 1452, 3000)):
                place = (
                    "--at",
                    "share=900",
                    "--at",
                    "chunk=512",
                    "--at",
                    f"slots={slots}",
                    "--at",
                    f"traffic={traffic}",
                )
                alone = json.loads(ask(*FEW, *place, "--json")[1])
                assert over.AGREEMENTS[int(file["agreement"][i, j])] == alone["agreement"]
                assert int(file["ttft_p99_ns"][i, j]) == alone["summary"]["ttft_ns"]["p99"]
                assert int(file["good"][i, j]) == alone["summary"]["good"]


def test_a_killed_sweep_goes_on_and_gives_the_same_bytes(ask, tmp_path, monkeypatch):
    assert ask(*OVER, "--jobs", "1", "-o", "whole.nc")[0] == 0
    real, calls = over.simulate_spot, []

    def dies(*args):
        if len(calls) == 3:
            raise KeyboardInterrupt
        calls.append(args)
        return real(*args)

    monkeypatch.setattr(over, "simulate_spot", dies)
    assert ask(*OVER, "--jobs", "1", "-o", "parts.nc")[0] == 130
    assert not (tmp_path / "parts.nc").exists()
    monkeypatch.setattr(over, "simulate_spot", real)
    code, _, err = ask(*OVER, "--jobs", "1", "-o", "parts.nc")
    assert code == 4
    assert "--resume goes on with it" in err
    with (tmp_path / "parts.nc.journal").open("a") as stream:
        stream.write('{"spot":5,"figu')  # what a kill leaves of a line
    assert ask(*OVER, "--jobs", "1", "-o", "parts.nc", "--resume")[0] == 0
    assert (tmp_path / "parts.nc").read_bytes() == (tmp_path / "whole.nc").read_bytes()


def test_a_journal_of_another_sweep_is_refused(ask, tmp_path):
    (tmp_path / "h100.simulated.nc.journal").write_text('{"ask":"0","spots":6}\n')
    code, _, err = ask(*OVER, "--jobs", "1", "--resume")
    assert code == 4
    assert "is of another sweep" in err


@pytest.mark.slow
def test_processes_give_the_bytes_of_one(ask, tmp_path):
    for jobs in ("1", "2"):
        assert ask(*OVER, "--jobs", jobs, "-o", f"{jobs}.nc")[0] == 0
    assert (tmp_path / "1.nc").read_bytes() == (tmp_path / "2.nc").read_bytes()


def test_a_trace_is_sped_up_by_the_traffic_scale(ask, pytestconfig):
    trace = str(pytestconfig.rootpath / "grids/trace.csv")
    spans = []
    for scale in ("500", "1000"):
        told = json.loads(ask("--trace", trace, "--json", "--at", f"traffic={scale}")[1])
        assert told["arrivals"]["trace"] == "trace.csv"
        assert told["summary"]["arrived"] == 146
        spans.append(told["summary"]["span_ns"])
    assert spans[0] > spans[1] * 3 // 2


def test_four_ways_on_one_memory(ask):
    tight = ("--at", "traffic=1000", "--max-sequence", "131072", "--set", "contract.max_kv_bytes=40_000_000_000")
    told = json.loads(ask("--requests", "400", "--compare", "--json", *tight)[1])
    tokens = {}
    for way in told["ways"]:
        ratio = way["summary"]["output_tokens_per_second"].split("/")
        tokens[way["batching"], way["cache"]] = np.divide(*map(int, [*ratio, "1"][:2]))
    assert tokens["continuous", "paged"] > tokens["continuous", "contiguous"]
    assert tokens["continuous", "paged"] > tokens["static", "paged"] > 0
    assert ask("--requests", "50", "--compare")[0] == 0


def test_the_reference_policy_says_how_it_ends(ask):
    assert "Completed after" in ask("--reference", *FEW)[1]
    small = ("--set", "contract.max_kv_bytes=16_777_216", "--at", "share=950", "--at", "chunk=128")
    code, out, _ = ask("--reference", "--requests", "20", "--json", *small)
    assert code == 0
    assert json.loads(out)["outcome"] == "unservable"


@pytest.mark.parametrize(
    ("args", "wanted"),
    [
        (("--compare", "--reference"), "different questions"),
        (("--over", "slots=63"), "no value"),
        (("--over", "nothing=1"), "no axis"),
        (("--over", "slots=64", "--at", "slots=64"), "given twice"),
        (("--resume",), "belongs to --over"),
        (("--unit", "ms"), "belongs to --trace"),
        (("--duration", "5"), "--duration 5: write"),
        (("--shape", "0"), "shape"),
        (("--rows", "r.csv", "--compare"), "--rows"),
    ],
)
def test_what_does_not_fit_together_is_said_in_a_sentence(ask, args, wanted):
    code, _, err = ask(*args)
    assert code == 2
    assert wanted in err


def test_run_simulates_its_best_points(invoke, h100_grid):
    args = ("run", h100_grid, "--axis", "slots=96,100", "--axis", "traffic=1000", "--simulate-best", "2")
    args = tuple("slots=[96, 100]" if arg == "slots=96,100" else arg for arg in args)
    _, out, _ = invoke(*args)
    assert "The best points, simulated" in out
    told = json.loads(invoke(*args, "--json")[1])
    assert len(told["simulated"]) == 2


def test_what_the_output_is_made_from_is_never_replaced(invoke, h100_grid, tmp_path, pytestconfig):
    text = (pytestconfig.rootpath / "grids/trace.csv").read_text()
    (tmp_path / "trace.csv").write_text(text)
    code, _, err = invoke("simulate", h100_grid, "--trace", "trace.csv", "--rows", "trace.csv", "--force")
    assert code == 2
    assert "what the output is made from" in err
    assert (tmp_path / "trace.csv").read_text() == text


def test_a_sweep_does_not_go_on_with_another_trace_of_the_same_name(
    invoke, h100_grid, tmp_path, pytestconfig, monkeypatch
):
    lines = (pytestconfig.rootpath / "grids/trace.csv").read_text().splitlines(keepends=True)
    (tmp_path / "trace.csv").write_text("".join(lines))
    real, calls = over.simulate_spot, []

    def dies(*args):
        if calls:
            raise KeyboardInterrupt
        calls.append(args)
        return real(*args)

    args = ("simulate", h100_grid, "--trace", "trace.csv", "--over", "traffic=900,1200", "--jobs", "1", "-o", "s.nc")
    monkeypatch.setattr(over, "simulate_spot", dies)
    assert invoke(*args)[0] == 130
    monkeypatch.setattr(over, "simulate_spot", real)
    (tmp_path / "trace.csv").write_text("".join(lines[:50]))
    code, _, err = invoke(*args, "--resume")
    assert code == 4
    assert "is of another sweep" in err


def test_nothing_simulated_is_no_agreement(ask):
    code, _, err = ask("--duration", "1ns")
    assert code == 6
    assert "no request arrived" in err


def test_a_request_longer_than_its_slab_is_refused(ask):
    code, _, err = ask(*FEW, "--cache", "contiguous", "--max-sequence", "100")
    assert code == 2
    assert "is longer" in err
