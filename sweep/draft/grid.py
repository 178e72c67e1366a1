"""The parts of a grid put together, and read again as any grid file is: what is written, runs."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sweep.draft import example
from sweep.draft.axes import Axes, axes_of
from sweep.draft.parts import Memory, Part, Slo, Steps, Traffic
from sweep.draft.text import entry, paragraphs, quoted
from sweep.errors import UsageFault
from sweep.grid.faults import FieldError
from sweep.grid.fields import FIELDS
from sweep.grid.load import parse_grid
from sweep.grid.model import Grid
from sweep.records.bounds import CONTRACT_BOUNDS
from sweep.units import grouped, printable, shown

UTILIZATION_PERMILLE = 950
"""The example's: what is above it leaves no room for the fluctuation that a fluid model does not see."""

_LOWEST_MS, _HIGHEST_MS = CONTRACT_BOUNDS["max_ttft_ms"]
_PRIORITY_STEPS = 3
_POOL_PARTS = 50  # a pool that differs by less than one part of so many is the same, but for what was rounded


@dataclass(frozen=True)
class Draft:
    """A grid that was made, before it is written.

    Attributes:
        text: of the file.
        grid: the same, read.
        parts: what it consists of, name -> where it came from.
        gaps: what is not the user's own, clauses.
        notes: what a reader should know, sentences.
        estimated: whether the step time is an estimate.
    """

    text: str
    grid: Grid
    parts: dict[str, str]
    gaps: tuple[str, ...]
    notes: tuple[str, ...]
    estimated: bool

    def as_json(self) -> dict[str, Any]:
        """With keys that stay."""
        axes = {
            axis.name: {"values": len(axis), "first": axis.values[0], "last": axis.values[-1]}
            for axis in self.grid.axes
        }
        return {
            "name": self.grid.name,
            "cells": self.grid.cells,
            "axes": axes,
            "classes": len(self.grid.class_ids),
            "from": {part.lower().replace(" ", "_"): says for part, says in self.parts.items()},
            "step_time_estimated": self.estimated,
            "not_your_own": list(self.gaps),
            "notes": list(self.notes),
        }


def draft_example(file: str) -> Draft:
    """The example as it is, with the name of its own file in it.

    Args:
        file: as it is going to be called.
    """
    memory, traffic, steps = example.example_memory(), example.example_traffic(), example.example_steps()
    text = example.example_text().replace(example.SHIPPED_AS, _command_word(file))
    parts = _parts(memory, traffic, steps) | {"SLO": "the example's; give --ttft and --tpot"}
    return Draft(text, parse_grid(text, where=file), parts, _gaps(memory, traffic, steps), (), estimated=False)


def draft_grid(file: str, memory: Memory, traffic: Traffic, steps: Steps, slo: Slo, name: str | None = None) -> Draft:
    """A grid of these parts.

    Args:
        file: as it is going to be called.
        memory, traffic, steps, slo: its parts.
        name: of the grid; default: the model and its GPUs.

    Raises:
        UsageFault: the name, or a bound of the SLO, is none that a grid takes; all faults at once.
    """
    check(name, slo)
    axes = axes_of(memory, traffic, steps, slo)
    title = memory.name if name is None else name
    too_long = _too_long(memory, traffic)
    another_pool = _another_pool(memory, steps)
    notes = (*memory.notes, *another_pool, *traffic.notes, *too_long, *steps.notes, *axes.notes)
    gaps = _gaps(memory, traffic, steps)
    blocks: Sequence[Sequence[str]] = (
        _head(file, title, gaps),
        ["[sweep]", f"name = {quoted(title)}"],
        _contract(slo),
        example.section("[scheduler]"),
        steps.lines,
        [*paragraphs(another_pool), *memory.lines],
        [*paragraphs(too_long), *traffic.lines],
        [*paragraphs(axes.notes), *axes.lines()],
    )
    text = "".join(f"{line}\n" for block in blocks for line in [*block, ""]).rstrip("\n") + "\n"
    parts = _parts(memory, traffic, steps) | {"SLO": _slo_says(slo), "axes": _axes_say(axes)}
    return Draft(text, parse_grid(text, where=file), parts, gaps, notes, steps.estimated)


def check(name: str | None, slo: Slo | None) -> None:
    """That a grid takes this name and these bounds, where they are known.

    Raises:
        UsageFault: it does not; all faults at once.
    """
    faults = []
    if name is not None:
        try:
            FIELDS["sweep", "name"].value(name)
            name.encode("utf-8")
        except FieldError as error:
            faults.append(f"--name: {error}.")
        except UnicodeEncodeError:
            faults.append(f"--name: got {shown(name)}, which is no valid Unicode text; correct it.")
    for option, milliseconds in (("--ttft", slo.ttft_ms), ("--tpot", slo.tpot_ms)) if slo else ():
        if not _LOWEST_MS <= milliseconds <= _HIGHEST_MS:
            wanted = f"wanted {_LOWEST_MS} to {grouped(_HIGHEST_MS)}"
            faults.append(f"{option}: got {grouped(milliseconds)} ms, {wanted}; correct it.")
    if faults:
        raise UsageFault(faults)


def _another_pool(memory: Memory, steps: Steps) -> list[str]:
    """That the engine that was measured had another KV pool than this memory gives."""
    tokens, seen = memory.kv_pool_bytes // memory.kv_bytes_per_token, steps.pool_tokens
    if seen is None or abs(tokens - seen) * _POOL_PARTS <= seen:
        return []
    off = abs(tokens - seen) * memory.kv_bytes_per_token // memory.gpus
    return [
        f"The engine that was measured had a KV pool of {grouped(seen)} tokens and this memory gives {grouped(tokens)},"
        f" which is {grouped(off)} bytes of a GPU {'more' if tokens > seen else 'less'}: correct --activations and"
        " --overhead, or --memory."
    ]


def _too_long(memory: Memory, traffic: Traffic) -> list[str]:
    """That the model does not take the longest requests."""
    longest = memory.longest_tokens
    if longest is None:
        return []
    prompt, output = traffic.longest_prompt_tokens or 0, traffic.longest_output_tokens or 0
    most = max(traffic.whole_tokens, prompt, output)
    if most <= longest:
        return []
    return [
        f"The longest sequence of the model has {grouped(longest)} tokens and the traffic has requests of"
        f" {grouped(most)}: they cannot be served as they are."
    ]


def _parts(memory: Part, traffic: Part, steps: Part) -> dict[str, str]:
    return {"memory": memory.says, "traffic": traffic.says, "step time": steps.says}


def _gaps(*parts: Part) -> tuple[str, ...]:
    return tuple(gap for part in parts for gap in part.gaps)


def _command_word(file: str) -> str:
    return shlex.quote(printable(file, 120))


def _head(file: str, title: str, gaps: Sequence[str]) -> list[str]:
    lines = [*paragraphs([title]), "#", f"#   sweep run {_command_word(file)}", "#"]
    lines += paragraphs(
        [
            "Written by `sweep init`; the comments say where each figure came from. Everything is an integer. Where a"
            ' field has a unit a text may carry it: "2 GiB", "1.5 s", "90 %".'
        ]
    )
    if gaps:
        lines += ["#", "# Not your own yet:", *paragraphs(f"* {gap}." for gap in gaps)]
    return lines


def _contract(slo: Slo) -> list[str]:
    """The eight bounds; those that nobody states follow from the two that people do."""
    shares = "default; less leaves more room for bursts, which this model does not see"
    queue = min(max(1, slo.ttft_ms * 2 // 5), _HIGHEST_MS)
    starvation = min(max(slo.ttft_ms, (_PRIORITY_STEPS + 1) * slo.tpot_ms), _HIGHEST_MS)
    return [
        *paragraphs(["The SLO: the eight bounds of the audit. A point that breaks none of them is feasible."]),
        "[contract]",
        *entry("max_total_utilization_permille", str(UTILIZATION_PERMILLE), shares),
        *entry("max_prefill_utilization_permille", str(UTILIZATION_PERMILLE), "likewise"),
        *entry("max_decode_utilization_permille", str(UTILIZATION_PERMILLE), "likewise"),
        *entry("max_queue_delay_ms", f"{queue:_}", "default: 2/5 of the time to first token, which has it in it"),
        *entry("max_ttft_ms", f"{slo.ttft_ms:_}", f"time to first token: {slo.ttft_from}"),
        *entry("max_tpot_ms", f"{slo.tpot_ms:_}", f"time per output token: {slo.tpot_from}"),
        *entry("max_starvation_ms", f"{starvation:_}", "default: the time to first token, or 4 steps of max_tpot_ms"),
        *entry("max_kv_bytes", '"from-memory"', "what [gpu] leaves beside the weights of [model]"),
    ]


def _slo_says(slo: Slo) -> str:
    ttft, tpot = f"{grouped(slo.ttft_ms)} ms ({slo.ttft_from})", f"{grouped(slo.tpot_ms)} ms ({slo.tpot_from})"
    return f"time to first token {ttft}, time per output token {tpot}"


def _axes_say(axes: Axes) -> str:
    counts = (axes.shares, "share"), (axes.chunks, "chunk"), (axes.slots, "slots"), (axes.scales, "traffic")
    return " · ".join(f"{len(values)} {name}" for values, name in counts) + f" = {grouped(axes.cells)} cells"
