"""The grid room: a TOML file -> a validated, frozen `Grid` of operating points."""

from sweep.grid.fields import FROM_MEMORY, FROM_SLO, FROM_STEP_TIME, Value
from sweep.grid.load import grid_from_effective, grid_with, load_grid, parse_grid
from sweep.grid.model import Axis, Choice, Grid
from sweep.grid.paths import ALIASES, CHUNK, RESULT_NAMES, SHARE, SLOTS, STANDING, TRAFFIC

__all__ = [
    "ALIASES",
    "CHUNK",
    "FROM_MEMORY",
    "FROM_SLO",
    "FROM_STEP_TIME",
    "RESULT_NAMES",
    "SHARE",
    "SLOTS",
    "STANDING",
    "TRAFFIC",
    "Axis",
    "Choice",
    "Grid",
    "Value",
    "grid_from_effective",
    "grid_with",
    "load_grid",
    "parse_grid",
]
