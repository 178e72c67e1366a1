"""From an operating point of a grid to its manifest, and back: does the evidence of a manifest hold?"""

from __future__ import annotations

from fractions import Fraction
from typing import cast

from sweep.errors import AskedForFailure, UsageFault
from sweep.grid.model import Grid
from sweep.operate.manifest import (
    ID_WANTED,
    PIN_WANTED,
    REVISION_WANTED,
    Evidence,
    Manifest,
    Memory,
    Requests,
    engine_of,
    is_model_id,
    is_revision,
)
from sweep.operate.manifest_check import check_manifest
from sweep.query.cell import DEFAULT_BLOCK_TOKENS, Cell, codes_of
from sweep.query.result import explain_grid
from sweep.query.select import At
from sweep.records.wording import CLAIM
from sweep.units import grouped, shown


def deployment_manifest(
    grid: Grid,
    model_id: str,
    model_revision: str,
    framework: str,
    at: At | None = None,
    longest_sequence_tokens: int | None = None,
) -> Manifest:
    """The manifest of an operating point, by default the largest feasible one.

    Args:
        grid: what was searched.
        model_id: a name on a hub, or a folder.
        model_revision: a commit or a tag; a branch moves, so it is none.
        framework: an exact pin, `vllm==0.19.0`.
        at: axes to fix; open ones take the values of the largest feasible point.
        longest_sequence_tokens: the longest request to accept; default: the longest of the classes, whose lengths may
            be means.

    Raises:
        UsageFault: a name, a pin, an axis or a value that is none; all at once.
        AskedForFailure: the point is not within all bounds, or a replica of it cannot start.
    """
    faults = [
        f"{name}: got {shown(value)}, wanted {wanted}; correct it."
        for name, value, wanted, good in (
            ("model", model_id, ID_WANTED, is_model_id(model_id)),
            ("revision", model_revision, REVISION_WANTED, is_revision(model_revision)),
            ("framework", framework, PIN_WANTED, engine_of(framework) is not None),
        )
        if not good
    ]
    longest = longest_sequence_tokens
    if longest is not None and not 1 <= longest <= 10**12:
        faults.append(f"longest: got {grouped(longest)}, wanted tokens from 1 to 10^12; correct it.")
    if faults:
        raise UsageFault(faults)
    cell = explain_grid(grid, at)
    if cell.status != "within":
        raise AskedForFailure(f"manifest: {_not_within(cell)}; choose a feasible one, `sweep best` finds the largest.")
    found = manifest_of_cell(grid, cell, model_id, model_revision, framework, longest)
    start = check_manifest(found)
    if start.refusals:
        raise AskedForFailure([f"manifest: cannot start: {sentence}" for sentence in start.refusals])
    return found


def _not_within(cell: Cell) -> str:
    where = ", ".join(f"{name}={value}" for name, value in cell.point.items())
    if cell.invalid_reason is not None:
        return f"the point {where} is invalid by {cell.invalid_reason}"
    return f"the point {where} is rejected by {', '.join(codes_of(cell.verdict.violations))}"


def manifest_of_cell(
    grid: Grid, cell: Cell, model_id: str, model_revision: str, framework: str, longest_tokens: int | None = None
) -> Manifest:
    """The manifest of a valid cell, unjudged; see `deployment_manifest`."""
    fields, verdict = cell.fields, cell.verdict
    report, ids = cell.audited()
    assert report is not None  # a valid cell has records
    assert ids is not None
    requests = tuple(
        Requests(row["class_id"], row["prompt_tokens"] + row["output_tokens"], row["peak_concurrency"])
        for row in cell.classes
    )
    from_memory = fields["contract.max_kv_bytes"] == "from-memory"
    return Manifest(
        model_id=model_id,
        model_revision=model_revision,
        framework=framework,
        replica_count=fields["traffic.replicas"],
        batch_slots=fields["scheduler.max_active_sequences"],
        prefill_chunk_tokens=fields["scheduler.max_prefill_chunk_tokens"],
        longest_sequence_tokens=longest_tokens or max(one.tokens for one in requests),
        tensor_parallel=fields.get("gpu.tensor_parallel", 1),
        kv_bytes_per_value=cast("int | Fraction | None", fields.get("model.kv_bytes_per_value")),
        kv_bytes_per_token=verdict.kv_bytes_per_token,
        block_tokens=fields.get("gpu.block_tokens", DEFAULT_BLOCK_TOKENS),
        memory=_memory(cell) if from_memory else None,
        kv_pool_bytes=None if from_memory else verdict.max_kv_bytes,
        requests=requests,
        evidence=Evidence(
            grid_sha256=grid.sha256,
            point=tuple(cell.point.items()),
            contract_content_id=ids["contract"],
            workload_content_id=ids["workload"],
            evidence_id=report.evidence_id,
            claim=CLAIM,
        ),
    )


def _memory(cell: Cell) -> Memory:
    fields = cell.fields
    growing = fields["gpu.activation_bytes_per_chunk_token"] * fields["scheduler.max_prefill_chunk_tokens"]
    return Memory(
        memory_bytes=fields["gpu.memory_bytes"],
        memory_utilization_permille=fields["gpu.memory_utilization_permille"],
        weight_bytes=fields["model.weight_bytes"],
        activation_bytes=fields["gpu.activation_bytes"] + growing,
        framework_overhead_bytes=fields["gpu.framework_overhead_bytes"],
        reserved_bytes=fields["gpu.reserved_bytes"],
    )


def cell_of(manifest: Manifest, grid: Grid) -> Cell:
    """The operating point of a manifest in the grid that it came from.

    Raises:
        UsageFault: no evidence, another grid, or a point that the grid has not.
    """
    evidence = manifest.evidence
    if evidence is None:
        raise UsageFault("the manifest has no evidence, so it names no operating point; fix one with --at.")
    if evidence.grid_sha256 != grid.sha256:
        raise UsageFault(
            f"the manifest is of the grid {evidence.grid_sha256}, and this is {grid.sha256}; give the result that it "
            "was made from."
        )
    return explain_grid(grid, dict(evidence.point))


def evidence_faults(manifest: Manifest, grid: Grid) -> list[str]:
    """Why the evidence of a manifest does not hold, one sentence each; none where a new audit gives the same unit.

    Raises:
        UsageFault: see `cell_of`.
    """
    cell = cell_of(manifest, grid)
    if cell.status != "within":
        return [f"evidence: {_not_within(cell)}; make the manifest again."]
    longest = manifest.longest_sequence_tokens
    again = manifest_of_cell(grid, cell, manifest.model_id, manifest.model_revision, manifest.framework, longest)
    was, now = manifest.payload(), again.payload()
    return [
        f"evidence: {name}: the manifest and a new audit of its point do not agree; make the manifest again."
        for name in was
        if was[name] != now[name]
    ]
