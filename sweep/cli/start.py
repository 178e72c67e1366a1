"""How the command begins: signals are in hand before anything large is imported."""

from __future__ import annotations

import contextlib
import sys

from sweep.cli.signals import catch_signals, stop_code, stop_word


def start() -> None:
    """The entry point."""
    catch_signals()
    try:
        from sweep.cli.main import main

        main()
    except KeyboardInterrupt as error:  # during the imports
        with contextlib.suppress(OSError, AttributeError):
            sys.stderr.write(f"sweep: {stop_word(error)}; no file was written\n")
        sys.exit(stop_code(error))
