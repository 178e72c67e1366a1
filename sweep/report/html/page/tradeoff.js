// The trade-off of two objectives over the slice's cells within all bounds, with the exact Pareto set as a line.

const DRAWN_POINTS = 20000;
const INSET = 0.04; // of the picture that stays free at each side

const isSpanned = (state, { axis }) => axis === undefined || axis === state.x || axis === state.y;

// The two objectives; an axis that the map does not span is the same everywhere, and gives way to the capacity.
function objectivesShown(app) {
  const { grid, state } = app;
  const known = objectivesOf(grid);
  return [state.front.first, state.front.second].map((name) => {
    const found = known.find((one) => one.name === name);
    return isSpanned(state, found) ? found : known.find((one) => one.name === CAPACITY);
  });
}

class TradeOff {
  constructor(app) {
    const { slice } = app;
    this.app = app;
    [this.first, this.second] = objectivesShown(app);
    Object.assign(this, paretoOf(slice, this.first, this.second));
    this.cells = placesWhere(slice.masks, (mask) => mask === 0);
    this.range = this.ends(this.one);
    this.width = this.ends(this.two);
    this.points = this.front.map((place) => {
      const { index, scale } = slice.point(place % slice.xs.length, Math.floor(place / slice.xs.length));
      return { ...this.spotOf(place), place, index, scale };
    });
  }

  ends(values) {
    let low = Infinity;
    let high = -Infinity;
    for (const place of this.cells) {
      const value = Number(values[place]);
      if (value < low) low = value;
      if (value > high) high = value;
    }
    if (this.cells.length === 0) return { low: 0, high: 1 };
    return high === low ? { low: low - 1, high: high + 1 } : { low, high };
  }

  get text() {
    const sense = ({ rising, name }) => `${rising ? "most" : "least"} ${safe(name)}`;
    return (
      `${counted(this.cells.length, "cell", "cells")} of the slice within all bounds; `
      + `${counted(this.front.length, "point", "points")} that none of them beats in both: ${sense(this.first)}, `
      + `${sense(this.second)}. Dotted: the SLO's own bounds. Click a point to pin it.`
    );
  }

  scaled(value, { low, high }) {
    return INSET + ((1 - 2 * INSET) * (Number(value) - low)) / (high - low);
  }

  across(value) {
    return this.scaled(value, this.width);
  }

  up(value) {
    return this.scaled(value, this.range);
  }

  spotOf(place) {
    return { position: this.across(this.two[place]), value: Number(this.one[place]) };
  }

  axes() {
    const title = ({ name, unit }) => `${safe(name)}${UNITS[unit] ? ` in ${UNITS[unit]}` : ""}`;
    return [
      valueAxis(title(this.second), this.width, (value) => this.across(value)),
      valueAxis(title(this.first), this.range, (value) => this.up(value)),
    ];
  }

  draw(view, context) {
    context.fillStyle = styleOf("--soft");
    context.globalAlpha = 0.35;
    for (let i = 0, step = Math.ceil(this.cells.length / DRAWN_POINTS); i < this.cells.length; i += step) {
      const [x, y] = view.spot(this.spotOf(this.cells[i]));
      context.fillRect(x - 1.5, y - 1.5, 3, 3);
    }
    context.globalAlpha = 1;
    this.drawBounds(view, context);
    context.strokeStyle = styleOf("--accent");
    context.fillStyle = styleOf("--accent");
    context.lineWidth = 2;
    context.beginPath();
    this.points.forEach((point, i) => context[i ? "lineTo" : "moveTo"](...view.spot(point)));
    context.stroke();
    if (this.points.length > 400) return;
    for (const point of this.points) {
      context.beginPath();
      context.arc(...view.spot(point), 3.2, 0, 2 * Math.PI);
      context.fill();
    }
  }

  // The SLO's own lines where an objective is a figure whose bound lies in the picture.
  drawBounds({ area }, context) {
    context.strokeStyle = styleOf("--bad");
    context.lineWidth = 1.5;
    context.setLineDash([4, 3]);
    context.beginPath();
    const across = this.boundOf(this.second);
    const up = this.boundOf(this.first);
    if (across >= this.width.low && across <= this.width.high) {
      const x = area.left + area.width * this.across(across);
      context.moveTo(x, area.top);
      context.lineTo(x, area.top + area.height);
    }
    if (up >= this.range.low && up <= this.range.high) {
      const y = area.top + area.height * (1 - this.up(up));
      context.moveTo(area.left, y);
      context.lineTo(area.left + area.width, y);
    }
    context.stroke();
    context.setLineDash([]);
  }

  // The bound of an objective as a number, NaN where there is none of one value.
  boundOf({ name }) {
    const { grid, state } = this.app;
    const bound = grid.data.bounds.find(({ figure }) => figure === name);
    return Number(state.slo[bound?.name] ?? bound?.value ?? NaN);
  }

  distance([x, y], [px, py]) {
    return (x - px) ** 2 + (y - py) ** 2;
  }

  // Where a cell of the map is here; nowhere unless it is within all bounds.
  follow(_point, found, cell) {
    const { slice } = this.app;
    const place = cell.row * slice.xs.length + cell.column;
    return found.mask === 0 ? this.spotOf(place) : null;
  }

  link(point) {
    return point;
  }
}
