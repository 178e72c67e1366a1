"""The result file: netCDF-4 with every integer exact, sealed, under its name only when complete.

Files, in import order: `layout` (variables, chunks, attributes), `seed` and `seal` (first and last bytes),
`digest` (of the values), `target` (name, partial file, rename), `write`, `read`; `labelled` opens a result
with xarray and is imported by itself, since xarray is slow to import.
"""

from sweep.store.layout import SLAB_VALUES, Variable, chunk_shape, slab_shape, slabs
from sweep.store.read import ResultFile, open_file
from sweep.store.target import check_target
from sweep.store.write import ResultWriter

__all__ = [
    "SLAB_VALUES",
    "ResultFile",
    "ResultWriter",
    "Variable",
    "check_target",
    "chunk_shape",
    "open_file",
    "slab_shape",
    "slabs",
]
