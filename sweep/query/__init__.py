"""Questions to a result: everything is answered from `grid_effective`, with the kernels that the run used.

Files, in import order: `select` (`--at`), `cell` (one operating point by the reference), `rank` (feasible cells in an
order), `around` (neighbours and holes), `nearest` (the smallest change that admits a cell), `obstacles` (what blocks
all cells), `explain` (where open axes take their values from), `best`, `certificate` (what decided every
configuration), `shadow` and `skyline` (what of some rows dominates what), `places` (cells in the default order as
integers), `fronts` and `frontier` (the Pareto set), `region` (a slice over two axes), `slo` (other bounds), `verify`,
`replay` (the largest point judged again), `relax` (what would help), `result` (the open file with all of these as
methods), `common`, `matched`, `changes` and `diff` (two results against each other), `advice`, `summary`, and
`labelled` (the same with xarray objects; imported by itself, since xarray is slow to import).
"""
