"""Pipes as files: `edgeward diff <(git show HEAD:p.yaml) p.yaml`, `… | edgeward lint /dev/stdin`.

A command may read a file twice, or ask for its size. So what a pipe that is named on the command
line holds is kept, and stands in the place of the pipe, under the same name, as a file.
"""

from __future__ import annotations

import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterable
from typing import IO

_OPEN = "/dev/fd"
"""Where a system names the files that a program was started with."""


def keep_pipes(arguments: Iterable[str]) -> None:
    """Replace each open pipe that an argument names to be read by a file that holds the same.

    Raises:
        OSError: what it holds cannot be kept.
    """
    for argument in arguments:
        number = _pipe_of(argument.rpartition("=")[2])
        if number is not None:
            with open(number, "rb", closefd=False) as pipe, _kept() as file:
                shutil.copyfileobj(pipe, file)
                file.flush()
                os.dup2(file.fileno(), number)
                os.lseek(number, 0, os.SEEK_SET)


def _pipe_of(path: str) -> int | None:
    """The number of the open pipe that a path names to be read; None where it names none."""
    if not path.startswith(("/dev/", "/proc/")):
        return None
    try:
        named = os.stat(path)
        if not stat.S_ISFIFO(named.st_mode):
            return None
        numbers = [int(name) for name in os.listdir(_OPEN) if name.isdecimal()]
    except OSError:
        return None
    return next((number for number in numbers if _is(number, named)), None)


def _is(number: int, named: os.stat_result) -> bool:
    """Whether it is this one's end for reading; what is written goes into the pipe itself."""
    import fcntl  # not on Windows, where nothing is named so

    try:
        mode = fcntl.fcntl(number, fcntl.F_GETFL) & os.O_ACCMODE
        return mode != os.O_WRONLY and os.path.samestat(os.fstat(number), named)
    except OSError:  # the one that listed the numbers
        return False


def _kept() -> IO[bytes]:
    """A file that is gone once nobody has it open; in memory, for a disk may be full."""
    if sys.platform == "linux":
        return open(os.memfd_create("edgeward"), "w+b")
    return tempfile.TemporaryFile()
