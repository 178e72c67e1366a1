// Numbers, names and units as text, and the few ways to make an element: always by text, never by markup.

const THIN = "\u202f"; // a narrow space that does not break

const grouped = (number) =>
  String(number)
    .replace("-", "−")
    .replace(/\B(?=(\d{3})+(?!\d))/g, THIN);

// A text from the grid's file: what is not printable or turns the writing around is shown by its number.
const safe = (text) =>
  String(text).replace(/[^\P{C}]|[^\P{Z} ]/gu, (sign) => `\\u{${sign.codePointAt(0).toString(16)}}`);

const UNITS = { "1e-3": "‰", ms: "ms", byte: "bytes", "s-1": "tokens/s", 1: "" };

// 1452 ‰ is 1.452 times the declared traffic, exactly.
function factor(permille) {
  const digits = String(permille).padStart(4, "0");
  return `${grouped(digits.slice(0, -3))}.${digits.slice(-3)}`.replace(/\.?0+$/, "");
}

const labelText = (label) => (typeof label === "string" ? safe(label) : grouped(label));

// About: four digits and a unit of thousands.
const shortNumber = (value) => {
  if (Math.abs(value) >= 1e15) return value.toExponential(3).replace("e+", "·10^");
  for (const [size, name] of [
    [1e12, "T"],
    [1e9, "G"],
    [1e6, "M"],
  ]) {
    if (Math.abs(value) >= size) return `${grouped(Number((value / size).toPrecision(4)))} ${name}`;
  }
  return grouped(Number(value.toPrecision(6)));
};

// A figure where there is little room: exact below 10^9.
const brief = (number) => (BigInt(number) < 1000000000n ? grouped(number) : `≈ ${shortNumber(Number(number))}`);

const sentence = (text) => text[0].toUpperCase() + text.slice(1);

const counted = (number, one, many) => `${grouped(number)} ${BigInt(number) === 1n ? one : many}`;

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "class") element.className = value;
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null).map(asNode));
  return element;
}

const asNode = (child) => (child instanceof Node ? child : String(child));

// A name from the file, on its own as to the direction of writing.
const named = (text) => make("bdi", {}, safe(text));

const byId = (id) => document.getElementById(id);

function put(id, ...children) {
  byId(id).replaceChildren(...children.filter((child) => child !== null).map(asNode));
}

// A long name with places where its line may break: after each underscore.
const breakable = (text) =>
  make("span", {}, ...text.split(/(?<=_)/).flatMap((part, i) => (i ? [make("wbr"), part] : [part])));

// A table of rows; a row may have a class.
function tableElement(caption, head, rows) {
  const cells = (tag, row) => row.map((cell) => make(tag, {}, cell));
  return make(
    "table",
    {},
    caption === null ? null : make("caption", {}, caption),
    head === null ? null : make("thead", {}, make("tr", {}, ...cells("th", head))),
    make("tbody", {}, ...rows.map(({ row, tone }) => make("tr", tone ? { class: tone } : {}, ...cells("td", row)))),
  );
}
