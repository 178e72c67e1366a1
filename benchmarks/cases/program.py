"""The program itself: how long it takes to start, and the README's main job."""

from benchmarks.processes import main_job, start_up
from benchmarks.specs import H100, GridSpec
from benchmarks.yardsticks import times_the_time

MAIN_JOB = GridSpec(
    "h100", "grids/h100.toml as it is", H100, {"smoke": ("share=600:960:90", "slots=16:256:60"), "full": ()}
)

start_up(MAIN_JOB, (times_the_time("importing click", 4),))
main_job(MAIN_JOB, (times_the_time("importing numpy, xarray, netCDF4", 6),))
