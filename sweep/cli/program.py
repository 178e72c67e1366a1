"""The group of commands, with the way that every failure takes: sentences on stderr, and the exit code."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Sequence
from typing import IO, Any

import click

from sweep.cli.signals import stop_code, stop_word
from sweep.errors import InputFault, ResultFault, SweepError

BROKEN_PIPE = 141
"""What a shell reports for a process that SIGPIPE ended."""

_WRITTEN = "sweep.written"


def mark_written(path: str) -> None:
    """Note that this command has completed a file, for what is said of an interrupt from now on."""
    click.get_current_context().meta[_WRITTEN] = path


class Program(click.Group):
    """The commands; failures that a user can act on become one sentence each, a bug keeps its traceback."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run, and exit with the code of what happened."""
        try:
            status = super().main(
                args, prog_name, complete_var, standalone_mode=False, windows_expand_args=windows_expand_args, **extra
            )
        except click.ClickException as error:
            complain(_one_line(error))
            status = error.exit_code
        except (click.Abort, KeyboardInterrupt) as error:  # before the command was found
            cause = error.__cause__ if isinstance(error.__cause__, KeyboardInterrupt) else error
            complain(f"{stop_word(cause)}; no file was written")
            status = stop_code(cause)
        if not standalone_mode:
            return status
        sys.exit(status if isinstance(status, int) else 0)

    def make_context(self, *args: Any, **options: Any) -> click.Context:
        """Read the options; `--help` and `--version` are done here, and their output may fail."""
        try:
            return super().make_context(*args, **options)
        except OSError as error:
            raise click.exceptions.Exit(_unwritten(error)) from error

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, and turn its failure into sentences and `Exit`."""
        try:
            return super().invoke(ctx)
        except SweepError as error:
            for fault in error.faults:
                complain(fault)
            raise click.exceptions.Exit(error.exit_code) from error
        except KeyboardInterrupt as error:
            if sys.stderr is not None and sys.stderr.isatty():
                with contextlib.suppress(OSError):  # a terminal that has hung up
                    click.echo(err=True)  # the terminal shows ^C on the line
            code, written = stop_code(error), ctx.meta.get(_WRITTEN)
            complain(f"{stop_word(error)}; {'no file was written' if written is None else f'{written} is complete'}")
            raise click.exceptions.Exit(code) from error
        except MemoryError as error:
            complain(
                "not enough memory for this; thin out an axis, give run a smaller --memory, or look with --dry-run."
            )
            raise click.exceptions.Exit(InputFault.exit_code) from error
        except OSError as error:
            raise click.exceptions.Exit(_unwritten(error)) from error


def complain(sentence: str) -> None:
    """One line on stderr; control characters (of a file's name, say) are escaped."""
    line = "".join(char if char.isprintable() else ascii(char)[1:-1] for char in f"sweep: {sentence}")
    try:
        click.echo(line, err=True)
    except OSError:  # nobody reads stderr: the exit code still speaks
        discard(sys.stderr)


def stdout_sentence(error: OSError) -> str:
    """Why standard output took no more."""
    return f"standard output: cannot be written ({error.strerror}); free its disk or send it elsewhere."


def _unwritten(error: OSError) -> int:
    """The exit code, after a sentence, where standard output takes no more; any other failure is a bug and goes on."""
    if isinstance(error, BrokenPipeError):
        discard(sys.stdout)
        return BROKEN_PIPE
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    if frame is None or frame.tb_frame.f_globals.get("__name__") != "click.utils":  # home of echo: help and version
        raise error
    discard(sys.stdout)
    complain(stdout_sentence(error))
    return ResultFault.exit_code


def discard(stream: IO[str] | None) -> None:
    """Send what a stream still holds to nowhere, so that Python's flush at exit does not fail once more."""
    if stream is None:
        return
    try:
        target = stream.fileno()
    except (OSError, ValueError):  # no file under it, as in a test
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, target)
    os.close(nowhere)


def _one_line(error: click.ClickException) -> str:
    message = " ".join(error.format_message().split())
    if not message.endswith((".", "?", ")")):
        message += "."
    context = error.ctx if isinstance(error, click.UsageError) else None
    return f"{message} Try '{context.command_path if context else 'sweep'} --help'."
