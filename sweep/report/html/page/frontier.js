// The frontier's picture, linked with the map: what the pointer is at in one is shown in the other.

class FrontierView {
  constructor(app) {
    this.app = app;
    this.canvas = byId("front");
    this.tip = byId("fronttip");
    this.series = null; // an Along or a TradeOff
    this.at = null; // the point under the pointer or the keys
    this.followed = null; // where the map's cell is
    this.canvas.addEventListener("pointermove", (event) => this.hover(this.nearest([event.offsetX, event.offsetY])));
    this.canvas.addEventListener("pointerleave", () => this.hover(null));
    this.canvas.addEventListener("blur", () => this.hover(null));
    this.canvas.addEventListener("focus", () => this.hover(this.at ?? 0));
    this.canvas.addEventListener("click", () => this.choose());
    this.canvas.addEventListener("keydown", (event) => this.key(event));
  }

  get points() {
    return this.series?.points ?? [];
  }

  buildPicks() {
    const { app } = this;
    const { grid, state } = app;
    const { kind, axis } = state.front;
    const shown = objectivesShown(app);
    const signature = JSON.stringify([state.front, state.x, state.y]);
    if (this.picked === signature) return;
    this.picked = signature;
    const set = (change) => app.change({ front: { ...app.state.front, ...change } });
    const select = (label, options, value, changed) =>
      make(
        "select",
        { "aria-label": label, onchange: (event) => changed(event.target.value) },
        ...options.map((each) => option(each.value, each.text, each.value === value)),
      );
    const along = grid.axes
      .slice(0, -1)
      .map(({ short }, place) => ({ value: `along:${place}`, text: `largest traffic along ${safe(short)}` }));
    const kinds = select(
      "what the frontier shows",
      [...along, { value: "pareto", text: "trade-off in this slice" }],
      kind === "along" ? `along:${axis}` : "pareto",
      (value) => set(value === "pareto" ? { kind: "pareto" } : { kind: "along", axis: Number(value.slice(6)) }),
    );
    const objectives = objectivesOf(grid)
      .filter((one) => isSpanned(state, one))
      .map(({ name, rising }) => ({ value: name, text: `${rising ? "most" : "least"} ${safe(name)}` }));
    const picks = ["first", "second"].map((which, i) =>
      select(`${which} objective`, objectives, shown[i].name, (value) => set({ [which]: value })),
    );
    put("frontpicks", kinds, ...(kind === "pareto" ? picks : []));
  }

  show() {
    this.buildPicks();
    this.at = null;
    this.tip.hidden = true;
    this.series = this.app.state.front.kind === "along" ? new Along(this.app) : new TradeOff(this.app);
    put("fronttext", this.series.text);
    this.draw();
  }

  draw() {
    if (this.series === null) return;
    const [x, y] = this.series.axes();
    const frame = prepared(this.canvas, y);
    const { context } = frame;
    this.area = frame.area;
    drawAxes(frame, x, y);
    this.series.draw(this, context);
    if (this.followed) this.ring(context, this.followed, "--ink");
    if (this.at !== null && this.points[this.at]) this.ring(context, this.points[this.at], "--accent");
  }

  ring(context, point, colour) {
    context.strokeStyle = styleOf(colour);
    context.lineWidth = 2.5;
    context.beginPath();
    context.arc(...this.spot(point), 7, 0, 2 * Math.PI);
    context.stroke();
  }

  // Where a point is on the canvas.
  spot({ position, value }) {
    const { area } = this;
    return [area.left + area.width * position, area.top + area.height * (1 - this.series.up(value))];
  }

  // The number of the point nearest to a place of the canvas.
  nearest(at) {
    if (this.points.length === 0 || at[0] < this.area.left - 5) return null;
    const far = this.points.map((point) => this.series.distance(at, this.spot(point)));
    return far.indexOf(Math.min(...far));
  }

  hover(at) {
    const point = at === null ? undefined : this.points[at];
    if (point !== undefined && at === this.at) return;
    this.at = point === undefined ? null : at;
    this.draw();
    this.tip.hidden = true;
    this.app.link(point === undefined ? null : this.series.link(point));
    if (point === undefined) return;
    showTip(this.tip, this.canvas.parentElement, ...this.spot(point), ...this.brief(point));
  }

  brief({ index, scale, value }) {
    const point = { index, scale: scale ?? value };
    if (point.scale > 0) return cellBrief(this.app, point, this.app.explained(point));
    return [make("strong", {}, coordinates(this.app, point, false)), make("p", {}, "nothing is feasible")];
  }

  // The map's cell, shown here; null for none.
  follow(point, found, cell) {
    const shown = this.series !== null && point !== null ? this.series.follow(point, found, cell) : null;
    if (shown === null && this.followed === null) return;
    this.followed = shown;
    this.draw();
  }

  choose() {
    if (this.at === null) return;
    const { index, scale, value } = this.points[this.at];
    const carried = scale ?? value;
    if (carried > 0) this.app.goTo({ index, scale: carried }, this.app.state.front.kind === "pareto");
  }

  key(event) {
    const steps = {
      ArrowLeft: -1,
      ArrowRight: 1,
      ArrowDown: -1,
      ArrowUp: 1,
      PageUp: 10,
      PageDown: -10,
      Home: -Infinity,
      End: Infinity,
    };
    if (event.key in steps && this.points.length) {
      this.hover(Math.min(Math.max((this.at ?? 0) + steps[event.key], 0), this.points.length - 1));
    } else if (event.key === "Enter" || event.key === " ") this.choose();
    else return;
    event.preventDefault();
  }
}
