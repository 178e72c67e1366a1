"""Frozen, strict records of an operating point, their content ids, and the codes of a verdict."""

from sweep.records.base import as_json, payload, verified
from sweep.records.checks import InvalidPoint
from sweep.records.codes import DECISIONS, INVALID_REASONS, VIOLATION_CODES
from sweep.records.contract import BatchingContract
from sweep.records.digest import canonical_json, digest
from sweep.records.report import FIGURES, BatchingReport
from sweep.records.scheduler import SchedulerProfile
from sweep.records.wording import CLAIM, CLAIM_SENTENCE
from sweep.records.workload import BatchingWorkload, RequestClass

__all__ = [
    "CLAIM",
    "CLAIM_SENTENCE",
    "DECISIONS",
    "FIGURES",
    "INVALID_REASONS",
    "VIOLATION_CODES",
    "BatchingContract",
    "BatchingReport",
    "BatchingWorkload",
    "InvalidPoint",
    "RequestClass",
    "SchedulerProfile",
    "as_json",
    "canonical_json",
    "digest",
    "payload",
    "verified",
]
