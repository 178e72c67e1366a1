// The largest point of a grid of any size: boxes of configurations, bounded by the kernels on ranges, cut and dropped.
// A box that cannot hold a better point than the one found is dropped; one whose bounds meet is decided.

const WALKED_BOX = 512; // configurations of a box that are computed instead of being bounded further
const SAMPLED_EVERY = 64; // how often the gain of a cut along each axis is measured

class Boxes {
  constructor(grid, given) {
    this.grid = grid;
    this.inputs = grid.under(given);
    this.lengths = grid.axes.slice(0, -1).map((axis) => axis.length);
    this.whole = grid.evaluation(this.inputs, [...this.lengths.map(every), [0]]);
    this.nodes = this.needed();
    this.arithmetics = [numberBounds(), bigBounds()];
    for (const node of this.nodes) {
      if (node.kernel < 0) continue;
      node.kind = this.whole.proof(node.name).safe ? NUMBER : BIG;
      node.run = this.whole.program.kernels[node.kernel].ranges(this.arithmetics[node.kind]);
    }
    this.bounded = 0;
  }

  // The nodes that the capacity is made from, in order.
  needed() {
    const wanted = new Set([CAPACITY]);
    const nodes = [];
    for (const node of [...this.whole.program.nodes.values()].reverse()) {
      if (!wanted.has(node.name)) continue;
      nodes.unshift({ ...node });
      for (const read of node.reads) wanted.add(read);
    }
    this.reads = [...wanted].filter((name) => this.inputs.has(name));
    return nodes;
  }

  // The least and largest capacity of a box at most; equal where it is one configuration.
  bounds(first, last) {
    this.bounded += 1;
    const known = new Map();
    for (const name of this.reads) known.set(name, this.between(this.inputs.get(name), first, last));
    for (const { name, kernel, reads, kind, run } of this.nodes) {
      const values = reads.map((read) => known.get(read));
      known.set(name, kernel < 0 ? values[0] : run(...values.map((value) => inKind(value, kind))));
    }
    const { lo, hi } = known.get(CAPACITY);
    return { least: Number(lo), most: Number(hi) };
  }

  // The first point of a small box that comes before another, by the capacity of each of its configurations.
  walked({ first, last }, best) {
    const sizes = [...first.map((start, axis) => last[axis] - start + 1), 1];
    const capacity = this.whole.block([...first, 0], sizes).get(CAPACITY);
    const data = numbersOf(capacity);
    const at = [...first];
    for (;;) {
      let place = capacity.offset;
      for (let axis = 0; axis < at.length; axis++) place += (at[axis] - first[axis]) * capacity.steps[axis];
      const scale = data[place];
      const isCandidate = scale > 0 && (best === null || scale >= best.scale);
      if (isCandidate && leads(scale, at, best)) best = { index: [...at], scale };
      let axis = at.length - 1;
      while (axis >= 0 && ++at[axis] > last[axis]) at[axis] = first[axis--];
      if (axis < 0) return best;
    }
  }

  between(input, first, last) {
    if (input.axis === undefined) return { lo: input.value, hi: input.value };
    if (input.axis === this.lengths.length) return { lo: input.column.at(0), hi: input.column.at(0) };
    return input.column.ends(first[input.axis], last[input.axis]);
  }
}

function inKind(range, kind) {
  if (range.lo === undefined) return range;
  if (kind === NUMBER) return typeof range.lo === "bigint" ? { lo: Number(range.lo), hi: Number(range.hi) } : range;
  return typeof range.lo === "bigint" ? range : { lo: BigInt(range.lo), hi: BigInt(range.hi) };
}

// The first point of a box in the default order: lowest share, largest chunk, most slots, first of the others.
const firstPoint = ({ first, last }) => [first[0], last[1], last[2], ...first.slice(3)];

const volume = ({ first, last }) => first.reduce((product, start, axis) => product * (last[axis] - start + 1), 1);

// Whether a point at `scale` and `index` comes before another.
function leads(scale, index, than) {
  if (than === null || scale !== than.scale) return than === null || scale > than.scale;
  for (const axis of [2, 1, 0, ...index.map((_, place) => place).slice(3)]) {
    if (index[axis] !== than.index[axis]) return (axis === 1 || axis === 2) === index[axis] > than.index[axis];
  }
  return false;
}

// Yields how many boxes are bounded and how many wait; returns the largest point, of the whole grid or of the places
// `from` … `to` on every axis but traffic.
function* searchBoxes(grid, given, from = null, to = null) {
  const boxes = new Boxes(grid, given);
  const waiting = new Heap();
  const gains = new Array(boxes.lengths.length).fill(0);
  let best = null;
  const admit = (first, last) => {
    const { least, most } = boxes.bounds(first, last);
    const box = { first, last, most };
    if (most < 1 || !leads(most, firstPoint(box), best)) return box;
    if (least === most) best = { index: firstPoint(box), scale: most };
    else if (volume(box) <= WALKED_BOX) best = boxes.walked(box, best);
    else waiting.push(box);
    return box;
  };
  admit(from ?? boxes.lengths.map(() => 0), to ?? boxes.lengths.map((length) => length - 1));
  for (let count = 0; waiting.size > 0; count++) {
    const box = waiting.pop();
    if (!leads(box.most, firstPoint(box), best)) continue;
    if (count % SAMPLED_EVERY === 0) measure(boxes, box, gains);
    for (const [first, last] of halves(box, axisToCut(box, gains))) admit(first, last);
    if (count % 8 === 7) yield { done: boxes.bounded, waiting: waiting.size };
  }
  return { best, fronts: null, decided: grid.configurations, bounded: boxes.bounded };
}

function halves({ first, last }, axis) {
  const middle = Math.floor((first[axis] + last[axis]) / 2);
  return [
    [first, last.with(axis, middle)],
    [first.with(axis, middle + 1), last],
  ];
}

// How much a cut along each axis lowers the bounds of this box, mixed into what was measured before.
function measure(boxes, box, gains) {
  box.first.forEach((start, axis) => {
    if (start === box.last[axis]) return;
    const after = halves(box, axis).reduce((sum, [first, last]) => sum + boxes.bounds(first, last).most, 0);
    gains[axis] = (gains[axis] + (2 * box.most - after) / box.most) / 2;
  });
}

function axisToCut({ first, last }, gains) {
  let chosen = -1;
  for (let axis = 0; axis < first.length; axis++) {
    const width = last[axis] - first[axis];
    if (width === 0) continue;
    if (
      chosen < 0
      || gains[axis] > gains[chosen]
      || (gains[axis] === gains[chosen] && width > last[chosen] - first[chosen])
    )
      chosen = axis;
  }
  return chosen;
}

// The most promising box first: the largest bound, and among equals the latest, which is the smallest.
class Heap {
  constructor() {
    this.items = [];
    this.count = 0;
  }

  get size() {
    return this.items.length;
  }

  before(a, b) {
    return a.most > b.most || (a.most === b.most && a.number > b.number);
  }

  push(box) {
    box.number = this.count++;
    const { items } = this;
    let at = items.length;
    items.push(box);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.before(box, items[parent])) break;
      items[at] = items[parent];
      at = parent;
    }
    items[at] = box;
  }

  pop() {
    const { items } = this;
    const top = items[0];
    const box = items.pop();
    if (items.length === 0) return top;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= items.length) break;
      if (child + 1 < items.length && this.before(items[child + 1], items[child])) child += 1;
      if (!this.before(items[child], box)) break;
      items[at] = items[child];
      at = child;
    }
    items[at] = box;
    return top;
  }
}
