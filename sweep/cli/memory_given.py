"""What the options of `sweep memory` say, with every fault and where each figure came from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sweep.errors import InputFault, RecordFault, UsageFault
from sweep.units import UnitError, shown

if TYPE_CHECKING:
    from sweep.hardware import Amount, ModelConfig, Width

_OPTIONS = {
    "chunk_tokens": "--chunk",
    "state_bytes_per_value": "--state-dtype",
    "state_bytes": "--state-bytes",
    "state_blocks": "--state-blocks",
    "reserved_blocks": "--reserved-blocks",
    "max_cache_tokens": "--max-cache-tokens",
    "pool_bytes": "--pool",
    "stage_layers": "--stage-layers",
    "cache": "--model",
    "stages": "--model",
    "memory": "--memory",
    "longest_tokens": "--max-sequence",
}
"""Arguments of the arithmetic -> the options that give them."""


@dataclass
class Given:
    """What the options say.

    Attributes:
        options: as parsed by click.
        config: the model's config, where one was given.
        sources: figure -> where it came from.
        notes: sentences for the reader.
        stages: pipeline stages.
        bytes_known: False where only blocks are known, and no model says how large they are.
        usage: faults of options.
        input: faults of files, and what files leave open.
    """

    options: Mapping[str, Any]
    config: ModelConfig | None = None
    sources: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    stages: int = 1
    bytes_known: bool = True
    usage: list[str] = field(default_factory=list)
    input: list[str] = field(default_factory=list)

    def raise_if_any(self) -> None:
        """Raise every fault found so far, all at once.

        Raises:
            InputFault: a file is wrong or leaves something open. UsageFault: only options are wrong.
        """
        if self.input:
            raise InputFault(dict.fromkeys([*self.usage, *self.input]))
        if self.usage:
            raise UsageFault(dict.fromkeys(self.usage))

    def said(self, name: str) -> bool:
        """Whether an option was given."""
        return self.options[name] is not None

    def source(self, figure: str, text: str) -> None:
        """Note where a figure came from."""
        self.sources[figure] = text


def note_faults(given: Given, fault: RecordFault) -> None:
    """Note the sentences of the arithmetic in terms of options: of the model as faults of files, others of usage."""
    for sentence in fault.faults:
        name, _, rest = sentence.partition(":")
        option = _OPTIONS.get(name.split("[")[0], name)
        (given.input if option == "--model" else given.usage).append(f"{option}:{rest}")


def read_width(given: Given, option: str, text: str) -> Width | None:
    """The width that an option or a config names; None, with the fault noted, where it names none."""
    from sweep.hardware import width_of

    try:
        return width_of(text)
    except UnitError as error:
        given.usage.append(f"{option}: got {shown(text)}; {error}.")
        return None


def per_stage(given: Given, name: str) -> tuple[Amount, ...] | None:
    """An amount per stage: one that holds for each, or one for each with commas; None where it was not given."""
    from sweep.hardware import amount_of

    text = given.options[name]
    if text is None:
        return None
    option = f"--{name.replace('_', '-')}"
    found, before = [], len(given.usage)
    for part in text.split(","):
        try:
            found.append(amount_of(part, option))
        except UnitError as error:
            given.usage.append(f"{option}: got {shown(part.strip())}; {error}.")
    whole = name in ("weights", "state_bytes", "pool")  # no amount of one GPU, which could hold for each stage
    if len(found) == 1 and not whole:
        found *= given.stages
    if len(found) != given.stages and len(given.usage) == before:
        one = "" if whole else ", or one that holds for all"
        given.usage.append(
            f"{option}: got {len(found)}, wanted one for each of the stages ({given.stages}), with commas{one}."
        )
    return tuple(found)
