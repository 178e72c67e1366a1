// The beginning, and what tests and other programs may ask of the page: it reads and sets what a person could.

function interfaceOf(app) {
  const { grid } = app;
  const placeOfAxis = (name) => grid.axes.findIndex((axis) => axis.name === name || axis.short === name);
  const labelled = ({ index, scale }) =>
    Object.fromEntries(grid.axes.map((axis, i) => [axis.name, i === grid.traffic ? scale : grid.label(i, index[i])]));
  const settled = (resolve) => (app.turns.busy ? setTimeout(settled, 10, resolve) : resolve(true));
  return {
    app,
    ready: () => new Promise(settled),
    region: () => ({ csv: csvOf(app.slice), shown: app.slice.masks.length }),
    show: (fragment) => app.read(fragment),
    best: () => app.best && { point: labelled(app.best) },
    along: (name) => [...app.searches.along(placeOfAxis(name))],
    pareto: () =>
      app.front.points.map(({ place }) => [app.front.series.one[place], app.front.series.two[place]].map(String)),
    check: () => app.check,
  };
}

// An error that nobody expected must not leave old figures looking right.
window.addEventListener("error", ({ message }) => {
  byId("alarm").hidden = false;
  put("alarm", `This page has met an error and may show old figures; open it anew. (${message})`);
});

window.sweepReport = interfaceOf(new App(new Grid(JSON.parse(byId("data").textContent), KERNELS)));
