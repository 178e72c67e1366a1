// The slice that the map shows, computed from a state; every table is made when it is first asked for.

const MAX_SHOWN = 131072;

// What the map may show.
function showsOf(grid) {
  return [
    { name: "limit", text: "what limits each cell" },
    { name: "verdict", text: "within, rejected or invalid" },
    { name: "capacity", text: "largest feasible traffic", unit: "1e-3" },
    ...grid.data.bounds.map(({ name, unit }) => ({
      name: `slack:${name}`,
      text: `slack of ${name}`,
      unit,
      slack: name,
    })),
    ...grid.data.figures.map(({ name, unit, node }) => ({ name, text: name, unit, node })),
  ];
}

// Evenly spaced places of a part of an axis, its last one among them.
function thinned(first, last, step) {
  const places = [];
  for (let place = first; place <= last; place += step) places.push(place);
  if (places[places.length - 1] !== last) places.push(last);
  return places;
}

const UNKNOWN = 0xffff; // a limit that nobody asked for yet
const AT_ONCE = 16384; // cells of whose limits the map waits

class Slice {
  constructor(grid, state, last = null) {
    this.grid = grid;
    this.state = state;
    const [x0, x1, y0, y1] = this.window();
    let [xStep, yStep] = [1, 1];
    const count = (first, last, step) => Math.ceil((last - first + 1) / step);
    while (count(x0, x1, xStep) * count(y0, y1, yStep) > MAX_SHOWN) {
      if (count(x0, x1, xStep) >= count(y0, y1, yStep)) xStep += 1;
      else yStep += 1;
    }
    [this.xStep, this.yStep] = [xStep, yStep];
    this.xs = thinned(x0, x1, xStep);
    this.ys = thinned(y0, y1, yStep);
    this.given = givenOf(grid, state);
    const region = state.index.map((place, axis) =>
      axis === state.x ? this.xs : axis === state.y ? this.ys : [place],
    );
    this.plane = new Plane(grid.evaluation(grid.under(this.given), region), state.x, state.y);
    this.key = this.configurationKey();
    // What a configuration carries, and what stops it, does not depend on the traffic of the slice.
    this.kept = last?.key === this.key ? last.kept : { capacity: null, limits: null };
  }

  // The part of the axes that is seen, as first and last places of x and y.
  window() {
    const { grid, state } = this;
    const ends = [0, grid.axes[state.x].length - 1, 0, grid.axes[state.y].length - 1];
    const wanted = state.window;
    if (wanted === null) return ends;
    return [wanted[0], Math.min(wanted[1], ends[1]), wanted[2], Math.min(wanted[3], ends[3])].map((place, i) =>
      Math.min(place, ends[i < 2 ? 1 : 3]),
    );
  }

  get reasons() {
    return (this.ownReasons ??= reasonsOf(this.plane));
  }

  get masks() {
    return (this.ownMasks ??= masksOf(this.plane, this.reasons, this.grid.data.admission));
  }

  // The axes and bounds, without the traffic.
  configurationKey() {
    const { grid, state } = this;
    const others = othersOf(grid, state).filter((axis) => axis !== grid.traffic);
    const bounds = Object.entries(state.slo).map(([name, value]) => [name, String(value)]);
    return JSON.stringify([state.x, state.y, this.window(), others.map((axis) => state.index[axis]), bounds]);
  }

  // The cells within all bounds whose limits are not known yet.
  get unlimited() {
    const { limits } = this.kept;
    const { masks } = this;
    if (limits === null) return placesWhere(masks, (mask) => mask === 0);
    return placesWhere(masks, (mask, place) => mask === 0 && limits[place] === UNKNOWN);
  }

  // Whether the limits would keep the map waiting.
  get limitsAreSlow() {
    return this.plane.spans(CAPACITY) && this.unlimited.length > AT_ONCE;
  }

  // What stops the next permille of the cells that are within all bounds.
  get limits() {
    const { kept, plane } = this;
    const { admission } = this.grid.data;
    if (!plane.spans(CAPACITY)) kept.limits ??= limitsOf(plane, admission);
    else {
      const places = this.unlimited;
      kept.limits ??= new Uint16Array(plane.size).fill(UNKNOWN);
      takeLimits(plane, places, admission, kept.limits);
    }
    return kept.limits;
  }

  table(name) {
    return name === CAPACITY ? this.capacity : this.plane.table(name);
  }

  get capacity() {
    return (this.kept.capacity ??= capacitiesOf(this.plane));
  }

  // The values that a show has per cell; null for verdict and limit, whose cells have a meaning instead of a number.
  get values() {
    if (this.ownValues !== undefined) return this.ownValues;
    const show = showsOf(this.grid).find(({ name }) => name === this.state.show);
    if (show.name === "capacity") this.ownValues = this.capacity;
    else if (show.slack !== undefined) this.ownValues = this.slack(show.slack);
    else this.ownValues = show.node === undefined ? null : this.table(show.node);
    return this.ownValues;
  }

  slack(name) {
    const { node, figure } = this.grid.data.bounds.find((bound) => bound.name === name);
    const [bound, used] = [this.table(node), this.table(figure)];
    const big = typeof bound[0] === "bigint" || typeof used[0] === "bigint";
    if (!big && this.reach(node, figure)) return used.map((value, place) => bound[place] - value);
    return Array.from(used, (value, place) => BigInt(bound[place]) - BigInt(value));
  }

  // Whether the difference of two nodes stays below 2^53 too.
  reach(node, figure) {
    const [a, b] = [node, figure].map((name) => this.plane.evaluation.proof(name).range);
    return isSafe(a.lo - b.hi, a.hi - b.lo);
  }

  // Whether a value of a cell means something: all of an invalid cell do not, but its capacity.
  isDefined(place) {
    return this.state.show === "capacity" || this.masks[place] !== INVALID;
  }

  // The masks that `limit` shows: what a cell breaks, or what stops the next permille of one within all bounds.
  // Without a wait UNKNOWN, where it would take one.
  limitMasks(wait) {
    const limits = wait ? this.limits : this.kept.limits;
    const { masks } = this;
    return masks.map((mask, place) => (mask !== 0 ? mask : limits === null ? UNKNOWN : limits[place]));
  }

  // The point of a cell of the map.
  point(column, row) {
    const { grid, state } = this;
    const index = [...state.index];
    index[state.x] = this.xs[column];
    index[state.y] = this.ys[row];
    const onMap = state.x === grid.traffic || state.y === grid.traffic;
    const scale = onMap ? grid.label(grid.traffic, index[grid.traffic]) : state.scale;
    if (!onMap) index[grid.traffic] = Math.max(0, grid.axes[grid.traffic].column.lastUpTo(scale));
    return { index, scale };
  }

  // Column and row of a point that lies on this slice; along traffic the last value that it carries. Else null.
  cellOf({ index, scale }) {
    const { grid, state } = this;
    for (const axis of othersOf(grid, state)) {
      if (axis === grid.traffic ? scale !== state.scale : index[axis] !== state.index[axis]) return null;
    }
    const place = (axis, places) => {
      const wanted = axis === grid.traffic ? grid.axes[axis].column.lastUpTo(scale) : index[axis];
      return nearestPlace(places, wanted);
    };
    const [column, row] = [place(state.x, this.xs), place(state.y, this.ys)];
    return column < 0 || row < 0 ? null : { column, row };
  }
}

// The place of a list that is nearest to a wanted one; −1 where it is outside of the list.
function nearestPlace(places, wanted) {
  if (wanted < places[0] || wanted > places[places.length - 1]) return -1;
  let best = 0;
  for (let i = 1; i < places.length; i++) if (Math.abs(places[i] - wanted) < Math.abs(places[best] - wanted)) best = i;
  return best;
}
