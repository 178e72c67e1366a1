// What is sought over the whole grid under the bounds of the moment: the largest point, and the best along an axis.

const WALKED_CONFIGURATIONS = 1n << 20n; // up to so many configurations the capacity of each is computed
const MOST_SEARCHED = 120; // values of an axis for each of which boxes are searched where a walk is too long
const SHOWN_EVERY_MS = 1000; // how often a frontier is drawn that is still being searched
const PATIENCE_MS = 250; // how long a search may take before the page says that it searches

class Searches {
  constructor(app) {
    this.app = app;
    this.best = null;
    this.fronts = null; // per axis a map from places to the best configuration there, null where none carries anything
    this.alongs = new Map(); // the same by axis, of those that were looked at, where a walk is too long
    this.sought = null; // the axis whose values are being searched
    this.progress = "";
    this.milliseconds = 0;
  }

  get isWalked() {
    return this.app.grid.configurations <= WALKED_CONFIGURATIONS;
  }

  get lengths() {
    return this.app.grid.axes.slice(0, -1).map((axis) => axis.length);
  }

  // Everything anew under other bounds.
  begin(given) {
    const { app } = this;
    this.given = given;
    this.best = null;
    this.fronts = null;
    this.alongs = new Map();
    this.sought = null;
    this.progress = "";
    app.turns.end("walk");
    app.turns.end("along");
    app.turns.run("search", searchBoxes(app.grid, given), {
      done: ({ best }, milliseconds) => {
        this.best = best;
        this.milliseconds = milliseconds;
        describeBest(app, best);
        app.map.draw();
        app.front.draw();
        if (this.isWalked) this.walk();
      },
      progress: ({ done }, milliseconds) => {
        if (milliseconds > PATIENCE_MS) describeSearch(done);
      },
    });
  }

  walk() {
    const { app, lengths } = this;
    app.turns.run("walk", walkConfigurations(app.grid, this.given), {
      done: ({ fronts }) => {
        const bestAt = ({ capacity, number }, place) =>
          capacity[place] > 0 ? { scale: capacity[place], index: placeOf(number[place], lengths) } : null;
        this.fronts = fronts.map((front, axis) => {
          const places = ticked(lengths[axis], MOST_PLACES);
          return new Map(places.map((place) => [place, bestAt(front, place)]));
        });
        this.progress = "";
        app.front.show();
      },
      progress: ({ done, total }) => {
        this.progress = `${Math.floor((100 * done) / total)} %`;
      },
    });
  }

  // Per value of an axis the best configuration of the grid; null while it is being computed.
  along(axis) {
    if (this.isWalked) return this.fronts?.[axis] ?? null;
    if (!this.alongs.has(axis)) this.searchAlong(axis);
    return this.alongs.get(axis);
  }

  // Of a grid too large to be walked: boxes for each value of the axis, of a long one for evenly chosen values.
  searchAlong(axis) {
    const { app, alongs } = this;
    const found = new Map();
    let shown = 0;
    if (this.sought !== null) alongs.delete(this.sought); // it ends here, and begins anew when it is looked at again
    this.sought = axis;
    alongs.set(axis, found);
    app.turns.run("along", this.alongSteps(axis, found), {
      done: () => {
        this.sought = null;
        this.progress = "";
        app.front.show();
      },
      progress: (step, milliseconds) => {
        if (typeof step === "string") this.progress = step;
        if (milliseconds < shown + SHOWN_EVERY_MS) return;
        shown = milliseconds;
        app.front.show();
      },
    });
  }

  *alongSteps(axis, found) {
    const { lengths } = this;
    const own = this.best === null ? [] : [this.best.index[axis]];
    const places = [...new Set([...own, ...coarseFirst(ticked(lengths[axis], MOST_SEARCHED))])];
    for (const [number, place] of places.entries()) {
      const from = lengths.map(() => 0).with(axis, place);
      const to = lengths.map((length) => length - 1).with(axis, place);
      found.set(place, (yield* searchBoxes(this.app.grid, this.given, from, to)).best);
      yield `${number + 1} of ${places.length} values`;
    }
  }
}

// Every 16th of some places first, then those between them.
function coarseFirst(places) {
  const steps = [16, 8, 4, 2, 1];
  const found = steps.flatMap((step) => places.filter((_, i) => i % step === 0));
  return [...new Set(found)];
}
