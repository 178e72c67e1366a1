"""Masks of every cell: long and short traffic axes, iteration time given and from the step."""

from benchmarks.peers import PEERS
from benchmarks.specs import FIXED, STEP_TIME, GridSpec
from benchmarks.verbs import masks
from benchmarks.yardsticks import share_of, times_faster

_CHUNKS = 'chunk={{ start = 16, stop = 2048, num = {}, spacing = "geometric" }}'
_SMALL = ("share=50:950:300", _CHUNKS.format(3), "slots=8:800:264")

LONG = GridSpec(
    "long-traffic",
    "91 × 12 × 100 × 1000, iteration time given",
    FIXED,
    {
        "smoke": (*_SMALL, "traffic=100:10000:100"),
        "full": ("share=50:950:10", _CHUNKS.format(12), "slots=8:800:8", "traffic=10:10000:10"),
    },
)
SHORT = GridSpec(
    "short-traffic",
    "999 × 100 × 100 × 10 (more shares there are not), iteration time given",
    FIXED,
    {
        "smoke": (*_SMALL, "traffic=1000:10000:1000"),
        "full": ("share=1:999:1", "chunk=20:2000:20", "slots=8:800:8", "traffic=1000:10000:1000"),
    },
)
COUPLED = GridSpec(
    "step-time",
    "91 × 12 × 100 × 1000, step time and capacity from slots and chunk",
    STEP_TIME,
    {
        "smoke": (*_SMALL, "traffic=100:10000:100"),
        "full": ("share=50:950:10", _CHUNKS.format(12), "slots=8:800:8", "traffic=10:10000:10"),
    },
)
MILLION = GridSpec(
    "million",
    "10 × 10 × 100 × 100, step time and capacity from slots and chunk",
    STEP_TIME,
    {
        "smoke": (*_SMALL, "traffic=1000:10000:1000"),
        "full": ("share=50:950:100", _CHUNKS.format(10), "slots=8:800:8", "traffic=100:10000:100"),
    },
)

masks(LONG, (share_of("fill", 0.25),), ("numba",))
masks(SHORT, (share_of("fill", 0.05),), ("numba",))
masks(COUPLED, (share_of("fill", 0.05), times_faster("numba", 5)), ("numba",))
masks(MILLION, (), tuple(PEERS))
