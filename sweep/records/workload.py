"""Request classes, and the workload that joins them to a scheduler and a contract."""

from dataclasses import dataclass

from sweep.errors import RecordFault
from sweep.records.base import NOT_GIVEN, seal, verified
from sweep.records.bounds import CLASS_BOUNDS, CONTENT_ID, MAX_CLASSES
from sweep.records.checks import bounded_faults, identity_faults, scope_faults, shown
from sweep.records.scheduler import SchedulerProfile


@dataclass(frozen=True, slots=True)
class RequestClass:
    """Requests of one kind: how many arrive, how long they are, how many are in flight at the peak.

    Raises:
        RecordFault: with every fault of its fields, or for a `content_id` that is not that of the fields.
    """

    scope: tuple[str, ...]
    """Eight distinct identities that name what the figures belong to, in the order of `SCOPE_KEYS`."""
    class_id: str
    """Identity of the class, distinct within a workload."""
    priority: int
    """1 to 1000; no figure depends on it."""
    arrival_millirps: int
    """1/1000 requests per second, 1 to 10^12."""
    prompt_tokens: int
    """Tokens per request, 1 to 10^7."""
    output_tokens: int
    """Tokens per request, 1 to 10^7."""
    peak_concurrency: int
    """Sequences in flight at the peak, 1 to 10^6."""
    content_id: str = NOT_GIVEN
    """SHA-256 of the canonical JSON of the fields above; computed when left out, checked when given."""

    def __post_init__(self) -> None:
        where = "RequestClass"
        faults = scope_faults(where, self.scope) + identity_faults(f"{where}.class_id", self.class_id)
        seal(where, self, faults + bounded_faults(where, self, CLASS_BOUNDS))


@dataclass(frozen=True, slots=True)
class BatchingWorkload:
    """One scheduler and the classes it serves, bound to one contract by the contract's content id.

    The order of the classes matters to the content id and to nothing else.

    Raises:
        RecordFault: with every fault of its fields, or for a `content_id` that is not that of the fields.
    """

    scope: tuple[str, ...]
    """Eight distinct identities that name what the figures belong to, in the order of `SCOPE_KEYS`."""
    contract_content_id: str
    """Content id of the contract that the workload is audited against."""
    scheduler: SchedulerProfile
    """The profile of one replica, of the same scope."""
    request_classes: tuple[RequestClass, ...]
    """1 to 64 classes of the same scope with distinct ids; a tuple, nothing else."""
    admission_control_enabled: bool
    """Whether the server refuses requests beyond its bounds."""
    content_id: str = NOT_GIVEN
    """SHA-256 of the canonical JSON of the fields above; computed when left out, checked when given."""

    def __post_init__(self) -> None:
        where = "BatchingWorkload"
        faults = scope_faults(where, self.scope)
        scope = None if faults else self.scope
        given = self.contract_content_id
        if type(given) is not str or not CONTENT_ID.fullmatch(given):
            faults.append(
                f"{where}.contract_content_id: got {shown(given)}, want 64 lowercase hex digits; pass the "
                "contract's content_id."
            )
        faults += _scheduler_faults(f"{where}.scheduler", self.scheduler, scope)
        faults += _class_faults(f"{where}.request_classes", self.request_classes, scope)
        admission: object = self.admission_control_enabled
        if type(admission) is not bool:
            faults.append(f"{where}.admission_control_enabled: got {shown(admission)}, want True or False.")
        seal(where, self, faults)


def _scheduler_faults(where: str, scheduler: object, scope: tuple[str, ...] | None) -> list[str]:
    try:
        rebuilt = verified(where, scheduler, SchedulerProfile)
    except RecordFault as fault:
        return list(fault.faults)
    return _foreign(where, rebuilt.scope, scope)


def _class_faults(where: str, classes: object, scope: tuple[str, ...] | None) -> list[str]:
    if type(classes) is not tuple or not 1 <= len(classes) <= MAX_CLASSES:
        came = f"a tuple of {len(classes)}" if type(classes) is tuple else shown(classes)
        return [f"{where}: got {came}, want a tuple of 1 to {MAX_CLASSES} request classes."]
    faults: list[str] = []
    first: dict[str, int] = {}
    for at, item in enumerate(classes):
        here = f"{where}[{at}]"
        try:
            request = verified(here, item, RequestClass)
        except RecordFault as fault:
            faults += fault.faults
            continue
        faults += _foreign(here, request.scope, scope)
        earlier = first.setdefault(request.class_id, at)
        if earlier != at:
            faults.append(f"{here}.class_id: {request.class_id} is that of [{earlier}] too; rename one.")
    return faults


def _foreign(where: str, scope: tuple[str, ...], wanted: tuple[str, ...] | None) -> list[str]:
    """A fault when a part's scope is not the workload's; None is a faulty scope, reported already."""
    if wanted is None or scope == wanted:
        return []
    return [f"{where}.scope: differs from the workload's; build both with the same scope."]
