// What both charts share: a sharp canvas, margins, ticks and titles of axes.

const MARGIN = { right: 14, top: 10, bottom: 46 };
const LEFT = { least: 56, most: 130, beside: 34 }; // the left margin; `beside` is what a label leaves to title and tick
const TIP_AWAY = 16; // how far a tip keeps from what it is about
const FONT = "11px system-ui, sans-serif";

const styleOf = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// A canvas at the resolution of the screen, cleared, with the area inside the margins: the left one fits the labels.
function prepared(canvas, y) {
  const width = canvas.clientWidth;
  const height = canvas.clientHeight;
  const ratio = window.devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * ratio)) canvas.width = Math.round(width * ratio);
  if (canvas.height !== Math.round(height * ratio)) canvas.height = Math.round(height * ratio);
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = FONT;
  const left = Math.round(Math.min(LEFT.most, Math.max(LEFT.least, widest(context, y) + LEFT.beside)));
  const area = {
    left,
    top: MARGIN.top,
    width: width - left - MARGIN.right,
    height: height - MARGIN.top - MARGIN.bottom,
  };
  return { context, area, width, height };
}

// The width of the widest of an axis' labels, of a long one among some of them.
const widest = (context, axis) =>
  Math.max(0, ...ticked(axis.count, 24).map((i) => context.measureText(axis.label(i)).width));

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
  const step = Math.ceil((count - 1) / Math.max(1, most - 1));
  const found = [];
  for (let i = 0; i < count - step / 2; i += step) found.push(i);
  if (found[found.length - 1] !== count - 1) found.push(count - 1);
  return found;
}

// Ticks and titles. `x` and `y`: { title, count, label(i), at(i): position from 0 to 1 }.
function drawAxes({ context, area, height }, x, y) {
  context.fillStyle = styleOf("--ink");
  context.strokeStyle = styleOf("--soft");
  context.lineWidth = 1;
  context.font = FONT;
  context.strokeRect(area.left - 0.5, area.top - 0.5, area.width + 1, area.height + 1);
  const room = Math.min(110, widest(context, x) + 14);
  context.textAlign = "center";
  context.textBaseline = "top";
  for (const i of ticked(x.count, Math.max(2, Math.floor(area.width / room)))) {
    const at = area.left + area.width * x.at(i);
    context.fillRect(at - 0.5, area.top + area.height, 1, 4);
    const text = fitted(context, x.label(i), room - 4);
    const half = context.measureText(text).width / 2;
    context.fillText(
      text,
      Math.min(Math.max(at, half + 2), area.left + area.width + MARGIN.right - half),
      area.top + area.height + 6,
    );
  }
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (const i of ticked(y.count, Math.max(2, Math.floor(area.height / 26)))) {
    const at = area.top + area.height * (1 - y.at(i));
    context.fillRect(area.left - 5, at - 0.5, 4, 1);
    context.fillText(fitted(context, y.label(i), area.left - LEFT.beside + 4), area.left - 7, at);
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
  const own = axis.short === axis.name ? "" : ` (${safe(axis.name)})`;
  const unit = axis.choices ? "" : UNITS[axis.unit];
  return `${safe(axis.short)}${own}${unit ? ` in ${unit}` : ""}`;
}

// About five round values from low to high; everything drawn is a whole number, so no tick lies between two.
function roundTicks(low, high) {
  const span = high - low || 1;
  const power = 10 ** Math.max(0, Math.floor(Math.log10(span / 5)));
  const step = [1, 2, 5, 10].map((unit) => unit * power).find((size) => span / size <= 6);
  const found = [];
  for (let value = Math.ceil(low / step) * step; value <= high + step / 1000; value += step) found.push(value);
  return found;
}

// An axis of values: `position` says where one is, from 0 to 1.
function valueAxis(title, range, position) {
  const ticks = roundTicks(range.low, range.high);
  return { title, count: ticks.length, label: (i) => shortNumber(ticks[i]), at: (i) => position(ticks[i]) };
}

// Put a tip beside a place of its stage, never over it: right or left of it, in a narrow window above or below.
function showTip(tip, stage, x, y, ...children) {
  tip.replaceChildren(...children);
  tip.hidden = false;
  const { left } = stage.getBoundingClientRect();
  const [width, height] = [tip.offsetWidth, tip.offsetHeight];
  const isRight = left + x + TIP_AWAY + width < document.documentElement.clientWidth;
  const isLeft = left + x - TIP_AWAY - width > 0;
  const beside = isRight ? x + TIP_AWAY : x - TIP_AWAY - width;
  const middle = Math.max(0, Math.min(x - width / 2, stage.clientWidth - width));
  tip.style.left = `${isRight || isLeft ? beside : middle}px`;
  const below = y + TIP_AWAY + height < stage.clientHeight ? y + TIP_AWAY : y - TIP_AWAY - height;
  const level = Math.max(0, Math.min(y - 20, stage.clientHeight - height));
  tip.style.top = `${isRight || isLeft ? level : below}px`;
}
