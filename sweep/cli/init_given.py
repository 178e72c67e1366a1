"""What the options of `sweep init` say of traffic, step time and SLO; every fault of every part is found."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from sweep.errors import InputFault, SweepError, UsageFault

if TYPE_CHECKING:
    from sweep.draft.parts import Memory, Slo, Steps, Traffic

Made = TypeVar("Made")

DEFAULT_CLASSES = 4
DEFAULT_LEVEL = "minute"
DEFAULT_MS = {"ttft": 500, "tpot": 50}

_STATED = ("rate", "prompt", "output")
_OF_TRACE = ("format_", "columns", "unit", "classes", "level")
_OF_FILES = ("chunk_tokens", "calibrate_unit")


@dataclass
class Gathered:
    """The faults of all parts, so that a user repairs a command once.

    Attributes:
        options: as parsed by click.
        usage: faults of options.
        input: faults of files.
        longest_tokens: the longest sequence, once the model is read; None where nobody says.
    """

    options: Mapping[str, Any]
    usage: list[str] = field(default_factory=list)
    input: list[str] = field(default_factory=list)
    longest_tokens: int | None = None

    def said(self, name: str) -> bool:
        """Whether an option was given."""
        return self.options[name] not in (None, ())

    def attempt(self, make: Callable[[], Made]) -> Made | None:
        """What is made; None, with its faults noted, where it cannot be."""
        try:
            return make()
        except SweepError as error:
            if not isinstance(error, InputFault | UsageFault):
                raise
            (self.usage if isinstance(error, UsageFault) else self.input).extend(error.faults)
            return None

    def raise_if_any(self) -> None:
        """Raise every fault, all at once.

        Raises:
            InputFault: a file is wrong. UsageFault: only options are.
        """
        if self.input:
            raise InputFault(dict.fromkeys([*self.usage, *self.input]))
        if self.usage:
            raise UsageFault(dict.fromkeys(self.usage))

    def only_with(self, names: tuple[str, ...], what: str) -> None:
        """Note options that make no sense without another one."""
        self.usage += [
            f"{option_of(name)}: goes with {what}; give that too, or leave it out." for name in names if self.said(name)
        ]


def option_of(name: str) -> str:
    """How an option is typed."""
    return f"--{name.rstrip('_').replace('_', '-')}"


def read_traffic(given: Gathered) -> Traffic | None:
    """The traffic: of a trace, as stated, or the example's."""
    stated = [name for name in _STATED if given.said(name)]
    if given.said("traffic") and stated:
        both = ", ".join(option_of(name) for name in stated)
        given.usage.append(f"--traffic and {both}: both given, wanted the one or the other; leave one out.")
        return None
    if given.said("traffic"):
        return given.attempt(lambda: _traced(given.options))
    given.only_with(_OF_TRACE, "--traffic")
    if stated:
        missing = [option_of(name) for name in _STATED if name not in stated]
        if missing:
            given.usage.append(f"{', '.join(missing)}: missing, wanted beside {option_of(stated[0])}; add it.")
            return None
        return given.attempt(lambda: _stated(given.options))
    from sweep.draft.example import example_traffic

    return example_traffic()


def note_long_requests(given: Gathered, traffic: Traffic) -> None:
    """Note that a class has longer requests than there are sequences, as `sweep memory` does of a typical length."""
    from sweep.units import grouped

    whole, longest = traffic.whole_tokens, given.longest_tokens
    if longest is None or whole <= longest:
        return
    lower = "take the longer ones out of the trace"
    option = "--traffic"
    if not given.said("traffic"):
        stated = given.said("prompt")
        option = "--prompt and --output" if stated else "traffic"
        lower = "lower them" if stated else "give your own with --traffic, or --rate, --prompt and --output"
    given.usage.append(
        f"{option}: a class has requests of {grouped(whole)} tokens, prompt and output, and the longest sequence has"
        f" {grouped(longest)} tokens; {lower}, or give --max-sequence."
    )


def _traced(options: Mapping[str, Any]) -> Traffic:
    from sweep.cli.output import progress
    from sweep.draft.traffic import traced
    from sweep.traffic.count import trace_facts
    from sweep.traffic.formats import columns_of

    named = columns_of(options["columns"].split(",")) if options["columns"] is not None else None
    with progress("reading", silent=bool(options["as_json"]), unit="bytes") as step:
        facts = trace_facts(options["traffic"], options["format_"], named, options["unit"], step)
    return traced(facts, options["classes"] or DEFAULT_CLASSES, options["level"] or DEFAULT_LEVEL)


def _stated(options: Mapping[str, Any]) -> Traffic:
    from sweep.draft.traffic import stated
    from sweep.records.bounds import CLASS_BOUNDS
    from sweep.units import UnitError, grouped, millirps_of_rps, parse_decimal, shown

    text = options["rate"].strip()
    wanted = "wanted requests per second, such as 12 or 0.5"
    low, high = CLASS_BOUNDS["arrival_millirps"]
    try:
        number = int(text) if text.isascii() and text.isdigit() and len(text) < 20 else parse_decimal(text)
        millirps = millirps_of_rps(number)
    except UnitError as error:
        known = "1/1000" in str(error)
        raise UsageFault(f"--rate: got {shown(text)}, {wanted}; {error if known else 'write such a number'}.") from None
    if not low <= millirps <= high:
        raise UsageFault(f"--rate: got {shown(text)}, wanted 0.001 to {grouped(high // 1_000)} requests/s; correct it.")
    return stated(text, millirps, options["prompt"], options["output"])


def read_steps(given: Gathered) -> Steps | None:
    """The measured step time; None where there is none, or where it has faults, which are noted."""
    if not given.said("calibrate"):
        given.only_with(_OF_FILES, "--calibrate")
        return None
    if given.said("active_parameters"):
        given.usage.append(
            "--active-parameters: goes into an estimate, and --calibrate gives what was measured; leave one out."
        )

    def read() -> Steps:
        from sweep.calibrate.calibration import calibration
        from sweep.draft.steps import measured

        options = given.options
        return measured(calibration(options["calibrate"], options["calibrate_unit"], options["chunk_tokens"]))

    before = len(given.usage), len(given.input)
    found = given.attempt(read)
    for faults, start in zip((given.usage, given.input), before, strict=True):
        faults[start:] = [fault.replace("with --unit ", "with --calibrate-unit ") for fault in faults[start:]]
    return found


def missing_steps(given: Gathered, memory: Memory, traffic: Traffic) -> Steps | None:
    """The step time where nothing was measured: the example's for its own GPU and model, else an estimate."""
    from sweep.draft.example import example_memory, example_steps
    from sweep.draft.steps import estimated

    if memory == example_memory():
        return example_steps()
    return given.attempt(lambda: estimated(memory, traffic.typical_tokens))


def read_slo(given: Gathered) -> Slo | None:
    """The two bounds that people state."""
    from sweep.draft.parts import Slo
    from sweep.units import UnitError, from_text, shown

    found: dict[str, tuple[int, str]] = {}
    for name, default in DEFAULT_MS.items():
        text = given.options[name]
        if text is None:
            found[name] = (default, f"default; yours with --{name}")
            continue
        plain = text.strip()
        try:
            number = int(plain) if plain.isascii() and plain.isdigit() and len(plain) < 20 else from_text(plain, "ms")
            found[name] = (number, f"--{name} {plain}")
        except UnitError as error:
            given.usage.append(f"--{name}: got {shown(text)}, wanted ms, or a time such as 500ms or 1.5s; {error}.")
    if len(found) < len(DEFAULT_MS):
        return None
    return Slo(found["ttft"][0], found["tpot"][0], found["ttft"][1], found["tpot"][1])


def inputs(options: Mapping[str, Any]) -> list[Path]:
    """The files that the options name, none of which the output may replace."""
    index = options["weights"]
    named = [options["model"], options["traffic"], *options["calibrate"]]
    named += [Path(index.strip())] if index is not None and index.strip().endswith(".json") else []
    return [path for path in named if path is not None]
