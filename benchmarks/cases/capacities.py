"""The exact capacity of ten million configurations."""

from collections.abc import Mapping, Sequence

from benchmarks.registry import Scale
from benchmarks.specs import FIXED, STEP_TIME, GridSpec
from benchmarks.verbs import capacities
from benchmarks.yardsticks import configurations_per_second, times_the_time

_AXES: Mapping[Scale, Sequence[str]] = {
    "smoke": ("share=5:995:330", "chunk=20:2000:660", "slots=1:1000:333", "traffic=1000"),
    "full": ("share=5:995:10", "chunk=20:2000:20", "slots=1:1000:1", "traffic=1000"),
}

GIVEN = GridSpec("capacity-given", "100 × 100 × 1000 configurations, iteration time given", FIXED, _AXES)
COUPLED = GridSpec("capacity-step-time", "100 × 100 × 1000 configurations, step time coupled", STEP_TIME, _AXES)

capacities(GIVEN, (times_the_time("fresh fill", 4),))
capacities(COUPLED, (configurations_per_second(5_000_000),))
