"""Every formula of the audit once, over open grids, on int64 arrays, object arrays or intervals.

Files, in import order: `domain` (record bounds and sentinels), `derive` (the models), `figures` (the audit's
quantities), `rules` (violations and invalid reasons), `thresholds` (the largest traffic scale), `nodes`
(rules, bits, switches) and `graph` (which kernel feeds which). Kernels see numbers only: no labels, no files.
"""
