"""A command with commands inside, one of which is meant where none is named."""

from __future__ import annotations

from typing import Any

import click


class Defaulted(click.Group):
    """A group whose default command's name may be left out: `sweep manifest FILE` is `sweep manifest write FILE`.

    A file that has the name of a command is written `./check`.
    """

    def __init__(self, *args: Any, default: str = "", **options: Any) -> None:
        super().__init__(*args, **options)
        self._default = default

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the default's name before arguments that begin with no command and ask for no help."""
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = [self._default, *args]
        return super().parse_args(ctx, args)
