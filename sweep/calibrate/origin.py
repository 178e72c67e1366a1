"""Whether files may go into one fit: of one model, one engine, and times in the unit that the user states."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sweep.calibrate.measured import Measured
from sweep.errors import InputFault, UsageFault
from sweep.units import printable, shown

_PROTOCOLS: Final = ("openai", "custom")
"""What a load test calls its backend where that says how it spoke, not to which engine."""


def engine_of(backend: object) -> str | None:
    """The engine that a load test's `backend` names, without its protocol; None where it names none.

    >>> engine_of("sglang-oai-chat"), engine_of("vllm"), engine_of("openai-chat")
    ('sglang', 'vllm', None)
    """
    if not isinstance(backend, str):
        return None
    name = backend.strip().lower().partition("-")[0].partition("_")[0]
    return None if not name or name in _PROTOCOLS else name


def stated(where: str, name: object) -> list[tuple[str, str]]:
    """The place with a name that stands there; nothing where none does."""
    return [(where, name.strip())] if isinstance(name, str) and name.strip() else []


def check_one_engine(files: Sequence[Measured]) -> None:
    """Refuse files of different models or engines: a fit to both is of neither.

    Raises:
        InputFault: naming the first two that differ.
    """
    faults = []
    for what, named in (
        ("models", [one for file in files for one in file.models]),
        ("engines", [one for file in files for one in file.engines]),
    ):
        first = next(iter(named), None)
        other = None if first is None else next((one for one in named if one[1] != first[1]), None)
        if first is not None and other is not None:
            faults.append(
                f"{first[0]} was measured on {_name(first[1])}, {other[0]} on {_name(other[1])}: these are different "
                f"{what}, and one step time is of one; give the files of one at a time."
            )
    if faults:
        raise InputFault(faults)


def _name(text: str) -> str:
    return shown(printable(text, 80))


def check_unit(files: Sequence[Measured], unit: str | None) -> None:
    """Refuse a unit that no file takes.

    Raises:
        UsageFault: naming each file's own.
    """
    if unit is None or any(file.unit == unit for file in files):
        return
    raise UsageFault(
        [
            f"--unit {unit}: the times of {file.name} are in {file.unit}, as its column says; remove --unit."
            if file.unit
            else f"--unit {unit}: {file.name} is read as {file.format}, which fixes the units of times; remove --unit."
            for file in files
        ]
    )
