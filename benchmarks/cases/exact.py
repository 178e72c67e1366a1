"""Figures beyond int64: as a factored grid, and as points that share nothing."""

from benchmarks.points import PointSpec, audits
from benchmarks.specs import BEYOND_INT64, GridSpec
from benchmarks.verbs import masks
from benchmarks.yardsticks import times_faster

_CHUNKS = 'chunk={{ start = 512, stop = 5_000_000, num = {}, spacing = "geometric" }}'

FACTORED = GridSpec(
    "beyond-int64",
    "100 × 20 × 10 × 50, every class figure above 2^63",
    BEYOND_INT64,
    {
        "smoke": ("share=5:995:330", _CHUNKS.format(4), "slots=460_000:505_000:15_000", "traffic=951:1000:7"),
        "full": ("share=5:995:10", _CHUNKS.format(20), "slots=460_000:505_000:5_000", "traffic=951:1000:1"),
    },
)
POINTS = PointSpec(
    "unrelated-points",
    "every field of every point different, figures above 2^63",
    {"smoke": 40, "full": 10_000},
)

masks(FACTORED, (times_faster("reference", 20),), ("reference",))
audits(POINTS, (times_faster("reference", 1),))
