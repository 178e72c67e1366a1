"""Options that several commands share, and the order in which different options were typed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import click

from sweep.errors import UsageFault

_TYPED = "sweep.typed"

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


class InOrder(click.Command):
    """A command that also remembers its repeatable options in the order in which they were typed.

    click groups the values by option. Its parser does report the order: one entry per occurrence, whatever the
    spelling (`--set a=b`, `--set=a=b`), and the n-th occurrence of an option has its n-th value.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse twice: for the order, then as every command does."""
        values, _, order = self.make_parser(ctx).parse_args(list(args))
        queues = {name: iter(value) for name, value in values.items() if isinstance(value, list)}
        ctx.meta[_TYPED] = [(param.name, next(queues[param.name])) for param in order if param.name in queues]
        return super().parse_args(ctx, args)


def typed(names: Iterable[str]) -> list[tuple[str, str]]:
    """(option, value) of the current command's repeatable options among `names`, in the order typed."""
    wanted = frozenset(names)
    pairs: list[tuple[str, str]] = click.get_current_context().meta[_TYPED]
    return [(name, value) for name, value in pairs if name in wanted]


def json_option(command: Decorated) -> Decorated:
    """`--json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else.")(command)


def memory_bytes(text: str | None) -> int | None:
    """`--memory` in bytes: an integer, or a number with a unit; None where it was not given.

    Raises:
        UsageFault: neither.
    """
    from sweep.units import UnitError, from_text  # not before a command asks: `--help` imports as little as it can

    if text is None:
        return None
    try:
        return int(text) if re.fullmatch(r"[0-9][0-9_]{0,30}", text) else from_text(text, "byte")
    except UnitError:
        wanted = "wanted a whole number of bytes, or a number with B kB MB GB TB KiB MiB GiB TiB"
        raise UsageFault(f"--memory {text}: {wanted}; write --memory 2GiB, say.") from None


def change_options(command: Decorated) -> Decorated:
    """`--set` and `--axis`; read them with `typed(("set", "axis"))`."""
    command = click.option(
        "--axis",
        multiple=True,
        metavar="NAME=VALUES",
        help="Replace or add an axis: one value, a TOML list, or start:stop:step. Applied in the order typed.",
    )(command)
    return click.option(
        "--set",
        "set_",
        multiple=True,
        metavar="PATH=VALUE",
        help="Change a field of the base, as if the file had it. Applied in the order typed.",
    )(command)


def changes() -> list[tuple[str, str]]:
    """The overrides of the command line, in the order typed.

    Raises:
        UsageFault: no equals sign; all faults at once. What the two sides are is the grid's to judge.
    """
    found = [(name.rstrip("_"), text) for name, text in typed(("set_", "axis"))]
    faults = [
        f"--{kind} {text}: wanted {_FORMS[kind]}; write it with an equals sign."
        for kind, text in found
        if "=" not in text
    ]
    if faults:
        raise UsageFault(faults)
    return found


_FORMS = {
    "set": "path=value, such as --set max_ttft_ms=300",
    "axis": "name=values, such as --axis slots=8:64:8",
}


def at_option(command: Decorated) -> Decorated:
    """`--at`; read it with `fixed`."""
    return click.option(
        "--at",
        multiple=True,
        metavar="AXIS=VALUE",
        help="Fix an axis (share, chunk, slots, traffic or its name); traffic also off its axis, or as rps=12.5.",
    )(command)


def fixed(texts: Iterable[str]) -> dict[str, int | str]:
    """The axes that `--at` fixes; values stay texts, their axis reads them.

    Raises:
        UsageFault: no equals sign, or an axis twice; all faults at once.
    """
    return pairs("--at", texts, "slots=64", "axis")


def pairs(option: str, texts: Iterable[str], example: str, what: str) -> dict[str, int | str]:
    """The `name=value` texts of an option; values stay texts.

    Args:
        option: how the option is written.
        texts: what was typed.
        example: a text that would do.
        what: what a name names.

    Raises:
        UsageFault: no equals sign, or a name twice; all faults at once.
    """
    found: dict[str, int | str] = {}
    faults = []
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not name or not value:
            faults.append(
                f"{option} {text}: wanted {what}=value, such as {option} {example}; write it with an equals sign."
            )
        elif name in found:
            faults.append(f"{option} {text}: the {what} {name} is {_GIVEN[what]} twice; give it once.")
        found[name] = value
    if faults:
        raise UsageFault(faults)
    return found


_GIVEN = {"axis": "fixed", "bound": "given", "candidate": "given"}


def slo_option(command: Decorated) -> Decorated:
    """`--slo`; `sweep.cli.asked.asked` reads it."""
    return click.option(
        "--slo",
        multiple=True,
        metavar="BOUND=VALUE",
        help="Answer under another bound of the contract, as if the file had it: max_ttft_ms=300.",
    )(command)


def objective_options(command: Decorated) -> Decorated:
    """`--maximize` and `--minimize`; read them with `objectives`, in a command that is `InOrder`."""
    command = click.option(
        "--minimize", multiple=True, metavar="NAME", help="Rank by the smallest; in order with --maximize."
    )(command)
    return click.option(
        "--maximize", multiple=True, metavar="NAME", help="Rank by the largest axis value or quantity first."
    )(command)


def objectives() -> list[tuple[str, str]]:
    """--maximize and --minimize in the order typed; commas separate several names.

    Raises:
        UsageFault: an empty name.
    """
    found = []
    for sense, text in typed(("maximize", "minimize")):
        names = [name.strip() for name in text.split(",")]
        if not all(names):
            raise UsageFault(f"--{sense} {text}: wanted names with commas between; take out the empty one.")
        found += [(sense, name) for name in names]
    return found
