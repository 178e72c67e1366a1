"""`sweep report`: one page per grid, the same bytes each time, and never over another file unasked."""

import json
import tomllib
from pathlib import Path

import pytest

from sweep.cli.report import report
from sweep.report.html.page import embedded, grid_of_page
from sweep.report.html.page_text import ENGINE, VIEW, text_of

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "sweep" / "report" / "html" / "page"


def test_it_writes_a_page_under_the_name_of_the_grid(invoke, tiny, tmp_path):
    code, out, err = invoke("report", tiny)
    assert (code, err) == (0, "")
    assert out.startswith("tiny.html\n18 cells in 0.2 MB; ")
    text = (tmp_path / "tiny.html").read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>")
    assert "default-src &#x27;none&#x27;" in text
    assert "unsafe" not in text.partition("<style>")[0]


def test_a_result_and_its_grid_give_the_same_bytes_from_anywhere(invoke, tiny, tiny_nc, tmp_path):
    assert invoke("report", tiny, "-o", "one.html")[0] == 0
    assert invoke("report", tiny_nc, "-o", tmp_path / "two.html")[0] == 0
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes()
    assert str(tmp_path) not in (tmp_path / "one.html").read_text(encoding="utf-8")


def test_a_page_of_this_grid_is_replaced_and_no_other_file(invoke, tiny, tmp_path):
    page = tmp_path / "tiny.html"
    invoke("report", tiny)
    page.write_text(page.read_text(encoding="utf-8") + "older", encoding="utf-8")
    assert invoke("report", tiny)[0] == 0
    assert not page.read_text(encoding="utf-8").endswith("older")

    code, _, err = invoke("report", tiny, "--set", "max_ttft_ms=240")
    assert code == 4
    assert "--force" in err
    page.write_text("something else", encoding="utf-8")
    assert invoke("report", tiny)[0] == 4
    assert page.read_text(encoding="utf-8") == "something else"
    assert invoke("report", tiny, "--force")[0] == 0
    assert invoke("report", tiny, "-o", tiny)[0] == 2


def test_json_names_the_page_and_its_size(invoke, tiny, tmp_path):
    code, out, _ = invoke("report", tiny, "-o", "page.html", "--slo", "max_ttft_ms=200", "--json")
    answer = json.loads(out)
    assert code == 0
    assert answer["report"] == "page.html"
    assert answer["bytes"] == (tmp_path / "page.html").stat().st_size < 500_000
    assert answer["cells"] == 18
    assert answer["slo"] == {"max_ttft_ms": 200}


def test_the_size_does_not_depend_on_the_cells(invoke, tmp_path):
    sizes = []
    for axes in (["traffic=5:10000:500"], ["traffic=1:10000:1", "share=1:999:1", "slots=1:1000:1"]):
        changes = [option for axis in axes for option in ("--axis", axis)]
        assert invoke("report", ROOT / "grids" / "large.toml", "-o", "large.html", "--force", *changes)[0] == 0
        sizes.append((tmp_path / "large.html").stat().st_size)
    assert max(sizes) < 300_000
    assert abs(sizes[1] - sizes[0]) < 10_000


def test_help_explains_it():
    assert "loads nothing and sends nothing" in " ".join(str(report.help).split())


def test_data_cannot_end_its_element_or_become_markup():
    text = embedded({"name": '</script><!--&"\u2028\u202e'})
    assert not set("<>&\u2028\u202e") & set(text)
    assert json.loads(text) == {"name": '</script><!--&"\u2028\u202e'}


@pytest.mark.parametrize("head", ["", "<html>", '<meta name="sweep-grid" content="x">'])
def test_what_is_no_page_has_no_grid(head):
    assert grid_of_page(head) is None


def test_an_installed_package_has_every_file_of_the_page():
    listed = {*ENGINE, *VIEW, "page.html", "style.css"}
    assert {path.name for path in PAGE.iterdir()} == listed
    assert all(text_of(name) for name in listed)
    patterns = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"][
        "package-data"
    ]
    found = {path.name for pattern in patterns["sweep"] for path in (ROOT / "sweep").glob(pattern)}
    assert listed <= found


@pytest.mark.parametrize("name", [*ENGINE, *VIEW])
def test_the_page_s_code_is_short_and_asks_for_nothing(name):
    text = text_of(name)
    assert len(text.splitlines()) < 300
    assert max(map(len, text.splitlines())) <= 120
    asking = (
        "eval(",
        "new Function",
        "innerHTML",
        "outerHTML",
        "insertAdjacent",
        "document.write",
        "fetch(",
        "import(",
    )
    assert [word for word in asking if word in text] == []
