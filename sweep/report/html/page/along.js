// The frontier along an axis: for each of its values the largest traffic over all other axes, and that of the slice.

const MOST_PLACES = 2000; // values of a long axis that the picture has

class Along {
  constructor(app) {
    const { grid, state } = app;
    const { axis } = state.front;
    this.app = app;
    this.axis = axis;
    this.count = grid.axes[axis].length;
    this.places = ticked(this.count, MOST_PLACES);
    this.slice = this.ownCapacities();
    this.whole = app.searches.along(axis); // from places to configurations, null before any is known
    this.points = this.whole === null ? this.slice : this.found();
    const most = [...this.points, ...this.slice].reduce(
      (high, { value }) => Math.max(high, value),
      app.best?.scale ?? 1,
    );
    this.range = { low: 0, high: most * 1.05 };
  }

  // The capacity for each value of the axis, the other axes as in the slice.
  ownCapacities() {
    const { grid, state } = this.app;
    const region = state.index.map((place, axis) => (axis === this.axis ? this.places : [place]));
    const value = grid.evaluation(grid.under(boundsOf(state)), region).get(CAPACITY);
    const data = numbersOf(value);
    return this.places.map((place, i) => this.point(place, data[value.offset + i * value.steps[this.axis]], null));
  }

  // The best configuration of the grid with each value of the axis that was searched.
  found() {
    const entries = [...this.whole].sort(([a], [b]) => a - b);
    return entries.map(([place, best]) => this.point(place, best?.scale ?? 0, best?.index));
  }

  // A point of the picture; its configuration is the slice's with this value where no other one is given.
  point(place, value, configuration) {
    const { index } = this.app.state;
    const own = configuration ? [...configuration, index.at(-1)] : index.with(this.axis, place);
    return { position: this.across(place), value, place, index: own };
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
    this.line(view, context, this.slice, [6, 4], styleOf("--soft"));
    if (this.whole !== null) this.line(view, context, this.points, [], styleOf("--accent"));
    const [x] = view.spot({ position: this.across(state.index[this.axis]), value: 0 });
    context.fillStyle = styleOf("--soft");
    context.fillRect(x - 0.5, area.top, 1, area.height);
    if (best) drawStar(context, ...view.spot({ position: this.across(best.index[this.axis]), value: best.scale }));
  }

  // A line through points that carry traffic, interrupted where one between them does not.
  line(view, context, points, dash, colour) {
    const spots = points.flatMap((point, i) => (point.value > 0 ? [{ i, at: view.spot(point) }] : []));
    const joins = (k) => k > 0 && k < spots.length && spots[k].i === spots[k - 1].i + 1;
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
