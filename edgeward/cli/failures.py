"""Errors as a person at a terminal wants them: one line for each problem, and an exit code.

2: what was given is wrong (a file, a name, an option) and can be put right. 1: the run failed
(the provider, a fault). 3: calls wait for an approval. 130: Ctrl-C.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from .printable import printable

FAILED = 1
WRONG = 2
WAITING = 3
STOPPED = 130

MAX_CHARS = 1_000

_NO_SUCH_FILE = (FileNotFoundError, IsADirectoryError, NotADirectoryError, PermissionError)


@contextmanager
def reported(*, debug: bool) -> Iterator[None]:
    """Print what goes wrong in this block on stderr, without a traceback, and exit.

    What libraries log while it runs is printed as text of others is. `debug` lets the error
    through as it is.
    """
    from .logged import print_safely

    print_safely()
    try:
        yield
    except KeyboardInterrupt:
        raise typer.Exit(STOPPED) from None
    except (typer.Exit, typer.Abort, BrokenPipeError):
        raise
    except Exception as error:
        if debug:
            raise
        complain(*lines_of(error))
        raise typer.Exit(exit_code(error)) from None


def complain(*lines: str) -> None:
    """Print lines on stderr as errors, each whole and on one line."""
    from rich.console import Console

    console = Console(stderr=True, highlight=False, markup=False, emoji=False, soft_wrap=True)
    for line in lines:
        console.print(f"error: {printable(line)}", style="red")


def lines_of(error: Exception) -> list[str]:
    """What to print for an error: a line a problem, else its first line."""
    from pydantic import ValidationError

    from ..guards.faults import without_values
    from ..policies.problems import ConfigError

    if isinstance(error, ConfigError):
        return [str(problem) for problem in error.problems]
    if isinstance(error, ValidationError):  # without the values, which may be secret
        return without_values(error)
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return [f"{error.filename}: {error.strerror}"[:MAX_CHARS]]
    if isinstance(error, FileNotFoundError) and _nowhere():
        return ["the current folder is gone; change to one that exists"]
    if isinstance(error, OSError) and error.strerror:  # of the terminal, or of a pipe
        return [error.strerror[:MAX_CHARS]]
    first = next((line for line in str(error).splitlines() if line.strip()), "")
    if not type(error).__module__.startswith("edgeward") and not isinstance(error, ValueError):
        first = f"{type(error).__name__}: {first}"
    return [first[:MAX_CHARS] or type(error).__name__]


def _nowhere() -> bool:
    """Whether the folder that the program was started in has been deleted since."""
    try:
        os.getcwd()
    except FileNotFoundError:
        return True
    return False


def exit_code(error: Exception) -> int:
    """2 for what the user can put right on the command line or in a file, 1 for the rest."""
    from ..graphs.admitted import NothingWaiting

    wrong = (ValueError, ImportError, NothingWaiting, *_NO_SUCH_FILE)
    no_path = isinstance(error, OSError) and error.errno in (errno.ENAMETOOLONG, errno.ELOOP)
    return WRONG if no_path or isinstance(error, wrong) else FAILED
