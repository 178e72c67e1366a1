"""`sweep completion`: the set-up of a shell's completion."""

from __future__ import annotations

import click

from sweep.cli.options import json_option
from sweep.cli.output import write, write_json


@click.command(short_help="Print the completion set-up of a shell.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@json_option
@click.pass_context
def completion(ctx: click.Context, shell: str, as_json: bool) -> None:
    """Print a script that completes the commands, options and files of sweep in SHELL.

    Nothing is installed: load the script in your shell's start-up file.

    \b
    Examples:
      eval "$(sweep completion bash)"          # in ~/.bashrc
      eval "$(sweep completion zsh)"           # in ~/.zshrc, after compinit
      sweep completion fish > ~/.config/fish/completions/sweep.fish
    """
    from click.shell_completion import ShellComplete, get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None  # the three are click's own
    root = ctx.find_root()
    # Not kind.source(): for bash that starts a bash to ask for its version.
    script = ShellComplete.source(kind(root.command, {}, "sweep", "_SWEEP_COMPLETE"))
    if as_json:
        write_json({"shell": shell, "script": script})
    else:
        write(f"{script}\n")
