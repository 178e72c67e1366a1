"""Pictures of answers for papers: scenes are the exact data of an answer, the rest draws them with matplotlib.

`scale`, `titles`, `classes`, `shades`, `maps` and `frontier` know no matplotlib: they turn an answer into arrays and
texts. `type`, `sheet`, `draw_map`, `draw_frontier` and `files` draw those; floats are made there and nowhere before.
"""
