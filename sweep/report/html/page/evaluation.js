// The kernel graph over a rectangular part of the grid: each node proven, then computed over its own axes only.

// The nodes by name, with what follows from what.
class Program {
  constructor(kernels, rows) {
    this.kernels = kernels;
    this.nodes = new Map(rows.map(([name, kernel, flag, reads]) => [name, { name, kernel, flag, reads }]));
    this.followers = new Map();
  }

  // The nodes that read an input, directly or not.
  following(input) {
    if (!this.followers.has(input)) {
      const found = new Set([input]);
      for (const node of this.nodes.values()) if (node.reads.some((read) => found.has(read))) found.add(node.name);
      this.followers.set(input, found);
    }
    return this.followers.get(input);
  }
}

// An open array: the values of a store from `offset` on, with a step per axis (0 along an axis that it does not have).
function openArray(kind, data, steps) {
  return { kind, store: { data, numbers: null, bigs: null, ends: null }, steps, offset: 0 };
}

// The values in the kind that a kernel takes; what is converted is remembered.
function numbersOf({ kind, store }) {
  if (kind !== BIG) return store.data;
  store.numbers ??= Float64Array.from(store.data, Number); // safe: the proof counts inputs among the intermediates
  return store.numbers;
}

function bigsOf({ kind, store }) {
  if (kind !== NUMBER) return store.data;
  store.bigs ??= Array.from(store.data, BigInt);
  return store.bigs;
}

// The least and largest value, as a range of BigInts.
function endsOf({ store }) {
  if (store.ends === null) {
    let lo = store.data[0];
    let hi = lo;
    for (const one of store.data) {
      if (one < lo) lo = one;
      if (one > hi) hi = one;
    }
    store.ends = { lo: BigInt(lo), hi: BigInt(hi) };
  }
  return store.ends;
}

const SHARED_VALUES = 65536; // a node of at most this size is computed once and cut for every block

class Evaluation {
  // `inputs`: name -> { axis, column }, or { value } for one that has no axis; `region`: per axis the indices taken.
  constructor(program, inputs, region) {
    this.program = program;
    this.inputs = inputs;
    this.region = region;
    this.lengths = region.map((indices) => indices.length);
    // The longest axis is innermost, where a step is cheapest.
    this.order = this.lengths.map((_, axis) => axis).sort((a, b) => this.lengths[a] - this.lengths[b] || a - b);
    this.values = new Map();
    this.proofs = new Map();
    this.shared = new Map();
    this.parent = null; // of a block
    this.origin = null; // of an evaluation with one input exchanged
    this.changed = null;
    this.starts = null;
    this.source = null; // of a list of cells
  }

  // A block of consecutive places: what is small, or does not span the cut axes, is taken from here.
  block(starts, lengths) {
    const child = new Evaluation(
      this.program,
      this.inputs,
      this.region.map((indices, axis) => indices.subarray(starts[axis], starts[axis] + lengths[axis])),
    );
    child.parent = this;
    child.starts = starts;
    return child;
  }

  // The same part with one input exchanged for an open array of this part.
  exchanged(name, value) {
    const other = new Evaluation(this.program, this.inputs, this.region);
    other.order = this.order;
    other.origin = this;
    other.changed = this.program.following(name);
    other.values.set(name, value);
    return other;
  }

  // Some cells of a plane as one axis of their own: what does not span the plane is gathered from here.
  listed(plane, places) {
    const other = new Evaluation(this.program, this.inputs, [places]);
    const rows = places.map((place) => Math.floor(place / plane.columns));
    other.source = {
      plane,
      evaluation: this,
      rows,
      columns: places.map((place, i) => place - rows[i] * plane.columns),
    };
    return other;
  }

  gatheredFrom({ plane, evaluation, rows, columns }, name) {
    const value = evaluation.get(name);
    const count = rows.length;
    const down = plane.down === null ? 0 : value.steps[plane.down];
    const across = value.steps[plane.across];
    if (down === 0 && across === 0) return { ...value, steps: [0] };
    const { data } = value.store;
    const found = value.kind === BIG ? new Array(count) : new data.constructor(count);
    for (let i = 0; i < count; i++) found[i] = data[value.offset + rows[i] * down + columns[i] * across];
    return openArray(value.kind, found, [count > 1 ? 1 : 0]);
  }

  axes(name) {
    if (this.values.has(name)) return this.axesOf(this.values.get(name));
    const node = this.program.nodes.get(name);
    if (node === undefined) {
      const { axis } = this.inputs.get(name);
      return axis !== undefined && this.lengths[axis] > 1 ? [axis] : [];
    }
    const found = new Set(node.reads.flatMap((read) => this.axes(read)));
    return this.order.filter((axis) => found.has(axis));
  }

  axesOf(value) {
    return this.order.filter((axis) => this.lengths[axis] > 1 && value.steps[axis] !== 0);
  }

  get(name) {
    let value = this.values.get(name);
    if (value === undefined) {
      value = this.made(name);
      this.values.set(name, value);
    }
    return value;
  }

  made(name) {
    if (this.origin !== null && !this.changed.has(name)) return this.origin.get(name);
    if (this.parent !== null && this.parent.isShared(name)) return this.cut(this.parent.get(name));
    const node = this.program.nodes.get(name);
    if (this.source !== null) {
      const { plane, evaluation } = this.source;
      if (evaluation.values.has(name) || !plane.spans(name)) return this.gatheredFrom(this.source, name);
    } else if (node === undefined) return this.gathered(this.inputs.get(name));
    return node.kernel < 0 ? this.get(node.reads[0]) : this.computed(node);
  }

  isShared(name) {
    if (!this.shared.has(name)) {
      const size = this.axes(name).reduce((product, axis) => product * this.lengths[axis], 1);
      this.shared.set(name, size <= SHARED_VALUES);
    }
    return this.shared.get(name);
  }

  cut(value) {
    const offset = value.steps.reduce((sum, step, axis) => sum + step * this.starts[axis], value.offset);
    return { ...value, offset };
  }

  gathered(input) {
    const steps = new Array(this.lengths.length).fill(0);
    if (input.axis === undefined) {
      const big = typeof input.value === "bigint";
      return openArray(big ? BIG : NUMBER, big ? [input.value] : Float64Array.of(input.value), steps);
    }
    const { axis, column } = input;
    if (this.lengths[axis] > 1) steps[axis] = 1;
    const values = Array.from(this.region[axis], (index) => column.at(index));
    return column.big ? openArray(BIG, values, steps) : openArray(NUMBER, Float64Array.from(values), steps);
  }

  // The range of a node, and whether doubles hold it and all that it is made from.
  proof(name) {
    if (this.origin !== null && !this.changed.has(name)) return this.origin.proof(name);
    let proof = this.proofs.get(name);
    if (proof === undefined) {
      const whole = this.parent ?? this.source?.evaluation;
      const known = whole?.proof(name);
      proof = known?.safe ? known : this.proven(name);
      this.proofs.set(name, proof);
    }
    return proof;
  }

  proven(name) {
    const node = this.program.nodes.get(name);
    if (node === undefined) {
      const ends = endsOf(this.get(name));
      return { range: ends, safe: isSafe(ends.lo, ends.hi), hull: ends };
    }
    if (node.kernel < 0) return this.proof(node.reads[0]);
    const L = proving();
    const reads = node.reads.map((read) => this.proof(read).range);
    for (const range of reads) if (range.lo !== undefined) L.max(range, range); // inputs are intermediates too
    const range = this.program.kernels[node.kernel].ranges(L)(...reads);
    return { range, safe: isSafe(L.hull.lo, L.hull.hi), hull: L.hull };
  }

  computed(node) {
    const safe = this.proof(node.name).safe;
    const reads = node.reads.map((read) => this.get(read));
    const spanned = this.order.filter((axis) => this.lengths[axis] > 1 && reads.some((one) => one.steps[axis] !== 0));
    const steps = new Array(this.lengths.length).fill(0);
    let size = 1;
    for (const axis of [...spanned].reverse()) {
      steps[axis] = size;
      size *= this.lengths[axis];
    }
    const data = node.flag ? new Uint8Array(size) : safe ? new Float64Array(size) : new Array(size);
    this.fill(this.program.kernels[node.kernel], safe, reads, spanned, data);
    return openArray(node.flag ? FLAG : safe ? NUMBER : BIG, data, steps);
  }

  // Run a kernel over rows and columns, once for each place along the axes outside them.
  fill(kernel, safe, reads, spanned, data) {
    const arrays = reads.map(safe ? numbersOf : bigsOf);
    const loop = safe ? kernel.number : kernel.big;
    const [column, row, ...outer] = [...spanned].reverse();
    const along = (axis) => reads.map((one) => (axis === undefined ? 0 : one.steps[axis]));
    const rows = row === undefined ? 1 : this.lengths[row];
    const columns = column === undefined ? 1 : this.lengths[column];
    const rowSteps = along(row);
    const columnSteps = along(column);
    const outerSteps = outer.map(along);
    const starts = reads.map((one) => one.offset);
    const at = outer.map(() => 0);
    for (let done = 0; done < data.length; done += rows * columns) {
      loop(data, done, rows, columns, arrays, starts, rowSteps, columnSteps);
      for (let k = 0; k < outer.length; k++) {
        at[k] += 1;
        for (let i = 0; i < starts.length; i++) starts[i] += outerSteps[k][i];
        if (at[k] < this.lengths[outer[k]]) break;
        for (let i = 0; i < starts.length; i++) starts[i] -= outerSteps[k][i] * at[k];
        at[k] = 0;
      }
    }
  }
}
