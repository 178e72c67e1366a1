// The frontier along an axis: for each of its values the largest traffic over all other axes, and that of the slice.

class Along {
  constructor(app) {
    const { grid, state } = app;
    const { axis } = state.front;
    this.app = app;
    this.axis = axis;
    this.count = grid.axes[axis].length;
    this.slice = this.ownCapacities();
    this.whole = app.searches.along(axis); // null while it is sought; undefined for values that are not searched
    this.points = every(this.count).reduce((points, place) => points.concat(this.pointOf(place)), []);
    const most = this.points.reduce((high, { value }) => Math.max(high, value), Math.max(1, ...this.slice));
    this.range = { low: 0, high: most * 1.05 };
  }

  // The capacity for each value of the axis, the other axes as in the slice.
  ownCapacities() {
    const { grid, state } = this.app;
    const places = every(this.count);
    const region = state.index.map((place, axis) => (axis === this.axis ? places : [place]));
    const value = grid.evaluation(grid.under(boundsOf(state)), region).get(CAPACITY);
    const data = numbersOf(value);
    return Array.from(places, (place) => data[value.offset + place * value.steps[this.axis]]);
  }

  // The point of a value of the axis: of the grid's best configuration with it; while that is sought, of the slice's.
  pointOf(place) {
    const { index } = this.app.state;
    const traffic = index.at(-1);
    const found = this.whole?.[place];
    const here = { position: this.across(place), place, index: index.with(this.axis, place) };
    if (this.whole === null) return [{ ...here, value: this.slice[place] }];
    if (found === undefined) return [];
    return [found === null ? { ...here, value: 0 } : { ...here, value: found.scale, index: [...found.index, traffic] }];
  }

  get text() {
    const { progress } = this.app.searches;
    const dashed = "Dashed: the other axes as in the map's slice.";
    const search = progress ? ` The whole grid is being searched: ${progress} …` : "";
    if (this.whole === null) return `${dashed}${search}`;
    if (!search && this.points.every(({ value }) => value === 0)) {
      return "No configuration carries any traffic under these bounds.";
    }
    const few = this.points.length < this.count;
    const part = few ? `, for ${grouped(this.points.length)} of ${grouped(this.count)} values` : "";
    const line = `Line: the best over all other axes${part}, every configuration decided.`;
    return `${line} ${dashed} Click a point to go there.${search}`;
  }

  across(place) {
    return (place + 0.5) / this.count;
  }

  up(value) {
    return value / this.range.high;
  }

  axes() {
    const { grid } = this.app;
    const label = (i) => labelText(grid.label(this.axis, i));
    const x = { title: axisTitle(grid.axes[this.axis]), count: this.count, label, at: (i) => this.across(i) };
    return [x, valueAxis("largest traffic in ‰", this.range, (value) => this.up(value))];
  }

  draw(view, context) {
    const { best, state } = this.app;
    const { area } = view;
    const all = this.points.length === this.count;
    const own = this.slice.map((value, place) => ({ position: this.across(place), value, place }));
    this.line(view, context, own, [6, 4], styleOf("--soft"), true);
    if (this.whole !== null) this.line(view, context, this.points, [], styleOf("--accent"), all);
    const [x] = view.spot({ position: this.across(state.index[this.axis]), value: 0 });
    context.fillStyle = styleOf("--soft");
    context.fillRect(x - 0.5, area.top, 1, area.height);
    if (best) drawStar(context, ...view.spot({ position: this.across(best.index[this.axis]), value: best.scale }));
  }

  // A line through points that carry traffic, interrupted where one between them does not.
  line(view, context, points, dash, colour, dense) {
    const spots = points
      .filter(({ value }) => value > 0)
      .map((point) => ({ place: point.place, at: view.spot(point) }));
    const joins = (k) => k > 0 && k < spots.length && (!dense || spots[k].place === spots[k - 1].place + 1);
    context.strokeStyle = colour;
    context.fillStyle = colour;
    context.lineWidth = dash.length ? 1.5 : 2.2;
    context.setLineDash(dash);
    context.beginPath();
    spots.forEach(({ at }, k) => context[joins(k) ? "lineTo" : "moveTo"](...at));
    context.stroke();
    context.setLineDash([]);
    spots.forEach(({ at: [x, y] }, k) => {
      if (points.length <= 40 || (!joins(k) && !joins(k + 1))) context.fillRect(x - 2.5, y - 2.5, 5, 5);
    });
  }

  // How far a point is from a place of the picture: across alone, each has a column of its own.
  distance([x], [px]) {
    return Math.abs(x - px);
  }

  // Where a cell of the map is here: its configuration's own traffic.
  follow({ index }, { capacity }) {
    return { position: this.across(index[this.axis]), value: capacity };
  }

  // What a point is on the map: its cell, or its column or row where the map spans the axis.
  link(point) {
    return { ...point, axis: this.axis };
  }
}

function drawStar(context, x, y) {
  context.font = "21px system-ui, sans-serif";
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.lineWidth = 3.5;
  context.strokeStyle = "#111111";
  context.strokeText("★", x, y);
  context.fillStyle = "#ffd92f";
  context.fillText("★", x, y);
}
