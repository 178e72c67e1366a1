// What both charts share: a sharp canvas, margins, ticks and titles of axes.

const MARGIN = { left: 70, right: 14, top: 10, bottom: 46 };

const styleOf = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// A canvas at the resolution of the screen, cleared, with the area inside the margins.
function prepared(canvas) {
  const width = canvas.clientWidth, height = canvas.clientHeight, ratio = window.devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * ratio)) canvas.width = Math.round(width * ratio);
  if (canvas.height !== Math.round(height * ratio)) canvas.height = Math.round(height * ratio);
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  const area = {
    left: MARGIN.left, top: MARGIN.top, width: width - MARGIN.left - MARGIN.right, height: height - MARGIN.top - MARGIN.bottom,
  };
  return { context, area, width, height };
}

// A text cut to a width, with an ellipsis where it is cut.
function fitted(context, text, width) {
  if (context.measureText(text).width <= width) return text;
  let length = text.length;
  while (length > 1 && context.measureText(`${text.slice(0, length)}…`).width > width) length -= 1;
  return `${text.slice(0, length)}…`;
}

// Positions of a row of `count` labels of which at most `most` have room: the first, the last, and even steps.
function ticked(count, most) {
  if (count <= most) return Array.from({ length: count }, (_, i) => i);
  const step = Math.ceil((count - 1) / Math.max(1, most - 1)), found = [];
  for (let i = 0; i < count - step / 2; i += step) found.push(i);
  if (found[found.length - 1] !== count - 1) found.push(count - 1);
  return found;
}

// Ticks and titles. `x` and `y`: { title, count, label(i), at(i): position from 0 to 1 }.
function drawAxes({ context, area, height }, x, y) {
  context.fillStyle = styleOf("--ink");
  context.strokeStyle = styleOf("--soft");
  context.lineWidth = 1;
  context.font = "11px system-ui, sans-serif";
  context.strokeRect(area.left - 0.5, area.top - 0.5, area.width + 1, area.height + 1);
  const widest = (axis) => Math.max(...ticked(axis.count, 12).map((i) => context.measureText(axis.label(i)).width));
  const room = Math.min(110, widest(x) + 14);
  context.textAlign = "center";
  context.textBaseline = "top";
  for (const i of ticked(x.count, Math.max(2, Math.floor(area.width / room)))) {
    const at = area.left + area.width * x.at(i);
    context.fillRect(at - 0.5, area.top + area.height, 1, 4);
    const text = fitted(context, x.label(i), room - 4), half = context.measureText(text).width / 2;
    context.fillText(text, Math.min(Math.max(at, half + 2), area.left + area.width + MARGIN.right - half), area.top + area.height + 6);
  }
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (const i of ticked(y.count, Math.max(2, Math.floor(area.height / 26)))) {
    const at = area.top + area.height * (1 - y.at(i));
    context.fillRect(area.left - 5, at - 0.5, 4, 1);
    context.fillText(fitted(context, y.label(i), MARGIN.left - 26), area.left - 7, at);
  }
  context.font = "600 12px system-ui, sans-serif";
  context.textAlign = "center";
  context.textBaseline = "alphabetic";
  context.fillText(fitted(context, x.title, area.width), area.left + area.width / 2, height - 8);
  context.save();
  context.translate(13, area.top + area.height / 2);
  context.rotate(-Math.PI / 2);
  context.fillText(fitted(context, y.title, area.height), 0, 0);
  context.restore();
}

// The title of a grid's axis: its short name, its own one and the unit.
function axisTitle(axis) {
  const own = axis.short === axis.name ? "" : ` (${safe(axis.name)})`, unit = axis.choices ? "" : UNITS[axis.unit];
  return `${safe(axis.short)}${own}${unit ? ` in ${unit}` : ""}`;
}

// About five round values from low to high, as a scale of real numbers.
function roundTicks(low, high) {
  const span = high - low || Math.abs(high) || 1, power = 10 ** Math.floor(Math.log10(span / 5));
  const step = [1, 2, 5, 10].map((unit) => unit * power).find((size) => span / size <= 6);
  const found = [];
  for (let value = Math.ceil(low / step) * step; value <= high + step / 1000; value += step) found.push(value);
  return found;
}

const shortNumber = (value) => {
  for (const [size, name] of [[1e12, "T"], [1e9, "G"], [1e6, "M"]]) {
    if (Math.abs(value) >= size) return `${grouped(Number((value / size).toPrecision(4)))} ${name}`;
  }
  return grouped(Number(value.toPrecision(6)));
};

// Put a tip beside a place of its stage, inside of it.
function showTip(tip, stage, x, y, ...children) {
  tip.replaceChildren(...children);
  tip.hidden = false;
  const left = x + 18 + tip.offsetWidth > stage.clientWidth ? x - tip.offsetWidth - 14 : x + 16;
  tip.style.left = `${Math.max(0, left)}px`;
  tip.style.top = `${Math.max(0, Math.min(y + 12, stage.clientHeight - tip.offsetHeight - 2))}px`;
}
