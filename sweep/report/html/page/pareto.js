// The exact Pareto set of two objectives over the cells of a slice that are within all bounds.

const RISING = new Set([
  "traffic_scale_permille",
  "max_active_sequences",
  "max_prefill_chunk_tokens",
  CAPACITY,
  "token_capacity_per_second",
]);

// What may be an objective: axes of integers, the largest traffic, every figure; each with the sense that is better.
function objectivesOf(grid) {
  const axes = grid.axes.flatMap((axis, place) =>
    axis.choices ? [] : [{ name: axis.name, axis: place, unit: axis.unit }],
  );
  const capacity = { name: CAPACITY, node: CAPACITY, unit: "1e-3" };
  return [...axes, capacity, ...grid.data.figures.map(({ name, node, unit }) => ({ name, node, unit }))].map((one) => ({
    ...one,
    rising: RISING.has(one.name),
  }));
}

// An objective's value in every cell of a slice.
function objectiveValues(slice, { axis, node }) {
  if (axis === undefined) return slice.table(node);
  const { state, grid } = slice;
  const columns = slice.xs.length;
  const at = (place) =>
    axis === state.x
      ? grid.label(axis, slice.xs[place % columns])
      : axis === state.y
        ? grid.label(axis, slice.ys[Math.floor(place / columns)])
        : axis === grid.traffic
          ? state.scale
          : grid.label(axis, state.index[axis]);
  return Array.from({ length: slice.masks.length }, (_, place) => at(place));
}

// The best second value for each first one, then only those that no better first value beats: places of cells.
function paretoOf(slice, first, second) {
  const [one, two] = [objectiveValues(slice, first), objectiveValues(slice, second)];
  const better = (rising, a, b) => (rising ? a > b : a < b);
  const bestAt = new Map();
  let feasible = 0;
  for (let place = 0; place < one.length; place++) {
    if (slice.masks[place] !== 0) continue;
    feasible += 1;
    const known = bestAt.get(one[place]);
    if (known === undefined || better(second.rising, two[place], two[known])) bestAt.set(one[place], place);
  }
  const order = [...bestAt.values()].sort((a, b) => (better(first.rising, one[a], one[b]) ? -1 : 1));
  const front = [];
  for (const place of order) {
    if (front.length === 0 || better(second.rising, two[place], two[front[front.length - 1]])) front.push(place);
  }
  return { one, two, front, feasible };
}
