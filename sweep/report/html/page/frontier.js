// The frontier, linked with the map: the largest traffic along an axis, or the trade-off of two objectives.

const MOST_SEARCHED = 120; // values of an axis for each of which boxes are searched where a walk is too long
const DRAWN_POINTS = 20000;

class FrontierView {
  constructor(app) {
    this.app = app;
    this.canvas = byId("front");
    this.tip = byId("fronttip");
    this.at = null; // the point under the pointer or the keys
    this.canvas.addEventListener("pointermove", (event) => this.hover(this.nearest(event.offsetX, event.offsetY)));
    this.canvas.addEventListener("pointerleave", () => this.hover(null));
    this.canvas.addEventListener("blur", () => this.hover(null));
    this.canvas.addEventListener("focus", () => this.hover(this.at ?? 0));
    this.canvas.addEventListener("click", () => this.choose());
    this.canvas.addEventListener("keydown", (event) => this.key(event));
  }

  buildPicks() {
    const { app } = this, { grid, state } = app, { kind, axis, first, second } = state.front;
    const signature = JSON.stringify([state.front, state.x, state.y]);
    if (this.picked === signature) return;
    this.picked = signature;
    const along = grid.axes.slice(0, -1).map((one, place) => ({ value: `along:${place}`, text: `largest traffic along ${safe(one.short)}` }));
    const kinds = [...along, { value: "pareto", text: "trade-off in this slice" }];
    const chosen = kind === "along" ? `along:${axis}` : "pareto";
    const set = (change) => app.change({ front: { ...app.state.front, ...change } });
    const objectives = objectivesOf(grid).filter((one) => one.axis === undefined || one.axis === state.x || one.axis === state.y)
      .map(({ name, rising }) => ({ value: name, text: `${rising ? "most" : "least"} ${safe(name)}` }));
    const select = (label, options, value, changed) => make("select", { "aria-label": label, onchange: (event) => changed(event.target.value) },
      ...options.map((one) => option(one.value, one.text, one.value === value)));
    put("frontpicks", select("what the frontier shows", kinds, chosen, (value) =>
      set(value === "pareto" ? { kind: "pareto" } : { kind: "along", axis: Number(value.slice(6)) })),
    ...(kind === "pareto" ? [select("first objective", objectives, first, (value) => set({ first: value })),
      select("second objective", objectives, second, (value) => set({ second: value }))] : []));
  }

  show() {
    this.buildPicks();
    this.at = null;
    this.tip.hidden = true;
    if (this.app.state.front.kind === "along") this.showAlong(); else this.showPareto();
  }

  // The largest traffic for each value of an axis: over the whole grid, and with the other axes as in the slice.
  showAlong() {
    const { app } = this, { grid, state } = app, { axis } = state.front;
    const places = every(grid.axes[axis].length), region = state.index.map((place, other) => (other === axis ? places : [place]));
    const own = grid.evaluation(grid.under(boundsOf(state)), region), value = own.get(CAPACITY), data = numbersOf(value);
    const slice = Array.from(places, (place) => data[value.offset + place * value.steps[axis]]);
    const whole = app.frontOf(axis);
    this.series = { places, slice, whole, axis };
    this.points = Array.from(places, (place) => {
      const found = whole?.[place], index = found?.index ?? state.index.slice(0, -1).with(axis, place);
      return { position: (place + 0.5) / places.length, value: found ? found.scale : whole ? 0 : slice[place], index, scale: found?.scale ?? slice[place] };
    });
    const most = Math.max(1, ...slice, ...(whole ?? []).map((one) => one?.scale ?? 0));
    this.range = { low: 0, high: most * 1.05 };
    this.draw();
    const covered = whole === null ? `the whole grid is being searched … ${app.frontProgress}` : "every configuration of the grid is decided";
    put("fronttext", `Line: over all other axes (${covered}). Dashed: the other axes as in the map's slice. Click a point to go there.`);
  }

  showPareto() {
    const { app } = this, { grid, slice, state } = app, known = objectivesOf(grid);
    const [first, second] = [state.front.first, state.front.second].map((name) => known.find((one) => one.name === name));
    const found = paretoOf(slice, first, second);
    this.series = { ...found, first, second };
    const feasible = [];
    for (let place = 0; place < slice.masks.length; place++) if (slice.masks[place] === 0) feasible.push(place);
    const ends = (values) => {
      let low = Infinity, high = -Infinity;
      for (const place of feasible) { const value = Number(values[place]); if (value < low) low = value; if (value > high) high = value; }
      return feasible.length ? { low, high: high === low ? low + 1 : high } : { low: 0, high: 1 };
    };
    this.series.feasible = feasible;
    this.series.x = ends(found.two);
    this.range = ends(found.one);
    this.points = found.front.map((place) => ({
      place, position: this.across(found.two[place]), value: Number(found.one[place]),
      ...slice.point(place % slice.xs.length, Math.floor(place / slice.xs.length)),
    }));
    this.draw();
    put("fronttext", `${counted(feasible.length, "cell", "cells")} of the slice within all bounds; `
      + `${counted(found.front.length, "point", "points")} that none of them beats in both: ${first.rising ? "most" : "least"} ${safe(first.name)}, `
      + `${second.rising ? "most" : "least"} ${safe(second.name)}.`);
  }

  across(value) {
    const { low, high } = this.series.x;
    return 0.03 + 0.94 * (Number(value) - low) / (high - low);
  }

  up(value) { return (value - this.range.low) / (this.range.high - this.range.low); }

  draw() {
    if (this.series === undefined) return;
    const frame = prepared(this.canvas), { context, area } = frame;
    this.area = area;
    if (this.app.state.front.kind === "along") this.drawAlong(frame); else this.drawPareto(frame);
    if (this.at === null) return;
    const { position, value } = this.points[this.at], [x, y] = this.spot(position, value);
    context.strokeStyle = styleOf("--accent");
    context.lineWidth = 2.5;
    context.beginPath(); context.arc(x, y, 7, 0, 2 * Math.PI); context.stroke();
  }

  spot(position, value) {
    const { area } = this;
    return [area.left + area.width * position, area.top + area.height * (1 - this.up(value))];
  }

  valueAxis(title, range) {
    const ticks = roundTicks(range.low, range.high);
    return { title, count: ticks.length, label: (i) => shortNumber(ticks[i]), at: (i) => (ticks[i] - range.low) / (range.high - range.low) };
  }

  drawAlong(frame) {
    const { context } = frame, { grid, best, state } = this.app, { axis, places, slice, whole } = this.series;
    drawAxes(frame, {
      title: axisTitle(grid.axes[axis]), count: places.length, label: (i) => labelText(grid.label(axis, i)), at: (i) => (i + 0.5) / places.length,
    }, this.valueAxis("largest traffic in ‰", this.range));
    const thin = places.length > MOST_SEARCHED && this.app.fronts === null; // searched at some values only
    const line = (values, dash, colour, width) => {
      context.strokeStyle = colour; context.lineWidth = width; context.setLineDash(dash);
      context.beginPath();
      const spots = values.flatMap((value, i) => (value > 0 ? [{ i, at: this.spot((i + 0.5) / values.length, value) }] : []));
      spots.forEach(({ i, at }, k) => context[k && (spots[k - 1].i === i - 1 || thin) ? "lineTo" : "moveTo"](...at));
      context.stroke(); context.setLineDash([]);
      context.fillStyle = colour;
      spots.forEach(({ i, at: [px, py] }, k) => {
        const alone = spots[k - 1]?.i !== i - 1 && spots[k + 1]?.i !== i + 1;
        if (values.length <= 40 || alone) context.fillRect(px - 2.5, py - 2.5, 5, 5);
      });
    };
    line(slice, [6, 4], styleOf("--soft"), 1.5);
    if (whole) line(whole.map((one) => one?.scale ?? 0), [], styleOf("--accent"), 2.2);
    const [x] = this.spot((state.index[axis] + 0.5) / places.length, 0);
    context.fillStyle = styleOf("--soft");
    context.fillRect(x - 0.5, this.area.top, 1, this.area.height);
    if (best) this.star(context, (best.index[axis] + 0.5) / places.length, best.scale);
  }

  star(context, position, value) {
    const [x, y] = this.spot(position, value);
    context.font = "20px system-ui, sans-serif";
    context.textAlign = "center"; context.textBaseline = "middle";
    context.strokeStyle = "#111111"; context.lineWidth = 3; context.strokeText("★", x, y);
    context.fillStyle = "#ffd92f"; context.fillText("★", x, y);
  }

  drawPareto(frame) {
    const { context, area } = frame, { first, second, feasible, one, two, front, x } = this.series;
    const title = ({ name, unit }) => `${safe(name)}${UNITS[unit] ? ` in ${UNITS[unit]}` : ""}`;
    const xAxis = this.valueAxis(title(second), x);
    drawAxes(frame, { ...xAxis, at: (i) => 0.03 + 0.94 * xAxis.at(i) }, this.valueAxis(title(first), this.range));
    context.fillStyle = styleOf("--soft");
    context.globalAlpha = 0.35;
    const step = Math.ceil(feasible.length / DRAWN_POINTS) || 1;
    for (let i = 0; i < feasible.length; i += step) {
      const [px, py] = this.spot(this.across(two[feasible[i]]), Number(one[feasible[i]]));
      context.fillRect(px - 1.5, py - 1.5, 3, 3);
    }
    context.globalAlpha = 1;
    this.drawBounds(context, area);
    context.strokeStyle = styleOf("--accent"); context.lineWidth = 2;
    context.fillStyle = styleOf("--accent");
    context.beginPath();
    this.points.forEach(({ position, value }, i) => context[i ? "lineTo" : "moveTo"](...this.spot(position, value)));
    context.stroke();
    if (front.length <= 400) for (const { position, value } of this.points) {
      const [px, py] = this.spot(position, value);
      context.beginPath(); context.arc(px, py, 3.2, 0, 2 * Math.PI); context.fill();
    }
  }

  // The SLO's own lines where an objective is a figure with a bound that lies in the picture.
  drawBounds(context, area) {
    const { first, second, x } = this.series, { data } = this.app.grid;
    const boundOf = ({ name }) => {
      const bound = data.bounds.find((one) => one.figure === name);
      return bound === undefined ? null : Number(this.app.state.slo[bound.name] ?? (bound.value == null ? NaN : parsed(bound.value)));
    };
    context.strokeStyle = styleOf("--bad"); context.lineWidth = 1.5; context.setLineDash([4, 3]);
    const across = boundOf(second), up = boundOf(first);
    context.beginPath();
    if (across !== null && across >= x.low && across <= x.high) {
      const [px] = this.spot(this.across(across), this.range.low);
      context.moveTo(px, area.top); context.lineTo(px, area.top + area.height);
    }
    if (up !== null && up >= this.range.low && up <= this.range.high) {
      const [, py] = this.spot(0, up);
      context.moveTo(area.left, py); context.lineTo(area.left + area.width, py);
    }
    context.stroke(); context.setLineDash([]);
  }

  // The point nearest to a place of the canvas: across alone, where each has a column of its own.
  nearest(x, y) {
    if (!this.points?.length || x < this.area.left - 5) return null;
    const along = this.app.state.front.kind === "along";
    let best = null, least = Infinity;
    this.points.forEach(({ position, value }, i) => {
      const [px, py] = this.spot(position, value), far = along ? Math.abs(px - x) : (px - x) ** 2 + (py - y) ** 2;
      if (far < least) [best, least] = [i, far];
    });
    return best;
  }

  hover(at) {
    if (at !== null && !this.points?.[at]) at = null;
    if (at === this.at && at !== null) return;
    this.at = at;
    this.draw();
    if (at === null) { this.tip.hidden = true; this.app.link(null); return; }
    const point = this.points[at], [x, y] = this.spot(point.position, point.value);
    const scale = Math.max(point.scale, 1), found = this.app.explained({ index: this.full(point.index), scale });
    const text = point.value === 0 && this.app.state.front.kind === "along"
      ? [make("strong", {}, coordinates(this.app, { index: this.full(point.index), scale: 0 }, false)), make("p", {}, "nothing is feasible")]
      : cellBrief(this.app, { index: this.full(point.index), scale }, found);
    showTip(this.tip, this.canvas.parentElement, x, y, ...text);
    this.app.link({ index: this.full(point.index), scale, along: this.app.state.front.kind === "along" ? this.series.axis : null });
  }

  full(index) { return index.length === this.app.grid.axes.length ? index : [...index, this.app.state.index[this.app.grid.traffic]]; }

  choose() {
    if (this.at === null) return;
    const { index, scale } = this.points[this.at];
    if (scale > 0) this.app.goTo({ index: this.full(index), scale }, this.app.state.front.kind === "pareto");
  }

  key(event) {
    if (!this.points?.length) return;
    const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowDown: -1, ArrowUp: 1, PageUp: 10, PageDown: -10, Home: -Infinity, End: Infinity };
    if (event.key in steps) this.hover(Math.min(Math.max((this.at ?? 0) + steps[event.key], 0), this.points.length - 1));
    else if (event.key === "Enter" || event.key === " ") this.choose();
    else return;
    event.preventDefault();
  }
}
