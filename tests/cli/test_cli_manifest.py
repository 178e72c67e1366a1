"""`sweep manifest`: write, check and diff; exit codes, JSON, 80 columns, hostile names and files."""

import json
import shlex
import subprocess
from pathlib import Path

import pytest
from served import GRIDS, UNIT, small_manifest

NAMES = ["--model", UNIT[0], "--revision", UNIT[1], "--framework", UNIT[2]]
CLAIM = "declared capacity. It is not a queueing analysis and not a device benchmark.\n"


@pytest.fixture(scope="session")
def h100_nc(h100):
    folder, _ = h100
    return folder / "h100.nc"


def page(out):
    assert out.endswith(CLAIM)
    assert max(map(len, out.split("\n"))) <= 80
    return " ".join(out.split())


def test_write_and_check_and_diff(invoke, h100_nc):
    code, out, err = invoke("manifest", h100_nc, *NAMES, "-o", "m.json")
    assert (code, err) == (0, "")
    assert "Starts: a replica of it fits its memory." in page(out)
    assert "--max-num-seqs 100 --max-num-batched-tokens 1124" in page(out)
    assert "state the longest request to accept with --longest" in page(out)
    document = json.loads(Path("m.json").read_text())
    assert document["model_id"] == UNIT[0]

    code, out, err = invoke("manifest", "check", "m.json", "--against", h100_nc)
    assert (code, err) == (0, "")
    assert f"Manifest {document['digest']}" in page(out)
    assert "a new audit of its operating point gives the same unit" in page(out)

    code, out, _ = invoke("manifest", "write", h100_nc, *NAMES, "-o", "n.json", "--longest", "8192", "--json")
    assert code == 0
    assert json.loads(out)["manifest"]["longest_sequence_tokens"] == 8_192
    code, out, _ = invoke("manifest", "diff", "m.json", "n.json")
    assert code == 0
    assert "longest_sequence_tokens 2 076 8 192" in page(out)
    code, out, err = invoke("manifest", "diff", "m.json", "n.json", "--json", "--fail-on-difference")
    assert (code, [one["field"] for one in json.loads(out)["differences"]]) == (1, ["longest_sequence_tokens"])
    assert "differs from" in err
    code, out, _ = invoke("manifest", "diff", "m.json", "m.json", "--fail-on-difference")
    assert (code, out.split("\n")[0]) == (0, "Manifests are equal")


def test_the_same_manifest_is_the_same_file_and_no_other_is_replaced_unasked(invoke, h100_nc, tmp_path):
    assert invoke("manifest", h100_nc, *NAMES, "-o", "m.json")[0] == 0
    first = (tmp_path / "m.json").read_bytes()
    code, _, err = invoke("manifest", h100_nc, *NAMES, "-o", "m.json")
    assert (code, "--force" in err) == (4, True)
    assert invoke("manifest", h100_nc, *NAMES, "-o", "m.json", "--force")[0] == 0
    assert (tmp_path / "m.json").read_bytes() == first
    code, _, err = invoke("manifest", h100_nc, *NAMES, "-o", h100_nc, "--force")
    assert (code, "is what the output is made from" in err) == (2, True)


def test_the_keys_of_the_json_stay(invoke, h100_nc):
    _, out, _ = invoke("manifest", h100_nc, *NAMES, "--json")
    answer = json.loads(out)
    assert list(answer) == ["manifest", "check", "launch", "output"]
    assert list(answer["launch"]) == ["vllm", "sglang", "tensorrt-llm"]
    evidence = answer["manifest"]["evidence"]
    assert evidence["evidence_id"] == small_manifest().evidence.evidence_id  # the same point of a smaller grid
    assert evidence["grid_sha256"] != small_manifest().evidence.grid_sha256
    start = answer["check"]
    assert list(start) == [
        "starts",
        "refusals",
        "unknown",
        "kv_pool_bytes",
        "kv_blocks",
        "longest_fitting_tokens",
        "batch_slots",
        "effective_slots",
        "claim",
    ]
    assert (start["starts"], start["batch_slots"], start["effective_slots"]) == (True, 100, 307)


def test_what_is_missing_is_said_at_once(invoke, h100_nc):
    code, _, err = invoke("manifest", h100_nc)
    assert (code, err.count("missing, a manifest pins it; give it.")) == (2, 3)
    code, _, err = invoke("manifest", h100_nc, "--model", "", "--revision", "main", "--framework", "vllm>1")
    assert (code, len(err.splitlines())) == (2, 3)


def test_a_point_that_cannot_start_or_is_not_within_writes_nothing(invoke, tmp_path):
    wide = ["--set", "gpu.memory_utilization_permille=250", "--axis", "slots=[64]"]
    code, _, err = invoke("manifest", GRIDS / "h100.toml", *NAMES, *wide, "-o", "m.json")
    assert code == 1
    assert "slots 64, effective 11" in err
    code, _, err = invoke("manifest", GRIDS / "h100.toml", *NAMES, "--at", "traffic=4000", "-o", "m.json")
    assert code == 1
    assert "is rejected by" in err
    assert not (tmp_path / "m.json").exists()


def test_a_grid_without_memory_states_its_pool(invoke, tiny):
    code, out, _ = invoke("manifest", tiny, *NAMES, "--at", "slots=48", "--json")
    assert code == 0
    answer = json.loads(out)
    assert (answer["manifest"]["memory"], answer["manifest"]["kv_pool_bytes"]) == (None, 10**10)
    assert answer["launch"]["vllm"]["notes"] == ["gpu_memory_utilization is left out: memory is not in the manifest"]


HOSTILE = "x'; touch pwned; $(touch pwned) `touch pwned` \" && ~"


def test_a_hostile_model_id_is_quoted_wherever_it_is_printed(invoke, h100_nc, tmp_path):
    names = ["--model", HOSTILE, "--revision", "v1;ls", "--framework", UNIT[2]]
    code, out, _ = invoke("manifest", h100_nc, *names, "--json")
    line = json.loads(out)["launch"]["vllm"]["line"]
    assert code == 0
    assert shlex.split(line)[2] == HOSTILE
    script = f'set -- {line}; printf %s "$3"'
    printed = subprocess.run(["sh", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert printed.stdout == HOSTILE
    assert not (tmp_path / "pwned").exists()
    _, out, _ = invoke("manifest", h100_nc, *names)
    at = out.index("In vLLM:\n") + len("In vLLM:\n")
    assert shlex.split(out[at : out.index("\n\n", at)].replace("\\\n", " "))[2] == HOSTILE
    for name in ("a\nb", "a\x1b[31m", "\u202eabc"):
        code, _, err = invoke("manifest", h100_nc, "--model", name, *names[2:])
        assert (code, "\x1b" in err, len(err.splitlines())) == (2, False, 1)


def test_check_of_a_line(invoke, h100_nc):
    line = "vllm serve m --max-num-seqs 64 --max-model-len 8192 --gpu-memory-utilization 0.9"
    code, out, err = invoke("manifest", "check", "--flags", line, "--against", h100_nc)
    assert (code, err) == (0, "")
    assert page(out).startswith("Launch line Starts: a replica fits its memory.")
    code, out, err = invoke("manifest", "check", "--flags", line.replace("64", "640"), "--against", h100_nc)
    assert code == 1
    assert "slots 640, effective 307" in page(out)
    assert err == "sweep: --flags: does not start; see above for why.\n"
    code, out, err = invoke("manifest", "check", "--flags", line, "--json")
    assert (code, json.loads(out)["starts"]) == (6, None)
    assert "give what is missing above" in err


def test_check_of_a_line_on_a_manifest_says_how_they_differ(invoke, h100_nc):
    invoke("manifest", h100_nc, *NAMES, "-o", "m.json")
    line = "vllm serve other --max-num-seqs 64 --max-model-len 8192 --gpu-memory-utilization 0.9 --enforce-eager"
    code, out, _ = invoke("manifest", "check", "m.json", "--flags", line)
    assert code == 0
    text = "The line and the manifest differ in batch_slots, longest_sequence_tokens, model."
    assert text in page(out)
    assert "Not read: --enforce-eager." in page(out)


def test_check_of_a_manifest_that_was_changed(invoke, h100_nc, tmp_path):
    invoke("manifest", h100_nc, *NAMES, "-o", "m.json")
    document = json.loads((tmp_path / "m.json").read_text())
    (tmp_path / "bent.json").write_text(json.dumps({**document, "batch_slots": 400}))
    code, _, err = invoke("manifest", "check", "bent.json")
    assert (code, "so it was altered" in err) == (3, True)
    del document["digest"]
    (tmp_path / "hand.json").write_text(json.dumps({**document, "batch_slots": 400}))
    code, out, _ = invoke("manifest", "check", "hand.json", "--against", h100_nc)
    assert code == 1
    assert "slots 400, effective 307" in page(out)
    assert "evidence: batch_slots: the manifest and a new audit of its point do not agree" in page(out)


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (["check"], 2, "got neither a manifest nor --flags"),
        (["check", "none.json"], 3, "there is no such file"),
        (["check", "."], 3, "is a folder"),
        (["check", "{nc}"], 3, "is a result and a manifest is wanted"),
        (["check", "--flags", "vllm serve 'x"], 2, "close its quotes"),
        (["check", "--flags", "x", "--at", "slots=1"], 2, "--at: goes with --flags and --against"),
        (["check", "--flags", "x", "--slo", "max_ttft_ms=1"], 2, "--slo: goes with --against"),
        (["check", "--flags", "x", "--against", "none.nc"], 4, "none.nc"),
        (["diff", "none.json", "other.json"], 3, "other.json"),
        (["diff", "none.json"], 2, "NEW"),
        ([], 2, ""),
    ],
)
def test_exit_codes_by_kind(invoke, h100_nc, args, code, said):
    found, _, err = invoke("manifest", *[arg.format(nc=h100_nc) for arg in args])
    assert found == code
    assert said in err


def test_help_has_examples_and_fits(invoke):
    for args in ([], ["write"], ["check"], ["diff"]):
        code, out, _ = invoke("manifest", *args, "--help")
        assert code == 0
        assert "Examples:" in out
        assert "--json" in out
        assert max(map(len, out.split("\n"))) <= 80
