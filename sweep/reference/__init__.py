"""The oracle: the audit of one operating point in plain Python ints, apart from the kernels."""

from sweep.reference.audit import audit
from sweep.reference.build import records_of
from sweep.reference.derive import UNDEFINED, Fields
from sweep.reference.judge import Judgement, judge

__all__ = ["UNDEFINED", "Fields", "Judgement", "audit", "judge", "records_of"]
