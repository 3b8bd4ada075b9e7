"""What a command writes: a file that is new, or standard output."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

Force = Annotated[bool, typer.Option("--force", help="Write over a file that is there.")]


def write(data: bytes, path: Path | None, *, force: bool) -> None:
    """Write to a file, or to standard output where there is none.

    Raises:
        ValueError: the file is there already, and `force` is not given.
        OSError: it cannot be written.
    """
    if path is None:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    try:
        with path.open("wb" if force else "xb") as file:
            file.write(data)
    except FileExistsError:
        raise ValueError(f"{path} is there already; --force writes over it") from None
