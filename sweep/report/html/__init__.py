"""The offline explorer: one page that holds a grid's inputs and its kernels in JavaScript, and computes any slice.

Files, in import order: `dialects` (how an operation is written), `formula` (a traced kernel as statements), `program`
(the kernels of a graph), `data` (the grid, and cells that the reference judged), `page` (everything as one document).
The page's own code, its markup and its style stand in the folder `page`.
"""
