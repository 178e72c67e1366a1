"""What the product costs, as ratios within one run: machines differ and are noisy, ratios hold.

Files, in reading order: `registry` (cases and their targets), `specs` (grids at two scales), `verbs` and `processes`
(what is measured), `yardsticks` (fills and writes of the same size), `peers`, `peer_numba` and `problem` (the same
answer by other means), `measure` (set-up untimed, equality first, best of rounds), `outcome` (one row, JSON), `child`,
`once`, `peak` and `isolated` (processes of their own), `table`, `against` and `readme` (what becomes of the rows),
`growth` and `picture` (cost against cells). `cases/` registers the rows themselves.
"""
