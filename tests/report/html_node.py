"""The page's own arithmetic in node: grids in, every node's values and proof out."""

import json
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from sweep.report.html.data import page_data
from sweep.report.html.page_text import ENGINE, VIEW, code_of

DRIVER = """
const bundles = JSON.parse(require("fs").readFileSync(0, "utf8"));
const text = (value) => (typeof value === "bigint" || !Number.isSafeInteger(value) ? String(value) : value + 0);
const answers = bundles.map(({ kernels, data, given, ask }) => {
  const names = ["floorDiv", "ceilDiv", "larger", "smaller"];
  const made = new Function(...names, `${kernels}; return KERNELS;`)(floorDiv, ceilDiv, larger, smaller);
  return ASKED[ask](new Grid(data, made), given);
});
process.stdout.write(JSON.stringify(answers));
"""

ASKED = """
// Every node over the whole grid, in C order over the axes that it has, with the hull of its proof.
function values(grid, given) {
  const evaluation = grid.evaluation(grid.under(given), grid.axes.map((axis) => every(axis.length)));
  const found = {};
  for (const name of grid.program.nodes.keys()) {
    const value = evaluation.get(name), proof = evaluation.proof(name);
    const axes = grid.axes.map((_, axis) => axis).filter((axis) => value.steps[axis] !== 0);
    const flat = [];
    const walk = (level, at) => {
      if (level === axes.length) { flat.push(text(value.store.data[at])); return; }
      const axis = axes[level];
      for (let i = 0; i < grid.axes[axis].length; i++) walk(level + 1, at + i * value.steps[axis]);
    };
    walk(0, value.offset);
    const own = grid.program.nodes.get(name).kernel >= 0; // else it is another node under a second name
    found[name] = { axes, values: flat, hull: own ? [String(proof.hull.lo), String(proof.hull.hi)] : null };
  }
  return found;
}

// The largest point of the whole grid: by walking, and by boxes.
function largest(grid, given) {
  const run = (steps) => { let done; do done = steps.next(); while (!done.done); return done.value; };
  const walked = run(walkConfigurations(grid, given)), boxed = run(searchBoxes(grid, given));
  const shown = (point) => point && [point.index, point.scale];
  return { walked: shown(walked.best), boxed: shown(boxed.best) };
}

// A slice as CSV, and with two objectives the Pareto set of its cells.
function region(grid, { x, y, index, scale, slo, show, objectives }) {
  const bounds = Object.fromEntries(Object.entries(slo).map(([name, value]) => [name, narrowed(BigInt(value))]));
  const state = { ...initialState(grid), x, y, index, scale: narrowed(BigInt(scale)), slo: bounds, show };
  const slice = new Slice(grid, state), known = objectivesOf(grid);
  if (objectives === undefined) return csvOf(slice);
  const [first, second] = objectives.map((name) => known.find((one) => one.name === name));
  const { one, two, front, feasible } = paretoOf(slice, first, second);
  return { feasible, points: front.map((place) => [String(one[place]), String(two[place])]) };
}

// The self-check of the page.
function check(grid) {
  const steps = grid.selfCheck();
  let step;
  do step = steps.next(); while (!step.done);
  return step.value;
}

// Divisions as a formula on doubles has them.
function divisions(grid, pairs) {
  const both = (a, b) => [text(Math.floor(a / b)), text(Math.ceil(a / b))];
  return pairs.map(([a, b]) => both(Number(a), Number(b)));
}

const ASKED = { values, largest, region, check, divisions };
"""


def node() -> str | None:
    """The program, None where there is none."""
    return shutil.which("node")


def asked(ask: str, grids: list[Any], given: list[Any] | None = None, wrong: tuple[str, str] = ("", "")) -> list[Any]:
    """One answer per grid.

    Args:
        ask: `values`, `largest`, `region`, `check` or `divisions`.
        grids: the grids.
        wrong: a text of the kernels and another one to put in its place.
        given: per grid what the question takes, as JSON; default: no input is replaced.
    """
    program = node()
    assert program is not None
    bundles = []
    for place, grid in enumerate(grids):
        kernels, data = page_data(grid)
        kernels = kernels.replace(*wrong) if wrong[0] else kernels
        bundles.append({"kernels": kernels, "data": data, "given": given[place] if given else {}, "ask": ask})
    view = [name for name in VIEW if name != "main.js"]  # that one begins with the document
    # Boxes of small grids are cut too, down to four configurations.
    engine = code_of(ENGINE).replace("WALKED_BOX = 512", "WALKED_BOX = 4")
    assert "WALKED_BOX = 4;" in engine
    script = "\n".join([engine, code_of(view), ASKED, DRIVER])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "asked.js"
        path.write_text(script, encoding="utf-8")
        done = subprocess.run(
            [program, str(path)], input=json.dumps(bundles), capture_output=True, text=True, check=False
        )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
