"""`sweep rollout`: exit codes for a pipeline, kills between stages, a state file that nothing bends."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from served import GRIDS, UNIT, small_manifest

PLAN = ["--stages", "1%,10%,100%", "--error-guardrail", "1%", "--latency-guardrail-ms", "500"]
PLAN += ["--old-p99-ms", "400", "--tolerance", "10%", "--min-samples", "200"]
CLAIM = "declared capacity. It is not a queueing analysis and not a device benchmark.\n"


def seen(requests=1_000, errors=3, p99="430"):
    return ["--requests", requests, "--errors", errors, "--p99-ms", p99]


def page(out):
    assert out.endswith(CLAIM)
    assert max(map(len, out.split("\n"))) <= 80
    return " ".join(out.split())


@pytest.fixture
def state(invoke):
    assert invoke("rollout", "start", "-o", "state.json", *PLAN)[0] == 0
    return "state.json"


def test_a_pipeline_from_start_to_rollback(invoke, state):
    assert page(invoke("rollout", "status", state)[1]).startswith("Rollout: running, stage 1 of 3")
    code, out, err = invoke("rollout", "observe", state, "--stage", 1, *seen(requests=199))
    assert (code, err) == (6, "sweep: state.json: stage 1: not enough data; observe it again, later.\n")
    assert page(out).startswith("Rollout, stage 1 of 3: not enough data - 199 of the 200 requests")
    code, out, err = invoke("rollout", "observe", state, "--stage", 1, *seen())
    assert (code, err) == (0, "")
    assert "The rollout is running, at stage 2 of 3." in page(out)
    code, out, err = invoke("rollout", "observe", state, "--stage", 2, *seen(p99="440.1"))
    assert (code, err) == (1, "sweep: state.json: stage 2: roll back.\n")
    assert "p99 440.1 ms is over 400 · (1 + 0.1) = 440 ms" in page(out)
    code, _, err = invoke("rollout", "observe", state, "--stage", 3, *seen())
    assert (code, "rolled_back at stage 2" in err) == (2, True)


def test_a_guardrail_halts(invoke, state):
    code, out, err = invoke("rollout", "observe", state, "--stage", 1, *seen(errors=11), "--json")
    answer = json.loads(out)
    assert (code, answer["decision"], answer["status"]) == (1, "halt", "halted")
    assert err == "sweep: state.json: stage 1: halt.\n"
    assert list(answer) == [
        "status",
        "stage",
        "share",
        "decided_stage",
        "decision",
        "reasons",
        "plan",
        "observed",
        "digest",
        "claim",
    ]


def test_asking_again_repeats_the_answer_and_leaves_the_file(invoke, state, tmp_path):
    first = invoke("rollout", "observe", state, "--stage", 1, *seen())
    file = (tmp_path / state).read_bytes()
    assert invoke("rollout", "observe", state, "--stage", 1, *seen()) == first
    assert (tmp_path / state).read_bytes() == file
    invoke("rollout", "observe", state, "--stage", 2, *seen())
    code, out, _ = invoke("rollout", "observe", state, "--stage", 1, *seen())
    assert (code, out.split("\n")[0]) == (0, "Rollout, stage 1 of 3: advance")
    code, _, err = invoke("rollout", "observe", state, "--stage", 1, *seen(p99="400"))
    assert (code, "the rollout is at stage 3" in err) == (2, True)


def test_the_observation_may_be_a_file_and_is_exact(invoke, state, tmp_path):
    (tmp_path / "seen.json").write_text('{"requests": 1000, "errors": 10, "p99_latency_ms": 440.0}')
    assert invoke("rollout", "observe", state, "seen.json", "--stage", 1)[0] == 0
    (tmp_path / "seen.json").write_text('{"requests": 1000, "errors": 10, "p99_latency_ms": 440.' + "0" * 40 + "1}")
    assert invoke("rollout", "observe", state, "seen.json", "--stage", 2)[0] == 1


def test_manifests_are_named_and_checked(invoke, tmp_path):
    (tmp_path / "new.json").write_text(small_manifest().text())
    (tmp_path / "bad.json").write_text(json.dumps({**small_manifest().payload(), "batch_slots": 400}))
    code, out, _ = invoke("rollout", "start", "-o", "s.json", *PLAN, "--manifest", "new.json", "--json")
    assert (code, json.loads(out)["plan"]["manifest"]) == (0, small_manifest().digest)
    code, _, err = invoke("rollout", "start", "-o", "t.json", *PLAN, "--manifest", "bad.json")
    assert (code, "bad.json: cannot start: slots 400, effective 307" in err) == (1, True)
    code, _, err = invoke(
        "rollout", "start", "-o", "t.json", *PLAN, "--manifest", "new.json", "--old-manifest", "new.json"
    )
    assert (code, "nothing to roll out" in err) == (2, True)
    assert not (tmp_path / "t.json").exists()
    assert UNIT[0] in (tmp_path / "new.json").read_text()


def test_a_kill_at_any_moment_leaves_the_old_state_or_the_new_one(invoke, state, tmp_path):
    """A pipeline that is killed and run again comes to the same end."""
    command = [sys.executable, "-m", "sweep", "rollout", "observe", state, "--stage", "1", *map(str, seen())]
    surroundings = {**os.environ, "PYTHONPATH": str(GRIDS.parent)}
    states = {(tmp_path / state).read_bytes()}
    for delay in (0.0, 0.05, 0.1, 0.15, 0.2, 0.3):
        victim = subprocess.Popen(
            command, cwd=tmp_path, env=surroundings, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        time.sleep(delay)
        victim.send_signal(signal.SIGKILL)
        victim.wait()
        states.add((tmp_path / state).read_bytes())
        assert invoke("rollout", "status", state)[0] == 0
    assert len(states) <= 2
    assert invoke("rollout", "observe", state, "--stage", 1, *seen())[0] == 0
    assert json.loads(invoke("rollout", "status", state, "--json")[1])["stage"] == 2


def test_pipelines_side_by_side_decide_a_stage_once(state, tmp_path):
    surroundings = {**os.environ, "PYTHONPATH": str(GRIDS.parent)}
    base = [sys.executable, "-m", "sweep", "rollout", "observe", state, "--stage", "1"]
    both = [
        subprocess.Popen(
            [*base, *map(str, seen(p99=p99))],
            cwd=tmp_path,
            env=surroundings,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for p99 in ("410", "420")
    ]
    assert sorted(one.wait() for one in both) == [0, 2]


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (["status", "none.json"], 4, "there is no such file"),
        (["status", "."], 4, "is a folder"),
        (["status", "bent.json"], 4, "altered or damaged"),
        (["status", "cut.json"], 4, "is not JSON"),
        (["observe", "bent.json", "--stage", 1, *seen()], 4, "altered or damaged"),
        (["observe", "state.json", *seen()], 2, "--stage"),
        (["observe", "state.json", "--stage", 0, *seen()], 2, "--stage"),
        (["observe", "state.json", "--stage", 2, *seen()], 2, "the rollout is at stage 1"),
        (["observe", "state.json", "--stage", 1, "none.json"], 3, "there is no such file"),
        (["observe", "state.json", "--stage", 1, *seen(p99="nan")], 2, "wanted a decimal"),
        (["observe", "state.json", "--stage", 1, *seen(errors=2_000)], 3, "more than the 1 000 requests"),
        (["observe", "state.json", "--stage", 1, "state.json"], 3, "unknown key"),
        (["start", "-o", "state.json", *PLAN], 4, "--force"),
        (["start", "-o", "new.json", *PLAN, "--stages", "10%,5%,100%"], 3, "rise to 1"),
        (["start", "-o", "new.json", *PLAN, "--stages", "x,,2"], 2, "--stages x"),
        (["start", "-o", "new.json", *PLAN, "--tolerance", "1e999999"], 2, "--tolerance 1e999999"),
        (["start", "-o", "no/new.json", *PLAN], 4, "cannot be written"),
    ],
)
def test_exit_codes_by_kind(invoke, state, tmp_path, args, code, said):
    text = (tmp_path / state).read_text()
    (tmp_path / "bent.json").write_text(text.replace('"min_samples":200', '"min_samples":2'))
    (tmp_path / "cut.json").write_text(text[:-30])
    found, _, err = invoke("rollout", *args)
    assert found == code
    assert said in err
    assert (tmp_path / state).read_text() == text
    assert not (tmp_path / "new.json").exists()


def test_what_is_missing_is_said_at_once(invoke, state):
    code, _, err = invoke("rollout", "observe", state, "--stage", 1)
    assert (code, len(err.splitlines())) == (2, 3)


def test_help_has_examples_and_the_exit_codes(invoke):
    for args in ([], ["start"], ["observe"], ["status"]):
        code, out, _ = invoke("rollout", *args, "--help")
        assert code == 0
        assert "Examples:" in out
        assert max(map(len, out.split("\n"))) <= 80
    _, out, _ = invoke("rollout", "--help")
    assert "6  not enough data" in out
