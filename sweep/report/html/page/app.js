// The page: one state, one slice at a time, and searches over the whole grid that run beside it.

const FRONT_AFTER_MS = 60; // how long no slider may move before the frontier follows
const ADDRESS_AFTER_MS = 150;
const MOST_EXPLAINED = 2000; // cells whose explanation is remembered

class App {
  constructor(grid) {
    this.grid = grid;
    this.turns = new Turns();
    this.searches = new Searches(this);
    this.timings = {};
    this.state = stateOf(grid, location.hash.slice(1), initialState(grid));
    this.slice = new Slice(grid, this.state);
    this.cells = new Map(); // what was explained under these bounds
    this.bounds = null; // under which the searches run, as a text
    this.linked = null; // what the frontier points at
    this.map = new MapView(this);
    this.front = new FrontierView(this);
    this.controls = new Controls(this);
    describeWhole(this);
    this.listen();
    this.take(this.state);
    this.turns.run("check", grid.selfCheck(), {
      done: (found) => {
        this.check = found;
        describeCheck(this, found);
      },
    });
  }

  get best() {
    return this.searches.best;
  }

  listen() {
    const redraw = () => {
      this.map.draw();
      this.front.draw();
    };
    window.addEventListener("hashchange", () => this.read(location.hash.slice(1)));
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
    new ResizeObserver(redraw).observe(byId("region"));
    byId("unpin").addEventListener("click", () => this.unpin());
    byId("csv").addEventListener("click", () => download("region.csv", csvOf(this.slice)));
    for (const [id, by] of [
      ["zoomin", 0.5],
      ["zoomout", 2],
      ["zoomall", Infinity],
    ]) {
      byId(id).addEventListener("click", () => this.zoom(this.map.cursor ?? this.map.home(), by));
    }
  }

  // The state of a fragment of the address.
  read(fragment) {
    this.take(stateOf(this.grid, fragment, initialState(this.grid)));
  }

  change(change) {
    this.take({ ...this.state, ...change });
  }

  // Another state, shown at once; the address follows.
  take(state) {
    const bounds = JSON.stringify(
      Object.entries(state.slo)
        .map(([name, value]) => [name, String(value)])
        .sort(),
    );
    const moved = bounds !== this.bounds;
    if (state.x !== this.state.x || state.y !== this.state.y) this.map.cursor = null;
    this.state = state;
    this.bounds = bounds;
    if (moved) {
      this.cells.clear();
      this.searches.begin(boundsOf(state));
    }
    this.showSlice();
    clearTimeout(this.later);
    this.later = setTimeout(
      () => history.replaceState(null, "", `#${fragmentOf(this.grid, this.state)}`),
      ADDRESS_AFTER_MS,
    );
  }

  place(axis, place, scale) {
    this.change({ index: this.state.index.with(axis, place), scale: scale ?? this.state.scale });
  }

  showSlice() {
    const begin = performance.now();
    this.slice = new Slice(this.grid, this.state, this.slice);
    this.linked = null;
    this.map.tip.hidden = true;
    const later = this.state.show === "limit" && this.slice.limitsAreSlow;
    this.map.paint(!later);
    this.timings.slice = performance.now() - begin;
    this.controls.show();
    showLegend(this);
    describeSlice(this);
    showPins(this);
    this.timings.whole = performance.now() - begin;
    this.turns.end("limits");
    if (later)
      this.turns.run(
        "limits",
        once(() => {
          this.map.paint();
          showLegend(this);
        }),
      );
    this.turns.run(
      "front",
      once(() => this.front.show()),
      { wait: FRONT_AFTER_MS },
    );
  }

  // The scale at which a point of the search lies on the slice: its own along a traffic axis, else the slice's.
  scaleOf(best) {
    const { grid, state } = this;
    const onMap = state.x === grid.traffic || state.y === grid.traffic;
    return onMap || state.scale > best.scale ? best.scale : state.scale;
  }

  explained({ index, scale }) {
    const key = `${index.slice(0, -1).join(".")} ${scale}`;
    if (!this.cells.has(key)) {
      if (this.cells.size > MOST_EXPLAINED) this.cells.clear();
      this.cells.set(key, this.grid.cell(boundsOf(this.state), index, scale));
    }
    return this.cells.get(key);
  }

  // The KV bound that the memory leaves in the slice's own configuration.
  memoryBound() {
    const { max_kv_bytes: _, ...others } = this.state.slo;
    const { bounds } = this.grid.cell(boundsOf({ slo: others }), this.state.index, this.state.scale);
    return bounds.max_kv_bytes > 0 ? bounds.max_kv_bytes : 1;
  }

  // Pin a cell of the map, or unpin it; a third one takes the place of the second.
  pin({ column, row }) {
    const point = this.slice.point(column, row);
    const { pins } = this.state;
    const { traffic } = this.grid;
    const isHere = ({ index, scale }) =>
      scale === point.scale && index.every((place, axis) => place === point.index[axis] || axis === traffic);
    if (pins.some(isHere)) this.change({ pins: pins.filter((pin) => !isHere(pin)) });
    else this.change({ pins: [...pins.slice(0, 1), point] });
  }

  unpin() {
    this.change({ pins: [] });
  }

  // Move the slice to a point; pin it too where it is asked for.
  goTo({ index, scale }, pinned) {
    const { grid, state } = this;
    const traffic = Math.max(0, grid.axes[grid.traffic].column.lastUpTo(scale));
    const point = { index: index.with(grid.traffic, traffic), scale };
    const others = state.pins.slice(0, 1).filter((pin) => JSON.stringify(pin) !== JSON.stringify(point));
    this.change({ index: point.index, scale, window: null, pins: pinned ? [...others, point] : state.pins });
  }

  // See a smaller or larger part of both axes around a cell.
  zoom({ column, row }, by) {
    const { slice, state, grid } = this;
    const [x0, x1, y0, y1] = slice.window();
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

  // The frontier's point, shown on the map.
  link(point) {
    this.linked = point;
    this.map.draw();
  }
}
