"""From the fields of one cell to its records."""

from collections.abc import Mapping, Sequence
from typing import cast

from sweep.records.bounds import SCOPE_KEYS
from sweep.records.checks import InvalidPoint
from sweep.records.contract import BatchingContract
from sweep.records.scheduler import SchedulerProfile
from sweep.records.wording import INVALID_MEANINGS
from sweep.records.workload import BatchingWorkload, RequestClass
from sweep.reference.derive import Fields
from sweep.reference.judge import Judgement, judge
from sweep.units import grouped


def records_of(fields: Fields, class_ids: Sequence[str]) -> tuple[BatchingContract, BatchingWorkload]:
    """The contract and the workload of one cell, with every derived field filled in, ready to audit.

    Raises:
        InvalidPoint: (a RecordFault) for an invalid cell; its `reason` is the code of `invalid_reason`.
        RecordFault: when a given field breaks a rule of its record.
    """
    judgement = judge(fields, class_ids)
    if judgement.invalid_reason:
        raise InvalidPoint(judgement.reason, _invalid_sentence(judgement))
    ints = cast(Mapping[str, int], fields)
    texts = cast(Mapping[str, str], fields)
    scope = tuple([texts.get(f"scope.{key}", key.replace("_", "-")) for key in SCOPE_KEYS])
    contract = BatchingContract(
        scope,
        ints["contract.max_total_utilization_permille"],
        ints["contract.max_prefill_utilization_permille"],
        ints["contract.max_decode_utilization_permille"],
        ints["contract.max_queue_delay_ms"],
        ints["contract.max_ttft_ms"],
        ints["contract.max_tpot_ms"],
        ints["contract.max_starvation_ms"],
        judgement.max_kv_bytes,
    )
    scheduler = SchedulerProfile(
        scope,
        texts["scheduler.scheduler_id"],
        judgement.token_capacity_per_second,
        ints["scheduler.prefill_share_permille"],
        ints["scheduler.max_active_sequences"],
        ints["scheduler.max_prefill_chunk_tokens"],
        judgement.iteration_time_ms,
        ints["scheduler.max_consecutive_priority_iterations"],
        judgement.kv_bytes_per_token,
    )
    figures = zip(class_ids, judgement.arrivals_millirps, judgement.peak_concurrencies, strict=True)
    classes = tuple(
        RequestClass(
            scope,
            class_id,
            ints[f"class.{class_id}.priority"],
            arrival,
            ints[f"class.{class_id}.prompt_tokens"],
            ints[f"class.{class_id}.output_tokens"],
            peak,
        )
        for class_id, arrival, peak in figures
    )
    admission = cast(bool, fields.get("workload.admission_control_enabled", True))
    return contract, BatchingWorkload(scope, contract.content_id, scheduler, classes, admission)


def _invalid_sentence(judgement: Judgement) -> str:
    """Why the cell has no records, with the figure behind it."""
    values = {
        1: (judgement.max_kv_bytes,),
        2: (judgement.max_kv_bytes,),
        3: (judgement.token_capacity_per_second,),
        4: (judgement.iteration_time_ms,),
        5: (judgement.kv_bytes_per_token,),
        8: judgement.arrivals_millirps,
        9: judgement.peak_concurrencies,
    }.get(judgement.invalid_reason, ())
    came = f" (got {', '.join(grouped(value) for value in values)})" if values else ""
    return (
        f"cell: {judgement.reason}: {INVALID_MEANINGS[judgement.reason]}{came}; it has no records: choose "
        "another cell, or change the fields that it comes from."
    )
