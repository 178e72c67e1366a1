// The slice as CSV: the very lines that `sweep region --csv` prints for it.

function csvField(value) {
  const text = String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

// Masks and reasons of each cell; with a capacity those of the configuration at that traffic, or at 1 ‰.
function judged(slice) {
  const { grid, state } = slice;
  if (state.show !== "capacity" || state.x === grid.traffic || state.y === grid.traffic) return slice;
  const own = atScale(slice.plane, (scale) => Math.max(scale, 1));
  const reasons = reasonsOf(own);
  return { reasons, masks: masksOf(own, reasons, grid.data.admission) };
}

function csvOf(slice) {
  const { grid, state } = slice;
  const { data } = grid;
  const { masks, reasons } = judged(slice);
  const onMap = state.x === grid.traffic || state.y === grid.traffic;
  const capacity = state.show === "capacity";
  const axes = grid.axes.map((_, axis) => axis).filter((axis) => !capacity || onMap || axis !== grid.traffic);
  const shown = state.show === "verdict" ? [] : [state.show];
  const codes = state.show === "limit" ? ["codes"] : [];
  const bounds = Object.entries(state.slo);
  const head = [
    ...axes.map((axis) => grid.axes[axis].name),
    ...shown,
    ...codes,
    "verdict",
    "invalid_reason",
    "claim",
    ...bounds.map(([name]) => `slo_${name}`),
  ];
  const lines = [head];
  const limits = state.show === "limit" ? slice.limitMasks(true) : null;
  for (let row = 0, place = 0; row < slice.ys.length; row++) {
    for (let column = 0; column < slice.xs.length; column++, place++) {
      const point = slice.point(column, row);
      const value = limits ? limits[place] : shown.length && slice.isDefined(place) ? slice.values[place] : "";
      lines.push([
        ...axes.map((axis) => (axis === grid.traffic ? point.scale : grid.label(axis, point.index[axis]))),
        ...shown.map(() => value),
        ...codes.map(() =>
          codesOf(grid, value)
            .map(([code]) => code)
            .join(" "),
        ),
        ["within", "rejected", "invalid"][verdictOf(masks[place])],
        reasons[place] ? data.reasons[reasons[place]][0] : "",
        data.claim.code,
        ...bounds.map(([, bound]) => bound),
      ]);
    }
  }
  return lines.map((line) => `${line.map(csvField).join(",")}\n`).join("");
}

function download(name, text) {
  const link = make("a", { href: URL.createObjectURL(new Blob([text], { type: "text/csv" })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
