"""Hypothesis profiles: `fixed` (the default, and CI's) draws the same cases every time; `explore` draws new ones.

    HYPOTHESIS_PROFILE=explore pytest tests/engine

`slow` tests run many more cases: `pytest -m slow`.
"""

import os

from hypothesis import HealthCheck, settings

_COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large]}
settings.register_profile("fixed", derandomize=True, max_examples=60, database=None, **_COMMON)
settings.register_profile("explore", max_examples=1_000, print_blob=True, **_COMMON)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))
