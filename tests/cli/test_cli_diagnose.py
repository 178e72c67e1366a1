"""`sweep diagnose`: verdict, proofs and knobs as a page and as JSON; what is missing; exit codes."""

import json

import pytest
from served import GRIDS, SMALL, UNIT, snapshot, sweep_in

CLAIM = "declared capacity. It is not a queueing analysis and not a device benchmark.\n"


@pytest.fixture(scope="session")
def served(tmp_path_factory):
    """A folder with a result of the small grid, its manifest, and two snapshots of an overloaded service."""
    folder = tmp_path_factory.mktemp("served")
    axes = [word for kind, text in SMALL for word in (f"--{kind}", text)]
    assert sweep_in(folder, "run", GRIDS / "h100.toml", "-o", "s.nc", "-q", *axes) == 0
    names = ["--model", UNIT[0], "--revision", UNIT[1], "--framework", UNIT[2], "-o", "m.json"]
    assert sweep_in(folder, "manifest", "s.nc", *names) == 0
    (folder / "a.prom").write_text(snapshot(running=90, finished=1_000, itl=(0, 50, 100, 9, 0, 0)))
    (folder / "b.prom").write_text(
        snapshot(running=100, waiting=30, usage="0.4", finished=1_700, itl=(0, 450, 3_000, 9, 0, 0))
    )
    return folder


def page(out):
    assert out.endswith(CLAIM)
    assert max(map(len, out.split("\n"))) <= 80
    return " ".join(out.split())


def test_from_two_snapshots_against_a_result_and_its_manifest(invoke, served):
    args = ["diagnose", served / "a.prom", served / "b.prom", "--seconds", "60"]
    against = ["--against", served / "s.nc", "--manifest", served / "m.json"]
    code, out, err = invoke(*args, *against)
    assert (code, err) == (0, "")
    text = page(out)
    assert text.startswith("Diagnosis: healthy by the rules, but slot-bound, under-replicated")
    assert "12.334 req/s arrive, and the point carries 11.76 within all bounds" in text
    assert "one knob that restores all bounds now to change replicas 1 2 1 step" in text

    code, out, _ = invoke(*args, *against, "--json")
    answer = json.loads(out)
    assert (answer["verdict"], answer["status"], answer["measured_traffic"]) == ("healthy", "rejected", True)
    assert answer["signals"]["arrival_rps"] == "37/3"
    assert answer["smallest_change"]["knob"] == "replicas"
    assert list(answer) == [
        "verdict",
        "possible",
        "missing",
        "signals",
        "findings",
        "point",
        "status",
        "measured_traffic",
        "capacity_millirps",
        "nearest_bound",
        "smallest_change",
        "changes",
        "notes",
        "claim",
    ]
    code, _, err = invoke(*args, *against, "--require")
    assert (code, "not healthy" in err) == (1, True)


def test_json_signals_without_a_result(invoke, tmp_path):
    (tmp_path / "s.json").write_text(
        '{"queue_depth": 0, "batch_occupancy": 0.9, "itl_p50_ms": 40.1, "preemption_rate": 0.3}'
    )
    code, out, err = invoke("diagnose", "s.json")
    assert (code, err) == (0, "")
    assert page(out).startswith("Diagnosis: oversized_batch The median time between tokens is over 40 ms.")


def test_missing_is_not_zero(invoke, tmp_path):
    (tmp_path / "s.json").write_text('{"queue_depth": 0, "itl_p50_ms": 20, "preemption_rate": null}')
    code, out, _ = invoke("diagnose", "s.json")
    assert code == 0
    text = "Diagnosis: undetermined Could be cache_pressure or healthy; preemption_rate would tell"
    assert page(out).startswith(f"{text}, and missing is not zero.")
    code, _, err = invoke("diagnose", "s.json", "--require")
    assert (code, "not known to be healthy" in err) == (6, True)


def test_slots_of_an_option_tell_the_occupancy(invoke, tmp_path):
    (tmp_path / "s.json").write_text('{"queue_depth": 20, "running": 30, "preemption_rate": 0, "itl_p50_ms": 1}')
    verdicts = [json.loads(invoke("diagnose", "s.json", "--slots", n, "--json")[1])["verdict"] for n in (60, 61)]
    assert verdicts == ["healthy", "undersized_replica_count"]


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        ([], 2, "SIGNALS"),
        (["none.prom"], 3, "there is no such file"),
        (["."], 3, "is a folder"),
        (["{served}/s.nc"], 3, "is an HDF5 or netCDF file"),
        (["{served}/a.prom", "--seconds", "5"], 2, "--seconds: goes with two snapshots"),
        (["{served}/a.prom", "{served}/b.prom", "--seconds", "nan"], 2, "wanted a decimal above 0"),
        (["{served}/a.prom", "{served}/b.prom", "--seconds", "0"], 2, "wanted a decimal above 0"),
        (["{served}/b.prom", "{served}/a.prom"], 3, "falls from the first to the second"),
        (["{served}/a.prom", "{served}/a.prom", "{served}/a.prom"], 2, "wanted one file"),
        (["{served}/a.prom", "--at", "slots=64"], 2, "--at: goes with --against"),
        (["{served}/a.prom", "--slo", "max_ttft_ms=1"], 2, "--slo: goes with --against"),
        (["{served}/a.prom", "--against", "none.nc"], 4, "none.nc"),
        (["{served}/a.prom", "--against", "{served}/s.nc", "--at", "slots=1"], 2, "no value 1"),
        (["{served}/a.prom", "--against", "{served}/s.nc", "--at", "slots=100", "--at", "share=800"], 2, "is invalid"),
        (
            ["{served}/a.prom", "--against", "{grids}/capstone.toml", "--manifest", "{served}/m.json"],
            2,
            "is of the grid",
        ),
        (["{served}/a.prom", "--manifest", "{served}/a.prom"], 3, "is not JSON"),
    ],
)
def test_exit_codes_by_kind(invoke, served, args, code, said):
    chunk = ["--at", "chunk=1024"] if "share=800" in args else []
    found, _, err = invoke("diagnose", *[arg.format(served=served, grids=GRIDS) for arg in args], *chunk)
    assert found == code
    assert said in err
    assert len(err.splitlines()) == 1


def test_help_has_examples_and_fits(invoke):
    code, out, _ = invoke("diagnose", "--help")
    assert code == 0
    assert "Examples:" in out
    assert max(map(len, out.split("\n"))) <= 80
