"""What every answer says of an operating point: its place, figures, bounds and slack, what stops it, vLLM's names."""

from __future__ import annotations

from sweep.engine.catalogue import FIGURES
from sweep.grid.paths import TRAFFIC
from sweep.query.cell import FIGURE_OF_BOUND, Cell, codes_of
from sweep.records.wording import INVALID_MEANINGS, VIOLATION_MEANINGS
from sweep.report.blocks import Paragraph, Table, table
from sweep.report.words import coordinates, counted, listed, permille_as_factor, rate, safe, signed
from sweep.units import grouped

FIGURE_NAMES = tuple(figure.name for figure in FIGURES)
"""Every quantity of a cell, in the order of the result file."""


_CLASSES_SHOWN = 4


def quantity(cell: Cell, name: str) -> int:
    """A quantity of a cell by its name, -1 where it is undefined."""
    verdict = cell.verdict
    return verdict.figures[name] if name in verdict.figures else int(getattr(verdict, name))


def place(cell: Cell, tone_good: bool = True) -> Paragraph:
    """Where a point is: its value on every axis."""
    return Paragraph(coordinates(cell.point), "good" if tone_good else "plain")


def figures(cell: Cell) -> Table:
    """Every figure of a valid cell with its bound and its slack."""
    slack = cell.slack
    rows = [
        (figure, grouped(cell.verdict.figures[figure]), grouped(cell.bound(bound)), grouped(slack[bound]))
        for bound, figure in FIGURE_OF_BOUND.items()
    ]
    alerts = [at for at, bound in enumerate(FIGURE_OF_BOUND) if slack[bound] < 0]
    return table(("figure", "value", "bound", "slack"), rows, right=(1, 2, 3), alerts=alerts)


def ttft_class(cell: Cell) -> Paragraph:
    """Which class sets the time to first token of a valid cell, and of what it is made."""
    service = cell.class_service_ms
    queue = cell.verdict.figures["estimated_queue_delay_ms"]
    longest = max(service.values())
    setting = [class_id for class_id, ms in service.items() if ms == longest]
    who = f"Class {setting[0]} sets" if len(setting) == 1 else f"Classes {listed(setting, 4)} set"
    return Paragraph(f"{who} TTFT: {grouped(longest)} ms of prefill after {grouped(queue)} ms in the queue.")


def rates(cell: Cell, wanted_millirps: int | None = None) -> Paragraph:
    """The traffic of a point in requests per second, all classes together and each, and the GPUs that carry it.

    Args:
        cell: the point.
        wanted_millirps: the arrivals that were asked for, where the traffic scale follows from them.
    """
    arrivals = cell.traffic_millirps
    shown = [f"{safe(name)} {rate(millirps)}" for name, millirps in list(arrivals.items())[:_CLASSES_SHOWN]]
    if len(arrivals) > _CLASSES_SHOWN:
        shown.append(f"… {counted(len(arrivals), 'class', 'classes')}")
    each = f" ({', '.join(shown)})" if len(arrivals) > 1 else ""
    text = f"Traffic: {rate(sum(arrivals.values()))} req/s{each}"
    replicas, parallel = cell.fields["traffic.replicas"], cell.fields.get("gpu.tensor_parallel", 1)
    if parallel > 1:
        gpus = counted(replicas * parallel, "GPU")
        text += f", on {counted(replicas, 'replica')} × tensor_parallel {grouped(parallel)} = {gpus}"
    elif replicas > 1:
        text += f", on {counted(replicas, 'replica')}"
    if wanted_millirps is not None:
        text += f"; the least scale that reaches {rate(wanted_millirps)} req/s"
    return Paragraph(f"{text}.")


def binding_terms(cell: Cell) -> list[Paragraph]:
    """Of what TTFT and TPOT of a valid cell are made: the terms with their numbers, and which one decides."""
    iteration, chunk = cell.verdict.iteration_time_ms, cell.fields["scheduler.max_prefill_chunk_tokens"]
    service = cell.class_service_ms
    slowest = max(service, key=lambda name: service[name])
    prompt = cell.fields[f"class.{slowest}.prompt_tokens"]
    chunks, by_rate = -(-prompt // chunk), -(-prompt * 1000 // cell.prefill_rate)
    in_chunks = f"{counted(chunks, 'chunk')} of {grouped(iteration)} ms"
    in_tokens = f"{grouped(prompt)} tokens over {grouped(cell.prefill_rate)} tokens/s ({grouped(by_rate)} ms)"
    if chunks * iteration >= by_rate:
        prefill = f"The prefill is set by its {in_chunks}; {in_tokens} take no longer."
    else:
        prefill = f"The prefill is set by its rate: {in_tokens}; {in_chunks} are shorter."
    sequences = cell.verdict.figures["active_sequences"]
    decode = -(-sequences * 1000 // cell.decode_rate)
    flow = f"{counted(sequences, 'sequence')} over {grouped(cell.decode_rate)} tokens/s ({grouped(decode)} ms)"
    if decode >= iteration:
        tpot = f"TPOT is set by decode: {flow}, the iteration takes {grouped(iteration)} ms."
    else:
        tpot = f"TPOT is set by the iteration of {grouped(iteration)} ms, decode is faster: {flow}."
    return [ttft_class(cell), Paragraph(prefill), Paragraph(tpot)]


def breaches(cell: Cell) -> list[str]:
    """Each broken rule of a cell in plain words, with the excess where there is a figure."""
    if cell.invalid_reason is not None:
        return [f"{cell.invalid_reason}: {INVALID_MEANINGS[cell.invalid_reason]}"]
    over = {FIGURE_OF_BOUND[bound]: by for bound, by in cell.over.items()}
    # The bounds stand in the order of the violation bits 1 to 9.
    figure_of_code = dict(zip(list(VIOLATION_MEANINGS)[1:], FIGURE_OF_BOUND.values(), strict=True))
    found = []
    for code in codes_of(cell.verdict.violations):
        by = over.get(figure_of_code.get(code, ""))
        excess = "" if by is None else f" (by {grouped(by)})"
        found.append(f"{code}: {VIOLATION_MEANINGS[code]}{excess}")
    return found


def next_step(limiting: Cell | None) -> list[Paragraph]:
    """What stops one permille more traffic."""
    if limiting is None:
        return []
    scale = limiting.point[TRAFFIC]
    assert isinstance(scale, int)  # the traffic axis is never one of choices
    if limiting.status == "within":
        return [Paragraph("One permille more traffic is feasible too.")]
    found = breaches(limiting)
    verb = "breaks" if limiting.status == "rejected" else "is invalid,"
    what = f"One permille more traffic ({grouped(scale)}) {verb}"
    text = f"{what} {found[0]}." if len(found) == 1 else "\n  ".join([f"{what}:", *found])
    return [Paragraph(text, "bad")]


def as_vllm(cell: Cell, reason: bool = True) -> Paragraph:
    """What the point is called in vLLM.

    vLLM's budget of tokens per step holds one decode token for each running sequence beside the prefill chunk, so a
    whole chunk fits beside a full batch exactly with chunk + slots.

    Args:
        cell: the point.
        reason: whether to say why the budget is chunk + slots.
    """
    slots = int(cell.fields["scheduler.max_active_sequences"])
    chunk = int(cell.fields["scheduler.max_prefill_chunk_tokens"])
    own = grouped(cell.fields["scheduler.prefill_share_permille"])
    part = grouped(chunk * 1000 // (chunk + slots))
    share = f"Share is no engine flag: vLLM fills about {part} ‰ of a full step with prefill"
    flags = f"In vLLM: --max-num-seqs {slots} --max-num-batched-tokens {chunk + slots} (chunk + slots)"
    why = f": its budget of tokens per step holds one decode token per slot beside a chunk of {grouped(chunk)}"
    if not reason:
        return Paragraph(f"{flags}.\n{share}.")
    return Paragraph(f"{flags}{why}. {share}; here prefill may use {own} ‰ of the capacity.")


def traffic_in_words(cell: Cell) -> str:
    """The traffic of a point as a multiple of the declared one, and replicas where there are several."""
    scale = cell.fields["traffic.scale_permille"]
    replicas = cell.fields["traffic.replicas"]
    shared = "" if replicas == 1 else f", on {counted(replicas, 'replica')}"
    times = "" if scale == 1_000 else f"{permille_as_factor(scale)} times "
    return f"{times}the declared traffic{shared}"


def change_text(bound: str, before: int, after: int) -> tuple[str, str, str, str]:
    """A changed bound as a row: name, before, after, by how much."""
    return bound, grouped(before), grouped(after), signed(after - before)
