// One operating point in full.

// Everything of a point: figures by name (−1: undefined), the mask, the reason, and what the models derive.
function explain(evaluation, admission, figures, bounds) {
  const read = (name) => {
    const { store, offset } = evaluation.get(name);
    return narrowed(store.data[offset]);
  };
  const holds = (name) => evaluation.program.nodes.has(name) && Boolean(read(name));
  const reason = REASONS.find((code) => holds(`reason.${code}`)) ?? 0;
  let mask = admission ? 0 : ADMISSION_OFF;
  for (const bit of BITS) if (holds(`bit.${bit}`)) mask |= 1 << bit;
  return {
    mask: reason ? INVALID : mask,
    reason,
    capacity: read(CAPACITY),
    figures: Object.fromEntries(figures.map(({ name, node }) => [name, read(node)])),
    bounds: Object.fromEntries(bounds.map(({ name, node }) => [name, read(node)])),
    read,
  };
}
