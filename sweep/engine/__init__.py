"""From a grid to a sealed result: open the grid, prove, plan, evaluate in tiles, check, write.

Files, in import order: `opening` (a grid as open arrays), `evaluate` (nodes on demand, proven), `verdict` (invalid
reasons and violation masks), `tally` (counting cells), `largest` (the largest operating point), `catalogue` (the
variables of a result), `plan` (sizes and refusals), `ahead` (tiles on threads), `check` (the self-check), `run` (all
of it).
"""
