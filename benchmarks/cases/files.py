"""Result files: making one of 10^9 cells, asking one of 10^8."""

from benchmarks.processes import questions, runs
from benchmarks.specs import STEP_TIME, GridSpec
from benchmarks.yardsticks import peak_megabytes, times_the_time

_CHUNKS = 'chunk={{ start = 16, stop = 2048, num = {}, spacing = "geometric" }}'
_SMALL = ("share=50:950:300", _CHUNKS.format(3), "slots=8:800:264", "traffic=100:10000:100")

STORED = GridSpec(
    "stored",
    "100 × 10 × 1000 × 1000, step time coupled, mask stored",
    STEP_TIME,
    {
        "smoke": _SMALL,
        "full": ("share=5:995:10", _CHUNKS.format(10), "slots=1:1000:1", "traffic=10:10000:10"),
    },
)
ASKED = GridSpec(
    "asked",
    "100 × 10 × 100 × 1000, step time coupled, from its file",
    STEP_TIME,
    {
        "smoke": _SMALL,
        "full": ("share=5:995:10", _CHUNKS.format(10), "slots=8:800:8", "traffic=10:10000:10"),
    },
)

runs(STORED, (times_the_time("netCDF4 write", 1.5), peak_megabytes(1_000)))
questions(ASKED, (times_the_time("importing xarray, netCDF4", 3),))
