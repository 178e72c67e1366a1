"""`sweep run`: the summary, JSON, the dry run, overrides in the order typed."""

import json

import pytest

from sweep.records.wording import CLAIM, CLAIM_SENTENCE

SHORT = "fluid capacity model, not a device benchmark\n"
RUN_KEYS = ["cells", "invalid_reasons", "violations", "blocked_alone", "best", "result", "claim"]


def test_summary_fits_a_screen_of_80_columns(h100):
    _, done = h100
    lines = done.stdout.splitlines()
    assert done.returncode == 0
    assert done.stderr == ""  # no progress bar in a pipe
    assert len(lines) <= 45
    assert max(map(len, lines)) <= 80


def test_summary_says_what_was_found(h100):
    _, done = h100
    for wanted in (
        "max_active_sequences          61     16    256",
        "2 440 000 cells:",
        "invalid by chunk-exceeds-iteration-service: an iteration must serve",
        "blocked by it alone",
        "time-per-output-token",
        "Largest SLO-feasible operating point: 1.452 times the declared traffic",
        "estimated_tpot_ms                         49              50               1",
        "TTFT: 98 ms of prefill after 200 ms in the queue",
        "One permille more traffic (1 453) breaks queue-delay",
        "--max-num-seqs 100 --max-num-batched-tokens 1124",
        "Share is no engine flag",
        "48.192 ms counts as 49 ms",
        "Result: h100.nc",
    ):
        assert wanted in done.stdout
    assert done.stdout.endswith(f"{CLAIM_SENTENCE}\n")
    assert "\x1b" not in done.stdout


def test_default_file_is_the_stem_in_this_folder(invoke, tiny, tmp_path):
    code, out, err = invoke("run", tiny)
    assert (code, err) == (0, "")
    assert "Result: tiny.nc" in out
    assert (tmp_path / "tiny.nc").exists()


def test_names_are_shown_as_they_are(invoke, tiny):
    """Markup in a name is no markup."""
    _, out, _ = invoke("run", tiny)
    assert out.startswith("tiny [red]名[/red]\n")
    assert "bf16 [bold]" in out


def test_json_is_one_document_with_stable_keys(invoke, tiny):
    code, out, err = invoke("run", tiny, "--json")
    answer = json.loads(out)
    assert (code, err) == (0, "")
    assert list(answer) == RUN_KEYS
    assert answer["cells"] == {"total": 18, "invalid": 0, "rejected": 6, "within": 12}
    assert answer["best"]["point"]["traffic_scale_permille"] == 2_000
    assert answer["result"] == "tiny.nc"


def test_quiet_prints_the_file_and_the_point_quoted_for_a_shell(invoke, tiny):
    code, out, err = invoke("run", tiny, "-q", "-o", "a.nc")
    assert (code, err) == (0, "")
    assert out == f"a.nc\nshare=600 chunk=480 slots=48 'precision=bf16 [bold]' traffic=2000\n{SHORT}"


def test_quiet_says_that_nothing_is_feasible(invoke, tiny):
    code, out, _ = invoke("run", tiny, "-q", "--set", "contract.max_ttft_ms=50")
    assert (code, out) == (0, f"tiny.nc\nnothing is feasible\n{SHORT}")


def test_summary_where_nothing_is_feasible(invoke, tiny):
    code, out, _ = invoke("run", tiny, "--set", "contract.max_ttft_ms=50")
    assert code == 0
    assert "Nothing is feasible" in out
    assert "time-to-first-token" in out


@pytest.mark.parametrize(
    ("args", "overrides"),
    [
        (
            ["--axis", "slots=[16]", "--set=contract.max_ttft_ms=300", "--axis=replicas=1:3:1"],
            ["--axis slots=[16]", "--set contract.max_ttft_ms=300", "--axis replicas=1:3:1"],
        ),
        (
            ["--set", "contract.max_ttft_ms=300", "--axis", "slots=[16]", "--set", "contract.max_ttft_ms=400"],
            ["--set contract.max_ttft_ms=300", "--axis slots=[16]", "--set contract.max_ttft_ms=400"],
        ),
    ],
)
def test_overrides_keep_the_order_typed(invoke, tiny, args, overrides):
    assert invoke("run", *args, tiny, "-q")[0] == 0
    _, out, _ = invoke("info", "tiny.nc", "--json")
    assert json.loads(out)["overrides"] == overrides


def test_dry_run_says_the_plan_and_writes_nothing(invoke, tiny, tmp_path):
    code, out, err = invoke("run", tiny, "--dry-run")
    assert (code, err) == (0, "")
    for wanted in (
        "cells",
        "configurations",
        "tiles",
        "violation mask",
        "before compression",
        "int64",
        "peak_kv_bytes",
    ):
        assert wanted in out
    assert "Nothing was run and nothing was written." in out
    assert [path.name for path in tmp_path.iterdir()] == ["tiny.toml"]


def test_dry_run_names_the_mask_that_is_not_stored(invoke, tiny):
    assert "not stored" in invoke("run", tiny, "--dry-run", "--materialize", "never")[1]


def test_dry_run_names_wide_quantities(invoke, tiny):
    args = ("--set", "class.chat.prompt_tokens=10_000_000", "--axis", "traffic=[1, 1_000_000_000_000_000]")
    code, out, _ = invoke("run", tiny, "--dry-run", *args)
    assert code == 0
    assert "exact, any size" in out
    assert "use Python integers of any size" in " ".join(out.split())
    assert max(map(len, out.splitlines())) <= 80


def test_dry_run_describes_a_size_that_a_run_refuses(invoke, tiny, tmp_path):
    huge = ("--axis", "traffic=1:10_000_000:1", "--axis", "share=1:999:1", "--axis", "chunk=1:1_000:1")
    code, out, _ = invoke("run", tiny, "--dry-run", *huge)
    assert code == 0
    assert "A run would be refused: the grid has 59 940 000 000 000 cells" in " ".join(out.split())
    code, out, err = invoke("run", tiny, *huge)
    assert (code, out) == (3, "")
    assert err.startswith("sweep: the grid has 59 940 000 000 000 cells")
    assert [path.name for path in tmp_path.iterdir()] == ["tiny.toml"]


def test_dry_run_json(invoke, tiny):
    code, out, _ = invoke("run", tiny, "--dry-run", "--json")
    answer = json.loads(out)
    assert code == 0
    assert answer["cells"] == 18
    assert answer["quantities"]["peak_kv_bytes"]["arithmetic"] == "int64"
    assert (answer["refusal"], answer["claim"]) == (None, CLAIM)


def test_dry_run_json_has_the_refusal(invoke, tiny):
    huge = ("--axis", "traffic=1:10_000_000:1", "--axis", "share=1:999:1", "--axis", "chunk=1:1_000:1")
    code, out, _ = invoke("run", tiny, "--dry-run", "--json", *huge)
    assert code == 0
    assert json.loads(out)["refusal"].startswith("the grid has 59 940 000 000 000 cells")
    assert ".." not in invoke("run", tiny, "--dry-run", *huge)[1]


VAIN = ["--set", "slots=48"]
WARNING = (
    "sweep: warning: --set slots=48 changes no cell, since max_active_sequences is an axis: use --axis "
    "max_active_sequences=48 instead.\n"
)


@pytest.mark.parametrize("flags", [[], ["-q"], ["--json"], ["--dry-run"], ["--dry-run", "--json"]])
def test_a_set_in_vain_is_told_on_stderr_whatever_stdout_is(invoke, tiny, flags):
    code, out, err = invoke("run", tiny, *VAIN, *flags)
    assert (code, err) == (0, WARNING)
    assert "changes no cell" not in out


@pytest.mark.parametrize("command", ["explain", "best"])
def test_questions_to_a_grid_file_tell_it_too(invoke, tiny, command):
    assert invoke(command, tiny, *VAIN)[2] == WARNING
    assert invoke(command, tiny, *VAIN, "--json")[2] == WARNING


def test_one_value_is_an_axis(invoke, tiny):
    code, out, err = invoke("run", tiny, "--axis", "slots=48", "-q")
    assert (code, err) == (0, "")
    assert "slots=48 " in out


def test_a_result_in_place_of_a_grid_is_said_so(invoke, tiny_nc):
    code, out, err = invoke("run", tiny_nc)
    assert (code, out) == (3, "")
    assert "is a result and a grid file (TOML) is wanted" in err


def test_a_text_that_ends_in_nc_is_still_a_grid(invoke, tiny, tmp_path):
    tiny.rename(tmp_path / "grid.nc")
    assert invoke("run", "grid.nc", "-q", "-o", "a.nc")[0] == 0
    assert "no such file" in invoke("run", "missing.nc")[2]


def test_the_summary_promises_no_single_bound(invoke, tiny):
    _, out, _ = invoke("run", tiny, "--set", "max_ttft_ms=50")
    assert "says what stands in the way" in " ".join(out.split())
    assert "single bound" not in out


def test_traffic_is_given_in_requests_per_second(h100):
    assert "Traffic: 11.76 req/s (conversation 8.032, code 3.728)." in h100[1].stdout
    assert "vLLM fills about 911 ‰ of a full step with prefill." in h100[1].stdout


@pytest.mark.parametrize(("text", "allowed"), [("512MiB", 2**29), ("2GB", 2 * 10**9), ("1_073_741_824", 2**30)])
def test_memory_is_stated_beside_what_may_be_taken(invoke, tiny, text, allowed):
    code, out, _ = invoke("run", tiny, "--dry-run", "--json", "--memory", text)
    planned = json.loads(out)
    assert code == 0
    assert planned["memory_bytes"] == allowed
    assert planned["peak_bytes"] <= allowed


@pytest.mark.parametrize(
    ("text", "code", "wanted"),
    [
        ("1 GiB 2", 2, "--memory 1 GiB 2: wanted"),
        ("", 2, "--memory : wanted"),
        ("-5", 2, "--memory -5: wanted"),
        ("1.5", 2, "--memory 1.5: wanted"),
        ("64MiB", 3, "a run takes 155 189 248 bytes at the least"),
        ("0", 3, "give more"),
    ],
)
def test_memory_that_is_no_size_or_too_small_is_refused(invoke, tiny, text, code, wanted):
    found, _, err = invoke("run", tiny, "--memory", text)
    assert found == code
    assert wanted in err
    assert err.count("\n") == 1
