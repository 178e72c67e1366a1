// The form: axes of the map, what it shows, sliders of the other axes, bounds of the SLO.

function option(value, text, chosen) {
  return make("option", { value, selected: chosen }, text);
}

function picker(id, label, options, chosen, changed) {
  const select = make(
    "select",
    { id, onchange: (event) => changed(event.target.value) },
    ...options.map(({ value, text }) => option(value, text, String(value) === String(chosen))),
  );
  return make("div", { class: "field" }, make("label", { for: id }, label), select);
}

class Controls {
  constructor(app) {
    this.app = app;
    byId("controls").addEventListener("submit", (event) => event.preventDefault());
    byId("reset").addEventListener("click", () => app.change({ slo: {} }));
    this.buildBounds();
  }

  // Everything anew from the state; a slider in use keeps its element.
  show() {
    this.buildPicks();
    this.buildSliders();
    this.showBounds();
  }

  buildPicks() {
    const { app } = this;
    const { grid, state } = app;
    const signature = `${state.x} ${state.y} ${state.show}`;
    if (this.picked === signature) return;
    this.picked = signature;
    const axes = grid.axes.map((axis, value) => ({ value, text: `${safe(axis.short)} · ${grouped(axis.length)}` }));
    const moved = (name, other) => (value) => {
      const chosen = Number(value);
      app.change(
        chosen === state[other]
          ? { [name]: chosen, [other]: state[name], window: null }
          : { [name]: chosen, window: null },
      );
    };
    put(
      "picks",
      picker("pick-x", "across", axes, state.x, moved("x", "y")),
      picker("pick-y", "up", axes, state.y, moved("y", "x")),
      picker(
        "pick-show",
        "show",
        showsOf(grid).map(({ name, text }) => ({ value: name, text })),
        state.show,
        (show) => app.change({ show }),
      ),
    );
  }

  buildSliders() {
    const { app } = this;
    const { grid, state } = app;
    const axes = othersOf(grid, state);
    const signature = axes.join(" ");
    if (this.slid !== signature) {
      this.slid = signature;
      this.sliders = axes
        .filter((axis) => grid.axes[axis].length > 1 || axis === grid.traffic)
        .map((axis) => this.slider(axis));
      put(
        "sliders",
        ...this.sliders.map(({ element }) => element),
        this.sliders.length ? null : make("p", { class: "note" }, "Every other axis has one value."),
      );
    }
    for (const slider of this.sliders) slider.show();
  }

  slider(axis) {
    const { app } = this;
    const { grid } = app;
    const { length, short, unit, choices } = grid.axes[axis];
    const id = `axis-${axis}`;
    const traffic = axis === grid.traffic;
    const range = make("input", {
      type: "range",
      id,
      min: 0,
      max: length - 1,
      step: 1,
      disabled: length < 2,
      oninput: () => app.place(axis, Number(range.value), traffic ? grid.label(axis, Number(range.value)) : null),
    });
    const text = make("input", {
      type: "text",
      "aria-label": `${safe(short)}, exactly`,
      inputmode: choices ? "text" : "numeric",
      readonly: Boolean(choices),
      dir: "auto",
      class: choices ? "long" : "",
      onchange: () => this.typed(axis, text),
    });
    const element = make(
      "div",
      { class: "field" },
      make("label", { for: id }, safe(short)),
      range,
      make("span", { class: "pair" }, text, make("span", { class: "unit" }, choices ? "" : UNITS[unit])),
    );
    const show = () => {
      const label = traffic ? app.state.scale : grid.label(axis, app.state.index[axis]);
      if (Number(range.value) !== app.state.index[axis]) range.value = app.state.index[axis];
      range.setAttribute("aria-valuetext", labelText(label));
      if (document.activeElement !== text) text.value = labelText(label);
      element.classList.remove("wrong");
    };
    return { element, show };
  }

  // A typed value: of traffic any scale, of another axis the nearest of its values.
  typed(axis, text) {
    const { app } = this;
    const { grid } = app;
    const number = readInteger(text.value, 0n, 10n ** 18n);
    const traffic = axis === grid.traffic;
    if (number === null || (traffic && (number < 1 || number > 1e15))) {
      text.parentElement.parentElement.classList.add("wrong");
      return;
    }
    const { column, length } = grid.axes[axis];
    const below = Math.max(0, column.lastUpTo(number));
    const above = Math.min(length - 1, below + 1);
    const nearer =
      BigInt(column.at(above)) - BigInt(number) < BigInt(number) - BigInt(column.at(below)) ? above : below;
    text.blur();
    app.place(axis, traffic ? below : nearer, traffic ? number : null);
  }

  buildBounds() {
    const { app } = this;
    const movable = app.grid.data.bounds.filter(({ name }) => name !== "max_active_sequences");
    this.bounds = movable.map((bound) => (bound.axis === undefined ? this.bound(bound) : this.fixedBound(bound)));
    put("bounds", ...this.bounds.map(({ element }) => element));
  }

  fixedBound({ name, axis }) {
    const element = make(
      "div",
      { class: "field" },
      make("span", { class: "name" }, name),
      make("span", { class: "hint" }, "set by the axis ", named(axis)),
    );
    return { element, show: () => {} };
  }

  // A bound with a slider: even steps of ‰, equal ratios of anything else, around the declared value.
  bound({ name, unit, lower, upper, value, memory }) {
    const { app } = this;
    const id = `bound-${name}`;
    const even = unit === "1e-3";
    const declared = memory ? null : parsed(value);
    const middle = () => Number(declared ?? app.memoryBound());
    const steps = 1000;
    const span = Math.log(32);
    const toValue = (step) => {
      const found = even ? step : Math.round(middle() * Math.exp(span * ((2 * step) / steps - 1)));
      return Math.min(Math.max(found, Number(lower)), Number(upper));
    };
    const toStep = (number) =>
      even ? Number(number) : Math.round(((Math.log(Number(number) / middle()) / span + 1) * steps) / 2);
    const change = (number) => {
      const { [name]: _, ...others } = app.state.slo;
      app.change({ slo: number === null || (!memory && number === declared) ? others : { ...others, [name]: number } });
    };
    const range = make("input", {
      type: "range",
      id,
      min: even ? lower : 0,
      max: even ? upper : steps,
      step: 1,
      oninput: () =>
        change(!even && Number(range.value) === steps / 2 ? declared : narrowed(BigInt(toValue(Number(range.value))))),
    });
    const text = make("input", {
      type: "text",
      "aria-label": `${name}, exactly`,
      inputmode: "numeric",
      class: unit === "byte" ? "long" : "",
      onchange: () => {
        const number = text.value.trim() === "" ? declared : readInteger(text.value, BigInt(lower), BigInt(upper));
        if (number === null && !(memory && text.value.trim() === "")) {
          element.classList.add("wrong");
          return;
        }
        text.blur();
        change(number);
      },
    });
    const hint = make("span", { class: "hint" });
    const element = make(
      "div",
      { class: "field" },
      make("label", { for: id }, name),
      range,
      make("span", { class: "pair" }, text, make("span", { class: "unit" }, UNITS[unit])),
      hint,
    );
    const show = () => {
      const own = app.state.slo[name];
      const now = own ?? declared ?? app.memoryBound();
      element.classList.toggle("moved", own !== undefined);
      element.classList.remove("wrong");
      const step = String(toStep(now));
      if (document.activeElement !== range || own === undefined) range.value = step;
      range.setAttribute("aria-valuetext", `${grouped(now)} ${UNITS[unit]}`);
      if (document.activeElement !== text) text.value = grouped(now);
      const from = memory ? "from the memory left, here" : `declared ${grouped(declared)}`;
      hint.textContent = own !== undefined ? (memory ? "instead of the memory left" : from) : memory ? from : "";
    };
    return { element, show };
  }

  showBounds() {
    for (const bound of this.bounds) bound.show();
  }
}

function showLegend(app) {
  const { map } = app;
  const { colours } = map;
  if (colours.entries === undefined) {
    const unit = UNITS[showsOf(app.grid).find(({ name }) => name === app.state.show).unit] ?? "";
    const bar = make("canvas", { class: "scale", width: 220, height: 14 });
    const context = bar.getContext("2d");
    const [low, high] = [Number(colours.lo ?? 0), Number(colours.hi ?? 0)];
    for (let i = 0; i < 220; i++) {
      context.fillStyle = cssOf(colours.shade(low + ((high - low) * i) / 219));
      context.fillRect(i, 0, 1, 14);
    }
    const grey = make("span", { class: "swatch" });
    grey.style.background = INVALID_COLOUR;
    const ends =
      colours.lo === null
        ? ["nothing is defined here"]
        : [`${brief(colours.lo)} ${unit}`, bar, `${brief(colours.hi)} ${unit}`];
    put(
      "legend",
      make("span", { class: "ramp" }, ...ends),
      make("span", { class: "ramp" }, grey, "invalid"),
      make("span", {}, "The line is the edge of what is within all bounds."),
    );
    return;
  }
  const order = ["w", "n", "v", "b", "i"];
  const entries = [...colours.entries].sort(
    (a, b) => order.indexOf(a.key[0]) - order.indexOf(b.key[0]) || a.key.localeCompare(b.key, "en", { numeric: true }),
  );
  put(
    "legend",
    ...entries.map(({ key, colour, letter, text, count }) => {
      const swatch = make("span", { class: "swatch" });
      swatch.style.background = cssOf(colour);
      return make(
        "button",
        {
          type: "button",
          "aria-pressed": String(map.lit === key),
          title: "Show these cells alone",
          onclick: () => {
            map.lit = map.lit === key ? null : key;
            map.paint();
            showLegend(app);
          },
        },
        swatch,
        make("span", {}, `${letter}  ${text} `, make("span", { class: "count" }, grouped(count))),
      );
    }),
  );
}
