"""Exact arithmetic on three kinds of number: int64 arrays, object arrays of Python ints, and intervals.

Files, in import order: `interval` (the proof), `ranges` (many intervals at once), `traced` (the formula itself), `ops`
(the functions a kernel may use), `limbs` (values beyond int64).
"""
