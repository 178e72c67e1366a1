// The page: one state, one slice at a time, and searches over the whole grid that run beside it in short turns.

const TURN_MS = 12; // how long a search may keep the page from answering
const WALKED_CONFIGURATIONS = 1n << 20n; // up to so many configurations the capacity of each is computed

class App {
  constructor(grid) {
    this.grid = grid;
    this.best = grid.data.best;
    this.fronts = null;
    this.frontProgress = "";
    this.turns = new Map(); // name -> number of the run that counts
    this.timings = {};
    this.state = stateOf(grid, location.hash.slice(1), initialState(grid));
    this.slice = new Slice(grid, this.state);
    this.cells = new Map(); // what was explained under these bounds
    this.map = new MapView(this);
    this.front = new FrontierView(this);
    this.controls = new Controls(this);
    this.searched = null;
    this.memory = null;
    this.showWhole();
    window.addEventListener("hashchange", () => this.take(stateOf(grid, location.hash.slice(1), initialState(grid))));
    new ResizeObserver(() => { this.map.draw(); this.front.draw(); }).observe(byId("region"));
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { this.map.draw(); this.front.draw(); });
  }

  // A change of the state, shown at once; the address follows.
  change(change) { this.take({ ...this.state, ...change }); }

  take(state) {
    const bounds = JSON.stringify(Object.entries(boundsOf(state)).map(([name, value]) => [name, String(value)]));
    const moved = bounds !== this.searched;
    if (state.x !== this.state.x || state.y !== this.state.y) this.map.cursor = null;
    this.state = state;
    if (moved) { this.cells.clear(); this.memory = null; }
    this.showSlice();
    if (moved) this.search(bounds);
    clearTimeout(this.later);
    this.later = setTimeout(() => history.replaceState(null, "", `#${fragmentOf(this.grid, this.state)}`), 150);
  }

  place(axis, place, scale) {
    this.change({ index: this.state.index.with(axis, place), scale: scale ?? this.state.scale });
  }

  showWhole() {
    const { grid } = this, { data } = grid;
    put("name", named(data.name));
    put("size", `${counted(grid.cells, "operating point", "operating points")}: `,
      ...grid.axes.flatMap((axis, i) => [i ? " × " : "", named(axis.short), ` ${grouped(axis.length)}`]));
    put("claim", data.claim.text);
    put("keys", "Keys on the map: arrows move the cell (with Shift ten), Enter pins it, Escape unpins, + and − zoom, 0 shows all. "
      + "On the frontier: arrows, and Enter goes there. The address holds what is seen.");
    byId("unpin").addEventListener("click", () => this.unpin());
    byId("csv").addEventListener("click", () => download("region.csv", csvOf(this.slice)));
    const around = () => this.map.cursor ?? this.map.home();
    for (const [id, by] of [["zoomin", 0.5], ["zoomout", 2], ["zoomall", Infinity]]) {
      byId(id).addEventListener("click", () => this.zoom(around(), by));
    }
    this.take(this.state);
    setTimeout(() => this.checkItself(), 30);
  }

  checkItself() {
    const { checked, differing } = this.grid.selfCheck();
    this.check = { checked, differing };
    put("checked", `sweep ${this.grid.data.version}, grid ${this.grid.data.grid.slice(0, 12)}. `
      + `${counted(checked, "cell", "cells")} that the scalar reference judged were judged here again: ${differing === 0 ? "no difference" : `${differing} differ`}.`);
    byId("alarm").hidden = differing === 0;
    if (differing) put("alarm", `This page is wrong: ${differing} of ${checked} cells differ from the reference. Do not use its figures.`);
  }

  showSlice() {
    const begin = performance.now();
    this.slice = new Slice(this.grid, this.state, this.slice);
    this.linked = null;
    this.map.tip.hidden = true;
    const later = this.state.show === "limit" && this.slice.limitsAreSlow;
    this.map.paint(!later);
    this.run("limits", later ? this.limitsSoon() : [][Symbol.iterator]());
    this.timings.slice = performance.now() - begin;
    this.controls.show();
    showLegend(this);
    this.describeSlice();
    showPins(this);
    this.timings.whole = performance.now() - begin;
    this.run("front", this.frontSoon());
  }

  * limitsSoon() {
    yield;
    this.map.paint();
    showLegend(this);
  }

  // The frontier follows when the page has a moment.
  * frontSoon() { yield; this.front.show(); }

  describeSlice() {
    const { grid, slice, state } = this, show = showsOf(grid).find(({ name }) => name === state.show);
    put("maptitle", show.unit && UNITS[show.unit] ? `${show.text} in ${UNITS[show.unit]}` : show.text);
    const names = othersOf(grid, state).filter((axis) => grid.axes[axis].length > 1 || axis === grid.traffic);
    const values = names.map((axis) => `${safe(grid.axes[axis].short)} = ${labelText(axis === grid.traffic ? state.scale : grid.label(axis, state.index[axis]))}`);
    const within = slice.masks.reduce((sum, mask) => sum + (mask === 0), 0);
    const steps = [[slice.xStep, state.x], [slice.yStep, state.y]].filter(([step]) => step > 1)
      .map(([step, axis]) => `every ${grouped(step)}th value of ${safe(grid.axes[axis].short)}`);
    put("shown", `${values.length ? `Slice at ${values.join(", ")}. ` : ""}${counted(slice.masks.length, "cell", "cells")} shown, ${grouped(within)} within all bounds.`
      + `${steps.length ? ` Thinned out: ${steps.join(" and ")}; zoom in to see all.` : ""}${state.window ? " Zoomed in." : ""}`);
    byId("map").setAttribute("aria-label", `Map of ${show.text}: ${safe(grid.axes[state.x].short)} across, ${safe(grid.axes[state.y].short)} up. Arrow keys move the cell, Enter pins it.`);
    byId("front").setAttribute("aria-label", "Frontier. Arrow keys move along it, Enter goes there.");
  }

  // Run a generator in short turns; a new run of the same name ends the old one.
  run(name, steps, done = () => {}, progress = () => {}) {
    const number = (this.turns.get(name)?.number ?? 0) + 1;
    const entry = { number, busy: true };
    this.turns.set(name, entry);
    const turn = () => {
      if (this.turns.get(name) !== entry) return;
      const until = performance.now() + TURN_MS;
      for (;;) {
        const step = steps.next();
        if (step.done) { entry.busy = false; done(step.value); return; }
        if (performance.now() >= until || step.value === undefined) { progress(step.value); setTimeout(turn, 0); return; }
      }
    };
    setTimeout(turn, 0);
  }

  get busy() { return [...this.turns.values()].some((entry) => entry.busy); }

  // The largest point of the whole grid under these bounds, and the frontiers.
  search(bounds) {
    const declared = bounds === "[]", given = boundsOf(this.state), begin = performance.now();
    this.searched = bounds;
    this.fronts = null;
    this.alongs = new Map();
    this.turns.delete("along");
    const found = ({ best }) => {
      this.best = best;
      this.timings.search = performance.now() - begin;
      this.describeBest();
      this.map.draw();
      this.front.draw();
      if (this.grid.configurations <= WALKED_CONFIGURATIONS) this.walk(given);
    };
    put("largest", "Searching for the largest operating point of the whole grid …");
    if (declared) this.best = this.grid.data.best;
    this.run("search", searchBoxes(this.grid, given), found,
      (step) => put("largest", `Searching the whole grid: ${grouped(step.done)} boxes of operating points bounded …`));
  }

  walk(given) {
    this.run("walk", walkConfigurations(this.grid, given), ({ fronts }) => {
      const lengths = this.grid.axes.slice(0, -1).map((axis) => axis.length);
      this.fronts = fronts.map(({ capacity, number }) => Array.from(capacity, (scale, i) =>
        (scale > 0 ? { scale, index: placeOf(number[i], lengths) } : null)));
      this.front.show();
    }, ({ done, total }) => { this.frontProgress = `${Math.floor((100 * done) / total)} %`; });
  }

  // Per value of an axis the best configuration of the grid; null while it is being computed.
  frontOf(axis) {
    if (this.fronts !== null) return this.fronts[axis];
    if (this.grid.configurations <= WALKED_CONFIGURATIONS) return null;
    if (!this.alongs.has(axis)) this.searchAlong(axis);
    return this.alongs.get(axis);
  }

  // Of a grid too large to be walked: boxes for each value of the axis, evenly chosen values of a long one.
  searchAlong(axis) {
    const { grid } = this, lengths = grid.axes.slice(0, -1).map((one) => one.length), alongs = this.alongs;
    alongs.set(axis, null);
    this.run("along", this.alongSteps(axis, lengths), (found) => { alongs.set(axis, found); this.front.show(); },
      (step) => { this.frontProgress = step ?? ""; });
  }

  * alongSteps(axis, lengths) {
    const given = boundsOf(this.state), found = new Array(lengths[axis]).fill(null);
    const places = ticked(lengths[axis], MOST_SEARCHED);
    for (const place of places) {
      const from = lengths.map(() => 0).with(axis, place), to = lengths.map((length) => length - 1).with(axis, place);
      const { best } = yield* searchBoxes(this.grid, given, from, to);
      found[place] = best;
      yield `${place + 1} of ${lengths[axis]}`;
    }
    return found;
  }

  describeBest() {
    const { best, grid } = this;
    if (best === null) {
      put("largest", make("span", { class: "bad" }, `Nothing is feasible at any traffic, in any of the ${grouped(grid.configurations)} configurations, under these bounds.`));
      return;
    }
    const point = { index: [...best.index, 0], scale: best.scale }, next = this.explained({ index: point.index, scale: best.scale + 1 });
    const stops = breaches(this, next).map((text) => text.split(":")[0]).join(", ");
    put("largest", make("strong", {}, `Largest feasible operating point of the whole grid: ${factor(best.scale)} times the declared traffic`),
      ` (${coordinates(this, point)}). One permille more: ${stops}. Every one of ${counted(grid.configurations, "configuration", "configurations")} is decided. `,
      make("button", { type: "button", onclick: () => this.goTo({ index: point.index, scale: best.scale }, true) }, "Go there and pin it"));
  }

  // The scale at which a point of the search lies on the slice: its own along a traffic axis, else the slice's.
  scaleOf(best) {
    const { grid, state } = this, onMap = state.x === grid.traffic || state.y === grid.traffic;
    return onMap ? best.scale : state.scale <= best.scale ? state.scale : best.scale;
  }

  explained({ index, scale }) {
    const key = `${index.slice(0, -1).join(".")} ${scale}`;
    if (!this.cells.has(key)) {
      if (this.cells.size > 2000) this.cells.clear();
      this.cells.set(key, this.grid.cell(boundsOf(this.state), index, scale));
    }
    return this.cells.get(key);
  }

  // The KV bound that the memory leaves in the slice's own cell.
  memoryBound() {
    this.memory ??= this.grid.cell({}, this.state.index, this.state.scale).bounds.max_kv_bytes;
    return this.memory > 0 ? this.memory : 1;
  }

  pin({ column, row }) {
    const point = this.slice.point(column, row), { pins } = this.state;
    const same = (pin) => pin.scale === point.scale && pin.index.every((place, axis) => place === point.index[axis] || axis === this.grid.traffic);
    if (pins.some(same)) this.change({ pins: pins.filter((pin) => !same(pin)) });
    else this.change({ pins: pins.length === 0 ? [point] : [pins[0], point] });
  }

  unpin() { this.change({ pins: [] }); }

  // Move the slice to a point; pin it too where it is asked for.
  goTo({ index, scale }, pinned) {
    const traffic = Math.max(0, this.grid.axes[this.grid.traffic].column.lastUpTo(scale));
    const point = { index: index.with(this.grid.traffic, traffic), scale };
    const pins = pinned ? [...this.state.pins.slice(0, 1).filter((pin) => JSON.stringify(pin) !== JSON.stringify(point)), point] : this.state.pins;
    this.change({ index: point.index, scale, pins, window: null });
  }

  zoom({ column, row }, by) {
    const { slice, state, grid } = this, [x0, x1, y0, y1] = slice.window();
    const part = (first, last, centre, length) => {
      const size = Math.min(length, Math.max(2, Math.round((last - first + 1) * by)));
      const from = Math.min(Math.max(0, centre - (size >> 1)), length - size);
      return [from, from + size - 1];
    };
    const [xLength, yLength] = [grid.axes[state.x].length, grid.axes[state.y].length];
    const window = [...part(x0, x1, slice.xs[column], xLength), ...part(y0, y1, slice.ys[row], yLength)];
    const whole = window[0] === 0 && window[2] === 0 && window[1] === xLength - 1 && window[3] === yLength - 1;
    this.map.cursor = null;
    this.change({ window: whole ? null : window });
  }

  // The map's cell under the pointer, shown on the frontier.
  follow() {}

  // The frontier's point, shown on the map: its cell, or its column or row.
  link(point) {
    this.linked = point === null ? null : this.linkedCells(point);
    this.map.draw();
  }

  linkedCells({ index, scale, along }) {
    const cell = this.slice.cellOf({ index, scale: along === null ? scale : this.state.scale });
    return cell === null ? [] : [cell];
  }
}

// What tests and other programs may ask of the page; it only reads and sets what a person could.
function interfaceOf(app) {
  const { grid } = app, place = (name) => grid.axes.findIndex((axis) => axis.name === name || axis.short === name);
  return {
    app,
    ready: () => new Promise((resolve) => { const look = () => (app.busy ? setTimeout(look, 10) : resolve(true)); look(); }),
    region: () => ({ csv: csvOf(app.slice), masks: [...app.slice.masks], shown: app.slice.masks.length, timings: app.timings }),
    show: (fragment) => { app.take(stateOf(grid, fragment, initialState(grid))); },
    best: () => app.best && { point: Object.fromEntries(grid.axes.map((axis, i) => [axis.name, i === grid.traffic ? app.best.scale : grid.label(i, app.best.index[i])])) },
    along: (name) => app.frontOf(place(name)),
    pareto: () => app.front.points.map(({ place: at }) => [app.front.series.one[at], app.front.series.two[at]].map(String)),
    check: () => app.check,
  };
}

window.sweepReport = interfaceOf(new App(new Grid(JSON.parse(byId("data").textContent), KERNELS)));
