// Integers of any size: as doubles where every value is below 2^53, as BigInts elsewhere.

// What the values of an array are.
const NUMBER = 0;
const BIG = 1;
const FLAG = 2;

const SAFE = BigInt(Number.MAX_SAFE_INTEGER); // 2^53 − 1

const isSafe = (lo, hi) => lo >= -SAFE && hi <= SAFE;

// ⌊a/b⌋ and ⌈a/b⌉ of BigInts for b ≥ 1: BigInt division cuts towards 0.
const floorDiv = (a, b) => (a >= 0n ? a / b : -((b - 1n - a) / b));
const ceilDiv = (a, b) => (a > 0n ? (a + b - 1n) / b : -(-a / b));
const larger = (a, b) => (a > b ? a : b);
const smaller = (a, b) => (a < b ? a : b);

// An integer of the page's data: a JSON number where it is safe, else a text.
const parsed = (value) => (typeof value === "string" ? BigInt(value) : value);

// A BigInt as a double where nothing is lost, else as it is.
const narrowed = (value) => (typeof value === "bigint" && isSafe(value, value) ? Number(value) : value);

// The values along an axis: listed, or a range that is never made as a whole.
class Column {
  constructor(spec) {
    this.range = !Array.isArray(spec);
    if (this.range) {
      this.first = parsed(spec.first);
      this.step = parsed(spec.step);
      this.length = spec.count;
      const last = BigInt(this.first) + BigInt(this.step) * BigInt(this.length - 1);
      this.big = !isSafe(BigInt(this.first), last);
      if (this.big) [this.first, this.step] = [BigInt(this.first), BigInt(this.step)];
    } else {
      const values = spec.map(parsed);
      this.big = values.some((value) => typeof value === "bigint");
      this.values = this.big ? values.map(BigInt) : values;
      this.length = values.length;
    }
  }

  at(index) {
    if (!this.range) return this.values[index];
    return this.big ? this.first + this.step * BigInt(index) : this.first + this.step * index;
  }

  // The least and largest value from one index to another; `rising` columns have them at the ends.
  ends(first, last) {
    if (this.rising) return { lo: this.at(first), hi: this.at(last) };
    let lo = this.at(first),
      hi = lo;
    for (let i = first + 1; i <= last; i++) {
      const value = this.at(i);
      if (value < lo) lo = value;
      if (value > hi) hi = value;
    }
    return { lo, hi };
  }

  get rising() {
    this.rises ??= this.range || this.values.every((value, i) => i === 0 || value >= this.values[i - 1]);
    return this.rises;
  }

  // The last index whose value is at most `value`, −1 where there is none; values rise.
  lastUpTo(value) {
    let low = -1,
      high = this.length - 1;
    while (low < high) {
      const middle = Math.floor((low + high + 1) / 2);
      if (this.at(middle) <= value) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}
