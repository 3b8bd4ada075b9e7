"""The process that reads documents: a file in, its text out, until there are no more.

It gets the content, never a path to open; it has bounds of its own, and is killed where it takes
too long.
"""

from __future__ import annotations

import contextlib
import sys
import warnings
from pathlib import PurePath
from typing import BinaryIO

from . import wire
from .builtin import extract
from .content import NotExtracted, Source

MAX_MEMORY_BYTES = 2_000_000_000


def main() -> None:
    """Serve standard input until it ends."""
    _bound()
    warnings.simplefilter("ignore")
    asked, answers = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # a library that prints must not garble an answer
    while line := asked.readline():
        answers.write(_answer(line, asked))
        answers.flush()


def _answer(line: bytes, asked: BinaryIO) -> bytes:
    size, _, name = line.decode("utf-8", "surrogateescape").rstrip("\n").partition(" ")
    data = asked.read(int(size))
    try:
        return wire.packed(extract(Source(PurePath(name), data)))
    except NotExtracted as error:
        return wire.refused(str(error), passing=error.passing)
    except ModuleNotFoundError as error:
        return wire.refused(f"needs {error.name}: pip install 'edgeward[rag]'", passing=True)
    except (Exception, MemoryError, RecursionError) as error:  # noqa: BLE001 - one file, one answer
        return wire.refused(f"cannot be read ({type(error).__name__})")


def _bound() -> None:
    """Bound this process's memory where the system can."""
    try:
        import resource
    except ImportError:  # Windows
        return
    with contextlib.suppress(ValueError, OSError):
        _, most = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, most))
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
