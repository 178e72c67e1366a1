// What the page shows, and its form in the URL's fragment. A state is plain data; a change makes a new one.

// x, y: axes of the map; index: a place on every axis; scale: the traffic where it is no axis of the map;
// slo: bound -> integer that differs from the declared one; show: what the map shows; pins: points of interest;
// window: the part of the map's axes that is seen (null: all); front: what the frontier shows.
function initialState(grid) {
  const spans = grid.axes
    .map((axis, place) => [axis.length > 1, place])
    .filter(([long]) => long)
    .map(([, place]) => place);
  const order = [2, 0, 1, ...grid.axes.map((_, place) => place).slice(3)];
  const wanted = [
    ...order.filter((place) => spans.includes(place)),
    ...order.filter((place) => !spans.includes(place)),
  ];
  const best = grid.data.best;
  const traffic = grid.axes[grid.traffic].column;
  const index = best === null ? grid.axes.map(() => 0) : [...best.index, 0];
  const below = best === null ? 0 : Math.max(0, traffic.lastUpTo(Math.min(1000, best.scale)));
  index[grid.traffic] = below;
  return {
    x: wanted[0],
    y: wanted[1],
    index,
    scale: traffic.at(below),
    slo: {},
    show: "limit",
    pins: [],
    window: null,
    front: { kind: "along", axis: wanted[0], first: CAPACITY, second: "estimated_tpot_ms" },
  };
}

// Every axis but those of the map, with the place or scale that holds for the slice.
const othersOf = (grid, state) =>
  grid.axes.map((_, axis) => axis).filter((axis) => axis !== state.x && axis !== state.y);

// The inputs that a state gives: moved bounds, and the traffic where it is no axis of the map.
function givenOf(grid, state) {
  const given = Object.fromEntries(Object.entries(state.slo).map(([name, value]) => [`contract.${name}`, value]));
  return state.x === grid.traffic || state.y === grid.traffic ? given : { ...given, [SCALE]: state.scale };
}

const boundsOf = (state) =>
  Object.fromEntries(Object.entries(state.slo).map(([name, value]) => [`contract.${name}`, value]));

function fragmentOf(grid, state) {
  const pairs = [
    ["x", grid.axes[state.x].name],
    ["y", grid.axes[state.y].name],
    ["show", state.show],
  ];
  for (const axis of othersOf(grid, state)) {
    const value = axis === grid.traffic ? state.scale : grid.label(axis, state.index[axis]);
    if (axis === grid.traffic || grid.axes[axis].length > 1) pairs.push([`at.${grid.axes[axis].name}`, value]);
  }
  for (const [name, value] of Object.entries(state.slo)) pairs.push([`slo.${name}`, value]);
  for (const pin of state.pins) pairs.push(["pin", [...pin.index, pin.scale].join(".")]);
  if (state.window !== null) pairs.push(["window", state.window.join(".")]);
  const { kind, axis, first, second } = state.front;
  pairs.push(["front", kind === "along" ? `along:${grid.axes[axis].name}` : `${first}:${second}`]);
  return pairs.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join("&");
}

// The state of a fragment; what it does not say, or says wrongly, stays as it is.
function stateOf(grid, fragment, state) {
  const found = { ...state, index: [...state.index], slo: {}, pins: [], window: null };
  const axisOf = (name) => grid.axes.findIndex((axis) => axis.name === name || axis.short === name);
  for (const part of fragment.split("&")) {
    let [name, value] = part.split("=", 2);
    try {
      [name, value] = [decodeURIComponent(name), decodeURIComponent(value ?? "")];
    } catch {
      continue;
    }
    if (name === "x" || name === "y") {
      if (axisOf(value) >= 0) found[name] = axisOf(value);
    } else if (name === "show") {
      if (showsOf(grid).some((show) => show.name === value)) found.show = value;
    } else if (name.startsWith("at.")) takePlace(grid, found, axisOf(name.slice(3)), value);
    else if (name.startsWith("slo.")) takeBound(grid, found, name.slice(4), value);
    else if (name === "pin") takePin(grid, found, value);
    else if (name === "window") takeWindow(found, value);
    else if (name === "front") takeFront(grid, found, value, axisOf);
  }
  if (found.x === found.y)
    [found.x, found.y] = [state.x, state.y === found.x ? (found.x + 1) % grid.axes.length : state.y];
  return found;
}

function takePlace(grid, found, axis, value) {
  if (axis < 0) return;
  if (axis === grid.traffic) {
    const scale = readInteger(value, 1n, 10n ** 15n);
    if (scale !== null) found.scale = scale;
  }
  const place = placeOn(grid, axis, value);
  if (place >= 0) found.index[axis] = place;
}

// Where a value stands on an axis, −1 where it is none of its values.
function placeOn(grid, axis, value) {
  const { choices, column } = grid.axes[axis];
  if (choices) return choices.indexOf(value);
  if (!/^\d+$/.test(value)) return -1;
  const number = narrowed(BigInt(value));
  const place = column.lastUpTo(number);
  return place >= 0 && column.at(place) === number ? place : -1;
}

function takeBound(grid, found, name, value) {
  const bound = grid.data.bounds.find((one) => one.name === name);
  if (bound === undefined || bound.input === undefined) return;
  const number = readInteger(value, BigInt(bound.lower), BigInt(bound.upper));
  if (number !== null && (bound.memory || number !== parsed(bound.value))) found.slo[name] = number;
}

function takePin(grid, found, value) {
  const parts = value.split(".");
  if (parts.length !== grid.axes.length + 1 || parts.some((part) => !/^\d{1,16}$/.test(part)) || found.pins.length > 1)
    return;
  const numbers = parts.map(Number);
  const scale = numbers.pop();
  if (numbers.every((place, axis) => place < grid.axes[axis].length) && scale >= 1 && scale <= 1e15) {
    found.pins.push({ index: numbers, scale });
  }
}

function takeWindow(found, value) {
  const parts = value.split(".").map(Number);
  const isPart = parts.length === 4 && parts.every((part) => Number.isSafeInteger(part) && part >= 0);
  if (isPart && parts[0] <= parts[1] && parts[2] <= parts[3]) found.window = parts;
}

function takeFront(grid, found, value, axisOf) {
  const [first, second] = value.split(":", 2);
  const names = objectivesOf(grid).map(({ name }) => name);
  if (first === "along") {
    if (axisOf(value.slice(6)) >= 0) found.front = { ...found.front, kind: "along", axis: axisOf(value.slice(6)) };
  } else if (names.includes(first) && names.includes(second))
    found.front = { ...found.front, kind: "pareto", first, second };
}

// A whole number within bounds, as a double where it is safe; null where the text is none. Spaces may group it.
function readInteger(text, lower, upper) {
  const digits = text.replace(/[\s_\u202f]/g, "");
  if (!/^\d{1,30}$/.test(digits)) return null;
  const number = BigInt(digits);
  return number < lower || number > upper ? null : narrowed(number);
}
