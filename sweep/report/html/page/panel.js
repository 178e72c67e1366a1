// What is said of a cell: a tip, a sentence for a screen reader, the full explanation of a pin, two pins compared.

const statusOf = ({ mask }) => ["within all bounds", "rejected", "invalid"][verdictOf(mask)];

const codesOf = (grid, mask) => grid.data.codes.filter((_, bit) => (mask >> bit) & 1);

// The point's place: every axis with its value, the traffic first.
function coordinates(app, { index, scale }, long = true) {
  const { grid } = app;
  const order = [grid.traffic, ...grid.axes.map((_, axis) => axis).slice(0, -1)];
  return order
    .filter((axis) => long || grid.axes[axis].length > 1 || axis === grid.traffic)
    .map((axis) => {
      const { short } = grid.axes[axis];
      const value = axis === grid.traffic ? scale : grid.label(axis, index[axis]);
      return `${safe(short)} = ${labelText(value)}`;
    })
    .join(", ");
}

// The rows of figures against bounds; in an invalid cell nothing is defined.
function figureRows(app, found) {
  return app.grid.data.bounds.map(({ name, figure, unit }) => {
    const [value, bound] = [found.figures[figure], found.bounds[name]];
    const slack = BigInt(bound) - BigInt(value);
    return { figure, bound: name, unit: UNITS[unit], value, limit: bound, slack, broken: slack < 0n };
  });
}

function cellBrief(app, point, found) {
  const head = [make("strong", {}, coordinates(app, point, false))];
  if (found.reason) {
    const [code, words] = app.grid.data.reasons[found.reason];
    return [...head, make("p", { class: "bad" }, `invalid, ${code}: ${words}`)];
  }
  const broken = codesOf(app.grid, found.mask).map(([code]) => code);
  const status = broken.length
    ? make("p", { class: "bad" }, `breaks ${broken.join(", ")}`)
    : make("p", { class: "good" }, "within all bounds");
  const rows = figureRows(app, found).map(({ figure, unit, value, limit, broken: bad }) => ({
    tone: bad ? "bad" : "",
    row: [make("span", {}, bad ? "✕ " : "", breakable(figure)), `${brief(value)} ${unit}`, `≤ ${brief(limit)}`],
  }));
  return [...head, status, tableElement(null, null, rows), make("p", {}, carries(found))];
}

const carries = ({ capacity }) =>
  capacity === 0
    ? "No traffic is feasible in this configuration."
    : `This configuration carries at most ${grouped(capacity)} ‰ (${factor(capacity)} times the declared traffic).`;

function cellSentence(app, point, found) {
  const broken = codesOf(app.grid, found.mask).map(([code]) => code);
  const reason = found.reason ? app.grid.data.reasons[found.reason][0] : "";
  const why = `${reason ? `, ${reason}` : ""}${broken.length ? `, breaks ${broken.join(", ")}` : ""}`;
  return `${coordinates(app, point, false)}: ${statusOf(found)}${why}. ${carries(found)}`;
}

// Each broken rule in words, with the excess where there is a figure.
function breaches(app, found) {
  if (found.reason) {
    const [code, words] = app.grid.data.reasons[found.reason];
    return [`${code}: ${words}`];
  }
  const over = new Map(
    figureRows(app, found)
      .filter(({ broken }) => broken)
      .map(({ bound, slack, unit }) => [bound, `${grouped(-slack)} ${unit}`.trim()]),
  );
  return codesOf(app.grid, found.mask).map(([code, words]) => {
    const bound = app.grid.data.bounds.find((one) => one.code === code);
    return `${code}: ${words}${bound ? ` (by ${over.get(bound.name)})` : ""}`;
  });
}

const listed = (texts) => make("ul", {}, ...texts.map((text) => make("li", {}, text)));

// What stops the configuration: the rules broken by one permille more than it carries.
function nextStep(app, point, found) {
  const scale = found.capacity + 1;
  const next = app.explained({ index: point.index, scale });
  const head =
    found.capacity === 0
      ? "Not even 1 ‰ of traffic is feasible:"
      : `${carries(found)} One permille more (${grouped(scale)}):`;
  return make("div", {}, make("p", {}, head), listed(breaches(app, next)));
}

// One step up on each axis, the rest as it is.
function neighbours(app, point) {
  const { grid } = app;
  const rows = [];
  grid.axes.slice(0, -1).forEach((axis, place) => {
    if (point.index[place] + 1 >= axis.length) return;
    const next = { index: point.index.with(place, point.index[place] + 1), scale: point.scale };
    const found = app.explained(next);
    const broken = found.reason
      ? [grid.data.reasons[found.reason][0]]
      : codesOf(grid, found.mask).map(([code]) => code);
    rows.push({
      row: [
        `${safe(axis.short)} = ${labelText(grid.label(place, next.index[place]))}`,
        make("span", { class: "wrap" }, broken.join(", ") || "within all bounds"),
      ],
    });
  });
  return rows.length === 0 ? null : tableElement("One step up on an axis", null, rows);
}

function derived(app, found) {
  const { grid } = app;
  const shown = grid.data.figures.filter(({ name }) => !grid.data.bounds.some(({ figure }) => figure === name));
  const rows = shown.map(({ name, unit }) => ({
    row: [breakable(name), `${grouped(found.figures[name])} ${UNITS[unit]}`],
  }));
  rows.push({ row: ["prefill rate P", `${grouped(narrowed(found.read("prefill_rate")))} tokens/s`] });
  rows.push({ row: ["decode rate D", `${grouped(narrowed(found.read("decode_rate")))} tokens/s`] });
  grid.data.classes.slice(0, 8).forEach((name, i) => {
    const [arrival, peak] = ["arrival", "peak"].map((field) => grouped(narrowed(found.read(`class.${i}.${field}`))));
    rows.push({ row: [named(name), `${arrival} millirps, ${peak} sequences`] });
  });
  if (grid.data.classes.length > 8) rows.push({ row: ["further classes", grouped(grid.data.classes.length - 8)] });
  return tableElement("What the models derive, per replica", null, rows);
}

// A pin in full.
function explanation(app, pin, letter) {
  const found = app.explained(pin);
  const head = make(
    "h3",
    {},
    make("span", { class: "pinname" }, letter),
    ` ${statusOf(found)} `,
    make(
      "button",
      { type: "button", title: "Move the map's slice to this cell", onclick: () => app.goTo(pin, false) },
      "go there",
    ),
  );
  const parts = [head, make("p", {}, coordinates(app, pin))];
  if (found.mask !== 0) parts.push(listed(breaches(app, found)));
  if (!found.reason) {
    const rows = figureRows(app, found).map(({ figure, value, limit, slack, broken }) => ({
      tone: broken ? "bad" : "",
      row: [breakable(figure), grouped(value), grouped(limit), grouped(slack)],
    }));
    parts.push(tableElement(null, ["figure", "value", "bound", "slack"], rows));
  }
  parts.push(nextStep(app, pin, found), neighbours(app, pin), derived(app, found));
  return make("div", { class: "pin" }, ...parts);
}

// Both pins side by side: what differs, and every figure with its difference.
function comparison(app, [a, b]) {
  const [left, right] = [a, b].map((pin) => app.explained(pin));
  const { grid } = app;
  const axes = grid.axes.map((axis, place) => [
    axis.short,
    ...[a, b].map((pin) => (place === grid.traffic ? pin.scale : grid.label(place, pin.index[place]))),
  ]);
  const row = (name, one, two) => {
    const numbers = typeof one !== "string" && typeof two !== "string";
    const change = numbers ? BigInt(two) - BigInt(one) : 0n;
    return {
      row: [
        breakable(safe(name)),
        labelText(one),
        labelText(two),
        numbers ? `${change > 0n ? "+" : ""}${grouped(change)}` : "",
      ],
    };
  };
  const figures = grid.data.bounds.map(({ figure }) => [figure, left.figures[figure], right.figures[figure]]);
  const rest = [["largest traffic of the configuration", left.capacity, right.capacity]];
  const defined = left.reason || right.reason ? [] : figures;
  const status = { row: ["verdict", statusOf(left), statusOf(right), ""] };
  return tableElement(
    "A and B compared",
    ["", "A", "B", "B − A"],
    [
      ...axes.map((one) => row(...one)),
      status,
      ...defined.map((one) => row(...one)),
      ...rest.map((one) => row(...one)),
    ],
  );
}

function showPins(app) {
  const { pins } = app.state;
  if (pins.length === 0) {
    put(
      "pinned",
      make(
        "p",
        { class: "note" },
        "Click a cell of the map, or press Enter on it, to pin it here with everything that decides it. "
          + "A second one is compared with the first.",
      ),
    );
    return;
  }
  put(
    "pinned",
    pins.length === 2 ? comparison(app, pins) : null,
    ...pins.map((pin, i) => explanation(app, pin, "AB"[i])),
  );
}
