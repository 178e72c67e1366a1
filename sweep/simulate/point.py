"""An operating point as the simulator runs it: a server in plain ints, and the traffic that it was planned for."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Final

from sweep.errors import InputFault, UsageFault
from sweep.query.cell import DEFAULT_BLOCK_TOKENS, Cell
from sweep.records.checks import integer_faults

_BOUNDS: Final[Mapping[str, tuple[int, int]]] = {
    "slots": (1, 10**6),
    "chunk_tokens": (1, 10**7),
    "base_ns": (0, 10**15),
    "per_sequence_ns": (0, 10**12),
    "per_prefill_token_ns": (0, 10**12),
    "priority_iterations": (1, 10**6),
    "kv_blocks": (0, 10**18),
    "block_tokens": (1, 2 * 10**7),
    "kv_bytes_per_token": (1, 10**12),
    "replicas": (1, 10**6),
}

_STEP_TIME: Final = ("base_ns", "per_sequence_ns", "per_prefill_token_ns")


@dataclass(frozen=True, slots=True)
class ArrivalClass:
    """A request class as the arrival processes draw it.

    Attributes:
        class_id: its name.
        priority: the lower the sooner.
        arrival_millirps: 1/1000 requests/s, of all replicas together, scaled.
        prompt_tokens, output_tokens: of each request.
    """

    class_id: str
    priority: int
    arrival_millirps: int
    prompt_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True)
class OperatingPoint:
    """A server, per replica unless said otherwise. An iteration with b sequences that decode and c prefill tokens takes
    base_ns + per_sequence_ns·b + per_prefill_token_ns·c.

    Attributes:
        slots: sequences that run at one time.
        chunk_tokens: prefill tokens of an iteration, at most.
        base_ns, per_sequence_ns, per_prefill_token_ns: the step time.
        priority_iterations: iterations in a row that may serve younger requests and not the oldest.
        kv_blocks: blocks of the KV pool; 0 serves nothing.
        block_tokens: tokens of a block.
        kv_bytes_per_token: bytes of a token in the pool.
        replicas: how many such servers there are.
        admission_control: whether a request is let in only when the blocks to finish it are free beside all promises
            made before; then no preemption ever happens. Else it is let in when its prompt fits.
        classes: the traffic of all replicas together.

    Raises:
        InputFault: a field out of bounds or no plain int; all faults at once.
    """

    slots: int
    chunk_tokens: int
    base_ns: int
    per_sequence_ns: int
    per_prefill_token_ns: int
    priority_iterations: int
    kv_blocks: int
    block_tokens: int = DEFAULT_BLOCK_TOKENS
    kv_bytes_per_token: int = 1
    replicas: int = 1
    admission_control: bool = True
    classes: tuple[ArrivalClass, ...] = ()

    def __post_init__(self) -> None:
        faults = [
            fault
            for field in fields(self)
            if field.name in _BOUNDS
            for fault in integer_faults(f"operating point.{field.name}", getattr(self, field.name), _BOUNDS[field.name])
        ]
        if faults:
            raise InputFault(faults)

    @property
    def block_bytes(self) -> int:
        """Bytes of a block."""
        return self.block_tokens * self.kv_bytes_per_token

    def blocks(self, tokens: int) -> int:
        """Blocks that some tokens take: ⌈tokens / block_tokens⌉."""
        return -(-tokens // self.block_tokens)


def operating_point_of(cell: Cell) -> OperatingPoint:
    """The server of one cell of a grid at its traffic scale.

    A grid that derives its iteration time gives the step time by its three terms, and an iteration takes what it
    carries. Where the iteration time is given, every iteration takes that, whatever it carries. The KV pool is the
    bound on KV bytes, given or left by the weights, in whole blocks. Neither the token capacity nor the prefill share
    is an input: what an iteration takes and its chunk say how fast prefill and decode are.

    Raises:
        UsageFault: the cell is invalid: no operating point is there.
    """
    if cell.verdict.invalid_reason:
        reason = f"it is invalid by {cell.invalid_reason}"
        raise UsageFault(f"simulate: the point has no server, {reason}; take another point.")
    get = cell.fields.get
    if "step_time.base_ns" in cell.fields:
        terms = [int(cell.fields[f"step_time.{name}"]) for name in _STEP_TIME]
    else:
        terms = [cell.verdict.iteration_time_ms * 10**6, 0, 0]
    block_tokens = int(get("gpu.block_tokens", DEFAULT_BLOCK_TOKENS))
    scaled = cell.traffic_millirps
    classes = tuple(
        ArrivalClass(
            name,
            int(cell.fields[f"class.{name}.priority"]),
            scaled[name],
            int(cell.fields[f"class.{name}.prompt_tokens"]),
            int(cell.fields[f"class.{name}.output_tokens"]),
        )
        for name in cell.class_ids
    )
    return OperatingPoint(
        slots=cell.bound("max_active_sequences"),
        chunk_tokens=int(cell.fields["scheduler.max_prefill_chunk_tokens"]),
        base_ns=terms[0],
        per_sequence_ns=terms[1],
        per_prefill_token_ns=terms[2],
        priority_iterations=int(cell.fields["scheduler.max_consecutive_priority_iterations"]),
        kv_blocks=cell.verdict.max_kv_bytes // (block_tokens * cell.verdict.kv_bytes_per_token),
        block_tokens=block_tokens,
        kv_bytes_per_token=cell.verdict.kv_bytes_per_token,
        replicas=int(get("traffic.replicas", 1)),
        admission_control=bool(get("workload.admission_control_enabled", True)),
        classes=classes,
    )


def contiguous(point: OperatingPoint, max_seq_len: int) -> OperatingPoint:
    """The same memory, handed out as one slab of the longest sequence for each request instead of in blocks.

    A request that is longer than a slab takes as many as it needs.

    Args:
        point: the paged server.
        max_seq_len: tokens of a slab, prompt and output; 1 to 2·10^7.
    """
    slabs = point.kv_blocks * point.block_tokens // max_seq_len
    return replace(point, block_tokens=max_seq_len, kv_blocks=slabs)
