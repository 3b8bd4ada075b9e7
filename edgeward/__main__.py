"""`python -m edgeward`: the command line where no script is installed."""

from .cli import main

main()
