"""`sweep quantize`: the decision, what it rests on, and its options."""

import json
from pathlib import Path

import pytest

PRECISION = Path(__file__).parents[2] / "grids" / "precision.toml"
SMALL = ["--axis", "replicas=8", "--axis", "share=[900]", "--axis", "chunk=[512]", "--axis", "slots=[64]"]
STATED = ["--candidate", "bf16=16GB,2", "--candidate", "int8=8.5 GB,2", "--candidate", "int4=4_700_000_000,17/32"]


def lines(text):
    return text.rstrip("\n").split("\n")


def test_a_grid(invoke):
    code, out, err = invoke(
        "quantize", PRECISION, "--tolerance", "1%", "--delta", "bf16=0", "--delta", "fp8=0.004", *SMALL
    )
    assert (code, err) == (0, "")
    assert lines(out)[0] == "Quantization: fp8"
    assert "its measured loss is 0.004, by --delta" in out.replace("\n", " ")
    assert max(map(len, lines(out))) <= 80
    assert "largest point" in out
    assert out.endswith("It is not a queueing analysis and not a device benchmark.\n")


def test_nothing_is_chosen_without_a_measurement(invoke):
    code, out, err = invoke("quantize", PRECISION, "--tolerance", "1", *SMALL)
    assert (code, err) == (0, "")
    assert lines(out)[0] == "Quantization: reject all"
    assert "2 candidates without a measured loss (bf16, fp8), never chosen" in out
    code, out, err = invoke("quantize", PRECISION, "--tolerance", "1", *SMALL, "--require")
    assert code == 1
    assert "every candidate is rejected" in err


def test_candidates_without_a_grid_as_json(invoke):
    code, out, err = invoke(
        "quantize", *STATED, "--tolerance", "0.03", "--delta", "int4=0.031", "--delta", "int8=0.004", "--json"
    )
    assert (code, err) == (0, "")
    answer = json.loads(out)
    assert answer["decision"] == "int8"
    assert (answer["tolerance"], answer["axis"], answer["cautious"]) == ("0.03", None, False)
    assert [one["verdict"] for one in answer["candidates"]] == ["not measured", "chosen", "loses too much"]
    assert answer["candidates"][2]["kv_bytes_per_value"] == "17/32"
    assert answer["candidates"][0]["quality_delta"] is None
    assert answer["claim"].startswith("LOCAL_FLUID")


def test_scores_give_the_loss_and_its_interval(invoke, tmp_path):
    rows = "".join(f"{at},1,{int(at % 100 > 0)}\n" for at in range(400))
    (tmp_path / "int8.csv").write_text("item,base,candidate\n" + rows)
    args = ["quantize", *STATED, "--tolerance", "0.01", "--delta", "bf16=0", "--scores", "int8=int8.csv"]
    code, out, _ = invoke(*args)
    assert code == 0
    assert lines(out)[0] == "Quantization: int8"
    assert "by int8.csv, 400 items" in out.replace("\n", " ")
    assert "0.000236 to 0.019764" in out  # 0.01 ± 1.96·√(4·396/400/399/400)
    assert "--cautious judges by that end" in out.replace("\n", " ")
    code, out, _ = invoke(*args, "--cautious")
    assert lines(out)[0] == "Quantization: bf16"
    code, out, _ = invoke(*args, "--json")
    assert json.loads(out)["candidates"][1]["items"] == 400


@pytest.mark.parametrize("text", ["0.004", "4e-3", "0.4%", "0.40 %", ".004"])
def test_a_loss_is_an_exact_decimal_also_in_per_cent(invoke, text):
    args = ["quantize", *STATED, "--tolerance", "0.004", "--delta", f"int8={text}", "--json"]
    assert json.loads(invoke(*args)[1])["candidates"][1]["quality_delta"] == "0.004"


def test_another_slo_changes_the_points_and_is_named(invoke):
    args = ["quantize", PRECISION, "--tolerance", "1", *SMALL]
    code, out, _ = invoke(*args, "--slo", "max_ttft_ms=700", "--json")
    assert code == 0
    assert json.loads(out)["slo"] == {"max_ttft_ms": 700}


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--tolerance", "x"], "--tolerance x: wanted a decimal such as 0.01"),
        (["--tolerance", "nan"], "--tolerance nan: wanted a decimal"),
        (["--tolerance", "1"], "got neither a grid nor --candidate"),
        ([str(PRECISION), "--tolerance", "1", *STATED], "got a grid and --candidate"),
        (["--tolerance", "1", "--candidate", "a"], "--candidate a: wanted candidate=value"),
        (["--tolerance", "1", "--candidate", "a=much"], "--candidate a=much: got"),
        (["--tolerance", "1", "--candidate", "a=1GB,x"], "--candidate a=1GB,x: write bytes per value"),
        (["--tolerance", "1", "--candidate", "a=-1"], "raise it"),
        (["--tolerance", "1", "--candidate", "a=1GB", "--candidate", "a=2GB"], "the candidate a is given twice"),
        (["--tolerance", "1", "--candidate", "a=1GB", "--delta", "b=1"], "--delta b: no candidate"),
        (["--tolerance", "1", "--candidate", "a=1GB", "--delta", "a=x"], "--delta a x: wanted a decimal"),
        (["--tolerance", "1", "--candidate", "a=1GB", "--by", "x"], "--by: goes with a grid only"),
        (["--tolerance", "1", "--candidate", "a=1GB", "--set", "x=1"], "--set or --axis: goes with a grid only"),
        ([str(PRECISION), "--tolerance", "1", "--by", "slots", *SMALL], "that axis holds numbers"),
        ([str(PRECISION)], "Missing option '--tolerance'"),
    ],
)
def test_wrong_usage_is_one_sentence(invoke, args, words):
    code, out, err = invoke("quantize", *args)
    assert (code, out) == (2, "")
    assert words in err
    assert len(lines(err)) == 1


def test_a_candidate_called_reject_all_is_refused(invoke):
    code, out, err = invoke("quantize", "--tolerance", "1", "--candidate", "reject_all=1GB")
    assert (code, out) == (2, "")
    assert "--candidate reject_all=1GB: this name is the answer where none is served; take another" in err


def test_kv_types_have_their_usual_names(invoke):
    args = ("--tolerance", "1", "--candidate", "a=1GB,fp8", "--candidate", "b=1GB,bf16", "--json")
    found = json.loads(invoke("quantize", *args)[1])["candidates"]
    assert [one["kv_bytes_per_value"] for one in found] == ["1", "2"]


@pytest.mark.parametrize("option", [("--base", "x"), ("--cautious",), ("--lower-is-better",)])
def test_options_about_scores_need_scores(invoke, option):
    code, out, err = invoke("quantize", "--tolerance", "1", "--candidate", "a=1GB", "--delta", "a=0", *option)
    assert (code, out) == (2, "")
    assert f"{option[0]}: goes with --scores only" in err


def test_faults_of_all_files_of_scores_come_at_once(invoke, tmp_path):
    (tmp_path / "a.csv").write_text("item,base,candidate\n")
    code, out, err = invoke("quantize", *STATED, "--tolerance", "1", "--scores", "int8=a.csv", "--scores", "int4=b.csv")
    assert (code, out) == (3, "")
    assert len(lines(err)) == 2
