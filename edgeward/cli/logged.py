"""What libraries log while a command runs: lines that quote whatever they were given.

A library that warns of what it found in a file, or of what a server sent, puts it into its line as
it is. Without a handler of somebody's own, Python writes such lines to stderr.
"""

from __future__ import annotations

import logging

from .printable import printable


def print_safely() -> None:
    """Have lines that nobody handles printed without secrets, and with what steers a terminal
    written as its escape."""
    if logging.lastResort is not None:
        logging.lastResort.setFormatter(_Printable())


class _Printable(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        from ..guards.redact import Redactor

        return printable(Redactor().secrets(super().format(record))[0])
