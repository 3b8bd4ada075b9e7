"""The command line. One file a command; nothing heavy is imported before a command runs."""

from __future__ import annotations

import gc

OBJECTS_A_COLLECTION = 50_000


def main() -> None:
    """The entry point of the `edgeward` command."""
    # Importing makes some hundred thousand objects and no garbage: looking for some all the time,
    # as the default of 700 has it, is a fifth of the time until the first line appears.
    gc.set_threshold(OBJECTS_A_COLLECTION)
    from .app import app

    app()
