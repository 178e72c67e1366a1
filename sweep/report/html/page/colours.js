// Colours that colour-blind people can tell apart (Paul Tol's muted scheme; cividis), and what each cell gets.

const LIMIT_COLOURS = [
  // one per violation code, in the order of the bits
  "#444444",
  "#332288",
  "#882255",
  "#cc6677",
  "#aa4499",
  "#ddcc77",
  "#999933",
  "#117733",
  "#661100",
  "#44aa99",
];
const LETTERS = "ASUPDQTOVK"; // one per violation code, as `sweep region` prints them; lower case: stops the next step
const VERDICT_COLOURS = ["#88ccee", "#cc6677", "#b9b9b9"];
const INVALID_COLOUR = "#b9b9b9";
const NEXT_INVALID_COLOUR = "#dff0f8";
const CIVIDIS = [
  "#00204d",
  "#123570",
  "#3b496c",
  "#575d6d",
  "#707173",
  "#8a8779",
  "#a69d75",
  "#c4b56c",
  "#e4cf5b",
  "#ffea46",
];
const OVER = ["#7f3b08", "#c6721a", "#f3c98b", "#f7f7f7"];
const UNDER = ["#f7f7f7", "#a6d8d0", "#3f9d92", "#01554d"];

const channels = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

function mixed(hex, other, part) {
  const b = channels(other);
  return channels(hex).map((value, i) => Math.round(value * (1 - part) + b[i] * part));
}

// A colour as the 32 bits of a pixel on every machine: the bytes are red, green, blue, opaque.
function pixel([red, green, blue]) {
  const bytes = Uint8Array.of(red, green, blue, 255);
  return new Uint32Array(bytes.buffer)[0];
}

const cssOf = ([red, green, blue]) => `rgb(${red} ${green} ${blue})`;

function ramp(stops, part) {
  const at = Math.min(Math.max(part, 0), 1) * (stops.length - 1);
  const low = Math.min(Math.floor(at), stops.length - 2);
  return mixed(stops[low], stops[low + 1], at - low);
}

// What a cell of `limit` or `verdict` is: a key of the legend, its colour, letter and words.
function meaningOf(grid, show, mask, verdict, reason) {
  if (show === "verdict") {
    const words = ["within all bounds", "rejected: over a bound", "invalid: without a verdict"];
    return {
      key: `v${verdict}`,
      colour: channels(VERDICT_COLOURS[verdict]),
      letter: "+−·"[verdict],
      text: words[verdict],
    };
  }
  if (verdict === INVALID_CELL) {
    const [code, words] = grid.data.reasons[reason];
    return {
      key: `i${reason}`,
      colour: channels(INVALID_COLOUR),
      letter: String(reason),
      text: `invalid, ${code}: ${words}`,
    };
  }
  if (mask === UNKNOWN)
    return {
      key: "w",
      colour: channels("#eceef0"),
      letter: " ",
      text: "within; what stops the next permille is being computed",
    };
  if (mask === INVALID) {
    return {
      key: "next",
      colour: channels(NEXT_INVALID_COLOUR),
      letter: "+",
      text: "within; one permille more traffic is invalid",
    };
  }
  const bit = 31 - Math.clz32(mask & -mask);
  const [code, words] = grid.data.codes[bit];
  if (verdict === WITHIN) {
    return {
      key: `w${bit}`,
      colour: mixed(LIMIT_COLOURS[bit], "#ffffff", 0.68),
      letter: LETTERS[bit].toLowerCase(),
      text: `within; one permille more breaks ${code}`,
    };
  }
  return {
    key: `b${bit}`,
    colour: channels(LIMIT_COLOURS[bit]),
    letter: LETTERS[bit],
    text: `breaks ${code}: ${words}`,
  };
}

// The colours of a map of meanings, with each meaning that occurs and how many cells have it.
function paintMeanings(slice, lit, wait) {
  const { masks, reasons, grid, state } = slice;
  const limits = state.show === "limit" ? slice.limitMasks(wait) : null;
  const pixels = new Uint32Array(masks.length);
  const known = new Map();
  let last = -1;
  let entry;
  for (let place = 0; place < masks.length; place++) {
    const verdict = verdictOf(masks[place]);
    const mask = limits ? limits[place] : masks[place];
    const number = limits ? (mask * 16 + reasons[place]) * 4 + verdict : verdict;
    if (number !== last) entry = known.get(number); // neighbours are mostly alike
    last = number;
    if (entry === undefined) {
      const meaning = meaningOf(grid, state.show, mask, verdict, reasons[place]);
      entry = [...known.values()].find(({ key }) => key === meaning.key) ?? {
        ...meaning,
        count: 0,
        pixel: pixel(lit === null || lit === meaning.key ? meaning.colour : dimmed(meaning.colour)),
      };
      known.set(number, entry);
    }
    entry.count += 1;
    pixels[place] = entry.pixel;
  }
  return { pixels, entries: [...new Set(known.values())] };
}

const dimmed = (colour) => colour.map((value) => Math.round(value * 0.12 + 222 * 0.88));

// The colours of a map of numbers: dark is small; of a slack brown is over the bound, green is under it.
function paintNumbers(slice) {
  const { values, masks, state } = slice;
  const invalid = pixel(channels(INVALID_COLOUR));
  let lo = null;
  let hi = null;
  for (let place = 0; place < masks.length; place++) {
    if (!slice.isDefined(place)) continue;
    if (lo === null || values[place] < lo) lo = values[place];
    if (hi === null || values[place] > hi) hi = values[place];
  }
  const signed = state.show.startsWith("slack:");
  const [low, high] = [Number(lo ?? 0), Number(hi ?? 0)];
  const shade = (value) => {
    if (!signed) return ramp(CIVIDIS, high === low ? 0.5 : (value - low) / (high - low));
    return value < 0 ? ramp(OVER, 1 - value / low) : ramp(UNDER, high > 0 ? value / high : 0);
  };
  const table = Array.from({ length: 512 }, (_, i) => pixel(shade(low + ((high - low) * i) / 511)));
  const pixels = new Uint32Array(masks.length);
  for (let place = 0; place < masks.length; place++) {
    const part = high === low ? 0 : (Number(values[place]) - low) / (high - low);
    pixels[place] = slice.isDefined(place) ? table[Math.round(part * 511)] : invalid;
  }
  return { pixels, lo, hi, shade };
}
