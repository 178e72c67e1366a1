"""`sweep plot`: the data of `sweep region` and `sweep frontier`, in files that are whole, ours and always alike."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from sweep.cli.plot_kinds import KINDS, OPTIONS, WITHOUT_A_KIND
from sweep.records.wording import CLAIM, CLAIM_SENTENCE

mpl = pytest.importorskip("matplotlib", reason="pip install -e '.[plot]'")

ROOT = Path(__file__).parents[2]
MAGIC = {"png": b"\x89PNG\r\n", "svg": b"<?xml", "pdf": b"%PDF-"}


@pytest.fixture
def scenes(monkeypatch):
    """What is handed to the drawing, instead of a picture of it."""
    from sweep.report.pictures import draw_frontier, draw_map

    found = []
    for module, name in ((draw_map, "draw_map"), (draw_frontier, "draw_frontier")):
        draw = getattr(module, name)

        def caught(scene, inches, draw=draw):
            found.append(scene)
            return draw(scene, inches)

        monkeypatch.setattr(module, name, caught)
    return found


def test_without_a_kind_three_pictures_are_named_after_the_file(invoke, tiny_nc, tmp_path):
    code, out, err = invoke("plot", tiny_nc)
    assert (code, err) == (0, "")
    names = [f"tiny-{kind}.png" for kind in WITHOUT_A_KIND]
    assert out == "".join(f"{kind}: tiny-{kind}.png\n" for kind in WITHOUT_A_KIND) + f"\n{CLAIM_SENTENCE}\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names)
    assert all((tmp_path / name).read_bytes().startswith(MAGIC["png"]) for name in names)


@pytest.mark.parametrize(
    ("kind", "args", "show"),
    [
        ("region", ("--x", "slots", "--y", "traffic"), "limit"),
        ("region", ("--x", "slots", "--y", "precision", "--at", "traffic=1000", "--show", "peak_kv_bytes"), None),
        ("capacity", ("--x", "slots", "--y", "precision"), "capacity"),
        ("limits", ("--x", "slots", "--y", "precision"), "limiting_violations"),
        ("limits", ("--x", "slots", "--y", "precision", "--at", "traffic=900"), "limit"),
        ("slack", ("--x", "traffic", "--y", "slots", "--bound", "max_kv_bytes", "--slo", "max_kv_bytes=9 GB"), "slack"),
    ],
)
def test_a_map_shows_what_sweep_region_says(invoke, scenes, tiny_nc, kind, args, show):
    assert invoke("plot", tiny_nc, kind, *args)[0] == 0
    answer = json.loads(invoke("region", tiny_nc, *args, *(["--show", show] if show else []), "--json")[1])
    (scene,) = scenes
    assert list(scene.x.values) == answer["labels"][answer["x"]]
    assert list(scene.y.values) == answer["labels"][answer["y"]]
    if hasattr(scene.body, "values"):
        drawn = [
            [int(value) if shown else None for value, shown in zip(*row, strict=True)]
            for row in zip(scene.body.values, scene.body.shown, strict=True)
        ]
        assert drawn == [[None if value in (None, 0) else value for value in row] for row in answer["values"]]
    else:
        within = [[verdict == "within" for verdict in row] for row in answer["verdict"]]
        assert scene.body.within.tolist() == within
        for row, codes in zip(answer["values"], scene.body.codes, strict=True):
            for mask, code in zip(row, codes, strict=True):
                text = scene.body.entries[code].text
                first = answer["codes"][str(mask)][0] if str(mask) in answer["codes"] else ""
                assert first in text or text == "within all bounds"


def test_a_frontier_shows_what_sweep_frontier_says(invoke, scenes, tiny_nc):
    args = ("--maximize", "traffic", "--minimize", "slots,peak_kv_bytes", "--at", "precision=fp8")
    code, out, _ = invoke("plot", tiny_nc, "frontier", *args, "--json", "--width", "7.5", "--format", "svg")
    answer = json.loads(invoke("frontier", tiny_nc, *args, "--json")[1])
    (scene,) = scenes
    assert code == 0
    assert [list(values) for values in scene.values] == [point["values"] for point in answer["points"]]
    told = json.loads(out)
    assert told["claim"] == CLAIM
    (picture,) = told["pictures"]
    assert picture["objectives"] == answer["objectives"]
    assert (picture["points"], picture["total"]) == (len(answer["points"]), answer["total"])
    assert (picture["file"], picture["format"], picture["width_inches"]) == ("tiny-frontier.svg", "svg", "7.5")
    best = json.loads(invoke("best", tiny_nc, "--at", "precision=fp8", "--json")[1])
    assert picture["largest"] == best["point"]


def test_another_slo_and_the_grids_name_are_in_the_picture(invoke, scenes, tiny_nc):
    invoke("plot", tiny_nc, "region", "--slo", "max_ttft_ms=100")
    assert scenes[0].notes[:2] == ("tiny [red]名[/red]", "Under another SLO: max_ttft_ms = 100 (the file has 250)")
    told = json.loads(invoke("plot", tiny_nc, "region", "--slo", "max_ttft_ms=100", "--json")[1])
    assert told["slo"] == {"max_ttft_ms": 100}


def test_nothing_feasible_is_a_picture_too(invoke, scenes, none_nc):
    assert invoke("plot", none_nc)[0] == 0
    region, capacity, frontier = scenes
    assert not region.body.within.any()
    assert not capacity.body.shown.any()
    assert frontier.values == ()
    assert all("Nothing is feasible here" in " ".join(scene.remarks) for scene in (region, capacity))


def test_a_grid_file_needs_no_result(invoke, tiny, tmp_path):
    code, _, err = invoke("plot", tiny, "capacity", "--axis", "slots=16:64:16", "-o", "made.PDF")
    assert (code, err) == (0, "")
    assert (tmp_path / "made.PDF").read_bytes().startswith(MAGIC["pdf"])


def test_a_picture_of_ours_is_replaced_and_no_other_file(invoke, tiny_nc, tmp_path):
    for form in MAGIC:
        for _ in range(2):
            assert invoke("plot", tiny_nc, "region", "--format", form)[0] == 0
    foreign = tmp_path / "tiny-capacity.png"
    foreign.write_bytes(MAGIC["png"] + b"somebody's")
    (tmp_path / "tiny-region.png").unlink()
    code, out, err = invoke("plot", tiny_nc)
    assert (code, out) == (4, "")
    assert "tiny-capacity.png: exists already; give --force" in err
    assert not (tmp_path / "tiny-region.png").exists()  # refused before the first was written
    assert invoke("plot", tiny_nc, "--force")[0] == 0
    assert len(foreign.read_bytes()) > 1_000


def test_a_picture_is_written_whole_or_not_at_all(invoke, tiny_nc, tmp_path, monkeypatch):
    invoke("plot", tiny_nc, "region")
    before = (tmp_path / "tiny-region.png").read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("sweep.cli.writing.os.fsync", full)
    code, _, err = invoke("plot", tiny_nc, "region", "--slo", "max_ttft_ms=100")
    assert code == 4
    assert "cannot be written (No space left on device)" in err
    assert (tmp_path / "tiny-region.png").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["tiny-region.png"]


PROCESS = """
import sys, matplotlib
matplotlib.rcParams.update({"text.usetex": True, "savefig.dpi": 30, "font.family": "serif"})
from sweep.cli.main import main
for kind, form in (("region", "svg"), ("frontier", "pdf"), ("slack", "png")):
    sys.argv = ["sweep", "plot", sys.argv[-1] if kind == "region" else file, kind, "-o", f"other.{form}"]
    file = sys.argv[2]
    try:
        main()
    except SystemExit as stop:
        assert stop.code == 0
assert "matplotlib.pyplot" not in sys.modules
"""


def test_the_same_file_gives_the_same_bytes_whatever_the_settings_and_the_hash_seed(invoke, process, tiny_nc, tmp_path):
    for kind, form in (("region", "svg"), ("frontier", "pdf"), ("slack", "png")):
        assert invoke("plot", tiny_nc, kind, "-o", f"one.{form}")[0] == 0
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROCESS, str(tiny_nc)],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "7", "HOME": str(tmp_path), "MPLBACKEND": "agg"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for form in MAGIC:
        data = (tmp_path / f"one.{form}").read_bytes()
        assert data == (tmp_path / f"other.{form}").read_bytes()
        assert data.startswith(MAGIC[form])
        assert not re.search(rb"20[0-9]{2}-[01][0-9]-[0-3][0-9]|CreationDate", data)


def test_names_in_a_file_are_text_and_nothing_else(invoke, tiny, tmp_path):
    text = tiny.read_text(encoding="utf-8")
    hostile = text.replace("tiny [red]名[/red]", r"$\\frac{1}{0}$ <script>x</script> & _a^b").replace(
        "bf16 [bold]", r"$x_1$ \\undefined{ <b>"
    )
    tiny.write_text(hostile, encoding="utf-8")
    for kind, args in (("region", ("--y", "precision", "--at", "traffic=900")), ("frontier", ())):
        for form in MAGIC:
            assert invoke("plot", tiny, kind, *args, "--format", form)[0] == 0
    drawn = (tmp_path / "tiny-region.svg").read_text(encoding="utf-8")
    assert "<script" not in drawn
    assert r"<!-- $\frac{1}{0}$ &lt;script&gt;x&lt;/script&gt; &amp; _a^b -->" in drawn


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (("regin",), "'regin' is not one of"),
        (("region", "-o", "x.gif"), "-o x.gif: wanted a name in .png, .svg or .pdf"),
        (("region", "-o", "x"), "-o x: wanted a name in .png, .svg or .pdf"),
        (("-o", "x.png"), "without a kind three pictures are drawn; name one of region"),
        (("region", "-o", "x.png", "--format", "pdf"), "--format pdf: -o x.png is another format"),
        (("region", "--width", "1"), "--width 1: wanted column"),
        (("region", "--width", "wide"), "--width wide: wanted column"),
        (("region", "--width", "99"), "inches from 2.5 to 20"),
        (("region", "--maximize", "slots"), "--maximize: the picture region has no such option; take it out, or name"),
        (("frontier", "--x", "slots"), "--x: the picture frontier has no such option"),
        (("frontier", "--maximize", "slots"), "--maximize slots: a picture of a frontier needs two objectives"),
        (("--limit", "3"), "--limit: one kind of picture is wanted for this option"),
        (("region", "--bound", "max_ttft_ms"), "--bound max_ttft_ms: only the slack is one of a bound"),
        (("slack", "--bound", "max_ttft"), "the nearest is max_ttft_ms"),
        (("region", "--x", "slots", "--y", "slots"), "one axis as both"),
        (("capacity", "--y", "traffic"), "leave the traffic out of --x, --y and --at"),
        (("region", "--show", "nonsense"), "--show nonsense: no such quantity"),
        (("region", "--at", "slots=17"), "no value 17"),
        (
            ("region", *(f"--at={name}" for name in ("slots=16", "share=600", "chunk=480", "precision=fp8"))),
            "--y: every axis is fixed or taken, and a map needs two",
        ),
    ],
)
def test_wrong_usage_is_a_sentence_and_no_file(invoke, tiny_nc, tmp_path, args, sentence):
    code, out, err = invoke("plot", tiny_nc, *args)
    assert (code, out) == (2, "")
    assert sentence in err
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_its_input_is_never_replaced(invoke, tiny, tmp_path):
    odd = tmp_path / "grid.svg"
    odd.write_bytes(tiny.read_bytes())
    code, _, err = invoke("plot", odd, "region", "-o", odd, "--force")
    assert (code, odd.read_bytes()) == (2, tiny.read_bytes())
    assert "is what the output is made from" in err


MISSING = """
import sys
sys.modules["matplotlib"] = None
sys.argv = ["sweep", "plot", "nowhere.nc"]
from sweep.cli.main import main
main()
"""


def test_without_the_extra_the_error_names_it(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", MISSING],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr == (
        "sweep: sweep plot: draws with matplotlib, which is not installed; install the extra plot, as by pip install "
        "'sweep[plot]'.\n"
    )


def test_help_lists_every_kind_and_needs_no_matplotlib():
    code = 'import sys\nsys.argv = ["sweep", "plot", "--help"]\nfrom sweep.cli.main import main\ntry:\n    main()\n'
    code += 'finally:\n    assert not {"matplotlib", "numpy"} & set(sys.modules)\n'
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert all(f"\n  {kind} " in done.stdout for kind in KINDS)
    assert set(WITHOUT_A_KIND) <= set(KINDS)
    assert all(kind.options <= set(OPTIONS) for kind in KINDS.values())


@pytest.mark.parametrize("args", [("region", "--y", "share", "--at", "traffic=1000"), ("frontier",)])
def test_the_pictures_of_the_readme_are_of_the_grid_as_it_is(invoke, tmp_path, args):
    """Refresh them by the two commands in the README."""
    name = f"h100-{args[0]}.svg"
    kept = (ROOT / "grids" / name).read_bytes()
    assert invoke("plot", ROOT / "grids" / "h100.toml", *args, "-o", name)[0] == 0
    fresh = (tmp_path / name).read_bytes()
    about = rb"grid_sha256 [0-9a-f]{64}"
    assert re.search(about, kept).group() == re.search(about, fresh).group()
    if f"matplotlib {mpl.__version__}".encode() in kept:
        assert kept == fresh
