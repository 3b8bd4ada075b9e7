"""What a command writes: a file that is new, or standard output."""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

Force = Annotated[bool, typer.Option("--force", help="Write over a file that is there.")]


def write(data: bytes, path: Path | None, *, force: bool, mode: int = 0o666) -> None:
    """Write to a file, or to standard output where there is none.

    `mode`: who may read a new file, before the umask.

    Raises:
        ValueError: the file is there already, and `force` is not given.
        OSError: it cannot be written.
    """
    if path is None:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    try:
        with open(path, "wb" if force else "xb", opener=partial(os.open, mode=mode)) as file:
            file.write(data)
    except FileExistsError:
        raise ValueError(f"{path} is there already; --force writes over it") from None
