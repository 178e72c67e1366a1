"""`python -m sweep` is the command `sweep`."""

from sweep.cli.main import main

main()
