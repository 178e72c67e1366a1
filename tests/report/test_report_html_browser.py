"""The explorer in a real browser: what it shows is what the command line says, and it loads nothing."""

import random
import time
from dataclasses import replace
from pathlib import Path

import pytest
from browser import Page, started
from test_report_html_slices import drawn_slice, page_bounds, wanted_csv

from sweep.api import best_of_grid
from sweep.grid import load_grid, parse_grid
from sweep.query.result import explain_grid
from sweep.query.slo import under_slo
from sweep.report.html.page import html_report

pytestmark = pytest.mark.slow

HUGE = [
    ("set", "class.interactive-short.peak_concurrency=1_000_000"),
    ("set", "scheduler.kv_bytes_per_token=1_000_000_000_000"),
    ("set", "contract.max_kv_bytes=1_000_000_000_000_000_000"),
    ("axis", "slots=[64, 1_000_000]"),
    ("axis", "class.interactive-long.prompt_tokens=[4_000, 10_000_000]"),
    ("axis", "traffic=1:4001:500"),
]
GRIDS = {
    "h100": ("grids/h100.toml", []),
    "choices": ("grids/precision.toml", []),
    "nothing feasible": ("grids/h100.toml", [("set", "contract.max_ttft_ms=5")]),
    "above 2^63": ("grids/illustrative.toml", HUGE),
    "10^8 cells": ("grids/large.toml", [("axis", "traffic=10:10000:10")]),
    "one cell": ("grids/illustrative.toml", []),
    "a bound as an axis": ("grids/capstone.toml", []),
}


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    found = started(tmp_path_factory.mktemp("browser"))
    yield found
    found.quit()


@pytest.fixture(scope="module")
def opened(browser, tmp_path_factory):
    """A page of a grid, written once."""
    folder, written = tmp_path_factory.mktemp("pages"), {}

    def of(name: str, fragment: str = "") -> tuple[Page, object]:
        if name not in written:
            path, overrides = GRIDS[name]
            grid = load_grid(path, overrides)
            target = folder / f"page-{len(written)}.html"
            target.write_text(html_report(grid), encoding="utf-8")
            written[name] = (target, grid)
        target, grid = written[name]
        return Page(browser, target, fragment), grid

    return of


def fragment_of(grid, state):
    """A state as the page's address has it."""
    names = [axis.name for axis in grid.axes]
    others = [axis for axis in range(len(names)) if axis not in (state["x"], state["y"])]
    values = {names[axis]: grid.axes[axis].label(state["index"][axis]) for axis in others}
    if len(names) - 1 in others:
        values[names[-1]] = state["scale"]
    pairs = [("x", names[state["x"]]), ("y", names[state["y"]]), ("show", state["show"])]
    pairs += [(f"at.{name}", value) for name, value in values.items()]
    pairs += [(f"slo.{name}", value) for name, value in state["slo"].items()]
    return "&".join(f"{name}={value}" for name, value in pairs)


@pytest.mark.parametrize("name", GRIDS)
def test_it_opens_without_a_network_and_without_an_error(opened, name):
    page, _ = opened(name)
    assert page.logs() == []
    assert [url for url in page.requested() if not url.startswith("file:")] == []
    assert page.run("return report.check()") == {
        "checked": min(64, page.run("return report.check().checked")),
        "differing": 0,
    }
    assert page.text("#claim").startswith("These figures come from a local fluid capacity model")


@pytest.mark.parametrize("name", GRIDS)
def test_slices_are_what_sweep_region_says(opened, name):
    page, grid = opened(name)
    choose = random.Random(name)
    for show in ("limit", "verdict", "capacity", "slack", "estimated_worst_ttft_ms", "peak_kv_bytes"):
        state, at = drawn_slice(grid, choose, show)
        bounds = {"max_tpot_ms": 45} if show == "limit" and name != "a bound as an axis" else {}
        state["slo"] = page_bounds(grid, bounds)
        page.show(fragment_of(grid, state))
        shown = page.run("return [report.region().shown, report.app.slice.xStep * report.app.slice.yStep]")
        wanted = wanted_csv(grid, state, at)
        if shown[1] == 1:
            assert page.csv() == wanted, (state, at)
        else:  # thinned out: the cells shown are among those of the slice
            assert set(page.csv().splitlines()) <= set(wanted.splitlines())
            assert shown[0] <= 140_000


@pytest.mark.parametrize("name", GRIDS)
def test_the_largest_point_is_what_sweep_best_says_under_any_bounds(opened, name):
    page, grid = opened(name)
    axis_sets = {path for axis in grid.axes for path in axis.fields}
    for bounds in (
        {},
        {"max_ttft_ms": 300},
        {"max_queue_delay_ms": 90, "max_total_utilization_permille": 700},
        {"max_kv_bytes": 10**10},
        {"max_starvation_ms": 1},
    ):
        moved = {bound: value for bound, value in bounds.items() if f"contract.{bound}" not in axis_sets}
        page.show("&".join(f"slo.{bound}={value}" for bound, value in moved.items()))
        wanted = best_of_grid(under_slo(grid, moved) if moved else grid).cell
        found = page.best()
        assert (found and found["point"]) == (wanted and dict(wanted.point)), moved
        if wanted is None:
            assert "Nothing is feasible" in page.text("#largest")


def test_a_slider_moves_the_slice(opened):
    page, grid = opened("h100", "x=slots&y=share&at.chunk=1024&at.traffic=1000&show=limit")
    before = page.csv()
    page.typed("#axis-1", "1", "input")  # the chunk: 256
    page.typed("#axis-3", "15", "input")  # the traffic: 800
    state = {"x": 2, "y": 0, "slo": {}, "show": "limit"}
    wanted = wanted_csv(grid, state, {"max_prefill_chunk_tokens": 256, "traffic_scale_permille": 800})
    assert page.csv() == wanted != before


def test_a_moved_bound_moves_the_largest_point(opened):
    page, grid = opened("h100")
    page.typed("[aria-label='max_ttft_ms, exactly']", "250", "change")
    wanted = best_of_grid(under_slo(grid, {"max_ttft_ms": 250})).cell
    assert page.best()["point"] == dict(wanted.point)
    page.typed("#bound-max_tpot_ms", "400", "input")
    moved = page.run("return Number(report.app.state.slo.max_tpot_ms)")
    assert 1 < moved < 50
    wanted = best_of_grid(under_slo(grid, {"max_ttft_ms": 250, "max_tpot_ms": moved})).cell
    assert (page.best() and page.best()["point"]) == (wanted and dict(wanted.point))
    page.run("document.querySelector('#reset').click()")
    page.settled()
    assert page.best()["point"]["traffic_scale_permille"] == 1452


def along(page, axis):
    """Place on an axis -> the largest traffic of the grid with that value, None where there is none."""
    return dict(page.run("return report.along(arguments[0]).map(([place, one]) => [place, one && one.scale])", axis))


@pytest.mark.parametrize("name", ["h100", "choices", "10^8 cells"])
def test_the_frontier_along_an_axis_is_the_largest_point_for_each_of_its_values(opened, name):
    page, grid = opened(name)
    for axis in grid.axes[1:-1]:
        if len(axis) < 2:
            continue
        found = along(page, axis.name)
        for place in {0, len(axis) // 2, len(axis) - 1}:
            best = best_of_grid(grid, {axis.name: axis.label(place)}).cell
            assert found[place] == (best and best.point["traffic_scale_permille"])


def test_a_grid_too_large_to_be_walked_is_searched_by_boxes(browser, tmp_path):
    """2.5 * 10^10 cells: the largest point, and the frontier along an axis."""
    axes = ("share=1:999:40", "chunk=1:1000:1", "slots=1:1000:1", "traffic=1:1000:1")
    grid = load_grid("grids/large.toml", [("axis", axis) for axis in axes])
    path = tmp_path / "huge.html"
    path.write_text(html_report(grid), encoding="utf-8")
    page = Page(browser, path, "x=slots&y=chunk&at.share=601&at.traffic=900&front=along:share")
    assert path.stat().st_size < 300_000
    assert page.logs() == []
    assert page.best()["point"] == dict(best_of_grid(grid).cell.point)
    found = along(page, "share")
    for place in (0, 3, 15, 24):
        best = best_of_grid(grid, {"prefill_share_permille": grid.axes[0].label(place)}).cell
        assert found[place] == (best and best.point["traffic_scale_permille"])


def test_the_export_is_a_file_with_the_cells_shown(opened, browser, tmp_path):
    page, _ = opened("choices", "x=slots&y=traffic&at.precision=fp8&at.replicas=3&show=limit")
    browser.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    page.run("document.querySelector('#csv').click()")
    deadline = time.monotonic() + 20
    while not (tmp_path / "region.csv").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    text = (tmp_path / "region.csv").read_text(encoding="utf-8")
    assert text == page.csv()
    assert text.startswith("prefill_share_permille,max_prefill_chunk_tokens,max_active_sequences,replicas,precision,")
    assert text.count(",fp8,") == 1600
    assert page.logs() == []


def test_keys_move_the_cell_and_pin_it_and_the_address_keeps_it(opened):
    page, grid = opened("h100", "x=slots&y=share&at.chunk=1024&at.traffic=1000")
    keys = """for (const key of arguments[0])
        document.querySelector("#map").dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));"""
    page.run(f"document.querySelector('#map').focus(); {keys}", ["ArrowUp", "ArrowRight", "Enter"])
    page.settled()
    page.run(keys, ["ArrowDown", "ArrowDown", "ArrowLeft", "Enter"])
    page.settled()
    pins = page.run("return report.app.state.pins")
    assert len(pins) == 2
    assert pins[0]["index"][0] - pins[1]["index"][0] == 2
    assert "A and B compared" in page.text("#pinned")
    for pin, letter in zip(pins, "AB", strict=True):
        at = {axis.name: axis.label(i) for axis, i in zip(grid.axes[:-1], pin["index"], strict=False)}
        cell = explain_grid(grid, {**at, "traffic_scale_permille": pin["scale"]})
        figures = page.run("return report.app.explained(arguments[0]).figures", pin)
        assert figures == {**{name: figures[name] for name in figures}, **cell.verdict.figures}, letter
    time.sleep(0.3)
    address = page.run("return location.hash")
    again, _ = opened("h100", address[1:])
    assert again.run("return report.app.state.pins") == pins
    page.run(keys, ["Escape"])
    assert page.run("return report.app.state.pins") == []


HOSTILE = '</script><script>window.taken = 1</script><img src=x onerror="window.taken = 2">"\' & {{code}} <!--名'


@pytest.mark.parametrize("mark", ["", "\u202e"], ids=["as the reader takes it", "with a right-to-left mark"])
def test_a_hostile_name_is_text(browser, tmp_path, mark):
    """The reader refuses marks that turn the writing around; the page would show them by number all the same."""
    text = Path("tests/cli/conftest.py").read_text(encoding="utf-8").split('TINY = """')[1].split('"""')[0]
    written = HOSTILE.replace('"', '\\"')
    text = text.replace("tiny [red]名[/red]", written).replace("bf16 [bold]", written)
    grid = parse_grid(text)
    turned = [replace(choice, name=choice.name + mark) for choice in grid.axis("precision").choices]
    axes = [replace(axis, choices=tuple(turned)) if axis.is_choice else axis for axis in grid.axes]
    path = tmp_path / "hostile.html"
    path.write_text(html_report(replace(grid, name=HOSTILE + mark, axes=tuple(axes))), encoding="utf-8")
    page = Page(browser, path, "x=slots&y=precision&at.traffic=1000")
    assert page.logs() == []
    assert page.run("return window.taken") is None
    assert page.run("return [document.scripts.length, document.images.length]") == [2, 0]
    assert page.text("#name") == HOSTILE + mark.replace("\u202e", "\\u{202e}")
    assert browser.title == HOSTILE + mark.replace("\u202e", "\\u202e")
    assert (HOSTILE + mark).replace('"', '""') in page.csv()
    page.show("x=slots&y=traffic")
    field = page.run("return document.querySelector('#sliders input[type=text]').value")
    assert field == HOSTILE + mark.replace("\u202e", "\\u{202e}")


def test_an_address_that_says_nonsense_is_passed_over(opened):
    nonsense = "x=%E0%A4%A&y=%%&at.=5&at.slots=7&at.traffic=99999999999999999999&window=9.8.7.6&window=a.b.c.d&pin=1.2"
    page, _ = opened(
        "h100", f"{nonsense}&pin=999999999.1.1.1.1&slo.max_ttft_ms=-4&slo.none=3&show=<b>&front=along:z&=&x"
    )
    assert page.logs() == []
    assert page.run("return [report.app.state.pins.length, Object.keys(report.app.state.slo).length]") == [0, 0]
    assert page.run("return report.region().shown") == 4880


def test_the_page_may_neither_load_nor_send(opened):
    page, _ = opened("h100")
    script = """const done = arguments[0], seen = [];
        document.addEventListener("securitypolicyviolation", (event) => seen.push(event.effectiveDirective));
        const image = new Image(); image.src = "https://sweep.invalid/x.png";
        const inline = document.createElement("script"); inline.textContent = "window.taken = 3";
        document.body.append(inline);
        fetch("https://sweep.invalid/").catch(() => setTimeout(() => done(seen.sort()), 200));"""
    assert page.browser.execute_async_script(script) == ["connect-src", "img-src", "script-src-elem"]
    assert page.run("return window.taken") is None


def test_a_slider_is_answered_in_a_moment(opened):
    """Wide bounds of time, for a loaded machine; the commit states what was measured on one."""
    page, _ = opened("10^8 cells", "x=traffic&y=slots&show=limit")
    script = """const done = arguments[0], report = window.sweepReport, app = report.app, taken = [];
        (async () => { for (let place = 5; place < 85; place += 8) {
            const begin = performance.now(); app.place(0, place, null); taken.push(performance.now() - begin);
            await report.ready(); } done([app.slice.masks.length, taken.sort((a, b) => a - b)[5]]); })();"""
    cells, taken = page.browser.execute_async_script(script)
    assert cells >= 50_000
    assert taken < 500
