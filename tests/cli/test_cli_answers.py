"""The claim in every document, what-ifs without a file, rates, and what stands in the way."""

import json

import pytest

from sweep.records.wording import CLAIM


@pytest.mark.parametrize(
    "args",
    [
        ["run", "{toml}"],
        ["run", "{toml}", "--dry-run"],
        ["best", "{nc}"],
        ["best", "{none}"],
        ["explain", "{nc}"],
        ["explain", "{toml}", "--set", "scheduler.prefill_share_permille=1"],
        ["verify", "{nc}"],
        ["info", "{nc}"],
    ],
)
def test_the_claim_is_in_every_document(invoke, tiny, tiny_nc, none_nc, args):
    files = {"toml": tiny, "nc": tiny_nc, "none": none_nc}
    code, out, _ = invoke(*[arg.format(**files) for arg in args], "--json")
    assert code == 0
    assert json.loads(out)["claim"] == CLAIM


def test_best_of_a_grid_file_writes_nothing(invoke, tiny, tmp_path):
    code, out, err = invoke("best", tiny, "--set", "max_tpot_ms=29", "--axis", "replicas=1:3:1")
    assert (code, err) == (0, "")
    assert out.startswith("Largest SLO-feasible operating point: 6 times the declared traffic, on 3\nreplicas\n")
    assert "Traffic: 24 req/s, on 3 replicas." in out
    assert [path.name for path in tmp_path.iterdir()] == ["tiny.toml"]
    assert invoke("best", tiny)[1] == invoke("best", tiny, "--set", "max_tpot_ms=30")[1]


def test_best_takes_no_overrides_of_a_result(invoke, tiny_nc):
    code, out, err = invoke("best", tiny_nc, "--axis", "slots=48")
    assert (code, out) == (2, "")
    assert "is a result, whose grid is fixed" in err


def test_best_at_a_fixed_traffic_is_not_called_the_largest(invoke, tiny_nc):
    _, out, _ = invoke("best", tiny_nc, "--at", "traffic=10")
    assert out.startswith("Feasible operating point at 0.01 times the declared traffic\n")
    assert "Largest" not in out


def test_traffic_by_its_rate(invoke, tiny_nc):
    code, out, _ = invoke("best", tiny_nc, "--at", "rps=5.5", "--minimize", "slots")
    assert code == 0
    assert out.startswith("Best by minimize slots, at 1.375 times the declared traffic\n")
    assert "Traffic: 5.5 req/s; the least scale that reaches 5.5 req/s." in out
    _, out, _ = invoke("explain", tiny_nc, "--at", "rps=5.5")
    assert "the least scale that reaches 5.5 req/s" in out
    code, _, err = invoke("best", tiny_nc, "--at", "rps=many")
    assert (code, "--at rps=many: wanted requests per second" in err) == (2, True)


def test_explain_says_where_open_axes_come_from(invoke, tiny_nc, none_nc):
    def told(*args):
        return " ".join(invoke("explain", *args)[1].split())

    assert "Open axes (slots, precision, traffic): from the largest feasible point." in told(tiny_nc)
    assert (
        "nothing is feasible at this traffic, so from the configuration that carries the most, 2 times the declared "
        "traffic." in told(tiny_nc, "--at", "traffic=5000")
    )
    assert "no configuration carries any traffic within all bounds, so the first values." in told(none_nc)
    assert "Open axes" not in told(tiny_nc, "--at", "slots=16", "--at", "precision=fp8", "--at", "traffic=500")


def test_too_much_traffic_names_what_is_carried(invoke, tiny_nc):
    _, out, _ = invoke("best", tiny_nc, "--at", "traffic=4000", "--at", "slots=32")
    flat = " ".join(out.split())
    assert "Without the fixed traffic the most is 1.333 times the declared traffic, at" in flat
    assert "What blocks 2 valid configurations at 4 times the declared traffic" in flat
    answer = json.loads(invoke("best", tiny_nc, "--at", "traffic=4000", "--at", "slots=32", "--json")[1])
    assert answer["obstacles"]["carried"]["traffic_scale_permille"] == 1_333


def test_traffic_off_the_axis_with_on_grid(invoke, tiny_nc):
    code, out, err = invoke("best", tiny_nc, "--at", "traffic=501", "--on-grid")
    wanted = "sweep: --on-grid: 501 is no value of the traffic axis; its nearest values are 500 and 1 000.\n"
    assert (code, out, err) == (2, "", wanted)


def test_an_axis_above_the_largest_scale_does_not_say_that_nothing_is_feasible(invoke, tiny):
    code, out, _ = invoke("best", tiny, "--axis", "traffic=[900_000, 950_000]", "--on-grid")
    text = " ".join(out.split())
    assert code == 0
    assert "othing is feasible" not in text
    assert "None of the traffic axis' own values is feasible" in text
    assert "the exact largest scale is" in text


def test_every_cell_invalid_says_why_with_numbers_and_gives_no_advice_on_bounds(invoke, tiny):
    _, out, _ = invoke("best", tiny, "--axis", "chunk=[481, 600]")
    flat = " ".join(out.split())
    assert "Every configuration is invalid, 12 by chunk-exceeds-iteration-service: an iteration must serve" in flat
    assert "The nearest to valid: ⌊40 000·600/1000⌋·20/1000 = 480 < 481, at" in flat
    assert "bound" not in flat.partition("These figures")[0].replace("within all bounds", "")


def test_info_says_why_there_are_no_content_ids(invoke, tiny, tiny_nc):
    assert json.loads(invoke("info", tiny_nc, "--json")[1])["first_cell_invalid_reason"] is None
    assert invoke("run", tiny, "-q", "--axis", "chunk=[481, 600]", "-o", "a.nc")[0] == 0
    assert "no id, the first cell is invalid: chunk-exceeds-" in " ".join(invoke("info", "a.nc")[1].split())
    answer = json.loads(invoke("info", "a.nc", "--json")[1])
    assert answer["first_cell_invalid_reason"] == "chunk-exceeds-iteration-service"


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--at", "replicas=2"], "--at replicas=2: this grid has no axis replicas; add one to the run: --axis rep"),
        (["--minimize", "replicas"], "--minimize replicas: this grid has no axis replicas; add one to the run: --"),
        (["--maximize", "max_ttft_ms"], "this grid has no axis contract.max_ttft_ms; add one"),
        (["--minimize", "zzzz"], 'no axis or quantity "zzzz"; take one of'),
        (["--minimize", "estimated_tpot"], "the nearest is estimated_tpot_ms;"),
        (["--at", "slot=2"], "the nearest is slots;"),
        (["--at", "zzzz=2"], '--at zzzz=2: no axis "zzzz"; take one of'),
        (["--at", "precision=int3"], "no choice"),
    ],
)
def test_a_wrong_name_says_what_to_do(invoke, tiny_nc, args, words):
    code, out, err = invoke("best", tiny_nc, *args)
    assert (code, out) == (2, "")
    assert words in err
