// The sentences around the charts: the whole grid, its largest point, the slice, the self-check.

function describeWhole(app) {
  const { grid } = app;
  const { data } = grid;
  const axes = grid.axes.flatMap((axis, i) => [i ? " × " : "", named(axis.short), ` ${grouped(axis.length)}`]);
  put("name", named(data.name));
  put("size", `${counted(grid.cells, "operating point", "operating points")}: `, ...axes);
  put("claim", data.claim.text);
  put(
    "keys",
    "Keys on the map: arrows move the cell (with Shift ten), Enter pins it, Escape unpins, + and − zoom, 0 shows "
      + "all. On the frontier: arrows, and Enter goes there. The address holds what is seen.",
  );
  byId("front").setAttribute("aria-label", "Frontier. Arrow keys move along it, Enter goes there.");
}

const describeSearch = (boxes) =>
  put("largest", `Searching the whole grid: ${grouped(boxes)} boxes of operating points bounded …`);

function describeBest(app, best) {
  const { grid } = app;
  const configurations = counted(grid.configurations, "configuration", "configurations");
  if (best === null) {
    const text = `Nothing is feasible at any traffic under these bounds: every one of ${configurations} is decided.`;
    put("largest", make("span", { class: "bad" }, text));
    return;
  }
  const point = { index: [...best.index, 0], scale: best.scale };
  const next = app.explained({ index: point.index, scale: best.scale + 1 });
  const stops = breaches(app, next)
    .map((text) => text.split(":")[0])
    .join(", ");
  const head = `Largest feasible operating point of the whole grid: ${factor(best.scale)} times the declared traffic`;
  put(
    "largest",
    make("strong", {}, head),
    ` (${coordinates(app, point)}). One permille more: ${stops}. ` + `Every one of ${configurations} is decided. `,
    make("button", { type: "button", onclick: () => app.goTo(point, true) }, "Go there and pin it"),
  );
}

function describeSlice(app) {
  const { grid, slice, state } = app;
  const show = showsOf(grid).find(({ name }) => name === state.show);
  const what = show.node === undefined ? sentence(show.text) : show.text;
  const [x, y] = [grid.axes[state.x], grid.axes[state.y]];
  put("maptitle", UNITS[show.unit] ? `${what} in ${UNITS[show.unit]}` : what);
  const fixed = othersOf(grid, state)
    .filter((axis) => grid.axes[axis].length > 1 || axis === grid.traffic)
    .map((axis) => {
      const value = axis === grid.traffic ? state.scale : grid.label(axis, state.index[axis]);
      return `${safe(grid.axes[axis].short)} = ${labelText(value)}`;
    });
  const thin = [
    [slice.xStep, x],
    [slice.yStep, y],
  ]
    .filter(([step]) => step > 1)
    .map(([step, axis]) => `1 in ${grouped(step)} values of ${safe(axis.short)}`);
  const within = slice.masks.reduce((sum, mask) => sum + (mask === 0), 0);
  put(
    "shown",
    fixed.length ? `Slice at ${fixed.join(", ")}. ` : "",
    `${counted(slice.masks.length, "cell", "cells")} shown, ${grouped(within)} within all bounds.`,
    thin.length ? ` Thinned out: ${thin.join(" and ")}; zoom in to see all.` : "",
    state.window ? " Zoomed in." : "",
  );
  const across = `${safe(x.short)} across, ${safe(y.short)} up`;
  const label = `Map of ${show.text}: ${across}. Arrow keys move the cell, Enter pins it.`;
  byId("map").setAttribute("aria-label", label);
}

function describeCheck(app, { checked, differing }) {
  const { version, grid } = app.grid.data;
  const cells = counted(checked, "cell", "cells");
  put(
    "checked",
    `sweep ${version}, grid ${grid.slice(0, 12)}. ${cells} that the scalar reference judged were judged here `
      + `again: ${differing === 0 ? "no difference" : `${differing} differ`}.`,
  );
  byId("alarm").hidden = differing === 0;
  if (differing === 0) return;
  put("alarm", `This page is wrong: ${differing} of ${cells} differ from the reference. Do not use its figures.`);
}
