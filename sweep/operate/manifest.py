"""The deployment manifest: model, revision, framework, replicas, slots and the evidence for them, as one unit.

The unit has one digest, over all of it: whoever changes a field has another manifest.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Final

from sweep.hardware.share import ENGINES
from sweep.records.digest import canonical_json, digest

MANIFEST_VERSION: Final = 1
"""The form of the document; a reader refuses any other."""

MOVING: Final = frozenset(("main", "master", "head", "latest", "default", "trunk", "dev", "nightly"))
"""Revisions that name another model tomorrow."""

MAX_ID, MAX_REVISION = 256, 128

_PIN = re.compile(rf"({'|'.join(ENGINES)})==([0-9][0-9A-Za-z.+!_-]{{0,63}})")

ID_WANTED: Final = f"1 to {MAX_ID} printable characters without spaces around them, the first no hyphen"
REVISION_WANTED: Final = (
    f"a commit or a tag of 1 to {MAX_REVISION} printable characters without spaces, and no branch such as main, "
    "which moves"
)
PIN_WANTED: Final = "an exact pin such as vllm==0.19.0, of vllm, sglang or tensorrt-llm"


def is_model_id(text: str) -> bool:
    """Whether a text may name a model: a name on a hub or a folder.

    It may hold anything that can be printed, since launch lines quote it; a first hyphen would make it an option.
    """
    return 0 < len(text) <= MAX_ID and text.isprintable() and text == text.strip() and not text.startswith("-")


def is_revision(text: str) -> bool:
    """Whether a text names one revision: a branch moves, so it is none."""
    named = 0 < len(text) <= MAX_REVISION and text.isprintable() and " " not in text and not text.startswith("-")
    return named and text.lower().rpartition("/")[2] not in MOVING


def engine_of(pin: str) -> str | None:
    """The engine of a framework pin, a key of `sweep.hardware.ENGINES`; None where it is no exact pin.

    >>> engine_of("vllm==0.19.0"), engine_of("vllm>=0.19")
    ('vllm', None)
    """
    match = _PIN.fullmatch(pin)
    return match[1] if match else None


@dataclass(frozen=True)
class Memory:
    """The memory of a replica before its KV cache; every amount but the weights is of one GPU, in bytes.

    Attributes:
        memory_bytes: the whole memory of a GPU.
        memory_utilization_permille: the share of it for everything, as vLLM means it, in ‰.
        weight_bytes: of the whole model.
        activation_bytes: the peak of a step at the manifest's chunk.
        framework_overhead_bytes: context, graphs, communication buffers.
        reserved_bytes: kept free of everything.
    """

    memory_bytes: int
    memory_utilization_permille: int
    weight_bytes: int
    activation_bytes: int
    framework_overhead_bytes: int
    reserved_bytes: int


@dataclass(frozen=True)
class Requests:
    """Requests of one class, as a replica meets them at the manifest's traffic.

    Attributes:
        class_id: the class.
        tokens: of one request, prompt and output.
        peak_concurrency: how many a replica has at once at the peak.
    """

    class_id: str
    tokens: int
    peak_concurrency: int


@dataclass(frozen=True)
class Evidence:
    """What the operating point rests on.

    Attributes:
        grid_sha256: of the grid that was searched.
        point: axis -> value, every axis of the grid.
        contract_content_id: of the SLO.
        workload_content_id: of scheduler and traffic.
        evidence_id: of the audit's report.
        claim: what the figures are.
    """

    grid_sha256: str
    point: tuple[tuple[str, int | str], ...]
    contract_content_id: str
    workload_content_id: str
    evidence_id: str
    claim: str


@dataclass(frozen=True)
class Manifest:
    """One versioned unit of what is deployed.

    Attributes:
        model_id: a name on a hub, or a folder.
        model_revision: a commit or a tag.
        framework: an exact pin, `vllm==0.19.0`.
        replica_count: replicas of the service.
        batch_slots: sequences that a replica runs at once.
        prefill_chunk_tokens: prompt tokens of a step beside the decoding sequences.
        longest_sequence_tokens: the longest request that is accepted, prompt and output.
        tensor_parallel: GPUs of a replica.
        kv_bytes_per_value: width of a value in the KV cache; None where it is not known.
        kv_bytes_per_token: of the whole replica.
        block_tokens: tokens of a KV block.
        memory: of the replica; None where only its pool is known.
        kv_pool_bytes: the KV pool where it is stated; None where it follows from `memory`.
        requests: the mix that the slots are counted in.
        evidence: what the point rests on; None where nobody judged it.
    """

    model_id: str
    model_revision: str
    framework: str
    replica_count: int
    batch_slots: int
    prefill_chunk_tokens: int
    longest_sequence_tokens: int
    tensor_parallel: int
    kv_bytes_per_value: int | Fraction | None
    kv_bytes_per_token: int
    block_tokens: int
    memory: Memory | None
    kv_pool_bytes: int | None
    requests: tuple[Requests, ...]
    evidence: Evidence | None

    def __post_init__(self) -> None:
        """Requests by class, and the point by axis: order says nothing, so it cannot tell two units apart."""
        object.__setattr__(self, "requests", tuple(sorted(self.requests, key=lambda one: one.class_id)))
        if self.evidence is not None:
            evidence = replace(self.evidence, point=tuple(sorted(self.evidence.point)))
            object.__setattr__(self, "evidence", evidence)

    @property
    def engine(self) -> str:
        """The engine of the pin."""
        engine = engine_of(self.framework)
        assert engine is not None  # checked by whoever built it
        return engine

    @property
    def tokens_per_step(self) -> int:
        """A whole chunk beside a full batch: what vLLM calls `max_num_batched_tokens`."""
        return self.prefill_chunk_tokens + self.batch_slots

    def payload(self) -> dict[str, Any]:
        """The document without its digest."""
        document: dict[str, Any] = {"manifest_version": MANIFEST_VERSION}
        for field in fields(self):
            document[field.name] = _plain(getattr(self, field.name))
        document["requests"] = {
            one.class_id: {"tokens": one.tokens, "peak_concurrency": one.peak_concurrency} for one in self.requests
        }
        if self.evidence is not None:
            document["evidence"]["point"] = dict(self.evidence.point)
        return document

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the canonical JSON of the unit, 64 lowercase hex digits."""
        return digest(self.payload())

    def as_json(self) -> dict[str, Any]:
        """The document with its digest."""
        return {**self.payload(), "digest": self.digest}

    def text(self) -> str:
        """The file: canonical JSON and a line break. The same manifest gives the same bytes."""
        return canonical_json(self.as_json()) + "\n"


def _plain(value: object) -> Any:
    if isinstance(value, Memory | Evidence):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    return str(value) if isinstance(value, Fraction) else value


@dataclass(frozen=True)
class Difference:
    """A field in which two manifests differ; None where one has it not.

    Attributes:
        field: its path in the document.
        old: in the first.
        new: in the second.
    """

    field: str
    old: Any
    new: Any

    def as_json(self) -> dict[str, Any]:
        """With stable keys."""
        return {"field": self.field, "old": self.old, "new": self.new}


def diff_manifests(old: Manifest, new: Manifest) -> tuple[Difference, ...]:
    """Every field in which two manifests differ, in the order of the document; none where they are the same unit."""
    before, after = _flat(old.payload()), _flat(new.payload())
    names = list(dict.fromkeys([*before, *after]))
    return tuple(
        Difference(name, before.get(name), after.get(name)) for name in names if before.get(name) != after.get(name)
    )


def _flat(document: Mapping[str, Any], place: str = "") -> dict[str, Any]:
    """Path -> value. An object that is missing on one side has no paths; null stands for the field itself."""
    found: dict[str, Any] = {}
    for key, value in document.items():
        name = f"{place}{key}"
        found |= _flat(value, f"{name}.") if isinstance(value, Mapping) and value else {name: value}
    return found
