"""The step time as the table `[step_time]`: measured, or an estimate that says so in every line."""

from __future__ import annotations

from pathlib import Path

from sweep.calibrate.calibration import Calibration
from sweep.calibrate.fit import NAMES
from sweep.calibrate.step_time import why_not
from sweep.calibrate.tables import step_time_table
from sweep.draft.parts import Memory, Steps
from sweep.draft.text import comment, entry, paragraphs, quoted
from sweep.errors import InputFault, UsageFault
from sweep.hardware.estimate import step_estimate
from sweep.hardware.gpus import Gpu
from sweep.units import grouped

ESTIMATE_GAP = "step time: an ESTIMATE from data sheets; measure it and give the files with --calibrate"
_CAPACITY = entry("capacity", '"from-step-time"', "tokens/s = (slots + chunk) tokens per step")


def measured(calibration: Calibration) -> Steps:
    """The table of `sweep calibrate`, with the capacity from it.

    Raises:
        InputFault: the files do not give every coefficient; one sentence per reason.
    """
    step_time = calibration.step_time
    if step_time is None or not step_time.complete:
        clauses = ["step time: no file has steps; add a load test or a series"]
        clauses = clauses if step_time is None else why_not(step_time)
        advice = "or leave --calibrate out for an estimate"
        raise InputFault(f"--calibrate: {clause}, {advice}." for clause in clauses)
    base, per_sequence, per_token = (value or 0 for value in step_time.coefficients)
    lines = [
        *paragraphs(f"Doubtful: {_without_folders(flag, calibration)}." for flag in calibration.flags),
        *paragraphs(f"Assumed: {_without_folders(note, calibration)}." for note in calibration.notes),
        *step_time_table(calibration).rstrip("\n").split("\n"),
        *_CAPACITY,
    ]
    flags = tuple(f"Doubtful: {flag}." for flag in calibration.flags)
    points = len(step_time.fit.used)
    return Steps(
        lines,
        f"measured, {grouped(points)} points of {calibration.source}",
        notes=flags,
        base_ns=base,
        per_sequence_ns=per_sequence,
        per_prefill_token_ns=per_token,
        slots=step_time.measured_slots,
        chunk_tokens=step_time.measured_chunk_tokens,
        pool_tokens=None if calibration.pool is None else calibration.pool.tokens,
    )


def _without_folders(clause: str, calibration: Calibration) -> str:
    """A clause with the files' names alone: a grid's text goes into its results, and with them to other people."""
    for file in calibration.files:
        clause = clause.replace(file.name, Path(file.name).name)
    return clause


def estimated(memory: Memory, typical_tokens: int) -> Steps:
    """An estimate from the data sheet of the GPU.

    Args:
        memory: of the replica; its GPU is of the catalogue.
        typical_tokens: of a request, prompt and output.

    Raises:
        UsageFault: nobody says of which GPU, or its peak, or how many parameters there are; all faults at once.
    """
    gpu, faults = memory.gpu, []
    instead = "give --calibrate with measured files, or --gpu with a GPU of the catalogue near to yours"
    if gpu is None:
        faults.append(f"--calibrate: missing, and without a GPU of the catalogue no step time is estimated; {instead}.")
    if memory.parameters is None:
        faults.append(
            "--active-parameters: missing, wanted how many parameters a token passes, to estimate the step time; give"
            " it, or --calibrate with measured files."
        )
    made = None
    if gpu is not None and memory.parameters is not None:
        made = step_estimate(
            gpu,
            memory.gpus,
            memory.weight_bytes,
            memory.parameters,
            memory.kv_bytes_per_token,
            typical_tokens,
            memory.fp8,
        )
        if made is None:
            faults.append(
                f"--gpu {gpu.name}: the catalogue has no peak of it, so no step time is estimated; {instead}."
            )
    if faults:
        raise UsageFault(faults)
    assert made is not None  # else there was a fault
    assert gpu is not None  # likewise
    figures = (made.base_ns, made.per_sequence_ns, made.per_prefill_token_ns)
    said = _said(gpu, memory, typical_tokens, made.peak_flops, made.bandwidth_bytes_per_second)
    head = [
        "AN ESTIMATE, from data sheets: nobody has measured this engine. Replace it: measure, then `sweep calibrate`"
        " and `sweep init --calibrate`. Real steps differ from it in both directions.",
        f"Peaks: {gpu.title}, {gpu.peak_source}.",
    ]
    lines = [*paragraphs(head), "[step_time]"]
    for name, value, source in zip(NAMES, figures, said, strict=True):
        lines += [*comment(f"An ESTIMATE: {source}."), f"{name} = {value:_}"]
    lines += [*_CAPACITY, f"source = {quoted(f'an ESTIMATE from the data sheet of {gpu.name}, not measured')}"]
    return Steps(lines, f"an ESTIMATE from the data sheet of {gpu.name}", (ESTIMATE_GAP,), (), *figures, estimated=True)


def _said(gpu: Gpu, memory: Memory, typical_tokens: int, peak: int, bandwidth: int) -> tuple[str, str, str]:
    """What each coefficient is an estimate of."""
    from_memory = f"{_over(memory.gpus)}{grouped(bandwidth // 10**9)} GB/s of memory bandwidth"
    width = "fp8" if memory.fp8 and gpu.dense_fp8_flops is not None else "bf16"
    whole, part = divmod(peak // 10**10, 100)
    tera = f"{grouped(whole)}{f'.{part:02}'.rstrip('0') if part else ''} TFLOP/s, the dense {width} peak"
    return (
        f"a step reads {grouped(memory.weight_bytes)} bytes of weights at {from_memory}",
        f"a sequence of {grouped(typical_tokens)} tokens, the mean prompt and output, has"
        f" {grouped(typical_tokens * memory.kv_bytes_per_token)} bytes of KV cache to read, at {from_memory}",
        f"2 FLOP for each of {grouped(memory.parameters or 0)} parameters ({memory.parameters_from}), at half of"
        f" {_over(memory.gpus)}{tera}",
    )


def _over(gpus: int) -> str:
    return "" if gpus == 1 else f"{grouped(gpus)} GPUs of "
