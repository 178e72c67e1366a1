// The map: the slice as colours, the largest point, pins and the cursor; pointer and keys.

class MapView {
  constructor(app) {
    this.app = app;
    this.canvas = byId("map");
    this.tip = byId("tip");
    this.cursor = null; // column and row
    this.lit = null; // the key of the legend that is lit
    this.painted = document.createElement("canvas");
    this.canvas.addEventListener("pointermove", (event) => this.hover(this.hit(event), event));
    this.canvas.addEventListener("pointerleave", () => this.leave());
    this.canvas.addEventListener("click", (event) => {
      const cell = this.hit(event);
      if (cell) this.app.pin(cell);
    });
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    this.canvas.addEventListener("focus", () => {
      this.cursor ??= this.home();
      this.draw();
    });
    this.canvas.addEventListener("blur", () => this.leave());
  }

  get slice() {
    return this.app.slice;
  }

  // Where the keyboard begins: at the largest point if it is here, else in the middle.
  home() {
    const { best, slice } = this.app;
    const found = best && slice.cellOf({ index: best.index, scale: this.app.scaleOf(best) });
    return found ?? { column: slice.xs.length >> 1, row: slice.ys.length >> 1 };
  }

  // Colour the cells anew. Without a wait, what takes long is left for later: the map answers a slider first.
  paint(wait = true) {
    const { slice } = this;
    const { state } = slice;
    const meanings = state.show === "limit" || state.show === "verdict";
    this.colours = meanings ? paintMeanings(slice, this.lit, wait) : paintNumbers(slice);
    const [columns, rows] = [slice.xs.length, slice.ys.length];
    [this.painted.width, this.painted.height] = [columns, rows];
    const image = new ImageData(columns, rows);
    const pixels = new Uint32Array(image.data.buffer);
    for (let row = 0; row < rows; row++) {
      const line = this.colours.pixels.subarray(row * columns, (row + 1) * columns);
      pixels.set(line, (rows - 1 - row) * columns); // upwards
    }
    this.painted.getContext("2d").putImageData(image, 0, 0);
    if (this.cursor && (this.cursor.column >= columns || this.cursor.row >= rows)) this.cursor = null;
    this.draw();
  }

  draw() {
    const { slice } = this;
    const axis = (place, indices) => ({
      title: axisTitle(this.app.grid.axes[place]),
      count: indices.length,
      label: (i) => labelText(this.app.grid.label(place, indices[i])),
      at: (i) => (i + 0.5) / indices.length,
    });
    const [x, y] = [axis(slice.state.x, slice.xs), axis(slice.state.y, slice.ys)];
    const frame = prepared(this.canvas, y);
    const { context, area } = frame;
    this.area = area;
    this.cell = { width: area.width / x.count, height: area.height / y.count };
    context.imageSmoothingEnabled = false;
    context.drawImage(this.painted, area.left, area.top, area.width, area.height);
    this.drawEdge(context);
    this.drawLetters(context);
    drawAxes(frame, x, y);
    this.drawMarks(context);
  }

  // The edge of what is within all bounds.
  drawEdge(context) {
    const { masks, xs, ys } = this.slice;
    const columns = xs.length;
    const { area, cell } = this;
    const path = new Path2D();
    let segments = 0;
    for (let row = 0, place = 0; row < ys.length; row++) {
      for (let column = 0; column < columns; column++, place++) {
        const within = masks[place] === 0;
        const x = area.left + column * cell.width;
        const y = area.top + area.height - row * cell.height;
        if (column + 1 < columns && within !== (masks[place + 1] === 0)) {
          path.moveTo(x + cell.width, y);
          path.lineTo(x + cell.width, y - cell.height);
          segments++;
        }
        if (row + 1 < ys.length && within !== (masks[place + columns] === 0)) {
          path.moveTo(x, y - cell.height);
          path.lineTo(x + cell.width, y - cell.height);
          segments++;
        }
      }
    }
    if (segments > 20000) return;
    context.strokeStyle = "#ffffff";
    context.lineWidth = 3.5;
    context.stroke(path);
    context.strokeStyle = "#111111";
    context.lineWidth = 1.6;
    context.stroke(path);
  }

  // Letters in the cells of a small map, so that no colour need be told from another.
  drawLetters(context) {
    const { slice, cell, area } = this;
    const { state } = slice;
    if (cell.width < 13 || cell.height < 13 || (state.show !== "limit" && state.show !== "verdict")) return;
    context.font = `${Math.min(13, Math.floor(cell.height) - 2)}px system-ui, sans-serif`;
    context.textAlign = "center";
    context.textBaseline = "middle";
    const masks = state.show === "limit" ? slice.limitMasks(true) : slice.masks;
    for (let place = 0; place < masks.length; place++) {
      const verdict = verdictOf(slice.masks[place]);
      const { letter, colour } = meaningOf(slice.grid, state.show, masks[place], verdict, slice.reasons[place]);
      const column = place % slice.xs.length;
      const row = Math.floor(place / slice.xs.length);
      context.fillStyle = colour[0] * 0.3 + colour[1] * 0.59 + colour[2] * 0.11 > 140 ? "#111111" : "#ffffff";
      context.fillText(
        letter,
        area.left + (column + 0.5) * cell.width,
        area.top + area.height - (row + 0.5) * cell.height,
      );
    }
  }

  drawMarks(context) {
    const { app } = this;
    if (app.linked) this.drawLink(context, app.linked);
    if (app.best) this.mark(context, app.slice.cellOf({ index: app.best.index, scale: app.scaleOf(app.best) }), "★");
    app.state.pins.forEach((pin, i) => this.mark(context, app.slice.cellOf(pin), "AB"[i]));
    if (this.cursor) this.outline(context, this.cursor.column, this.cursor.row, "#ffffff", styleOf("--accent"));
  }

  // What the frontier points at: a cell, or the column or row of a value of an axis.
  drawLink(context, { index, scale, value, axis }) {
    const { app, slice, area, cell } = this;
    const { state } = slice;
    if (axis !== undefined && (axis === state.x || axis === state.y)) {
      const across = axis === state.x;
      const place = nearestPlace(across ? slice.xs : slice.ys, index[axis]);
      if (place < 0) return;
      context.strokeStyle = styleOf("--accent");
      context.lineWidth = 2;
      if (across) context.strokeRect(area.left + place * cell.width, area.top, cell.width, area.height);
      else context.strokeRect(area.left, area.top + area.height - (place + 1) * cell.height, area.width, cell.height);
      return;
    }
    const found = slice.cellOf({ index, scale: axis === undefined ? scale : app.scaleOf({ scale: value }) });
    if (found) this.outline(context, found.column, found.row, "#ffffff", "#111111");
  }

  centre(column, row) {
    const { area, cell } = this;
    return [area.left + (column + 0.5) * cell.width, area.top + area.height - (row + 0.5) * cell.height];
  }

  mark(context, place, text) {
    if (place === null) return;
    const [x, y] = this.centre(place.column, place.row);
    if (text === "★") {
      drawStar(context, x, y);
      return;
    }
    context.beginPath();
    context.arc(x, y, 9, 0, 2 * Math.PI);
    context.fillStyle = "#111111";
    context.fill();
    context.strokeStyle = "#ffffff";
    context.lineWidth = 2;
    context.stroke();
    context.font = "700 12px system-ui, sans-serif";
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.fillStyle = "#ffffff";
    context.fillText(text, x, y + 0.5);
  }

  outline(context, column, row, outer, inner) {
    const { area, cell } = this;
    const width = Math.max(cell.width, 5);
    const height = Math.max(cell.height, 5);
    const [x, y] = this.centre(column, row);
    for (const [colour, line] of [
      [outer, 4],
      [inner, 2],
    ]) {
      context.strokeStyle = colour;
      context.lineWidth = line;
      context.strokeRect(x - width / 2, y - height / 2, width, height);
    }
  }

  // The cell under a pointer, null outside of the map.
  hit(event) {
    const { area, cell, slice } = this;
    const column = Math.floor((event.offsetX - area.left) / cell.width);
    const row = Math.floor((area.top + area.height - event.offsetY) / cell.height);
    return column >= 0 && row >= 0 && column < slice.xs.length && row < slice.ys.length ? { column, row } : null;
  }

  hover(cell) {
    if (cell === null) {
      this.leave();
      return;
    }
    if (this.cursor && this.cursor.column === cell.column && this.cursor.row === cell.row && !this.tip.hidden) return;
    this.cursor = cell;
    this.describe();
  }

  describe() {
    this.draw();
    const { column, row } = this.cursor;
    const point = this.slice.point(column, row);
    const [x, y] = this.centre(column, row);
    const found = this.app.explained(point);
    showTip(this.tip, this.canvas.parentElement, x, y, ...cellBrief(this.app, point, found));
    this.app.front.follow(point, found, this.cursor);
    put("live", cellSentence(this.app, point, found));
  }

  leave() {
    this.tip.hidden = true;
    this.cursor = null;
    this.app.front.follow(null);
    this.draw();
  }

  key(event) {
    const { slice } = this;
    const [columns, rows] = [slice.xs.length, slice.ys.length];
    const far = event.shiftKey ? 10 : 1;
    const at = this.cursor ?? this.home();
    const moves = {
      ArrowLeft: [-far, 0],
      ArrowRight: [far, 0],
      ArrowUp: [0, far],
      ArrowDown: [0, -far],
      PageUp: [0, 10],
      PageDown: [0, -10],
      Home: [-columns, 0],
      End: [columns, 0],
    };
    const clamp = (value, length) => Math.min(Math.max(value, 0), length - 1);
    if (event.key in moves) {
      const [across, up] = moves[event.key];
      this.cursor = { column: clamp(at.column + across, columns), row: clamp(at.row + up, rows) };
      this.describe();
    } else if (event.key === "Enter" || event.key === " ") this.app.pin(at);
    else if (event.key === "Escape") this.app.unpin();
    else if (event.key === "+" || event.key === "=") this.app.zoom(at, 0.5);
    else if (event.key === "-") this.app.zoom(at, 2);
    else if (event.key === "0") this.app.zoom(at, Infinity);
    else return;
    event.preventDefault();
  }
}
