"""Every benchmark runs, so that none rots, and gives the right answer; no time is asserted."""

import json
import platform
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks import growth, peers
from benchmarks.__main__ import main
from benchmarks.against import compare
from benchmarks.isolated import measured, peak_bytes
from benchmarks.measure import measure
from benchmarks.outcome import Outcome, outcome_of
from benchmarks.processes import python
from benchmarks.readme import BENCHMARKS, GROWTH, README, benchmarks_block, replaced
from benchmarks.registry import Case, NotAvailable, Prepared, Yardstick, all_cases, chosen
from benchmarks.results import BadFile, Results, read
from benchmarks.table import plain

FOLDER = Path(growth.__file__).parent
CHEAP = "capacity-given/capacity"
KEYS = {
    *("case", "verb", "about", "cells", "configurations", "seconds", "cells_per_second", "configurations_per_second"),
    *("peak_bytes", "ratios", "reads", "skipped", "reason", "targets"),
}


@pytest.mark.parametrize("key", list(all_cases()))
def test_the_case_gives_the_right_answer_and_a_ratio_to_everything_that_runs_here(key: str) -> None:
    case = all_cases()[key]
    outcome = measure(case, "smoke", 1, memory=False)

    assert outcome.reason is None
    assert outcome.seconds is not None
    assert outcome.seconds > 0
    assert outcome.ratios
    assert all(ratio > 0 for ratio in outcome.ratios.values())
    assert all("'.[bench]'" in why for why in outcome.skipped.values()), outcome.skipped
    assert [target["text"] for target in outcome.targets] == [target.text for target in case.targets]
    assert {target["reached"] for target in outcome.targets} <= {None}  # a small grid says nothing of them
    own = {"seconds", "peak_bytes", "configurations_per_second"}
    assert {target.measure for target in case.targets} <= own | set(outcome.ratios) | set(outcome.skipped)
    assert set(outcome.as_json()) == KEYS
    assert outcome_of(outcome.as_json()) == outcome


def made_up(result: object, same: object = None, right: bool = True) -> Case:
    """A case whose one peer gives a result."""

    def check() -> None:
        peers.demand_equal(np.array([1 if right else 2]), np.array([1]))

    def equal(found: object) -> None:
        peers.demand_equal(found, np.array([1, 2, 3], dtype=np.uint16))

    stick = Yardstick("peer", "times", lambda: lambda: result, equal)
    return Case(
        all_cases()[CHEAP].spec, "mask", lambda scale, folder: Prepared(lambda: None, check, [], yardsticks=[stick])
    )


@pytest.mark.parametrize(
    ("result", "why"),
    [
        (
            np.array([1, 2, 4], dtype=np.uint16),
            "1 of 3 values differ from the product's, the first at (2,): 4 instead of 3",
        ),
        (np.array([1, 2, 3], dtype=np.int64), "another kind of result than the product's uint16 of shape (3,)"),
        (np.array([1, 2, 3, 4], dtype=np.uint16), "another kind of result than the product's uint16 of shape (3,)"),
    ],
)
def test_a_peer_with_another_result_is_refused(result: np.ndarray, why: str) -> None:
    outcome = measure(made_up(result), "smoke", 1, memory=False)

    assert (outcome.ratios, outcome.skipped) == ({}, {"peer": why})


def test_a_peer_with_the_same_result_is_measured() -> None:
    outcome = measure(made_up(np.array([1, 2, 3], dtype=np.uint16)), "smoke", 3, memory=False)

    assert (list(outcome.ratios), outcome.skipped) == (["peer"], {})


def test_a_wrong_answer_of_the_product_is_a_reason_and_no_time() -> None:
    outcome = measure(made_up(None, right=False), "smoke", 1, memory=False)

    assert outcome.seconds is None
    assert outcome.reason is not None
    assert outcome.reason in plain([outcome])


@pytest.mark.parametrize("name", ["numba", "numexpr"])
def test_a_peer_that_is_not_installed_names_the_extra(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peers, "find_spec", lambda module: None)
    outcome = measure(all_cases()["million/mask"], "smoke", 1, memory=False)

    assert name not in outcome.ratios
    assert outcome.skipped[name].startswith(f"{name} is not installed: pip install")
    assert outcome.skipped[name] in plain([outcome])


def test_a_case_that_takes_too_long_or_fails_is_a_row_with_a_reason() -> None:
    case = all_cases()[CHEAP]
    late = measured(replace(case, patience_seconds=0), "smoke", 1)
    broken = measured(replace(case, verb="no-such-verb"), "smoke", 1)

    assert late.reason == "not done after 0 s"
    assert broken.reason == "the process ended with 1: KeyError: 'capacity-given/no-such-verb'"
    assert "not measured" in plain([late, broken])


def test_a_process_that_fails_says_what_it_complained() -> None:
    with pytest.raises(NotAvailable, match=r"^exit 3: sweep: missing\.toml: "):
        python("-m", "sweep", "run", "missing.toml")()
    with pytest.raises(NotAvailable, match="exit 1: no room"):
        python("-c", "raise SystemExit('no room')")()


def test_peak_memory_is_that_of_the_child_alone() -> None:
    """What this process holds does not count, as it would by `ru_maxrss`."""
    held = np.ones(5 * 10**7, dtype=np.int64)
    peak = peak_bytes(["benchmarks.importing"])

    assert 10**7 < peak < held.nbytes


def rows(**ratios: float) -> list[Outcome]:
    return [Outcome("grid", "mask", seconds=1.0, ratios=ratios)]


@pytest.mark.parametrize(
    ("before", "now", "allow", "worse"),
    [
        ({"fill": 0.4}, {"fill": 0.21}, 0.5, []),
        ({"fill": 0.4}, {"fill": 0.19}, 0.5, ["grid/mask: fill from 0.4 to 0.19, 52 % worse"]),
        ({"fill": 0.4, "numba": 8.0}, {"fill": 0.9, "numba": 5.0}, 0.3, ["grid/mask: numba from 8 to 5, 38 % worse"]),
        ({"fill": 0.4}, {"fill": 0.4}, 0.0, []),
        ({"fill": 0.4}, {"fill": 0.39}, 0.0, ["grid/mask: fill from 0.4 to 0.39, 3 % worse"]),
    ],
)
def test_a_ratio_may_lose_the_allowed_share_and_no_more(
    before: dict[str, float], now: dict[str, float], allow: float, worse: list[str]
) -> None:
    assert compare(rows(**before), rows(**now), allow).worse == worse


def test_what_has_no_partner_is_named() -> None:
    other = Outcome("other", "run", seconds=1.0, ratios={"fill": 1.0})
    missing_peer = replace(rows(fill=1.0)[0], skipped={"numba": "not installed"})
    found = compare([*rows(fill=1.0, numba=2.0)], [missing_peer, other], 0.5)

    assert found.worse == []
    assert found.unpaired == ["other/run: measured now, not before", "grid/mask: numba missing now: not installed"]
    assert compare([other], [], 0.5).unpaired == ["other/run: measured before, missing now"]


def test_a_case_that_no_longer_runs_is_worse() -> None:
    broken = Outcome("grid", "mask", reason="not done after 9 s")

    assert compare(rows(fill=1.0), [broken], 0.9).worse == ["grid/mask: not measured now: not done after 9 s"]


def test_the_command_writes_compares_and_fails_only_on_a_worse_ratio(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target, baseline, harder = (tmp_path / name for name in ("rows.json", "baseline.json", "harder.json"))
    smoke = [CHEAP, "--scale", "smoke", "--rounds", "1"]

    assert main([*smoke, "--json", str(target), "--baseline", str(baseline)]) == 0
    content = json.loads(target.read_text("utf-8"))
    assert set(content) == {"format", "scale", "rounds", "machine", "rows"}
    assert [set(row) for row in content["rows"]] == [KEYS]
    assert content["rows"][0]["peak_bytes"] > 10**7
    assert platform.node() not in target.read_text("utf-8")
    assert str(tmp_path.parent) not in target.read_text("utf-8")

    kept = json.loads(baseline.read_text("utf-8"))
    assert set(kept) == {"format", "scale", "rows"}
    assert [set(row) for row in kept["rows"]] == [{"case", "verb", "ratios"}]
    kept["rows"][0]["ratios"] = {"fresh fill": 1e9}
    kept["rows"].append({"case": "gone", "verb": "mask", "ratios": {"fill": 1.0}})
    harder.write_text(json.dumps(kept))
    capsys.readouterr()
    again = ["--from", str(target)]
    assert main([*again, "--against", str(baseline), "--allow", "0.01"]) == 0
    assert main([*again, "--against", str(harder)]) == 1
    printed = capsys.readouterr().out
    assert f"worse: {CHEAP}: fresh fill from 1e+09 to " in printed
    assert "unpaired: gone/mask: measured before, missing now" in printed


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["no-such-case"], "no case no-such-case; take some of "),
        (["--rounds", "0"], "got 0, wanted 1 or more"),
        (["--allow", "1"], "got 1, wanted 0 up to, not including, 1"),
        (["--from", "missing.json"], "missing.json: cannot be read"),
        (["--from", "{rows}", "--readme"], "its table is of full scale"),
        (["--from", "{rows}", "--against", "{full}"], "measured at scale full, not smoke"),
        (["--from", "{rows}", "--against", "{text}"], "holds no rows of a run"),
        (["--from", "{rows}", "million/mask", "--scale", "smoke"], "of another machine, version or scale"),
    ],
)
def test_a_wrong_use_says_what_to_do(
    arguments: list[str], complaint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {name: tmp_path / f"{name}.json" for name in ("rows", "full", "text")}
    Results("smoke", 1, {}, rows(fill=1.0)).write(files["rows"])
    Results("full", 1, {}, rows(fill=1.0)).write(files["full"])
    files["text"].write_text("nothing")

    with pytest.raises(SystemExit) as ended:
        main([argument.format(**files) for argument in arguments])

    assert ended.value.code == 2
    assert complaint in capsys.readouterr().err


def test_the_list_says_what_each_case_is_and_must_reach(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list"]) == 0
    printed = capsys.readouterr().out

    for case in all_cases().values():
        assert f"{case.key} " in printed
        assert case.spec.about in printed
        assert all(target.text in printed for target in case.targets)


def test_a_word_chooses_by_spec_by_verb_or_by_both() -> None:
    assert [case.key for case in chosen(["million"])] == ["million/mask"]
    assert {case.verb for case in chosen(["largest"])} == {"largest"}
    assert [case.key for case in chosen(["h100/main-job"])] == ["h100/main-job"]
    assert len(chosen([])) == len(all_cases())


def test_the_baseline_has_a_ratio_for_every_case() -> None:
    kept = read(FOLDER / "baseline.json")

    assert kept.scale == "full"
    assert {row.key for row in kept.rows} == set(all_cases())
    assert all(row.ratios for row in kept.rows)
    assert "seconds" not in (FOLDER / "baseline.json").read_text("utf-8")


def test_the_readme_shows_what_was_measured() -> None:
    """Its blocks are made of the committed measurements by a command; edit those, not the README."""
    text = README.read_text("utf-8")
    blocks = {
        BENCHMARKS: benchmarks_block(read(FOLDER / "measured.json")),
        GROWTH: growth.block(growth.read(FOLDER / "growth.json")),
    }

    assert replaced(text, blocks) == text


def test_a_readme_without_the_markers_is_refused() -> None:
    with pytest.raises(BadFile, match="no lines <!-- growth: made by a command --> and <!-- growth end -->"):
        replaced("# sweep\n", {GROWTH: "table"})


def test_growth_is_measured_written_read_and_drawn(tmp_path: Path) -> None:
    found = growth.measure(10**4, 1, lambda text: None)
    growth.write(found, tmp_path / "growth.json")
    again = growth.read(tmp_path / "growth.json")

    assert again == found
    assert [(run.cells, run.mask_stored) for run in found.runs] == [(10**4, True), (10**4, False)]
    assert all(run.seconds > 0 and run.peak_bytes > 10**7 for run in found.runs)
    assert found.runs[0].file_bytes > found.runs[1].file_bytes
    assert growth.table(found).count("\n") == 2


def test_the_picture_is_the_same_for_the_same_measurement(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="pip install -e '.[plot]'")
    given = ["growth", "--from", str(FOLDER / "growth.json"), "--picture"]

    assert main([*given, str(tmp_path / "one.svg")]) == 0
    assert main([*given, str(tmp_path / "two.svg")]) == 0
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
