"""A file with a secret key: made on first use, readable by its owner only."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Callable
from pathlib import Path


def read_key(path: Path, *, what: str, fresh: Callable[[], bytes]) -> bytes:
    """The key in `path`; where there is no file, what `fresh` makes is put there first.

    `what` names the key in messages ("ticket key").

    Raises:
        ValueError: others may read the file.
    """
    if not path.exists():
        make_key(path, fresh)
    if os.name == "posix" and path.stat().st_mode & 0o077:
        raise ValueError(f"{path}: others may read this {what}; run `chmod 600` on it")
    return path.read_bytes()


def make_key(path: Path, fresh: Callable[[], bytes], *, mode: int = 0o600) -> None:
    """A fresh key in `path`, whole or not at all, unless another process was first."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    # A link into place is atomic and fails where there is a file: one key wins.
    new = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(fresh())
        with contextlib.suppress(FileExistsError):
            os.link(new, path)
    finally:
        new.unlink()
