"""The largest point of grids of 10^12 cells, of which nothing is materialised."""

from benchmarks.specs import FIXED, STEP_TIME, GridSpec
from benchmarks.verbs import largest
from benchmarks.yardsticks import peak_megabytes, seconds

GIVEN = GridSpec(
    "declared",
    "500 × 1000 × 1000 × 2000, iteration time given",
    FIXED,
    {
        "smoke": ("share=450:949:50", "chunk=8:8000:800", "slots=1:1000:100", "traffic=5:10000:1000"),
        "full": ("share=450:949:1", "chunk=8:8000:8", "slots=1:1000:1", "traffic=5:10000:5"),
    },
)
LATENCY = GridSpec(
    "declared-six-axes",
    "share 100 × chunk 50 × slots 100 × prompt 20 × max TTFT 20 × traffic 5000, iteration time given",
    FIXED,
    {
        "smoke": (
            "share=500:995:165",
            "chunk=32:1600:392",
            "slots=8:800:264",
            "class.chat.prompt_tokens=100:2000:500",
            "contract.max_ttft_ms=100:2000:500",
            "traffic=2:10000:1000",
        ),
        "full": (
            "share=500:995:5",
            "chunk=32:1600:32",
            "slots=8:800:8",
            "class.chat.prompt_tokens=100:2000:100",
            "contract.max_ttft_ms=100:2000:100",
            "traffic=2:10000:2",
        ),
    },
)
COUPLED = GridSpec(
    "declared-step-time",
    "500 × 1000 × 2000 × 1000, step time and capacity from slots and chunk",
    STEP_TIME,
    {
        "smoke": ("share=450:949:50", "chunk=8:8000:800", "slots=1:2000:200", "traffic=10:10000:1000"),
        "full": ("share=450:949:1", "chunk=8:8000:8", "slots=1:2000:1", "traffic=10:10000:10"),
    },
)

largest(GIVEN, (seconds(2), peak_megabytes(500)))
largest(LATENCY, (seconds(10), peak_megabytes(1_000)))
largest(COUPLED, (seconds(60), peak_megabytes(1_000)), patience_seconds=400)
