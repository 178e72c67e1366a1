// Arithmetic on ranges of integers: the kernels, run on it, bound what they give over many inputs at once.
// Comparisons give what may happen: { t: can be true, f: can be false }. Divisors are at least 1.

const truth = (t, f) => ({ t, f });
const both = (a, b) => truth(a.t && b.t, a.f || b.f);
const either = (a, b) => truth(a.t || b.t, a.f && b.f);
const opposite = (a) => truth(a.f, a.t);

// BigInt ranges. `note` is told every operand and result: that is the proof that no intermediate leaves a bound.
function bigRanges(note) {
  const made = (lo, hi) => {
    note(lo, hi);
    return { lo, hi };
  };
  const read = (a, b) => {
    note(a.lo, a.hi);
    note(b.lo, b.hi);
  };
  const L = {
    of: (value) => ({ lo: value, hi: value }),
    add(a, b) {
      read(a, b);
      return made(a.lo + b.lo, a.hi + b.hi);
    },
    sub(a, b) {
      read(a, b);
      return made(a.lo - b.hi, a.hi - b.lo);
    },
    neg(a) {
      return made(-a.hi, -a.lo);
    },
    mul(a, b) {
      read(a, b);
      if (a.lo >= 0n && b.lo >= 0n) return made(a.lo * b.lo, a.hi * b.hi);
      const ends = [a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi];
      return made(ends.reduce(smaller), ends.reduce(larger));
    },
    floorDiv(a, b) {
      read(a, b);
      if (b.lo < 1n) throw new Error("a kernel divides by what may be less than 1");
      return made(floorDiv(a.lo, a.lo >= 0n ? b.hi : b.lo), floorDiv(a.hi, a.hi >= 0n ? b.lo : b.hi));
    },
    max(a, b) {
      read(a, b);
      return { lo: larger(a.lo, b.lo), hi: larger(a.hi, b.hi) };
    },
    min(a, b) {
      read(a, b);
      return { lo: smaller(a.lo, b.lo), hi: smaller(a.hi, b.hi) };
    },
    lt(a, b) {
      read(a, b);
      return truth(a.lo < b.hi, a.hi >= b.lo);
    },
    le(a, b) {
      read(a, b);
      return truth(a.lo <= b.hi, a.hi > b.lo);
    },
    gt: (a, b) => opposite(L.le(a, b)),
    ge: (a, b) => opposite(L.lt(a, b)),
    and: both,
    or: either,
    not: opposite,
    select(c, a, b) {
      if (!c.f) {
        note(a.lo, a.hi);
        return a;
      }
      if (!c.t) {
        note(b.lo, b.hi);
        return b;
      }
      read(a, b);
      return made(smaller(a.lo, b.lo), larger(a.hi, b.hi));
    },
  };
  return L;
}

// The proof of one kernel: one round of the search over the hull of its bracket covers every concrete round.
function proving() {
  const hull = { lo: 0n, hi: 0n };
  const L = bigRanges((lo, hi) => {
    if (lo < hull.lo) hull.lo = lo;
    if (hi > hull.hi) hull.hi = hi;
  });
  L.hull = hull;
  L.largest = (valueAt, limit, lo, hi) => {
    const middle = { lo: lo.lo, hi: larger(lo.hi, hi.hi) };
    L.add(L.add(middle, middle), L.of(1n));
    L.sub(middle, L.of(1n));
    valueAt(middle);
    return middle;
  };
  return L;
}

// Bounds of a search: the largest x where the least values allow it, and where the most values do.
function searching(L, within) {
  L.largest = (valueAt, limit, lo, hi) => {
    const top = within((x) => valueAt({ lo: x, hi: x }).lo, limit.hi, lo.lo, hi.hi);
    return { lo: within((x) => valueAt({ lo: x, hi: x }).hi, limit.lo, lo.lo, hi.lo), hi: top };
  };
  return L;
}

const bigBounds = () =>
  searching(
    bigRanges(() => {}),
    (valueAt, limit, lo, hi) => {
      while (lo < hi) {
        const middle = (lo + hi + 1n) / 2n; // a traffic scale: never negative
        if (valueAt(middle) <= limit) lo = middle;
        else hi = middle - 1n;
      }
      return lo;
    },
  );

// The same on doubles, for nodes whose intermediates are proven to stay below 2^53 over all boxes together.
function numberBounds() {
  const made = (lo, hi) => ({ lo, hi });
  const L = {
    of: (value) => made(Number(value), Number(value)),
    add: (a, b) => made(a.lo + b.lo, a.hi + b.hi),
    sub: (a, b) => made(a.lo - b.hi, a.hi - b.lo),
    neg: (a) => made(-a.hi, -a.lo),
    mul(a, b) {
      if (a.lo >= 0 && b.lo >= 0) return made(a.lo * b.lo, a.hi * b.hi);
      const p = a.lo * b.lo;
      const q = a.lo * b.hi;
      const r = a.hi * b.lo;
      const s = a.hi * b.hi;
      return made(Math.min(p, q, r, s), Math.max(p, q, r, s));
    },
    floorDiv: (a, b) =>
      made(Math.floor(a.lo / (a.lo >= 0 ? b.hi : b.lo)), Math.floor(a.hi / (a.hi >= 0 ? b.lo : b.hi))),
    max: (a, b) => made(Math.max(a.lo, b.lo), Math.max(a.hi, b.hi)),
    min: (a, b) => made(Math.min(a.lo, b.lo), Math.min(a.hi, b.hi)),
    lt: (a, b) => truth(a.lo < b.hi, a.hi >= b.lo),
    le: (a, b) => truth(a.lo <= b.hi, a.hi > b.lo),
    gt: (a, b) => truth(a.hi > b.lo, a.lo <= b.hi),
    ge: (a, b) => truth(a.hi >= b.lo, a.lo < b.hi),
    and: both,
    or: either,
    not: opposite,
    select(c, a, b) {
      if (!c.f) return a;
      return c.t ? made(Math.min(a.lo, b.lo), Math.max(a.hi, b.hi)) : b;
    },
  };
  return searching(L, (valueAt, limit, lo, hi) => {
    while (lo < hi) {
      const middle = Math.floor((lo + hi + 1) / 2);
      if (valueAt(middle) <= limit) lo = middle;
      else hi = middle - 1;
    }
    return lo;
  });
}
