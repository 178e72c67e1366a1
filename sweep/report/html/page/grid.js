// The grid of the page: axes, inputs, and the inputs under other bounds.

const KV_BOUND = "contract.max_kv_bytes";

class Grid {
  constructor(data, kernels) {
    this.data = data;
    this.program = new Program(kernels, data.nodes);
    // Where the memory sets the KV bound: the graph that reads the bound instead, for when it is moved.
    this.withBound = data.nodesWithBound === null ? this.program : new Program(kernels, data.nodesWithBound);
    this.axes = data.axes.map((axis) => ({
      ...axis,
      column: axis.choices ? null : new Column(axis.values),
      length: axis.choices ? axis.choices.length : new Column(axis.values).length,
    }));
    this.traffic = this.axes.length - 1;
    this.inputs = new Map(Object.entries(data.inputs).map(([name, input]) => [name, this.input(input)]));
    this.configurations = this.axes.slice(0, -1).reduce((product, axis) => product * BigInt(axis.length), 1n);
    this.cells = this.configurations * BigInt(this.axes[this.traffic].length);
  }

  input({ axis, value, values }) {
    if (axis === undefined) return { value: parsed(value) };
    return { axis, column: values === undefined ? this.axes[axis].column : new Column(values) };
  }

  // The label of a place on an axis: a choice's name or an integer.
  label(axis, index) {
    const { choices, column } = this.axes[axis];
    return choices ? choices[index] : column.at(index);
  }

  // The inputs with some of them given: bounds that were moved, a traffic scale off its axis.
  under(given) {
    const inputs = new Map(this.inputs);
    for (const [name, value] of Object.entries(given)) inputs.set(name, { value: narrowed(value) });
    return inputs;
  }

  evaluation(inputs, region) {
    return new Evaluation(
      inputs.has(KV_BOUND) ? this.withBound : this.program,
      inputs,
      region.map((indices) => Int32Array.from(indices)),
    );
  }

  // One cell; a scale replaces the traffic axis' value.
  cell(given, index, scale) {
    const inputs = this.under(scale === undefined ? given : { ...given, [SCALE]: scale });
    const { admission, figures, bounds } = this.data;
    return explain(
      this.evaluation(
        inputs,
        index.map((place) => [place]),
      ),
      admission,
      figures,
      bounds,
    );
  }

  // Whether a configuration carries a traffic and not one permille more, by its verdict at both.
  isCapacity(index, scale) {
    const isFeasible = (at) => this.cell({}, index, at).mask === 0;
    return (scale === 0 || isFeasible(scale)) && !isFeasible(scale + 1);
  }

  // The cells that the scalar reference judged when the page was made, judged here: how many, and how many differ. Each
  // configuration's capacity, found from thresholds, is held against its verdicts. Yields after each cell.
  *selfCheck() {
    let differing = 0;
    for (const [index, mask, reason, figures] of this.data.sample) {
      const found = this.cell({}, index);
      const same =
        found.mask === mask
        && found.reason === reason
        && this.data.figures.every(({ name }, i) => found.figures[name] === narrowed(parsed(figures[i])));
      if (!same || !this.isCapacity(index, found.capacity)) differing += 1;
      yield differing;
    }
    return { checked: this.data.sample.length, differing };
  }
}

const every = (length) => Int32Array.from({ length }, (_, i) => i);
