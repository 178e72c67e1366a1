// Work that would keep the page from answering, done in short turns.

const TURN_MS = 12; // how long a turn may take

class Turns {
  constructor() {
    this.runs = new Map();
  }

  // Run a generator, after a wait; a new run of the same name ends the old one.
  run(name, steps, { done = () => {}, progress = () => {}, wait = 0 } = {}) {
    const run = { busy: true, begun: performance.now() };
    this.runs.set(name, run);
    const turn = () => {
      if (this.runs.get(name) !== run) return;
      const until = performance.now() + TURN_MS;
      let step;
      do step = steps.next();
      while (!step.done && performance.now() < until);
      if (step.done) {
        run.busy = false;
        done(step.value, performance.now() - run.begun);
      } else {
        progress(step.value, performance.now() - run.begun);
        setTimeout(turn, 0);
      }
    };
    setTimeout(turn, wait);
  }

  end(name) {
    this.runs.delete(name);
  }

  get busy() {
    return [...this.runs.values()].some((run) => run.busy);
  }
}

// One step, as a generator.
function* once(work) {
  yield;
  work();
}
