"""The command line. One file a command; nothing heavy is imported before a command runs."""

from __future__ import annotations


def main() -> None:
    """The entry point of the `edgeward` command."""
    from .app import app

    app()
