// A rectangular part of the grid judged: masks, verdicts, reasons, capacities, what stops the next permille.

const SCALE = "traffic.scale_permille";
const CAPACITY = "max_traffic_scale_permille";
const BITS = Array.from({ length: 9 }, (_, i) => i + 1);
const REASONS = BITS;
const ADMISSION_OFF = 1;
const INVALID = 0x8000;

// Verdicts.
const WITHIN = 0;
const REJECTED = 1;
const INVALID_CELL = 2;

// Two axes of an evaluation, one down and one across; a list of cells (`Evaluation.listed`) is one row.
class Plane {
  constructor(evaluation, across, down) {
    this.evaluation = evaluation;
    this.across = across;
    this.down = down;
    this.columns = evaluation.lengths[across];
    this.rows = down === null ? 1 : evaluation.lengths[down];
    this.size = this.rows * this.columns;
  }

  // `use(place, position in the array)` for each cell, row by row.
  visit({ steps, offset }, use) {
    const down = this.down === null ? 0 : steps[this.down],
      across = steps[this.across];
    for (let j = 0, place = 0; j < this.rows; j++) {
      for (let i = 0, at = offset + j * down; i < this.columns; i++, at += across) use(place++, at);
    }
  }

  // A node over the plane, full: doubles where they hold every value, else BigInts.
  table(name) {
    const value = this.evaluation.get(name),
      { data } = value.store;
    const table = value.kind === BIG ? new Array(this.size) : new Float64Array(this.size);
    this.visit(value, (place, at) => {
      table[place] = data[at];
    });
    return table;
  }

  // Whether a node's values differ along both axes by its formula, so that it has a value per cell.
  spans(name) {
    const axes = this.evaluation.axes(name);
    return axes.includes(this.across) && axes.includes(this.down);
  }
}

function mayHold(evaluation, name) {
  return evaluation.program.nodes.has(name) && evaluation.proof(name).range.t;
}

// Set a bit, or another number, where a flag holds.
function mark(target, plane, { steps, offset, store }, number) {
  const flags = store.data,
    down = plane.down === null ? 0 : steps[plane.down],
    across = steps[plane.across];
  for (let j = 0, place = 0; j < plane.rows; j++) {
    for (let i = 0, at = offset + j * down; i < plane.columns; i++, at += across, place++) {
      if (flags[at]) target[place] |= number;
    }
  }
}

// The invalid reason of each cell, 0 where it is valid: the lowest that applies.
function reasonsOf(plane) {
  const { evaluation } = plane,
    held = new Uint16Array(plane.size),
    codes = new Uint8Array(plane.size);
  for (const code of REASONS) {
    const name = `reason.${code}`;
    if (mayHold(evaluation, name)) mark(held, plane, evaluation.get(name), 1 << code);
  }
  for (let place = 0; place < held.length; place++)
    if (held[place]) codes[place] = 31 - Math.clz32(held[place] & -held[place]);
  return codes;
}

// The violation mask of each cell; 0x8000 alone in an invalid one.
function masksOf(plane, reasons, admission) {
  const { evaluation } = plane,
    mask = new Uint16Array(plane.size).fill(admission ? 0 : ADMISSION_OFF);
  for (const bit of BITS) {
    const name = `bit.${bit}`;
    if (mayHold(evaluation, name)) mark(mask, plane, evaluation.get(name), 1 << bit);
  }
  for (let place = 0; place < mask.length; place++) if (reasons[place]) mask[place] = INVALID;
  return mask;
}

// The same cells with a traffic of their own: what each carries, changed.
function atScale(plane, change) {
  const capacity = plane.evaluation.get(CAPACITY);
  const scales = openArray(NUMBER, numbersOf(capacity).map(change), capacity.steps);
  return new Plane(plane.evaluation.exchanged(SCALE, scales), plane.across, plane.down);
}

// What stops each configuration: the mask at one permille more than it carries.
function limitsOf(plane, admission) {
  const next = atScale(plane, (scale) => scale + 1);
  return masksOf(next, reasonsOf(next), admission);
}

// Some cells of a plane as a list; one along which both axes differ is computed for these cells alone.
const listOf = (plane, places) => new Plane(plane.evaluation.listed(plane, places), 0, null);

// What stops the configurations of some cells, written into `limits`.
function takeLimits(plane, places, admission, limits) {
  if (places.length === 0) return;
  const found = limitsOf(listOf(plane, places), admission);
  for (let i = 0; i < places.length; i++) limits[places[i]] = found[i];
}

// The largest traffic of each configuration: 0 where a static rule is broken, without a look at its thresholds.
function capacitiesOf(plane) {
  if (!plane.spans(CAPACITY)) return Float64Array.from(plane.table(CAPACITY), Number);
  const open = plane.table("feasible_at_all"),
    capacity = new Float64Array(plane.size);
  const places = placesWhere(open, (flag) => flag);
  if (places.length === 0) return capacity;
  const found = numbersOf(listOf(plane, places).evaluation.get(CAPACITY));
  for (let i = 0; i < places.length; i++) capacity[places[i]] = found[found.length > 1 ? i : 0];
  return capacity;
}

function placesWhere(values, wanted) {
  const places = new Int32Array(values.length);
  let count = 0;
  for (let place = 0; place < values.length; place++) if (wanted(values[place], place)) places[count++] = place;
  return places.subarray(0, count);
}

const verdictOf = (mask) => (mask === 0 ? WITHIN : mask === INVALID ? INVALID_CELL : REJECTED);
