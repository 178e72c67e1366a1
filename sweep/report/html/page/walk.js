// The largest point of the whole grid by the exact capacity of every configuration, in chunks.

const CHUNK_VALUES = 16384;

// A point's place in the default order at one traffic scale, as a number: most slots, largest chunk, lowest share,
// then the first value of every other axis. Small ones come first.
function rankWeights(lengths) {
  const order = [2, 1, 0, ...lengths.map((_, axis) => axis).slice(3)];
  const weights = new Array(lengths.length).fill(0);
  let size = 1;
  for (const axis of [...order].reverse()) {
    weights[axis] = size;
    size *= lengths[axis];
  }
  return { weights, falling: [1, 2] };
}

// Per axis and place the best configuration there: its capacity, its rank and its number.
function emptyFronts(lengths) {
  return lengths.map((length) => ({
    capacity: new Float64Array(length),
    rank: new Float64Array(length).fill(Infinity),
    number: new Float64Array(length).fill(-1),
  }));
}

function placeOf(number, lengths) {
  const index = [];
  for (const length of [...lengths].reverse()) {
    index.unshift(number % length);
    number = Math.floor(number / length);
  }
  return index;
}

// Yields how much is done; returns the largest point and, per axis, the best configuration for each of its values.
function* walkConfigurations(grid, given) {
  const lengths = grid.axes.slice(0, -1).map((axis) => axis.length);
  const whole = grid.evaluation(grid.under(given), [...lengths.map(every), [0]]);
  const ranks = rankWeights(lengths);
  const fronts = emptyFronts(lengths);
  const total = lengths.reduce((product, length) => product * length, 1);
  let done = 0;
  for (const [starts, sizes] of chunks(whole.order, [...lengths, 1])) {
    const block = whole.block(starts, sizes);
    take(block.get(CAPACITY), starts, sizes, lengths, ranks, fronts);
    done += sizes.reduce((product, size) => product * size, 1);
    yield { done, total };
  }
  return { best: bestOf(fronts, lengths), fronts, decided: total };
}

// Blocks of at most CHUNK_VALUES configurations: whole along inner axes, one place along outer ones.
function* chunks(order, lengths) {
  const sizes = lengths.map(() => 1);
  let room = CHUNK_VALUES;
  for (const axis of [...order].reverse()) {
    sizes[axis] = Math.max(1, Math.min(lengths[axis], room));
    room = Math.floor(room / sizes[axis]);
  }
  const starts = lengths.map(() => 0);
  for (;;) {
    yield [[...starts], sizes.map((size, axis) => Math.min(size, lengths[axis] - starts[axis]))];
    let axis = 0;
    while (axis < starts.length && (starts[axis] += sizes[axis]) >= lengths[axis]) starts[axis++] = 0;
    if (axis === starts.length) return;
  }
}

// Fold a block of capacities into the best configurations per axis.
function take(capacity, starts, sizes, lengths, ranks, fronts) {
  const data = numbersOf(capacity);
  const rank = lengths.length;
  const at = starts.slice(0, rank);
  const numbers = new Array(rank);
  for (let axis = rank - 1, size = 1; axis >= 0; size *= lengths[axis--]) numbers[axis] = size;
  for (;;) {
    let place = capacity.offset;
    let order = 0;
    let number = 0;
    for (let axis = 0; axis < rank; axis++) {
      place += (at[axis] - starts[axis]) * capacity.steps[axis];
      order += (ranks.falling.includes(axis) ? lengths[axis] - 1 - at[axis] : at[axis]) * ranks.weights[axis];
      number += at[axis] * numbers[axis];
    }
    const scale = data[place];
    if (scale > 0) {
      for (let axis = 0; axis < rank; axis++) {
        const front = fronts[axis];
        const own = at[axis];
        if (scale > front.capacity[own] || (scale === front.capacity[own] && order < front.rank[own])) {
          front.capacity[own] = scale;
          front.rank[own] = order;
          front.number[own] = number;
        }
      }
    }
    let axis = rank - 1;
    while (axis >= 0 && ++at[axis] >= starts[axis] + sizes[axis]) at[axis] = starts[axis--];
    if (axis < 0) return;
  }
}

function bestOf(fronts, lengths) {
  const { capacity, rank, number } = fronts[0];
  let first = -1;
  for (let i = 0; i < capacity.length; i++) {
    if (
      capacity[i] > 0
      && (first < 0 || capacity[i] > capacity[first] || (capacity[i] === capacity[first] && rank[i] < rank[first]))
    )
      first = i;
  }
  return first < 0 ? null : { index: placeOf(number[first], lengths), scale: capacity[first] };
}
