"""The command line. One file a command; nothing heavy is imported before a command runs."""

from __future__ import annotations

import gc
import os
import sys

OBJECTS_A_COLLECTION = 50_000


def main() -> None:
    """The entry point of the `edgeward` command."""
    # Importing makes some hundred thousand objects and no garbage: looking for some all the time,
    # as the default of 700 has it, is a fifth of the time until the first line appears.
    gc.set_threshold(OBJECTS_A_COLLECTION)
    _open_what_is_closed()
    try:
        from .app import app

        app()
    except KeyboardInterrupt:  # before a command began
        sys.exit(130)


def _open_what_is_closed() -> None:
    """Whoever starts this may have closed a standard stream; Python then has None in its place."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            stream = open(os.devnull, mode, encoding="utf-8")  # noqa: SIM115  as long as we live
            setattr(sys, name, stream)
