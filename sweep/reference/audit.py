"""`audit`: the verdict on a contract and a workload, and the evidence id (`audit.md`)."""

from sweep.errors import RecordFault
from sweep.records.base import verified
from sweep.records.bounds import CONTRACT_BOUNDS
from sweep.records.codes import REJECTED, WITHIN, codes_of
from sweep.records.contract import BatchingContract
from sweep.records.digest import digest
from sweep.records.report import FIGURES, BatchingReport
from sweep.records.wording import CLAIM
from sweep.records.workload import BatchingWorkload
from sweep.reference.derive import Load, Point
from sweep.reference.figures import figures_of, violations_of


def audit(contract: BatchingContract, workload: BatchingWorkload) -> BatchingReport:
    """Judge an operating point: every figure, every broken bound, the decision, the evidence id.

    Raises:
        RecordFault: when either record was altered or is of a subclass, or when the two do not belong
            together: their scopes differ, or the workload names another contract.
    """
    faults: list[str] = []
    try:
        contract = verified("contract", contract, BatchingContract)
    except RecordFault as fault:
        faults += fault.faults
    try:
        workload = verified("workload", workload, BatchingWorkload)
    except RecordFault as fault:
        faults += fault.faults
    if not faults:
        faults += _mismatches(contract, workload)
    if faults:
        raise RecordFault(faults)
    figures = figures_of(_point(workload))
    bounds = {name: getattr(contract, name) for name in CONTRACT_BOUNDS}
    slots = workload.scheduler.max_active_sequences
    violations = codes_of(violations_of(figures, bounds, slots, workload.admission_control_enabled))
    decision = REJECTED if violations else WITHIN
    evidence_id = digest(
        {
            "contract": contract.content_id,
            "workload": workload.content_id,
            "decision": decision,
            "violations": violations,
            "utilization": [figures[name] for name in FIGURES[:3]],
            "queue_delay_ms": figures["estimated_queue_delay_ms"],
            "peak_kv_bytes": figures["peak_kv_bytes"],
        }
    )
    eight = {name: figures[name] for name in FIGURES}
    return BatchingReport(decision, violations, **eight, evidence_id=evidence_id, claim=CLAIM)


def _mismatches(contract: BatchingContract, workload: BatchingWorkload) -> list[str]:
    faults = []
    if workload.scope != contract.scope:
        faults.append("workload.scope: differs from the contract's; build both with the same scope.")
    if workload.contract_content_id != contract.content_id:
        faults.append(
            f"workload.contract_content_id: got {workload.contract_content_id}, but the contract's is "
            f"{contract.content_id}; build the workload for this contract."
        )
    return faults


def _point(workload: BatchingWorkload) -> Point:
    """The operating point of a workload; its records keep every figure in range."""
    scheduler = workload.scheduler
    return Point(
        scheduler.token_capacity_per_second,
        scheduler.prefill_share_permille,
        scheduler.max_active_sequences,
        scheduler.max_prefill_chunk_tokens,
        scheduler.iteration_time_ms,
        scheduler.max_consecutive_priority_iterations,
        scheduler.kv_bytes_per_token,
        tuple(
            Load(item.arrival_millirps, item.prompt_tokens, item.output_tokens, item.peak_concurrency)
            for item in workload.request_classes
        ),
    )
