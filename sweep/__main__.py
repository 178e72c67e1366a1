"""`python -m sweep` is the command `sweep`."""

from sweep.cli.start import start

start()
